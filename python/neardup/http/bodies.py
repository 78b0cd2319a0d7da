"""Decoding of bodies: chunks and Content-Encoding, within a size limit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from neardup.http.messages import Headers, MessageError, header_value, header_values

# Nested content codings: two are a mistake of a server, more an attack.
MAX_CODINGS = 4
READ_BYTES = 1 << 16
# Servers send kilobytes in each chunk; many tiny chunks are an attack.
MAX_CHUNKS = 1 << 17
CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
CONTROL_CHARS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
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
    """The content of chunks, the position after them, and whether the last chunk was found."""

    data: bytes
    end: int
    is_whole: bool


def decode_body(headers: Headers, data: bytes, max_bytes: int, *, is_framed: bool = True) -> Body:
    """Return the decoded body of a message.

    data       the bytes after the head, up to the end of the message
    max_bytes  maximum size of the decoded body; raise MessageError if it is larger
    is_framed  whether these are the bytes as sent: then fewer than Content-Length are truncated

    Many tools decode a body and leave its headers unchanged. So a body that is not chunked or
    compressed, although its headers say so, is returned unchanged.
    """
    if not data:
        return Body(b"")
    remarks: tuple[str, ...] = ()
    if is_chunked(headers):
        if header_value(headers, "content-length"):
            remarks += (BOTH_LENGTHS,)
        if CHUNK_SIZE.match(data):
            found = parse_chunks(data, max_bytes)
            if found.data or found.is_whole:
                data = found.data
                if not found.is_whole:
                    remarks += (BAD_CHUNKS,)
    elif is_framed and (size := content_length(headers)) is not None and size > len(data):
        remarks += (TRUNCATED,)
    if coding := header_value(headers, "content-encoding"):
        data, more = _decompress(coding, headers, data, max_bytes)
        remarks += more
    if len(data) > max_bytes:
        raise body_too_long(max_bytes)
    return Body(data, remarks)


def is_chunked(headers: Headers) -> bool:
    value = header_value(headers, "transfer-encoding")
    return bool(value) and "chunked" in value.lower()


def content_length(headers: Headers) -> int | None:
    """Return the value of Content-Length, if it is one number."""
    value = header_value(headers, "content-length")
    return int(value) if value and len(value) < 20 and value.isascii() and value.isdigit() else None


def parse_chunks(
    data: bytes, max_bytes: int, start: int = 0, *, keep_data: bool = True
) -> ChunkedBody:
    """Parse the chunks at `start` as far as they are valid.

    keep_data  False if only their end is needed
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
        if keep_data:
            parts.append(data[at : at + count])
        if size > max_bytes:
            raise body_too_long(max_bytes)
        at += count
        if at >= len(data):
            return ChunkedBody(b"".join(parts), len(data), False)
        if data.startswith(b"\r\n", at):
            at += 2
        elif data.startswith(b"\n", at):
            at += 1
    raise MessageError(f"the body has more than {MAX_CHUNKS:,} chunks", "too many chunks")


def _skip_trailers(data: bytes, at: int) -> int:
    """Return the position after the trailer fields of the last chunk."""
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
    coding: str, headers: Headers, data: bytes, max_bytes: int
) -> tuple[bytes, tuple[str, ...]]:
    if "," in coding or len(header_values(headers, "content-encoding")) > 1:
        coding = ",".join(header_values(headers, "content-encoding"))
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
        compressed = data
        data, is_whole = _DECOMPRESSORS[CODINGS[name]](data, max_bytes)
        if not is_whole:
            # Bytes that do not look compressed were decompressed by the tool that captured them.
            return (
                (data, (BAD_COMPRESSION,)) if _is_compressed(name, compressed) else (compressed, ())
            )
    return data, ()


def _is_compressed(name: str, data: bytes) -> bool:
    """Return whether bytes look compressed: by magic number, or for deflate and Brotli, which have
    none, by control characters."""
    if (magic := {"gzip": GZIP_MAGIC, "zstd": ZSTD_MAGIC}.get(CODINGS[name])) is not None:
        return data.startswith(magic)
    return CONTROL_CHARS.search(data[:512]) is not None


def _gunzip(data: bytes, max_bytes: int) -> tuple[bytes, bool]:
    if not data.startswith(GZIP_MAGIC):
        return b"", False
    parts: list[bytes] = []
    size = 0
    while data.startswith(GZIP_MAGIC):
        found, is_whole, data = _inflate(data, 31, max_bytes, size)
        parts.append(found)
        size += len(found)
        if not is_whole:
            return b"".join(parts), False
    return b"".join(parts), True  # padding may follow


def _inflate_zlib_or_raw(data: bytes, max_bytes: int) -> tuple[bytes, bool]:
    """Inflate zlib data, the standard, or else raw deflate, which some servers send."""
    found, is_whole, _ = _inflate(data, 15, max_bytes)
    if found or is_whole:
        return found, is_whole
    found, is_whole, rest = _inflate(data, -15, max_bytes)
    # Inflating plain text may return some bytes before it fails.
    return (found, is_whole) if is_whole and not rest.strip() else (b"", False)


def _inflate(data: bytes, bits: int, max_bytes: int, size: int = 0) -> tuple[bytes, bool, bytes]:
    """Return the inflated bytes, whether the end was reached, and the bytes after it.

    size  bytes inflated by earlier calls; they count towards `max_bytes`
    """
    decompressor = zlib.decompressobj(bits)
    parts: list[bytes] = []
    left = data
    try:
        while not decompressor.eof:
            part = decompressor.decompress(left, max(READ_BYTES, min(4 * len(data), 1 << 20)))
            left = decompressor.unconsumed_tail
            size += len(part)
            if size > max_bytes:
                raise body_too_long(max_bytes)
            parts.append(part)
            if not part and not left:
                break
    except zlib.error:
        if len(parts) == 0:
            parts = [_salvage(data, bits)]
        return b"".join(parts), False, b""
    return b"".join(parts), decompressor.eof, decompressor.unused_data


def _salvage(data: bytes, bits: int) -> bytes:
    """Return the bytes before the damage: zlib drops the output of a failing call, so inflate in
    small steps."""
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
    def decompress(data: bytes, max_bytes: int) -> tuple[bytes, bool]:
        import pyarrow as pa

        stream = _stream(data, codec)
        parts: list[bytes] = []
        size = 0
        try:
            while part := stream.read(READ_BYTES):
                size += len(part)
                if size > max_bytes:
                    raise body_too_long(max_bytes)
                parts.append(part)
        except (OSError, pa.ArrowException):
            parts.append(_read_dropped(_stream(data, codec), size))
            return b"".join(parts), False
        return b"".join(parts), True

    return decompress


def _stream(data: bytes, codec: str) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(data), codec)


def _read_dropped(stream: Any, done: int) -> bytes:
    """Return the bytes before the damage that Arrow drops when a read fails: read byte by byte.

    done  number of bytes already read, to skip
    """
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
    "deflate": _inflate_zlib_or_raw,
    "br": _arrow_decompressor("brotli"),
    "zstd": _arrow_decompressor("zstd"),
}


def body_too_long(max_bytes: int) -> MessageError:
    is_mib = max_bytes >= 1 << 20 and not max_bytes % (1 << 20)
    size = f"{max_bytes >> 20} MiB" if is_mib else f"{max_bytes:,} bytes"
    return MessageError(
        f"the body is longer than {size}; raise --max-document",
        TOO_LONG,
    )
