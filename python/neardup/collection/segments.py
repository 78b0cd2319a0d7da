"""The fingerprints and sketches of a collection, ready to be searched: derived from the store, and
disposable.

Most are in segments, which are files of `neardup.Index` and of sketches, mapped; the newest are in
a tail in memory. A segment holds those of a range of keys. When the tail is full it becomes a
segment, together with those before it that are not much larger: so there are few to search, and a
fingerprint is moved a few times in its life (the logarithmic method of Bentley and Saxe, 1980).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neardup import _core
from neardup.collection import files, sketches
from neardup.collection.errors import corrupt
from neardup.collection.schema import DocumentCounts, SegmentRow
from neardup.collection.sketches import Recent
from neardup.collection.store import Store
from neardup.collection.view import Snapshot, SnapshotPart

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe

# Fingerprints in the tail, about: they are read again whenever the collection is opened.
TAIL = 1 << 14
# So many times more documents are read then, at most: some may have no fingerprint.
KEYS = 4
# A segment is written anew together with later ones that have this share of its fingerprints.
NOT_MUCH_LARGER = 1.5
# Of all fingerprints in segments, the share that may be removed before all is written anew, and how
# many at most: they are read at each opening as well.
REMOVED, MOST_REMOVED = 0.25, 1 << 17
# Rows read at a time.
READ = 1 << 8
# Times a reader looks again for files that a writer has just replaced.
RETRIES = 3


class Segments:
    """Makes views. Callers see to it that one thread at a time is in here; views are for all.

    texts  whether texts are kept, of which sketches are made
    """

    def __init__(self, folder: Path, recipe: Recipe, *, texts: bool) -> None:
        self.folder = folder
        self.recipe = recipe
        self.texts = texts
        self.removed = 0
        self.view = Snapshot(DocumentCounts(generation=-1), (), self._tail(0))
        self.recent = Recent()

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
        """The last key that is in a segment."""
        return self.view.tail.row.first - 1

    @property
    def live(self) -> int:
        return sum(len(part.codes) for part in self.view.every)

    # -------------------------------------------------------------------------------------- reading

    def refresh(self, store: Store) -> None:
        """Takes in what was committed since; to be called in a snapshot."""
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
                self._remake(store, counts)
        except BaseException:
            self.forget()
            raise

    def _open(self, store: Store, counts: DocumentCounts) -> DocumentCounts:
        """Maps the segments, reads the tail, and leaves out what was removed."""
        known = {part.row: part for part in self.view.parts}
        rows = store.segments()
        for _ in range(RETRIES):
            paths = (path for row in rows for path in files.paths_of(self.folder, row))
            if all(row in known for row in rows) or all(path.exists() for path in paths):
                break
            # A writer has just replaced them: what is there now is of a later moment.
            store.renew()
            counts, rows = store.counts(), store.segments()
        parts: list[SnapshotPart] = []
        covered = 0
        for row in rows:
            if row.first != covered + 1 or row.last >= counts.next_key:
                parts, covered = [], 0
                break
            parts.append(known.get(row) or self._opened(store, row))
            covered = row.last
        self.removed = 0
        self.recent.keep_from(covered + 1)
        tail = self._tail(covered)
        self._read(store, tail, covered + 1, counts)
        # Whoever looks at what was there before sees by the tail that it is gone, and looks again.
        self.view = Snapshot(counts, tuple(parts), tail)
        self._remove(store, store.removed(0))
        return counts

    def _opened(self, store: Store, row: SegmentRow) -> SnapshotPart:
        codes = files.open_codes(self.folder, row, self.recipe.identity)
        found = files.open_sketches(self.folder, row, self.recipe.identity)
        sound = codes is not None and (found is not None or not self.texts)
        if codes is None:
            codes = self._made(store, row.first, row.last)
        return SnapshotPart(row, codes, found, sound)

    def _read(self, store: Store, tail: SnapshotPart, first: int, counts: DocumentCounts) -> None:
        """Documents from a key on, into a tail: all at once, for others may be looking at it."""
        import numpy as np

        found = list(self._stored(store, first, counts.next_key - 1))
        if found:
            keys, values = (np.concatenate(column) for column in zip(*found, strict=True))
            rows = None if tail.sketches is None else sketches.stored(store, self.recipe, keys)
            self._add(tail, keys, values, rows)

    def _stored(
        self, store: Store, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Keys and fingerprints of a range, from the truth."""
        import numpy as np

        width, words = self.recipe.bits // 8, (self.recipe.bits + 63) // 64
        for keys, codes in store.fingerprints(first, last, READ):
            if len(codes) != width * len(keys):
                raise corrupt(self.folder, f"a fingerprint is not of {self.recipe.bits} bits")
            rows = np.zeros((len(keys), words * 8), dtype=np.uint8)
            rows[:, :width] = np.frombuffer(codes, dtype=np.uint8).reshape(-1, width)
            yield np.array(keys, dtype=np.int64), rows.view("<u8").astype(np.uint64, copy=False)

    def _made(self, store: Store, first: int, last: int) -> _core.Index:
        """The fingerprints of a range, from the truth."""
        index = self._new()
        for keys, values in self._stored(store, first, last):
            index.add(values, keys, None, len(keys), self.recipe.identity, None)
        return index

    def _sketched(self, store: Store, first: int, last: int) -> _core.SketchIndex:
        """The sketches of a range, from the texts."""
        index = sketches.new_index(self.recipe)
        for keys, rows in sketches.from_texts(store, self.recipe, first, last):
            index.add(rows, keys)
        return index

    def _remake(self, store: Store, counts: DocumentCounts) -> None:
        """Segments that do not agree with the truth are no use."""
        tail = self._tail(0)
        tail.codes, tail.sketches = self._made(store, 1, counts.next_key - 1), None
        self.recent.keep_from(counts.next_key)
        expected = counts.documents - counts.without_signal
        if len(tail.codes) != expected:
            raise corrupt(
                self.folder,
                f"{len(tail.codes):,} documents with a fingerprint can be read, "
                f"{expected:,} were written",
            )
        self.view = Snapshot(counts, (), tail)

    def mend(self, store: Store, part: SnapshotPart, *, codes: bool) -> None:
        """Makes what a search could not use; to be called in a snapshot, after `refresh`."""
        if part not in self.view.every:
            return
        first, last = part.row.first, part.row.last
        if part is self.view.tail:
            last = self.counts.next_key - 1
        else:
            part.sound = False
        if codes:
            part.codes = self._made(store, first, last)
        elif part is self.view.tail:
            import numpy as np

            keys, index = np.asarray(part.codes.ids()), sketches.new_index(self.recipe)
            index.add(sketches.stored(store, self.recipe, keys), keys)
            part.sketches = index
        else:
            part.sketches = self._sketched(store, first, last)

    # ------------------------------------------------------------------------------------- changing

    def apply(
        self,
        store: Store,
        added: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None] | None,
        gone: Sequence[int],
        counts: DocumentCounts,
    ) -> None:
        """What this process has just committed: keys, fingerprints and sketches, and what went."""
        if added is not None:
            self._add(self.view.tail, *added)
        self._remove(store, gone)
        self.view = self.view._replace(counts=counts)

    def forget(self) -> None:
        """What is in memory may not be what is stored: all of it is looked at again."""
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
            # What is made anew does not hold them.
            try:
                part.codes.remove(mine)
            except _core.CorruptIndexError:
                part.codes = self._made(store, part.row.first, part.row.last)
                part.sound = False
            try:
                if part.sketches is not None:
                    part.sketches.remove(mine)
            except _core.CorruptIndexError:
                part.sketches, part.sound = None, False

    @property
    def _is_worn(self) -> bool:
        """Whether so much was removed that all should be written anew."""
        entries = sum(part.row.entries for part in self.view.parts)
        return self.removed > max(TAIL, min(REMOVED * entries, MOST_REMOVED))

    @property
    def is_due(self) -> bool:
        """Whether there is enough in memory, or removed, to write a segment; or so many documents
        without a fingerprint that opening would read them for long."""
        since = self.counts.next_key - 1 - self.covered
        if len(self.view.tail.codes) >= TAIL or since >= KEYS * TAIL or self._is_worn:
            return True
        return not all(part.sound for part in self.view.parts)

    def write(self, store: Store, *, whole: bool = False) -> None:
        """Makes a segment of the tail and what should be merged with it; `whole`: one of all, from
        the truth. Nothing is lost if it fails: the store is as it was, and so is the memory."""
        rest = [] if whole else self._kept()
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
            files.remove(files.path_of(self.folder, number, suffix) for suffix in files.SUFFIXES)
            raise
        made = self._opened(store, row)
        self.view = Snapshot(
            counts._replace(generation=number),
            (*rest, made),
            self._tail(last),
        )
        self.removed = len(store.removed(0))
        files.remove(path for part in merged for path in files.paths_of(self.folder, part.row))

    def _kept(self) -> list[SnapshotPart]:
        """The segments that stay as they are: the first ones, up to the first that is merged."""
        if self._is_worn:
            return []
        size, rest = len(self.view.tail.codes), list(self.view.parts)
        while rest and rest[-1].row.entries <= NOT_MUCH_LARGER * size:
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
        """Writes the fingerprints of a segment, out of some and the tail, or all from the truth."""
        if merged is None:
            index = self._made(store, row.first, row.last)
        else:
            index = self._joined(store, merged, row)
        if sum(len(part.codes) for part in rest) + len(index) != self.live:
            index = self._made(store, row.first, row.last)
        path = files.path_of(self.folder, row.number)
        entries = len(index)
        index.save(str(path))
        size, sum_ = files.stamp(path)
        return row._replace(entries=entries, size=size, checksum=sum_)

    def _joined(self, store: Store, merged: Sequence[SnapshotPart], row: SegmentRow) -> _core.Index:
        """Segments and the tail as one: the largest as it is, and what is in the others."""
        import numpy as np

        base = max(merged, key=lambda part: part.row.entries, default=self.view.tail)
        if base is self.view.tail:
            return base.codes
        if not base.sound:
            return self._made(store, row.first, row.last)
        try:
            index = _core.Index.open(str(files.path_of(self.folder, base.row.number)))
            for first, end in ((row.first, base.row.first - 1), (base.row.last + 1, row.last)):
                for keys, values in self._range(store, first, end):
                    index.add(values, keys, None, len(keys), self.recipe.identity, None)
            index.remove(np.array(store.removed(0) + self.recent.gone, dtype=np.int64))
        except _core.CorruptIndexError:
            base.sound = False
            return self._made(store, row.first, row.last)
        return index

    def _range(
        self, store: Store, first: int, last: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Keys and fingerprints of a range; those at hand may have been removed."""
        if first > last:
            return
        if first < self.recent.first:
            yield from self._stored(store, first, last)
        else:
            yield from self.recent.range(first, last)

    def _save_sketches(
        self, store: Store, row: SegmentRow, merged: Sequence[SnapshotPart] | None
    ) -> SegmentRow:
        """As `_save_codes`, the sketches."""
        path = files.path_of(self.folder, row.number, files.SKETCHES)
        index = None if merged is None else self._joined_sketches(store, merged)
        if index is not None:
            try:
                index.save(str(path))
            except _core.CorruptIndexError:
                index = None
        if index is None or index.entries != row.entries:
            index = self._sketched(store, row.first, row.last)
            index.save(str(path))
        size, sum_ = files.stamp(path)
        return row._replace(sketch_size=size, sketch_checksum=sum_)

    def _joined_sketches(
        self, store: Store, merged: Sequence[SnapshotPart]
    ) -> _core.SketchIndex | None:
        import numpy as np

        base = max(merged, key=lambda part: part.row.entries, default=None)
        try:
            if base is None:
                index = sketches.new_index(self.recipe)
            else:
                path = files.path_of(self.folder, base.row.number, files.SKETCHES)
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
                index.add(sketches.stored(store, self.recipe, keys), keys)
        except _core.CorruptIndexError:
            return None
        return index

    def close(self) -> None:
        """Lets go of the mapped files."""
        self.view = Snapshot(self.counts, (), self._tail(0))
        self.recent.keep_from(1)

    def clean(self) -> None:
        known = [path for part in self.view.parts for path in files.paths_of(self.folder, part.row)]
        files.clean(self.folder, known)
