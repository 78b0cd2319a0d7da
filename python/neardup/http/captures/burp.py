"""XML of Burp: saved items, each a request and a response, in base64 or not."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from xml.parsers import expat  # entities are refused below, nothing is fetched

from neardup.files.reading.bad_bytes import packed
from neardup.files.reading.document import BOM, record_too_long
from neardup.http.captures.reader import Capture, CapturedResponse
from neardup.http.messages import MessageError, Response

PIECE = 1 << 16
# Bytes without any event in them: no element of Burp has a name or attributes so long.
MOST_SILENT = 1 << 20
# What XML cannot hold, and Burp writes all the same where it does not write base64.
CONTROLS = bytes.maketrans(bytes([*range(9), 11, 12, *range(14, 32)]), b"?" * 29)
ITEM = re.compile(rb"<item>")
FIELDS = frozenset({"url", "host", "request", "response", "status", "path", "protocol", "port"})
DEPTH = 3
# Attributes that are left out get the defaults a file declares, in each element anew. Those that
# Burp declares are empty, and less than ten.
MOST_DEFAULTS = 1024
DEFAULT = 16
# Bytes parsed at once behind damage, then twice as many each time: what is behind the next damage
# is parsed for nothing.
STEP = 256
# In what Burp wrote it stands only where an item begins.
MERGED = re.compile(r"</item>\s*<item>")
UNCLOSED = re.compile(r"</response>\s*(?:<comment>[^<]*</comment>\s*)?</item>\s*<item>")


class _Item:
    """What is known of the item that is being read."""

    def __init__(self, number: int, start: int) -> None:
        self.number = number
        self.start = start
        self.texts: dict[str, list[str]] = {}
        self.size = 0
        self.ip = ""
        self.is_base64 = False
        self.fields = set[str]()
        self.twice = ""

    def text(self, name: str) -> str:
        return "".join(self.texts.get(name, ()))


class _Items:
    """Takes pieces of the file, and gives the items that have ended."""

    def __init__(self, most: int) -> None:
        self._most = most * 4 // 3 + (1 << 20)
        self.done: list[_Item] = []
        self.count = 0
        self.base = 0  # of the parser's first byte in the file
        self.silent = 0
        self.item: _Item | None = None
        self._field = ""
        self._depth = 0
        self._defaults = 0
        self._may_hold_items = False
        self._start()

    def _start(self) -> None:
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = PIECE
        parser.EntityDeclHandler = self._refuse
        parser.AttlistDeclHandler = self._default
        # Put off, a beginning is told long behind its place. Tags are limited here.
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def resume(self, base: int) -> None:
        """Behind damage: an item begins at this place of the file."""
        self._start()
        self._depth, self._field, self.item, self.silent = 0, "", None, 0
        self._may_hold_items = False
        self.parser.Parse(b"<items>", False)
        self.base = base - len(b"<items>")

    def feed(self, data: bytes, *, is_last: bool = False) -> None:
        before = self.silent
        self.silent += len(data)
        self.parser.Parse(data, is_last)
        if self.silent > before and self.silent > MOST_SILENT:
            raise _BrokenError(f"an element that does not end in {MOST_SILENT >> 20} MiB")

    def _refuse(self, name: str, *rest: object) -> None:
        raise _DeclaredError(
            f"declares the entity {name[:80]!r}, which is not expanded", "declares an entity"
        )

    def _default(
        self, element: str, name: str, kind: str, default: str | None, is_required: int
    ) -> None:
        if default is None:
            return
        self._defaults += len(default) + DEFAULT
        if self._defaults > MOST_DEFAULTS:
            raise _DeclaredError(
                f"declares defaults of attributes that are too long, the last for {name[:80]!r}: "
                f"the limit is {MOST_DEFAULTS:,} characters for all; remove the declaration",
                "declares defaults that are too long",
            )

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.silent = 0
        self._depth += 1
        if name == "item" and self.item is not None and not self._may_hold_items:
            raise _BrokenError("another item begins inside it", self.place, is_item=True)
        if name == "item" and self.item is None and self._depth != DEPTH - 1:
            raise _BrokenError("an item that is not in items", self.place, is_item=True)
        if name in FIELDS and self.item is None:
            raise _BrokenError(f"{name!r} is in no item", self.place)
        if self._depth == DEPTH - 1 and name == "item":
            self.count += 1
            self.item = _Item(self.count, self.place)
        elif self._depth == DEPTH and self.item is not None and name in FIELDS:
            self._field = name
            is_base64 = attributes.get("base64", "").lower() == "true"
            # A page may hold an element of this name, where it is not in CDATA.
            self._may_hold_items = name in ("request", "response") and not is_base64
            if name in self.item.fields:
                self.item.twice = name
            self.item.fields.add(name)
            if name == "host":
                self.item.ip = attributes.get("ip", "")
            elif name == "response":
                self.item.is_base64 = is_base64
        elif self._depth > 64:
            raise _BrokenError("elements nested deeper than 64", self.place)

    def _end(self, name: str) -> None:
        self.silent = 0
        self._depth -= 1
        if self._depth == DEPTH - 1:
            self._field, self._may_hold_items = "", False
        elif self._depth == DEPTH - 2 and self.item is not None:
            self.done.append(self.item)
            self.item = None

    def _text(self, text: str) -> None:
        self.silent = 0
        if self.item is None or not self._field or self._field == "request":
            return
        self.item.size += len(text)
        if self.item.size <= self._most:
            self.item.texts.setdefault(self._field, []).append(text)
        elif self.item.texts:
            self.item.texts.pop("response", None)  # said when it ends

    @property
    def place(self) -> int:
        """Where in the file the parser is."""
        return self.base + self.parser.CurrentByteIndex

    def is_too_long(self, item: _Item) -> bool:
        return item.size > self._most


class _DeclaredError(Exception):
    """What a file declares that none may, and the kind of that."""

    def __init__(self, reason: str, kind: str) -> None:
        super().__init__(reason)
        self.kind = kind


class _BrokenError(Exception):
    """What is not as XML of Burp is.

    place    in the file, if it is known better than the parser tells afterwards: it goes on to the
             end of what it was given
    is_item  an item begins there, to go on with
    """

    def __init__(self, reason: str, place: int | None = None, *, is_item: bool = False) -> None:
        super().__init__(reason)
        self.place = place
        self.is_item = is_item


def read_burp(capture: Capture) -> Iterator[CapturedResponse]:
    """The responses of a file. Behind damage it goes on with the next item."""
    items = _Items(capture.max_body)
    pieces = _pieces(capture)
    at = 0
    data = b""
    step = PIECE
    while True:
        if not data:
            data = next(pieces, b"")
        is_last = not data
        part = data[:step]
        try:
            items.feed(part, is_last=is_last)
        except _DeclaredError as error:
            capture.refuse(None, str(error), kind=error.kind)
            return
        except (expat.ExpatError, _BrokenError) as error:
            yield from _responses(capture, items)
            at, data = _resumed(capture, items, pieces, at, data, error)
            if not data:
                return
            step = STEP
            continue
        yield from _responses(capture, items)
        if is_last:
            return
        at += len(part)
        data = data[step:]
        step = min(2 * step, max(PIECE, STEP))


def _resumed(
    capture: Capture,
    items: _Items,
    pieces: Iterator[bytes],
    at: int,
    data: bytes,
    error: Exception,
) -> tuple[int, bytes]:
    """Reports damage, and gives the place of the next item and what is there."""
    code = error.code if isinstance(error, expat.ExpatError) else None
    why = str(error) if code is None else expat.ErrorString(code)
    wrong = max(items.base + items.parser.ErrorByteIndex, 0)
    if isinstance(error, _BrokenError) and error.place is not None:
        wrong = error.place
    if items.item is None:
        capture.refuse(None, f"is damaged ({why})", at=wrong, kind="is damaged")
    else:
        capture.refuse(items.count, f"is damaged ({why})", at=items.item.start, kind="is damaged")
    if isinstance(error, _BrokenError) and error.is_item:
        return _resumed_at(items, wrong, at, data)
    found = ITEM.search(data, max(0, min(wrong - at, len(data))))
    while found is None:
        tail = data[-len(b"<item>") :]
        at += len(data) - len(tail)
        if not (piece := next(pieces, b"")):
            return at, b""
        data = tail + piece
        found = ITEM.search(data)
    items.resume(at + found.start())
    return at + found.start(), data[found.start() :]


def _resumed_at(items: _Items, place: int, at: int, data: bytes) -> tuple[int, bytes]:
    """Goes on with the item that begins at a place: in these bytes, or before them, if its tag was
    cut in two."""
    if place >= at:
        data = data[place - at :]
    else:
        end = data.find(b">") + 1
        place, data = at + end - len(b"<item>"), b"<item>" + data[end:]
    items.resume(place)
    return place, data


def _pieces(capture: Capture) -> Iterator[bytes]:
    """The file as UTF-8 that XML can hold."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    is_first = True
    while data := capture.file.read(PIECE):
        if is_first:
            if problem := packed(capture.file, data):
                capture.task.report(problem)
                return
            data, is_first = data.removeprefix(BOM).lstrip(), False
        if not data.isascii():
            # U+FFFE and U+FFFF are no characters of XML either.
            text = decoder.decode(data)
            data = text.replace("\ufffe", "?").replace("\uffff", "?").encode()
        if data := data.translate(CONTROLS):
            yield data


def _responses(capture: Capture, items: _Items) -> Iterator[CapturedResponse]:
    for item in items.done:
        try:
            if items.is_too_long(item):
                raise MessageError(record_too_long(capture.max_body), "too long")
            yield CapturedResponse(_response(capture, item), item.number)
        except MessageError as bad:
            capture.refuse(item.number, str(bad), at=item.start, kind=bad.kind)
    items.done.clear()


def _response(capture: Capture, item: _Item) -> Response:
    if item.twice:
        # The end of one and the beginning of the next are lost.
        raise MessageError(f"is damaged (it has {item.twice!r} twice)", "is damaged")
    text = item.text("response")
    is_merged = (UNCLOSED if not item.is_base64 else MERGED).search(text)
    if is_merged or any(MERGED.search(item.text(name)) for name in FIELDS - {"response"}):
        raise MessageError(
            "is damaged (a CDATA section without an end holds the beginning of another item)",
            "is damaged",
        )
    if not text.strip():
        raise MessageError("no response in this item", "no response")
    if item.is_base64:
        try:
            data = base64.b64decode(text)
        except (binascii.Error, ValueError):
            raise MessageError("its response says it is base64, and is not", "not base64") from None
    else:
        data = text.encode()
    return capture.parse_message(data, item.number, url=_url(item), ip=item.ip)


def _url(item: _Item) -> str:
    if url := item.text("url").strip():
        return url
    host, path = item.text("host").strip(), item.text("path").strip()
    return f"{item.text('protocol').strip() or 'http'}://{host}{path}" if host else ""
