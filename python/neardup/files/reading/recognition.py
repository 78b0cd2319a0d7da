"""Which format a file has: as the user says, by its name, or by its first bytes."""

from __future__ import annotations

from collections.abc import Sequence

from neardup.files.reading.batch import Reading
from neardup.files.reading.document import STDIN
from neardup.files.reading.formats import (
    FAMILIES,
    FORMATS,
    capture_by_name,
    format_by_name,
)
from neardup.files.reading.streams import beginning

TEXT = "text"


def format_of(path: str, reading: Reading) -> str:
    """The name of the format. What is not known by its name, nor by how it begins, is text."""
    if reading.format is not None:
        return reading.format
    if reading.viewing is not None:
        return _capture_of(path, reading)
    source = format_by_name(path)
    if source is None:
        found = None
        if not reading.lines:
            found = FAMILIES["document"].detect(beginning(path, reading))
        return found or TEXT
    return source.name if source.sniff is None else source.sniff(beginning(path, reading))


def _capture_of(path: str, reading: Reading) -> str:
    """Which capture a file is. What cannot be looked at twice is told apart when it is read, and
    so is what is none."""
    certain, family = capture_by_name(path), FAMILIES["capture"]
    return certain or family.detect(beginning(path, reading)) or family.fallback or TEXT


def check_options(files: Sequence[str], reading: Reading) -> None:
    """Refuse an option that means nothing to any of the files."""
    for name, option in reading.asked.items():
        if not any(name in FORMATS[_named(path, reading)].options for path in files):
            known = [source.called for source in FORMATS.values() if name in source.options]
            raise ValueError(
                f"{option} is for {', '.join(known)}, and none of the inputs is; leave it out, or "
                "say what they are with --format"
            )


def _named(path: str, reading: Reading) -> str:
    """The format as the name tells it: nothing is opened for this."""
    if reading.format is not None or path == STDIN:
        return reading.format or TEXT
    if reading.viewing is not None:
        return capture_by_name(path) or FAMILIES["capture"].fallback or TEXT
    source = format_by_name(path)
    return TEXT if source is None else source.name
