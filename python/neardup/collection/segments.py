"""The search indexes of a collection: fingerprints and sketches, derived from the store. One long
file, since reading, merging and writing of segments share their state.

The newest documents are in the tail, in memory. All others are in segments: a segment covers a
range of keys and has two memory-mapped files, a `neardup.Index` of fingerprints and an index of
sketches. A full tail becomes a segment, merged with preceding segments that are not much larger.
So there are few segments to search, and a fingerprint is rewritten a logarithmic number of times
(the logarithmic method of Bentley and Saxe, 1980).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from neardup import _core
from neardup.collection import sketches
from neardup.collection.errors import corrupt
from neardup.collection.schema import DocumentCounts, SegmentRow
from neardup.collection.snapshot import Snapshot, SnapshotPart
from neardup.collection.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe

    KeyedFingerprints = tuple[NDArray[np.int64], NDArray[np.uint64]]
    # Keys, fingerprints, and sketches if texts are stored.
    IndexEntries = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None]


# These first bytes of a file hold its header and checksums, and so identify it.
HEAD_BYTES = 1 << 16
SUFFIXES = CODES, SKETCHES = ".index", ".sketches"


def segment_path(folder: Path, number: int, suffix: str = CODES) -> Path:
    return folder / f"segment-{number}{suffix}"


def segment_paths(folder: Path, row: SegmentRow) -> list[Path]:
    """Return the files of a segment."""
    suffixes = [CODES] if row.sketch_size is None else SUFFIXES
    return [segment_path(folder, row.number, suffix) for suffix in suffixes]


def file_stamp(path: Path) -> tuple[int, bytes]:
    """Return the size of a file and a checksum of its head, which has checksums of the rest."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        size = os.fstat(file.fileno()).st_size
    return size, _core.stable_hash(head).to_bytes(8, "little")


def open_codes(folder: Path, row: SegmentRow, recipe: str) -> _core.Index | None:
    """Open the fingerprints of a segment; return None if the file is missing, damaged or not the
    one that the row describes."""
    path = segment_path(folder, row.number)
    with suppress(OSError, ValueError):
        if file_stamp(path) == (row.size, row.checksum):
            index = _core.Index.open(str(path))
            if len(index) == row.entries and index.recipe in (None, recipe):
                return index
    return None


def open_sketches(folder: Path, row: SegmentRow, recipe: str) -> _core.SketchIndex | None:
    """Open the sketches of a segment; return None as `open_codes` does."""
    path = segment_path(folder, row.number, SKETCHES)
    with suppress(OSError, ValueError):
        if row.sketch_size is not None and file_stamp(path) == (
            row.sketch_size,
            row.sketch_checksum,
        ):
            index = sketches.open_index(path)
            if index.entries == row.entries and index.recipe == recipe:
                return index
    return None


def remove_files(paths: Iterable[Path]) -> None:
    """Delete files, ignoring those that cannot be deleted."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def remove_strays(folder: Path, known: Iterable[Path]) -> None:
    """Delete files that an interrupted writer left behind: unknown segments, unfinished files."""
    names = {path.name for path in known}
    for name in os.listdir(folder):
        ours = name.startswith("segment-") and any(suffix in name for suffix in SUFFIXES)
        if ours and name not in names:
            remove_files([folder / name])


# The tail becomes a segment at this size: all of it is read whenever the collection is opened.
TAIL_FINGERPRINTS = 1 << 14
# The tail may cover this many times as many keys, since some documents have no fingerprint.
TAIL_KEY_FACTOR = 4
# A segment is merged with later ones if it has at most this many times their fingerprints.
MERGE_RATIO = 1.5
# All segments are rewritten if more than this share of their fingerprints, or this number, was
# removed: the removed keys are read whenever the collection is opened.
MAX_REMOVED_SHARE, MAX_REMOVED = 0.25, 1 << 17
# Rows that one read of the database fetches.
READ_ROWS = 1 << 8
# How often a reader tries to open the segments while a writer replaces them.
MAX_ATTEMPTS = 3


# Fingerprints held in memory for merging, and the number of arrays at which they are concatenated.
MAX_RECENT, MAX_ARRAYS = 1 << 20, 256


class RecentFingerprints:
    """The fingerprints added from key `first` on, and the keys removed since. A writer holds them
    in memory, so that merging segments need not read them from the database."""

    def __init__(self) -> None:
        self.restart(1)

    def restart(self, key: int) -> None:
        """Drop everything; hold what is added from this key on."""
        self.first = key
        self.arrays: list[KeyedFingerprints] = []
        self.removed: list[int] = []
        self._count = 0

    def add(self, keys: NDArray[np.int64], values: NDArray[np.uint64]) -> None:
        self.arrays.append((keys, values))
        self._count += len(keys)
        if self._count > MAX_RECENT:
            self.restart(int(keys[-1]) + 1)
        elif len(self.arrays) > MAX_ARRAYS:
            import numpy as np

            all_keys, all_values = zip(*self.arrays, strict=True)
            self.arrays = [(np.concatenate(all_keys), np.concatenate(all_values))]

    def remove(self, keys: Sequence[int]) -> None:
        self.removed += keys

    def range(self, first: int, last: int) -> Iterator[KeyedFingerprints]:
        """Yield keys and fingerprints of a range, including removed ones."""
        for keys, values in self.arrays:
            inside = (keys >= first) & (keys <= last)
            if inside.any():
                yield keys[inside], values[inside]


class Segments:
    """Builds and updates the current snapshot, `view`. Not thread-safe: callers hold a lock. Any
    thread may search a snapshot.

    texts    whether texts are stored; without them there are no sketches
    removed  number of keys in the store's list of removed keys
    """

    def __init__(self, folder: Path, recipe: Recipe, *, texts: bool) -> None:
        self.folder = folder
        self.recipe = recipe
        self.texts = texts
        self.removed = 0
        self.view = Snapshot(DocumentCounts(generation=-1), (), self._empty_tail(0))
        self.recent = RecentFingerprints()

    def _empty_tail(self, last_saved_key: int) -> SnapshotPart:
        index = sketches.new_index(self.recipe) if self.texts else None
        row = SegmentRow(0, last_saved_key + 1, last_saved_key, 0, 0, b"")
        return SnapshotPart(row, self._new_index(), index, intact=True)

    def _new_index(self) -> _core.Index:
        return _core.Index(self.recipe.bits, self.recipe.identity)

    @property
    def counts(self) -> DocumentCounts:
        return self.view.counts

    @property
    def last_saved_key(self) -> int:
        """The last key that a segment covers."""
        return self.view.tail.row.first - 1

    @property
    def live_entries(self) -> int:
        """The number of fingerprints that were not removed."""
        return sum(len(part.codes) for part in self.view.parts)

    # -------------------------------------------------------------------------------------- reading

    def refresh(self, store: Store) -> None:
        """Load everything committed since the last refresh. Call it inside a read transaction."""
        counts, before = store.counts(), self.counts
        if counts == before:
            return
        try:
            if counts.generation != before.generation:
                counts = self._open_all(store, counts)
            else:
                self._read_into_tail(store, self.view.tail, before.next_key, counts)
                self.view = self.view._replace(counts=counts)
                self._remove_keys(store, store.removed(before.next_removal))
            if self.live_entries != counts.documents - counts.without_signal:
                self._rebuild_all(store, counts)
        except BaseException:
            self.invalidate()
            raise

    def _open_all(self, store: Store, counts: DocumentCounts) -> DocumentCounts:
        """Map the segments, read the tail, remove removed keys; return the counts of all that."""
        known = {part.row: part for part in self.view.segments}
        rows = store.segments()
        for _ in range(MAX_ATTEMPTS):
            paths = (path for row in rows for path in segment_paths(self.folder, row))
            if all(row in known for row in rows) or all(path.exists() for path in paths):
                break
            # A writer has just replaced the files: read the current list of segments.
            store.restart_snapshot()
            counts, rows = store.counts(), store.segments()
        parts: list[SnapshotPart] = []
        last_saved_key = 0
        for row in rows:
            if row.first != last_saved_key + 1 or row.last >= counts.next_key:
                parts, last_saved_key = [], 0
                break
            parts.append(known.get(row) or self._open_segment(store, row))
            last_saved_key = row.last
        self.removed = 0
        self.recent.restart(last_saved_key + 1)
        tail = self._empty_tail(last_saved_key)
        self._read_into_tail(store, tail, last_saved_key + 1, counts)
        # A new tail tells a search of the old snapshot that it is outdated and must be repeated.
        self.view = Snapshot(counts, tuple(parts), tail)
        self._remove_keys(store, store.removed(0))
        return counts

    def _open_segment(self, store: Store, row: SegmentRow) -> SnapshotPart:
        codes = open_codes(self.folder, row, self.recipe.identity)
        found = open_sketches(self.folder, row, self.recipe.identity)
        intact = codes is not None and (found is not None or not self.texts)
        if codes is None:
            codes = self._rebuild_codes(store, row.first, row.last)
        return SnapshotPart(row, codes, found, intact)

    def _read_into_tail(
        self, store: Store, tail: SnapshotPart, first: int, counts: DocumentCounts
    ) -> None:
        """Add the documents from a key on to a tail, in one step: other threads may search it."""
        import numpy as np

        found = list(self._read_fingerprints(store, first, counts.next_key - 1))
        if found:
            keys, values = (np.concatenate(column) for column in zip(*found, strict=True))
            rows = (
                None
                if tail.sketches is None
                else sketches.stored_sketches(store, self.recipe, keys)
            )
            self._add_to_tail(tail, keys, values, rows)

    def _read_fingerprints(
        self, store: Store, first: int, last: int
    ) -> Iterator[KeyedFingerprints]:
        """Yield keys and fingerprints of a range from the database."""
        import numpy as np

        width, words = self.recipe.bits // 8, (self.recipe.bits + 63) // 64
        for keys, codes in store.fingerprints(first, last, READ_ROWS):
            if len(codes) != width * len(keys):
                raise corrupt(self.folder, f"a fingerprint does not have {self.recipe.bits} bits")
            rows = np.zeros((len(keys), words * 8), dtype=np.uint8)
            rows[:, :width] = np.frombuffer(codes, dtype=np.uint8).reshape(-1, width)
            yield np.array(keys, dtype=np.int64), rows.view("<u8").astype(np.uint64, copy=False)

    def _rebuild_codes(self, store: Store, first: int, last: int) -> _core.Index:
        """Build the index of a range of fingerprints from the database."""
        index = self._new_index()
        for keys, values in self._read_fingerprints(store, first, last):
            index.add(values, keys, None, len(keys), self.recipe.identity, None)
        return index

    def _rebuild_sketches(self, store: Store, first: int, last: int) -> _core.SketchIndex:
        """Build the index of a range of sketches from the texts."""
        index = sketches.new_index(self.recipe)
        for keys, rows in sketches.sketches_from_texts(store, self.recipe, first, last):
            index.add(rows, keys)
        return index

    def _rebuild_all(self, store: Store, counts: DocumentCounts) -> None:
        """Discard segments that do not match the database, and read everything into the tail."""
        tail = self._empty_tail(0)
        tail.codes, tail.sketches = self._rebuild_codes(store, 1, counts.next_key - 1), None
        self.recent.restart(counts.next_key)
        expected = counts.documents - counts.without_signal
        if len(tail.codes) != expected:
            raise corrupt(
                self.folder,
                f"{len(tail.codes):,} documents with a fingerprint found, {expected:,} expected",
            )
        self.view = Snapshot(counts, (), tail)

    def repair(self, store: Store, part: SnapshotPart, *, codes: bool) -> None:
        """Rebuild an index that could not be searched. Call it inside a read transaction, after
        `refresh`."""
        if part not in self.view.parts:
            return
        first, last = part.row.first, part.row.last
        if part is self.view.tail:
            last = self.counts.next_key - 1
        else:
            part.intact = False
        if codes:
            part.codes = self._rebuild_codes(store, first, last)
        elif part is self.view.tail:
            import numpy as np

            keys, index = np.asarray(part.codes.ids()), sketches.new_index(self.recipe)
            index.add(sketches.stored_sketches(store, self.recipe, keys), keys)
            part.sketches = index
        else:
            part.sketches = self._rebuild_sketches(store, first, last)

    # ------------------------------------------------------------------------------------- changing

    def apply(
        self,
        store: Store,
        added: IndexEntries | None,
        removed_keys: Sequence[int],
        counts: DocumentCounts,
    ) -> None:
        """Update the indexes after a commit of this process, without reading the database."""
        if added is not None:
            self._add_to_tail(self.view.tail, *added)
        self._remove_keys(store, removed_keys)
        self.view = self.view._replace(counts=counts)

    def invalidate(self) -> None:
        """Mark the indexes as outdated, so that the next refresh reads everything."""
        self.view = self.view._replace(counts=DocumentCounts(generation=-1))

    def _add_to_tail(
        self,
        tail: SnapshotPart,
        keys: NDArray[np.int64],
        values: NDArray[np.uint64],
        rows: NDArray[np.uint8] | None,
    ) -> None:
        if not len(keys):
            return
        tail.codes.add(values, keys, None, len(keys), self.recipe.identity, None)
        if tail.sketches is not None and rows is not None:
            tail.sketches.add(rows, keys)
        self.recent.add(keys, values)

    def _remove_keys(self, store: Store, keys: Sequence[int]) -> None:
        import numpy as np

        if not keys:
            return
        self.removed += len(keys)
        self.recent.remove(keys)
        removed_keys = np.array(keys, dtype=np.int64)
        for part in self.view.parts:
            inside = removed_keys[removed_keys >= part.row.first]
            if part is not self.view.tail:
                inside = inside[inside <= part.row.last]
            if not len(inside):
                continue
            # An index that is rebuilt from the database does not contain these keys.
            try:
                part.codes.remove(inside)
            except _core.CorruptIndexError:
                part.codes = self._rebuild_codes(store, part.row.first, part.row.last)
                part.intact = False
            try:
                if part.sketches is not None:
                    part.sketches.remove(inside)
            except _core.CorruptIndexError:
                part.sketches, part.intact = None, False

    @property
    def _has_too_many_removed(self) -> bool:
        """Whether so many keys were removed that all segments should be rewritten."""
        entries = sum(part.row.entries for part in self.view.segments)
        return self.removed > max(TAIL_FINGERPRINTS, min(MAX_REMOVED_SHARE * entries, MAX_REMOVED))

    @property
    def is_due(self) -> bool:
        """Whether to write a segment: the tail is full, too many keys were removed, a file is
        damaged, or so many documents have no fingerprint that opening would take long."""
        since = self.counts.next_key - 1 - self.last_saved_key
        if (
            len(self.view.tail.codes) >= TAIL_FINGERPRINTS
            or since >= TAIL_KEY_FACTOR * TAIL_FINGERPRINTS
            or self._has_too_many_removed
        ):
            return True
        return not all(part.intact for part in self.view.segments)

    def write(self, store: Store, *, rewrite: bool = False) -> None:
        """Write the tail, merged with some segments, as a new segment. If that fails, store and
        memory do not change.

        rewrite  replace all segments by one, built from the database
        """
        unmerged = [] if rewrite else self._unmerged_segments()
        merged = self.view.segments[len(unmerged) :]
        counts, tail = self.counts, self.view.tail
        number, last = counts.generation + 1, counts.next_key - 1
        first = merged[0].row.first if merged else tail.row.first
        row = SegmentRow(number, first, last, 0, 0, b"")
        try:
            row = self._save_codes(store, row, None if rewrite else merged, unmerged)
            if self.texts:
                row = self._save_sketches(store, row, None if rewrite else merged)
            store.set_segments(
                [part.row for part in unmerged], row, counts._replace(generation=number)
            )
        except BaseException:
            remove_files(segment_path(self.folder, number, suffix) for suffix in SUFFIXES)
            raise
        new_part = self._open_segment(store, row)
        self.view = Snapshot(
            counts._replace(generation=number),
            (*unmerged, new_part),
            self._empty_tail(last),
        )
        self.removed = len(store.removed(0))
        remove_files(path for part in merged for path in segment_paths(self.folder, part.row))

    def _unmerged_segments(self) -> list[SnapshotPart]:
        """Return the leading segments that `write` does not merge."""
        if self._has_too_many_removed:
            return []
        size, unmerged = len(self.view.tail.codes), list(self.view.segments)
        while unmerged and unmerged[-1].row.entries <= MERGE_RATIO * size:
            size += unmerged.pop().row.entries
        first_damaged = next(
            (at for at, part in enumerate(unmerged) if not part.intact), len(unmerged)
        )
        return unmerged[:first_damaged]

    def _save_codes(
        self,
        store: Store,
        row: SegmentRow,
        merged: Sequence[SnapshotPart] | None,
        unmerged: Sequence[SnapshotPart],
    ) -> SegmentRow:
        """Write the fingerprints of a new segment and return its completed row.

        merged    segments to merge with the tail; None: read everything from the database
        unmerged  the other segments, to check the number of fingerprints
        """
        if merged is None:
            index = self._rebuild_codes(store, row.first, row.last)
        else:
            index = self._merge_codes(store, merged, row)
        if sum(len(part.codes) for part in unmerged) + len(index) != self.live_entries:
            index = self._rebuild_codes(store, row.first, row.last)
        path = segment_path(self.folder, row.number)
        entries = len(index)
        index.save(str(path))
        size, checksum = file_stamp(path)
        return row._replace(entries=entries, size=size, checksum=checksum)

    def _merge_codes(
        self, store: Store, merged: Sequence[SnapshotPart], row: SegmentRow
    ) -> _core.Index:
        """Merge segments and the tail: copy the largest segment and add the others to it."""
        import numpy as np

        base = max(merged, key=lambda part: part.row.entries, default=self.view.tail)
        if base is self.view.tail:
            return base.codes
        if not base.intact:
            return self._rebuild_codes(store, row.first, row.last)
        try:
            index = _core.Index.open(str(segment_path(self.folder, base.row.number)))
            for first, end in ((row.first, base.row.first - 1), (base.row.last + 1, row.last)):
                for keys, values in self._fingerprints(store, first, end):
                    index.add(values, keys, None, len(keys), self.recipe.identity, None)
            index.remove(np.array(store.removed(0) + self.recent.removed, dtype=np.int64))
        except _core.CorruptIndexError:
            base.intact = False
            return self._rebuild_codes(store, row.first, row.last)
        return index

    def _fingerprints(self, store: Store, first: int, last: int) -> Iterator[KeyedFingerprints]:
        """Yield keys and fingerprints of a range, from memory if possible. Fingerprints from memory
        may include removed keys."""
        if first > last:
            return
        if first < self.recent.first:
            yield from self._read_fingerprints(store, first, last)
        else:
            yield from self.recent.range(first, last)

    def _save_sketches(
        self, store: Store, row: SegmentRow, merged: Sequence[SnapshotPart] | None
    ) -> SegmentRow:
        """Write the sketches of a new segment, as `_save_codes` writes its fingerprints."""
        path = segment_path(self.folder, row.number, SKETCHES)
        index = None if merged is None else self._merge_sketches(store, merged)
        if index is not None:
            try:
                index.save(str(path))
            except _core.CorruptIndexError:
                index = None
        if index is None or index.entries != row.entries:
            index = self._rebuild_sketches(store, row.first, row.last)
            index.save(str(path))
        size, checksum = file_stamp(path)
        return row._replace(sketch_size=size, sketch_checksum=checksum)

    def _merge_sketches(
        self, store: Store, merged: Sequence[SnapshotPart]
    ) -> _core.SketchIndex | None:
        """Merge the sketches of segments and the tail; return None if they have to be rebuilt."""
        import numpy as np

        base = max(merged, key=lambda part: part.row.entries, default=None)
        try:
            if base is None:
                index = sketches.new_index(self.recipe)
            else:
                path = segment_path(self.folder, base.row.number, SKETCHES)
                if not base.intact or any(part.sketches is None for part in merged):
                    return None
                index = sketches.open_index(path)
                index.remove(np.array(store.removed(0), dtype=np.int64))
            for part in merged:
                if part is not base and part.sketches is not None:
                    keys, rows = part.sketches.rows()
                    index.add(rows, keys)
            tail = self.view.tail
            if tail.sketches is not None:
                keys, rows = tail.sketches.rows()
                index.add(rows, keys)
            else:
                keys = np.asarray(tail.codes.ids())
                index.add(sketches.stored_sketches(store, self.recipe, keys), keys)
        except _core.CorruptIndexError:
            return None
        return index

    def close(self) -> None:
        """Release the mapped files."""
        self.view = Snapshot(self.counts, (), self._empty_tail(0))
        self.recent.restart(1)

    def delete_strays(self) -> None:
        """Delete files of this folder that belong to no current segment."""
        known = [
            path for part in self.view.segments for path in segment_paths(self.folder, part.row)
        ]
        remove_strays(self.folder, known)
