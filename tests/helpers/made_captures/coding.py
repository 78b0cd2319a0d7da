"""How bodies are packed on their way."""

from __future__ import annotations

import gzip
from typing import Literal

import pyarrow as pa

Coding = Literal["", "gzip", "br", "chunked"]
# As often as they are met.
CODINGS: tuple[Coding, ...] = ("", "", "gzip", "gzip", "br", "chunked")


def encoded(body: bytes, coding: Coding) -> bytes:
    """As it goes over the wire."""
    if coding == "gzip":
        return gzip.compress(body, mtime=0)
    if coding == "br":
        packed: bytes = pa.Codec("brotli").compress(body, asbytes=True)
        return packed
    if coding == "chunked":
        parts = (body[at : at + 1500] for at in range(0, len(body), 1500))
        return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    return body
