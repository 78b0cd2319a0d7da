"""What a user names (files, folders, patterns) becomes the files to read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence

from neardup.sources.document import STDIN, name_of
from neardup.sources.formats import ENDINGS, PACKED, is_known, is_url


def expand(inputs: Sequence[str]) -> list[str]:
    """Folders and patterns replaced by the files they hold, sorted; each file once.

    Of a folder, files with a known ending are taken, also those of the folders in it; hidden ones
    are left out. "-" and URLs stay as they are.
    """
    return list(dict.fromkeys(path for name in inputs for path in _expanded(name)))


def _expanded(name: str) -> list[str]:
    if name == STDIN or is_url(name):
        return [name]
    if os.path.isdir(name):
        found = sorted(_walk(name))
        if not found:
            known = ", ".join(ENDINGS)
            raise ValueError(
                f"{name_of(name)}: no file to read in this folder; of a folder, files ending in "
                f"{known} are read, also with {' or '.join(PACKED)}; name others themselves"
            )
        return found
    if os.path.exists(name):
        return [name]
    if glob.has_magic(name):
        return _matches(name)
    raise FileNotFoundError(f"{name_of(name)}: no such file")


def _matches(pattern: str) -> list[str]:
    found = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        found += sorted(_walk(path)) if os.path.isdir(path) else [path]
    if not found:
        raise ValueError(f"{name_of(pattern)}: no file matches this pattern")
    return found


def _walk(folder: str) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and is_known(name):
                yield os.path.join(place, name)
