"""XML of Burp: saved items, each a request and a response, in base64 or as text."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from xml.parsers import expat  # entities are refused below, nothing is fetched

from neardup.files.reading.batch import BOM, record_too_long
from neardup.files.reading.streams import report_compressed
from neardup.http.captures.reader import Capture, CapturedResponse
from neardup.http.messages import MessageError, Response

CHUNK_BYTES = 1 << 16
# Maximum bytes without an event of the parser; no tag of Burp is so long.
MAX_TAG_BYTES = 1 << 20
# Invalid in XML, but Burp writes them where it does not write base64.
CONTROLS = bytes.maketrans(bytes([*range(9), 11, 12, *range(14, 32)]), b"?" * 29)
ITEM = re.compile(rb"<item>")
FIELDS = frozenset({"url", "host", "request", "response", "status", "path", "protocol", "port"})
FIELD_DEPTH = 3
# Limit of all declared default values, since the parser adds them to every element without the
# attribute. Burp declares fewer than ten, all empty.
MAX_DEFAULT_CHARS = 1024
DEFAULT_OVERHEAD = 16
# Bytes parsed at a time after damage, then doubled: if the file is damaged again soon, little is
# parsed twice.
RESUME_BYTES = 256
# The end of one item and the start of the next; inside a field, a sign of damage.
MERGED = re.compile(r"</item>\s*<item>")
UNCLOSED = re.compile(r"</response>\s*(?:<comment>[^<]*</comment>\s*)?</item>\s*<item>")


class _Item:
    """The item being read."""

    def __init__(self, number: int, start: int) -> None:
        self.number = number
        self.start = start
        self.texts: dict[str, list[str]] = {}
        self.size = 0
        self.ip = ""
        self.is_base64 = False
        self.fields = set[str]()
        self.duplicate = ""

    def text(self, name: str) -> str:
        return "".join(self.texts.get(name, ()))


class _Items:
    """A push parser: `feed` it the file, take finished items from `done`."""

    def __init__(self, max_body: int) -> None:
        self._max_chars = max_body * 4 // 3 + (1 << 20)
        self.done: list[_Item] = []
        self.count = 0
        self.base = 0  # position of the parser's first byte in the file
        self.tag_bytes = 0
        self.item: _Item | None = None
        self._field = ""
        self._depth = 0
        self._defaults = 0
        self._may_hold_items = False
        self._start()

    def _start(self) -> None:
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = CHUNK_BYTES
        parser.EntityDeclHandler = self._refuse_entity
        parser.AttlistDeclHandler = self._check_default
        # Deferred parsing would report a start tag late. MAX_TAG_BYTES limits tags instead.
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def resume(self, base: int) -> None:
        """Restart the parser after damage, at the item that begins at this position."""
        self._start()
        self._depth, self._field, self.item, self.tag_bytes = 0, "", None, 0
        self._may_hold_items = False
        self.parser.Parse(b"<items>", False)
        self.base = base - len(b"<items>")

    def feed(self, data: bytes, *, is_last: bool = False) -> None:
        before = self.tag_bytes
        self.tag_bytes += len(data)
        self.parser.Parse(data, is_last)
        if self.tag_bytes > before and self.tag_bytes > MAX_TAG_BYTES:
            raise _BrokenError(f"an element that does not end in {MAX_TAG_BYTES >> 20} MiB")

    def _refuse_entity(self, name: str, *rest: object) -> None:
        raise _DeclaredError(
            f"declares the entity {name[:80]!r}; entities are not expanded", "declares an entity"
        )

    def _check_default(
        self, element: str, name: str, kind: str, default: str | None, is_required: int
    ) -> None:
        if default is None:
            return
        self._defaults += len(default) + DEFAULT_OVERHEAD
        if self._defaults > MAX_DEFAULT_CHARS:
            raise _DeclaredError(
                f"declares default values of attributes that are too long, the last for "
                f"{name[:80]!r}: the limit is {MAX_DEFAULT_CHARS:,} characters for all; remove the "
                "declaration",
                "declares defaults that are too long",
            )

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.tag_bytes = 0
        self._depth += 1
        if name == "item" and self.item is not None and not self._may_hold_items:
            raise _BrokenError("another item begins inside it", self.place, is_item=True)
        if name == "item" and self.item is None and self._depth != FIELD_DEPTH - 1:
            raise _BrokenError("an item outside of items", self.place, is_item=True)
        if name in FIELDS and self.item is None:
            raise _BrokenError(f"{name!r} outside of an item", self.place)
        if self._depth == FIELD_DEPTH - 1 and name == "item":
            self.count += 1
            self.item = _Item(self.count, self.place)
        elif self._depth == FIELD_DEPTH and self.item is not None and name in FIELDS:
            self._field = name
            is_base64 = attributes.get("base64", "").lower() == "true"
            # A page outside of CDATA may have an element named "item".
            self._may_hold_items = name in ("request", "response") and not is_base64
            if name in self.item.fields:
                self.item.duplicate = name
            self.item.fields.add(name)
            if name == "host":
                self.item.ip = attributes.get("ip", "")
            elif name == "response":
                self.item.is_base64 = is_base64
        elif self._depth > 64:
            raise _BrokenError("elements nested deeper than 64", self.place)

    def _end(self, name: str) -> None:
        self.tag_bytes = 0
        self._depth -= 1
        if self._depth == FIELD_DEPTH - 1:
            self._field, self._may_hold_items = "", False
        elif self._depth == FIELD_DEPTH - 2 and self.item is not None:
            self.done.append(self.item)
            self.item = None

    def _text(self, text: str) -> None:
        self.tag_bytes = 0
        if self.item is None or not self._field or self._field == "request":
            return
        self.item.size += len(text)
        if self.item.size <= self._max_chars:
            self.item.texts.setdefault(self._field, []).append(text)
        elif self.item.texts:
            self.item.texts.pop("response", None)  # reported when the item ends

    @property
    def place(self) -> int:
        """The position of the parser in the file."""
        return self.base + self.parser.CurrentByteIndex

    def is_too_long(self, item: _Item) -> bool:
        return item.size > self._max_chars


class _DeclaredError(Exception):
    """A declaration that is refused; `kind` is the reason without names, for grouping."""

    def __init__(self, reason: str, kind: str) -> None:
        super().__init__(reason)
        self.kind = kind


class _BrokenError(Exception):
    """XML that Burp does not write.

    place    its position in the file; the parser's own position is past it
    is_item  whether an item begins there, at which parsing can continue
    """

    def __init__(self, reason: str, place: int | None = None, *, is_item: bool = False) -> None:
        super().__init__(reason)
        self.place = place
        self.is_item = is_item


def read_burp(capture: Capture) -> Iterator[CapturedResponse]:
    """Yield the responses of a file; after damage continue with the next item."""
    items = _Items(capture.max_body)
    chunks = _chunks(capture)
    at = 0
    data = b""
    step = CHUNK_BYTES
    while True:
        if not data:
            data = next(chunks, b"")
        is_last = not data
        part = data[:step]
        try:
            items.feed(part, is_last=is_last)
        except _DeclaredError as error:
            capture.refuse(None, str(error), kind=error.kind)
            return
        except (expat.ExpatError, _BrokenError) as error:
            yield from _responses(capture, items)
            at, data = _resync(capture, items, chunks, at, data, error)
            if not data:
                return
            step = RESUME_BYTES
            continue
        yield from _responses(capture, items)
        if is_last:
            return
        at += len(part)
        data = data[step:]
        step = min(2 * step, max(CHUNK_BYTES, RESUME_BYTES))


def _resync(
    capture: Capture,
    items: _Items,
    chunks: Iterator[bytes],
    at: int,
    data: bytes,
    error: Exception,
) -> tuple[int, bytes]:
    """Report damage; return the position of the next item and the bytes from there on."""
    code = error.code if isinstance(error, expat.ExpatError) else None
    reason = str(error) if code is None else expat.ErrorString(code)
    error_at = max(items.base + items.parser.ErrorByteIndex, 0)
    if isinstance(error, _BrokenError) and error.place is not None:
        error_at = error.place
    if items.item is None:
        capture.refuse(None, f"is damaged ({reason})", at=error_at, kind="is damaged")
    else:
        capture.refuse(
            items.count, f"is damaged ({reason})", at=items.item.start, kind="is damaged"
        )
    if isinstance(error, _BrokenError) and error.is_item:
        return _resync_at(items, error_at, at, data)
    found = ITEM.search(data, max(0, min(error_at - at, len(data))))
    while found is None:
        tail = data[-len(b"<item>") :]
        at += len(data) - len(tail)
        if not (chunk := next(chunks, b"")):
            return at, b""
        data = tail + chunk
        found = ITEM.search(data)
    items.resume(at + found.start())
    return at + found.start(), data[found.start() :]


def _resync_at(items: _Items, place: int, at: int, data: bytes) -> tuple[int, bytes]:
    """Continue with the item at a position, which is before `data` if its tag was split between
    chunks."""
    if place >= at:
        data = data[place - at :]
    else:
        end = data.find(b">") + 1
        place, data = at + end - len(b"<item>"), b"<item>" + data[end:]
    items.resume(place)
    return place, data


def _chunks(capture: Capture) -> Iterator[bytes]:
    """Yield the file as UTF-8, characters that are invalid in XML replaced."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    is_first = True
    while data := capture.file.read(CHUNK_BYTES):
        if is_first:
            if problem := report_compressed(capture.file, data):
                capture.task.report(problem)
                return
            data, is_first = data.removeprefix(BOM).lstrip(), False
        if not data.isascii():
            # U+FFFE and U+FFFF are invalid in XML, too.
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
    if item.duplicate:
        # The end of one item and the start of the next are lost.
        raise MessageError(f"is damaged (it has {item.duplicate!r} twice)", "is damaged")
    text = item.text("response")
    is_merged = (UNCLOSED if not item.is_base64 else MERGED).search(text)
    if is_merged or any(MERGED.search(item.text(name)) for name in FIELDS - {"response"}):
        raise MessageError(
            "is damaged (an unclosed CDATA section holds the start of another item)",
            "is damaged",
        )
    if not text.strip():
        raise MessageError("the item has no response", "no response")
    if item.is_base64:
        try:
            data = base64.b64decode(text)
        except (binascii.Error, ValueError):
            raise MessageError(
                "the response is declared as base64 and is not", "not base64"
            ) from None
    else:
        data = text.encode()
    return capture.parse_message(data, item.number, url=_url(item), ip=item.ip)


def _url(item: _Item) -> str:
    if url := item.text("url").strip():
        return url
    host, path = item.text("host").strip(), item.text("path").strip()
    return f"{item.text('protocol').strip() or 'http'}://{host}{path}" if host else ""
