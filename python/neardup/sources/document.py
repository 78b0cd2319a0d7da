"""What every source gives (documents) and what it reports (what could not be read)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

# A longer document is reported, not read: one broken file must not take all the memory.
MAX_BYTES = 256 << 20
STDIN = "-"
BOM = b"\xef\xbb\xbf"


class Document(NamedTuple):
    """One text and the name its owner knows it by."""

    id: str
    text: str


class Unreadable(NamedTuple):
    """A place in a file that gave no document, and why."""

    source: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.reason}"


Report = Callable[[Unreadable], None]


def name_of(path: str) -> str:
    """How a file is called in ids and messages. A name that is not UTF-8 is escaped."""
    if path == STDIN:
        return "stdin"
    return path.encode("utf-8", "backslashreplace").decode()


@contextmanager
def open_binary(path: str) -> Iterator[BinaryIO]:
    """The file, or standard input for "-", which stays open afterwards."""
    if path == STDIN:
        yield sys.stdin.buffer
        return
    if os.path.isdir(path):
        raise IsADirectoryError(f"{name_of(path)}: a folder; pass the files in it")
    with open(path, "rb") as file:
        yield file


def numbered_lines(file: BinaryIO, source: str, report: Report) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, without their ends and a leading byte order mark."""
    number = 0
    while line := file.readline(MAX_BYTES + 1):
        number += 1
        if len(line) > MAX_BYTES and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_BYTES)) and not rest.endswith(b"\n"):
                pass
            report(Unreadable(source, number, f"the line is longer than {_mebibytes()}"))
            continue
        if number == 1:
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


def not_utf8(error: UnicodeDecodeError) -> str:
    """Why bytes are no text, for a message."""
    return f"not UTF-8 (byte 0x{error.object[error.start]:02x} at offset {error.start})"


def too_long() -> str:
    """Why a whole file is no document, for a message."""
    return f"longer than {_mebibytes()}; cut it, or read a document a line"


def _mebibytes() -> str:
    return f"{MAX_BYTES >> 20} MiB"
