"""The records that are kept, copied unchanged from the files they were read from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from neardup.sinks.new_file import Raw, check, open_packed
from neardup.sinks.standard_output import in_full
from neardup.sinks.tables import WriteTable, open_groups, open_tables
from neardup.sources import Reading, format_of
from neardup.sources.document import BOM, STDIN, Unreadable, name_of
from neardup.sources.formats import DELIMITERS, ENDINGS, ending
from neardup.sources.parquet import NotReadError, open_parquet, rows_at_once
from neardup.sources.separated import header_of
from neardup.sources.stored import DamagedError, can_reread, is_plain_file, open_stored
from neardup.sources.text import read_text_batches

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# Told of records that were passed.
Tick = Callable[[int], object]
PIECE = 8 << 20
# Places of a file looked at before its lines are copied.
LOOKS = 64
TABLES = (".jsonl", ".csv", ".tsv", ".ndjson", ".parquet")


class Kept(Protocol):
    """Where kept records go."""

    def copy(
        self,
        path: str,
        spans: NDArray[np.int64],
        keep: NDArray[np.bool_],
        tick: Tick = lambda count: None,
    ) -> None:
        """Of the records of one file, in order and at these spans, those with `keep`.

        tick  is told how many more records were passed; what it is not told of went at once
        """


def check_kept(
    path: Path, inputs: Sequence[str], reading: Reading, *, others: Sequence[str] = ()
) -> None:
    """Refuse what `open_kept` cannot write, before any work is done.

    others  more files that are read and must not be lost
    """
    kind = _format_of(inputs, reading)
    whole = kind == "text" and not reading.lines
    endings = TABLES if whole else _endings(kind, inputs)
    path = in_full(path, endings[0])
    if ending(path.name) not in endings:
        raise ValueError(
            f"{str(path)!r}: the inputs are {_called(kind, whole)}, and records are kept as they "
            f"are; use {' or '.join(endings)}"
        )
    check(path, [*inputs, *others], endings=endings)
    for name in inputs:
        if not can_reread(name):
            raise ValueError(f"{name_of(name)}: cannot be read twice; save it to a file first")
    if kind == "parquet":
        _common_schema(inputs)
    elif kind in DELIMITERS:
        _common_header(inputs, kind)


@contextmanager
def open_kept(path: Path, inputs: Sequence[str], reading: Reading) -> Iterator[Kept]:
    """A new file of kept records, in the format of the inputs.

    Lines and rows are copied byte for byte; CSV files have one header, Parquet files one schema.
    Texts of whole files become a table with the columns id and text.
    """
    check_kept(path, inputs, reading)
    kind = _format_of(inputs, reading)
    whole = kind == "text" and not reading.lines
    path = in_full(path, TABLES[0] if whole else _endings(kind, inputs)[0])
    opened = _open_texts if whole else _open_rows if kind == "parquet" else _open_bytes
    with opened(path, inputs, kind) as kept:
        yield kept


def _format_of(inputs: Sequence[str], reading: Reading) -> str:
    if not inputs:
        raise ValueError("no inputs; name at least one file")
    first = format_of(inputs[0], reading)
    for name in inputs:
        if (other := format_of(name, reading)) != first:
            raise ValueError(
                f"{name_of(inputs[0])} is {_called(first)}, {name_of(name)} is {_called(other)}: "
                "records are kept as they are, and a file holds one format; run once for each"
            )
    return first


def _endings(kind: str, inputs: Sequence[str]) -> list[str]:
    known = [name for name, format_ in ENDINGS.items() if format_ == kind]
    if kind == "text":
        # Lines may come from a file of any name, and go to one of the same.
        own = {ending(name) for name in inputs if name != STDIN}
        known += sorted(name for name in own if name and name not in ENDINGS)
    return known


def _called(kind: str, whole: bool = False) -> str:
    names = {"jsonl": "JSON lines", "csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}
    return names.get(kind, "whole texts" if whole else "lines of text" if kind == "text" else kind)


@contextmanager
def _open_bytes(path: Path, inputs: Sequence[str], kind: str) -> Iterator[Kept]:
    header = _common_header(inputs, kind) if kind in DELIMITERS else b""
    with open_packed(path) as stream:
        yield _Bytes(stream, header)


def _common_header(inputs: Sequence[str], kind: str) -> bytes:
    """The header of the first file that has one; the others have the same."""
    first: tuple[str, list[str], bytes] | None = None
    for name in inputs:
        # What is wrong with a file is reported by whoever reads it.
        header = None
        with suppress(OSError):
            header = header_of(name, kind, _ignore)
        if header is None:
            continue
        if first is None:
            first = (name, *header)
        elif header.names != first[1]:
            raise ValueError(
                f"{name_of(name)}: its columns {header.names} are not those of "
                f"{name_of(first[0])}, {first[1]}; keep them in files of their own"
            )
    return b"" if first is None else first[2]


def _ignore(problem: Unreadable) -> None:
    pass


class _Bytes:
    """Lines, byte for byte."""

    def __init__(self, stream: BinaryIO, header: bytes) -> None:
        self._stream = stream
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
        if isinstance(raw, Raw) and is_plain_file(path):
            self._stream.flush()
            with open(path, "rb") as plain:
                _check_places(plain.fileno(), runs, path)
                raw.copy_runs(plain.fileno(), runs, name_of(path))
                plain.seek(runs[-1][1] - 1)
                self._ended = plain.read(1) == b"\n"
            return
        with open_stored(path) as file:
            source = _Forward(path, file.read)
            # In one piece: a column of the spans would be copied for every look.
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
    """Lines still have to lie where they lay. Some of them are looked at: that takes no time, and a
    file that was changed has others everywhere."""
    step = max(1, len(runs) // LOOKS)
    for start, end in (*runs[::step], runs[-1]):
        before = b"\n" if start <= len(BOM) else os.pread(handle, 1, start - 1)
        last = os.pread(handle, 2, end - 1)
        if before != b"\n" or not (last[:1] == b"\n" or len(last) == 1):
            raise _changed(path)


def _changed(path: str) -> OSError:
    return OSError(f"{name_of(path)}: changed since it was read; nothing was written, run again")


def _runs(spans: NDArray[np.int64], keep: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Kept spans, neighbours in one."""
    import numpy as np

    kept = spans[keep]
    if not len(kept):
        return []
    apart = kept[1:, 0] != kept[:-1, 1]
    starts = kept[np.concatenate(([True], apart)), 0]
    ends = kept[np.concatenate((apart, [True])), 1]
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


class _Forward:
    """Stretches of a stream, each behind the last."""

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
        """Whether there is nothing beyond."""
        at_end = end == self._base + len(self._data)
        with suppress(DamagedError):
            return at_end and not self._read(1)
        return at_end

    def _next(self) -> None:
        self._base += len(self._data)
        try:
            self._data = memoryview(self._read(PIECE))
        except DamagedError:
            self._data = memoryview(b"")
        if not self._data:
            raise OSError(f"{name_of(self._path)}: is shorter than when it was read; run again")


@contextmanager
def _open_rows(path: Path, inputs: Sequence[str], kind: str) -> Iterator[Kept]:
    common = _common_schema(inputs)
    if common is None:
        raise OSError(f"{name_of(inputs[0])}: no Parquet that can be read")
    schema, codec = common
    with open_groups(path, schema, codec) as write:
        yield _Rows(write, schema)


def _common_schema(inputs: Sequence[str]) -> tuple[pa.Schema, str] | None:
    """The schema and packing of the first file that can be read; the others have the same."""
    first: tuple[str, pa.Schema, str] | None = None
    for name in inputs:
        found = _schema_of(name)
        if found is None:
            continue
        if first is None:
            first = (name, *found)
        elif not found[0].equals(first[1]):
            raise ValueError(
                f"{name_of(name)}: its columns ({_columns(found[0])}) are not those of "
                f"{name_of(first[0])} ({_columns(first[1])}); keep them in files of their own"
            )
    return None if first is None else first[1:]


def _schema_of(path: str) -> tuple[pa.Schema, str] | None:
    """None if the file cannot be read, which is reported by whoever reads it."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            return file.schema_arrow, _codec(file)
    except (OSError, NotReadError, pa.ArrowException):
        return None


def _codec(file: pa.parquet.ParquetFile) -> str:
    if not (file.metadata.num_row_groups and file.metadata.num_columns):
        return "zstd"
    name = str(file.metadata.row_group(0).column(0).compression).lower()
    return {"uncompressed": "none"}.get(name, name)


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


class _Rows:
    """Rows of Parquet files, all their columns."""

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
                raise OSError(f"{name_of(path)}: is shorter than when it was read; run again")
            chosen[rows] = True
            size = rows_at_once(file)
            start = 0
            for group in range(file.metadata.num_row_groups):
                end = start + file.metadata.row_group(group).num_rows
                if chosen[start:end].any():
                    for batch in file.iter_batches(size, row_groups=[group]):
                        mask = chosen[start : start + batch.num_rows]
                        start += batch.num_rows
                        kept = batch.filter(pa.array(mask))
                        self._write(pa.Table.from_batches([kept]).cast(self._schema))
                        tick(batch.num_rows)
                start = end


@contextmanager
def _open_texts(path: Path, inputs: Sequence[str], kind: str) -> Iterator[Kept]:
    import pyarrow as pa

    schema = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
    # Kept records are never changed.
    with open_tables(path, schema, guard=False) as write:
        yield _Texts(write, schema)


class _Texts:
    """Whole files, a row each."""

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
        import pyarrow as pa

        if not keep.any():
            return
        problems: list[Unreadable] = []
        for batch in read_text_batches(path, problems.append):
            self._write(pa.table([batch.ids, batch.texts], schema=self._schema))
        if problems:
            raise OSError(f"{problems[0]}; it could be read before: run again")
