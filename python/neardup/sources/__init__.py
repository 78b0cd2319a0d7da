"""Files become documents, one at a time or in batches, however large the files are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from neardup.sources.batch import Batch, Making, Reading
from neardup.sources.document import JSONL_SUFFIXES, Document, Report, Unreadable, batches, name_of
from neardup.sources.expand import expand
from neardup.sources.formats import format_of
from neardup.sources.jsonl import read_jsonl, read_jsonl_batches
from neardup.sources.parquet import read_parquet_batches
from neardup.sources.separated import read_separated_batches
from neardup.sources.stored import Progress, copied, spooled_stdin
from neardup.sources.text import (
    read_line_batches,
    read_lines,
    read_text,
    read_text_batches,
    text_of,
)

__all__ = [
    "Batch",
    "Document",
    "Reading",
    "Report",
    "Unreadable",
    "batches",
    "copied",
    "expand",
    "format_of",
    "name_of",
    "read",
    "read_batches",
    "read_jsonl",
    "read_lines",
    "read_text",
    "spooled_stdin",
    "text_of",
]


def read(
    paths: Iterable[str],
    *,
    report: Report,
    lines: bool = False,
    jsonl: bool = False,
    text_column: str = "text",
    id_column: str | None = None,
) -> Iterator[Document]:
    """The documents of files, in order. "-" is standard input.

    Files ending in .jsonl or .ndjson (all of them with `jsonl`) are read by column; any other is
    one document, or with `lines` a document a line. What cannot be read goes to `report`, and
    reading goes on.
    """
    for path in paths:
        try:
            yield from _read(path, report, lines, jsonl, text_column, id_column)
        except OSError as error:
            report(Unreadable(name_of(path), None, error.strerror or str(error)))


def _read(
    path: str,
    report: Report,
    lines: bool,
    jsonl: bool,
    text_column: str,
    id_column: str | None,
) -> Iterator[Document]:
    if jsonl or PurePath(path).suffix.lower() in JSONL_SUFFIXES:
        yield from read_jsonl(path, report, text_column=text_column, id_column=id_column)
    elif lines:
        yield from read_lines(path, report)
    else:
        yield from read_text(path, report)


def read_batches(
    path: str,
    reading: Reading,
    report: Report,
    *,
    progress: Progress | None = None,
    making: Making | None = None,
) -> Iterator[Batch]:
    """The documents of one file, URL or standard input ("-") in batches of a few megabytes.

    What cannot be read goes to `report`, and reading goes on. `progress` is called with the number
    of stored bytes read since its last call. A what is to be made of the
    texts may be made while they are read, which is quicker: see `Batch.made`.
    """
    try:
        yield from _read_batches(path, reading, report, progress, making)
    except OSError as error:
        report(Unreadable(name_of(path), None, error.strerror or str(error)))


def _read_batches(
    path: str,
    reading: Reading,
    report: Report,
    progress: Progress | None,
    making: Making | None,
) -> Iterator[Batch]:
    kind = format_of(path, reading)
    if kind == "jsonl":
        yield from read_jsonl_batches(path, reading, report, progress, making)
    elif kind == "parquet":
        yield from read_parquet_batches(path, reading, report, progress)
    elif kind == "text" and reading.lines:
        yield from read_line_batches(path, report, progress)
    elif kind == "text":
        yield from read_text_batches(path, report, progress)
    else:
        yield from read_separated_batches(path, kind, reading, report, progress)
