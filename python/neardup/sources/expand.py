"""What a user names (files, folders, patterns) becomes the files to read."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence

from neardup.sources.batch import Reading
from neardup.sources.document import STDIN, Note, name_of
from neardup.sources.formats import ENDINGS, PACKED, is_known, is_url, whole_ending

# Of what was skipped, so many endings are told by name.
SHOWN = 6


def ignore(message: str) -> None:
    pass


def expand(inputs: Sequence[str], reading: Reading | None = None, note: Note = ignore) -> list[str]:
    """Folders and patterns replaced by the files they hold, sorted; each file once.

    Of a folder, files with a known ending are taken, also those of the folders in it; hidden ones
    are left out. To be read as text or as captures all are taken, whatever their names. "-" and
    URLs stay as they are.

    note  is told what was left out
    """
    every = reading is not None and (reading.format == "text" or reading.viewing is not None)
    found = [path for name in inputs for path in _expanded(name, every, note)]
    return list(dict.fromkeys(found))


def _expanded(name: str, every: bool, note: Note) -> list[str]:
    if name == STDIN or is_url(name):
        return [name]
    if os.path.isdir(name):
        found, skipped = _walk(name, every)
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
        return _matches(name, every, note)
    raise FileNotFoundError(f"{name_of(name)}: no such file")


def _matches(pattern: str, every: bool, note: Note) -> list[str]:
    found: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(path):
            inside, skipped = _walk(path, every)
            # What another part of the pattern names is not left out.
            _tell(path, [] if "**" in pattern else skipped, note)
            found += inside
        else:
            found.append(path)
    if not found:
        raise ValueError(f"{name_of(pattern)}: no file matches this pattern")
    return found


def _walk(folder: str, every: bool) -> tuple[list[str], list[str]]:
    """The files of a folder that are read, sorted, and those that are not."""

    def fail(error: OSError) -> None:
        raise error

    taken: list[str] = []
    skipped: list[str] = []
    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                (taken if every or is_known(name) else skipped).append(os.path.join(place, name))
    return sorted(taken), skipped


def _tell(folder: str, skipped: Sequence[str], note: Note) -> None:
    if skipped:
        count = f"{len(skipped):,} file{'s' if len(skipped) > 1 else ''}"
        shown = os.path.join(name_of(folder), "")
        note(f"{shown}: skipped {count}: {_told(skipped)}; --format text reads them")


def _told(skipped: Sequence[str]) -> str:
    """How many files there are of each ending: 6 .html, 1 without ending."""
    counts = Counter(whole_ending(path) for path in skipped)
    order = sorted(counts, key=lambda name: (-counts[name], not name, name))
    shown = [f"{counts[name]:,} {name or 'without ending'}" for name in order]
    if len(shown) > SHOWN:
        shown[SHOWN:] = [f"{len(shown) - SHOWN} other endings"]
    return ", ".join(shown)
