"""The formats there are, each registered by its own file, and what a name tells of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from neardup.files.reading.document import STDIN

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Task

PACKED = {".gz": "gzip", ".zst": "zstd"}
DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Format:
    """A format: how its files are known, and who reads them.

    name      as --format takes it
    called    as messages call its files
    endings   of file names, in small letters, the usual one first
    read      its documents in batches. What cannot be read goes to `Task.report`, and reading goes
              on; an OSError ends it, and is reported by whoever called
    keeps     how `dedup` writes the records that are kept: "lines" and "table" copy the spans of
              the batches byte for byte, a table with its header; "rows" are those of Parquet;
              "json" are spans of JSON; "texts" are written as a table of ids and texts, for
              formats whose records lie in no span that could be copied
    packable  whether such a file may be inside gzip or zstd
    options   the fields of Reading that mean something to it, of those that do not to all
    sniff     of the first bytes of a file of such an ending: the name of the format it really has
    unit      what `Batch.lines` counts, as messages call it
    written   endings of files that kept records go to, if it has none of its own
    """

    name: str
    called: str
    endings: tuple[str, ...]
    read: Callable[[Task], Iterator[Batch]]
    keeps: Literal["lines", "table", "rows", "json", "texts"]
    packable: bool = True
    options: frozenset[str] = frozenset()
    sniff: Callable[[bytes], str] | None = None
    unit: str = "line"
    written: tuple[str, ...] = ()


# By name, and by ending.
SOURCES: dict[str, Format] = {}
ENDINGS: dict[str, str] = {}


def register(source: Format) -> None:
    """Makes a format known. Called once by the file of each."""
    SOURCES[source.name] = source
    for each in source.endings:
        ENDINGS[each] = source.name


def content_of(data: bytes) -> str | None:
    """The kind of document that the first bytes of a file tell, if it is one that they tell."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if not data.startswith(b"PK\x03\x04"):
        return None
    # The first part of some is their kind, not packed.
    if b"application/epub+zip" in data[:256]:
        return "epub"
    if b"application/vnd.oasis.opendocument.text" in data[:256]:
        return "odt"
    return "docx" if b"word/document" in data else None


def is_url(path: str) -> bool:
    return "://" in path


def packing(path: str) -> str | None:
    """ "gzip", "zstd" or nothing."""
    return None if path == STDIN else PACKED.get(PurePosixPath(path).suffix.lower())


def ending(path: str) -> str:
    """The ending that tells the format, in small letters: .jsonl of a.JSONL.gz."""
    name = PurePosixPath(path)
    return (PurePosixPath(name.stem) if packing(path) else name).suffix.lower()


def whole_ending(path: str) -> str:
    """The same with that of the packing: .jsonl.gz."""
    return ending(path) + (PurePosixPath(path).suffix.lower() if packing(path) else "")


def source_of(path: str) -> Format | None:
    """The format that the name of a file tells, if it does."""
    name = None if path == STDIN else ENDINGS.get(ending(path))
    return None if name is None else SOURCES[name]


def is_known(path: str) -> bool:
    """Whether a file found in a folder is one to read."""
    source = source_of(path)
    return source is not None and (source.packable or not packing(path))
