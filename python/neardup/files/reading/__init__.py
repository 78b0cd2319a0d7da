"""Files become documents in batches, however large the files are.

A format is one file here that registers a `Source`; it is imported below, and all else (--format,
endings, folders, messages) follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from neardup.files.documents.whole_files import text_of
from neardup.files.reading import csv as _separated  # noqa: F401
from neardup.files.reading import json as _json_records  # noqa: F401
from neardup.files.reading import jsonl as _jsonl  # noqa: F401
from neardup.files.reading import parquet as _parquet  # noqa: F401
from neardup.files.reading.batch import Batch, Precompute, Reading, Task
from neardup.files.reading.document import Document, Note, Report, Unreadable, batches, name_of
from neardup.files.reading.expand import captures_of, expand, ignore
from neardup.files.reading.formats import FORMATS
from neardup.files.reading.ids import DuplicateIds, MissingIds
from neardup.files.reading.recognition import check_options, format_of
from neardup.files.reading.streams import Progress, copied, spooled_stdin

__all__ = [
    "Batch",
    "Document",
    "DuplicateIds",
    "Note",
    "Reading",
    "Report",
    "Unreadable",
    "batches",
    "captures_of",
    "check_options",
    "copied",
    "expand",
    "format_of",
    "name_of",
    "read_batches",
    "spooled_stdin",
    "text_of",
]


def read_batches(
    path: str,
    reading: Reading,
    report: Report,
    *,
    note: Note = ignore,
    progress: Progress | None = None,
    making: Precompute | None = None,
) -> Iterator[Batch]:
    """The documents of one file, URL or standard input ("-") in batches of a few megabytes.

    What cannot be read goes to `report`, and reading goes on. `note` is told, a sentence each, what
    was read in another way than one may expect. `progress` is called with the number of stored
    bytes read since its last call. What `making` says may be made of the texts while they are read,
    which is quicker: see `Batch.made`.
    """
    task = Task(path, reading, report, note, progress, making)
    source = FORMATS[format_of(path, reading)]
    places = MissingIds(task, source.unit)
    try:
        for batch in source.read(task):
            places.see(batch)
            yield batch
    except OSError as error:
        report(Unreadable(name_of(path), None, error.strerror or str(error)))
    places.tell()
