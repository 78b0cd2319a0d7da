"""Bytes that are no text: what is wrong with them, and the option that helps."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache

from neardup.files.reading import encodings
from neardup.files.reading.document import GZIP, STDIN, ZSTD, Unreadable, name_of
from neardup.files.reading.formats import FAMILIES, FORMATS
from neardup.files.reading.streams import ByteStream, beginning

PACKED = ((GZIP, "gzip", ".gz", "zcat"), (ZSTD, "zstd", ".zst", "zstdcat"))
BINARY = "looks like a binary file"
UNKNOWN = "name its encoding with --encoding, such as gb18030 or latin-1"


def not_utf8(path: str, line: int, error: UnicodeDecodeError, encoding: str | None) -> Unreadable:
    """Why bytes are no text.

    encoding  the file was decoded from; None for UTF-8
    """
    if encoding is not None:
        hint = "if the file is in another encoding, name it with --encoding"
        return Unreadable(name_of(path), line, f"not {encoding}", hint=hint)
    kind = "not UTF-8"
    reason = f"{kind} (byte 0x{error.object[error.start]:02x} at offset {error.start})"
    return Unreadable(name_of(path), line, reason, kind, _hint(path, error.object))


def has_nul(path: str, line: int, data: bytes) -> Unreadable:
    """That a text has a NUL in it, which no writing has."""
    return Unreadable(name_of(path), line, "holds a NUL byte", hint=_hint(path, data))


def nul_hint(path: str, data: bytes) -> str:
    """What helps if there is a NUL because the encoding is another one; nothing if not."""
    hint = _hint(path, data) if b"\0" in data else ""
    return "" if hint == BINARY else hint


def packed(file: ByteStream, data: bytes) -> Unreadable | None:
    """That a file begins like a packed one, and what to do."""
    for magic, name, ending, program in PACKED:
        if data.startswith(magic):
            is_stdin = file.path == STDIN
            way = f"pipe it through {program}" if is_stdin else f"let its name end in {ending}"
            return Unreadable(name_of(file.path), None, f"is {name}", hint=way)
    return None


def _hint(path: str, data: bytes) -> str:
    if (kind := FAMILIES["document"].detect(data)) is not None:
        source = FORMATS[kind]
        ending = source.endings[0]
        return f"looks like {source.called}: use --format {kind}, or a name that ends in {ending}"
    stamp = None
    with suppress(OSError):
        found = os.stat(path)
        stamp = found.st_size, found.st_mtime_ns
    # A file tells more than one line of it, unless what is wrong comes late in it.
    guess = _guessed(path, stamp)
    if guess in (None, encodings.UTF8):
        guess = encodings.detect(data)
    if guess not in (None, encodings.UTF8):
        return f"looks like {guess}: use --encoding {guess}"
    return BINARY if b"\0" in data else UNKNOWN


@lru_cache(maxsize=16)
def _guessed(path: str, stamp: object) -> str | None:
    """The likely encoding of a file, looked for once."""
    return encodings.detect(beginning(path))
