"""zstd in frames, as WARC is packed: a record each. Behind a damaged one the next is read.

Where a frame ends is told by the sizes of its blocks (RFC 8878, section 3.1), without unpacking.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from neardup.files.reading.gzip_members import BEGIN, BETWEEN, Break

MAGIC = b"\x28\xb5\x2f\xfd"
# Of a frame that holds something else than data; the first byte may have 16 values.
SKIPPABLE = b"\x2a\x4d\x18"
# A block may not be larger, packed or not.
MOST_BLOCK = 128 << 10
PIECE = 1 << 20
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

    def __init__(self, raw: Seekable) -> None:
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
        if not head.startswith(MAGIC):
            self._break("is cut short" if MAGIC.startswith(head) else "is no zstd")
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
            data = self._raw.read(PIECE)
            at = data.find(MAGIC)
            while at >= 0:
                if tries >= MOST_TRIES:
                    return None
                tries += 1
                if self._is_record(start + at):
                    return start + at
                at = data.find(MAGIC, at + 1)
            if len(data) < PIECE:
                return None
            start += len(data) - len(MAGIC) + 1

    def _is_record(self, start: int) -> bool:
        _, stream = _opened(self._raw, start)
        try:
            return bool(stream.read(len(BEGIN)) == BEGIN)
        except OSError as error:
            if error.errno is not None:
                raise
            return False


def _opened(raw: Seekable, start: int) -> tuple[_Frame, Any]:
    import pyarrow as pa

    frame = _Frame(raw, start)
    return frame, pa.CompressedInputStream(pa.PythonFile(frame, "r"), "zstd")
