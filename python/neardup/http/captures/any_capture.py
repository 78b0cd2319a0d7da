"""A capture whose kind is found out when it is read: by how it begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from neardup.files.reading.batch import Task
from neardup.files.reading.encodings import SAMPLE
from neardup.files.reading.formats import Format, capture_by_name, register
from neardup.files.reading.recognition import ANY, kind_of, unknown
from neardup.files.reading.streams import open_told
from neardup.http.captures.har import read_har
from neardup.http.captures.httpx import read_httpx
from neardup.http.captures.raw import read_raw
from neardup.http.captures.reader import Capture, CapturedResponse, Reader, read_captures
from neardup.http.captures.warc import read_warc


def read_burp(capture: Capture) -> Iterator[CapturedResponse]:
    """The responses of XML of Burp. The parser of XML is loaded when such a file comes."""
    from neardup.http.captures import burp

    return burp.read_burp(capture)


READERS: dict[str, Reader] = {
    "warc": read_warc,
    "har": read_har,
    "httpx": read_httpx,
    "burp": read_burp,
    "raw-http": read_raw,
}


def read_any(capture: Capture) -> Iterator[CapturedResponse]:
    """The responses of a file, whatever capture it is; one that is none is reported."""
    data = capture.file.peek(SAMPLE)
    kind = kind_of(data)
    if kind is None:
        reason, hint = unknown(data)
        capture.refuse(None, reason, hint=hint)
        return
    yield from READERS[kind](capture)


@contextmanager
def open_responses(task: Task) -> Iterator[Iterator[CapturedResponse]]:
    """The responses of a file one by one, without their views."""
    certain = capture_by_name(task.path)
    with open_told(task) as file:
        capture = Capture(task, file)
        yield (READERS[certain] if certain else read_any)(capture)
        capture.tell()


register(
    Format(
        "burp",
        "XML of Burp",
        (),
        partial(read_captures, read_burp),
        keeps="texts",
        rank=33,
        family="capture",
        unit="item",
    )
)
register(
    Format(
        ANY,
        "captures of HTTP responses",
        (),
        partial(read_captures, read_any),
        keeps="texts",
        rank=35,
        family="capture",
        options=frozenset({"encoding"}),
        unit="response",
    )
)
