"""`neardup.compat.simhash_py` against values of `simhash-pybind` and naive twins.

The original cannot be installed beside PyPI `simhash`: both are imported as `simhash`. The values
below were printed by simhash-pybind 0.0.3.
"""

import hashlib
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.timing import assert_linear
from neardup.compat.simhash_py import compute, find_all, num_differing_bits, shingle, unsigned_hash

hashes = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 15284527576400310788),
        (b"abc", 10376663631224000432),
        (bytearray(b"abc"), 10376663631224000432),
        (memoryview(b"abc"), 10376663631224000432),
    ],
)
def test_known_hashes(data: Any, expected: int) -> None:
    assert unsigned_hash(data) == expected


@given(st.binary())
def test_hash_is_the_first_half_of_md5(data: bytes) -> None:
    assert unsigned_hash(data) == int(hashlib.md5(data).hexdigest()[:16], 16)


def test_text_must_be_encoded_first() -> None:
    with pytest.raises(TypeError, match="encoded"):
        unsigned_hash("abc")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], 0),
        ([1, 2, 3], 3),
        ((1, 2), 0),
        ({1, 2}, 0),
        (iter([1]), 1),
        ([True], 1),
        (np.array([1, 3], dtype=np.uint64), 1),
        ([np.uint64(3)], 3),
    ],
)
def test_known_simhashes(values: Any, expected: int) -> None:
    assert compute(values) == expected


@given(st.lists(hashes))
def test_compute_by_the_formula(values: list[int]) -> None:
    expected = 0
    for bit in range(64):
        votes = sum(1 if value >> bit & 1 else -1 for value in values)
        expected |= (votes > 0) << bit
    result = compute(values)
    assert result == expected
    assert type(result) is int


def test_compute_counts_beyond_one_chunk() -> None:
    assert compute([1] * 70_000 + [2] * 69_999) == 1
    assert compute([1] * 70_000 + [2] * 70_000) == 0


@pytest.mark.parametrize("value", [-1, 2**64, "a", 1.5])
def test_what_is_no_hash(value: Any) -> None:
    with pytest.raises(TypeError, match="a hash must be"):
        compute([value])
    with pytest.raises(TypeError, match="a hash must be"):
        num_differing_bits(value, 1)
    with pytest.raises(TypeError, match="a hash must be"):
        find_all([value], 4, 3)


@given(hashes, hashes)
def test_num_differing_bits(a: int, b: int) -> None:
    assert num_differing_bits(a, b) == f"{a ^ b:b}".count("1")


# --------------------------------------------------------------------------------------- find_all


@st.composite
def neighbourhoods(draw: st.DrawFn) -> list[int]:
    """Hashes around a few centres: independent ones would never be near each other."""
    centres = draw(st.lists(hashes, min_size=1, max_size=4))
    flips = st.lists(st.integers(0, 63), max_size=6)
    members = draw(st.lists(st.tuples(st.sampled_from(centres), flips), max_size=40))
    return [centre ^ sum(1 << bit for bit in set(bits)) for centre, bits in members]


def naive_find_all(values: list[int], bits: int) -> set[tuple[int, int]]:
    pairs = itertools.combinations(sorted(set(values)), 2)
    return {(a, b) for a, b in pairs if (a ^ b).bit_count() <= bits}


@settings(deadline=None)
@given(neighbourhoods(), st.integers(0, 8), st.integers(1, 3))
def test_find_all(values: list[int], bits: int, spare: int) -> None:
    found = find_all(values, bits + spare, bits)
    assert found == naive_find_all(values, bits)
    assert all(type(value) is int for pair in found for value in pair)


@pytest.mark.parametrize("bits", [15, 31, 63])
def test_find_all_at_large_radii(bits: int) -> None:
    values = [unsigned_hash(bytes([i])) for i in range(60)]
    assert find_all(values, 64, bits) == naive_find_all(values, bits)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 3, 7, 2**63], {(1, 3), (1, 7), (3, 7), (1, 2**63), (3, 2**63)}),
        ([7, 3, 1, 3], {(1, 3), (1, 7), (3, 7)}),
        ([1, 1, 3], {(1, 3)}),
        ([1, 1], set()),
        ([], set()),
    ],
)
def test_known_pairs(values: list[int], expected: set[tuple[int, int]]) -> None:
    assert find_all(values, 4, 3) == expected
    assert find_all(set(values), number_of_blocks=6, different_bits=3) == expected


def test_many_equal_hashes_take_linear_time() -> None:
    def run(hashes: list[int]) -> None:
        assert find_all(hashes, 4, 3) == {(4, 5)}

    assert_linear(run, lambda size: [5] * size + [4], 20_000)


@pytest.mark.parametrize(
    ("blocks", "bits", "error", "message"),
    [
        (3, 3, ValueError, r"Number of blocks \(3\) must be greater than different_bits \(3\)"),
        (0, 0, ValueError, r"Number of blocks \(0\) must be greater"),
        (65, 3, ValueError, "must not exceed 64, got 65"),
        (4, -1, TypeError, "different_bits must be 0 or more, got -1"),
    ],
)
def test_blocks_and_bits(blocks: int, bits: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        find_all([1, 3], blocks, bits)


# ---------------------------------------------------------------------------------------- shingle


def test_shingle() -> None:
    assert list(shingle("abcdef")) == [list("abcd"), list("bcde"), list("cdef")]
    assert list(shingle(iter("abc"), window=2)) == [["a", "b"], ["b", "c"]]
    assert list(shingle(["a", "b"])) == []
    assert list(shingle([1, 2], 1)) == [[1], [2]]


@pytest.mark.parametrize("window", [0, -1])
def test_shingle_needs_a_window(window: int) -> None:
    with pytest.raises(ValueError, match=f"must be positive, got {window}"):
        list(shingle("abc", window))


# ----------------------------------------------------------------------------- as its users use it


def test_from_text_to_pairs() -> None:
    texts = [
        "the cat sat on the mat today",
        "the cat sat on the mat",
        "we all scream for ice cream",
    ]
    simhashes = [
        compute(unsigned_hash(" ".join(window).encode()) for window in shingle(text.split(), 2))
        for text in texts
    ]
    near = num_differing_bits(simhashes[0], simhashes[1])
    assert near < num_differing_bits(simhashes[0], simhashes[2])
    pair = (min(simhashes[:2]), max(simhashes[:2]))
    assert find_all(simhashes, near + 1, near) == {pair}
