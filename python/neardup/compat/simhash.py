"""`Simhash` and `SimhashIndex` as PyPI `simhash` 2.x has them: same surface, same values.

    from neardup.compat.simhash import Simhash, SimhashIndex

is the whole migration. What is better here: texts go through the Rust core, weights of any size
are right under NumPy 2, searches run on `neardup.Index`, and a `hashfunc` too narrow for `f` is
refused instead of giving a value that means nothing.
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
# The core's md5 ends here; wider fingerprints need a wider hashfunc and are summed by NumPy.
WIDEST_MD5 = 128
# Weights below this are summed in 64-bit integers, which 2**32 of them cannot overflow.
WIDE_WEIGHT = 2**31
# Below this a float holds every integer.
EXACT_FLOAT = 2**53
# More neighbours than this make queries slow, so the log is told.
BIG_BUCKET = 200
WIDEST_INDEX = 512


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


@functools.cache
def _recipe(bits: int) -> Recipe:
    return Recipe.preset("simhash", bits=bits)


class Simhash:
    """A SimHash of `f` bits.

    value      a text; tokens; (token, weight) pairs; a dict of weights; a ready fingerprint;
               or another `Simhash`, whose fingerprint is taken over
    f          width in bits, a multiple of 8
    reg        what counts as a letter in a text: a pattern, as str or compiled
    hashfunc   from UTF-8 bytes to at least `f` bits, as bytes or int; the last `f` bits count
    log        where `SimhashIndex` and others may write; the logger "simhash" if not given

    A plain token after a (token, weight) pair takes over the weight of that pair: mixed lists
    have always been read so, and stored fingerprints depend on it.
    """

    # Integer weights up to the cutoff are summed together, `batch_size` features at a time. With
    # float weights beside them this decides the order of the sum, and so its rounding.
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

    # The value may be rebuilt in place, so it cannot serve as a hash.
    __hash__ = None  # type: ignore[assignment]

    def distance(self, another: Simhash) -> int:
        """How many of the `f` bits differ."""
        if self.f != another.f:
            raise AssertionError(
                f"cannot compare fingerprints of {self.f} and {another.f} bits; "
                "build both with the same f"
            )
        return _distance(int(self.value), int(another.value), self.f)

    def build_by_text(self, content: str) -> None:
        """Set the value from a text: letters, lower case, windows of four characters, counted."""
        if self._has_default_features():
            try:
                value = fingerprint(content, _recipe(self.f))
            except ValueError:
                # A lone surrogate, which UTF-8 cannot carry. It is no letter: below it drops out.
                pass
            else:
                # A text without letters has always been the empty token, not nothing.
                self.value = int.from_bytes(self._hasher()(""), "big") if value is None else value
                return
        self.build_by_features(collections.Counter(self._tokenize(content)))

    def build_by_features(self, features: Iterable[Any]) -> None:
        """Set the value from tokens, (token, weight) pairs or a dict of weights."""
        counts = _counts(features) if self._has_core_hash() else None
        if counts:
            tokens, weights = list(counts), list(counts.values())
            value = _recipe(self.f).pipeline.fingerprint_features(tokens, weights)
            # Without any weight no bit has a majority.
            self.value = 0 if value is None else int.from_bytes(value, "little")
            return
        pairs = features.items() if isinstance(features, dict) else features
        sums: list[NDArray[Any]] = []
        digests: list[bytes] = []
        repeats: list[int] = []
        total: Any = 0
        weight: Any = 1
        hasher = self._hasher()
        for feature in pairs:
            alone = False
            if isinstance(feature, str):
                token = feature
            else:
                token, weight = feature
                alone = weight > self.large_weight_cutoff
            total += weight
            digest = hasher(token)
            if alone or not isinstance(weight, int):
                sums.append(_weighted(digest, weight))
            else:
                digests.append(digest)
                repeats.append(max(weight, 0))
                if len(digests) >= self.batch_size:
                    sums.append(_batch(digests, repeats))
                    digests, repeats = [], []
            if len(sums) >= self.batch_size:
                sums = [np.sum(sums, 0)]
        if digests:
            sums.append(_batch(digests, repeats))
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
        """From a token to the last `f` bits of its hash, most significant byte first."""
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
        """Whether the core computes the very same thing, subclasses included."""
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
        return self.hashfunc is _md5 and 8 <= self.f <= WIDEST_MD5


def _counts(features: Iterable[Any]) -> dict[str, int] | None:
    """Features whose sums are whole numbers: the core adds them faster, whatever their order."""
    if isinstance(features, dict):
        whole = all(type(w) is int and 0 <= w < WIDE_WEIGHT for w in features.values())
        return features if whole and all(type(token) is str for token in features) else None
    if isinstance(features, list | tuple) and all(type(token) is str for token in features):
        return collections.Counter(features)
    return None


class SimhashIndex:
    """Finds the stored fingerprints within `k` bits of a query.

    objs   (id, Simhash) pairs; ids come back as str
    f      width in bits, that of every `Simhash` in the index
    k      largest distance found

    An id may stand for several fingerprints, and a fingerprint for several ids. The search is that
    of `neardup.Index`; the blocks and buckets of the original are worked out when asked for.
    """

    def __init__(
        self,
        objs: Iterable[tuple[object, Simhash]],
        f: int = 64,
        k: int = 2,
        log: logging.Logger | None = None,
    ) -> None:
        # NumPy's whole numbers have a fixed width; masks are made of these.
        f, k = operator.index(f), operator.index(k)
        if k < 0:
            raise ValueError(f"k must be 0 or more, got {k}")
        self.f = f
        self.k = k
        self.log = logging.getLogger("simhash") if log is None else log
        self._index = self._empty()
        # Keys of buckets that may be empty: in the original, to look into one is to make it.
        self._touched: set[str] = set()
        self.log.info("Initializing %s data.", len(objs) if isinstance(objs, Sized) else "some")
        # A dict drops what comes twice.
        self._file(dict.fromkeys(self._entry(obj_id, simhash) for obj_id, simhash in objs))

    @property
    def offsets(self) -> list[int]:
        """The lowest bit of each block. What does not divide evenly falls to the last block."""
        width = self.f // (self.k + 1)
        return [width * block for block in range(self.k + 1)]

    @property
    def bucket(self) -> dict[str, set[str]]:
        """Block key → entries "fingerprint in hexadecimal,id". Made anew each time, to be read."""
        buckets: dict[str, set[str]] = {key: set() for key in self._touched}
        for entry in self._entries():
            for key in self._keys(_value(entry)):
                buckets.setdefault(key, set()).add(entry)
        return buckets

    def get_keys(self, simhash: Simhash) -> Iterator[str]:
        """The bucket key of each block, "value:block" in hexadecimal."""
        return self._keys(int(simhash.value))

    def add(self, obj_id: object, simhash: Simhash) -> None:
        """File a fingerprint under an id."""
        entry = self._entry(obj_id, simhash)
        if entry not in self._index:
            self._file([entry])

    def delete(self, obj_id: object, simhash: Simhash) -> None:
        """Take a fingerprint out again; nothing happens if it is not there."""
        self._index.remove(self._entry(obj_id, simhash))
        self._touched.update(self.get_keys(simhash))

    def get_near_dups(self, simhash: Simhash) -> list[str]:
        """The ids, sorted, of all fingerprints at most `k` bits away."""
        self._check(simhash)
        self._touched.update(self.get_keys(simhash))
        code = self._code(int(simhash.value))
        found = self._index.search(code, min(self.k, self._index.bits))
        if len(found) > BIG_BUCKET:
            self.log.warning("Big bucket found. key:%x, len:%s", code, len(found))
        return sorted({str(match.id).partition(",")[2] for match in found})

    def bucket_size(self) -> int:
        """How many buckets there are, those a query or a deletion left empty included."""
        return len(self.bucket)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_index": self._entries()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._index = self._empty()
        self._file(state["_index"])

    def _empty(self) -> Index | _Scan:
        # A width the index does not know is filled up with zeros, which add no distance.
        width = max(8, -(-self.f // 8) * 8)
        return Index(width) if width <= WIDEST_INDEX else _Scan(width)

    def _entries(self) -> list[str]:
        return [str(entry) for entry in self._index]

    def _file(self, entries: Iterable[str]) -> None:
        """Entries that are not there yet. Each is its own id: nothing else has to be kept."""
        given = list(entries)
        self._index.add([self._code(_value(entry)) for entry in given], given)

    def _entry(self, obj_id: object, simhash: Simhash) -> str:
        self._check(simhash)
        return f"{int(simhash.value):x},{obj_id!s}"

    def _code(self, value: int) -> int:
        """The bits that count: a fingerprint given as a number may have more."""
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
    """What `SimhashIndex` needs of an index, for fingerprints wider than `Index` takes."""

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


def _batch(digests: list[bytes], repeats: list[int]) -> NDArray[Any]:
    """How much weight is on each set bit, exactly."""
    rows = _bits(b"".join(digests)).reshape(len(digests), -1)
    # Only products of floats are quick, and integers below the limit are exact in them.
    quick = sum(repeats) < EXACT_FLOAT
    kind = np.float64 if quick else np.object_
    sums: NDArray[Any] = np.dot(np.array(repeats, dtype=kind), rows.astype(kind))
    return sums.astype(np.int64) if quick else sums


def _weighted(digest: bytes, weight: Any) -> NDArray[Any]:
    bits = _bits(digest)
    if isinstance(weight, int):
        # Bits are bytes, and NumPy 2 keeps products of bytes in bytes: widen first.
        wide: NDArray[Any] = bits.astype(np.int64 if weight < WIDE_WEIGHT else np.object_)
        return wide * weight
    product: NDArray[Any] = bits * weight
    return product
