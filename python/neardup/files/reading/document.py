"""What every source gives (documents) and what it reports (what could not be read)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

# A longer document is reported, not read, unless more is asked for: one broken file must not take
# all the memory.
MAX_BYTES = 256 << 20
STDIN = "-"
BOM = b"\xef\xbb\xbf"
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
# Is told, in a sentence, of what was read in another way than one may expect.
Note = Callable[[str], object]


def name_of(path: str) -> str:
    """How a file is called in ids and messages. A name that is not UTF-8 is escaped.

    A URL loses the user name and password in it: ids and messages go to others.
    """
    if path == STDIN:
        return "stdin"
    if "://" in path:
        path = re.sub(r"^([^:/?#]+://)[^/@]*@", r"\1", path)
    return path.encode("utf-8", "backslashreplace").decode()


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


def too_long(most: int) -> str:
    """Why a whole file is no document, for a message."""
    return f"longer than {size_of(most)}; cut it, read a document a line (--lines), or {_more()}"


def line_too_long(most: int) -> str:
    """Why a line is no document, for a message."""
    return f"the line is longer than {size_of(most)}; {_more()}"


def record_too_long(most: int) -> str:
    """Why a record of several lines is no document, for a message."""
    return f"the record is longer than {size_of(most)}; {_more()}"


def text_too_long(most: int) -> str:
    """Why the text in a document of another format is none, for a message."""
    return f"its text is longer than {size_of(most)}; {_more()}"


def file_too_long(most: int) -> str:
    """Why a file that has to be read as a whole is not, for a message."""
    return f"the file is longer than {size_of(most)}; {_more()}"


def _more() -> str:
    return "allow more with --max-document"


def size_of(count: int) -> str:
    """A number of bytes for a person, never rounded: 256 MiB, 1,000 bytes."""
    for shift, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count and not count % (1 << shift):
            return f"{count >> shift:,} {unit}"
    return f"{count:,} bytes"
