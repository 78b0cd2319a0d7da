"""Large Arrow tables to a file, its form chosen by extension."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from neardup.files.reading.csv import FORMULA
from neardup.files.reading.formats import DELIMITERS, ENDINGS, ending
from neardup.files.writing.new_file import check, in_full, open_new, open_packed

if TYPE_CHECKING:
    import pyarrow as pa

WriteTable = Callable[["pa.Table | pa.RecordBatch"], object]

JSON_ROWS = 1 << 14
# Small pieces written one by one would make a row group each.
GROUP_ROWS = 1 << 20
GROUP_BYTES = 64 << 20


@contextmanager
def open_tables(path: Path, schema: pa.Schema, *, guard: bool = True) -> Iterator[WriteTable]:
    """A function that writes tables of this schema, one behind the other.

    guard  in CSV and TSV, cells that a spreadsheet would run as a formula get a leading '
    """
    check(path)
    path = in_full(path, ".jsonl")
    kind = ENDINGS[ending(path.name)]
    if kind == "parquet":
        with open_groups(path, schema) as write:
            yield write
        return
    with open_packed(path) as stream:
        if kind == "jsonl":
            yield _jsonl(stream, schema)
        else:
            with _separated(stream, schema, DELIMITERS[kind], guard=guard) as write:
                yield write


@contextmanager
def open_groups(path: Path, schema: pa.Schema, compression: str = "zstd") -> Iterator[WriteTable]:
    """Tables to Parquet, small ones together in a row group."""
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
            raw.finish()  # the writer's last words go nowhere
            writer.close()
            raise


def _jsonl(stream: BinaryIO, schema: pa.Schema) -> WriteTable:
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
    """JSON has no word for infinity and not-a-number: they become null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_finite(column), column, pa.scalar(None, column.type))


@contextmanager
def _separated(
    stream: BinaryIO, schema: pa.Schema, delimiter: str, *, guard: bool
) -> Iterator[WriteTable]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    stream.write(header.getvalue().encode())
    options = arrow_csv.WriteOptions(include_header=False, delimiter=delimiter)
    # Arrow may close what it writes to; the stream is still needed.
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
    """Cells that a spreadsheet would run get a leading ' ."""
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
