"""Index: fingerprints by id, searched by distance; it can grow, be saved, and be memory-mapped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias, overload

from neardup import _core
from neardup._util.arrow import number_array
from neardup._util.numbers import check_fraction, check_int, check_threads, is_int
from neardup.near.lookup import Match
from neardup.text.fingerprint import Codes, Fingerprints, as_codes
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Id: TypeAlias = int | str
MAX_ID = 2**63 - 1


@dataclass(frozen=True)
class PlanPart:
    """The plan of a search in one part of an index.

    entries     number of ids in this part
    method      "tables": read the buckets of near keys; "scan": compare every fingerprint
    keys        number of key bits of each table
    flips       number of key bits that may differ, for each table; None: the table is not read.
                Of keys with two levels it counts the bits of the first
    probes      runs of buckets read for a query
    candidates  expected number of fingerprints compared with a query
    cost        expected microseconds a query takes on one core, in a batch
    inner       number of key bits that are the second level, for each table; 0: there is one level
    both        number of bits of both levels together that may differ, for each table; None: only
                the first level is used
    saved       expected number of candidates besides if only the first level were used
    """

    entries: int
    method: str
    keys: tuple[int, ...]
    flips: tuple[int | None, ...]
    probes: int
    candidates: float
    cost: float
    inner: tuple[int, ...] = ()
    both: tuple[int | None, ...] = ()
    saved: float = 0.0

    @property
    def levels(self) -> int:
        """The levels of keys used: 2 if a table is read by both, 0 for a scan."""
        return 0 if self.method == "scan" else 1 + any(both is not None for both in self.both)

    def __str__(self) -> str:
        if self.method == "scan":
            return f"{self.entries:,} entries: scan, {self.cost:,.2f} µs"
        tables = ", ".join(
            _look(bits - inner, flips)
            if both is None
            else f"{_look(bits - inner, flips)} with {_look(bits, both)}"
            for bits, inner, flips, both in zip(
                self.keys, self.inner, self.flips, self.both, strict=True
            )
            if flips is not None
        )
        saved = f" ({self.candidates + self.saved:,.0f} with one level)" if self.levels == 2 else ""
        return (
            f"{self.entries:,} entries: {len(self.flips) - self.flips.count(None)} tables "
            f"({tables}), {self.probes:,} probes, {self.candidates:,.0f} candidates{saved}, "
            f"{self.cost:,.2f} µs"
        )


def _look(bits: int, flips: int) -> str:
    return f"{bits} bits ± {flips}" if flips else f"{bits} bits"


@dataclass(frozen=True)
class Plan:
    """The plan of `Index.search` at a radius, with its expected cost.

    method  "tables" if any part is searched through its tables, else "scan"
    cost    expected microseconds a query takes on one core, in a batch
    parts   the sealed segments, then the newest entries, which are not sealed yet
    """

    radius: int
    method: str
    cost: float
    parts: tuple[PlanPart, ...]

    @property
    def levels(self) -> int:
        """The most levels of keys that a part uses; 0 if all are scanned."""
        return max((part.levels for part in self.parts), default=0)

    def __str__(self) -> str:
        lines = [f"radius {self.radius}: {self.method}, about {self.cost:,.2f} µs a query"]
        return "\n".join(lines + [f"  {part}" for part in self.parts])


class Index:
    """Fingerprints of one width by id, searched by Hamming distance. The search is exact.

    bits    width of the fingerprints, a multiple of 8 up to 512
    recipe  recipe of the fingerprints; sets `bits` [default: that of the first `Fingerprints`
            added]. Fingerprints of another recipe raise ValueError; ints and arrays are not checked
    levels  levels of the tables' keys, 1 or 2 [default: 2 in a part of 30 million fingerprints or
            more, where they pay]. Answers are the same

    Ids are signed 64-bit integers or strings, all of one kind. An id has one fingerprint; a
    fingerprint may have many ids. All methods are thread-safe.

    >>> import neardup as nd
    >>> index = nd.Index(bits=64)
    >>> index.add([0b0000, 0b0111, 0b1111], ids=["a", "b", "c"])
    ['a', 'b', 'c']
    >>> index.search(0b0011, radius=1)
    [Match(id='b', distance=1, similarity=None, differs=None, lost=None)]
    >>> [(found.id, found.distance) for found in index.nearest(0b0011, n=2)]
    [('b', 1), ('a', 2)]
    """

    _core: _core.Index

    def __init__(
        self,
        bits: int = 64,
        *,
        recipe: Recipe | str | os.PathLike[str] | None = None,
        levels: int | None = None,
    ) -> None:
        if levels is not None:
            levels = check_int("levels", levels, 1, 2)
        if recipe is None:
            self._core = _core.Index(check_int("bits", bits, 8, 512), None, levels)
        else:
            known = as_recipe(recipe)
            self._core = _core.Index(known.bits, known.identity, levels)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a saved index. The file is memory-mapped, so this takes hardly any time or memory.

        A checksum is verified before data is used; `CorruptIndexError` says what is damaged. Do
        not modify the file while the index is open; `save` may replace it. Changes stay in memory
        until they are saved.
        """
        index = cls.__new__(cls)
        index._core = _core.Index.open(os.fspath(path))
        return index

    def save(self, path: str | os.PathLike[str]) -> None:
        """Compact the index and write it to a file, atomically."""
        self._core.save(os.fspath(path))

    @property
    def bits(self) -> int:
        """Width of the fingerprints."""
        return self._core.bits

    @property
    def recipe(self) -> str | None:
        """Identity of the recipe of the fingerprints, if it is known."""
        return self._core.recipe

    @property
    def levels(self) -> int | None:
        """Levels of the tables' keys that were asked for; None: two where they pay."""
        return self._core.levels

    @property
    def nbytes(self) -> int:
        """Bytes held in memory or mapped."""
        return self._core.nbytes

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[Id]:
        ids = self._core.ids()
        return iter(ids if isinstance(ids, list) else ids.tolist())

    def __contains__(self, key: object) -> bool:
        return self._get(key) is not None

    def __getitem__(self, key: Id) -> int:
        words = self._get(key)
        if words is None:
            raise KeyError(key)
        return sum(word << (64 * at) for at, word in enumerate(words))

    def __reduce__(self) -> NoReturn:
        # An index may be larger than memory, and a pickle has no checksums.
        raise TypeError(
            "an Index can be neither pickled nor copied; "
            "use index.save(path), and neardup.Index.open(path) where it is needed"
        )

    def __repr__(self) -> str:
        return f"Index({len(self):,} entries, {self.bits} bits)"

    def _get(self, key: object) -> list[int] | None:
        if isinstance(key, str):
            return self._core.get(key) if _is_unicode(key) else None
        if is_int(key):
            number = key.__index__()
            return self._core.get(number) if -MAX_ID - 1 <= number <= MAX_ID else None
        return None

    @overload
    def add(
        self, values: int | None, ids: Id | None = None, *, threads: int | None = None
    ) -> Id | None: ...
    @overload
    def add(
        self,
        values: Fingerprints | NDArray[np.uint64] | Iterable[int | None],
        ids: NDArray[Any] | Iterable[Id] | None = None,
        *,
        threads: int | None = None,
    ) -> NDArray[np.int64] | list[str]: ...
    def add(self, values: Any, ids: Any = None, *, threads: int | None = None) -> Any:
        """Add fingerprints under ids, all or none, and return the id, or the ids, added.

        values  one fingerprint, or many: Fingerprints, an array of uint64, an iterable of ints.
                Texts without a signal (None) are left out
        ids     one for each fingerprint [default: row signal_rows, continued from the highest id]
        """
        import numpy as np

        codes = as_codes(values, self.bits)
        check_threads(threads)
        id_list = None if ids is None else as_ids([ids] if codes.is_single else ids)
        rows = codes.values
        signal_rows = None
        if id_list is not None and len(id_list) != len(codes):
            raise ValueError(f"{len(id_list)} ids for {len(codes)} fingerprints; give one for each")
        if codes.signal is not None:
            signal_rows = np.flatnonzero(codes.signal).astype(np.uint32)
            rows = rows[codes.signal]
            if isinstance(id_list, list):
                id_list = [id_list[row] for row in signal_rows.tolist()]
            elif id_list is not None:
                id_list = id_list[codes.signal]
        stored = self._core.add(rows, id_list, signal_rows, len(codes), codes.recipe, threads)
        if not codes.is_single:
            return stored
        if not len(stored):
            return None
        return stored[0] if isinstance(stored, list) else int(stored[0])

    def remove(self, ids: Id | NDArray[Any] | Iterable[Id]) -> int:
        """Remove one id or many; return how many were in the index."""
        id_list: Any = [ids] if isinstance(ids, str) or is_int(ids) else ids
        if isinstance(id_list, Iterable) and not hasattr(id_list, "ndim"):
            # An id with a lone surrogate cannot be stored, so it is not in the index.
            id_list = [key for key in id_list if not isinstance(key, str) or _is_unicode(key)]
        return self._core.remove(as_ids(id_list))

    @overload
    def search(
        self,
        values: int | None,
        radius: int = 3,
        recall: float = 1.0,
        *,
        threads: int | None = None,
    ) -> list[Match[Id]]: ...
    @overload
    def search(
        self,
        values: Fingerprints | NDArray[np.uint64] | Iterable[int | None],
        radius: int = 3,
        recall: float = 1.0,
        *,
        threads: int | None = None,
    ) -> pa.Table: ...
    def search(
        self, values: Any, radius: int = 3, recall: float = 1.0, *, threads: int | None = None
    ) -> Any:
        """Return all ids at most `radius` bits from a fingerprint, the nearest first, then by id.

        recall  share of near-duplicates to find, if 99 in 100 of them lie within the radius. Below
                1 the search is much faster at a large radius

        For one fingerprint the result is a list of `Match`; for many it is an Arrow table: query
        (the row of the fingerprint), id, distance.
        """
        codes = as_codes(values, self.bits)
        reach = check_int("radius", radius, 0, self.bits), check_fraction("recall", recall), None
        return self._query(codes, threads, self._core.search, reach)

    def contains(self, values: Any, radius: int = 0, *, threads: int | None = None) -> Any:
        """Return whether any fingerprint is at most `radius` bits away; an array for many."""
        import numpy as np

        codes = as_codes(values, self.bits)
        check_threads(threads)
        radius = check_int("radius", radius, 0, self.bits)
        found = self._core.contains(codes.values, radius, codes.recipe, threads)
        if codes.signal is not None:
            found = np.logical_and(found, codes.signal)
        return bool(found[0]) if codes.is_single else found

    @overload
    def nearest(
        self,
        values: int | None,
        n: int = 1,
        radius: int | None = None,
        *,
        max_distance: int | None = None,
        threads: int | None = None,
    ) -> list[Match[Id]]: ...
    @overload
    def nearest(
        self,
        values: Fingerprints | NDArray[np.uint64] | Iterable[int | None],
        n: int = 1,
        radius: int | None = None,
        *,
        max_distance: int | None = None,
        threads: int | None = None,
    ) -> pa.Table: ...
    def nearest(
        self,
        values: Any,
        n: int = 1,
        radius: int | None = None,
        *,
        max_distance: int | None = None,
        threads: int | None = None,
    ) -> Any:
        """Return the `n` nearest ids, in the form of `search`; ties go to the lowest ids.

        radius        maximum distance [default: none]
        max_distance  former name of `radius`
        """
        codes = as_codes(values, self.bits)
        count = check_int("n", n, 1, MAX_ID)
        if radius is not None and max_distance is not None:
            raise ValueError("radius and max_distance are the same option; give one of them")
        limit = self.bits
        if radius is not None:
            limit = check_int("radius", radius, 0, self.bits)
        elif max_distance is not None:
            limit = check_int("max_distance", max_distance, 0, self.bits)
        return self._query(codes, threads, self._core.nearest, count, limit)

    def _query(self, codes: Codes, threads: int | None, search: Any, *limits: Any) -> Any:
        """Call a search of the core for the rows with a signal; return matches or a table."""
        check_threads(threads)
        rows, signal_rows = codes.values, None
        if codes.signal is not None:
            import numpy as np

            signal_rows = np.flatnonzero(codes.signal)
            rows = rows[codes.signal]
        queries, ids, distances = search(rows, *limits, codes.recipe, threads)
        if codes.is_single:
            found = ids if isinstance(ids, list) else ids.tolist()
            return [Match(*row) for row in zip(found, distances.tolist(), strict=True)]
        import pyarrow as pa

        if signal_rows is not None:
            queries = signal_rows[queries]
        found = pa.array(ids, pa.string()) if isinstance(ids, list) else number_array(ids)
        columns = [number_array(queries.astype("i8")), found, number_array(distances)]
        return pa.table(columns, names=["query", "id", "distance"])

    def plan(self, radius: int, recall: float = 1.0) -> Plan:
        """Return the plan of a search at this radius, with its expected cost."""
        radius = check_int("radius", radius, 0, self.bits)
        parts = []
        for entries, tables, probes, candidates, saved, nanoseconds in self._core.plan(
            radius, check_fraction("recall", recall)
        ):
            part = PlanPart(
                entries,
                "scan" if tables is None else "tables",
                keys=tuple(outer + inner for (outer, inner), _ in tables or ()),
                flips=tuple(look and look[0] for _, look in tables or ()),
                probes=probes,
                candidates=candidates,
                cost=nanoseconds / 1e3,
                inner=tuple(inner for (_, inner), _ in tables or ()),
                both=tuple(look and look[1] for _, look in tables or ()),
                saved=saved,
            )
            parts.append(part)
        method = "tables" if any(part.method == "tables" for part in parts) else "scan"
        return Plan(radius, method, sum(part.cost for part in parts), tuple(parts))

    def clear(self) -> None:
        """Remove everything, including the recipe and the kind of ids."""
        self._core.clear()

    def compact(self) -> None:
        """Merge all segments into one and drop removed entries, for the fastest searches."""
        self._core.compact()

    def verify(self) -> None:
        """Verify all checksums and the order of entries; raise `CorruptIndexError` if wrong."""
        self._core.verify()


def as_ids(ids: Any) -> NDArray[np.int64] | list[str]:
    """Check ids and return them for the core: an array of int64, or a list of strings."""
    import numpy as np

    if isinstance(ids, np.ndarray) and ids.ndim != 1:
        raise TypeError(
            f"ids have {ids.ndim} dimensions; give a list, or an array of one dimension"
        )
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        if ids.dtype.kind == "u" and len(ids) and int(ids.max()) > MAX_ID:
            raise ValueError(f"the id {ids.max()} is too large; whole numbers go up to {MAX_ID}")
        return np.ascontiguousarray(ids, dtype=np.int64)
    if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
        raise TypeError(f"ids is {ids!r}; give whole numbers or strings in a list")
    if hasattr(ids, "to_pylist"):
        ids = ids.to_pylist()
    listed = list(ids)
    if listed and all(isinstance(key, str) for key in listed):
        return [_check_id(key) for key in listed]
    for at, key in enumerate(listed):
        if not is_int(key):
            raise TypeError(
                f"ids[{at}] is {key!r}; ids must be whole numbers, or strings, all of one kind"
            )
        if not -MAX_ID - 1 <= key.__index__() <= MAX_ID:
            raise ValueError(f"ids[{at}] is {key}; whole numbers go from {-MAX_ID - 1} to {MAX_ID}")
    return np.array([key.__index__() for key in listed], dtype=np.int64)


def _check_id(key: str) -> str:
    if not _is_unicode(key):
        raise ValueError(f"the id {key!r} has a lone surrogate; it cannot be stored")
    return str(key)


def _is_unicode(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True
