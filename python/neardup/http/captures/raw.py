"""Raw HTTP/1.x messages: one response in a file, or many in a row, with or without requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from neardup.files.reading.streams import ByteStream, report_compressed
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

CHUNK_BYTES = 1 << 17
# Enough to see whether a message begins.
LOOKAHEAD_BYTES = 1 << 14
MESSAGE_START = re.compile(
    rb"HTTP/\d(?:\.\d)?[ \t]+\d{3}(?!\d)|[A-Z][A-Z-]{2,19} \S{1,8192} HTTP/\d"
)
# A status line in a stored file of httpx.
STATUS_LINE = re.compile(rb"(?:\A|(?<=\n))HTTP/\d(?:\.\d)?[ \t]+\d{3}(?!\d)")
# To find the end of a body of unknown length, search only for HTTP/1: pages may mention HTTP.
HTTP_1_PREFIX = b"HTTP/1."
HTTP_1_STATUS = re.compile(rb"HTTP/1\.[01][ \t]+\d{3}(?!\d)")
HTTP_1_REQUEST = re.compile(
    rb"(?:GET|POST|HEAD|PUT|DELETE|OPTIONS|PATCH) \S{1,8192} HTTP/1\.[01][ \t]*\r?\n"
)
# httpx appends the URL to a response that it stores.
STORED_URL = re.compile(rb"\n\n\n(https?://\S{1,8192})\s*\Z")
MAX_TAIL_BYTES = 16384
HOST = re.compile(r"[^/?#]*")
BLANK = re.compile(rb"[ \t\r\n]*")
WRONG_LENGTH = "a wrong Content-Length; the body ends where the next message begins"


def _find_message(data: bytes, start: int) -> int | None:
    """Return the position of the next line that begins a message, after the first line."""
    # Ten times faster than a search by the pattern.
    at = data.find(HTTP_1_PREFIX, start)
    while at >= 0:
        line = data.rfind(b"\n", max(start - 1, at - LOOKAHEAD_BYTES, 0), at) + 1
        if line and (HTTP_1_STATUS if line == at else HTTP_1_REQUEST).match(data, line):
            return line
        at = data.find(HTTP_1_PREFIX, at + 1)
    return None


class _Window:
    """A sliding buffer over the file.

    at  current position in `data`; bytes before it are no longer needed

    A wrong Content-Length makes it large, so copies are rare: the front is dropped only when it is
    more than half, and the buffer grows by a fraction of its size.
    """

    def __init__(self, file: ByteStream) -> None:
        self._file = file
        self._dropped = 0
        self.data = b""
        self.at = 0
        self.ended = False

    @property
    def place(self) -> int:
        """The current position in the file."""
        return self._dropped + self.at

    def read_more(self, size: int = 0) -> bool:
        """Read more of the file; return False at its end."""
        size = max(size, CHUNK_BYTES, (len(self.data) - self.at) // 4)
        piece = b"" if self.ended else self._file.read(size)
        self.ended = not piece
        self.data += piece
        return bool(piece)

    def fill(self, end: int) -> None:
        """Read up to this position in the data, or to the end of the file."""
        while len(self.data) < end and self.read_more(end - len(self.data)):
            pass

    def advance(self, at: int) -> None:
        """Advance to a position in the data; earlier positions become invalid."""
        self.at = at
        if at > len(self.data) // 2:
            self.data = self.data[at:]
            self._dropped += at
            self.at = 0


class _Extent(NamedTuple):
    """The end of a body, and a remark.

    is_certain  whether chunks or a correct Content-Length prove the end
    """

    end: int
    remark: str = ""
    is_certain: bool = False


def read_raw(capture: Capture) -> Iterator[CapturedResponse]:
    """Yield the responses of a file, with the URL of the request before each, if there is one."""
    window = _Window(capture.file)
    window.fill(LOOKAHEAD_BYTES)
    if problem := report_compressed(capture.file, window.data):
        capture.task.report(problem)
        return
    number, request = 0, None
    while True:
        window.fill(window.at + 4 * LOOKAHEAD_BYTES)
        if HEAD_END.search(window.data, window.at, window.at + 4 * LOOKAHEAD_BYTES) is None:
            window.fill(window.at + 2 * MAX_HEAD_BYTES)
        if (begin := _skip_blank(window.data, window.at)) > window.at:
            window.advance(begin)
            continue
        if window.at >= len(window.data):
            return
        try:
            head = parse_request_head(window.data, window.at)
            if head is not None:
                request = head
                window.advance(
                    _body_extent(
                        window, head.headers, head.end, capture.max_body, is_request=True
                    ).end
                )
                continue
        except MessageError as bad:
            capture.refuse(None, f"a request: {bad}", at=window.place, kind=bad.kind)
            _skip_to_message(capture, window, is_reported=True)
            continue
        if MESSAGE_START.match(window.data, window.at) is None:
            _skip_to_message(capture, window)
            continue
        number, start = number + 1, window.place
        try:
            found, end = _message(capture, window, number, request)
        except MessageError as bad:
            capture.refuse(number, str(bad), at=start, kind=bad.kind)
            _skip_to_message(capture, window, is_reported=True)
        else:
            yield CapturedResponse(found, number, start, start + end - window.at)
            window.advance(end)
        request = None


def last_response(capture: Capture, data: bytes, number: int) -> Response:
    """Return the last response in a file stored by httpx, after any redirects."""
    start = _find_status_line(data, 0)
    if start is None:
        raise MessageError("the stored response is not an HTTP message", "not an HTTP message")
    head = parse_response_head(data, start)
    # The redirects before it have no bodies in which a status line could be found.
    while 300 <= head.status < 400 and not _ends_with_data(head, data, capture.max_body):
        if (start := _find_status_line(data, head.end)) is None:
            break
        head = parse_response_head(data, start)
    body, url = data[head.end :], ""
    if not _ends_with_data(head, data, capture.max_body):
        body, url = _split_url(body, None)
    return capture.response(head, body, number, url=url, is_framed=False)


def _find_status_line(data: bytes, start: int) -> int | None:
    """Return the position of the next status line."""
    # Ten times faster than a search by the pattern.
    at = data.find(b"HTTP/", start)
    while at >= 0:
        if STATUS_LINE.match(data, at):
            return at
        at = data.find(b"HTTP/", at + 1)
    return None


def _ends_with_data(head: ResponseHead, data: bytes, max_body: int) -> bool:
    """Return whether the body ends with the data, by its chunks or Content-Length."""
    if is_chunked(head.headers):
        found = parse_chunks(data, max_body, head.end, keep_data=False)
        return found.is_whole and found.end == len(data)
    return content_length(head.headers) == len(data) - head.end


def _message(
    capture: Capture, window: _Window, number: int, request: RequestHead | None
) -> tuple[Response, int]:
    """Return the response at the window's position, and the position after it."""
    head = parse_response_head(window.data, window.at)
    url = "" if request is None else request.url
    is_bodiless = head.status in (204, 304) or head.status < 200
    if is_bodiless or (request is not None and request.method == "HEAD"):
        extent = _Extent(head.end)
        if MESSAGE_START.match(window.data, _skip_blank(window.data, head.end)) is None:
            extent = _body_extent(window, head.headers, head.end, capture.max_body)
    else:
        extent = _body_extent(window, head.headers, head.end, capture.max_body)
    body = window.data[head.end : extent.end]
    end = extent.end
    if window.ended and extent.end == len(window.data):
        if not extent.is_certain:
            body, url = _split_url(body, request)
    elif window.ended and (tail := STORED_URL.match(window.data, extent.end)) is not None:
        url, end = _stored_url(tail, request) or url, len(window.data)
    if extent.remark:
        capture.remark(number, extent.remark)
    return capture.response(head, body, number, url=url), end


def _split_url(body: bytes, request: RequestHead | None) -> tuple[bytes, str]:
    """Split a body and the URL that httpx appends; without one, return the request's URL."""
    found = STORED_URL.search(body, max(0, len(body) - MAX_TAIL_BYTES))
    if found is None or not (url := _stored_url(found, request)):
        return body, "" if request is None else request.url
    return body[: found.start()], url


def _stored_url(found: re.Match[bytes], request: RequestHead | None) -> str:
    """Return the URL after a response; "" if it contradicts the request before the response.

    A page could end with any URL, and so forge its own. If both agree, prefer the URL after the
    response: it has the scheme.
    """
    url = found[1].decode("utf-8", "replace")
    return url if request is None or _host_and_target(url) == _host_and_target(request.url) else ""


def _host_and_target(url: str) -> tuple[str, str]:
    """Return the host of a URL, without the default port, and its target."""
    scheme, _, rest = url.partition("://")
    parts = HOST.match(rest)
    host = "" if parts is None else parts[0]
    default_port = ":443" if scheme.lower() == "https" else ":80"
    return host.lower().removesuffix(default_port), rest[len(host) :] or "/"


def _skip_blank(data: bytes, at: int) -> int:
    found = BLANK.match(data, at)
    return at if found is None else found.end()


def _body_extent(
    window: _Window, headers: Headers, start: int, max_body: int, *, is_request: bool = False
) -> _Extent:
    """Find the end of the body at `start`: by chunks or Content-Length, if a message begins or the
    file ends there; else the start of the next message."""
    size = content_length(headers)
    if is_chunked(headers):
        if (end := _chunks_end(window, start, max_body)) is not None and _may_end(window, end):
            return _Extent(end, is_certain=True)
    elif size is not None and size <= max_body:
        window.fill(start + size + LOOKAHEAD_BYTES)
        if len(window.data) < start + size:
            # Truncated, unless another message begins before that.
            found = _find_message(window.data, start)
            return _Extent(len(window.data) if found is None else found)
        if _may_end(window, start + size):
            return _Extent(start + size, is_certain=True)
    elif is_request and size is None:
        return _Extent(start)
    return _extent_to_next(window, start, max_body, WRONG_LENGTH if size is not None else "")


def _chunks_end(window: _Window, start: int, max_body: int) -> int | None:
    """Return the end of the chunks; None if they are invalid."""
    while True:
        found = parse_chunks(window.data, max_body, start, keep_data=False)
        if found.is_whole:
            return found.end
        if found.end < len(window.data) or not window.read_more(len(window.data)):
            return None


def _may_end(window: _Window, end: int) -> bool:
    """Return whether a message may end here."""
    window.fill(end + LOOKAHEAD_BYTES)
    at = _skip_blank(window.data, end)
    if at >= len(window.data):
        return True
    return MESSAGE_START.match(window.data, at) is not None or bool(
        STORED_URL.match(window.data, end)
    )


def _extent_to_next(window: _Window, start: int, max_body: int, remark: str) -> _Extent:
    at = start
    while True:
        if (found := _find_message(window.data, at)) is not None:
            return _Extent(found, remark)
        if len(window.data) - start > max_body:
            raise body_too_long(max_body)
        at = max(start, len(window.data) - LOOKAHEAD_BYTES)
        if not window.read_more(len(window.data)):
            return _Extent(len(window.data), remark)


def _skip_to_message(capture: Capture, window: _Window, *, is_reported: bool = False) -> None:
    """Skip to the next message, and report the bytes before it."""
    start, ahead = window.place, 1
    while (found := _find_message(window.data, window.at + ahead)) is None:
        window.advance(max(window.at, len(window.data) - LOOKAHEAD_BYTES))
        ahead = 0 if window.place > start else 1
        if not window.read_more():
            window.advance(len(window.data))
            break
    else:
        window.advance(found)
    if not is_reported:
        capture.refuse(None, f"{window.place - start:,} bytes are not an HTTP message", at=start)
