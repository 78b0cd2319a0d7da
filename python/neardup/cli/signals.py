"""Signals that ask the program to stop: all are answered as Ctrl-C is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
