"""Rows to a file, its form chosen by extension."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from neardup.sinks.new_file import check, open_new, open_packed
from neardup.sources.formats import DELIMITERS, ENDINGS, ending

Row = dict[str, Any]
Write = Callable[[Row], object]

# A spreadsheet would run a cell that begins with one of these as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
PARQUET_ROWS = 1 << 16


@contextmanager
def open_rows(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    """A function that writes a row. A failed or stopped run leaves no half-written file."""
    check(path)
    kind = ENDINGS[ending(path.name)]
    if kind == "parquet":
        with _open_parquet(path, columns) as write:
            yield write
        return
    with open_packed(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        yield _jsonl(file, columns) if kind == "jsonl" else _separated(file, columns, kind)
        file.flush()
        file.detach()


def _jsonl(file: TextIO, columns: Sequence[str]) -> Write:
    def write(row: Row) -> None:
        file.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")

    return write


def _separated(file: TextIO, columns: Sequence[str], kind: str) -> Write:
    rows = csv.writer(file, delimiter=DELIMITERS[kind], lineterminator="\n")
    rows.writerow(columns)

    def write(row: Row) -> None:
        rows.writerow([_cell(row[name]) for name in columns])

    return write


@contextmanager
def _open_parquet(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    """Rows are gathered; the first of them say what the columns are of."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held: list[Row] = []
    with open_new(path) as raw, ExitStack() as stack:
        writers: list[pq.ParquetWriter] = []

        def flush() -> None:
            if not writers:
                schema = _schema(held, columns)
                writer = pq.ParquetWriter(pa.PythonFile(raw, "w"), schema, compression="zstd")
                writers.append(stack.enter_context(writer))
            writers[0].write_table(pa.Table.from_pylist(held, schema=writers[0].schema))
            held.clear()

        def write(row: Row) -> None:
            held.append(row)
            if len(held) >= PARQUET_ROWS:
                flush()

        yield write
        if held or not writers:
            flush()


def _schema(rows: Sequence[Row], columns: Sequence[str]) -> Any:
    import pyarrow as pa

    kinds = [pa.array([row[name] for row in rows]).type for name in columns]
    # A column without any value yet: strings are what most columns hold.
    kinds = [pa.string() if pa.types.is_null(kind) else kind for kind in kinds]
    return pa.schema(list(zip(columns, kinds, strict=True)))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
