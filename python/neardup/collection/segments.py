"""The fingerprints of a collection, ready to be searched: derived from the store, and disposable.

Most are in segments, which are files of `neardup.Index`, mapped; the newest are in a tail in
memory. A segment holds the fingerprints of a range of keys. When the tail is full it becomes a
segment, together with those before it that are not much larger: so there are few to search, and a
fingerprint is moved a few times in its life (the logarithmic method of Bentley and Saxe, 1980).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.collection.errors import corrupt
from neardup.collection.rows import Counts, SegmentRow
from neardup.collection.store import Store
from neardup.pairs import flip_chance
from neardup.threshold import Threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.recipe import Recipe

# Fingerprints in the tail, about: they are read again whenever the collection is opened.
TAIL = 1 << 14
# So many times more documents are read then, at most: some may have no fingerprint.
KEYS = 4
# A segment is written anew together with later ones that have this share of its fingerprints.
NOT_MUCH_LARGER = 1.5
# Of all fingerprints in segments, the share that may be removed before all is written anew, and how
# many at most: they are read at each opening as well.
REMOVED, MOST_REMOVED = 0.25, 1 << 17
# Fingerprints the writer keeps at hand, so that it need not read them again to merge segments.
RECENT = 1 << 20
# Pieces they may be in before they are put together.
PIECES = 256
# Rows read at a time.
READ = 1 << 14
# Times a reader looks again for files that a writer has just replaced.
RETRIES = 3
# Bytes of a file that tell whether it is the one that was written: header and checksums.
HEAD = 1 << 16
SUFFIX = ".index"


class Candidates(NamedTuple):
    """Pairs of a query's row and a key, by query, then distance, then key."""

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    distances: NDArray[np.int64]


@dataclass
class Segment:
    """A range of keys. Without a sound file its index is made anew, in memory."""

    row: SegmentRow
    index: _core.Index
    sound: bool


def path_of(folder: Path, number: int) -> Path:
    return folder / f"segment-{number}{SUFFIX}"


class Segments:
    """All fingerprints as of `counts`. Callers see to it that one thread at a time changes it."""

    def __init__(self, store: Store, recipe: Recipe) -> None:
        self.store = store
        self.recipe = recipe
        self.counts = Counts(generation=-1)
        self.parts: list[Segment] = []
        self.tail = self._new()
        self.removed = 0
        self._recent: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = []
        self._gone: list[int] = []
        self._keep_from(1)

    def _new(self) -> _core.Index:
        return _core.Index(self.recipe.bits, self.recipe.identity)

    @property
    def covered(self) -> int:
        """The last key that is in a segment."""
        return self.parts[-1].row.last if self.parts else 0

    @property
    def live(self) -> int:
        return sum(len(part.index) for part in self.parts) + len(self.tail)

    # -------------------------------------------------------------------------------------- reading

    def refresh(self) -> None:
        """Takes in what was committed since; to be called in a snapshot."""
        counts = self.store.counts()
        if counts == self.counts:
            return
        if counts.generation != self.counts.generation:
            counts = self._open(counts)
        else:
            self._read(self.counts.next_key, self.counts.next_removal, counts)
        if self.live != counts.documents - counts.without_signal:
            self._remake(counts)
        self.counts = counts

    def _open(self, counts: Counts) -> Counts:
        """Maps the segments, reads the tail, and leaves out what was removed."""
        known = {part.row: part for part in self.parts}
        rows = self.store.segments()
        for _ in range(RETRIES):
            if all(row in known or path_of(self.store.folder, row.number).exists() for row in rows):
                break
            # A writer has just replaced them: what is there now is of a later moment.
            self.store.renew()
            counts, rows = self.store.counts(), self.store.segments()
        self.parts, self.tail, self.removed = [], self._new(), 0
        for row in rows:
            if row.first != self.covered + 1 or row.last >= counts.next_key:
                self.parts = []
                break
            self.parts.append(known.get(row) or self._opened(row))
        self._keep_from(self.covered + 1)
        self._read(self.covered + 1, 0, counts)
        return counts

    def _opened(self, row: SegmentRow) -> Segment:
        path = path_of(self.store.folder, row.number)
        with suppress(OSError, ValueError):  # damaged, gone, or another one
            if stamp(path) == (row.size, row.checksum):
                index = _core.Index.open(str(path))
                if len(index) == row.entries and index.recipe in (None, self.recipe.identity):
                    return Segment(row, index, sound=True)
        return Segment(row, self._made(row.first, row.last), sound=False)

    def _read(self, first: int, removal: int, counts: Counts) -> None:
        for keys, values in self._stored(first, counts.next_key - 1):
            self._add(keys, values)
        self._remove(self.store.removed(removal))

    def _stored(
        self, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Keys and fingerprints of a range, from the truth."""
        import numpy as np

        width, words = self.recipe.bits // 8, (self.recipe.bits + 63) // 64
        for keys, codes in self.store.fingerprints(first, last, READ):
            if len(codes) != width * len(keys):
                raise corrupt(self.store.folder, f"a fingerprint is not of {self.recipe.bits} bits")
            rows = np.zeros((len(keys), words * 8), dtype=np.uint8)
            rows[:, :width] = np.frombuffer(codes, dtype=np.uint8).reshape(-1, width)
            yield np.array(keys, dtype=np.int64), rows.view("<u8").astype(np.uint64, copy=False)

    def _made(self, first: int, last: int) -> _core.Index:
        """The fingerprints of a range, from the truth."""
        index = self._new()
        for keys, values in self._stored(first, last):
            index.add(values, keys, None, len(keys), self.recipe.identity, None)
        return index

    def _remake(self, counts: Counts) -> None:
        """Segments that do not agree with the truth are no use."""
        self.parts, self.tail = [], self._made(1, counts.next_key - 1)
        self._keep_from(counts.next_key)
        if self.live != counts.documents - counts.without_signal:
            raise corrupt(
                self.store.folder,
                f"{self.live:,} documents with a fingerprint can be read, "
                f"{counts.documents - counts.without_signal:,} were written",
            )

    # ------------------------------------------------------------------------------------ searching

    def search_one(
        self, values: NDArray[np.uint64], wanted: Threshold, most: int | None
    ) -> list[tuple[int, int]]:
        """Distance and key of what is near a single row, as `search` but with less ado."""
        pairs: list[tuple[int, int]] = []
        for _, keys, distances in self._found(values, wanted, most):
            if len(keys):
                pairs += zip(distances.tolist(), keys.tolist(), strict=True)
        pairs.sort()
        return pairs if most is None else pairs[:most]

    def search(self, values: NDArray[np.uint64], wanted: Threshold, most: int | None) -> Candidates:
        """Keys within the radius of each row, all or the share that is wanted; of each the `most`
        nearest."""
        import numpy as np

        found = list(self._found(values, wanted, most))
        if not found:
            none = np.zeros(0, dtype=np.int64)
            return Candidates(none, none, none)
        queries = np.concatenate([part[0] for part in found]).astype(np.int64)
        keys = np.concatenate([part[1] for part in found])
        distances = np.concatenate([part[2] for part in found]).astype(np.int64)
        if len(found) > 1 and len(keys) > 1:
            order = np.lexsort((keys, distances, queries))
            queries, keys, distances = queries[order], keys[order], distances[order]
        if most is not None:
            # The place of a row among those of its query.
            kept = np.arange(len(queries)) - np.searchsorted(queries, queries) < most
            queries, keys, distances = queries[kept], keys[kept], distances[kept]
        return Candidates(queries, keys, distances)

    def _found(
        self, values: NDArray[np.uint64], wanted: Threshold, most: int | None
    ) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint16]]]:
        flip = None if wanted.similarity is None else flip_chance(wanted.similarity)
        reach = wanted.radius, wanted.recall, flip
        for part in self.parts:
            if part.row.entries:
                try:
                    yield self._ask(part.index, values, reach, most)
                except _core.CorruptIndexError:
                    part.index, part.sound = self._made(part.row.first, part.row.last), False
                    yield self._ask(part.index, values, reach, most)
        if len(self.tail):
            yield self._ask(self.tail, values, reach, most)

    def _ask(
        self,
        index: _core.Index,
        values: NDArray[np.uint64],
        reach: _core.Reach,
        most: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint16]]:
        identity = self.recipe.identity
        if most is None or reach[1] < 1:
            queries, keys, distances = index.search(values, reach, identity, None)
        else:
            queries, keys, distances = index.nearest(values, most, reach[0], identity, None)
        return queries, keys, distances  # type: ignore[return-value]

    # ------------------------------------------------------------------------------------- changing

    def apply(
        self,
        keys: NDArray[np.int64] | None,
        values: NDArray[np.uint64] | None,
        gone: Sequence[int],
        counts: Counts,
    ) -> None:
        """What this process has just committed."""
        if keys is not None and values is not None and len(keys):
            self._add(keys, values)
        self._remove(gone)
        self.counts = counts

    def forget(self) -> None:
        """What is in memory may not be what is stored: all of it is looked at again."""
        self.counts = Counts(generation=-1)

    def _add(self, keys: NDArray[np.int64], values: NDArray[np.uint64]) -> None:
        if not len(keys):
            return
        self.tail.add(values, keys, None, len(keys), self.recipe.identity, None)
        self._recent.append((keys, values))
        self._at_hand += len(keys)
        if self._at_hand > RECENT:
            self._keep_from(int(keys[-1]) + 1)
        elif len(self._recent) > PIECES:
            import numpy as np

            every = list(zip(*self._recent, strict=True))
            self._recent = [(np.concatenate(every[0]), np.concatenate(every[1]))]

    def _keep_from(self, key: int) -> None:
        """Lets go of the fingerprints at hand; from this key on they are kept."""
        self._recent, self._gone = [], []
        self._recent_from, self._at_hand = key, 0

    def _remove(self, keys: Sequence[int]) -> None:
        import numpy as np

        if not keys:
            return
        self.removed += len(keys)
        self._gone += keys
        gone = np.array(keys, dtype=np.int64)
        self.tail.remove(gone)
        for part in self.parts:
            mine = gone[(gone >= part.row.first) & (gone <= part.row.last)]
            if len(mine):
                try:
                    part.index.remove(mine)
                except _core.CorruptIndexError:
                    # Made anew it does not hold them.
                    part.index, part.sound = self._made(part.row.first, part.row.last), False

    @property
    def _is_worn(self) -> bool:
        """Whether so much was removed that all should be written anew."""
        entries = sum(part.row.entries for part in self.parts)
        return self.removed > max(TAIL, min(REMOVED * entries, MOST_REMOVED))

    @property
    def is_due(self) -> bool:
        """Whether there is enough in memory, or removed, to write a segment; or so many documents
        without a fingerprint that opening would read them for long."""
        since = self.counts.next_key - 1 - self.covered
        if len(self.tail) >= TAIL or since >= KEYS * TAIL or self._is_worn:
            return True
        return not all(part.sound for part in self.parts)

    def write(self, *, whole: bool = False) -> None:
        """Makes a segment of the tail and what should be merged with it; `whole`: one of all, from
        the truth. Nothing is lost if it fails: the store is as it was, and so is the memory."""
        rest = [] if whole else self._kept()
        merged = self.parts[len(rest) :]
        counts = self.counts
        number, last = counts.generation + 1, counts.next_key - 1
        first = merged[0].row.first if merged else self.covered + 1
        path = path_of(self.store.folder, number)
        index = self._made(first, last) if whole else self._joined(merged, last)
        entries = len(index)
        if sum(len(part.index) for part in rest) + entries != self.live:
            index = self._made(first, last)
            entries = len(index)
        index.save(str(path))
        row = SegmentRow(number, first, last, entries, *stamp(path))
        counts = counts._replace(generation=number)
        try:
            self.store.set_segments([part.row for part in rest], row, counts)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
        self.parts = [*rest, Segment(row, _core.Index.open(str(path)), sound=True)]
        self.tail, self.counts = self._new(), counts
        self.removed = len(self.store.removed(0))
        for part in merged:
            with suppress(OSError):
                path_of(self.store.folder, part.row.number).unlink()

    def _kept(self) -> list[Segment]:
        """The segments that stay as they are: the first ones, up to the first that is merged."""
        if self._is_worn:
            return []
        size, rest = len(self.tail), list(self.parts)
        while rest and rest[-1].row.entries <= NOT_MUCH_LARGER * size:
            size += rest.pop().row.entries
        unsound = next((at for at, part in enumerate(rest) if not part.sound), len(rest))
        return rest[:unsound]

    def _joined(self, merged: Sequence[Segment], last: int) -> _core.Index:
        """Segments and the tail as one: the largest as it is, and what is in the others."""
        import numpy as np

        if not merged:
            return self.tail
        base = max(merged, key=lambda part: part.row.entries)
        path = path_of(self.store.folder, base.row.number)
        if not base.sound:
            return self._made(merged[0].row.first, last)
        index = _core.Index.open(str(path))
        try:
            for first, end in (
                (merged[0].row.first, base.row.first - 1),
                (base.row.last + 1, last),
            ):
                for keys, values in self._range(first, end):
                    index.add(values, keys, None, len(keys), self.recipe.identity, None)
            index.remove(np.array(self.store.removed(0) + self._gone, dtype=np.int64))
        except _core.CorruptIndexError:
            base.sound = False
            return self._made(merged[0].row.first, last)
        return index

    def _range(
        self, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Keys and fingerprints of a range; those at hand may have been removed."""
        if first > last:
            return
        if first < self._recent_from:
            yield from self._stored(first, last)
            return
        for keys, values in self._recent:
            inside = (keys >= first) & (keys <= last)
            if inside.any():
                yield keys[inside], values[inside]

    def close(self) -> None:
        """Lets go of the mapped files."""
        self.parts, self.tail, self._recent = [], self._new(), []

    def clean(self) -> None:
        """Deletes what an interrupted writer has left: segments nobody knows, unfinished files."""
        known = {path_of(self.store.folder, part.row.number).name for part in self.parts}
        for name in os.listdir(self.store.folder):
            ours = name.startswith("segment-") and (SUFFIX in name)
            if ours and name not in known:
                with suppress(OSError):
                    os.unlink(self.store.folder / name)

    def bytes(self) -> int:
        return sum(part.row.size for part in self.parts)


def stamp(path: Path) -> tuple[int, bytes]:
    """The size of a file and a checksum of its head, which holds the checksums of the rest."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        size = os.fstat(file.fileno()).st_size
    return size, _core.stable_hash(head).to_bytes(8, "little")
