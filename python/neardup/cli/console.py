"""What goes to standard error, and how foreign text is shown on a terminal."""

from __future__ import annotations

import sys

from neardup.sources.document import Unreadable

SHOWN_PROBLEMS = 20


def printable(text: str) -> str:
    """Text with control, bidirectional and other invisible characters escaped: one safe line."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def error(message: str) -> None:
    """One line on standard error."""
    print(f"neardup: {printable(' '.join(message.split()))}", file=sys.stderr)


def reason(problem: Exception) -> str:
    """What went wrong, in a user's words: without the number of a system error."""
    if isinstance(problem, OSError) and problem.filename is not None and problem.strerror:
        return f"{problem.filename}: {problem.strerror}"
    return str(problem)


class Problems:
    """Reports the first unreadable places on standard error and counts all of them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, problem: Unreadable) -> None:
        self.count += 1
        if self.count <= SHOWN_PROBLEMS:
            error(str(problem))

    def close(self) -> None:
        """Say how many were not shown."""
        if self.count > SHOWN_PROBLEMS:
            error(f"{self.count - SHOWN_PROBLEMS} more unreadable, {self.count} in all")


class Progress:
    """A running count on standard error, only when that is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._on = not quiet and sys.stderr.isatty() and not sys.stdout.isatty()

    def show(self, documents: int) -> None:
        if self._on:
            print(f"\r{documents:,} documents", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
