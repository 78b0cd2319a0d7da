"""Signals that ask the program to stop: all are answered as Ctrl-C is."""

from __future__ import annotations

import signal
from types import FrameType

# SIGHUP comes when a terminal is closed; some systems have none.
NAMES = ("SIGTERM", "SIGHUP")


class _Last:
    """The signal that came last."""

    number: int = signal.SIGINT


def listen() -> None:
    """From here on these signals raise KeyboardInterrupt, so that all is tidied up on the way out.

    What was to be ignored stays so: that is how nohup works.
    """
    for number in _numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def code() -> int:
    """The exit code of a stopped program."""
    return 128 + _Last.number


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
    raise KeyboardInterrupt
