"""gzip in members, as WARC is packed: a record each. Behind a damaged one the next is read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

# Stored bytes taken at a time: what is behind the end of a member is copied for each of them.
GZIP_PIECE = 1 << 14
GZIP_MAGIC = b"\x1f\x8b\x08"
HEADER = 10
# So that what comes behind damage begins a line.
BETWEEN = b"\r\n\r\n"


class Readable(Protocol):
    """What members are read from."""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, none at the end."""


class Break(NamedTuple):
    """Damage: where it is in the stored and in the unpacked file, and where reading went on."""

    stored: int
    unpacked: int
    resumed: int | None
    reason: str


class Members:
    """The unpacked bytes of a file.

    What a damaged member gave before the damage is followed by an empty line, then by the next
    member. It is always the same, so that places in it can be looked up again.
    """

    def __init__(self, raw: Readable, record_start: bytes) -> None:
        """record_start  first bytes of each member; elsewhere the magic number is chance"""
        self._record_start = record_start
        self.breaks: list[Break] = []
        self._raw = raw
        self._before = b""  # the piece that was taken before
        self._data = b""
        self._base = 0  # of the data in the file
        self._member = 0  # where the one that is read begins
        self._given = 0
        self._unpacking: zlib._Decompress | None = None
        self._ended = False

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        while not self._ended:
            if not self._data and not self._more():
                if self._unpacking is not None:
                    self._break("is cut short", None)
                self._ended = True
                break
            if self._unpacking is None and not self._begin():
                continue
            if data := self._inflated(size):
                self._given += len(data)
                return data
        return b""

    def _more(self) -> bool:
        piece = self._raw.read(GZIP_PIECE)
        self._data += piece
        return bool(piece)

    def _take(self, size: int) -> None:
        """What is at the beginning of the data is done with."""
        self._before = (self._before + self._data[:size])[-GZIP_PIECE:]
        self._data, self._base = self._data[size:], self._base + size

    def _begin(self) -> bool:
        """A member begins here, behind zeros that some programs write; else it is damage."""
        zeros = len(self._data) - len(self._data.lstrip(b"\0"))
        if zeros:
            self._take(zeros)
            return False
        while len(self._data) < HEADER and self._more():
            pass
        self._member = self._base
        if not self._data.startswith(GZIP_MAGIC):
            self._damaged("is no gzip")
            return False
        self._unpacking = zlib.decompressobj(31)
        return True

    def _inflated(self, size: int) -> bytes:
        unpacking = self._unpacking
        if unpacking is None:
            return b""
        try:
            data = unpacking.decompress(self._data, size)
        except zlib.error as error:
            return self._damaged(f"is damaged ({error})")
        left = unpacking.unused_data if unpacking.eof else unpacking.unconsumed_tail
        self._take(len(self._data) - len(left))
        if unpacking.eof:
            self._unpacking = None
        return data

    def _damaged(self, reason: str) -> bytes:
        """Goes to the next member; what is given between the two."""
        was_inside, self._unpacking = self._unpacking is not None, None
        # Damage may be found later than the next member begins.
        back = min(len(self._before), self._base - self._member)
        self._data = self._before[len(self._before) - back :] + self._data
        self._base -= back
        self._before = b""
        at = self._next(1 if self._base == self._member else 0)
        self._break(reason, at)
        self._ended = at is None
        if was_inside and at is not None:
            self._given += len(BETWEEN)
            return BETWEEN
        return b""

    def _break(self, reason: str, resumed: int | None) -> None:
        self.breaks.append(Break(self._member, self._given, resumed, reason))

    def _next(self, start: int) -> int | None:
        """Drops what is before the next member; where it lies in the file."""
        while True:
            at = self._data.find(GZIP_MAGIC, start)
            if at < 0:
                self._take(max(0, len(self._data) - len(GZIP_MAGIC) + 1))
                start = 0
                if not self._more():
                    return None
                continue
            while len(self._data) - at < GZIP_PIECE // 4 and self._more():
                pass
            if _begins_with(self._record_start, self._data[at : at + GZIP_PIECE // 4]):
                self._take(at)
                return self._base
            start = at + 1


def _begins_with(start: bytes, data: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(data, len(start)) == start
    except zlib.error:
        return False


# zstd in frames, as WARC is packed: a record each. Behind a damaged one the next is read.
#
# Where a frame ends is told by the sizes of its blocks (RFC 8878, section 3.1), without unpacking.

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Of a frame that holds something else than data; the first byte may have 16 values.
SKIPPABLE = b"\x2a\x4d\x18"
# A block may not be larger, packed or not.
MOST_BLOCK = 128 << 10
ZSTD_PIECE = 1 << 20
# Places that look like the beginning of a frame and are none; honest data has next to none.
MOST_TRIES = 1 << 16


class Seekable(Protocol):
    """What frames are read from."""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, none at the end."""

    def seek(self, at: int) -> object:
        """To a place from the beginning."""


class _Frame:
    """The stored bytes of one frame, as Arrow reads them. `end` is as far as they were given."""

    closed = False

    def __init__(self, raw: Seekable, start: int) -> None:
        raw.seek(start)
        self._raw = raw
        self._parts = self._walked()
        self._left = b""
        self.end = start
        self.is_cut = False

    def read(self, size: int = -1) -> bytes:
        """Of one block at a time, however much is asked for: damage in the next is met later."""
        part = self._left or next(self._parts, b"")
        size = len(part) if size < 0 else size
        self._left = part[size:]
        return part[:size]

    def close(self) -> None:
        """The file is its owner's."""

    def _take(self, size: int) -> bytes:
        data = self._raw.read(size)
        self.end += len(data)
        self.is_cut |= len(data) < size
        return data

    def _walked(self) -> Iterator[bytes]:
        head = self._take(5)
        if len(head) < 5:
            yield head
            return
        kind = head[4]
        is_single = kind >> 5 & 1
        size = (1 - is_single) + (0, 1, 2, 4)[kind & 3] + (is_single, 2, 4, 8)[kind >> 6]
        yield head + self._take(size)
        is_last = False
        while not is_last and not self.is_cut:
            block = self._take(3)
            number = int.from_bytes(block, "little")
            is_last, form, size = bool(number & 1), number >> 1 & 3, number >> 3
            if size > MOST_BLOCK or form == 3:
                yield block  # Arrow says what is wrong with it.
                return
            yield block + self._take(1 if form == 1 else size)
        if kind >> 2 & 1:
            yield self._take(4)


class Frames:
    """The unpacked bytes of a file. As `gzip_members.Members`: always the same."""

    def __init__(self, raw: Seekable, record_start: bytes) -> None:
        self._record_start = record_start
        self.breaks: list[Break] = []
        self._raw = raw
        self._start = 0  # of the frame that is read
        self._frame: _Frame | None = None
        self._stream: Any = None
        self._inside = 0  # bytes that the frame gave
        self._given = 0
        self._ended = False

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        while not self._ended:
            if self._frame is None and not self._begin():
                continue
            if data := self._unpacked(size):
                self._inside += len(data)
                self._given += len(data)
                return data
        return b""

    def _begin(self) -> bool:
        """A frame of data begins here; else it is skipped, or damage, or the end."""
        self._raw.seek(self._start)
        head = self._raw.read(8)
        if not head.strip(b"\0"):
            self._ended = True
            return False
        if head[1:4] == SKIPPABLE and head[0] >> 4 == 5 and len(head) == 8:
            self._start += 8 + int.from_bytes(head[4:], "little")
            return False
        if not head.startswith(ZSTD_MAGIC):
            self._break("is cut short" if ZSTD_MAGIC.startswith(head) else "is no zstd")
            return False
        self._open()
        return True

    def _open(self) -> None:
        self._frame, self._stream = _opened(self._raw, self._start)
        self._inside = 0

    def _unpacked(self, size: int) -> bytes:
        frame = self._frame
        if frame is None:
            return b""
        try:
            if data := self._stream.read(size):
                return bytes(data)
        except OSError as error:
            if error.errno is not None:  # of the disk, not of what is on it
                raise
            # Arrow drops what the failed read had unpacked: it is read once more, byte by byte.
            if rest := self._rest(size):
                return rest
            self._damaged("is cut short" if frame.is_cut else f"is damaged ({error})")
            return b"" if self._ended else BETWEEN
        if frame.is_cut:
            self._damaged("is cut short")
            return b""
        self._start, self._frame = frame.end, None
        return b""

    def _rest(self, size: int) -> bytes:
        before = self._inside
        self._open()
        rest = bytearray()
        try:
            while self._inside < before:
                self._inside += len(self._stream.read(before - self._inside))
            while len(rest) < size and (byte := self._stream.read(1)):
                rest += byte
        except OSError as error:
            if error.errno is not None:
                raise
        return bytes(rest)

    def _damaged(self, reason: str) -> None:
        self._frame = None
        self._break(reason)

    def _break(self, reason: str) -> None:
        """Goes to the next frame that begins a record."""
        found = self._next(self._start + 1)
        self.breaks.append(Break(self._start, self._given, found, reason))
        self._ended = found is None
        self._start = self._start if found is None else found

    def _next(self, start: int) -> int | None:
        tries = 0
        while True:
            self._raw.seek(start)
            data = self._raw.read(ZSTD_PIECE)
            at = data.find(ZSTD_MAGIC)
            while at >= 0:
                if tries >= MOST_TRIES:
                    return None
                tries += 1
                if self._is_record(start + at):
                    return start + at
                at = data.find(ZSTD_MAGIC, at + 1)
            if len(data) < ZSTD_PIECE:
                return None
            start += len(data) - len(ZSTD_MAGIC) + 1

    def _is_record(self, start: int) -> bool:
        _, stream = _opened(self._raw, start)
        try:
            return bool(stream.read(len(self._record_start)) == self._record_start)
        except OSError as error:
            if error.errno is not None:
                raise
            return False


def _opened(raw: Seekable, start: int) -> tuple[_Frame, Any]:
    import pyarrow as pa

    frame = _Frame(raw, start)
    return frame, pa.CompressedInputStream(pa.PythonFile(frame, "r"), "zstd")
