"""A snapshot of a collection's indexes, searched by any number of threads.

A snapshot is replaced, never changed, but it shares its indexes with later snapshots: documents
committed or removed meanwhile appear in them or disappear. So a search that finds a key without a
document is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.collection.schema import DocumentCounts, SegmentRow
from neardup.near.lookup import Candidates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(eq=False)
class SnapshotPart:
    """The indexes of a range of keys, in a segment or in the tail.

    sketches  None if the file is missing or damaged; the first search by sketches rebuilds them
    intact    False if a file is missing or damaged; the next write replaces the segment
    """

    row: SegmentRow
    codes: _core.Index
    sketches: _core.SketchIndex | None
    intact: bool


class UnreadyError(Exception):
    """An index of `part` must be rebuilt before it can be searched: fingerprints if `codes`,
    sketches otherwise."""

    def __init__(self, part: SnapshotPart, *, codes: bool) -> None:
        super().__init__(part)
        self.part = part
        self.codes = codes


FoundColumns = tuple["NDArray[np.uint32]", "NDArray[np.int64]", "NDArray[np.integer]"]


class Snapshot(NamedTuple):
    """All fingerprints and sketches as of `counts`, or slightly later."""

    counts: DocumentCounts
    segments: tuple[SnapshotPart, ...]
    tail: SnapshotPart

    @property
    def parts(self) -> tuple[SnapshotPart, ...]:
        # The tail comes last: an update moves a document from a segment to the tail, so a search
        # in this order cannot miss it.
        return (*self.segments, self.tail)

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, limit: int | None
    ) -> Candidates:
        """Return the keys within the radius of each row, or the `limit` nearest of them. With a
        `recall` below 1 that share is found."""
        import numpy as np

        found = _concatenate([*self._within(values, radius, recall, limit)])
        if limit is not None:
            # Rank the candidates of each query; they are sorted by query, then distance.
            queries = found.queries
            kept = np.arange(len(queries)) - np.searchsorted(queries, queries) < limit
            found = Candidates(*(column[kept] for column in found))
        return found

    def within_one(
        self, code: bytes, radius: int, recall: float, limit: int | None
    ) -> list[tuple[int, int]]:
        """Return (distance, key) for each key near one fingerprint, as `within` does."""
        import numpy as np

        values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
        pairs: list[tuple[int, int]] = []
        for _, keys, distances in self._within(values, radius, recall, limit):
            if len(keys):
                pairs += zip(distances.tolist(), keys.tolist(), strict=True)
        pairs.sort()
        return pairs if limit is None else pairs[:limit]

    def _within(
        self, values: NDArray[np.uint64], radius: int, recall: float, limit: int | None
    ) -> Iterator[FoundColumns]:
        for part in self.parts:
            if not len(part.codes):
                continue
            try:
                if limit is None or recall < 1:
                    found = part.codes.search(values, (radius, recall, None), None, None)
                else:
                    found = part.codes.nearest(values, limit, radius, None, None)
            except _core.CorruptIndexError:
                raise UnreadyError(part, codes=True) from None
            yield found  # type: ignore[misc]

    def candidates(
        self, rows: NDArray[np.uint8], similarity: float, recall: float, limit: int | None
    ) -> Candidates:
        """Return candidates for each row, found by sketches. Of equal sketches, each part returns
        at most the first `limit`."""
        try:
            found = _core.search_sketches(self._sketches, rows, (similarity, recall), limit, None)
        except _core.CorruptIndexError:
            raise self._find_damaged(rows, similarity, recall) from None
        return Candidates(*found)  # type: ignore[arg-type]

    def candidates_of_one(
        self, sketch: bytes, similarity: float, recall: float, limit: int | None
    ) -> list[tuple[int, int]]:
        """Return (key, number of equal registers) of the candidates for one sketch, as `candidates`
        does."""
        try:
            return _core.search_sketch(self._sketches, sketch, (similarity, recall), limit)
        except _core.CorruptIndexError:
            import numpy as np

            rows = np.frombuffer(sketch, dtype=np.uint8)[None, :]
            raise self._find_damaged(rows, similarity, recall) from None

    @property
    def _sketches(self) -> list[_core.SketchIndex]:
        found = []
        for part in self.parts:
            if part.sketches is not None:
                found.append(part.sketches)
            elif len(part.codes):
                raise UnreadyError(part, codes=False)
        return found

    def _find_damaged(
        self, rows: NDArray[np.uint8], similarity: float, recall: float
    ) -> UnreadyError:
        """Return the error for the part that cannot be searched. Tries all parts, because another
        thread may have noticed the damage first."""
        for part in self.parts:
            if part.sketches is None:
                return UnreadyError(part, codes=False)
            try:
                _core.search_sketches([part.sketches], rows, (similarity, recall), 1, None)
            except _core.CorruptIndexError:
                return UnreadyError(part, codes=False)
        return UnreadyError(self.tail, codes=False)


def _concatenate(found: list[FoundColumns]) -> Candidates:
    """Return the candidates of all parts, sorted by query, distance and key."""
    found = [part for part in found if len(part[1])] or found[:1]
    if len(found) == 1:
        return Candidates(*found[0])  # type: ignore[arg-type]
    import numpy as np

    if not found:
        none = np.zeros(0, dtype=np.int64)
        return Candidates(none, none, none)
    queries = np.concatenate([part[0] for part in found]).astype(np.int64)
    keys = np.concatenate([part[1] for part in found])
    measure = np.concatenate([part[2] for part in found]).astype(np.int64)
    order = np.lexsort((keys, measure, queries))
    return Candidates(queries[order], keys[order], measure[order])
