"""HTTP responses: read from captures, turned into texts to compare, labelled, grouped by kind.

A capture is a file of responses: WARC, HAR, JSON lines of httpx, XML of Burp, raw messages. A
response passes through these modules:

    captures  detects the format of a file, and registers the formats with `neardup.files`; a
              module for each format reads its responses
    messages  parses heads of HTTP/1.x; every reader yields a `Response`
    bodies    decodes chunks and compression, within a size limit
    views     builds the view of a response: a text of named lines, volatile parts masked, which
              jobs compare
    columns   metadata of responses beside their views: URL, host, status, title …
    labels    rules that label a response, such as "login" or "soft 404"; labels.toml has them
    kinds     a table with a row for each cluster of responses, and its label

The public names are `responses`, which reads a capture, `Response`, and `features`, for
`neardup.fingerprint`. Importing this package loads neither NumPy nor Arrow. It compares nothing:
fingerprints and similarity are in `neardup.text`, jobs on whole captures in `neardup.jobs`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from neardup.files.reading.batch import Note, Reading, Report, Task, Unreadable
from neardup.files.reading.inputs import ignore
from neardup.http import captures as captures  # registers the formats
from neardup.http.messages import Response
from neardup.http.views import features

__all__ = [
    "Response",
    "bodies",
    "captures",
    "columns",
    "features",
    "kinds",
    "labels",
    "messages",
    "responses",
    "views",
]


def responses(
    path: str | os.PathLike[str],
    *,
    report: Report | None = None,
    note: Note = ignore,
    max_document: int | None = None,
) -> Iterator[Response]:
    """Yield the responses of a capture, their bodies unchunked and decompressed.

    path          a file, also with .gz or .zst; its format is detected by its first bytes
    report        called for each record without a readable response, then reading continues;
                  without it the first such record raises ValueError
    note          called with a sentence for each peculiarity, such as a truncated body
    max_document  maximum size of a decompressed body in bytes [default: 256 MiB]
    """
    from neardup.http.captures.reader import read_responses

    def refuse(problem: Unreadable) -> None:
        raise ValueError(f"{problem}; pass report= to go on with the rest")

    reading = Reading(max_document=max_document, keeps=False)
    task = Task(os.fspath(path), reading, refuse if report is None else report, note)
    for each in read_responses(task):
        yield each.response
