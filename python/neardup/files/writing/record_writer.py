"""Kept records, copied unchanged from the input files.

`open_kept` chooses a writer by the format of the inputs: bytes of lines, spans of JSON, rows of
Parquet, or a table of texts. It is one file, since all of them share the checks of inputs and
output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from neardup.files.reading.batch import BOM, Reading, Unreadable
from neardup.files.reading.csv import header_of
from neardup.files.reading.encodings import SAMPLE
from neardup.files.reading.formats import (
    STDIN,
    Format,
    all_endings,
    all_families,
    all_formats,
    ending,
    format_by_name,
    name_of,
)
from neardup.files.reading.inputs import format_of, read_batches
from neardup.files.reading.locations import can_reread
from neardup.files.reading.parquet import ParquetError, open_parquet, rows_at_once
from neardup.files.reading.records import list_columns
from neardup.files.reading.streams import DamagedError, beginning, open_stored
from neardup.files.writing.new_file import (
    TABLE_ENDINGS,
    Raw,
    check_output,
    open_packed,
)
from neardup.files.writing.tables import WriteTable, open_groups, open_tables

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# Receives the number of records passed since its last call.
Tick = Callable[[int], object]
CHUNK_BYTES = 8 << 20
# Positions checked in a file before its lines are copied.
CHECKED_POSITIONS = 64
# JSON whitespace.
SPACE = b" \t\r\n"
# A line end and the space around it.
LINE_END = re.compile(rb"[ \t]*[\r\n][ \t\r\n]*")
HOW_WRITTEN = {
    "json": "records are written as JSON lines or as an array",
    "texts": "they are written as a table of ids and texts",
    **dict.fromkeys(("lines", "table", "rows"), "kept records stay in that format"),
}


class RecordWriter(Protocol):
    """Writes kept records."""

    def copy(
        self,
        path: str,
        spans: NDArray[np.int64],
        keep: NDArray[np.bool_],
        tick: Tick = lambda count: None,
    ) -> None:
        """Copy the records of one file that have `keep`; all of them are given, in order, by their
        spans.

        tick  receives the number of records passed since its last call; copies by the kernel report
              none
        """


def check_kept(
    path: Path, inputs: Sequence[str], reading: Reading, *, others: Sequence[str] = ()
) -> None:
    """Raise ValueError for an output that `open_kept` cannot write, before any work is done.

    others  more files that are read and must not be overwritten
    """
    _plan(path, inputs, reading, others)


class _Plan(NamedTuple):
    """How kept records are written: to this file, from inputs of this format, in this way."""

    path: Path
    format: Format
    how: str


def _plan(path: Path, inputs: Sequence[str], reading: Reading, others: Sequence[str] = ()) -> _Plan:
    """Check inputs and output."""
    kind = _common_format(inputs, reading)
    how = _keep_mode(kind, reading)
    endings = _endings(kind, how, inputs)
    if path != Path("-") and ending(path.name) not in endings:
        raise ValueError(
            f"{str(path)!r}: the inputs are {_called(kind, how)}, and {HOW_WRITTEN[how]}; "
            f"use {' or '.join(endings)}"
        )
    path = check_output(path, [*inputs, *others], endings=endings)
    for name in inputs:
        if not can_reread(name):
            raise ValueError(f"{name_of(name)}: cannot be read twice; save it to a file first")
    if how == "rows":
        _common_schema(inputs)
    elif how == "table":
        _common_header(inputs, kind, reading)
    return _Plan(path, kind, how)


@contextmanager
def open_kept(path: Path, inputs: Sequence[str], reading: Reading) -> Iterator[RecordWriter]:
    """Open a new file for kept records, in the format of the inputs.

    Lines and rows are copied byte for byte; CSV files get one header, Parquet files one schema.
    Decoded files are written as UTF-8. Records of JSON become JSON lines or, in a file called
    .json, an array. Texts of whole files become a table with the columns id and text.
    """
    path, kind, how = _plan(path, inputs, reading)
    if how == "texts":
        opened = _open_texts(path, reading)
    elif how == "rows":
        opened = _open_rows(path, inputs)
    elif how == "json":
        opened = _open_json(path, reading)
    else:
        opened = _open_bytes(path, inputs, kind, reading)
    with opened as kept:
        yield kept


def write_kept(
    path: Path,
    inputs: Sequence[str],
    reading: Reading,
    parts: Iterable[tuple[str, NDArray[np.int64], NDArray[np.bool_]]],
    tick: Tick | None = None,
) -> None:
    """Write the kept records of all inputs.

    parts  name, spans and `keep` of each file; see `RecordWriter.copy`
    tick   receives the number of records passed since its last call
    """
    with open_kept(path, inputs, reading) as output:
        for name, spans, keep in parts:
            passed = 0

            def count(records: int) -> None:
                nonlocal passed
                passed += records
                if tick is not None:
                    tick(records)

            output.copy(name, spans, keep, count)
            if passed < len(spans):
                count(len(spans) - passed)


def _keep_mode(kind: Format, reading: Reading) -> str:
    """Return how records of a format are kept; see `Format.keeps`."""
    return "lines" if kind.name == "text" and reading.lines else kind.keeps


def _common_format(inputs: Sequence[str], reading: Reading) -> Format:
    """Return the format of all inputs; raise ValueError if they differ."""
    if not inputs:
        raise ValueError("no inputs; name at least one file")
    found = {name: format_of(name, reading) for name in inputs}
    first, kind = next(iter(found.items()))
    if all(each == kind for each in found.values()):
        return kind
    # An empty file has no format; if all are empty, take the first.
    telling = [name for name in inputs if not _is_blank(name, reading)] or inputs[:1]
    first, kind = telling[0], found[telling[0]]
    for name in telling:
        # Some files called .json may be JSON lines, which are JSON as well.
        if found[name].name == "json" and all(
            all_endings().get(ending(each)) == "json" for each in telling
        ):
            return found[name]
    if all(_keep_mode(found[name], reading) == "texts" for name in telling):
        # All become a table of texts, whatever they were.
        return kind
    for name in telling:
        if found[name] != kind:
            raise ValueError(
                f"{name_of(first)} is {_called(kind)}, {name_of(name)} is "
                f"{_called(found[name])}; kept records go to one file of one format, so run "
                "once per format"
            )
    return kind


def _is_blank(path: str, reading: Reading) -> bool:
    """Return whether a file whose format is detected by content is empty."""
    source = None if reading.format else format_by_name(path)
    if source is None or source.sniff is None:
        return False
    data = beginning(path, reading)
    return len(data) < SAMPLE and not data.removeprefix(BOM).strip()


def _endings(kind: Format, how: str, inputs: Sequence[str]) -> Sequence[str]:
    if how == "texts":
        return TABLE_ENDINGS
    known = [*kind.endings, *kind.written]
    if how == "json":
        return [*known, *all_formats()["jsonl"].endings]
    if how == "lines":
        # Lines may come from a file with any ending, and go to one with the same.
        own = {ending(name) for name in inputs if name != STDIN}
        foreign = {".json"} if kind.name == "jsonl" else own - set(all_endings())
        known += sorted(name for name in own & foreign if name)
    return known


def _called(kind: Format, how: str = "") -> str:
    if how == "texts":
        return all_families()[kind.family].records
    if kind.name == "text" and how:
        return "lines of text"
    return kind.called


@contextmanager
def _open_bytes(
    path: Path, inputs: Sequence[str], kind: Format, reading: Reading
) -> Iterator[RecordWriter]:
    header = _common_header(inputs, kind, reading) if kind.keeps == "table" else b""
    with open_packed(path) as stream:
        yield _LineWriter(stream, header, reading)


def _common_header(inputs: Sequence[str], kind: Format, reading: Reading) -> bytes:
    """Return the header of the first file that has one; raise ValueError if another differs."""
    first: tuple[str, list[str], bytes] | None = None
    for name in inputs:
        # The reader reports files that cannot be read.
        header = None
        with suppress(OSError):
            header = header_of(name, kind.name, reading, _ignore)
        if header is None:
            continue
        if first is None:
            first = (name, *header)
        elif header.names != first[1]:
            raise ValueError(
                f"{name_of(name)}: its columns ({list_columns(header.names)}) differ from those of "
                f"{name_of(first[0])} ({list_columns(first[1])}); run them separately"
            )
    return b"" if first is None else first[2]


def _ignore(problem: Unreadable) -> None:
    pass


class _LineWriter:
    """Copies lines byte for byte."""

    def __init__(self, stream: BinaryIO, header: bytes, reading: Reading) -> None:
        self._stream = stream
        self._reading = reading
        self._ended = True
        if header:
            self._write(header)

    def copy(
        self,
        path: str,
        spans: NDArray[np.int64],
        keep: NDArray[np.bool_],
        tick: Tick = lambda count: None,
    ) -> None:
        import numpy as np

        runs = _runs(spans, keep)
        if not runs:
            return
        if not self._ended:
            self._write(b"\n")
        raw = getattr(self._stream, "raw", None)
        with open_stored(path, self._reading) as file:
            if isinstance(raw, Raw) and file.is_plain:
                self._stream.flush()
                with open(path, "rb") as plain:
                    _check_places(plain.fileno(), runs, path)
                    raw.copy_runs(plain.fileno(), runs, file.name)
                    plain.seek(runs[-1][1] - 1)
                    self._ended = plain.read(1) == b"\n"
                return
            source = ForwardRanges(path, file.read)
            # Contiguous, or every search would copy the column.
            starts, done = np.ascontiguousarray(spans[:, 0]), 0
            for start, end in runs:
                at = start
                for data in source.pieces(start, end):
                    self._write(data)
                    at += len(data)
                    passed = int(np.searchsorted(starts, at))
                    tick(passed - done)
                    done = passed
                if not (self._ended or source.ends_at(end)):
                    raise _changed(path)

    def _write(self, data: bytes | memoryview) -> None:
        self._stream.write(data)
        self._ended = data[-1:] == b"\n"


def _check_places(handle: int, runs: Sequence[tuple[int, int]], path: str) -> None:
    """Raise OSError if lines are no longer where they were. A few positions are checked: that is
    fast, and a changed file differs everywhere.
    """
    step = max(1, len(runs) // CHECKED_POSITIONS)
    for start, end in (*runs[::step], runs[-1]):
        before = b"\n" if start <= len(BOM) else os.pread(handle, 1, start - 1)
        last = os.pread(handle, 2, end - 1)
        if before != b"\n" or not (last[:1] == b"\n" or len(last) == 1):
            raise _changed(path)


def _changed(path: str) -> OSError:
    return OSError(f"{name_of(path)}: changed since it was read; nothing was written, run again")


def _runs(spans: NDArray[np.int64], keep: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the spans with `keep`, adjacent ones merged."""
    import numpy as np

    kept = spans[keep]
    if not len(kept):
        return []
    apart = kept[1:, 0] != kept[:-1, 1]
    starts = kept[np.concatenate(([True], apart)), 0]
    ends = kept[np.concatenate((apart, [True])), 1]
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


class ForwardRanges:
    """Ranges of a stream, in ascending order."""

    def __init__(self, path: str, read: Callable[[int], bytes]) -> None:
        self._path = path
        self._read = read
        self._base = 0
        self._data = memoryview(b"")

    def pieces(self, start: int, end: int) -> Iterator[memoryview]:
        while start < end:
            while start >= self._base + len(self._data):
                self._next()
            piece = self._data[start - self._base : end - self._base]
            start += len(piece)
            yield piece

    def ends_at(self, end: int) -> bool:
        """Return whether the stream ends here."""
        at_end = end == self._base + len(self._data)
        with suppress(DamagedError):
            return at_end and not self._read(1)
        return at_end

    def _next(self) -> None:
        self._base += len(self._data)
        try:
            self._data = memoryview(self._read(CHUNK_BYTES))
        except DamagedError:
            self._data = memoryview(b"")
        if not self._data:
            raise OSError(f"{name_of(self._path)}: was truncated after it was read; run again")


@contextmanager
def _open_json(path: Path, reading: Reading) -> Iterator[RecordWriter]:
    with open_packed(path) as stream:
        kept = _JsonWriter(stream, reading, is_array=all_endings()[ending(path.name)] == "json")
        yield kept
        kept.finish()


class _JsonWriter:
    """Writes JSON records, one per line: of an array, or JSON lines.

    Only the space around line ends changes, which is never part of a value: strings of JSON have no
    line end.
    """

    def __init__(self, stream: BinaryIO, reading: Reading, *, is_array: bool) -> None:
        self._stream = stream
        self._reading = reading
        self._is_array = is_array
        self._count = 0

    def copy(
        self,
        path: str,
        spans: NDArray[np.int64],
        keep: NDArray[np.bool_],
        tick: Tick = lambda count: None,
    ) -> None:
        import numpy as np

        with open_stored(path, self._reading) as file:
            source, done = ForwardRanges(path, file.read), 0
            for row, (start, end) in zip(
                np.flatnonzero(keep).tolist(), spans[keep].tolist(), strict=True
            ):
                # A span of JSON lines includes its line end.
                record = b"".join(source.pieces(start, end)).strip(SPACE)
                if record[:1] != b"{" or record[-1:] != b"}":
                    raise _changed(path)
                self._write(LINE_END.sub(b" ", record))
                tick(row + 1 - done)
                done = row + 1

    def _write(self, record: bytes) -> None:
        before = b"" if not self._is_array else b",\n" if self._count else b"[\n"
        self._stream.write(before + record + (b"" if self._is_array else b"\n"))
        self._count += 1

    def finish(self) -> None:
        if self._is_array:
            self._stream.write(b"\n]\n" if self._count else b"[]\n")


@contextmanager
def _open_rows(path: Path, inputs: Sequence[str]) -> Iterator[RecordWriter]:
    common = _common_schema(inputs)
    if common is None:
        raise OSError(f"{name_of(inputs[0])}: no readable Parquet file")
    schema, codec = common
    with open_groups(path, schema, codec) as write:
        yield _ParquetWriter(write, schema)


def _common_schema(inputs: Sequence[str]) -> tuple[pa.Schema, str] | None:
    """Return schema and compression of the first readable file; raise ValueError if another
    differs."""
    first: tuple[str, pa.Schema, str] | None = None
    for name in inputs:
        found = _schema_of(name)
        if found is None:
            continue
        if first is None:
            first = (name, *found)
        elif not found[0].equals(first[1]):
            raise ValueError(
                f"{name_of(name)}: its columns ({_describe_schema(found[0])}) differ from those of "
                f"{name_of(first[0])} ({_describe_schema(first[1])}); run them separately"
            )
    return None if first is None else first[1:]


def _schema_of(path: str) -> tuple[pa.Schema, str] | None:
    """Return the schema; None if the file cannot be read, which its reader reports."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            return file.schema_arrow, _codec(file)
    except (OSError, ParquetError, pa.ArrowException):
        return None


def _codec(file: pa.parquet.ParquetFile) -> str:
    if not (file.metadata.num_row_groups and file.metadata.num_columns):
        return "zstd"
    name = str(file.metadata.row_group(0).column(0).compression).lower()
    return {"uncompressed": "none"}.get(name, name)


def _describe_schema(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


class _ParquetWriter:
    """Writes rows of Parquet files, with all columns."""

    def __init__(self, write: WriteTable, schema: pa.Schema) -> None:
        self._write = write
        self._schema = schema

    def copy(
        self,
        path: str,
        spans: NDArray[np.int64],
        keep: NDArray[np.bool_],
        tick: Tick = lambda count: None,
    ) -> None:
        import numpy as np
        import pyarrow as pa

        if not keep.any():
            return
        with open_parquet(path) as file:
            chosen = np.zeros(file.metadata.num_rows, dtype=bool)
            rows = spans[keep, 0]
            if rows[-1] >= len(chosen):
                raise OSError(f"{name_of(path)}: was truncated after it was read; run again")
            chosen[rows] = True
            # The size was checked when the file was read.
            size = rows_at_once(file)
            start = 0
            for group in range(file.metadata.num_row_groups):
                end = start + file.metadata.row_group(group).num_rows
                if chosen[start:end].any():
                    for batch in file.iter_batches(size, row_groups=[group]):
                        mask = chosen[start : start + batch.num_rows]
                        start += batch.num_rows
                        chosen_rows = pa.Table.from_batches(_filter_rows(batch, mask))
                        self._write(chosen_rows.cast(self._schema))
                        tick(batch.num_rows)
                start = end


def _filter_rows(batch: pa.RecordBatch, mask: NDArray[np.bool_]) -> list[pa.RecordBatch]:
    """Return the rows with `keep`."""
    import numpy as np
    import pyarrow as pa

    try:
        return [batch.filter(pa.array(mask))]
    except pa.ArrowNotImplementedError:
        # Arrow cannot filter string views yet, but slice them.
        edges = np.flatnonzero(np.diff(np.concatenate(([0], mask, [0]))))
        runs = edges.reshape(-1, 2).tolist()
        return [batch.slice(start, end - start) for start, end in runs] or [batch.slice(0, 0)]


@contextmanager
def _open_texts(path: Path, reading: Reading) -> Iterator[RecordWriter]:
    import pyarrow as pa

    schema = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
    # Kept records are never changed.
    with open_tables(path, schema, guard=False) as write:
        yield _TextWriter(write, schema, reading)


class _TextWriter:
    """Writes documents without a span in their file, such as whole files, a row each."""

    def __init__(self, write: WriteTable, schema: pa.Schema, reading: Reading) -> None:
        self._write = write
        self._schema = schema
        self._reading = reading

    def copy(
        self,
        path: str,
        spans: NDArray[np.int64],
        keep: NDArray[np.bool_],
        tick: Tick = lambda count: None,
    ) -> None:
        import pyarrow as pa

        if not keep.any():
            return
        done = 0
        for batch in read_batches(path, self._reading, _ignore):
            mask = keep[done : done + len(batch.ids)]
            done += len(batch.ids)
            rows = pa.table([batch.ids, batch.texts], schema=self._schema)
            self._write(rows.filter(pa.array(mask)) if len(mask) == len(rows) else rows)
        if done != len(keep):
            raise _changed(path)
