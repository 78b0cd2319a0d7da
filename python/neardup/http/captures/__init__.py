"""Captures of HTTP responses: WARC, HAR, httpx, Burp, raw messages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from neardup.files.reading.formats import Format, register
from neardup.files.reading.recognition import ANY

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Task


def read_batches(format_: str, task: Task) -> Iterator[Batch]:
    """Yield the responses of a capture as documents; its reader is imported now."""
    from neardup.http.captures.reader import read_captures

    return read_captures(format_, task)


_capture = partial(Format, family="capture")
for _format in (
    _capture(
        "warc",
        "WARC",
        (".warc",),
        partial(read_batches, "warc"),
        keeps="lines",
        rank=30,
        unit="record",
        record_start=b"WARC/",
    ),
    _capture(
        "har",
        "HAR",
        (".har",),
        partial(read_batches, "har"),
        keeps="texts",
        rank=31,
        unit="response",
    ),
    _capture(
        "httpx",
        "JSON lines of httpx",
        (),
        partial(read_batches, "httpx"),
        keeps="lines",
        rank=32,
        options=frozenset({"encoding"}),
        written=(".jsonl", ".ndjson", ".json"),
    ),
    _capture(
        "burp",
        "XML of Burp",
        (),
        partial(read_batches, "burp"),
        keeps="texts",
        rank=33,
        unit="item",
    ),
    _capture(
        "raw-http",
        "raw HTTP/1.x messages",
        (),
        partial(read_batches, "raw-http"),
        keeps="texts",
        rank=34,
        unit="response",
    ),
    _capture(
        ANY,
        "captures of HTTP responses",
        (),
        partial(read_batches, ANY),
        keeps="texts",
        rank=35,
        options=frozenset({"encoding"}),
        unit="response",
    ),
):
    register(_format)
