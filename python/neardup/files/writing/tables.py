"""Rows and Arrow tables → CSV, TSV, JSON lines or Parquet, by the ending of the file.

`open_rows` takes dictionaries one by one, `open_tables` Arrow tables.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from neardup.files.reading.csv import FORMULA, guard_cell
from neardup.files.reading.formats import DELIMITERS, all_endings, ending
from neardup.files.writing.new_file import check_output, open_new, open_packed, with_ending

if TYPE_CHECKING:
    import pyarrow as pa


Row = dict[str, Any]
Write = Callable[[Row], object]
# Names and types (str, int, float, bool) of columns; values may be None.
Columns = Mapping[str, type]

# Most rows of a row group, and characters in them.
PARQUET_ROWS = 1 << 16
PARQUET_CHARACTERS = 64 << 20


@contextmanager
def open_rows(
    path: Path, columns: Columns, *, guard: bool = True, reversible: bool = False
) -> Iterator[Write]:
    """Open a file and yield a function that writes a row. A failed run leaves no incomplete file.

    guard       in CSV and TSV, put ' before cells that a spreadsheet would run as a formula
    reversible  in CSV and TSV, put ' before cells that begin with ' as well, so that a reader can
                restore all cells
    """
    check_output(path)
    path = with_ending(path, ".jsonl")
    kind = all_endings()[ending(path.name)]
    if kind == "parquet":
        with _open_parquet(path, columns) as write:
            yield write
        return
    with open_packed(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        names = list(columns)
        if kind == "jsonl":
            yield _row_jsonl(file, names)
        else:
            made_safe = guard_cell if reversible else _guarded if guard else _as_it_is
            yield _row_csv(file, names, kind, made_safe)
        file.flush()
        file.detach()


def _row_jsonl(file: TextIO, columns: Sequence[str]) -> Write:
    def write(row: Row) -> None:
        file.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")

    return write


def _row_csv(file: TextIO, columns: Sequence[str], kind: str, guard: Callable[[str], str]) -> Write:
    rows = csv.writer(file, delimiter=DELIMITERS[kind], lineterminator="\n")
    # A lone carriage return in a cell without quotes would end the row for some readers.
    quoted = csv.writer(
        file, delimiter=DELIMITERS[kind], lineterminator="\n", quoting=csv.QUOTE_ALL
    )
    rows.writerow(columns)

    def write(row: Row) -> None:
        cells = [guard(_cell(row[name])) for name in columns]
        (quoted if any("\r" in cell for cell in cells) else rows).writerow(cells)

    return write


@contextmanager
def _open_parquet(path: Path, columns: Columns) -> Iterator[Write]:
    """Write rows in row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    long = [name for name, kind in columns.items() if kind is str]
    held: list[Row] = []
    size = 0
    with (
        open_new(path) as raw,
        pq.ParquetWriter(pa.PythonFile(raw, "w"), schema, compression="zstd") as writer,
    ):

        def flush() -> None:
            nonlocal size
            writer.write_table(pa.Table.from_pylist(held, schema=schema))
            held.clear()
            size = 0

        def write(row: Row) -> None:
            nonlocal size
            held.append(row)
            size += sum(len(row[name] or "") for name in long)
            if len(held) >= PARQUET_ROWS or size >= PARQUET_CHARACTERS:
                flush()

        yield write
        if held:
            flush()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _guarded(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _as_it_is(cell: str) -> str:
    return cell


# ---- Arrow tables ----

WriteTable = Callable[["pa.Table | pa.RecordBatch"], object]

JSON_ROWS = 1 << 14
# Small tables are gathered, or each would make a row group.
GROUP_ROWS = 1 << 20
GROUP_BYTES = 64 << 20


@contextmanager
def open_tables(path: Path, schema: pa.Schema, *, guard: bool = True) -> Iterator[WriteTable]:
    """Open a file and yield a function that writes tables of this schema.

    guard  in CSV and TSV, put ' before cells that a spreadsheet would run as a formula
    """
    check_output(path)
    path = with_ending(path, ".jsonl")
    kind = all_endings()[ending(path.name)]
    if kind == "parquet":
        with open_groups(path, schema) as write:
            yield write
        return
    with open_packed(path) as stream:
        if kind == "jsonl":
            yield _table_jsonl(stream, schema)
        else:
            with _table_csv(stream, schema, DELIMITERS[kind], guard=guard) as write:
                yield write


@contextmanager
def open_groups(path: Path, schema: pa.Schema, compression: str = "zstd") -> Iterator[WriteTable]:
    """Write tables to Parquet, small ones together in a row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held: list[pa.RecordBatch] = []
    with open_new(path) as raw:
        writer = pq.ParquetWriter(pa.PythonFile(raw, "w"), schema, compression=compression)

        rows = size = 0

        def flush() -> None:
            nonlocal rows, size
            writer.write_table(pa.Table.from_batches(held, schema))
            held.clear()
            rows = size = 0

        def write(table: pa.Table | pa.RecordBatch) -> None:
            nonlocal rows, size
            pieces = table.to_batches() if isinstance(table, pa.Table) else [table]
            held.extend(piece for piece in pieces if piece.num_rows)
            rows, size = rows + table.num_rows, size + table.nbytes
            if rows >= GROUP_ROWS or size >= GROUP_BYTES:
                flush()

        try:
            yield write
            if held:
                flush()
            writer.close()
        except BaseException:
            raw.finish()  # discard what the writer writes on closing
            writer.close()
            raise


def _table_jsonl(stream: BinaryIO, schema: pa.Schema) -> WriteTable:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    names = schema.names

    def write(table: pa.Table | pa.RecordBatch) -> None:
        for start in range(0, table.num_rows, JSON_ROWS):
            piece = table.slice(start, JSON_ROWS)
            columns = [_finite(column).to_pylist() for column in piece.columns]
            rows = zip(*columns, strict=True)
            lines = [encode(dict(zip(names, row, strict=True))) for row in rows]
            stream.write(("\n".join(lines) + "\n").encode())

    return write


def _finite(column: pa.Array) -> pa.Array:
    """Replace infinity and NaN, which JSON does not have, by null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_finite(column), column, pa.scalar(None, column.type))


@contextmanager
def _table_csv(
    stream: BinaryIO, schema: pa.Schema, delimiter: str, *, guard: bool
) -> Iterator[WriteTable]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    stream.write(header.getvalue().encode())
    options = arrow_csv.WriteOptions(include_header=False, delimiter=delimiter)
    # Arrow may close its output, and the stream is still needed.
    writer = arrow_csv.CSVWriter(pa.PythonFile(_Open(stream), "w"), schema, write_options=options)

    def write(table: pa.Table | pa.RecordBatch) -> None:
        columns = [_harmless(column) if guard else column for column in table.columns]
        writer.write(pa.table(columns, schema=schema))

    yield write
    writer.close()


class _Open:
    """A stream that stays open."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush

    def close(self) -> None:
        pass


def _harmless(column: pa.Array) -> pa.Array:
    """Put ' before cells that a spreadsheet would run as a formula."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    risky = pc.match_substring_regex(column, f"^[{''.join(map(_escaped, FORMULA))}]")
    if not pc.any(risky).as_py():
        return column
    empty, quote = pa.scalar("", kind), pa.scalar("'", kind)
    return pc.if_else(risky, pc.binary_join_element_wise(quote, column, empty), column)


def _escaped(character: str) -> str:
    return f"\\x{ord(character):02x}"
