"""Bodies as sent → as meant: chunks and Content-Encoding undone, within a limit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from neardup.http.messages import Headers, MessageError, first, values

# Nested codings: two are a mistake, more an attack.
MAX_CODINGS = 4
READ_BYTES = 1 << 16
# Honest servers send kilobytes in each chunk.
MAX_CHUNKS = 1 << 17
CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
CODINGS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate", "br": "br", "zstd": "zstd"}
# Too rare to be worth a dependency.
UNSUPPORTED_CODINGS = frozenset(
    {"compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "bzip2", "xz"}
)
TOO_LONG = "the body is too long"
TRUNCATED = "a truncated body; the part that is there is compared"
BAD_CHUNKS = "invalid chunks; the part that could be read is compared"
BOTH_LENGTHS = "both Transfer-Encoding and Content-Length; the former is used"
BAD_COMPRESSION = "a body with damaged compression; the part that could be decompressed is compared"


class Body(NamedTuple):
    """A decoded body, and remarks worded for notes."""

    data: bytes
    remarks: tuple[str, ...] = ()


class ChunkedBody(NamedTuple):
    """The content of chunks, the byte after them, and whether the last chunk was there."""

    data: bytes
    end: int
    is_whole: bool


def decode_body(headers: Headers, data: bytes, most: int, *, is_framed: bool = True) -> Body:
    """Return the decoded body of a message.

    data       the bytes after the head, up to the end of the message
    most       bytes that it may have once decoded; more raise MessageError
    is_framed  the bytes are those of the connection, so Content-Length tells whether some are
               missing

    Many tools unchunk and decompress what they write, and leave the headers unchanged: a body that
    is not chunked or compressed, though its headers say so, is returned unchanged.
    """
    if not data:
        return Body(b"")
    remarks: tuple[str, ...] = ()
    if is_chunked(headers):
        if first(headers, "content-length"):
            remarks += (BOTH_LENGTHS,)
        if CHUNK_SIZE.match(data):
            found = parse_chunks(data, most)
            if found.data or found.is_whole:
                data = found.data
                if not found.is_whole:
                    remarks += (BAD_CHUNKS,)
    elif is_framed and (size := content_length(headers)) is not None and size > len(data):
        remarks += (TRUNCATED,)
    if coding := first(headers, "content-encoding"):
        data, more = _decompress(coding, headers, data, most)
        remarks += more
    if len(data) > most:
        raise body_too_long(most)
    return Body(data, remarks)


def is_chunked(headers: Headers) -> bool:
    value = first(headers, "transfer-encoding")
    return bool(value) and "chunked" in value.lower()


def content_length(headers: Headers) -> int | None:
    """Return the value of Content-Length, if it is one number."""
    value = first(headers, "content-length")
    return int(value) if value and len(value) < 20 and value.isascii() and value.isdigit() else None


def parse_chunks(data: bytes, most: int, start: int = 0, *, is_kept: bool = True) -> ChunkedBody:
    """Parse the chunks at `start` as far as they are valid.

    is_kept  False if only their end is needed
    """
    parts: list[bytes] = []
    at, size = start, 0
    for _ in range(MAX_CHUNKS):
        head = CHUNK_SIZE.match(data, at)
        if head is None:
            return ChunkedBody(b"".join(parts), at, False)
        count, at = int(head[1], 16), head.end()
        if not count:
            return ChunkedBody(b"".join(parts), _skip_trailers(data, at), True)
        size += min(count, len(data) - at)
        if is_kept:
            parts.append(data[at : at + count])
        if size > most:
            raise body_too_long(most)
        at += count
        if at >= len(data):
            return ChunkedBody(b"".join(parts), len(data), False)
        if data.startswith(b"\r\n", at):
            at += 2
        elif data.startswith(b"\n", at):
            at += 1
    raise MessageError(f"the body has more than {MAX_CHUNKS:,} chunks", "too many chunks")


def _skip_trailers(data: bytes, at: int) -> int:
    """Return the byte after the trailer fields of the last chunk."""
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at:end] if end >= 0 else data[at:]
        if line.strip() and b":" not in line:
            return at  # the next message
        at = len(data) if end < 0 else end + 1
        if not line.strip():
            break
    return at


def _decompress(
    coding: str, headers: Headers, data: bytes, most: int
) -> tuple[bytes, tuple[str, ...]]:
    if "," in coding or len(values(headers, "content-encoding")) > 1:
        coding = ",".join(values(headers, "content-encoding"))
    names = [name for part in coding.split(",") if (name := part.strip().lower()) != "identity"]
    names = [name for name in names if name]
    if len(names) > MAX_CODINGS:
        raise MessageError(
            f"the body has {len(names):,} nested content codings; the limit is {MAX_CODINGS}",
            "too many nested content codings",
        )
    for name in reversed(names):
        if name in UNSUPPORTED_CODINGS:
            return data, (f"a body compressed with {name}, which is not supported",)
        if name not in CODINGS:
            continue  # "utf-8", "none": mistakes that browsers ignore
        before = data
        data, is_whole = _DECOMPRESSORS[CODINGS[name]](data, most)
        if not is_whole:
            # Anything else was decompressed by the tool that captured it.
            return (data, (BAD_COMPRESSION,)) if _is_compressed(name, before) else (before, ())
    return data, ()


def _is_compressed(name: str, data: bytes) -> bool:
    """Return whether bytes look compressed. Deflate and Brotli have no magic number, but bytes
    that no text has."""
    if (magic := {"gzip": GZIP, "zstd": ZSTD}.get(CODINGS[name])) is not None:
        return data.startswith(magic)
    return CONTROL.search(data[:512]) is not None


def _gunzip(data: bytes, most: int) -> tuple[bytes, bool]:
    if not data.startswith(GZIP):
        return b"", False
    parts: list[bytes] = []
    size = 0
    while data.startswith(GZIP):
        found, is_whole, data = _inflate(data, 31, most, size)
        parts.append(found)
        size += len(found)
        if not is_whole:
            return b"".join(parts), False
    return b"".join(parts), True  # padding may follow


def _inflate_either(data: bytes, most: int) -> tuple[bytes, bool]:
    """Inflate zlib data, as the standard says, or else raw deflate, as some servers send it."""
    found, is_whole, _ = _inflate(data, 15, most)
    if found or is_whole:
        return found, is_whole
    found, is_whole, rest = _inflate(data, -15, most)
    # Plain text, inflated, may give some bytes before it fails.
    return (found, is_whole) if is_whole and not rest.strip() else (b"", False)


def _inflate(data: bytes, bits: int, most: int, size: int = 0) -> tuple[bytes, bool, bytes]:
    """Return the inflated bytes, whether the end was reached, and the bytes after it.

    size  bytes inflated before; `most` is the limit of all together
    """
    decompressor = zlib.decompressobj(bits)
    parts: list[bytes] = []
    left = data
    try:
        while not decompressor.eof:
            part = decompressor.decompress(left, max(READ_BYTES, min(4 * len(data), 1 << 20)))
            left = decompressor.unconsumed_tail
            size += len(part)
            if size > most:
                raise body_too_long(most)
            parts.append(part)
            if not part and not left:
                break
    except zlib.error:
        if len(parts) == 0:
            parts = [_salvage(data, bits)]
        return b"".join(parts), False, b""
    return b"".join(parts), decompressor.eof, decompressor.unused_data


def _salvage(data: bytes, bits: int) -> bytes:
    """Return the bytes before the damage: zlib drops the output of a failing call, so pass few."""
    decompressor = zlib.decompressobj(bits)
    parts: list[bytes] = []
    try:
        for at in range(0, len(data), 256):
            parts.append(decompressor.decompress(data[at : at + 256], 1 << 20))
            if decompressor.unconsumed_tail:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _arrow_decompressor(codec: str) -> Callable[[bytes, int], tuple[bytes, bool]]:
    def decompress(data: bytes, most: int) -> tuple[bytes, bool]:
        import pyarrow as pa

        stream = _stream(data, codec)
        parts: list[bytes] = []
        size = 0
        try:
            while part := stream.read(READ_BYTES):
                size += len(part)
                if size > most:
                    raise body_too_long(most)
                parts.append(part)
        except (OSError, pa.ArrowException):
            parts.append(_rest(_stream(data, codec), size))
            return b"".join(parts), False
        return b"".join(parts), True

    return decompress


def _stream(data: bytes, codec: str) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(data), codec)


def _rest(stream: Any, done: int) -> bytes:
    """Return the bytes that a failed read had decompressed: Arrow drops them, so read again."""
    rest = bytearray()
    try:
        while done:
            done -= len(stream.read(min(done, READ_BYTES)))
        while len(rest) < READ_BYTES and (byte := stream.read(1)):
            rest += byte
    except OSError:
        pass
    return bytes(rest)


_DECOMPRESSORS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gunzip,
    "deflate": _inflate_either,
    "br": _arrow_decompressor("brotli"),
    "zstd": _arrow_decompressor("zstd"),
}


def body_too_long(most: int) -> MessageError:
    size = f"{most >> 20} MiB" if most >= 1 << 20 and not most % (1 << 20) else f"{most:,} bytes"
    return MessageError(
        f"the body is longer than {size}; allow more with --max-document",
        TOO_LONG,
    )
