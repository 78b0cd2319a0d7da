"""Bounded reads of small files: recipes, options, word lists."""

from __future__ import annotations

import os
import stat

MAX_BYTES = 64 << 20


def read_settings(path: str | os.PathLike[str], name: str) -> bytes:
    """Return the bytes of a file; raise ValueError if it is a pipe or device, or over MAX_BYTES.

    name  what the file is for, such as "recipe", for error messages
    """
    with open(path, "rb", opener=_opener) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(
                f"{name} {os.fspath(path)!r} is not a regular file but a pipe or device; save its "
                "output to a file first"
            )
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(
            f"{name} {os.fspath(path)!r} is larger than the limit of {MAX_BYTES >> 20} MiB; "
            "is it the right file?"
        )
    return data


def _opener(path: str, flags: int) -> int:
    # Without O_NONBLOCK, opening a pipe waits until another process writes to it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
