"""Bodies as they were sent → as they were meant: not chunked, not packed, within a limit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from neardup.http.messages import Headers, MessageError, first, values

# Codings that a body may have one in another; two are a mistake, more are made to be one.
MOST_CODINGS = 4
STEP = 1 << 16
# Honest servers send kilobytes in each.
MOST_CHUNKS = 1 << 17
SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
NAMES = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate", "br": "br", "zstd": "zstd"}
# Known, and not read: no package for them is worth its weight.
UNREAD = frozenset({"compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "bzip2", "xz"})
TOO_LONG = "its body is too long"
CUT = "a body that is cut short; what is there of it is compared"
CHUNKS = "wrong chunks; what could be read of the body is compared"
BOTH = "both Transfer-Encoding and Content-Length; the former is obeyed"
DAMAGED = "a body whose packing is damaged; what could be unpacked is compared"


class Body(NamedTuple):
    """A body, and what is to be said of it, as notes have it."""

    data: bytes
    remarks: tuple[str, ...] = ()


class Chunks(NamedTuple):
    """What chunks hold, where they end, and whether they end as they should."""

    data: bytes
    end: int
    is_whole: bool


def body_of(headers: Headers, data: bytes, most: int, *, is_framed: bool = True) -> Body:
    """The body that a message has behind its headers.

    data       all that is there of it, and nothing else
    most       bytes that it may have in the end; a MessageError if it has more
    is_framed  the bytes are those of the connection, so that Content-Length can tell that some are
               missing

    Many tools unchunk and unpack what they write, and leave the headers: what is not chunked or
    packed is taken as it is.
    """
    if not data:
        return Body(b"")
    remarks: tuple[str, ...] = ()
    if is_chunked(headers):
        if first(headers, "content-length"):
            remarks += (BOTH,)
        if SIZE.match(data):
            found = unchunked(data, most)
            if found.data or found.is_whole:
                data = found.data
                if not found.is_whole:
                    remarks += (CHUNKS,)
    elif is_framed and (size := content_length(headers)) is not None and size > len(data):
        remarks += (CUT,)
    if coding := first(headers, "content-encoding"):
        data, more = _decoded(coding, headers, data, most)
        remarks += more
    if len(data) > most:
        raise _too_long(most)
    return Body(data, remarks)


def is_chunked(headers: Headers) -> bool:
    value = first(headers, "transfer-encoding")
    return bool(value) and "chunked" in value.lower()


def content_length(headers: Headers) -> int | None:
    """What the header says, if it is one number."""
    value = first(headers, "content-length")
    return int(value) if value and len(value) < 20 and value.isascii() and value.isdigit() else None


def unchunked(data: bytes, most: int, start: int = 0, *, is_kept: bool = True) -> Chunks:
    """What is in the chunks that begin here, as far as they can be read.

    is_kept  False: only where they end is asked for
    """
    parts: list[bytes] = []
    at, size = start, 0
    for _ in range(MOST_CHUNKS):
        head = SIZE.match(data, at)
        if head is None:
            return Chunks(b"".join(parts), at, False)
        count, at = int(head[1], 16), head.end()
        if not count:
            return Chunks(b"".join(parts), _trailers(data, at), True)
        size += min(count, len(data) - at)
        if is_kept:
            parts.append(data[at : at + count])
        if size > most:
            raise _too_long(most)
        at += count
        if at >= len(data):
            return Chunks(b"".join(parts), len(data), False)
        if data.startswith(b"\r\n", at):
            at += 2
        elif data.startswith(b"\n", at):
            at += 1
    raise MessageError(f"its body has more than {MOST_CHUNKS:,} chunks", "too many chunks")


def _trailers(data: bytes, at: int) -> int:
    """The place behind the lines that may follow the last chunk."""
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at:end] if end >= 0 else data[at:]
        if line.strip() and b":" not in line:
            return at  # the next message
        at = len(data) if end < 0 else end + 1
        if not line.strip():
            break
    return at


def _decoded(
    coding: str, headers: Headers, data: bytes, most: int
) -> tuple[bytes, tuple[str, ...]]:
    if "," in coding or len(values(headers, "content-encoding")) > 1:
        coding = ",".join(values(headers, "content-encoding"))
    names = [name for part in coding.split(",") if (name := part.strip().lower()) != "identity"]
    names = [name for name in names if name]
    if len(names) > MOST_CODINGS:
        raise MessageError(
            f"its body is packed {len(names):,} times over; the limit is {MOST_CODINGS}",
            "packed too many times over",
        )
    for name in reversed(names):
        if name in UNREAD:
            return data, (f"a body packed by {name}, which is not read",)
        if name not in NAMES:
            continue  # "utf-8", "none": mistakes that everyone lets pass
        before = data
        data, is_whole = _UNPACKED[NAMES[name]](data, most)
        if not is_whole:
            # What looks otherwise was unpacked by whoever captured it.
            return (data, (DAMAGED,)) if _is_packed(name, before) else (before, ())
    return data, ()


def _is_packed(name: str, data: bytes) -> bool:
    """Whether bytes that could not be unpacked were packed. Two of the codings have no mark, but
    no text looks like what they make."""
    if (mark := {"gzip": GZIP, "zstd": ZSTD}.get(NAMES[name])) is not None:
        return data.startswith(mark)
    return CONTROL.search(data[:512]) is not None


def _gunzipped(data: bytes, most: int) -> tuple[bytes, bool]:
    if not data.startswith(GZIP):
        return b"", False
    parts: list[bytes] = []
    size = 0
    while data.startswith(GZIP):
        found, is_whole, data = _inflated(data, 31, most, size)
        parts.append(found)
        size += len(found)
        if not is_whole:
            return b"".join(parts), False
    return b"".join(parts), True  # what else is behind is padding


def _inflated_either(data: bytes, most: int) -> tuple[bytes, bool]:
    """deflate is zlib by its definition, and what is in it by habit."""
    found, is_whole, _ = _inflated(data, 15, most)
    if found or is_whole:
        return found, is_whole
    found, is_whole, rest = _inflated(data, -15, most)
    # Text read as such may give some bytes before it fails.
    return (found, is_whole) if is_whole and not rest.strip() else (b"", False)


def _inflated(data: bytes, bits: int, most: int, size: int = 0) -> tuple[bytes, bool, bytes]:
    """Return what comes out, whether that is all, and what is behind it.

    size  bytes of the body that came out before; `most` is the limit of all
    """
    unpacking = zlib.decompressobj(bits)
    parts: list[bytes] = []
    left = data
    try:
        while not unpacking.eof:
            part = unpacking.decompress(left, max(STEP, min(4 * len(data), 1 << 20)))
            left = unpacking.unconsumed_tail
            size += len(part)
            if size > most:
                raise _too_long(most)
            parts.append(part)
            if not part and not left:
                break
    except zlib.error:
        if len(parts) == 0:
            parts = [_rescued(data, bits)]
        return b"".join(parts), False, b""
    return b"".join(parts), unpacking.eof, unpacking.unused_data


def _rescued(data: bytes, bits: int) -> bytes:
    """What came out before the damage: zlib drops what one call had made, so calls are small."""
    unpacking = zlib.decompressobj(bits)
    parts: list[bytes] = []
    try:
        for at in range(0, len(data), 256):
            parts.append(unpacking.decompress(data[at : at + 256], 1 << 20))
            if unpacking.unconsumed_tail:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _by_arrow(codec: str) -> Callable[[bytes, int], tuple[bytes, bool]]:
    def unpacked(data: bytes, most: int) -> tuple[bytes, bool]:
        import pyarrow as pa

        stream = _stream(data, codec)
        parts: list[bytes] = []
        size = 0
        try:
            while part := stream.read(STEP):
                size += len(part)
                if size > most:
                    raise _too_long(most)
                parts.append(part)
        except (OSError, pa.ArrowException):
            parts.append(_rest(_stream(data, codec), size))
            return b"".join(parts), False
        return b"".join(parts), True

    return unpacked


def _stream(data: bytes, codec: str) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(data), codec)


def _rest(stream: Any, done: int) -> bytes:
    """What a failed read had unpacked already: Arrow drops it, so it is read once more."""
    rest = bytearray()
    try:
        while done:
            done -= len(stream.read(min(done, STEP)))
        while len(rest) < STEP and (byte := stream.read(1)):
            rest += byte
    except OSError:
        pass
    return bytes(rest)


_UNPACKED: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gunzipped,
    "deflate": _inflated_either,
    "br": _by_arrow("brotli"),
    "zstd": _by_arrow("zstd"),
}


def _too_long(most: int) -> MessageError:
    size = f"{most >> 20} MiB" if most >= 1 << 20 and not most % (1 << 20) else f"{most:,} bytes"
    return MessageError(
        f"its body is longer than {size} once it is unpacked; allow more with --max-document",
        TOO_LONG,
    )
