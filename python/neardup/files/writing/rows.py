"""Rows to a file, its form chosen by extension."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from neardup.files.reading.csv import FORMULA, guarded
from neardup.files.reading.formats import DELIMITERS, ENDINGS, ending
from neardup.files.writing.new_file import check, in_full, open_new, open_packed

Row = dict[str, Any]
Write = Callable[[Row], object]
# The columns of a table and what each holds: str, int, float or bool, or nothing in some rows.
Columns = Mapping[str, type]

# Rows of a row group, and the characters in them.
PARQUET_ROWS = 1 << 16
PARQUET_CHARACTERS = 64 << 20


@contextmanager
def open_rows(
    path: Path, columns: Columns, *, guard: bool = True, reversible: bool = False
) -> Iterator[Write]:
    """A function that writes a row. A failed or stopped run leaves no half-written file.

    guard       in CSV and TSV, cells that a spreadsheet would run as a formula get a leading '
    reversible  in CSV and TSV, cells that begin with ' get another one, as do those a spreadsheet
                would run as a formula: so whoever reads them can tell which were changed
    """
    check(path)
    path = in_full(path, ".jsonl")
    kind = ENDINGS[ending(path.name)]
    if kind == "parquet":
        with _open_parquet(path, columns) as write:
            yield write
        return
    with open_packed(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        names = list(columns)
        if kind == "jsonl":
            yield _jsonl(file, names)
        else:
            made_safe = guarded if reversible else _guarded if guard else _as_it_is
            yield _separated(file, names, kind, made_safe)
        file.flush()
        file.detach()


def _jsonl(file: TextIO, columns: Sequence[str]) -> Write:
    def write(row: Row) -> None:
        file.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")

    return write


def _separated(
    file: TextIO, columns: Sequence[str], kind: str, guard: Callable[[str], str]
) -> Write:
    rows = csv.writer(file, delimiter=DELIMITERS[kind], lineterminator="\n")
    # A line break of the old kind in a cell without quotes would end the row for some readers.
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
    """Rows are gathered to row groups."""
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
    """A cell that no spreadsheet runs as a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _as_it_is(cell: str) -> str:
    return cell
