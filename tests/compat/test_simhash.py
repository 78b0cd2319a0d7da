"""`neardup.compat.simhash` against PyPI `simhash`, its formula and its known values."""

import copy
import hashlib
import logging
import pickle
import random
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import simhash as original
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.compat.simhash import Simhash, SimhashIndex
from reference import presets

EMPTY = 16825458760271544958

# Characters this Python's Unicode tables do not know yet may be letters to the core already.
texts = st.text(st.characters(exclude_categories=("Cn", "Cs"))) | st.text("aB Éßİſς_٣你好、-!\n")
# Under NumPy 2 the original overflows on weights above 255.
small_weights = st.integers(0, 255)
float_weights = st.floats(0, 1e6)


def sha512(data: bytes) -> bytes:
    return hashlib.sha512(data).digest()


def sha512_int(data: bytes) -> int:
    return int.from_bytes(sha512(data), "big")


def values_of(value: Any, **options: Any) -> tuple[int, int]:
    return Simhash(value, **options).value, original.Simhash(value, **options).value


# ----------------------------------------------------------------------------------- known values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["aaa", "bbb"], 57087923692560392),
        ([str(i) for i in range(500)], 7984652473404407437),
        ([(str(i), 50 * i) for i in range(500)], 3372825719632739723),
        ({str(i): 50 * i for i in range(500)}, 3372825719632739723),
        ("", EMPTY),
        ("!!! ...", EMPTY),
        ([""], EMPTY),
        ([], 0),
        ({}, 0),
        (b"", 0),
        (42, 42),
    ],
)
def test_known_values(value: Any, expected: int) -> None:
    assert Simhash(value).value == expected


# ------------------------------------------------------------------------------------------- text


@given(texts, st.sampled_from([8, 64, 96, 128]))
def test_text(text: str, bits: int) -> None:
    ours, theirs = values_of(text, f=bits)
    assert ours == theirs == presets.simhash_1e0ng_text(text, bits)


@settings(max_examples=10)
@given(st.sampled_from("ab你"), st.integers(250, 70_000), texts)
def test_a_window_repeated_beyond_a_byte(char: str, times: int, text: str) -> None:
    """The original raises OverflowError here."""
    repeated = char * times + text
    assert Simhash(repeated).value == presets.simhash_1e0ng_text(repeated)


@given(texts)
def test_letters_by_another_pattern(text: str) -> None:
    for reg in (r"[a-z]+", re.compile(r"\w"), re.compile(r"[\w\u4e00-\u9fcc]+", re.ASCII), "(?i)É"):
        ours, theirs = values_of(text, reg=reg)
        assert ours == theirs


def test_a_pattern_given_compiled_is_the_same_pattern() -> None:
    text = "Ünïcode 你好 text_1"
    pattern = re.compile(r"[\w\u4e00-\u9fcc]+")
    assert Simhash(text, reg=pattern).value == Simhash(text).value


@pytest.mark.parametrize("text", ["abc\ud800defgh", "\udfff", "ΑΣ\ud800 ΑΣ"])
def test_lone_surrogates_are_no_letters(text: str) -> None:
    ours, theirs = values_of(text)
    assert ours == theirs


def test_own_tokens_by_subclass() -> None:
    def words(self: Any, content: str) -> list[str]:
        return content.split()

    ours = type("Words", (Simhash,), {"_tokenize": words})
    theirs = type("Words", (original.Simhash,), {"_tokenize": words})
    text = "the cat sat on the mat"
    assert ours(text).value == theirs(text).value != Simhash(text).value


# --------------------------------------------------------------------------------------- features


@given(st.lists(st.text(max_size=5)))
def test_plain_tokens(tokens: list[str]) -> None:
    ours, theirs = values_of(tokens)
    assert ours == theirs == presets.simhash_1e0ng([(token, 1) for token in tokens])


@given(st.lists(st.tuples(st.text(max_size=5), small_weights | float_weights)))
def test_weighted_tokens_add_up_in_the_same_order(pairs: list[tuple[str, float]]) -> None:
    ours, theirs = values_of(pairs)
    assert ours == theirs


@settings(max_examples=20)
@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1, 7, 51, 200]), min_size=150, max_size=900))
def test_many_weighted_tokens(weights: list[float]) -> None:
    ours, theirs = values_of([(str(i), weight) for i, weight in enumerate(weights)])
    assert ours == theirs


@given(st.lists(st.tuples(st.text(max_size=5), float_weights)))
def test_float_weights_by_the_formula(pairs: list[tuple[str, float]]) -> None:
    assert Simhash(pairs).value == presets.simhash_1e0ng(pairs)


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 2**40))))
def test_integer_weights_of_any_size(pairs: list[tuple[str, int]]) -> None:
    assert Simhash(pairs).value == presets.simhash_1e0ng(pairs)


@given(st.dictionaries(st.text(max_size=5), st.integers(-5, 255) | st.booleans()))
def test_dict(weights: dict[str, int]) -> None:
    ours, theirs = values_of(weights)
    assert ours == theirs


@given(st.lists(st.text(max_size=3) | st.tuples(st.text(max_size=3), st.integers(0, 200))))
def test_a_plain_token_keeps_the_weight_of_the_pair_before(mixed: list[Any]) -> None:
    ours, theirs = values_of(mixed)
    assert ours == theirs


@pytest.mark.parametrize("hashfunc", [sha512, sha512_int])
@pytest.mark.parametrize("bits", [8, 64, 128, 256, 512])
def test_own_hash(hashfunc: Callable[[bytes], bytes | int], bits: int) -> None:
    pairs = [("a", 1), ("b", 2.5), ("你", 60)]
    for value in ("The quick brown fox", ["a", "b"], pairs, []):
        ours, theirs = values_of(value, f=bits, hashfunc=hashfunc)
        assert ours == theirs


def test_large_weights_and_batches_can_be_tuned() -> None:
    class Tuned(Simhash):
        large_weight_cutoff = 3
        batch_size = 2

    pairs = [(str(i), i) for i in range(40)]
    assert Tuned(pairs).value == Simhash(pairs).value
    assert (Simhash.large_weight_cutoff, Simhash.batch_size) == (50, 200)


# ------------------------------------------------------------------------------- the other surface


def test_surface() -> None:
    log = logging.getLogger("mine")
    simhash = Simhash("some text", 32, r"\w", sha512, log)
    assert (simhash.f, simhash.reg, simhash.hashfunc, simhash.log) == (32, r"\w", sha512, log)
    assert Simhash(simhash).value == simhash.value
    assert simhash == Simhash(simhash.value, f=32)
    assert simhash != Simhash(simhash.value ^ 1, f=32)
    assert simhash != "some text"
    simhash.build_by_features(["aaa", "bbb"])
    rebuilt = simhash.value
    simhash.build_by_text("some text")
    assert simhash.value != rebuilt
    with pytest.raises(TypeError, match="unhashable"):
        hash(simhash)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_distance(a: int, b: int) -> None:
    expected = original.Simhash(a).distance(original.Simhash(b))
    assert Simhash(a).distance(Simhash(b)) == expected
    assert Simhash(np.uint64(a)).distance(Simhash(b)) == expected


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"abc", TypeError),
        (None, Exception),
        (1.5, Exception),
        ([None], TypeError),
        ([("a", "2")], TypeError),
        ([("a",)], ValueError),
        (["a", b"b"], ValueError),
        (["\ud800"], UnicodeEncodeError),
    ],
)
def test_what_the_original_refuses(value: Any, error: type[Exception]) -> None:
    for kind in (original.Simhash, Simhash):
        with pytest.raises(error):
            kind(value)


def test_errors_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="multiple of 8, got 12"):
        Simhash("a", f=12)
    with pytest.raises(ValueError, match=r"128 bits but f is 256.*wider hashfunc"):
        Simhash("a", f=256)
    with pytest.raises(TypeError, match=r"Bad parameter with type.*float"):
        Simhash(1.5)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="64 and 32 bits"):
        Simhash("a").distance(Simhash("a", f=32))
    with pytest.raises(AssertionError, match="64 bits, this one has 32"):
        SimhashIndex([]).add("a", Simhash("a", f=32))
    with pytest.raises(ValueError, match="k must be 0 or more, got -1"):
        SimhashIndex([], k=-1)


# ------------------------------------------------------------------------------------------ index


@pytest.mark.parametrize(("f", "k"), [(64, 2), (64, 0), (64, 3), (64, 10), (16, 20), (128, 5)])
def test_index(f: int, k: int) -> None:
    rng = random.Random(f * 100 + k)
    centres = [rng.getrandbits(f) for _ in range(30)]

    def near_a_centre() -> int:
        value = rng.choice(centres)
        for _ in range(rng.randrange(k + 3)):
            value ^= 1 << rng.randrange(f)
        return value

    objects: list[tuple[Any, int]] = [(i, near_a_centre()) for i in range(200)]
    objects.append(("id, with comma", near_a_centre()))
    ours = SimhashIndex([(i, Simhash(v, f)) for i, v in objects], f=f, k=k)
    theirs = original.SimhashIndex([(i, original.Simhash(v, f)) for i, v in objects], f=f, k=k)
    assert ours.offsets == theirs.offsets
    assert ours.bucket == theirs.bucket
    for obj_id, value in rng.sample(objects, 100):
        query = near_a_centre()
        found = ours.get_near_dups(Simhash(query, f))
        assert found == sorted(theirs.get_near_dups(original.Simhash(query, f)))
        assert list(ours.get_keys(Simhash(query, f))) == list(
            theirs.get_keys(original.Simhash(query, f))
        )
        ours.delete(obj_id, Simhash(value, f))
        theirs.delete(obj_id, original.Simhash(value, f))
    assert ours.bucket == theirs.bucket
    assert ours.bucket_size() == theirs.bucket_size()


@settings(max_examples=50)
@given(st.sets(st.integers(0, 255), max_size=60), st.integers(0, 255), st.integers(0, 9))
def test_index_misses_nothing(values: set[int], query: int, k: int) -> None:
    index = SimhashIndex([(value, Simhash(value, f=8)) for value in values], f=8, k=k)
    expected = sorted(str(value) for value in values if (value ^ query).bit_count() <= k)
    assert index.get_near_dups(Simhash(query, f=8)) == expected


@pytest.mark.parametrize(("f", "k"), [(64, 3), (8, 1), (520, 9), (1024, 0), (136, 20)])
def test_ids_and_fingerprints_in_any_combination(f: int, k: int) -> None:
    rng = random.Random(f)
    few = [rng.getrandbits(f) for _ in range(3)]
    few += [few[0] ^ 1 << f - 1, few[1] ^ 5]
    ours, theirs = SimhashIndex([], f=f, k=k), original.SimhashIndex([], f=f, k=k)
    for turn in range(400):
        obj_id, value = rng.choice(["a", "b", 3, "3", "x,y", ""]), rng.choice(few)
        change = "delete" if rng.random() < 0.4 else "add"
        getattr(ours, change)(obj_id, Simhash(value, f))
        getattr(theirs, change)(obj_id, original.Simhash(value, f))
        query = rng.choice(few)
        expected = sorted(theirs.get_near_dups(original.Simhash(query, f)))
        assert ours.get_near_dups(Simhash(query, f)) == expected
        if turn % 50 == 0:
            assert ours.bucket == theirs.bucket
            assert ours.bucket_size() == theirs.bucket_size()


def test_bits_beyond_the_width_do_not_count() -> None:
    index = SimhashIndex([("wide", Simhash(2**70 + 5)), ("minus", Simhash(-1))], k=1)
    assert index.get_near_dups(Simhash(4)) == ["wide"]
    assert index.get_near_dups(Simhash(2**64 - 2)) == ["minus"]
    index.delete("wide", Simhash(5))
    assert index.get_near_dups(Simhash(2**99 + 4)) == ["wide"]
    index.delete("wide", Simhash(2**70 + 5))
    assert index.get_near_dups(Simhash(4)) == []


@pytest.mark.parametrize("f", [64, 1024])
def test_an_index_can_be_pickled_and_copied(f: int) -> None:
    index = SimhashIndex([(i, Simhash(i % 7, f)) for i in range(20)], f=f, k=1)
    index.delete(3, Simhash(3, f))
    index.get_near_dups(Simhash(99, f))
    pickled = pickle.loads(pickle.dumps(index))  # noqa: S301
    for other in (pickled, copy.deepcopy(index)):
        assert (other.f, other.k) == (f, 1)
        assert other.bucket == index.bucket
        assert other.get_near_dups(Simhash(3, f)) == index.get_near_dups(Simhash(3, f))
        other.add("new", Simhash(3, f))
        assert "new" not in index.get_near_dups(Simhash(3, f))


def test_index_of_texts() -> None:
    data = {
        1: "How are you? I Am fine. blar blar blar blar blar Thanks.",
        2: "How are you i am fine. blar blar blar blar blar than",
        3: "This is simhash test.",
    }
    index = SimhashIndex([(str(i), Simhash(text)) for i, text in data.items()], k=10)
    query = Simhash("How are you i am fine.ablar ablar xyz blar blar blar blar blar thank")
    assert index.get_near_dups(query) == ["1", "2"]
    index.delete("1", Simhash(data[1]))
    assert index.get_near_dups(query) == ["2"]
    index.delete("1", Simhash(data[1]))
    index.add("1", Simhash(data[1]))
    index.add("1", Simhash(data[1]))
    assert index.get_near_dups(query) == ["1", "2"]


def test_big_buckets_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    index = SimhashIndex([(i, Simhash(7)) for i in range(201)])
    with caplog.at_level(logging.WARNING, logger="simhash"):
        assert len(index.get_near_dups(Simhash(7))) == 201
    assert "Big bucket found" in caplog.text


# -------------------------------------------------------------------------------------- migration

SCRIPT = """
    from {module} import Simhash, SimhashIndex

    texts = {{
        "a": "How are you? I am fine, thank you. The weather is fine as well.",
        "b": "How are you? I am fine, thank you! The weather is fine as well",
        "c": "今天天气很好，我们去公园散步吧。",
        "d": "",
    }}
    index = SimhashIndex([(name, Simhash(text)) for name, text in texts.items()], k=3)
    for name, text in sorted(texts.items()):
        simhash = Simhash(text)
        print(name, simhash.value, sorted(index.get_near_dups(simhash)))
    print(Simhash(texts["a"]).distance(Simhash(texts["c"])), Simhash(texts["c"], f=128).value)
    print(Simhash(["aaa", "bbb"]).value, Simhash([("你好", 2), ("世界", 0.5)]).value)
    index.delete("b", Simhash(texts["b"]))
    print(sorted(index.get_near_dups(Simhash(texts["a"]))), index.bucket_size())
"""


def test_one_import_line_is_the_whole_migration() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(SCRIPT.format(module=module))],
            capture_output=True,
            check=True,
            text=True,
            encoding="utf-8",
        ).stdout
        for module in ("simhash", "neardup.compat.simhash")
    ]
    assert outputs[0] == outputs[1]
    assert "57087923692560392" in outputs[0]
