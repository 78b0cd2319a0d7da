"""By what a job notices that an input has changed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from neardup.jobs import reference

# Nothing for what is no file.
Stamp = tuple[int | None, ...]


def stamp(path: str) -> Stamp:
    """Size, time and number of a file. A URL and a pipe have nothing of the kind."""
    if reference.is_collection(path):
        return reference.stamp(path)
    with suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev
    return (None,)


def size(path: str) -> int | None:
    """The bytes of a file, where they are known before it is read."""
    return None if reference.is_collection(path) else stamp(path)[0]
