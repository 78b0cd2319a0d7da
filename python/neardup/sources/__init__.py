"""Files become documents: (id, text) pairs, one at a time, however large the files are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from neardup.sources.document import JSONL_SUFFIXES, Document, Report, Unreadable, batches, name_of
from neardup.sources.jsonl import read_jsonl
from neardup.sources.text import read_lines, read_text, text_of

__all__ = [
    "Document",
    "Report",
    "Unreadable",
    "batches",
    "name_of",
    "read",
    "read_jsonl",
    "read_lines",
    "read_text",
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
