"""A corpus on disk: what the later stages of a job need, written while the inputs are read.

Each column is a file in the work folder and is mapped when it is read: only fingerprints or
sketches, and a few numbers for each document, are ever in memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from neardup import _core
from neardup._util.arrow import number_array, string_array
from neardup.files.writing.new_file import named

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.files.reading import Batch, Unreadable
    from neardup.files.reading.batch import Precomputed
    from neardup.http.columns import ResponseColumns
    from neardup.jobs.reference import Outside
    from neardup.text.recipe import Recipe

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
# Files that are read in place are open all the time; a process may open a thousand or so.
MOST_OPEN = 128
FILES = (*COLUMNS, INDEX, KEYS, FACTS, PROBLEMS)


@dataclass(frozen=True, eq=False)
class SpooledCorpus:
    """All documents of a job: those to compare with first, then the inputs.

    files      (path, first row, row after the last), in order
    reference  how many rows are only there to compare with
    spans      where each record lies in its file
    lines      its line there, or its row; 0 for a document of a collection
    keys       values of the column a keep policy looks at
    unreadable, unread_reference   how many records could not be read, and how many of these are of
               the reference
    outside    documents of collections that rows are near to; they go by the numbers after the rows
    """

    recipe: Recipe
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8] | None
    values: NDArray[np.uint64] | None
    texts: _core.Texts
    lengths: NDArray[np.int32]
    ids: _core.Texts
    spans: NDArray[np.int64]
    lines: NDArray[np.int64]
    keys: pa.Array | None
    files: list[tuple[str, int, int]]
    reference: int
    unreadable: int
    unread_reference: int
    folder: Path
    outside: list[Outside] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.signal)

    @cached_property
    def facts(self) -> ResponseColumns:
        """The columns of responses, if the inputs are captures; mapped."""
        from neardup.http.columns import ResponseColumns

        return ResponseColumns.open(self.folder / FACTS)

    def ids_of(self, rows: NDArray[np.int64]) -> pa.Array:
        """The ids of rows as a column."""

        return string_array([self.id_of(row) for row in rows.tolist()])

    def id_of(self, row: int) -> str:
        return self.ids.get(row) if row < len(self) else self.outside[row - len(self)].id

    def text_of(self, row: int) -> str:
        return self.texts.get(row) if row < len(self) else self.outside[row - len(self)].text

    def sources_of(self, rows: NDArray[np.int64]) -> pa.Array:
        """The files of rows as a column; for documents of a collection it is that."""
        import numpy as np

        from neardup.files.reading import name_of

        starts = np.array([start for _, start, _ in self.files], dtype=np.int64)
        # Files without a document share their start with the next one; the last of them has it.
        at = np.searchsorted(starts, rows, side="right") - 1
        names = [name_of(path) for path, _, _ in self.files]
        if self.outside:
            beyond = rows >= len(self)
            at[beyond] = len(names) + rows[beyond] - len(self)
            names += [name_of(found.collection) for found in self.outside]
        return string_array(names).take(number_array(at))

    def lines_of(self, rows: NDArray[np.int64]) -> pa.Array:
        """The lines of rows as a column; nothing for documents of a collection."""
        import numpy as np

        inside = rows < len(self)
        found = np.zeros(len(rows), dtype=np.int64)
        found[inside] = self.lines[rows[inside]]
        return number_array(found, found == 0)

    @property
    def is_unread(self) -> bool:
        """Whether there are no inputs because none could be read."""
        return len(self) == self.reference and self.unreadable > self.unread_reference

    @property
    def is_reference_unread(self) -> bool:
        """Whether there is nothing to compare with because none of it could be read."""
        return not self.reference and self.unread_reference > 0

    def problems(self, most: int) -> list[tuple[str, int | None, str]]:
        """The first of what could not be read: file, line, reason."""
        return [(found.source, found.line, found.reason) for found in self.unread(most)]

    def unread(self, most: int) -> list[Unreadable]:
        """The same with all that was said of it."""
        from neardup.files.reading import Unreadable

        with open(self.folder / PROBLEMS, encoding="utf-8") as file:
            rows = [json.loads(line) for _, line in zip(range(most), file, strict=False)]
        return [Unreadable(**row) for row in rows]


class Spool:
    """Writes a corpus, batch after batch.

    facts  whether the facts of captures are kept: then all batches have some
    """

    def __init__(self, folder: Path, recipe: Recipe, *, facts: bool = False) -> None:
        self.folder = folder
        self.recipe = recipe
        self.rows = 0
        self.reference = 0
        self.unreadable = self.unread_reference = 0
        self.files: list[tuple[str, int, int]] = []
        self._in_place: dict[int, int] = {}
        self._ends = {"texts": 0, "ids": 0}
        self._keys: list[Any] = []
        self._keeps_facts = facts
        self._facts: pa.ipc.RecordBatchFileWriter | None = None
        self._stack = ExitStack()
        self._columns = {
            name: self._stack.enter_context((folder / name).open("wb")) for name in COLUMNS
        }
        self._problems = self._stack.enter_context(
            (folder / PROBLEMS).open("w", encoding="utf-8", errors="backslashreplace")
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def problem(self, found: Unreadable) -> None:
        self.unreadable += 1
        row = dict(zip(found._fields, found, strict=True))
        with named(self.folder / PROBLEMS):
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
        if self._keeps_facts and batch.facts is not None:
            self._add_facts(batch.facts)
        self.rows += len(batch.ids)

    def end_file(self, path: str) -> None:
        start = self.files[-1][2] if self.files else 0
        self.files.append((path, start, self.rows))

    def end_reference(self) -> None:
        """What comes from here on are the inputs."""
        self.reference, self.unread_reference = self.rows, self.unreadable
        # Only inputs are kept or not: the others need no key.
        self._keys.clear()

    def close(self) -> None:
        """All is written: from here on the corpus can be opened."""
        # A full disk is often noticed only now.
        with named(self.folder):
            self._close()

    def _add_facts(self, facts: pa.RecordBatch) -> None:
        """Adds rows to a file of Arrow, which is mapped later."""
        import pyarrow as pa

        with named(self.folder / FACTS):
            if self._facts is None:
                file = self._stack.enter_context((self.folder / FACTS).open("wb"))
                writer = pa.ipc.new_file(pa.PythonFile(file, "w"), facts.schema)
                self._facts = self._stack.enter_context(writer)
            self._facts.write(facts)

    def _close(self) -> None:
        import pyarrow as pa

        self._stack.close()
        if self._keys:
            keys = _one_kind(self._keys)
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
        """Where the texts can be found again: in their file, if the core can read them there."""
        import numpy as np

        places = np.empty((len(batch.ids), 3), dtype=np.int64)
        if batch.in_place and self._number_in_place():
            places[:, 0], places[:, 1:] = self._number_in_place(), batch.spans
        else:
            places[:, 0] = 0
            places[:, 1:] = self._strings("texts", batch.texts)
        self._write("places", places)

    def has_room_in_place(self) -> bool:
        """Whether the file being read may be one of those that are open all the time."""
        return len(self.files) in self._in_place or len(self._in_place) < MOST_OPEN

    def _number_in_place(self) -> int:
        """The number of the file being read among those to be open at once; 0 if it is too many."""
        number = len(self.files)
        if number not in self._in_place and self.has_room_in_place():
            self._in_place[number] = 1 + len(self._in_place)
        return self._in_place.get(number, 0)

    def _strings(self, name: str, column: pa.LargeStringArray) -> NDArray[np.int64]:
        """Writes strings one after the other, and says where each begins and ends."""
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
        with named(self.folder / name):
            self._columns[name].write(data)


def bounds_of(column: pa.LargeStringArray) -> NDArray[np.int64]:
    """Where each string of a column begins in its data, and where the last one ends."""
    import numpy as np

    bounds = np.frombuffer(column.buffers()[1], dtype=np.int64)
    return bounds[column.offset : column.offset + len(column) + 1]


def open_corpus(
    folder: Path, recipe: Recipe, text_columns: Sequence[str], *, sketched: bool
) -> SpooledCorpus:
    """What a spool has written: sketches, or else fingerprints."""
    import numpy as np

    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    rows, paths = index["rows"], [path for path, _, _ in index["files"]]
    # Texts are read where they lie: to map them too would take as much room as they do of whatever
    # is allowed to a process.
    mapped = {name: kind for name, kind in COLUMNS.items() if name != "texts"}
    column = {name: _mapped(folder / name, kind) for name, kind in mapped.items()}
    words = (recipe.bits + 63) // 64
    places = column["places"].reshape(rows, 3)
    # What a file holds may have been packed, or come from a pipe: then its texts are in the spool.
    files = [(str(folder / "texts"), False), *((paths[at], True) for at in index["in_place"])]
    values, sketches = column["values"], column["sketches"]
    return SpooledCorpus(
        recipe,
        np.array(column["signal"]),
        sketches.reshape(rows, _core.SKETCH_BYTES) if sketched else None,
        # The join reads these again and again: they are in memory.
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
    )


def _mapped(path: Path, kind: str) -> NDArray[Any]:
    import numpy as np

    if not path.stat().st_size:
        return np.zeros(0, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r").view(np.ndarray)


def _one_kind(parts: Sequence[pa.Array]) -> pa.Array:
    """Values of all files in one column: numbers if all are, else strings."""
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
