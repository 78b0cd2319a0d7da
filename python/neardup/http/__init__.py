"""HTTP responses out of captures: WARC, HAR, JSON lines of httpx, XML of Burp, raw messages."""

from __future__ import annotations

import os
from collections.abc import Iterator

from neardup.files.reading import Note, Reading, Report, Unreadable
from neardup.files.reading.batch import Task
from neardup.files.reading.expand import ignore
from neardup.files.reading.streams import DamagedError
from neardup.http.captures.any_capture import open_responses
from neardup.http.features import features
from neardup.http.messages import Response

__all__ = ["Response", "features", "responses"]


def responses(
    path: str | os.PathLike[str],
    *,
    report: Report | None = None,
    note: Note = ignore,
    max_document: int | None = None,
) -> Iterator[Response]:
    """The responses of a capture, one by one, their bodies unchunked and unpacked.

    path          a file, also with .gz or .zst; what it holds is told by how it begins
    report        is told of each record that gives no response, and reading goes on; without it
                  the first one is a ValueError
    note          is told, a sentence each, what was read in another way than one may expect
    max_document  bytes that a body may have once it is unpacked [default: 256 MiB]
    """

    def refuse(problem: Unreadable) -> None:
        raise ValueError(f"{problem}; pass report= to go on with the rest")

    told = refuse if report is None else report
    name = os.fspath(path)
    task = Task(name, Reading(max_document=max_document, keeps=False), told, note)
    with open_responses(task) as found:
        try:
            for each in found:
                yield each.response
        except DamagedError as damage:
            told(Unreadable(name, None, str(damage)))
