"""What a file holds and how it is packed, told by its name."""

from __future__ import annotations

from pathlib import PurePosixPath

from neardup.sources.batch import Reading
from neardup.sources.document import STDIN

PACKED = {".gz": "gzip", ".zst": "zstd"}
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".md": "text",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}


def is_url(path: str) -> bool:
    return "://" in path


def packing(path: str) -> str | None:
    """ "gzip", "zstd" or nothing."""
    return None if path == STDIN else PACKED.get(PurePosixPath(path).suffix.lower())


def ending(path: str) -> str:
    """The ending that tells the format, in small letters: .jsonl of a.JSONL.gz."""
    name = PurePosixPath(path)
    return (PurePosixPath(name.stem) if packing(path) else name).suffix.lower()


def is_known(path: str) -> bool:
    """Whether a file found in a folder is one to read."""
    known = ending(path) in ENDINGS
    return known and not (packing(path) and ENDINGS[ending(path)] == "parquet")


def format_of(path: str, reading: Reading) -> str:
    """One of batch.FORMATS. What is not known is text."""
    if reading.format is not None:
        return reading.format
    return "text" if path == STDIN else ENDINGS.get(ending(path), "text")
