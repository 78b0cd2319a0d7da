"""What every source gives (documents) and what it reports (what could not be read)."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

# A longer document is reported, not read: one broken file must not take all the memory.
MAX_BYTES = 256 << 20
STDIN = "-"
JSONL_SUFFIXES = (".jsonl", ".ndjson")
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class Document(NamedTuple):
    """One text and the name its owner knows it by."""

    id: str
    text: str


class Unreadable(NamedTuple):
    """A place in a file that gave no document, and why.

    `kind` is the reason without what differs from place to place, where that is shorter; `hint`
    is a way out.
    """

    source: str
    line: int | None
    reason: str
    kind: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.reason}" + (f"; {self.hint}" if self.hint else "")


Report = Callable[[Unreadable], None]


def name_of(path: str) -> str:
    """How a file is called in ids and messages. A name that is not UTF-8 is escaped.

    A URL loses the user name and password in it: ids and messages go to others.
    """
    if path == STDIN:
        return "stdin"
    if "://" in path:
        path = re.sub(r"^([^:/?#]+://)[^/@]*@", r"\1", path)
    return path.encode("utf-8", "backslashreplace").decode()


@contextmanager
def open_binary(path: str) -> Iterator[BinaryIO]:
    """The file, or standard input for "-", which stays open afterwards."""
    if path == STDIN:
        yield sys.stdin.buffer
        return
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "a folder; pass the files in it", name_of(path))
    with open(path, "rb") as file:
        yield file


def numbered_lines(
    file: BinaryIO, path: str, report: Report, *, option: str
) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, without their ends and a leading byte order mark.

    `option` is what has these lines read from standard input, for a message.
    """
    source = name_of(path)
    number = 0
    while line := file.readline(MAX_BYTES + 1):
        number += 1
        if len(line) > MAX_BYTES and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_BYTES)) and not rest.endswith(b"\n"):
                pass
            report(Unreadable(source, number, line_too_long()))
            continue
        if number == 1:
            if line.startswith(GZIP):
                report(gzipped(path, option))
                return
            line = line.removeprefix(BOM)
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def batches(
    documents: Iterable[Document], *, most: int = 4096, characters: int = 8 << 20
) -> Iterator[list[Document]]:
    """Documents in lists, each closed at `most` documents or `characters` of text."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.text)
        if len(batch) >= most or size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def decode(data: bytes) -> str | UnicodeDecodeError:
    """The text of UTF-8 bytes, or what is wrong with them."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return error


def not_utf8(path: str, line: int, error: UnicodeDecodeError) -> Unreadable:
    """Why bytes are no text, and what may help."""
    data = error.object
    kind = "not UTF-8"
    reason = f"{kind} (byte 0x{data[error.start]:02x} at offset {error.start})"
    if data.startswith(UTF16):
        hint = f"if it is UTF-16: iconv -f UTF-16 -t UTF-8 {_argument(path)}"
    elif b"\0" in data:
        hint = "looks like a binary file"
    else:
        hint = f"if it is GBK: iconv -f GB18030 -t UTF-8 {_argument(path)}"
    return Unreadable(name_of(path), line, reason, kind, hint.strip())


def gzipped(path: str, option: str = "") -> Unreadable:
    """That a file is packed, and how to unpack it."""
    parts = ("zcat", _argument(path), "| neardup fingerprint -", option)
    return Unreadable(
        name_of(path), None, "is gzip", hint=f"pipe it: {' '.join(filter(None, parts))}"
    )


def _argument(path: str) -> str:
    """A file as one writes it in a shell; standard input is left out."""
    return "" if path == STDIN else shlex.quote(name_of(path))


def too_long() -> str:
    """Why a whole file is no document, for a message."""
    return f"longer than {_mebibytes()}; cut it, or read a document a line"


def line_too_long() -> str:
    """Why a line is no document, for a message."""
    return f"the line is longer than {_mebibytes()}"


def record_too_long() -> str:
    """Why a record of several lines is no document, for a message."""
    return f"the record is longer than {_mebibytes()}"


def _mebibytes() -> str:
    return f"{MAX_BYTES >> 20} MiB"
