"""Raw HTTP/1.x messages: a response a file, or many one after the other, with their requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from neardup.messages.bodies import content_length, is_chunked, unchunked
from neardup.messages.message import (
    END,
    MOST_HEAD,
    Head,
    MessageError,
    Request,
    request_head,
    response_head,
)
from neardup.messages.response import Headers, Response
from neardup.sources.bad_bytes import packed
from neardup.sources.captures import Capture, Captured, read_captures
from neardup.sources.formats import Source, register
from neardup.sources.stored import Stored

PIECE = 1 << 17
# Enough to see whether a message begins.
LOOK = 1 << 14
BEGIN = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+\d{3}(?!\d)|[A-Z][A-Z-]{2,19} \S{1,8192} HTTP/\d")
# One in a stored file of httpx.
STATUS_LINE = re.compile(rb"(?:\A|(?<=\n))HTTP/\d(?:\.\d)?[ \t]+\d{3}(?!\d)")
# Only HTTP/1 is looked for inside a body without a length: pages speak of HTTP, rarely so.
SIGN = b"HTTP/1."
RESPONSE = re.compile(rb"HTTP/1\.[01][ \t]+\d{3}(?!\d)")
REQUEST = re.compile(
    rb"(?:GET|POST|HEAD|PUT|DELETE|OPTIONS|PATCH) \S{1,8192} HTTP/1\.[01][ \t]*\r?\n"
)
# httpx writes the URL behind a response that it stores.
STORED_URL = re.compile(rb"\n\n\n(https?://\S{1,8192})\s*\Z")
TAIL = 16384
BLANK = re.compile(rb"[ \t\r\n]*")
UNCLEAR = "a Content-Length that is not its length; it ends where the next message begins"


def _next_in(data: bytes, start: int) -> int | None:
    """The place of the next line behind the first that begins a message."""
    # Ten times quicker than to search by a pattern.
    at = data.find(SIGN, start)
    while at >= 0:
        line = data.rfind(b"\n", max(start - 1, at - LOOK, 0), at) + 1
        if line and (RESPONSE if line == at else REQUEST).match(data, line):
            return line
        at = data.find(SIGN, at + 1)
    return None


class _Window:
    """A part of the file, from `base` on, that grows and is cut off in front."""

    def __init__(self, file: Stored) -> None:
        self._file = file
        self.data = b""
        self.base = 0
        self.ended = False

    def more(self, size: int = PIECE) -> bool:
        """Reads on; whether there was something."""
        piece = b"" if self.ended else self._file.read(max(size, PIECE))
        self.ended = not piece
        self.data += piece
        return bool(piece)

    def fill(self, size: int) -> None:
        """At least so many bytes, if there are."""
        while len(self.data) < size and self.more(size - len(self.data)):
            pass

    def drop(self, size: int) -> None:
        self.data = self.data[size:]
        self.base += size


class _Extent(NamedTuple):
    """How far a body goes, and what is to be said of it."""

    end: int
    remark: str = ""


def read_raw(capture: Capture) -> Iterator[Captured]:
    """The responses of a file. A request before a response tells its URL."""
    window = _Window(capture.file)
    window.fill(LOOK)
    if problem := packed(capture.file, window.data):
        capture.task.report(problem)
        return
    number, request = 0, None
    while True:
        window.fill(4 * LOOK)
        if END.search(window.data) is None:
            window.fill(2 * MOST_HEAD)
        blank = BLANK.match(window.data)
        if blank is not None and blank.end():
            window.drop(blank.end())
            continue
        if not window.data:
            return
        try:
            asked = request_head(window.data)
            if asked is not None:
                request = asked
                window.drop(
                    _extent(window, asked.headers, asked.end, capture.most, is_request=True).end
                )
                continue
        except MessageError as bad:
            capture.refuse(None, f"a request: {bad}", at=window.base, kind=bad.kind)
            _skip(capture, window, is_told=True)
            continue
        if BEGIN.match(window.data) is None:
            _skip(capture, window)
            continue
        number, start = number + 1, window.base
        try:
            found, size = _message(capture, window, number, request)
        except MessageError as bad:
            capture.refuse(number, str(bad), at=start, kind=bad.kind)
            _skip(capture, window, is_told=True)
        else:
            yield Captured(found, number, start, start + size)
            window.drop(size)
        request = None


def last_response(capture: Capture, data: bytes, number: int) -> Response:
    """The last of the messages in a file that httpx stored: those before it are redirects."""
    url = ""
    if (tail := STORED_URL.search(data, max(0, len(data) - TAIL))) is not None:
        url, data = tail[1].decode("utf-8", "replace"), data[: tail.start()]
    places = [found.start() for found in STATUS_LINE.finditer(data)]
    if not places:
        raise MessageError("the stored response is no HTTP message", "no HTTP message")
    # Those of a chain have no bodies between them that could hold a message of their own.
    start = places[0]
    for place in places[1:]:
        head = response_head(data, start)
        if not 300 <= head.status < 400:
            break
        start = place
    return capture.message(data[start:], number, url=url, is_framed=False)


def _message(
    capture: Capture, window: _Window, number: int, request: Request | None
) -> tuple[Response, int]:
    """The response at the beginning of the window, and how long it is."""
    head = response_head(window.data)
    url = "" if request is None else request.url
    is_bodiless = head.status in (204, 304) or head.status < 200
    if is_bodiless or (request is not None and request.method == "HEAD"):
        extent = _Extent(head.end)
        if BEGIN.match(window.data, _unblank(window.data, head.end)) is None:
            extent = _extent(window, head.headers, head.end, capture.most)
    else:
        extent = _extent(window, head.headers, head.end, capture.most)
    body = window.data[head.end : extent.end]
    size = extent.end
    if window.ended and extent.end == len(window.data):
        body, url = _without_url(body, url)
    elif window.ended and (tail := STORED_URL.match(window.data, extent.end)) is not None:
        url, size = tail[1].decode("utf-8", "replace"), len(window.data)
    if extent.remark:
        capture.remark(number, extent.remark)
    return _made(capture, head, body, number, url), size


def _made(capture: Capture, head: Head, body: bytes, number: int, url: str) -> Response:
    return capture.response(head, body, number, url=url)


def _without_url(body: bytes, url: str) -> tuple[bytes, str]:
    found = STORED_URL.search(body, max(0, len(body) - TAIL))
    if found is None:
        return body, url
    return body[: found.start()], found[1].decode("utf-8", "replace")


def _unblank(data: bytes, at: int) -> int:
    found = BLANK.match(data, at)
    return at if found is None else found.end()


def _extent(
    window: _Window, headers: Headers, start: int, most: int, *, is_request: bool = False
) -> _Extent:
    """Where the body that begins here ends: as chunks or Content-Length say, if a message begins
    there or the file ends; else where the next message begins."""
    size = content_length(headers)
    if is_chunked(headers):
        if (end := _chunks_end(window, start, most)) is not None and _is_end(window, end):
            return _Extent(end)
    elif size is not None and size <= most:
        window.fill(start + size + LOOK)
        if len(window.data) <= start + size:
            # Cut short, unless another message comes before that.
            found = _next_in(window.data, start)
            return _Extent(len(window.data) if found is None else found)
        if _is_end(window, start + size):
            return _Extent(start + size)
    elif is_request and size is None:
        return _Extent(start)
    return _to_next(window, start, most, UNCLEAR if size is not None else "")


def _chunks_end(window: _Window, start: int, most: int) -> int | None:
    """Where chunks end; None if they do not as they should."""
    while True:
        found = unchunked(window.data, most, start)
        if found.is_whole:
            return found.end
        if found.end < len(window.data) or not window.more(len(window.data)):
            return None


def _is_end(window: _Window, end: int) -> bool:
    """Whether a message may end here."""
    at = _unblank(window.data, end)
    if at >= len(window.data):
        return True
    return BEGIN.match(window.data, at) is not None or bool(STORED_URL.match(window.data, end))


def _to_next(window: _Window, start: int, most: int, remark: str) -> _Extent:
    at = start
    while True:
        if (found := _next_in(window.data, at)) is not None:
            return _Extent(found, remark)
        if len(window.data) - start > most:
            raise MessageError(
                f"its body is longer than {most:,} bytes; allow more with --max-document",
                "its body is too long",
            )
        at = max(start, len(window.data) - LOOK)
        if not window.more(len(window.data)):
            return _Extent(len(window.data), remark)


def _skip(capture: Capture, window: _Window, *, is_told: bool = False) -> None:
    """To the next message; what is before it is reported."""
    start, at = window.base, 1
    while (found := _next_in(window.data, at)) is None:
        window.drop(max(0, len(window.data) - LOOK))
        at = 0 if window.base > start else 1
        if not window.more():
            window.drop(len(window.data))
            break
    else:
        window.drop(found)
    if not is_told:
        capture.refuse(None, f"{window.base - start:,} bytes are no HTTP message", at=start)


register(
    Source(
        "raw-http",
        "raw HTTP/1.x messages",
        (),
        partial(read_captures, read_raw),
        keeps="texts",
        unit="response",
    )
)
