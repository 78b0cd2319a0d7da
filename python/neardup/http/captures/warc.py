"""WARC, also packed record by record: the responses of a crawl.

FastWARC splits the unpacked file into records. Where a record is not what it says, reading goes on
at the next line that begins one.
"""

from __future__ import annotations

import re
import warnings
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from neardup.files.documents.prose import UnreadableDocumentError
from neardup.files.reading.compression import Break
from neardup.files.reading.document import record_too_long
from neardup.files.reading.extra import package
from neardup.files.reading.streams import ByteStream
from neardup.http.captures.reader import Capture, CapturedResponse
from neardup.http.encoding import charset_of
from neardup.http.messages import MAX_HEAD_BYTES, MessageError, Response

# The first line of a record, where one begins.
BEGIN = re.compile(
    rb"(?:\A|(?<=\n))WARC/[012]\.\d\d?\r?\n|WARC/[012]\.\d\d?\r?\n(?=WARC-|Content-)"
)
LONGEST_BEGIN = 20
END = re.compile(rb"\r?\n\r?\n")
LENGTH = re.compile(rb"(?i)\ncontent-length:[ \t]*(\d{1,15})[ \t]*\r?\n")
PIECE = 1 << 20
# Kinds of records to look at; requests, metadata and what is said of the crawl are passed over.
WANTED = ("response", "resource", "conversion", "revisit", "continuation", "unknown", "no_type")


def _begin_in(data: bytes, start: int = 0) -> int | None:
    """The place of the next line that begins a record."""
    # Ten times quicker than to search by the pattern.
    at = data.find(b"WARC/", start)
    while at >= 0:
        if BEGIN.match(data, at) is not None:
            return at
        at = data.find(b"WARC/", at + 1)
    return None


INSIDE = "the file ends inside a record"


class _Record(NamedTuple):
    """A record that may be a response: its number, place and block."""

    number: int
    start: int
    kind: str
    url: str
    ip: str
    content_type: str
    is_truncated: bool
    size: int
    data: bytes


class _Stream:
    """The unpacked file as FastWARC reads it. What was given since `keep` can be given again.

    It never fails: what went wrong is in `failure`, and looks like the end.
    """

    def __init__(self, file: ByteStream) -> None:
        self._file = file
        self._held: deque[tuple[int, bytes]] = deque()  # pieces and their places
        self._at = 0
        self.failure: BaseException | None = None

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        size = PIECE if size is None or size < 0 else size
        if self._held:
            start, last = self._held[-1]
            if self._at < start + len(last):
                return self._again(size)
        if self.failure is not None:
            return b""
        try:
            data = self._file.read(size)
        except BaseException as error:
            # In the middle of foreign code; raised again by whoever drives it.
            self.failure = error
            return b""
        if data:
            self._held.append((self._at, data))
            self._at += len(data)
        return data

    def _again(self, size: int) -> bytes:
        for start, piece in self._held:
            if self._at < start + len(piece):
                data = piece[self._at - start : self._at - start + size]
                self._at += len(data)
                return data
        return b""

    def keep(self, position: int) -> None:
        """What is before it is not asked for again."""
        while self._held and self._held[0][0] + len(self._held[0][1]) <= position:
            self._held.popleft()

    def kept(self, position: int) -> bytes:
        """What is kept from there on."""
        data = b"".join(piece for _, piece in self._held)
        return data[max(0, position - self._held[0][0]) :] if self._held else b""

    def go(self, position: int) -> None:
        """Back to a place that is kept."""
        self._at = max(position, self._held[0][0]) if self._held else position

    def next_begin(self, position: int) -> int | None:
        """The place of the next line that begins a record; None if there is none."""
        self.go(position)
        rest = b""
        base = self._at
        while piece := self.read(PIECE):
            data = rest + piece
            # The first byte is only there so that a line end before the next one is seen.
            found = _begin_in(data, 0 if base == position else 1)
            if found is not None:
                self.go(base + found)
                return base + found
            rest = data[-LONGEST_BEGIN - 1 :]
            base += len(data) - len(rest)
            self.keep(base)
        return None


def _fastwarc() -> Any:
    with warnings.catch_warnings():
        # Version 1.1 warns of names of its own when it is loaded.
        warnings.simplefilter("ignore", DeprecationWarning)
        return package("fastwarc.warc", "WARC", "http")


def read_warc(capture: Capture) -> Iterator[CapturedResponse]:
    """The responses of a file, and resources as responses without a head."""
    try:
        warc = _fastwarc()
    except UnreadableDocumentError as why:
        capture.refuse(None, str(why), hint=why.hint)
        return
    records = _Records(capture, warc)
    for record in records:
        try:
            response = _response(capture, record)
        except MessageError as bad:
            capture.refuse(record.number, str(bad), at=record.start, kind=bad.kind)
            continue
        yield CapturedResponse(response, record.number, record.start, records.end)
    for each in capture.file.breaks:
        told = f"stored byte {each.stored:,}: the {capture.file.packing} data {_told(each)}"
        capture.refuse(None, told, kind=each.reason)
    records.tell()
    if records.failure is not None:
        raise records.failure


def _told(each: Break) -> str:
    told = f"of a record {each.reason}"
    if each.resumed is None:
        return f"{told}; nothing could be read behind it"
    return f"{told}; reading went on {each.resumed - each.stored:,} bytes further"


def _response(capture: Capture, record: _Record) -> Response:
    if record.is_truncated:
        capture.remark(record.number, "a body that the crawler cut short")
    if record.kind == "response":
        return capture.parse_message(record.data, record.number, url=record.url, ip=record.ip)
    if len(record.data) > capture.max_body:
        raise MessageError(record_too_long(capture.max_body), "too long")
    headers = (("Content-Type", record.content_type),) if record.content_type else ()
    return Response(
        url=record.url,
        headers=headers,
        body=record.data,
        charset=charset_of(record.content_type, record.data),
        ip=record.ip,
        length=len(record.data),
    )


class _Records:
    """The records of a file that may be responses. `end` is where the one just given ends.

    One is given when the next has begun, or the file has ended, where it should: only then its
    length is known to be right.
    """

    def __init__(self, capture: Capture, warc: Any) -> None:
        self._capture = capture
        self._warc = warc
        self._stream = _Stream(capture.file)
        self._most = capture.max_body + MAX_HEAD_BYTES
        self._count = 0
        self._revisits = 0
        self._foreign = 0
        self.end = 0

    @property
    def failure(self) -> BaseException | None:
        return self._stream.failure

    def tell(self) -> None:
        """What was passed over, and is no loss, but may be looked for."""
        for count, (one, many), what in (
            (
                self._revisits,
                ("revisit record, which repeats", "revisit records, which repeat"),
                " a page without its body",
            ),
            (
                self._foreign,
                ("record of an answer that is", "records of answers that are"),
                " not HTTP, such as DNS",
            ),
        ):
            if count:
                told = f"{one if count == 1 else many}{what}"
                self._capture.task.note(f"{self._capture.source}: passed over {count:,} {told}")

    def __iter__(self) -> Iterator[_Record]:
        start: int | None = 0
        while start is not None:
            start = yield from self._run(start)

    def _run(self, start: int) -> Generator[_Record, None, int | None]:
        """Records from here on, as long as each begins where the last one ends; then the place to
        go on, or None at the end."""
        kinds = self._warc.WarcRecordType
        # Its values are numbers, and cannot be looked up as they are.
        wanted = {int(getattr(kinds, name)): name for name in WANTED}
        stream, expected, place = self._stream, start, start
        before: _Record | None = None
        iterator: Any = None
        while True:
            try:
                if iterator is None:
                    iterator = self._warc.ArchiveIterator(
                        stream,
                        parse_http=False,
                        stream_detect=False,
                        max_header_len=MAX_HEAD_BYTES,
                        fsspec_args=False,
                    )
                found = next(iterator, None)
                if found is not None:
                    place = found.stream_pos
            except Exception:
                return (yield from self._resumed(before, expected))
            except BaseException as error:
                # Rust's own way to give up, which is no reason for us to.
                if type(error).__name__ != "PanicException":
                    raise
                return (yield from self._resumed(before, expected))
            cut = self._cut(place) if found is None else None
            if before is not None:
                if found is None and len(before.data) < before.size:
                    return (yield from self._resumed(before, expected))
                if cut == before.start:
                    self._capture.refuse(before.number, INSIDE, at=cut)
                    return None
                self.end = stream.tell() if found is None else place
                yield before
                before = None
            if found is None:
                if cut is not None:
                    self._capture.refuse(None, INSIDE, at=cut)
                return None
            stream.keep(place)
            kind = wanted.get(int(found.record_type))
            size = found.content_length
            if size > self._most:
                if kind is not None:
                    self._count += 1
                    told = record_too_long(self._capture.max_body)
                    self._capture.refuse(self._count, told, at=place, kind="too long")
                return stream.next_begin(place + LONGEST_BEGIN)
            if kind is None:
                expected = place + LONGEST_BEGIN
                continue
            try:
                before = self._read(found, kind, place)
            except Exception:
                return (yield from self._resumed(None, place + LONGEST_BEGIN))
            expected = place + LONGEST_BEGIN

    def _cut(self, place: int) -> int | None:
        """Where a record begins that the file ends inside, if it does.

        place  where the last one begins that was found
        """
        data = self._stream.kept(place)
        head = END.search(data)
        if head is None:
            return place if data.strip() else None
        length = LENGTH.search(data[: head.end()])
        size = head.end() + (0 if length is None else int(length[1]))
        if len(data) < size:
            return place
        return place + size if data[size:].strip() else None

    def _read(self, found: Any, kind: str, place: int) -> _Record | None:
        headers = found.headers
        content_type = headers.get("Content-Type") or ""
        if kind == "revisit":
            self._revisits += 1
            return None
        if kind == "response" and content_type and "http" not in content_type.lower():
            self._foreign += 1
            return None
        self._count += 1
        if kind in ("continuation", "unknown", "no_type"):
            told = f"a record of type {headers.get('WARC-Type') or 'unknown'}, which is not read"
            if kind == "no_type":
                told = "a record without WARC-Type, which is not read"
            self._capture.refuse(self._count, told, at=place)
            return None
        return _Record(
            self._count,
            place,
            kind,
            (headers.get("WARC-Target-URI") or "").strip("<> "),
            headers.get("WARC-IP-Address") or "",
            content_type,
            bool(headers.get("WARC-Truncated")),
            found.content_length,
            found.reader.read(),
        )

    def _resumed(
        self, before: _Record | None, expected: int
    ) -> Generator[_Record, None, int | None]:
        """Gives or reports the record before a place where none begins, and says where to go on."""
        capture, stream = self._capture, self._stream
        if before is None:
            after = stream.next_begin(expected)
            end = stream.tell() if after is None else after
            if end > expected + LONGEST_BEGIN:
                capture.refuse(None, f"{end - expected:,} bytes are no WARC record", at=expected)
            return after
        inner = _begin_in(before.data, 1)
        is_cut = len(before.data) < before.size
        if inner is not None:
            capture.refuse(
                before.number,
                f"its Content-Length of {before.size:,} is wrong: another record begins inside it",
                at=before.start,
                kind="its Content-Length is wrong",
            )
            return stream.next_begin(before.start + LONGEST_BEGIN)
        if is_cut:
            capture.refuse(
                before.number,
                f"is cut short: {len(before.data):,} of {before.size:,} bytes are there",
                at=before.start,
                kind="is cut short",
            )
            return None
        after = stream.next_begin(before.start + LONGEST_BEGIN)
        self.end = stream.tell() if after is None else after
        capture.refuse(
            None,
            f"what follows record {before.number} is no WARC record; its length may be wrong",
            at=before.start,
            kind="no WARC record",
        )
        yield before
        return after
