"""Standard output as a file: "-", or "-.csv" and the like where the form is not that of "-"."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

# Bytes copied at a time.
PIECE = 1 << 20


def is_stdout(path: Path) -> bool:
    """Whether a name means standard output; a file of this name is called by its whole path."""
    return path.parent == Path() and path.name.partition(".")[0] == "-"


def in_full(path: Path, ending: str) -> Path:
    """The name with the ending that tells the form, where "-" alone has none."""
    return Path(f"-{ending}") if path == Path("-") else path


def shown(path: Path) -> str | None:
    """How standard output is called in messages; None for a file."""
    return "standard output" if is_stdout(path) else None


class Printed:
    """What is printed when it is complete: until then it is in a temporary file without a name.

    Half a table on standard output looks like a whole one to whoever reads it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = tempfile.TemporaryFile(prefix="neardup-")  # noqa: SIM115
        self._placed = False

    def place(self, *, undoable: bool = False) -> None:
        """Prints it; that cannot be undone."""
        self.file.seek(0)
        try:
            sys.stdout.flush()
            while data := self.file.read(PIECE):
                self._placed = True
                sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, shown(self.path)) from error

    def undo(self) -> bool:
        """Whether nothing was printed."""
        return not self._placed

    def close(self) -> None:
        self.file.close()
