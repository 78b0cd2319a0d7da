"""What of a collection is in memory at one moment, to be searched by any number of threads.

A view is never changed, it is replaced. Its indexes may take in what was committed since, and let
go of what was removed: so whoever has found a key and does not find its document looks again.
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
    """A range of keys, in a segment or in the tail.

    sketches  None until they are asked for, where there is no file of them
    sound     whether both are in files that are what they should be
    """

    row: SegmentRow
    codes: _core.Index
    sketches: _core.SketchIndex | None
    sound: bool


class UnreadyError(Exception):
    """Something of a part has to be made, or made anew, before it can be searched."""

    def __init__(self, part: SnapshotPart, *, codes: bool) -> None:
        super().__init__(part)
        self.part = part
        self.codes = codes


Found = tuple["NDArray[np.uint32]", "NDArray[np.int64]", "NDArray[np.integer]"]


class Snapshot(NamedTuple):
    """All fingerprints and sketches as of `counts`, or a little later."""

    counts: DocumentCounts
    parts: tuple[SnapshotPart, ...]
    tail: SnapshotPart

    @property
    def every(self) -> tuple[SnapshotPart, ...]:
        # The tail comes last: what is moved from place to place goes towards it.
        return (*self.parts, self.tail)

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, most: int | None
    ) -> Candidates:
        """Keys within the radius of each row, or that share of them; of each the `most` nearest."""
        import numpy as np

        found = _together([*self._within(values, radius, recall, most)])
        if most is not None:
            # The place of a row among those of its query.
            queries = found.queries
            kept = np.arange(len(queries)) - np.searchsorted(queries, queries) < most
            found = Candidates(*(column[kept] for column in found))
        return found

    def within_one(
        self, code: bytes, radius: int, recall: float, most: int | None
    ) -> list[tuple[int, int]]:
        """Distance and key of what is near a single fingerprint, as `within`."""
        import numpy as np

        values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
        pairs: list[tuple[int, int]] = []
        for _, keys, distances in self._within(values, radius, recall, most):
            if len(keys):
                pairs += zip(distances.tolist(), keys.tolist(), strict=True)
        pairs.sort()
        return pairs if most is None else pairs[:most]

    def _within(
        self, values: NDArray[np.uint64], radius: int, recall: float, most: int | None
    ) -> Iterator[Found]:
        for part in self.every:
            if not len(part.codes):
                continue
            try:
                if most is None or recall < 1:
                    found = part.codes.search(values, (radius, recall, None), None, None)
                else:
                    found = part.codes.nearest(values, most, radius, None, None)
            except _core.CorruptIndexError:
                raise UnreadyError(part, codes=True) from None
            yield found  # type: ignore[misc]

    def alike(
        self, rows: NDArray[np.uint8], similarity: float, recall: float, most: int | None
    ) -> Candidates:
        """The candidates of each row by their sketches; of equal ones at most the first `most` in
        each part."""
        try:
            found = _core.search_sketches(self._sketches, rows, (similarity, recall), most, None)
        except _core.CorruptIndexError:
            raise self._damaged(rows, similarity, recall) from None
        return Candidates(*found)  # type: ignore[arg-type]

    def alike_one(
        self, sketch: bytes, similarity: float, recall: float, most: int | None
    ) -> list[tuple[int, int]]:
        """Keys of the candidates for one sketch, and how many registers agree, as `alike`."""
        try:
            return _core.search_sketch(self._sketches, sketch, (similarity, recall), most)
        except _core.CorruptIndexError:
            import numpy as np

            rows = np.frombuffer(sketch, dtype=np.uint8)[None, :]
            raise self._damaged(rows, similarity, recall) from None

    @property
    def _sketches(self) -> list[_core.SketchIndex]:
        found = []
        for part in self.every:
            if part.sketches is not None:
                found.append(part.sketches)
            elif len(part.codes):
                raise UnreadyError(part, codes=False)
        return found

    def _damaged(self, rows: NDArray[np.uint8], similarity: float, recall: float) -> UnreadyError:
        """Which part it is that cannot be searched for these rows; another thread may have been
        the one to come upon it."""
        for part in self.every:
            if part.sketches is None:
                return UnreadyError(part, codes=False)
            try:
                _core.search_sketches([part.sketches], rows, (similarity, recall), 1, None)
            except _core.CorruptIndexError:
                return UnreadyError(part, codes=False)
        return UnreadyError(self.tail, codes=False)


def _together(found: list[Found]) -> Candidates:
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
