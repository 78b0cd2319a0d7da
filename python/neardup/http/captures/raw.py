"""Raw HTTP/1.x messages: a response a file, or many one after the other, with their requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from neardup.files.reading.bad_bytes import packed
from neardup.files.reading.streams import ByteStream
from neardup.http.bodies import body_too_long, content_length, is_chunked, parse_chunks
from neardup.http.captures.reader import Capture, CapturedResponse
from neardup.http.messages import (
    HEAD_END,
    MAX_HEAD_BYTES,
    Headers,
    MessageError,
    RequestHead,
    Response,
    ResponseHead,
    parse_request_head,
    parse_response_head,
)

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
HOST = re.compile(r"[^/?#]*")
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
    """A part of the file that grows, and is cut off in front.

    at  what is before this place in the data is done with

    A length that lies makes it large, and then each copy of it is dear: it is cut when more than
    half is done with, and grows by a share of what it has.
    """

    def __init__(self, file: ByteStream) -> None:
        self._file = file
        self._cut = 0
        self.data = b""
        self.at = 0
        self.ended = False

    @property
    def place(self) -> int:
        """Where in the file it is."""
        return self._cut + self.at

    def more(self, size: int = 0) -> bool:
        """Reads on; whether there was something."""
        size = max(size, PIECE, (len(self.data) - self.at) // 4)
        piece = b"" if self.ended else self._file.read(size)
        self.ended = not piece
        self.data += piece
        return bool(piece)

    def fill(self, end: int) -> None:
        """Up to this place in the data, if there is so much."""
        while len(self.data) < end and self.more(end - len(self.data)):
            pass

    def go(self, at: int) -> None:
        """On to this place in the data. Only then places in it may change."""
        self.at = at
        if at > len(self.data) // 2:
            self.data = self.data[at:]
            self._cut += at
            self.at = 0


class _Extent(NamedTuple):
    """How far a body goes, and what is to be said of it.

    is_told  by chunks or Content-Length, which are right: nothing in it is of another's hand
    """

    end: int
    remark: str = ""
    is_told: bool = False


def read_raw(capture: Capture) -> Iterator[CapturedResponse]:
    """The responses of a file. A request before a response tells its URL."""
    window = _Window(capture.file)
    window.fill(LOOK)
    if problem := packed(capture.file, window.data):
        capture.task.report(problem)
        return
    number, request = 0, None
    while True:
        window.fill(window.at + 4 * LOOK)
        if HEAD_END.search(window.data, window.at, window.at + 4 * LOOK) is None:
            window.fill(window.at + 2 * MAX_HEAD_BYTES)
        if (begin := _unblank(window.data, window.at)) > window.at:
            window.go(begin)
            continue
        if window.at >= len(window.data):
            return
        try:
            asked = parse_request_head(window.data, window.at)
            if asked is not None:
                request = asked
                window.go(
                    _extent(window, asked.headers, asked.end, capture.max_body, is_request=True).end
                )
                continue
        except MessageError as bad:
            capture.refuse(None, f"a request: {bad}", at=window.place, kind=bad.kind)
            _skip(capture, window, is_told=True)
            continue
        if BEGIN.match(window.data, window.at) is None:
            _skip(capture, window)
            continue
        number, start = number + 1, window.place
        try:
            found, end = _message(capture, window, number, request)
        except MessageError as bad:
            capture.refuse(number, str(bad), at=start, kind=bad.kind)
            _skip(capture, window, is_told=True)
        else:
            yield CapturedResponse(found, number, start, start + end - window.at)
            window.go(end)
        request = None


def last_response(capture: Capture, data: bytes, number: int) -> Response:
    """The last of the messages in a file that httpx stored: those before it are redirects."""
    start = _status_line(data, 0)
    if start is None:
        raise MessageError("the stored response is no HTTP message", "no HTTP message")
    head = parse_response_head(data, start)
    # Those of a chain have no bodies between them that could hold a message of their own.
    while 300 <= head.status < 400 and not _is_told_end(head, data, capture.max_body):
        if (start := _status_line(data, head.end)) is None:
            break
        head = parse_response_head(data, start)
    body, url = data[head.end :], ""
    if not _is_told_end(head, data, capture.max_body):
        body, url = _without_url(body, None)
    return capture.response(head, body, number, url=url, is_framed=False)


def _status_line(data: bytes, start: int) -> int | None:
    """The place of the next line that is one."""
    # Ten times quicker than to search by the pattern.
    at = data.find(b"HTTP/", start)
    while at >= 0:
        if STATUS_LINE.match(data, at):
            return at
        at = data.find(b"HTTP/", at + 1)
    return None


def _is_told_end(head: ResponseHead, data: bytes, most: int) -> bool:
    """Whether chunks or Content-Length say that the body ends with the data."""
    if is_chunked(head.headers):
        found = parse_chunks(data, most, head.end, is_kept=False)
        return found.is_whole and found.end == len(data)
    return content_length(head.headers) == len(data) - head.end


def _message(
    capture: Capture, window: _Window, number: int, request: RequestHead | None
) -> tuple[Response, int]:
    """The response that begins where the window is, and the place behind it."""
    head = parse_response_head(window.data, window.at)
    url = "" if request is None else request.url
    is_bodiless = head.status in (204, 304) or head.status < 200
    if is_bodiless or (request is not None and request.method == "HEAD"):
        extent = _Extent(head.end)
        if BEGIN.match(window.data, _unblank(window.data, head.end)) is None:
            extent = _extent(window, head.headers, head.end, capture.max_body)
    else:
        extent = _extent(window, head.headers, head.end, capture.max_body)
    body = window.data[head.end : extent.end]
    end = extent.end
    if window.ended and extent.end == len(window.data):
        if not extent.is_told:
            body, url = _without_url(body, request)
    elif window.ended and (tail := STORED_URL.match(window.data, extent.end)) is not None:
        url, end = _stored_url(tail, request) or url, len(window.data)
    if extent.remark:
        capture.remark(number, extent.remark)
    return capture.response(head, body, number, url=url), end


def _without_url(body: bytes, request: RequestHead | None) -> tuple[bytes, str]:
    """A body, and the URL behind it, if one is to be believed; else that of the request."""
    found = STORED_URL.search(body, max(0, len(body) - TAIL))
    if found is None or not (url := _stored_url(found, request)):
        return body, "" if request is None else request.url
    return body[: found.start()], url


def _stored_url(found: re.Match[bytes], request: RequestHead | None) -> str:
    """The URL behind a response; "" if the request before it asked for another.

    A page may end in whatever URL it likes, and is not to choose its own. Where both are the same,
    the one behind tells also whether it was https.
    """
    url = found[1].decode("utf-8", "replace")
    return url if request is None or _asked(url) == _asked(request.url) else ""


def _asked(url: str) -> tuple[str, str]:
    """Host and target of a URL."""
    scheme, _, rest = url.partition("://")
    parts = HOST.match(rest)
    host = "" if parts is None else parts[0]
    usual = ":443" if scheme.lower() == "https" else ":80"
    return host.lower().removesuffix(usual), rest[len(host) :] or "/"


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
            return _Extent(end, is_told=True)
    elif size is not None and size <= most:
        window.fill(start + size + LOOK)
        if len(window.data) < start + size:
            # Cut short, unless another message comes before that.
            found = _next_in(window.data, start)
            return _Extent(len(window.data) if found is None else found)
        if _is_end(window, start + size):
            return _Extent(start + size, is_told=True)
    elif is_request and size is None:
        return _Extent(start)
    return _to_next(window, start, most, UNCLEAR if size is not None else "")


def _chunks_end(window: _Window, start: int, most: int) -> int | None:
    """Where chunks end; None if they do not as they should."""
    while True:
        found = parse_chunks(window.data, most, start, is_kept=False)
        if found.is_whole:
            return found.end
        if found.end < len(window.data) or not window.more(len(window.data)):
            return None


def _is_end(window: _Window, end: int) -> bool:
    """Whether a message may end here."""
    window.fill(end + LOOK)
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
            raise body_too_long(most)
        at = max(start, len(window.data) - LOOK)
        if not window.more(len(window.data)):
            return _Extent(len(window.data), remark)


def _skip(capture: Capture, window: _Window, *, is_told: bool = False) -> None:
    """To the next message; what is before it is reported."""
    start, ahead = window.place, 1
    while (found := _next_in(window.data, window.at + ahead)) is None:
        window.go(max(window.at, len(window.data) - LOOK))
        ahead = 0 if window.place > start else 1
        if not window.more():
            window.go(len(window.data))
            break
    else:
        window.go(found)
    if not is_told:
        capture.refuse(None, f"{window.place - start:,} bytes are no HTTP message", at=start)
