"""The standard streams where there are none, none that wait, or nobody reads them any more."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any, NoReturn


class _Closed(io.RawIOBase):
    """A stream that was closed before the program began: whoever needs it is told so."""

    def __init__(self, name: str) -> None:
        self._name = name

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> NoReturn:
        raise OSError(errno.EBADF, "is closed", self._name)

    def write(self, data: object) -> NoReturn:
        raise OSError(errno.EBADF, "is closed", self._name)


class _ClosedText(io.TextIOBase):
    """The same for text. Nothing is held back, so that nothing is left to complain at the end."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.buffer = _Closed(name)

    def write(self, text: str) -> NoReturn:
        self.buffer.write(text)


def mend() -> None:
    """Put something in the place of closed streams, which Python leaves empty, and have standard
    input wait for what is still to come."""
    _wait_for_input()
    names: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    if None not in names:
        return
    # A file opened later must not get the number of a standard stream.
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed("standard input")))
    if sys.stdout is None:
        sys.stdout = _ClosedText("standard output")
    if sys.stderr is None:
        # Nobody can be told anything; the exit code is left.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _wait_for_input() -> None:
    """Whoever shares standard input may have set it not to wait: then "nothing yet" would look
    like the end, and the rest be lost silently."""
    if sys.stdin is None:
        return
    # Not a file of the system, or a system that knows no such thing.
    with suppress(AttributeError, OSError, ValueError):
        os.set_blocking(sys.stdin.fileno(), True)


def silence() -> None:
    """Keep the interpreter from complaining at its end about streams that take nothing more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
