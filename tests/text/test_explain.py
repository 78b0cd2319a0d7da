"""The explanation of a vote: worked examples, tables, widths."""

import hashlib
import json
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.text.explain import explain

# The worked example of a lecture note: five words, weights set by hand, hashes of 8 bits.
WORDS = {"我": 1, "爱": 2, "自然": 3, "语言": 2, "处理": 1}
HASHES = {
    "我": 0b01011011,
    "爱": 0b11001001,
    "自然": 0b11100010,
    "语言": 0b01111100,
    "处理": 0b00101011,
}
BY_HAND = nd.Recipe(hash=HASHES.__getitem__, bits=8)


def test_worked_example_of_eight_bits() -> None:
    explanation = explain(WORDS, BY_HAND)
    assert list(reversed(explanation.columns)) == [1, 7, 3, -3, 3, -5, 1, -1]
    assert explanation.bits_string == "11101010"
    assert explanation.value == 0b11101010 == nd.fingerprint(WORDS, BY_HAND)
    assert explanation.hex == "ea"


def test_worked_example_step_by_step() -> None:
    sums = [0.0] * 8
    steps = []
    for row in explain(list(WORDS.items()), BY_HAND).rows():
        sums = [before + vote for before, vote in zip(sums, row.votes, strict=True)]
        steps.append(sums)
    assert steps == [
        [-1, 1, -1, 1, 1, -1, 1, 1],
        [1, 3, -3, -1, 3, -3, -1, 3],
        [4, 6, 0, -4, 0, -6, 2, 0],
        [2, 8, 2, -2, 2, -4, 0, -2],
        [1, 7, 3, -3, 3, -5, 1, -1],
    ]


def test_worked_example_of_six_bits() -> None:
    codes = {"茶壶": 0b100101, "饺子": 0b101011}
    recipe = nd.Recipe(hash=codes.__getitem__)
    explanation = explain([("茶壶", 4), ("饺子", 5)], recipe, bits=6)
    teapot, dumpling = explanation.rows()
    assert teapot.votes == (4, -4, -4, 4, -4, 4)
    assert dumpling.votes == (5, -5, 5, -5, 5, 5)
    assert list(reversed(explanation.columns)) == [9, -9, 1, -1, 1, 9]
    assert (explanation.bits_string, explanation.hex) == ("101011", "2b")


@pytest.mark.parametrize("text", ["我爱自然语言处理", "我喜欢自然语言分析", "天空中有美丽的白云"])
def test_characters_as_in_the_lecture_note(text: str) -> None:
    """Its program: single characters, tf, the first 64 bits of md5, votes added up in floats."""
    sums = [0.0] * 64
    for character, count in Counter(text).items():
        digest = hashlib.md5(character.encode()).hexdigest()
        for column, bit in enumerate(f"{int(digest, 16):0128b}"[:64]):
            sums[column] += count / len(text) if bit == "1" else -count / len(text)
    explanation = explain(text, "characters")
    assert list(reversed(explanation.columns)) == sums
    assert explanation.bits_string == "".join("1" if value > 0 else "0" for value in sums)


def test_printed_table_of_few_bits() -> None:
    table = str(explain(WORDS, BY_HAND)).splitlines()
    assert table[0].split() == ["token", "count", "weight", "hash", *"76543210"]
    assert " ".join(table[3].split()) == "自然 1 3 11100010 +3 +3 +3 -3 -3 -3 +3 -3"
    assert " ".join(table[6].split()) == "sum +1 +7 +3 -3 +3 -5 +1 -1"
    assert " ".join(table[7].split()) == "bit 1 1 1 0 1 0 1 0"
    assert table[-1] == "fingerprint (8 bits): ea = 11101010"


def cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def test_wide_characters_keep_the_columns_straight() -> None:
    table = str(explain({**WORDS, "fox": 1}, nd.Recipe(bits=8))).splitlines()[:9]
    assert len({cells(line) for line in table}) == 1


@pytest.mark.parametrize("bits", [8, 16, 24, 64, 128, 512])
@pytest.mark.parametrize(
    "text", ["the quick brown fox and the lazy dog", "今天天气很好 我们去公园"]
)
def test_explanation_agrees_with_the_fingerprint(text: str, bits: int) -> None:
    recipe = nd.Recipe(bits=bits)
    explanation = explain(text, recipe)
    assert explanation.value == nd.fingerprint(text, recipe)
    assert len(explanation.columns) == len(explanation.bits_string) == bits
    for row in explanation.rows():
        assert len(row.hash) == len(row.votes) == bits
    votes = [row.votes for row in explanation.rows()]
    sums = [sum(column) for column in zip(*votes, strict=True)]
    assert sums == pytest.approx(list(reversed(explanation.columns)))


@pytest.mark.parametrize("preset", list(nd.Recipe.presets()))
def test_every_preset_can_be_explained(preset: str) -> None:
    text = "我喜欢自然语言处理 and the fox likes 苹果手机和苹果电脑"
    text += "\nstatus 200\nheader server nginx\ntags 0html 1body" * preset.startswith("http-")
    explanation = explain(text, preset)
    assert explanation.value == nd.fingerprint(text, preset)
    assert f"fingerprint ({explanation.bits} bits): {explanation.hex}" in str(explanation)


def test_printed_table_of_many_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    explanation = explain("apple banana cherry banana", nd.Recipe(bits=40, weights="log"))
    text = str(explanation)
    assert text.splitlines()[0].split() == ["token", "count", "weight", "hash"]
    banana = next(line for line in text.splitlines() if line.startswith("banana"))
    code = f"{explanation.hashes[1]:010x}"
    assert banana.split() == ["banana", "2", "1.6875", code]
    labels = [line.split()[0] for line in text.splitlines() if "  sum  " in line]
    assert labels == ["39…24", "23…8", "7…0"]
    bits = [line.split()[1:] for line in text.splitlines() if line.split()[:1] == ["bit"]]
    assert "".join(bit for line in bits for bit in line) == explanation.bits_string
    assert text.endswith(f"fingerprint (40 bits): {explanation.hex}")


@pytest.mark.parametrize("width", [60, 80, 132, 400])
@pytest.mark.parametrize("bits", [8, 16, 24, 64, 128, 512])
@pytest.mark.parametrize("text", ["the quick brown fox quick fox", "那只敏捷的狐狸 " + "long" * 9])
def test_lines_are_no_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int, bits: int, text: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    explanation = explain(text, nd.Recipe(bits=bits))
    *lines, last = str(explanation).splitlines()
    assert max(map(cells, lines)) <= width
    # In one piece, to be copied.
    assert last.startswith(f"fingerprint ({bits} bits): {explanation.hex}")
    found = [line.split() for line in lines if line.split()[:1] == ["bit"]]
    assert "".join(bit for line in found for bit in line[1:]) == explanation.bits_string
    sums = [line.partition("sum")[2].split() for line in lines if "sum  " in line]
    shown = [float(number) for line in sums for number in line]
    assert shown == list(reversed(explanation.columns))


def test_long_texts_show_the_heaviest_tokens() -> None:
    text = " ".join(f"word{n}" for n in range(50)) + " heavy heavy"
    printed = str(explain(text))
    assert "showing 20 of 51 tokens, heaviest first" in printed
    assert printed.splitlines()[1].startswith("heavy")


@pytest.mark.parametrize("text", ["", "?!", "zebra"])
@pytest.mark.parametrize("bits", [8, 128])
def test_no_signal_says_why(text: str, bits: int) -> None:
    explanation = explain(text, nd.Recipe(bits=bits, min_features=2))
    assert explanation.value is None
    assert explanation.hex is None
    assert explanation.bits_string == ""
    printed = str(explanation)
    count = len(explanation.features)
    assert f"no signal, so no fingerprint: {count} feature" in printed
    assert "asks for min_features=2" in printed
    assert ("zebra" in printed) == (text == "zebra")
    assert "\nbit" not in printed
    assert printed.startswith("no signal, so no fingerprint: ")
    assert "sum" not in printed
    if not text or text == "?!":
        assert len(printed.splitlines()) == 2


def test_tie_rules_are_reported() -> None:
    codes = {"a": 0b11110000, "b": 0b00001111}.__getitem__
    for tie, value, told in [
        ("mask", 0b01010101, "of 0 the bit 1 in even columns and 0 in odd ones"),
        ("zero", 0, "of 0 the bit 0"),
        ("one", 255, "of 0 the bit 1."),
    ]:
        recipe = nd.Recipe(hash=codes, bits=8, tie=tie)  # type: ignore[arg-type]
        explanation = explain({"a": 1, "b": 1}, recipe)
        assert set(explanation.columns) == {0}
        assert explanation.value == value
        assert told in str(explanation)


@pytest.mark.parametrize(
    ("weight", "shown"),
    [
        (1.6875, "1.6875"),
        (6.6875, "6.6875"),
        (3, "3"),
        (0.5, "0.5"),
        (0.012345, "0.0123"),
        (0.00012345, "0.000123"),
        (1e12, "1e+12"),
        (2.00004, "2"),
    ],
)
def test_weights_are_printed_without_noise(weight: float, shown: str) -> None:
    line = str(explain({"a": weight, "b": 1})).splitlines()[1]
    assert line.split()[2] == shown


def test_odd_tokens_keep_to_their_line() -> None:
    printed = str(explain({"a\nb": 1, " ": 1, "x" * 99: 1, "\u202eevil": 1}))
    tokens = [line.split("  ")[0] for line in printed.splitlines()[1:5]]
    assert tokens == [r"a\nb", "' '", "x" * 23 + "…", r"\u202eevil"]


def test_to_dict_is_json() -> None:
    explanation = explain(WORDS, BY_HAND)
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert plain["fingerprint"] == "ea"
    assert plain["signal"] is True
    assert plain["bits"] == 8
    assert plain["recipe"] == BY_HAND.identity
    assert plain["columns"] == [-1, 1, -5, 3, -3, 3, 7, 1]
    assert plain["features"][2] == {"token": "自然", "count": 1, "weight": 3, "hash": "e2"}


@given(st.text(max_size=40), st.integers(1, 512), st.sampled_from(["default", "characters"]))
def test_any_width_is_the_lowest_columns_of_whole_bytes(text: str, bits: int, preset: str) -> None:
    whole = -(-bits // 8) * 8
    recipe = nd.Recipe.preset(preset)
    if preset == "characters" and whole > 128:
        with pytest.raises(ValueError, match=f"bits is {whole}, but hash 'md5-first' gives only"):
            explain(text, recipe, bits=bits)
        return
    found, wide = explain(text, recipe, bits=bits), explain(text, recipe.replace(bits=whole))
    assert (found.bits, found.recipe) == (bits, wide.recipe)
    assert found.columns == wide.columns[:bits]
    assert found.hashes == tuple(code % 2**bits for code in wide.hashes)
    assert found.bits_string == wide.bits_string[-bits:]
    if found.value is not None:
        assert len(found.hex or "") == -(-bits // 4)
        ones = [column > 0 for column in found.columns if column]
        assert ones == [
            found.value >> at & 1 == 1 for at, column in enumerate(found.columns) if column
        ]
    for row in found.rows():
        assert len(row.hash) == len(row.votes) == bits


@pytest.mark.parametrize("bits", [0, -1, 513, 6.0, True])
def test_widths_that_are_refused(bits: int) -> None:
    with pytest.raises(
        (ValueError, TypeError), match=r"bits is .*; it must be a whole number from"
    ):
        explain("a b", bits=bits)
