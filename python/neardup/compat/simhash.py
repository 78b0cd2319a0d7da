"""`Simhash` and `SimhashIndex` of PyPI `simhash` 2.x: same interface, same values.

    from neardup.compat.simhash import Simhash, SimhashIndex

is the whole migration. Improvements: the Rust core fingerprints texts, weights of any size are
correct under NumPy 2, searches use `neardup.Index`, and a `hashfunc` too narrow for `f` raises
ValueError instead of returning a meaningless value. What the core cannot reproduce (other hash
functions, float weights) is summed with NumPy, in the order of the original.
"""

from __future__ import annotations

import collections
import functools
import hashlib
import logging
import numbers
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from neardup.near.index import Index
from neardup.near.lookup import Match
from neardup.text.fingerprint import fingerprint
from neardup.text.recipe import Recipe

__all__ = ["Simhash", "SimhashIndex"]

LETTERS = r"[\w\u4e00-\u9fcc]+"
# The width of md5; wider fingerprints need another hashfunc and are summed with NumPy.
MAX_MD5_BITS = 128
# Weights below this are summed in 64-bit integers, which 2**32 of them cannot overflow.
MAX_INT64_WEIGHT = 2**31
# A float is exact for every integer below this.
MAX_EXACT_FLOAT = 2**53
# A query with more matches logs a warning, as the original does for a big bucket.
MANY_MATCHES = 200
MAX_INDEX_BITS = 512


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


@functools.cache
def _recipe(bits: int) -> Recipe:
    return Recipe.preset("simhash", bits=bits)


class Simhash:
    """A SimHash of `f` bits.

    value      a text; tokens; (token, weight) pairs; a dict of weights; a ready fingerprint;
               or another `Simhash`, whose fingerprint is copied
    f          width in bits, a multiple of 8
    reg        pattern of the parts of a text to keep, as str or compiled
    hashfunc   from UTF-8 bytes to at least `f` bits, as bytes or int; the last `f` bits count
    log        a logger [default: the logger "simhash"]

    In a mixed list, a plain token has the weight of the (token, weight) pair before it, as in the
    original: stored fingerprints depend on it.
    """

    # Integer weights up to the cutoff are summed in batches of `batch_size` features. If there are
    # float weights too, this order of summing decides the rounding.
    large_weight_cutoff = 50
    batch_size = 200

    value: Any

    def __init__(
        self,
        value: Simhash | str | SupportsIndex | Iterable[Any],
        f: int = 64,
        reg: str | re.Pattern[str] = LETTERS,
        hashfunc: Callable[[bytes], bytes | int] = _md5,
        log: logging.Logger | None = None,
    ) -> None:
        f = operator.index(f)
        if f % 8:
            raise ValueError(f"f must be a multiple of 8, got {f}")
        self.f = f
        self.f_bytes = f // 8
        self.reg = reg
        self.value = None
        self.hashfunc = hashfunc
        self.hashfunc_returns_int = hashfunc is not _md5 and isinstance(
            hashfunc(b"test"), numbers.Integral
        )
        self.log = logging.getLogger("simhash") if log is None else log

        if isinstance(value, Simhash):
            self.value = value.value
        elif isinstance(value, str):
            self.build_by_text(str(value))
        elif isinstance(value, Iterable):
            self.build_by_features(value)
        elif isinstance(value, numbers.Integral):
            self.value = value
        else:
            raise TypeError(
                f"Bad parameter with type {type(value)}: value must be a str, an iterable of "
                "tokens or (token, weight) pairs, a dict, an int or a Simhash"
            )

    def __eq__(self, other: object) -> bool:
        return bool(self.value == other.value) if hasattr(other, "value") else NotImplemented

    # The value is mutable, so instances are not hashable.
    __hash__ = None  # type: ignore[assignment]

    def distance(self, another: Simhash) -> int:
        """Return the number of the `f` bits that differ."""
        if self.f != another.f:
            raise AssertionError(
                f"cannot compare fingerprints of {self.f} and {another.f} bits; "
                "build both with the same f"
            )
        return _distance(int(self.value), int(another.value), self.f)

    def build_by_text(self, content: str) -> None:
        """Set the value from a text: counts of windows of four lower-case letters."""
        if self._has_default_features():
            try:
                value = fingerprint(content, _recipe(self.f))
            except ValueError:
                # A lone surrogate cannot be UTF-8. It is not a letter, so tokenizing drops it.
                pass
            else:
                # In the original, a text without letters has one feature, the empty token.
                self.value = int.from_bytes(self._hasher()(""), "big") if value is None else value
                return
        self.build_by_features(collections.Counter(self._tokenize(content)))

    def build_by_features(self, features: Iterable[Any]) -> None:
        """Set the value from tokens, (token, weight) pairs or a dict of weights."""
        int_weights = _int_weights(features) if self._has_core_hash() else None
        if int_weights:
            tokens, weights = list(int_weights), list(int_weights.values())
            value = _recipe(self.f).pipeline.fingerprint_features(tokens, weights)
            # Without any weight, all bits are 0.
            self.value = 0 if value is None else int.from_bytes(value, "little")
            return
        pairs = features.items() if isinstance(features, dict) else features
        sums: list[NDArray[Any]] = []
        digests: list[bytes] = []
        batch_weights: list[int] = []
        total: Any = 0
        weight: Any = 1
        hasher = self._hasher()
        for feature in pairs:
            is_large = False
            if isinstance(feature, str):
                token = feature
            else:
                token, weight = feature
                is_large = weight > self.large_weight_cutoff
            total += weight
            digest = hasher(token)
            if is_large or not isinstance(weight, int):
                sums.append(_sum_single(digest, weight))
            else:
                digests.append(digest)
                batch_weights.append(max(weight, 0))
                if len(digests) >= self.batch_size:
                    sums.append(_sum_batch(digests, batch_weights))
                    digests, batch_weights = [], []
            if len(sums) >= self.batch_size:
                sums = [np.sum(sums, 0)]
        if digests:
            sums.append(_sum_batch(digests, batch_weights))
        if not sums:
            self.value = 0
            return
        ones = np.asarray(np.sum(sums, 0) > total / 2, dtype=np.bool_)
        self.value = int.from_bytes(np.packbits(ones).tobytes(), "big")

    def _tokenize(self, content: str) -> list[str]:
        return self._slide("".join(re.findall(self.reg, content.lower())))

    def _slide(self, content: str, width: int = 4) -> list[str]:
        return [content[i : i + width] for i in range(max(len(content) - width + 1, 1))]

    def _hasher(self) -> Callable[[str], bytes]:
        """Return a function from a token to the last `f` bits of its hash, big-endian."""
        hashfunc: Callable[[bytes], Any] = self.hashfunc
        size = self.f_bytes

        def of_int(token: str) -> bytes:
            return (int(hashfunc(token.encode())) & ((1 << size * 8) - 1)).to_bytes(size, "big")

        def of_bytes(token: str) -> bytes:
            digest: bytes = hashfunc(token.encode())[-size:]
            if len(digest) < size:
                raise ValueError(
                    f"hashfunc gives {len(digest) * 8} bits but f is {size * 8}; pass a wider "
                    "hashfunc such as lambda data: hashlib.sha512(data).digest()"
                )
            return digest

        return of_int if self.hashfunc_returns_int else of_bytes

    def _has_default_features(self) -> bool:
        """Return whether the core computes the same value: nothing is customized or overridden."""
        kind = type(self)
        reg = self.reg
        if isinstance(reg, re.Pattern):
            reg = reg.pattern if reg.flags == re.UNICODE else ""
        return (
            reg == LETTERS
            and self._has_core_hash()
            and kind._tokenize is Simhash._tokenize
            and kind._slide is Simhash._slide
            and kind.build_by_features is Simhash.build_by_features
        )

    def _has_core_hash(self) -> bool:
        return self.hashfunc is _md5 and 8 <= self.f <= MAX_MD5_BITS


def _int_weights(features: Iterable[Any]) -> dict[str, int] | None:
    """Return weights by token if all are integers, which the core can add; else None."""
    if isinstance(features, dict):
        all_ints = all(type(w) is int and 0 <= w < MAX_INT64_WEIGHT for w in features.values())
        return features if all_ints and all(type(token) is str for token in features) else None
    if isinstance(features, list | tuple) and all(type(token) is str for token in features):
        return collections.Counter(features)
    return None


class SimhashIndex:
    """Finds the stored fingerprints within `k` bits of a query.

    objs   (id, Simhash) pairs; ids come back as str
    f      width in bits, that of every `Simhash` in the index
    k      largest distance found

    An id may have several fingerprints, and a fingerprint several ids. `neardup.Index` does the
    search; the blocks and buckets of the original are computed on demand.
    """

    def __init__(
        self,
        objs: Iterable[tuple[object, Simhash]],
        f: int = 64,
        k: int = 2,
        log: logging.Logger | None = None,
    ) -> None:
        # NumPy integers have a fixed width, and wide masks would overflow.
        f, k = operator.index(f), operator.index(k)
        if k < 0:
            raise ValueError(f"k must be 0 or more, got {k}")
        self.f = f
        self.k = k
        self.log = logging.getLogger("simhash") if log is None else log
        self._index = self._empty()
        # Keys of buckets that may be empty: in the original, looking up a bucket creates it.
        self._touched: set[str] = set()
        self.log.info("Initializing %s data.", len(objs) if isinstance(objs, Sized) else "some")
        # A dict removes duplicates and keeps the order.
        self._add_entries(dict.fromkeys(self._entry(obj_id, simhash) for obj_id, simhash in objs))

    @property
    def offsets(self) -> list[int]:
        """The lowest bit of each block. The last block has the remainder."""
        width = self.f // (self.k + 1)
        return [width * block for block in range(self.k + 1)]

    @property
    def bucket(self) -> dict[str, set[str]]:
        """Block key → entries "fingerprint in hexadecimal,id". A copy: changes have no effect."""
        buckets: dict[str, set[str]] = {key: set() for key in self._touched}
        for entry in self._entries():
            for key in self._keys(_value(entry)):
                buckets.setdefault(key, set()).add(entry)
        return buckets

    def get_keys(self, simhash: Simhash) -> Iterator[str]:
        """Yield the bucket key of each block, "value:block" in hexadecimal."""
        return self._keys(int(simhash.value))

    def add(self, obj_id: object, simhash: Simhash) -> None:
        """Add a fingerprint under an id."""
        entry = self._entry(obj_id, simhash)
        if entry not in self._index:
            self._add_entries([entry])

    def delete(self, obj_id: object, simhash: Simhash) -> None:
        """Remove a fingerprint; do nothing if it is not in the index."""
        self._index.remove(self._entry(obj_id, simhash))
        self._touched.update(self.get_keys(simhash))

    def get_near_dups(self, simhash: Simhash) -> list[str]:
        """Return the sorted ids of all fingerprints at most `k` bits away."""
        self._check(simhash)
        self._touched.update(self.get_keys(simhash))
        code = self._code(int(simhash.value))
        found = self._index.search(code, min(self.k, self._index.bits))
        if len(found) > MANY_MATCHES:
            self.log.warning("Big bucket found. key:%x, len:%s", code, len(found))
        return sorted({str(match.id).partition(",")[2] for match in found})

    def bucket_size(self) -> int:
        """Return the number of buckets, including those that a query or a deletion left empty."""
        return len(self.bucket)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_index": self._entries()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._index = self._empty()
        self._add_entries(state["_index"])

    def _empty(self) -> Index | _Scan:
        # Other widths are padded with zeros to whole bytes, which adds no distance.
        width = max(8, -(-self.f // 8) * 8)
        return Index(width) if width <= MAX_INDEX_BITS else _Scan(width)

    def _entries(self) -> list[str]:
        return [str(entry) for entry in self._index]

    def _add_entries(self, entries: Iterable[str]) -> None:
        """Add entries that are not in the index yet; an entry is its own id."""
        entry_list = list(entries)
        self._index.add([self._code(_value(entry)) for entry in entry_list], entry_list)

    def _entry(self, obj_id: object, simhash: Simhash) -> str:
        self._check(simhash)
        return f"{int(simhash.value):x},{obj_id!s}"

    def _code(self, value: int) -> int:
        """Return the lowest `f` bits: a fingerprint passed as an int may have more."""
        return value & ((1 << self.f) - 1)

    def _keys(self, value: int) -> Iterator[str]:
        offsets = self.offsets
        for block, (start, end) in enumerate(zip(offsets, [*offsets[1:], self.f], strict=True)):
            yield f"{value >> start & ((1 << (end - start)) - 1):x}:{block:x}"

    def _check(self, simhash: Simhash) -> None:
        if simhash.f != self.f:
            raise AssertionError(
                f"the index holds fingerprints of {self.f} bits, this one has {simhash.f}; "
                f"build it with f={self.f}"
            )


class _Scan:
    """A linear scan in place of `Index`, for fingerprints wider than `Index` supports."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.codes: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.codes))

    def __contains__(self, entry: str) -> bool:
        return entry in self.codes

    def add(self, codes: list[int], entries: list[str]) -> None:
        self.codes.update(zip(entries, codes, strict=True))

    def remove(self, entry: str) -> None:
        self.codes.pop(entry, None)

    def search(self, code: int, radius: int) -> list[Match[str]]:
        near = ((entry, (code ^ value).bit_count()) for entry, value in self.codes.items())
        return [Match(entry, distance) for entry, distance in near if distance <= radius]


def _value(entry: str) -> int:
    return int(entry.partition(",")[0], 16)


def _distance(left: int, right: int, bits: int) -> int:
    return ((left ^ right) & ((1 << bits) - 1)).bit_count()


def _bits(digests: bytes) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(digests, dtype=np.uint8))


def _sum_batch(digests: list[bytes], weights: list[int]) -> NDArray[Any]:
    """Return the exact sum of weights for each bit."""
    rows = _bits(b"".join(digests)).reshape(len(digests), -1)
    # NumPy multiplies floats much faster; they are exact below this limit.
    is_exact = sum(weights) < MAX_EXACT_FLOAT
    kind = np.float64 if is_exact else np.object_
    sums: NDArray[Any] = np.dot(np.array(weights, dtype=kind), rows.astype(kind))
    return sums.astype(np.int64) if is_exact else sums


def _sum_single(digest: bytes, weight: Any) -> NDArray[Any]:
    bits = _bits(digest)
    if isinstance(weight, int):
        # NumPy 2 keeps a product of bytes in bytes, so widen first.
        wide: NDArray[Any] = bits.astype(np.int64 if weight < MAX_INT64_WEIGHT else np.object_)
        return wide * weight
    product: NDArray[Any] = bits * weight
    return product
