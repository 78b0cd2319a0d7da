"""Forms, from their bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from urllib.parse import unquote_to_bytes

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartParser

MOST_FIELDS = 32
MOST_FILES = 2
# Bytes decoded at once.
BLOCK = 64 << 10


def parsed(headers: Headers, body: bytes) -> FormData:
    """The fields of a form; `ValueError` or `MultiPartException` if they cannot be read. Takes
    time: to be called in a thread."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data":
        return asyncio.run(_parts(headers, body))
    return FormData(_fields(body))


async def _parts(headers: Headers, body: bytes) -> FormData:
    async def whole() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    # In all they are no more than the body, which has a limit.
    return await MultiPartParser(
        headers,
        whole(),
        max_files=MOST_FILES,
        max_fields=MOST_FIELDS,
        max_part_size=len(body) + 1,
    ).parse()


def _fields(body: bytes) -> list[tuple[str, str | UploadFile]]:
    pieces = body.split(b"&", MOST_FIELDS)
    if len(pieces) > MOST_FIELDS:
        raise ValueError(f"more than {MOST_FIELDS} fields")
    pairs = [piece.partition(b"=") for piece in pieces if piece]
    return [(_text(name), _text(value)) for name, _, value in pairs]


def _text(coded: bytes) -> str:
    """Decoded by blocks: as a whole it would take eighty times the memory of the body."""
    plain = bytearray()
    start = 0
    while start < len(coded):
        end = start + BLOCK
        # Not between a sign of percent and its digits.
        sign = coded.rfind(b"%", end - 2, end)
        if end < len(coded) and sign > start:
            end = sign
        plain += unquote_to_bytes(coded[start:end].replace(b"+", b" "))
        start = end
    return plain.decode("utf-8", "replace")
