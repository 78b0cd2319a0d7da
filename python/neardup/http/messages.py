"""HTTP/1.x messages: `Response`, and the parser of heads.

The parser is lenient, since servers send invalid messages too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response with its body decoded: unchunked and decompressed.

    url        of the request; "" if unknown
    final_url  the URL after redirects, if they were followed; else ""
    status     0 if unknown
    headers    names and values in their order; names in their original case
    body       bytes in the encoding `charset`
    charset    a name Python knows; "utf-8" unless a header, the page or its bytes tell another
    ip         of the server; "" if unknown
    length     of the decompressed body in bytes; if the body is missing, the length that the
               capture states, else 0
    is_whole   False if the capture leaves the body out; True for an empty body
    title      the title that the capture states; used if the body is missing
    extra      further columns of the capture, by name, as strings
    """

    url: str = ""
    status: int = 0
    reason: str = ""
    headers: Headers = ()
    body: bytes = b""
    charset: str = "utf-8"
    ip: str = ""
    length: int = 0
    final_url: str = ""
    title: str = ""
    is_whole: bool = True
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The host of the URL in lower case, with the port if the URL has one."""
        try:
            parts = urlsplit(self.url)
            return parts.netloc.rpartition("@")[2].lower()
        except ValueError:  # brackets without an address
            return ""

    def header(self, name: str) -> str:
        """Return the first value of a header, by its name in any case; "" if there is none."""
        return header_value(self.headers, name.lower())

    @property
    def text(self) -> str:
        """The decoded body; invalid bytes become U+FFFD."""
        try:
            return self.body.decode(self.charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


# Far more than servers and browsers accept.
MAX_HEAD_BYTES = 256 << 10
MAX_HEADERS = 2000
MAX_NAME_CHARS = 256
# HTTP/2 has no status line; tools write one for it.
STATUS_LINE = re.compile(
    rb"HTTP/\d{1,2}(?:\.\d{1,2})?[ \t]+(\d{3})(?!\d)[ \t]*([^\r\n]*)\r?(?:\n|\Z)"
)
REQUEST_LINE = re.compile(
    rb"([A-Z][A-Z-]{2,19}) ([^\s]{1,65536}) HTTP/\d(?:\.\d)?[ \t]*\r?(?:\n|\Z)"
)
# The empty line after a head; lines may end in a bare line feed.
HEAD_END = re.compile(rb"\r?\n\r?\n")


class MessageError(ValueError):
    """Bytes are not a valid HTTP message. `kind` is the reason without numbers, for grouping."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind


class ResponseHead(NamedTuple):
    """A status line and headers; the body begins at byte `end`.

    remarks  peculiarities, worded for a note: "folded headers"
    """

    status: int
    reason: str
    headers: Headers
    end: int
    remarks: tuple[str, ...] = ()


class RequestHead(NamedTuple):
    """The method, URL and headers of a request; the body begins at byte `end`."""

    method: str
    url: str
    headers: Headers
    end: int


def parse_response_head(data: bytes, start: int = 0) -> ResponseHead:
    """Return the head of the response at `start`; raise MessageError if there is none.

    A head without an end is accepted: the message is truncated.
    """
    found = STATUS_LINE.match(data, start, start + MAX_HEAD_BYTES)
    if found is None:
        raise MessageError(
            f"not an HTTP response: it begins with {preview_bytes(data[start : start + 40])}",
            "not an HTTP response",
        )
    headers, end, remarks = _parse_header_lines(data, found.end())
    reason = found[2].decode("utf-8", "replace").strip()
    return ResponseHead(int(found[1]), reason.replace("\0", "\ufffd"), headers, end, remarks)


def parse_request_head(data: bytes, start: int = 0) -> RequestHead | None:
    """Return the head of the request at `start`; None if there is none."""
    found = REQUEST_LINE.match(data, start)
    if found is None:
        return None
    headers, end, _ = _parse_header_lines(data, found.end())
    return RequestHead(
        found[1].decode(), _request_url(found[2].decode("utf-8", "replace"), headers), headers, end
    )


def _request_url(target: str, headers: Headers) -> str:
    """Build the URL of a request from the target of its first line and the Host header."""
    if "://" in target[:12] or not target.startswith("/"):
        return target
    host = header_value(headers, "host")
    if not host:
        return target
    scheme = "https" if host.endswith(":443") else "http"
    return f"{scheme}://{host.removesuffix(':443') if scheme == 'https' else host}{target}"


def parse_headers(text: str) -> Headers:
    """Parse header lines without a status line."""
    return _parse_header_lines(text.encode("utf-8", "replace"), 0)[0]


def _parse_header_lines(data: bytes, start: int) -> tuple[Headers, int, tuple[str, ...]]:
    """Return the headers at `start`, the byte where the body begins, and remarks."""
    if data.startswith((b"\r\n", b"\n"), start):  # none at all
        return (), start + (2 if data[start] == 13 else 1), ()
    found = HEAD_END.search(data, start, start + MAX_HEAD_BYTES)
    if found is None:
        if len(data) - start > MAX_HEAD_BYTES:
            raise MessageError(
                f"the headers are longer than {MAX_HEAD_BYTES >> 10} KiB",
                "headers are too long",
            )
        stop = end = len(data)
    else:
        stop, end = found.span()
    if data.count(b"\n", start, stop) >= MAX_HEADERS:
        raise too_many_headers()
    lines = decode_head(data[start:stop]).split("\n")
    headers: list[tuple[str, str]] = []
    folded = nameless = False
    for line in lines:
        if line[:1] in (" ", "\t") and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {line.strip()}".strip())
            folded = True
            continue
        name, colon, value = line.partition(":")
        name = name.strip()
        if colon and name and len(name) <= MAX_NAME_CHARS:
            headers.append((name, value.strip()))
        elif line.strip():
            nameless = True
    remarks: tuple[str, ...] = ()
    if folded:
        remarks += ("folded headers",)
    if nameless:
        remarks += ("header lines without a name, which are ignored",)
    return tuple(headers), end, remarks


def too_many_headers() -> MessageError:
    return MessageError(f"more than {MAX_HEADERS:,} headers", "too many headers")


def decode_head(data: bytes) -> str:
    """Decode header bytes as UTF-8, or else Latin-1; NUL becomes U+FFFD."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\0", "\ufffd") if "\0" in text else text


def header_value(headers: Headers, name: str) -> str:
    """Return the first value of a header by its lower-case name; "" if there is none."""
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value
    return ""


def header_values(headers: Headers, name: str) -> list[str]:
    """Return all values of a header by its lower-case name."""
    return [value for key, value in headers if len(key) == len(name) and key.lower() == name]


def preview_bytes(data: bytes) -> str:
    """Return the first 40 bytes as text, quoted, for a message."""
    return repr(data[:40].decode("utf-8", "replace"))
