"""What two texts share: passages, coverage, containment."""

import random
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup import _core
from neardup.text.comparison import (
    DEFAULT_BRIDGE,
    DEFAULT_MIN_CHARS,
    DEFAULT_MIN_WORDS,
    Passage,
    passage_options,
    shared,
    swap_sides,
)
from reference import passages as naive

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "went"]
HAN = "我们今天讨论自然语言处理的历史和未来"
english = st.lists(st.sampled_from(WORDS), max_size=45).map(" ".join)
chinese = st.text(HAN[:6], max_size=60)
mixed = st.lists(st.sampled_from([*"abc", *HAN[:4], "don't", "don’t", "É", "e\u0301", "。"])).map(
    " ".join
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the same with words changed, left out, added and moved."""
    # Different words, so that bridging is what is tested and not repetition.
    words = [f"w{n}" for n in range(draw(st.integers(0, 60)))]
    if draw(st.booleans()):
        words = [chr(0x4E00 + n) for n in range(len(words))]
    right = list(words)
    for at in draw(st.lists(st.integers(0, 60), max_size=8)):
        kind = draw(st.sampled_from(["change", "leave out", "add", "turn"]))
        if kind == "change" and at < len(right):
            right[at] = f"x{at}"
        elif kind == "leave out":
            right[at : at + 1] = []
        elif kind == "add":
            right.insert(at, f"y{at}")
        else:
            right = right[at:] + right[:at]
    return " ".join(words), " ".join(right)


# A text in some writing, and its plain one.
WRITINGS = [
    ("這些書籍記載了古代漢語的歷史", "这些书籍记载了古代汉语的历史"),
    ("这 些书　籍\n记载了古代 汉语的历史", "这些书籍记载了古代汉语的历史"),
    ("这些&#20070;籍记载了&nbsp;古代汉语的&#x5386;史", "这些书籍记载了古代汉语的历史"),
    ("בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ", "בראשית ברא אלהים את השמים ואת הארץ"),
    ("كَتَبَ الوَلَدُ الدَّرسَ في الـــبيتِ الكبيرِ ـ اليومَ", "كتب الولد الدرس في البيت الكبير اليوم"),
    ("tea&nbsp;for&#32;two &amp; a biscuit with AT&amp;T", "tea for two & a biscuit with AT&T"),
    ("ราคาของชาถ้วยนี้ ๑๒๓ บาท", "ราคาของชาถ้วยนี้ 123 บาท"),
    ("the shop sold ٣٤ cups and ३४ plates", "the shop sold 34 cups and 34 plates"),
]
written = st.lists(
    st.sampled_from(
        [part for pair in WRITINGS for part in pair] + ["x", "茶", "&amp;", "&lt", "\n"]
    ),
    max_size=4,
).map(" ".join)
pairs = st.one_of(
    st.tuples(english, english),
    st.tuples(chinese, chinese),
    st.tuples(mixed, mixed),
    st.tuples(written, written),
    edited(),
)


def rows(found: nd.Shared) -> list[tuple[int, int, int, int, int, bool]]:
    return [
        (p.left_start, p.left_end, p.right_start, p.right_end, p.words, p.exact)
        for p in found.passages
    ]


# --------------------------------------------------------------------------------- the naive twin


@given(pairs)
def test_passages_equal_the_naive_ones(texts: tuple[str, str]) -> None:
    found = rows(shared(*texts))
    assert sorted(found) == naive.shared(
        *texts, min_words=DEFAULT_MIN_WORDS, min_chars=DEFAULT_MIN_CHARS, bridge=DEFAULT_BRIDGE
    )
    assert [row[:4] for row in found] == sorted(row[:4] for row in found)


@given(pairs, st.integers(1, 8), st.integers(1, 9), st.integers(0, 4))
def test_other_settings_too(
    texts: tuple[str, str], min_words: int, min_chars: int, bridge: int
) -> None:
    settings: dict[str, Any] = {"min_words": min_words, "min_chars": min_chars, "bridge": bridge}
    assert sorted(rows(shared(*texts, **settings))) == naive.shared(*texts, **settings)


@given(pairs)
def test_figures_follow_from_the_passages(texts: tuple[str, str]) -> None:
    found = shared(*texts)
    _, equal, *_ = _core.shared(
        *texts, (DEFAULT_MIN_WORDS, DEFAULT_MIN_CHARS, DEFAULT_BRIDGE, None)
    )
    for side, coverage, total in (
        (0, found.coverage_left, found.words_left),
        (1, found.coverage_right, found.words_right),
    ):
        places = [(row[1 + 2 * side], row[2 + 2 * side]) for row in equal]
        units = naive.units(texts[side])
        covered = [any(a <= start and end <= b for a, b in places) for start, end, _ in units]
        assert total == len(units)
        assert coverage == pytest.approx(sum(covered) / max(len(units), 1))
    assert found.longest == max((row[4] for row in rows(found)), default=0)
    assert not found.coarse


@given(pairs)
def test_turned_round_it_is_the_same(texts: tuple[str, str]) -> None:
    on, back = shared(*texts), shared(*reversed(texts))
    assert sorted(rows(on)) == sorted((c, d, a, b, n, exact) for a, b, c, d, n, exact in rows(back))
    assert (on.coverage_left, on.containment_left) == (back.coverage_right, back.containment_right)
    question = passage_options(DEFAULT_MIN_WORDS, DEFAULT_MIN_CHARS, DEFAULT_BRIDGE, None)
    a, b = texts
    assert swap_sides(_core.shared(a, b, question)) == _core.shared(b, a, question)


def grams(text: str, minimum: int) -> set[tuple[Any, ...]]:
    units = [unit for *_, unit in naive.units(text)]
    size = min((minimum + 1) // 2, len(units))
    return {tuple(units[at : at + size]) for at in range(len(units) - size + 1)} if units else set()


@given(st.one_of(st.tuples(english, english), st.tuples(chinese, chinese)))
def test_containment_counts_different_n_grams(texts: tuple[str, str]) -> None:
    minimum = DEFAULT_MIN_WORDS if " " in texts[0] + texts[1] or not texts[0] else DEFAULT_MIN_CHARS
    if texts[0][:1].isascii() != texts[1][:1].isascii():
        return
    minimum = DEFAULT_MIN_WORDS if (texts[0] or texts[1]).isascii() else DEFAULT_MIN_CHARS
    left, right = (grams(text, minimum) for text in texts)
    found = shared(*texts)
    assert found.containment_left == pytest.approx(len(left & right) / max(len(left), 1))
    assert found.containment_right == pytest.approx(len(left & right) / max(len(right), 1))


# ------------------------------------------------------------------------------------------ cases

LONG = "Tea was brought to the harbour by ship and the town drank it gladly ever after"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (LONG, LONG, [(16, True)]),
        (LONG, LONG.upper().replace(" ", ",\n"), [(16, True)]),
        # Changed, added, left out: one passage, of which the changed words do not count.
        (LONG, LONG.replace("harbour", "port"), [(15, False)]),
        (LONG, LONG.replace("harbour", "great old harbour"), [(16, False)]),
        (LONG, LONG.replace("drank ", ""), [(15, False)]),
        (LONG, LONG.replace("gladly ", ""), [(15, False)]),
        # One word is too little to go on with.
        (LONG, LONG.replace("ever ", ""), [(14, True)]),
        (LONG, LONG.replace("the town drank", "our city had"), [(9, True)]),
        # Turned round.
        (LONG, " ".join([*LONG.split()[8:], *LONG.split()[:8]]), [(8, True), (8, True)]),
        # Five words, and thirteen characters less one.
        ("one two three four five", "one two three four five", []),
        (HAN[:12], HAN[:12], []),
        (HAN[:13], f"他说{HAN[:13]}。", [(13, True)]),
        (HAN, HAN.replace("讨论", "谈到"), [(16, False)]),
        # Four changed characters do not end a passage, five do.
        (HAN, HAN.replace("然语言处", "甲乙丙丁"), [(14, False)]),
        (HAN, HAN.replace("然语言处", "甲乙丙丁戊"), []),
        ("「我们，今天；讨论」自然语言处理的", "“我们,今天;讨论”自然语言处理的", [(13, True)]),
        ("Ｔｅａ　ｉｓ　ａ　ｈｏｔ　ｄｒｉｎｋ　ｈｅｒｅ", "tea is a hot drink here", [(6, True)]),
        ("it isn't what we don't know", "it isn’t what we don’t know", [(6, True)]),
        ("", "", []),
        ("…", "…", []),
        ("a", "", []),
    ],
)
def test_known_passages(a: str, b: str, expected: list[tuple[int, bool]]) -> None:
    found = shared(a, b)
    assert [(passage.words, passage.exact) for passage in found.passages] == expected


@pytest.mark.parametrize(("text", "plain"), WRITINGS)
def test_another_writing_is_the_same_at_its_own_places(text: str, plain: str) -> None:
    left, right = f"茶 one. {plain} end", f"two: {text}. 酒"
    found = shared(left, right)
    (passage,) = found.passages
    assert left[passage.left_start : passage.left_end] == plain
    assert right[passage.right_start : passage.right_end] == text
    other = shared(left, f"two: {plain}. 酒")
    assert (found.coverage_left, found.coverage_right) == (
        other.coverage_left,
        other.coverage_right,
    )
    assert found.words_right == other.words_right
    assert hashes(text) == hashes(plain)


def test_a_changed_word_does_not_count_but_is_part_of_the_passage() -> None:
    found = shared(LONG, LONG.replace("harbour", "port"))
    assert found.passages[0].left_end == len(LONG)
    assert found.coverage_left == 15 / 16


def test_one_paragraph_in_a_long_text() -> None:
    rng = random.Random(4)
    noise = [f"n{rng.randrange(5000)}" for _ in range(30_000)]
    copied = " ".join(f"c{at}" for at in range(80))
    long = " ".join(noise[:20_000]) + " " + copied + " " + " ".join(noise[20_000:])
    found = shared(copied, long)
    assert found.coverage_left == 1.0
    assert found.coverage_right == pytest.approx(80 / 30_080)
    (passage,) = found.passages
    assert long[passage.right_start : passage.right_end] == copied


def test_repeats_are_covered_on_both_sides() -> None:
    found = shared(f"{LONG}. {LONG}", LONG)
    assert (found.coverage_left, found.coverage_right) == (1.0, 1.0)
    assert len(found.passages) == 2


@pytest.mark.parametrize("before", ["", "😀" * 3000 + " ", "é" * 1023 + " ", "𠀀, " * 700])
def test_positions_count_characters(before: str) -> None:
    text = "𝒜lpha 😀 beta 🇩🇪 gamma é delta 我 epsilon zeta eta"
    (passage,) = shared(f"{before}{text} 🎉", f"x. {text}").passages
    assert f"{before}{text} 🎉"[passage.left_start : passage.left_end] == text
    assert (passage.right_start, passage.right_end) == (3, 3 + len(text))


# -------------------------------------------------------------------------- settings and refusals


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"min_words": 0}, ValueError, "min_words is 0; it must be a whole number from 1 to 1000"),
        ({"min_chars": 1001}, ValueError, "min_chars is 1001; it must be a whole number from 1"),
        ({"bridge": -1}, ValueError, "bridge is -1; it must be a whole number from 0 to 16"),
        ({"bridge": True}, TypeError, "bridge is True; it must be a whole number"),
        ({"min_words": 2.5}, TypeError, "min_words is 2.5; it must be a whole number"),
        ({"deadline": 0}, ValueError, "deadline is 0; it must be a number of seconds above 0"),
        ({"deadline": float("nan")}, ValueError, "deadline is nan; it must be a number of seconds"),
        ({"deadline": "1"}, TypeError, "deadline is '1'; it must be a number of seconds above 0"),
    ],
)
@pytest.mark.parametrize("function", [shared, nd.compare])
def test_wrong_settings_are_refused(
    function: Any, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        function("a", "b", **settings)


def test_wrong_texts_are_refused() -> None:
    with pytest.raises(TypeError, match="b is of type NoneType; it must be a str"):
        shared("a", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="right text has a lone surrogate at position 0"):
        shared("a", "\ud800")


def test_numbers_of_numpy_are_numbers() -> None:
    found = shared(LONG, LONG, min_words=np.int64(16), deadline=np.float32(5))  # type: ignore[arg-type]
    assert found.passages == (Passage(0, len(LONG), 0, len(LONG), 16, True),)
    assert shared(LONG, LONG, min_words=17).passages == ()
    assert shared(LONG, LONG, deadline=None, bridge=16).longest == 16
    assert shared(LONG, LONG, deadline=1e300).longest == 16


# ------------------------------------------------------------------------------------------- time


def hostile(units: int) -> dict[str, str]:
    fibonacci, longer = "a", "ab"
    while len(longer) < units:
        fibonacci, longer = longer, longer + fibonacci
    state, windows = 1, []
    for _ in range(units):
        # A register of 20 bits that goes through all states but one: nearly a de Bruijn sequence.
        state = state >> 1 | ((state ^ state >> 3) & 1) << 19
        windows.append("ab"[state & 1])
    return {
        "one word": "a " * units,
        "two words": "a b " * (units // 2),
        "Fibonacci": " ".join(longer[:units]),
        "windows": " ".join(windows),
        "changed": "a b c x " * (units // 4),
        "unchanged": "a b c d " * (units // 8) + "a b c x " + "a b c d " * (units // 8),
        "han": "我" * units,
    }


@pytest.mark.parametrize("left", list(hostile(1)))
@pytest.mark.parametrize("right", ["one word", "Fibonacci", "windows", "unchanged"])
def test_hostile_texts_take_no_longer(left: str, right: str) -> None:
    texts = hostile(60_000)
    start = time.process_time()
    shared(texts[left], texts[right], deadline=None)
    # A tenth of a megabyte: quadratic would be minutes.
    assert time.process_time() - start < 4


def test_a_deadline_makes_it_coarse_and_says_so() -> None:
    texts = hostile(400_000)
    start = time.monotonic()
    found = shared(texts["windows"], texts["windows"][1000:], deadline=0.001)
    assert found.coarse
    assert time.monotonic() - start < 10
    # What is found in no time is not nothing.
    assert found.passages
    assert nd.compare(texts["windows"], texts["Fibonacci"], deadline=0.001).coarse
    assert not shared(LONG, LONG, deadline=1e-9).coarse


# ------------------------------------------------------------------------------------------- runs


def hashes(text: str, **minimum: int) -> set[int]:
    given_ = {"min_words": DEFAULT_MIN_WORDS, "min_chars": DEFAULT_MIN_CHARS, **minimum}
    _, found = _core.winnow([text], given_["min_words"], given_["min_chars"], None)
    return set(found.tolist())


parts = st.one_of(english, chinese, mixed)


@given(parts, parts, parts, parts, parts)
def test_texts_with_a_passage_in_common_share_a_run(
    a: str, b: str, c: str, d: str, passage: str
) -> None:
    left, right = f"{a} {passage} {b}", f"{c} {passage} {d}"
    if any(passage.exact for passage in shared(left, right).passages):
        assert hashes(left) & hashes(right)


def test_winnowed_runs_of_many_texts() -> None:
    texts = [LONG, None, "", HAN, "a b c", LONG]
    bounds, found = _core.winnow(texts, DEFAULT_MIN_WORDS, DEFAULT_MIN_CHARS, 2)
    lists = [
        found[a:b].tolist() for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]
    assert [bool(hashes) for hashes in lists] == [True, False, False, True, False, True]
    assert lists[0] == lists[5] == sorted(set(lists[0]))
    # About half of the runs of five words are taken.
    many = " ".join(f"w{n}" for n in range(10_000))
    assert 0.5 < len(hashes(many)) / 10_000 < 0.8
