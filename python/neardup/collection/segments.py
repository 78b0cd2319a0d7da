"""The segments of a collection: its fingerprints and sketches, ready to search. Derived from the
store; they can be rebuilt.

Most are in segments, which are mapped files of `neardup.Index` and of sketches; the newest are in a
tail in memory. A segment covers a range of keys. When the tail is full it becomes a segment, merged
with those before it that are not much larger: so there are few to search, and a fingerprint is
rewritten a logarithmic number of times (the logarithmic method of Bentley and Saxe, 1980).
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
from neardup.collection.sketches import RecentFingerprints
from neardup.collection.snapshot import Snapshot, SnapshotPart
from neardup.collection.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe


# The first bytes of a file, which identify it: header and checksums.
HEAD_BYTES = 1 << 16
SUFFIXES = CODES, SKETCHES = ".index", ".sketches"


def segment_path(folder: Path, number: int, suffix: str = CODES) -> Path:
    return folder / f"segment-{number}{suffix}"


def segment_paths(folder: Path, row: SegmentRow) -> list[Path]:
    """Return the files of a segment."""
    suffixes = [CODES] if row.sketch_size is None else SUFFIXES
    return [segment_path(folder, row.number, suffix) for suffix in suffixes]


def file_stamp(path: Path) -> tuple[int, bytes]:
    """Return the size of a file and a checksum of its head, which has the checksums of the rest."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        size = os.fstat(file.fileno()).st_size
    return size, _core.stable_hash(head).to_bytes(8, "little")


def open_codes(folder: Path, row: SegmentRow, recipe: str) -> _core.Index | None:
    """Open the fingerprints of a segment; None if the file is damaged, missing or another one."""
    path = segment_path(folder, row.number)
    with suppress(OSError, ValueError):
        if file_stamp(path) == (row.size, row.checksum):
            index = _core.Index.open(str(path))
            if len(index) == row.entries and index.recipe in (None, recipe):
                return index
    return None


def open_sketches(folder: Path, row: SegmentRow, recipe: str) -> _core.SketchIndex | None:
    """Open the sketches of a segment; None if the file is damaged, missing or another one."""
    path = segment_path(folder, row.number, SKETCHES)
    with suppress(OSError, ValueError):
        if row.sketch_size is not None and file_stamp(path) == (
            row.sketch_size,
            row.sketch_checksum,
        ):
            index = _core.SketchIndex.open(str(path))
            if index.entries == row.entries and index.recipe == recipe:
                return index
    return None


def remove_files(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def remove_strays(folder: Path, known: Iterable[Path]) -> None:
    """Delete what an interrupted writer left behind: unknown segments and unfinished files."""
    names = {path.name for path in known}
    for name in os.listdir(folder):
        ours = name.startswith("segment-") and any(suffix in name for suffix in SUFFIXES)
        if ours and name not in names:
            remove_files([folder / name])


# About how many fingerprints the tail has; they are read whenever the collection is opened.
TAIL = 1 << 14
# The tail covers at most this many times as many keys: some documents have no fingerprint.
TAIL_KEY_FACTOR = 4
# A segment is merged with later ones if it has at most this many times their fingerprints.
MERGE_RATIO = 1.5
# Share of removed fingerprints at which all segments are rewritten, and their largest number: the
# removed keys are read whenever the collection is opened.
MAX_REMOVED_SHARE, MAX_REMOVED = 0.25, 1 << 17
# Rows read at a time.
READ_ROWS = 1 << 8
# How often a reader retries when a writer has just replaced files.
RETRIES = 3


class Segments:
    """Builds snapshots of the indexes. Callers make sure that only one thread is in here at a time;
    any thread may search a snapshot.

    texts  whether texts are stored, which sketches are computed from
    """

    def __init__(self, folder: Path, recipe: Recipe, *, texts: bool) -> None:
        self.folder = folder
        self.recipe = recipe
        self.texts = texts
        self.removed = 0
        self.view = Snapshot(DocumentCounts(generation=-1), (), self._tail(0))
        self.recent = RecentFingerprints()

    def _tail(self, covered: int) -> SnapshotPart:
        index = sketches.new_index(self.recipe) if self.texts else None
        row = SegmentRow(0, covered + 1, covered, 0, 0, b"")
        return SnapshotPart(row, self._new(), index, sound=True)

    def _new(self) -> _core.Index:
        return _core.Index(self.recipe.bits, self.recipe.identity)

    @property
    def counts(self) -> DocumentCounts:
        return self.view.counts

    @property
    def covered(self) -> int:
        """The last key in a segment."""
        return self.view.tail.row.first - 1

    @property
    def live(self) -> int:
        return sum(len(part.codes) for part in self.view.every)

    # -------------------------------------------------------------------------------------- reading

    def refresh(self, store: Store) -> None:
        """Load what was committed since. Call it inside a read transaction."""
        counts, before = store.counts(), self.counts
        if counts == before:
            return
        try:
            if counts.generation != before.generation:
                counts = self._open(store, counts)
            else:
                self._read(store, self.view.tail, before.next_key, counts)
                self.view = self.view._replace(counts=counts)
                self._remove(store, store.removed(before.next_removal))
            if self.live != counts.documents - counts.without_signal:
                self._rebuild_all(store, counts)
        except BaseException:
            self.forget()
            raise

    def _open(self, store: Store, counts: DocumentCounts) -> DocumentCounts:
        """Map the segments, read the tail, and drop removed keys."""
        known = {part.row: part for part in self.view.parts}
        rows = store.segments()
        for _ in range(RETRIES):
            paths = (path for row in rows for path in segment_paths(self.folder, row))
            if all(row in known for row in rows) or all(path.exists() for path in paths):
                break
            # A writer has just replaced them: read again, as of now.
            store.renew()
            counts, rows = store.counts(), store.segments()
        parts: list[SnapshotPart] = []
        covered = 0
        for row in rows:
            if row.first != covered + 1 or row.last >= counts.next_key:
                parts, covered = [], 0
                break
            parts.append(known.get(row) or self._open_segment(store, row))
            covered = row.last
        self.removed = 0
        self.recent.keep_from(covered + 1)
        tail = self._tail(covered)
        self._read(store, tail, covered + 1, counts)
        # A search of the old snapshot sees by the new tail that it is outdated, and repeats.
        self.view = Snapshot(counts, tuple(parts), tail)
        self._remove(store, store.removed(0))
        return counts

    def _open_segment(self, store: Store, row: SegmentRow) -> SnapshotPart:
        codes = open_codes(self.folder, row, self.recipe.identity)
        found = open_sketches(self.folder, row, self.recipe.identity)
        sound = codes is not None and (found is not None or not self.texts)
        if codes is None:
            codes = self._rebuild_codes(store, row.first, row.last)
        return SnapshotPart(row, codes, found, sound)

    def _read(self, store: Store, tail: SnapshotPart, first: int, counts: DocumentCounts) -> None:
        """Add the documents from a key on to a tail, in one step: others may be searching it."""
        import numpy as np

        found = list(self._read_fingerprints(store, first, counts.next_key - 1))
        if found:
            keys, values = (np.concatenate(column) for column in zip(*found, strict=True))
            rows = (
                None
                if tail.sketches is None
                else sketches.stored_sketches(store, self.recipe, keys)
            )
            self._add(tail, keys, values, rows)

    def _read_fingerprints(
        self, store: Store, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
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
        index = self._new()
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
        """Replace segments that do not match the database by one tail, read from the database."""
        tail = self._tail(0)
        tail.codes, tail.sketches = self._rebuild_codes(store, 1, counts.next_key - 1), None
        self.recent.keep_from(counts.next_key)
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
        if part not in self.view.every:
            return
        first, last = part.row.first, part.row.last
        if part is self.view.tail:
            last = self.counts.next_key - 1
        else:
            part.sound = False
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
        added: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None] | None,
        gone: Sequence[int],
        counts: DocumentCounts,
    ) -> None:
        """Update the indexes with what this process has just committed."""
        if added is not None:
            self._add(self.view.tail, *added)
        self._remove(store, gone)
        self.view = self.view._replace(counts=counts)

    def forget(self) -> None:
        """Mark the indexes as outdated, so that the next refresh reads everything."""
        self.view = self.view._replace(counts=DocumentCounts(generation=-1))

    def _add(
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

    def _remove(self, store: Store, keys: Sequence[int]) -> None:
        import numpy as np

        if not keys:
            return
        self.removed += len(keys)
        self.recent.remove(keys)
        gone = np.array(keys, dtype=np.int64)
        for part in self.view.every:
            mine = gone[gone >= part.row.first]
            if part is not self.view.tail:
                mine = mine[mine <= part.row.last]
            if not len(mine):
                continue
            # A rebuilt index does not contain them.
            try:
                part.codes.remove(mine)
            except _core.CorruptIndexError:
                part.codes = self._rebuild_codes(store, part.row.first, part.row.last)
                part.sound = False
            try:
                if part.sketches is not None:
                    part.sketches.remove(mine)
            except _core.CorruptIndexError:
                part.sketches, part.sound = None, False

    @property
    def _has_too_many_removed(self) -> bool:
        """Whether so many keys were removed that all segments should be rewritten."""
        entries = sum(part.row.entries for part in self.view.parts)
        return self.removed > max(TAIL, min(MAX_REMOVED_SHARE * entries, MAX_REMOVED))

    @property
    def is_due(self) -> bool:
        """Whether to write a segment: the tail is full, too many keys were removed, a file is
        damaged, or so many documents have no fingerprint that opening would take long."""
        since = self.counts.next_key - 1 - self.covered
        if (
            len(self.view.tail.codes) >= TAIL
            or since >= TAIL_KEY_FACTOR * TAIL
            or self._has_too_many_removed
        ):
            return True
        return not all(part.sound for part in self.view.parts)

    def write(self, store: Store, *, whole: bool = False) -> None:
        """Write a segment of the tail and the segments to merge with it; `whole`: one of
        everything, from the database. If it fails, store and memory stay as they were."""
        rest = [] if whole else self._unmerged_segments()
        merged = self.view.parts[len(rest) :]
        counts, tail = self.counts, self.view.tail
        number, last = counts.generation + 1, counts.next_key - 1
        first = merged[0].row.first if merged else tail.row.first
        row = SegmentRow(number, first, last, 0, 0, b"")
        try:
            row = self._save_codes(store, row, None if whole else merged, rest)
            if self.texts:
                row = self._save_sketches(store, row, None if whole else merged)
            store.set_segments([part.row for part in rest], row, counts._replace(generation=number))
        except BaseException:
            remove_files(segment_path(self.folder, number, suffix) for suffix in SUFFIXES)
            raise
        made = self._open_segment(store, row)
        self.view = Snapshot(
            counts._replace(generation=number),
            (*rest, made),
            self._tail(last),
        )
        self.removed = len(store.removed(0))
        remove_files(path for part in merged for path in segment_paths(self.folder, part.row))

    def _unmerged_segments(self) -> list[SnapshotPart]:
        """Return the segments that stay as they are: all before the first one to merge."""
        if self._has_too_many_removed:
            return []
        size, rest = len(self.view.tail.codes), list(self.view.parts)
        while rest and rest[-1].row.entries <= MERGE_RATIO * size:
            size += rest.pop().row.entries
        unsound = next((at for at, part in enumerate(rest) if not part.sound), len(rest))
        return rest[:unsound]

    def _save_codes(
        self,
        store: Store,
        row: SegmentRow,
        merged: Sequence[SnapshotPart] | None,
        rest: Sequence[SnapshotPart],
    ) -> SegmentRow:
        """Write the fingerprints of a segment, merged from some and the tail, or read from the
        database."""
        if merged is None:
            index = self._rebuild_codes(store, row.first, row.last)
        else:
            index = self._merge_codes(store, merged, row)
        if sum(len(part.codes) for part in rest) + len(index) != self.live:
            index = self._rebuild_codes(store, row.first, row.last)
        path = segment_path(self.folder, row.number)
        entries = len(index)
        index.save(str(path))
        size, sum_ = file_stamp(path)
        return row._replace(entries=entries, size=size, checksum=sum_)

    def _merge_codes(
        self, store: Store, merged: Sequence[SnapshotPart], row: SegmentRow
    ) -> _core.Index:
        """Merge segments and the tail: add the others to the largest one."""
        import numpy as np

        base = max(merged, key=lambda part: part.row.entries, default=self.view.tail)
        if base is self.view.tail:
            return base.codes
        if not base.sound:
            return self._rebuild_codes(store, row.first, row.last)
        try:
            index = _core.Index.open(str(segment_path(self.folder, base.row.number)))
            for first, end in ((row.first, base.row.first - 1), (base.row.last + 1, row.last)):
                for keys, values in self._fingerprints(store, first, end):
                    index.add(values, keys, None, len(keys), self.recipe.identity, None)
            index.remove(np.array(store.removed(0) + self.recent.gone, dtype=np.int64))
        except _core.CorruptIndexError:
            base.sound = False
            return self._rebuild_codes(store, row.first, row.last)
        return index

    def _fingerprints(
        self, store: Store, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Yield keys and fingerprints of a range; those from memory include removed ones."""
        if first > last:
            return
        if first < self.recent.first:
            yield from self._read_fingerprints(store, first, last)
        else:
            yield from self.recent.range(first, last)

    def _save_sketches(
        self, store: Store, row: SegmentRow, merged: Sequence[SnapshotPart] | None
    ) -> SegmentRow:
        """Write the sketches of a segment, as `_save_codes` does its fingerprints."""
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
        size, sum_ = file_stamp(path)
        return row._replace(sketch_size=size, sketch_checksum=sum_)

    def _merge_sketches(
        self, store: Store, merged: Sequence[SnapshotPart]
    ) -> _core.SketchIndex | None:
        import numpy as np

        base = max(merged, key=lambda part: part.row.entries, default=None)
        try:
            if base is None:
                index = sketches.new_index(self.recipe)
            else:
                path = segment_path(self.folder, base.row.number, SKETCHES)
                if not base.sound or any(part.sketches is None for part in merged):
                    return None
                index = _core.SketchIndex.open(str(path))
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
        self.view = Snapshot(self.counts, (), self._tail(0))
        self.recent.keep_from(1)

    def clean(self) -> None:
        known = [path for part in self.view.parts for path in segment_paths(self.folder, part.row)]
        remove_strays(self.folder, known)
