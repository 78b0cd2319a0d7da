"""The functions of seomoz's simhash-py and of `simhash-pybind`, with the same results.

    from neardup.compat import simhash_py as simhash

is the whole migration. `find_all` returns a set, as in simhash-pybind; simhash-py returned a list.
"""

from __future__ import annotations

import collections
import hashlib
import operator
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.near.pairs import pairs

__all__ = ["compute", "find_all", "num_differing_bits", "shingle", "unsigned_hash"]

BITS = 64
# Hashes unpacked to bits in a batch: 4 MB.
BATCH_ROWS = 65_536

Token = TypeVar("Token")


def unsigned_hash(obj: bytes | bytearray | memoryview) -> int:
    """Return a 64-bit hash of bytes: the first eight bytes of their md5, big-endian."""
    return int.from_bytes(hashlib.md5(obj, usedforsecurity=False).digest()[:8], "big")


def compute(hashes: Iterable[SupportsIndex]) -> int:
    """Return the SimHash of 64-bit hashes: a bit is 1 if it is 1 in more than half of them."""
    array = _hash_array(hashes)
    ones = np.zeros(BITS, dtype=np.int64)
    for start in range(0, len(array), BATCH_ROWS):
        octets = array[start : start + BATCH_ROWS].astype("<u8").view(np.uint8).reshape(-1, 8)
        ones += np.unpackbits(octets, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return int.from_bytes(np.packbits(ones * 2 > len(array), bitorder="little").tobytes(), "little")


def num_differing_bits(a: SupportsIndex, b: SupportsIndex) -> int:
    """Return the Hamming distance of two 64-bit hashes."""
    return (_as_hash(a) ^ _as_hash(b)).bit_count()


def find_all(
    hashes: Iterable[SupportsIndex], number_of_blocks: int, different_bits: int
) -> set[tuple[int, int]]:
    """Return all pairs (smaller, larger) of different hashes at most `different_bits` bits apart.

    Equal hashes count once, as in the originals. To find the texts of a pair, group the texts by
    hash first.

    `number_of_blocks` is checked as in the originals, but it never affected the result:
    `neardup.pairs` chooses the blocks itself.
    """
    bits = operator.index(different_bits)
    blocks = operator.index(number_of_blocks)
    if bits < 0:
        raise TypeError(f"different_bits must be 0 or more, got {bits}")
    if blocks <= bits:
        raise ValueError(
            f"Number of blocks ({blocks}) must be greater than different_bits ({bits})"
        )
    if blocks > BITS:
        raise ValueError(f"Number of blocks must not exceed {BITS}, got {blocks}")
    array = np.sort(_hash_array(hashes))
    # np.unique is far slower on 64-bit integers.
    array = array[np.concatenate([[True], array[1:] != array[:-1]])[: len(array)]]
    table = pairs(array, bits)
    # left < right, and rows are sorted by value, so the smaller hash is on the left.
    left, right = (array[table.column(side).to_numpy()].tolist() for side in ("left", "right"))
    return set(zip(left, right, strict=True))


def shingle(tokens: Iterable[Token], window: int = 4) -> Iterator[list[Token]]:
    """Yield every run of `window` neighbouring tokens, as a list."""
    window = operator.index(window)
    if window <= 0:
        raise ValueError(f"Window size must be positive, got {window}")
    run: collections.deque[Token] = collections.deque(maxlen=window)
    for token in tokens:
        run.append(token)
        if len(run) == window:
            yield list(run)


def _hash_array(hashes: Iterable[SupportsIndex]) -> NDArray[np.uint64]:
    if isinstance(hashes, np.ndarray) and hashes.dtype == np.uint64 and hashes.ndim == 1:
        return hashes
    return np.array([_as_hash(value) for value in hashes], dtype=np.uint64)


def _as_hash(value: Any) -> int:
    # TypeError also out of range: callers of the originals may catch it.
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"a hash must be an int, got {value!r} of {type(value).__name__}") from None
    if not 0 <= number < 1 << BITS:
        raise TypeError(f"a hash must be from 0 to 2**{BITS} - 1, got {number}")
    return number
