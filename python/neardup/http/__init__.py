"""HTTP responses: read from captures, turned into views, labelled and summed up as kinds.

A capture is a file of responses: WARC, HAR, JSON lines of httpx, XML of Burp, raw messages. The
way of a response through this package:

    captures  recognises the format of a file and registers it with `neardup.files`; a module for
              each format reads its responses
    messages  parses heads of HTTP/1.x; `Response` is what every reader yields
    bodies    undoes chunks and compression, within a limit
    views     turns a response into a text of named lines, volatile parts masked: the text that
              jobs compare
    columns   URL, host, status, title and so on, beside the view
    labels    rules that say what kind of answer a response is; labels.toml has them
    kinds     the table of clusters of responses, with their labels

`responses` and `features` are for programs; `Response` is what they give and take. Importing this
package loads neither NumPy nor Arrow. It compares nothing: fingerprints and similarity are in
`neardup.text`, jobs on whole captures in `neardup.jobs`.
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

    path          a file, also with .gz or .zst; its first bytes tell the format
    report        called for each record that gives no response, then reading continues; without it
                  the first such record raises ValueError
    note          called with a sentence for each peculiarity, such as a truncated body
    max_document  bytes that a decompressed body may have [default: 256 MiB]
    """
    from neardup.http.captures.reader import read_responses

    def refuse(problem: Unreadable) -> None:
        raise ValueError(f"{problem}; pass report= to go on with the rest")

    reading = Reading(max_document=max_document, keeps=False)
    task = Task(os.fspath(path), reading, refuse if report is None else report, note)
    for each in read_responses(task):
        yield each.response
