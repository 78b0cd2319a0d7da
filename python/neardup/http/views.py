"""A response becomes a view: a short text of named lines, with volatile parts masked."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup import _core
from neardup.http.messages import Response
from neardup.text.views import Viewing

# Of these, bytes are compared by their type and length only.
BINARY = ("image/", "audio/", "video/", "font/")
# Enough to find the zeros that no text has, but for those of encodings with wide characters.
LOOKED_AT = 1024

Given = tuple[str, int, tuple[tuple[str, str], ...], bytes, str | None, str, str, int | None]


class Mask(NamedTuple):
    """A part that was masked: by which rule, what was there, and in which line of the view."""

    rule: str
    original: str
    line: str


@dataclass(frozen=True, slots=True)
class Masked:
    """The view of one response, the title as it was, and what was masked."""

    text: str
    title: str
    masks: tuple[Mask, ...]


class Views:
    """Makes views of responses, on all cores and without the GIL."""

    def __init__(self, viewing: Viewing, *, threads: int | None = None) -> None:
        self.viewing = viewing
        self._core = _made(viewing.views, viewing.masks)
        self._threads = threads

    def views_of(self, responses: Sequence[Response]) -> tuple[Any, list[str]]:
        """Texts as an Arrow array of large strings, and titles as they are ("" where none is)."""
        data, ends, titles = self._core.make(
            [self._given(each) for each in responses], self._threads
        )
        offsets = np.concatenate([np.zeros(1, np.int64), ends])
        texts = pa.LargeStringArray.from_buffers(
            len(ends), pa.py_buffer(offsets), pa.py_buffer(data)
        )
        return texts, titles

    def masked(self, response: Response) -> Masked:
        """The view of one response, with what was masked in it."""
        text, title, masks = self._core.masked(self._given(response))
        return Masked(text, title, tuple(Mask(*mask) for mask in masks))

    def _given(self, response: Response) -> Given:
        return (
            response.url,
            response.status,
            response.headers,
            utf8_body(response),
            group_of(response, self.viewing.within),
            response.final_url,
            response.title,
            None if response.is_whole else max(response.length, 0),
        )


@cache
def _made(views: tuple[str, ...], masks: tuple[str, ...]) -> _core.Views:
    """Rules are compiled once, not for each of a thousand files: that takes a tenth of a second."""
    return _core.Views(list(views), list(masks))


def group_of(response: Response, within: str | None) -> str | None:
    """The value that responses must share to be compared; "" is a group too."""
    match within:
        case None:
            return None
        case "status":
            return str(response.status)
        case "host":
            return response.host
        case "url":
            return response.url
        case "ip":
            return response.ip
        case "server" | "content_type":
            return response.header(within.replace("_", "-"))
        case _:
            return response.extra.get(within, "")


def utf8_body(response: Response) -> bytes:
    """The body in UTF-8; bytes that are no text stay as they are."""
    charset, body = response.charset, response.body
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return body
    if name in ("utf-8", "ascii", "utf-8-sig"):
        return body
    if response.header("content-type").lower().startswith(BINARY):
        return body
    if b"\0" in body[:LOOKED_AT] and not name.startswith(("utf-16", "utf-32")):
        return body
    try:
        return body.decode(name, "replace").encode("utf-8", "replace")
    except (LookupError, ValueError):  # an encoding of bytes to bytes, such as hex
        return body
