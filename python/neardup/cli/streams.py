"""The standard streams where there are none, none that wait, or nobody reads them any more."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
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


# Signals that ask the program to stop: all are answered as Ctrl-C is.

# SIGHUP comes when a terminal is closed; some systems have none.
NAMES = ("SIGTERM", "SIGHUP")
# Exit codes above it tell a signal.
BASE = 128


class _Last:
    """The signal that came last, and whether it has to wait until it is answered."""

    number: int = signal.SIGINT
    held = False
    is_waiting = False
    finishing = False


def listen() -> None:
    """From here on these signals raise KeyboardInterrupt, so that all is tidied up on the way out.

    What was to be ignored stays so: that is how nohup works.
    """
    for number in (signal.SIGINT, *_numbers()):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


@contextmanager
def held() -> Iterator[None]:
    """What is done in here is done whole: a signal is answered at its end.

    Not by a mask, which holds for one thread only, and any other may get the signal.
    """
    _Last.held = True
    try:
        yield
    finally:
        _Last.held = False
        _answer()


@contextmanager
def released() -> Iterator[None]:
    """Inside `held`, what may wait for ever: here signals are answered at once."""
    was, _Last.held = _Last.held, False
    try:
        _answer()
        yield
    finally:
        _Last.held = was


@contextmanager
def finishing() -> Iterator[None]:
    """Inside `held`, what may wait for ever and should still be finished: a signal has to wait,
    the next Ctrl-C has not."""
    _Last.finishing = True
    try:
        yield
    finally:
        _Last.finishing = False


def _answer() -> None:
    if _Last.is_waiting:
        _Last.is_waiting = False
        raise KeyboardInterrupt


def code() -> int:
    """The exit code of a stopped program."""
    return BASE + _Last.number


def name() -> str:
    """What happened, for a message."""
    if _Last.number == signal.SIGINT:
        return "interrupted"
    return f"stopped by {signal.Signals(_Last.number).name}"


def _numbers() -> list[signal.Signals]:
    return [signal.Signals[name] for name in NAMES if hasattr(signal, name)]


def _stop(number: int, frame: FrameType | None) -> None:
    _Last.number = number
    # They often come in pairs, and the second must not stop the tidying up. Ctrl-C still does.
    for each in _numbers():
        signal.signal(each, signal.SIG_IGN)
    is_second, _Last.is_waiting = _Last.is_waiting, True
    if not _Last.held or (is_second and _Last.finishing):
        _answer()
