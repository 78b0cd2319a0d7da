"""What a user names (files, folders, patterns) becomes the files to read."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum, auto

from neardup.files.reading.batch import Reading
from neardup.files.reading.document import STDIN, Note, name_of
from neardup.files.reading.formats import (
    ENDINGS,
    PACKED,
    is_capture,
    is_capture_format,
    is_known,
    is_url,
    whole_ending,
)

# Of what was skipped, so many endings are told by name.
SHOWN = 6


def ignore(message: str) -> None:
    pass


def expand(inputs: Sequence[str], reading: Reading | None = None, note: Note = ignore) -> list[str]:
    """Folders and patterns replaced by the files they hold, sorted; each file once.

    Of a folder, files with a known ending are taken, also those of the folders in it; hidden ones
    are left out, and so are captures of HTTP responses (.warc, .har) where there are texts. To be
    read as text or as captures all are taken, whatever their names. "-" and URLs stay as they are.

    note  is told what was left out
    """
    taken = _Taken.of(reading or Reading())
    found = [path for name in inputs for path in _expanded(name, taken, note)]
    return list(dict.fromkeys(found))


def captures_of(inputs: Sequence[str], reading: Reading) -> tuple[list[str], list[str]]:
    """The files that inputs stand for: those that are captures, certainly, and all others.

    Only folders and patterns are looked into; what is wrong with a name is told by whoever reads.
    """
    if reading.viewing is not None or is_capture_format(reading.format):
        return list(inputs), []
    if reading.format is not None:
        return [], list(inputs)
    files: list[str] = []
    for name in inputs:
        if glob.has_magic(name) or os.path.isdir(name):
            with suppress(OSError, ValueError):
                files += expand([name], reading)
        else:
            files.append(name)
    captures = [name for name in files if is_capture(name)]
    known = set(captures)
    return captures, [name for name in files if name not in known] if captures else files


class _Taken(Enum):
    """Which files of a folder are read."""

    ALL = auto()
    TEXTS = auto()
    KNOWN = auto()  # texts, or captures if there is nothing else

    @classmethod
    def of(cls, reading: Reading) -> _Taken:
        if reading.format == "text" or reading.viewing is not None:
            return cls.ALL
        is_open = reading.format is None or is_capture_format(reading.format)
        return cls.KNOWN if is_open else cls.TEXTS


def _expanded(name: str, taken: _Taken, note: Note) -> list[str]:
    if name == STDIN or is_url(name):
        return [name]
    if os.path.isdir(name):
        found, skipped = _walk(name, taken)
        if not found:
            known = ", ".join(ENDINGS)
            there = f" ({_told(skipped)})" if skipped else ""
            raise ValueError(
                f"{name_of(name)}: no file to read in this folder{there}; of a folder, files "
                f"ending in {known} are read, also with {' or '.join(PACKED)}; --format text "
                "reads all"
            )
        _tell(name, skipped, note)
        return found
    if os.path.exists(name):
        return [name]
    if glob.has_magic(name):
        return _matches(name, taken, note)
    raise FileNotFoundError(f"{name_of(name)}: no such file")


def _matches(pattern: str, taken: _Taken, note: Note) -> list[str]:
    found: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(path):
            inside, skipped = _walk(path, taken)
            # What another part of the pattern names is not left out.
            _tell(path, [] if "**" in pattern else skipped, note)
            found += inside
        else:
            found.append(path)
    if not found:
        raise ValueError(f"{name_of(pattern)}: no file matches this pattern")
    return found


def _walk(folder: str, taken: _Taken) -> tuple[list[str], list[str]]:
    """The files of a folder that are read, sorted, and those that are not."""

    def fail(error: OSError) -> None:
        raise error

    found: list[str] = []
    skipped: list[str] = []
    captures: list[str] = []
    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.startswith("."):
                continue
            if taken is not _Taken.ALL and is_capture(name):
                kind = captures
            else:
                kind = found if taken is _Taken.ALL or is_known(name) else skipped
            kind.append(os.path.join(place, name))
    if found or taken is _Taken.TEXTS:
        return sorted(found), [*skipped, *captures]
    return sorted(captures), skipped


def _tell(folder: str, skipped: Sequence[str], note: Note) -> None:
    if skipped:
        count = f"{len(skipped):,} file{'s' if len(skipped) > 1 else ''}"
        shown = os.path.join(name_of(folder), "")
        ways = []
        if any(not is_capture(path) for path in skipped):
            ways.append("--format text reads them")
        if any(map(is_capture, skipped)):
            ways.append("--as http reads captures")
        note(f"{shown}: skipped {count}: {_told(skipped)}; {', '.join(ways)}")


def _told(skipped: Sequence[str]) -> str:
    """How many files there are of each ending: 6 .html, 1 without ending."""
    counts = Counter(whole_ending(path) for path in skipped)
    order = sorted(counts, key=lambda name: (-counts[name], not name, name))
    shown = [f"{counts[name]:,} {name or 'without ending'}" for name in order]
    if len(shown) > SHOWN:
        shown[SHOWN:] = [f"{len(shown) - SHOWN} other endings"]
    return ", ".join(shown)
