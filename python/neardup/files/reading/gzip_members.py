"""gzip in members, as WARC is packed: a record each. Behind a damaged one the next is read."""

from __future__ import annotations

import zlib
from typing import NamedTuple, Protocol

# Stored bytes taken at a time: what is behind the end of a member is copied for each of them.
PIECE = 1 << 14
MAGIC = b"\x1f\x8b\x08"
HEADER = 10
# How what is in a member begins; elsewhere the same three bytes are chance.
BEGIN = b"WARC/"
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

    def __init__(self, raw: Readable) -> None:
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
        piece = self._raw.read(PIECE)
        self._data += piece
        return bool(piece)

    def _take(self, size: int) -> None:
        """What is at the beginning of the data is done with."""
        self._before = (self._before + self._data[:size])[-PIECE:]
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
        if not self._data.startswith(MAGIC):
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
            at = self._data.find(MAGIC, start)
            if at < 0:
                self._take(max(0, len(self._data) - len(MAGIC) + 1))
                start = 0
                if not self._more():
                    return None
                continue
            while len(self._data) - at < PIECE // 4 and self._more():
                pass
            if _is_record(self._data[at : at + PIECE // 4]):
                self._take(at)
                return self._base
            start = at + 1


def _is_record(data: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(data, len(BEGIN)) == BEGIN
    except zlib.error:
        return False
