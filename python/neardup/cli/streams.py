"""Standard streams that are closed, non-blocking or no longer read; and signals that stop a run.

SIGTERM and SIGHUP are handled like Ctrl-C: KeyboardInterrupt is raised, so that temporary files are
removed on the way out. `held`, `released` and `finishing` defer it around writes that must not be
cut.
"""

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
    """A stream that was closed before the program began: using it raises an error that says so."""

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
    """The same for text, unbuffered: the interpreter has nothing to flush at its end."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.buffer = _Closed(name)

    def write(self, text: str) -> NoReturn:
        self.buffer.write(text)


def prepare() -> None:
    """Make standard streams and signals ready for a command."""
    repair()
    handle_signals()


def repair() -> None:
    """Replace closed standard streams, which Python sets to None; make standard input block."""
    _block_on_input()
    names: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    if None not in names:
        return
    # A file opened later must not get the descriptor of a standard stream.
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed("standard input")))
    if sys.stdout is None:
        sys.stdout = _ClosedText("standard output")
    if sys.stderr is None:
        # Messages have nowhere to go; the exit code remains.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _block_on_input() -> None:
    """Make standard input blocking: another process that shares it may have changed that, and "no
    data yet" would look like the end of the input."""
    if sys.stdin is None:
        return
    # Not a descriptor, or a system without blocking modes.
    with suppress(AttributeError, OSError, ValueError):
        os.set_blocking(sys.stdin.fileno(), True)


def silence() -> None:
    """Point broken streams to nowhere, so that the interpreter does not complain when it exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


# SIGHUP is sent when a terminal is closed; some systems lack it.
STOP_SIGNALS = ("SIGTERM", "SIGHUP")
SIGNAL_BASE = 128


class _LastSignal:
    """The signal that came last, and whether it is deferred."""

    number: int = signal.SIGINT
    held = False
    is_waiting = False
    finishing = False


def handle_signals() -> None:
    """Raise KeyboardInterrupt for stop signals; ignored ones stay ignored, as nohup needs."""
    for number in (signal.SIGINT, *_numbers()):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


@contextmanager
def held() -> Iterator[None]:
    """Defer signals to the end of the block.

    Not by a signal mask: it holds for one thread, and any other may get the signal.
    """
    _LastSignal.held = True
    try:
        yield
    finally:
        _LastSignal.held = False
        _raise_deferred()


@contextmanager
def released() -> Iterator[None]:
    """Inside `held`, handle signals at once: for a call that may block for ever."""
    was, _LastSignal.held = _LastSignal.held, False
    try:
        _raise_deferred()
        yield
    finally:
        _LastSignal.held = was


@contextmanager
def finishing() -> Iterator[None]:
    """Inside `held`, defer the first signal and handle the second at once: for a call that may
    block for ever and should be finished."""
    _LastSignal.finishing = True
    try:
        yield
    finally:
        _LastSignal.finishing = False


def _raise_deferred() -> None:
    if _LastSignal.is_waiting:
        _LastSignal.is_waiting = False
        raise KeyboardInterrupt


def signal_code() -> int:
    """Return the exit code of a stopped program."""
    return SIGNAL_BASE + _LastSignal.number


def signal_name() -> str:
    """Return how the program was stopped, for a message."""
    if _LastSignal.number == signal.SIGINT:
        return "interrupted"
    return f"stopped by {signal.Signals(_LastSignal.number).name}"


def _numbers() -> list[signal.Signals]:
    return [signal.Signals[name] for name in STOP_SIGNALS if hasattr(signal, name)]


def _stop(number: int, frame: FrameType | None) -> None:
    _LastSignal.number = number
    # They often come in pairs, and the second must not stop the cleaning up. Ctrl-C still does.
    for each in _numbers():
        signal.signal(each, signal.SIG_IGN)
    is_second, _LastSignal.is_waiting = _LastSignal.is_waiting, True
    if not _LastSignal.held or (is_second and _LastSignal.finishing):
        _raise_deferred()
