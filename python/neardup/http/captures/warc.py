"""WARC, also compressed record by record: the responses of a crawl.

FastWARC splits the decompressed file into records. After an invalid record, reading continues at
the next line that begins a record. Positions are bytes in the decompressed file.
"""

from __future__ import annotations

import re
import warnings
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from neardup.files.reading.batch import record_too_long
from neardup.files.reading.compression import Break
from neardup.files.reading.encodings import body_charset
from neardup.files.reading.formats import UnreadableDocumentError, import_package
from neardup.files.reading.streams import ByteStream
from neardup.http.captures.reader import Capture, CapturedResponse
from neardup.http.messages import MAX_HEAD_BYTES, MessageError, Response

# The first line of a record.
RECORD_START = re.compile(
    rb"(?:\A|(?<=\n))WARC/[012]\.\d\d?\r?\n|WARC/[012]\.\d\d?\r?\n(?=WARC-|Content-)"
)
MAX_START_BYTES = 20
HEAD_END = re.compile(rb"\r?\n\r?\n")
CONTENT_LENGTH = re.compile(rb"(?i)\ncontent-length:[ \t]*(\d{1,15})[ \t]*\r?\n")
CHUNK_BYTES = 1 << 20
ENDS_INSIDE = "the file ends inside a record"
# Types of records to read; requests, metadata and warcinfo are skipped.
RECORD_TYPES = (
    "response",
    "resource",
    "conversion",
    "revisit",
    "continuation",
    "unknown",
    "no_type",
)


def _find_record(data: bytes, start: int = 0) -> int | None:
    """Return the position of the next line that begins a record."""
    # Ten times faster than a search by the pattern.
    at = data.find(b"WARC/", start)
    while at >= 0:
        if RECORD_START.match(data, at) is not None:
            return at
        at = data.find(b"WARC/", at + 1)
    return None


class _Record(NamedTuple):
    """A record that may be a response. `size` is its Content-Length, `data` its block."""

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
    """A stream for FastWARC over the decompressed file, which can go back to held bytes.

    It holds all bytes since `drop_before`. `read` never raises: it stores an error in `failure`
    and returns b"", as at the end of the file.
    """

    def __init__(self, file: ByteStream) -> None:
        self._file = file
        self._held: deque[tuple[int, bytes]] = deque()  # (position, bytes)
        self._at = 0
        self.failure: BaseException | None = None

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        size = CHUNK_BYTES if size is None or size < 0 else size
        if self._held:
            start, last = self._held[-1]
            if self._at < start + len(last):
                return self._read_held(size)
        if self.failure is not None:
            return b""
        try:
            data = self._file.read(size)
        except BaseException as error:
            # It must not pass through FastWARC; `read_warc` raises it afterwards.
            self.failure = error
            return b""
        if data:
            self._held.append((self._at, data))
            self._at += len(data)
        return data

    def _read_held(self, size: int) -> bytes:
        for start, piece in self._held:
            if self._at < start + len(piece):
                data = piece[self._at - start : self._at - start + size]
                self._at += len(data)
                return data
        return b""

    def drop_before(self, position: int) -> None:
        """Forget the bytes before a position."""
        while self._held and self._held[0][0] + len(self._held[0][1]) <= position:
            self._held.popleft()

    def held_from(self, position: int) -> bytes:
        """Return the held bytes from a position on."""
        data = b"".join(piece for _, piece in self._held)
        return data[max(0, position - self._held[0][0]) :] if self._held else b""

    def seek(self, position: int) -> None:
        """Go back to a position whose bytes are held."""
        self._at = max(position, self._held[0][0]) if self._held else position

    def seek_record(self, position: int) -> int | None:
        """Go to the next line that begins a record; return its position, None if there is none."""
        self.seek(position)
        rest = b""
        base = self._at
        while piece := self.read(CHUNK_BYTES):
            data = rest + piece
            # Byte 0 was searched before; it is here as the line end before a record.
            found = _find_record(data, 0 if base == position else 1)
            if found is not None:
                self.seek(base + found)
                return base + found
            rest = data[-MAX_START_BYTES - 1 :]
            base += len(data) - len(rest)
            self.drop_before(base)
        return None


def _fastwarc() -> Any:
    with warnings.catch_warnings():
        # FastWARC 1.1 warns about its own names when imported.
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_package("fastwarc.warc", "WARC", "http")


def read_warc(capture: Capture) -> Iterator[CapturedResponse]:
    """Yield the responses of a file; `resource` records become responses without a head."""
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
        where = f"stored byte {each.stored:,}: the {capture.file.packing} data"
        capture.refuse(None, f"{where} {_describe(each)}", kind=each.reason)
    records.note_skipped()
    if records.failure is not None:
        raise records.failure


def _describe(each: Break) -> str:
    damage = f"of a record {each.reason}"
    if each.resumed is None:
        return f"{damage}; nothing after it could be read"
    return f"{damage}; reading continued {each.resumed - each.stored:,} bytes later"


def _response(capture: Capture, record: _Record) -> Response:
    if record.is_truncated:
        capture.remark(record.number, "a body that the crawler truncated")
    if record.kind == "response":
        return capture.parse_message(record.data, record.number, url=record.url, ip=record.ip)
    if len(record.data) > capture.max_body:
        raise MessageError(record_too_long(capture.max_body), "too long")
    headers = (("Content-Type", record.content_type),) if record.content_type else ()
    return Response(
        url=record.url,
        headers=headers,
        body=record.data,
        charset=body_charset(record.content_type, record.data),
        ip=record.ip,
        length=len(record.data),
    )


class _Records:
    """Iterates over the records that may be responses; `end` is the end of the last one yielded.

    A record is yielded only after the next record, or the end of the file, was found where it
    should be: this proves that its Content-Length is right.
    """

    def __init__(self, capture: Capture, warc: Any) -> None:
        self._capture = capture
        self._warc = warc
        self._stream = _Stream(capture.file)
        self._max_size = capture.max_body + MAX_HEAD_BYTES
        self._count = 0
        self._revisits = 0
        self._non_http = 0
        self.end = 0

    @property
    def failure(self) -> BaseException | None:
        return self._stream.failure

    def note_skipped(self) -> None:
        """Write notes on the numbers of skipped records."""
        for count, (one, many), what in (
            (
                self._revisits,
                ("revisit record, which repeats", "revisit records, which repeat"),
                " a page without its body",
            ),
            (
                self._non_http,
                ("record of a response that is", "records of responses that are"),
                " not HTTP, such as DNS",
            ),
        ):
            if count:
                skipped = f"{one if count == 1 else many}{what}"
                self._capture.task.note(f"{self._capture.source}: skipped {count:,} {skipped}")

    def __iter__(self) -> Iterator[_Record]:
        start: int | None = 0
        while start is not None:
            start = yield from self._read_run(start)

    def _read_run(self, start: int) -> Generator[_Record, None, int | None]:
        """Yield records while each begins where the last one ends; return the position to continue
        at after invalid bytes, None at the end of the file."""
        kinds = self._warc.WarcRecordType
        # The values of this enum are not hashable.
        wanted = {int(getattr(kinds, name)): name for name in RECORD_TYPES}
        stream, expected, place = self._stream, start, start
        previous: _Record | None = None
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
                return (yield from self._resync(previous, expected))
            except BaseException as error:
                # FastWARC is written in Rust; a panic there loses only one record.
                if type(error).__name__ != "PanicException":
                    raise
                return (yield from self._resync(previous, expected))
            truncated_at = self._truncated_record(place) if found is None else None
            if previous is not None:
                if found is None and len(previous.data) < previous.size:
                    return (yield from self._resync(previous, expected))
                if truncated_at == previous.start:
                    self._capture.refuse(previous.number, ENDS_INSIDE, at=truncated_at)
                    return None
                self.end = stream.tell() if found is None else place
                yield previous
                previous = None
            if found is None:
                if truncated_at is not None:
                    self._capture.refuse(None, ENDS_INSIDE, at=truncated_at)
                return None
            stream.drop_before(place)
            kind = wanted.get(int(found.record_type))
            size = found.content_length
            if size > self._max_size:
                if kind is not None:
                    self._count += 1
                    reason = record_too_long(self._capture.max_body)
                    self._capture.refuse(self._count, reason, at=place, kind="too long")
                return stream.seek_record(place + MAX_START_BYTES)
            if kind is None:
                expected = place + MAX_START_BYTES
                continue
            try:
                previous = self._read(found, kind, place)
            except Exception:
                return (yield from self._resync(None, place + MAX_START_BYTES))
            expected = place + MAX_START_BYTES

    def _truncated_record(self, place: int) -> int | None:
        """Return the start of the record that the file ends inside; None if it ends after one.

        place  the start of the last record that was found
        """
        data = self._stream.held_from(place)
        head = HEAD_END.search(data)
        if head is None:
            return place if data.strip() else None
        length = CONTENT_LENGTH.search(data[: head.end()])
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
            self._non_http += 1
            return None
        self._count += 1
        if kind in ("continuation", "unknown", "no_type"):
            reason = f"a record of type {headers.get('WARC-Type') or 'unknown'}, which is not read"
            if kind == "no_type":
                reason = "a record without WARC-Type, which is not read"
            self._capture.refuse(self._count, reason, at=place)
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

    def _resync(
        self, previous: _Record | None, expected: int
    ) -> Generator[_Record, None, int | None]:
        """Yield or report the record before invalid bytes; return the position to continue at."""
        capture, stream = self._capture, self._stream
        if previous is None:
            next_start = stream.seek_record(expected)
            end = stream.tell() if next_start is None else next_start
            if end > expected + MAX_START_BYTES:
                capture.refuse(None, f"{end - expected:,} bytes are not a WARC record", at=expected)
            return next_start
        nested_at = _find_record(previous.data, 1)
        is_truncated = len(previous.data) < previous.size
        if nested_at is not None:
            capture.refuse(
                previous.number,
                f"its Content-Length of {previous.size:,} is wrong: another record begins inside "
                "it",
                at=previous.start,
                kind="its Content-Length is wrong",
            )
            return stream.seek_record(previous.start + MAX_START_BYTES)
        if is_truncated:
            capture.refuse(
                previous.number,
                f"is truncated: {len(previous.data):,} of {previous.size:,} bytes are there",
                at=previous.start,
                kind="is truncated",
            )
            return None
        next_start = stream.seek_record(previous.start + MAX_START_BYTES)
        self.end = stream.tell() if next_start is None else next_start
        capture.refuse(
            None,
            f"record {previous.number} is not followed by a WARC record; its length may be wrong",
            at=previous.start,
            kind="not followed by a WARC record",
        )
        yield previous
        return next_start
