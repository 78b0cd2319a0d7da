"""Files of settings: recipes, options, lists of words. They are small, and they end."""

from __future__ import annotations

import os
import stat

MAX_BYTES = 64 << 20


def read_settings(path: str | os.PathLike[str], name: str) -> bytes:
    """The bytes of a regular file of at most MOST_BYTES; ValueError for anything else.

    A device or a pipe may never end.

    name  what the file is for, in a message
    """
    with open(path, "rb", opener=_opener) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(
                f"{name} {os.fspath(path)!r} is no regular file, which may never end; save what it "
                "gives to one"
            )
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(
            f"{name} {os.fspath(path)!r} has more than {MAX_BYTES >> 20} MiB, which is the limit; "
            "is it the right file?"
        )
    return data


def _opener(path: str, flags: int) -> int:
    # Opening a pipe would wait for someone who writes to it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
