"""The number of bits in which fingerprints differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd


def naive_distance(a: int, b: int) -> int:
    return f"{a ^ b:b}".count("1")


words64 = st.integers(0, 2**64 - 1)


@given(st.integers(0, 2**600), st.integers(0, 2**600))
def test_distance_of_ints(a: int, b: int) -> None:
    assert nd.distance(a, b) == nd.distance(b, a) == naive_distance(a, b)
    assert nd.distance(a, a) == 0


@given(st.lists(st.tuples(words64, words64), min_size=1, max_size=20), words64)
def test_distance_of_columns(pairs: list[tuple[int, int]], one: int) -> None:
    left = np.array([a for a, _ in pairs], dtype=np.uint64)
    right = np.array([b for _, b in pairs], dtype=np.uint64)
    expected = [naive_distance(a, b) for a, b in pairs]
    assert nd.distance(left, right).tolist() == expected
    assert nd.distance(left[:, None], right).tolist() == expected
    against_one = [naive_distance(a, one) for a, _ in pairs]
    assert nd.distance(left, one).tolist() == against_one
    assert nd.distance(one, left).tolist() == against_one
    assert nd.distance(left, np.array([one], dtype=np.uint64)).tolist() == against_one


@pytest.mark.parametrize("bits", [8, 64, 136, 512])
def test_distance_of_fingerprints(bits: int) -> None:
    recipe = nd.Recipe(bits=bits)
    texts = ["the cat sat", "the cat sat down", "something else entirely", "我爱自然语言"]
    found = nd.fingerprints(texts, recipe)
    values = [value for value in found if value is not None]
    assert len(values) == 4
    assert nd.distance(found, found[::-1]).tolist() == [
        naive_distance(a, b) for a, b in zip(values, values[::-1], strict=True)
    ]
    to_first = [naive_distance(value, values[0]) for value in values]
    assert nd.distance(found, values[0]).tolist() == to_first
    assert nd.distance(found[:1], found).tolist() == to_first
    assert nd.distance(found.values, found[:1]).tolist() == to_first
    assert nd.distance(found, found.values[:1]).tolist() == to_first


def test_distance_refuses_what_cannot_be_compared() -> None:
    found = nd.fingerprints(["a b", "c d", "e f"])
    other = nd.fingerprints(["a b", "c d", "e f"], nd.Recipe(tie="one"))
    with pytest.raises(ValueError, match=r"different recipes cannot be compared: neardup3 .*and n"):
        nd.distance(found, other)
    narrow = nd.fingerprints(["a b"] * 3, nd.Recipe(bits=64)).values
    with pytest.raises(ValueError, match="of 128 and 64 bits cannot be compared; both must have"):
        nd.distance(found, narrow)
    with pytest.raises(ValueError, match="of 192 and 128 bits cannot be compared"):
        nd.distance(2**128, found)
    with pytest.raises(ValueError, match="3 and 2 fingerprints cannot be compared row by row"):
        nd.distance(found, found[:2])
    for pair in ((None, 1), (1, None), (found, None), (None, None)):
        with pytest.raises(ValueError, match="a fingerprint is None: the text had no signal"):
            nd.distance(*pair)
    with pytest.raises(ValueError, match=r"fingerprints\[1\] is None: the text had no signal"):
        nd.distance(nd.fingerprints(["a b", ""]), found[:2])
    for other_value in (1, found):
        with pytest.raises(ValueError, match="a fingerprint is -1; it must not be negative"):
            nd.distance(-1, other_value)
        with pytest.raises(ValueError, match="a fingerprint is -1; it must not be negative"):
            nd.distance(other_value, -1)
    for value, name in [("x", "str"), (1.5, "float"), ([1, 2], "list"), (np.zeros(2), "ndarray")]:
        with pytest.raises(TypeError, match=f"a fingerprint is {name}; pass ints, Fingerprints"):
            nd.distance(value, 1)
    with pytest.raises(TypeError, match="a fingerprint is ndarray"):
        nd.distance(np.zeros((1, 1, 1), dtype=np.uint64), 1)


def test_one_row_is_one_fingerprint() -> None:
    made = nd.fingerprints(["the cat sat on the mat", "we all scream for ice cream", "a b c"])
    expected = [nd.distance(value, made[0]) for value in made]
    assert nd.distance(made.values, made.values[0]).tolist() == expected
    assert nd.distance(made, made.values[0]).tolist() == expected
    assert nd.distance(made.values[0], made).tolist() == expected


def test_texts_without_signal_can_be_left_out() -> None:
    made = nd.fingerprints(["the cat sat", "?!", "ice cream"])
    with pytest.raises(
        ValueError, match=r"leave such texts out: fingerprints\[fingerprints.signal"
    ):
        nd.distance(made, made[0])
    kept = made[made.signal]
    assert list(kept) == [made[0], made[2]]
    assert list(made[np.array([2, 0])]) == [made[2], made[0]]
    assert nd.distance(kept, made[0])[0] == 0
