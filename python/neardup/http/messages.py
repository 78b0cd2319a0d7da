"""An HTTP response, wherever it was captured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response with its body decoded: not chunked, not packed.

    url        of the request; "" if the capture does not tell
    final_url  where the answer came from, if redirects were followed; else ""
    status     0 if the capture does not tell
    headers    names and values in the order they came; names as they were written
    body       bytes; their encoding is that of `charset`
    charset    a name Python knows, "utf-8" unless something tells another
    ip         of the server; "" if the capture does not tell
    length     of the body in bytes, not packed; of one that is not there what the capture tells,
               0 if it does not
    is_whole   the capture holds the body, which may be empty; False: there was one, or may have
               been, and the capture has it not
    title      what the capture calls the page; it counts where the body is not there
    extra      what else the capture says of it, by the names it uses, as strings
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
        """Of the URL, in small letters, with the port where one is written."""
        try:
            parts = urlsplit(self.url)
            return parts.netloc.rpartition("@")[2].lower()
        except ValueError:  # brackets that are no address
            return ""

    def header(self, name: str) -> str:
        """The first value of a header, whatever the case of its name; "" if there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def text(self) -> str:
        """The body as text; bytes that are none in its charset become U+FFFD."""
        try:
            return self.body.decode(self.charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


# HTTP/1.x messages as bytes: what their heads say. Lenient: captures hold what servers sent.

# Servers refuse heads of a tenth of it; browsers give up earlier too.
MOST_HEAD = 256 << 10
MOST_HEADERS = 2000
MOST_NAME = 256
# A status line. HTTP/2 has none; tools write one for it.
STATUS = re.compile(rb"HTTP/\d{1,2}(?:\.\d{1,2})?[ \t]+(\d{3})(?!\d)[ \t]*([^\r\n]*)\r?(?:\n|\Z)")
REQUEST = re.compile(rb"([A-Z][A-Z-]{2,19}) ([^\s]{1,65536}) HTTP/\d(?:\.\d)?[ \t]*\r?(?:\n|\Z)")
# The empty line behind a head; lines may end in a bare line feed.
END = re.compile(rb"\r?\n\r?\n")


class MessageError(ValueError):
    """Why bytes are no message, and `kind`, the same without what differs from one to the next."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind


class Head(NamedTuple):
    """A status line and headers. `end` is where the body begins in the bytes they were found in.

    odd  what is unusual about it, as a note has it: "folded headers"
    """

    status: int
    reason: str
    headers: Headers
    end: int
    odd: tuple[str, ...] = ()


class Request(NamedTuple):
    """What a request asks for. `end` is where its body begins."""

    method: str
    url: str
    headers: Headers
    end: int


def response_head(data: bytes, start: int = 0) -> Head:
    """The head of the response that begins here; a MessageError if there is none.

    A head without an end is taken as it is: the message was cut off.
    """
    found = STATUS.match(data, start, start + MOST_HEAD)
    if found is None:
        raise MessageError(
            f"no HTTP response: it begins with {shown(data[start : start + 40])}",
            "no HTTP response",
        )
    headers, end, odd = _headers(data, found.end())
    reason = found[2].decode("utf-8", "replace").strip()
    return Head(int(found[1]), reason.replace("\0", "\ufffd"), headers, end, odd)


def request_head(data: bytes, start: int = 0) -> Request | None:
    """The head of the request that begins here, if one does."""
    found = REQUEST.match(data, start)
    if found is None:
        return None
    headers, end, _ = _headers(data, found.end())
    return Request(
        found[1].decode(), _asked(found[2].decode("utf-8", "replace"), headers), headers, end
    )


def _asked(target: str, headers: Headers) -> str:
    """The URL of a request line and the headers below it."""
    if "://" in target[:12] or not target.startswith("/"):
        return target
    host = first(headers, "host")
    if not host:
        return target
    scheme = "https" if host.endswith(":443") else "http"
    return f"{scheme}://{host.removesuffix(':443') if scheme == 'https' else host}{target}"


def headers_of(text: str) -> Headers:
    """The headers in lines of text, without a status line."""
    return _headers(text.encode("utf-8", "replace"), 0)[0]


def _headers(data: bytes, start: int) -> tuple[Headers, int, tuple[str, ...]]:
    """The header lines from here on, where the body begins, and what is odd about them."""
    if data.startswith((b"\r\n", b"\n"), start):  # none at all
        return (), start + (2 if data[start] == 13 else 1), ()
    found = END.search(data, start, start + MOST_HEAD)
    if found is None:
        if len(data) - start > MOST_HEAD:
            raise MessageError(
                f"its headers are longer than {MOST_HEAD >> 10} KiB",
                "headers are too long",
            )
        stop = end = len(data)
    else:
        stop, end = found.span()
    if data.count(b"\n", start, stop) >= MOST_HEADERS:
        raise MessageError(f"it has more than {MOST_HEADERS:,} headers", "too many headers")
    lines = decoded(data[start:stop]).split("\n")
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
        if colon and name and len(name) <= MOST_NAME:
            headers.append((name, value.strip()))
        elif line.strip():
            nameless = True
    odd: tuple[str, ...] = ()
    if folded:
        odd += ("folded headers",)
    if nameless:
        odd += ("header lines without a name, which are left out",)
    return tuple(headers), end, odd


def decoded(data: bytes) -> str:
    """Header bytes as text: UTF-8 where they are, else a character a byte. No NUL."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\0", "\ufffd") if "\0" in text else text


def first(headers: Headers, name: str) -> str:
    """The first value of a header, by its name in small letters; "" if there is none."""
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value
    return ""


def values(headers: Headers, name: str) -> list[str]:
    """All values of a header, by its name in small letters."""
    return [value for key, value in headers if len(key) == len(name) and key.lower() == name]


def shown(data: bytes) -> str:
    """The beginning of some bytes for a message."""
    return repr(data[:40].decode("utf-8", "replace"))
