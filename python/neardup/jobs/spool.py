"""The corpus of a job, on disk: written batch by batch while the inputs are read, then mapped.

Each column is one file of the work folder. Only fingerprints or sketches, and a few numbers for
each document, are in memory at once; texts are read again from the inputs where that is possible.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup._util.arrow import number_array, string_array
from neardup.files.writing.new_file import naming_file

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.files.reading.batch import Batch, Precomputed, Unreadable
    from neardup.http.columns import ResponseColumns
    from neardup.jobs.reference import CollectionDocument
    from neardup.text.recipe import Recipe

    Rows = NDArray[np.int64]

COLUMNS = {
    "texts": "u1",
    "places": "<i8",
    "lengths": "<i4",
    "ids": "u1",
    "id_ends": "<i8",
    "spans": "<i8",
    "lines": "<i8",
    "values": "<u8",
    "sketches": "u1",
    "signal": "?",
}
INDEX = "corpus.json"
KEYS = "keys.arrow"
FACTS = "facts.arrow"
PROBLEMS = "problems.jsonl"
# Inputs whose texts are read in place stay open; a process may open about a thousand files.
MAX_OPEN_FILES = 128
FILES = (*COLUMNS, INDEX, KEYS, FACTS, PROBLEMS)


# Size, modification time, inode and device of a regular file; (None,) for anything else.
Stamp = tuple[int | None, ...]


def file_stamp(path: str) -> Stamp:
    """Return a value that changes when a file changes; (None,) for a URL or a pipe."""
    with suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev
    return (None,)


@dataclass(frozen=True, eq=False)
class SpooledCorpus:
    """All documents of a job: the reference first, then the inputs.

    files      (path, first row, row after the last), in order
    reference  number of rows that the inputs are compared with; they come first
    spans      start and end of each record in its file
    lines      line of each record in its file, or its row; 0 for a document of a collection
    keys       values of the column that the keep policy compares
    unreadable, unread_reference   records that could not be read: all, and those of the reference
    stamps     of the input files, taken before they were read
    outside    documents of collections that are the nearest of a row; numbered after the rows
    """

    recipe: Recipe
    rows: int
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8] | None
    values: NDArray[np.uint64] | None
    texts: _core.Texts
    lengths: NDArray[np.int32]
    ids: _core.Texts
    spans: Rows
    lines: Rows
    keys: pa.Array | None
    files: list[tuple[str, int, int]]
    reference: int
    unreadable: int
    unread_reference: int
    folder: Path
    stamps: Mapping[str, Stamp]
    outside: list[CollectionDocument] = field(default_factory=list)

    def __len__(self) -> int:
        return self.rows

    @cached_property
    def facts(self) -> ResponseColumns:
        """Captures: url, status, title … of each response; mapped."""
        from neardup.http.columns import ResponseColumns

        return ResponseColumns.open(self.folder / FACTS)

    def ids_of(self, rows: Rows) -> pa.Array:
        return string_array([self.id_of(row) for row in rows.tolist()])

    def id_of(self, row: int) -> str:
        return self.ids.get(row) if row < self.rows else self.outside[row - self.rows].id

    def text_of(self, row: int) -> str:
        return self.texts.get(row) if row < self.rows else self.outside[row - self.rows].text

    def sources_of(self, rows: Rows) -> pa.Array:
        """Return the file of each row, or the collection of a document from outside."""
        import numpy as np

        from neardup.files.reading.formats import name_of

        starts = np.array([start for _, start, _ in self.files], dtype=np.int64)
        # A file without documents starts where the next one does: the last of them has the row.
        at = np.searchsorted(starts, rows, side="right") - 1
        names = [name_of(path) for path, _, _ in self.files]
        if self.outside:
            beyond = rows >= self.rows
            at[beyond] = len(names) + rows[beyond] - self.rows
            names += [name_of(found.collection) for found in self.outside]
        return string_array(names).take(number_array(at))

    def lines_of(self, rows: Rows) -> pa.Array:
        """Return the line of each row; null for documents of a collection."""
        import numpy as np

        inside = rows < self.rows
        found = np.zeros(len(rows), dtype=np.int64)
        found[inside] = self.lines[rows[inside]]
        return number_array(found, found == 0)

    def equal_texts(self, twins: Rows) -> Iterator[list[int]]:
        """Yield the rows of each text that occurs more than once, character by character.

        twins  for each row the first row with identical features or fingerprints: equal texts are
               twins, but twins may differ in capitals or punctuation
        """
        import numpy as np

        order = np.lexsort((self.lengths, twins))
        # Only twins of one length can be equal; few texts are read.
        new = np.ones(len(order) + 1, dtype=bool)
        new[1:-1] = (np.diff(twins[order]) != 0) | (np.diff(self.lengths[order]) != 0)
        starts = np.flatnonzero(new)
        several = np.flatnonzero(np.diff(starts) > 1)
        for start, stop in zip(starts[several].tolist(), starts[several + 1].tolist(), strict=True):
            # Hashes, because a million versions of a text do not fit into memory.
            rows: dict[int, list[int]] = {}
            for row in order[start:stop].tolist():
                rows.setdefault(hash(self.texts.get(row)), []).append(row)
            yield from (equal for equal in rows.values() if len(equal) > 1)

    def count_copies(self, twins: Rows, labels: Rows, *, across: bool) -> int:
        """Count the exact copies: of each set of equal texts all but one.

        labels  the representative of each row: a row, or a document from outside
        across  count the rows that equal one of the reference, or the document, instead
        """
        import numpy as np

        if not across:
            return sum(len(rows) - 1 for rows in self.equal_texts(twins))
        outside = np.flatnonzero(labels[: self.rows] >= self.rows).tolist()
        copies = {row for row in outside if self.texts.get(row) == self.text_of(int(labels[row]))}
        return len(copies | {row for row, _ in self.reference_copies(twins)})

    def reference_copies(self, twins: Rows) -> Iterator[tuple[int, int]]:
        """Yield each row of the inputs whose text equals one of the reference, and the first row
        that has it there."""
        for rows in self.equal_texts(twins):
            if (first := min(rows)) < self.reference:
                yield from ((row, first) for row in rows if row >= self.reference)

    def check_unchanged(self) -> None:
        """Raise OSError if an input file has changed since it was read.

        Records are copied by their position, so a changed file would give wrong records.
        """
        from neardup.files.reading.formats import name_of

        for path, before in self.stamps.items():
            if before != (None,) and file_stamp(path) != before:
                raise OSError(
                    f"{name_of(path)}: changed while the job ran; nothing was written, run again"
                )

    def problems(self, most: int) -> list[tuple[str, int | None, str]]:
        """Return source, line and reason of the first unreadable records."""
        return [(found.source, found.line, found.reason) for found in self.unread(most)]

    def unread(self, most: int) -> list[Unreadable]:
        """Return the first unreadable records."""
        from neardup.files.reading.batch import Unreadable

        with open(self.folder / PROBLEMS, encoding="utf-8") as file:
            rows = [json.loads(line) for _, line in zip(range(most), file, strict=False)]
        return [Unreadable(**row) for row in rows]


class Spool:
    """Writer of a corpus, batch by batch; `spooling` opens one.

    facts  whether to store the facts of captured responses
    """

    def __init__(
        self, folder: Path, recipe: Recipe, stack: ExitStack, *, facts: bool = False
    ) -> None:
        self.folder = folder
        self.recipe = recipe
        self.rows = 0
        self.reference = 0
        self.unreadable = self.unread_reference = 0
        self.files: list[tuple[str, int, int]] = []
        self._in_place: dict[int, int] = {}
        self._ends = {"texts": 0, "ids": 0}
        self._keys: list[Any] = []
        self._stores_facts = facts
        self._facts: pa.ipc.RecordBatchFileWriter | None = None
        self._stack = stack
        self._columns = {name: stack.enter_context((folder / name).open("wb")) for name in COLUMNS}
        self._problems = stack.enter_context(
            (folder / PROBLEMS).open("w", encoding="utf-8", errors="backslashreplace")
        )

    def problem(self, found: Unreadable) -> None:
        self.unreadable += 1
        row = dict(zip(found._fields, found, strict=True))
        with naming_file(self.folder / PROBLEMS):
            self._problems.write(json.dumps(row, ensure_ascii=False) + "\n")

    def add(self, batch: Batch, made: Precomputed) -> None:
        self._add_texts(batch)
        self._write("lengths", made.lengths)
        self._write("id_ends", self._strings("ids", batch.ids)[:, 1])
        self._write("spans", batch.spans)
        self._write("lines", batch.lines)
        for name, made_of_it in (("values", made.values), ("sketches", made.sketches)):
            if made_of_it is not None:
                self._write(name, made_of_it)
        self._write("signal", made.signal)
        if batch.key is not None:
            self._keys.append(batch.key)
        if self._stores_facts and batch.facts is not None:
            self._add_facts(batch.facts)
        self.rows += len(batch.ids)
        path, start, _ = self.files[-1]
        self.files[-1] = path, start, self.rows

    def begin_file(self, path: str) -> bool:
        """Begin the next file; return whether its texts can be read in place."""
        self.files.append((path, self.rows, self.rows))
        return len(self._in_place) < MAX_OPEN_FILES

    def end_reference(self) -> None:
        """Mark the end of the reference: the next batches are those of the inputs."""
        self.reference, self.unread_reference = self.rows, self.unreadable
        # The keep policy chooses among inputs only.
        self._keys.clear()

    def _add_facts(self, facts: pa.RecordBatch) -> None:
        import pyarrow as pa

        with naming_file(self.folder / FACTS):
            if self._facts is None:
                file = self._stack.enter_context((self.folder / FACTS).open("wb"))
                writer = pa.ipc.new_file(pa.PythonFile(file, "w"), facts.schema)
                self._facts = self._stack.enter_context(writer)
            self._facts.write(facts)

    def write_index(self) -> None:
        import pyarrow as pa

        if self._keys:
            keys = _concat(self._keys)
            with pa.OSFile(str(self.folder / KEYS), "wb") as file:
                schema = pa.schema([("key", keys.type)])
                with pa.ipc.new_file(file, schema) as writer:
                    writer.write(pa.record_batch([keys], schema=schema))
        index = {
            "rows": self.rows,
            "reference": self.reference,
            "unreadable": self.unreadable,
            "unread_reference": self.unread_reference,
            "files": self.files,
            "in_place": list(self._in_place),
        }
        (self.folder / INDEX).write_text(json.dumps(index), encoding="utf-8")

    def _add_texts(self, batch: Batch) -> None:
        """Write where each text is: in its input file, if the core can read it there, or here."""
        import numpy as np

        places = np.empty((len(batch.ids), 3), dtype=np.int64)
        if batch.in_place and self._number_in_place():
            places[:, 0], places[:, 1:] = self._number_in_place(), batch.spans
        else:
            places[:, 0] = 0
            places[:, 1:] = self._strings("texts", batch.texts)
        self._write("places", places)

    def _number_in_place(self) -> int:
        """Return the number of the current file among those that stay open; 0 if too many do."""
        number = len(self.files) - 1
        if number not in self._in_place and len(self._in_place) < MAX_OPEN_FILES:
            self._in_place[number] = 1 + len(self._in_place)
        return self._in_place.get(number, 0)

    def _strings(self, name: str, column: pa.LargeStringArray) -> Rows:
        """Append strings to a column; return where each begins and ends."""
        import numpy as np

        bounds, data = bounds_of(column), column.buffers()[2]
        if data is not None:
            self._put(name, memoryview(data)[bounds[0] : bounds[-1]])
        places = bounds - bounds[0] + self._ends[name]
        self._ends[name] = int(places[-1])
        return np.stack((places[:-1], places[1:]), axis=1)

    def _write(self, name: str, values: NDArray[Any]) -> None:
        import numpy as np

        kept = np.ascontiguousarray(values.astype(COLUMNS[name], copy=False))
        self._put(name, kept.data.cast("B") if kept.size else b"")

    def _put(self, name: str, data: memoryview | bytes) -> None:
        with naming_file(self.folder / name):
            self._columns[name].write(data)


@contextmanager
def spooling(folder: Path, recipe: Recipe, *, facts: bool = False) -> Iterator[Spool]:
    """Open a spool; on leaving without an error, complete the files of the corpus."""
    with ExitStack() as stack:
        spool = Spool(folder, recipe, stack, facts=facts)
        yield spool
        # A full disk is often noticed only when files are closed.
        with naming_file(folder):
            stack.close()
            spool.write_index()


def bounds_of(column: pa.LargeStringArray) -> Rows:
    """Return the offsets of the strings of a column in its data."""
    import numpy as np

    bounds = np.frombuffer(column.buffers()[1], dtype=np.int64)
    return bounds[column.offset : column.offset + len(column) + 1]


def open_corpus(
    folder: Path,
    recipe: Recipe,
    text_columns: Sequence[str],
    stamps: Mapping[str, Stamp],
    *,
    sketched: bool,
) -> SpooledCorpus:
    """Open what a spool has written, with sketches or with fingerprints."""
    import numpy as np

    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    rows, paths = index["rows"], [path for path, _, _ in index["files"]]
    # Texts are not mapped: mapped files count against the memory limit of a process.
    mapped = {name: kind for name, kind in COLUMNS.items() if name != "texts"}
    column = {name: _mapped(folder / name, kind) for name, kind in mapped.items()}
    words = (recipe.bits + 63) // 64
    places = column["places"].reshape(rows, 3)
    # Texts of compressed files and of pipes are in the spool.
    files = [(str(folder / "texts"), False), *((paths[at], True) for at in index["in_place"])]
    values, sketches = column["values"], column["sketches"]
    return SpooledCorpus(
        recipe,
        rows,
        np.array(column["signal"]),
        sketches.reshape(rows, _core.SKETCH_BYTES) if sketched else None,
        # In memory: the join reads them many times.
        None if sketched else np.array(values).reshape(rows, words),
        _core.Texts.in_files(files, text_columns, places),
        column["lengths"],
        _core.Texts.in_memory(column["ids"].data, column["id_ends"]),
        column["spans"].reshape(rows, 2),
        column["lines"],
        _read_keys(folder / KEYS),
        [(path, start, stop) for path, start, stop in index["files"]],
        index["reference"],
        index["unreadable"],
        index["unread_reference"],
        folder,
        stamps,
    )


def _mapped(path: Path, kind: str) -> NDArray[Any]:
    import numpy as np

    if not path.stat().st_size:
        return np.zeros(0, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r").view(np.ndarray)


def _concat(parts: Sequence[pa.Array]) -> pa.Array:
    """Return the values of all files as one column: numbers if all are numbers, else strings."""
    import pyarrow as pa

    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) == 1:
        kind = kinds.pop()
    elif all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in kinds):
        kind = pa.float64() if kinds else pa.null()
    else:
        kind = pa.large_string()
    return pa.concat_arrays([part.cast(kind) for part in parts])


def _read_keys(path: Path) -> pa.Array | None:
    import pyarrow as pa

    if not path.exists():
        return None
    with pa.memory_map(str(path)) as file:
        return pa.ipc.open_file(file).read_all()["key"].combine_chunks()
