"""gzip members and zstd frames, one per record as in WARC; after a damaged one, reading continues.

Other compressed files are read by Arrow (`streams`), which is faster but stops at damage.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

# Small, since the bytes after the end of a member are copied for each member.
GZIP_CHUNK_BYTES = 1 << 14
GZIP_MAGIC = b"\x1f\x8b\x08"
GZIP_HEADER_BYTES = 10
# Inserted after damage, so that the next record begins a line.
RECORD_GAP = b"\r\n\r\n"


class Readable(Protocol):
    """A file to read members from."""

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes; none at the end."""


class Break(NamedTuple):
    """Damage: its offset in the stored and in the unpacked file, and the offset where reading
    continued."""

    stored: int
    unpacked: int
    resumed: int | None
    reason: str


class Members:
    """The unpacked bytes of a gzip file.

    The bytes of a damaged member before the damage are followed by an empty line and the next
    member. This is deterministic, so that offsets stay valid when the file is read again.
    """

    def __init__(self, raw: Readable, record_start: bytes) -> None:
        """record_start  first bytes of each unpacked member; a magic number elsewhere is chance"""
        self._record_start = record_start
        self.breaks: list[Break] = []
        self._raw = raw
        self._before = b""  # the chunk before `_data`
        self._data = b""
        self._base = 0  # offset of `_data` in the file
        self._member = 0  # offset of the current member
        self._given = 0
        self._unpacking: zlib._Decompress | None = None
        self._ended = False

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes; none at the end."""
        while not self._ended:
            if not self._data and not self._more():
                if self._unpacking is not None:
                    self._break("is truncated", None)
                self._ended = True
                break
            if self._unpacking is None and not self._begin():
                continue
            if data := self._inflated(size):
                self._given += len(data)
                return data
        return b""

    def _more(self) -> bool:
        piece = self._raw.read(GZIP_CHUNK_BYTES)
        self._data += piece
        return bool(piece)

    def _take(self, size: int) -> None:
        """Consume bytes from the start of `_data`."""
        self._before = (self._before + self._data[:size])[-GZIP_CHUNK_BYTES:]
        self._data, self._base = self._data[size:], self._base + size

    def _begin(self) -> bool:
        """Start a member here, after the padding zeros that some programs write; else handle
        damage."""
        zeros = len(self._data) - len(self._data.lstrip(b"\0"))
        if zeros:
            self._take(zeros)
            return False
        while len(self._data) < GZIP_HEADER_BYTES and self._more():
            pass
        self._member = self._base
        if not self._data.startswith(GZIP_MAGIC):
            self._damaged("is not gzip")
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
        """Go to the next member; return the bytes to insert before it."""
        was_inside, self._unpacking = self._unpacking is not None, None
        # Damage may be noticed only after the next member has begun.
        back = min(len(self._before), self._base - self._member)
        self._data = self._before[len(self._before) - back :] + self._data
        self._base -= back
        self._before = b""
        at = self._next(1 if self._base == self._member else 0)
        self._break(reason, at)
        self._ended = at is None
        if was_inside and at is not None:
            self._given += len(RECORD_GAP)
            return RECORD_GAP
        return b""

    def _break(self, reason: str, resumed: int | None) -> None:
        self.breaks.append(Break(self._member, self._given, resumed, reason))

    def _next(self, start: int) -> int | None:
        """Drop the data before the next member; return its offset, or None."""
        while True:
            at = self._data.find(GZIP_MAGIC, start)
            if at < 0:
                self._take(max(0, len(self._data) - len(GZIP_MAGIC) + 1))
                start = 0
                if not self._more():
                    return None
                continue
            while len(self._data) - at < GZIP_CHUNK_BYTES // 4 and self._more():
                pass
            if _begins_with(self._record_start, self._data[at : at + GZIP_CHUNK_BYTES // 4]):
                self._take(at)
                return self._base
            start = at + 1


def _begins_with(start: bytes, data: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(data, len(start)) == start
    except zlib.error:
        return False


# ---- zstd ----
#
# The sizes of its blocks tell where a frame ends (RFC 8878, section 3.1), without unpacking.

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Magic number of a skippable frame, without its first byte, which has 16 values.
SKIPPABLE = b"\x2a\x4d\x18"
# Most bytes of a block, compressed or not (RFC 8878).
MAX_BLOCK_BYTES = 128 << 10
ZSTD_CHUNK_BYTES = 1 << 20
# Positions with a magic number that are not a record; valid files have hardly any.
MAX_FALSE_MAGIC = 1 << 16


class Seekable(Protocol):
    """A file to read frames from."""

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes; none at the end."""

    def seek(self, at: int) -> object:
        """Go to an offset from the beginning."""


class _Frame:
    """The stored bytes of one frame, as Arrow reads them. `end` is the offset after the last byte
    read."""

    closed = False

    def __init__(self, raw: Seekable, start: int) -> None:
        raw.seek(start)
        self._raw = raw
        self._parts = self._walked()
        self._left = b""
        self.end = start
        self.is_cut = False

    def read(self, size: int = -1) -> bytes:
        """Return bytes of one block at most, so that damage in the next block is met later."""
        part = self._left or next(self._parts, b"")
        size = len(part) if size < 0 else size
        self._left = part[size:]
        return part[:size]

    def close(self) -> None:
        """Do nothing: the file belongs to the caller."""

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
            if size > MAX_BLOCK_BYTES or form == 3:
                yield block  # Arrow reports the error.
                return
            yield block + self._take(1 if form == 1 else size)
        if kind >> 2 & 1:
            yield self._take(4)


class Frames:
    """The unpacked bytes of a zstd file; deterministic, as `Members`."""

    def __init__(self, raw: Seekable, record_start: bytes) -> None:
        self._record_start = record_start
        self.breaks: list[Break] = []
        self._raw = raw
        self._start = 0  # offset of the current frame
        self._frame: _Frame | None = None
        self._stream: Any = None
        self._inside = 0  # bytes unpacked from the frame
        self._given = 0
        self._ended = False

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes; none at the end."""
        while not self._ended:
            if self._frame is None and not self._begin():
                continue
            if data := self._unpacked(size):
                self._inside += len(data)
                self._given += len(data)
                return data
        return b""

    def _begin(self) -> bool:
        """Open the frame of data that begins here; else skip it, or handle damage or the end."""
        self._raw.seek(self._start)
        head = self._raw.read(8)
        if not head.strip(b"\0"):
            self._ended = True
            return False
        if head[1:4] == SKIPPABLE and head[0] >> 4 == 5 and len(head) == 8:
            self._start += 8 + int.from_bytes(head[4:], "little")
            return False
        if not head.startswith(ZSTD_MAGIC):
            self._break("is truncated" if ZSTD_MAGIC.startswith(head) else "is not zstd")
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
            if error.errno is not None:  # an I/O error, not damaged data
                raise
            # Arrow drops what the failed read had unpacked: read it again byte by byte.
            if rest := self._rest(size):
                return rest
            self._damaged("is truncated" if frame.is_cut else f"is damaged ({error})")
            return b"" if self._ended else RECORD_GAP
        if frame.is_cut:
            self._damaged("is truncated")
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
        """Go to the next frame that begins a record."""
        found = self._next(self._start + 1)
        self.breaks.append(Break(self._start, self._given, found, reason))
        self._ended = found is None
        self._start = self._start if found is None else found

    def _next(self, start: int) -> int | None:
        tries = 0
        while True:
            self._raw.seek(start)
            data = self._raw.read(ZSTD_CHUNK_BYTES)
            at = data.find(ZSTD_MAGIC)
            while at >= 0:
                if tries >= MAX_FALSE_MAGIC:
                    return None
                tries += 1
                if self._is_record(start + at):
                    return start + at
                at = data.find(ZSTD_MAGIC, at + 1)
            if len(data) < ZSTD_CHUNK_BYTES:
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
