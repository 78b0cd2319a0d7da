"""What goes to standard error, and how foreign text is shown on a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn, TaskID

    from neardup.files.reading.batch import Reading, Unreadable


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
    """One line on standard error. If nobody reads it, the work goes on and the exit code tells."""
    with suppress(OSError, ValueError):
        print(f"neardup: {printable(' '.join(message.split()))}", file=sys.stderr)


def lines(text: str) -> None:
    """Text of our own on standard error, as it is."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr)


def failed(problem: Exception) -> None:
    """Why a command failed, in a line; NEARDUP_DEBUG=1 shows where."""
    trace()
    error(reason(problem))


def unexpected(problem: Exception) -> None:
    """The last resort: what nobody has thought of, in a line that can be handed on."""
    trace()
    if isinstance(problem, OSError) and problem.strerror:
        error(reason(problem))
        return
    if isinstance(problem, MemoryError):
        error("out of memory; give it less at a time, or a machine with more")
        return
    import platform

    from neardup._core import __version__

    what = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    where = f"neardup {__version__}, Python {platform.python_version()}, {sys.platform}"
    error(
        f"unexpected {what} ({where}). This is a mistake in neardup: please report it with this "
        "line. NEARDUP_DEBUG=1 shows where it happened."
    )


def trace() -> None:
    """Where an error was raised, for whoever looks for its cause."""
    if os.environ.get("NEARDUP_DEBUG", "0") not in ("", "0"):
        import traceback

        with suppress(OSError, ValueError):
            traceback.print_exc()


def reason(problem: Exception) -> str:
    """What went wrong, in a user's words: without the number of a system error."""
    if isinstance(problem, OSError) and problem.strerror:
        if problem.filename is None:
            return problem.strerror
        return f"{problem.filename}: {problem.strerror}"
    return str(problem)


def terminal(*, stderr: bool = False) -> Console:
    """Rich's console, but a closed pipe stays an error for the caller to judge."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Terminal(stderr=stderr, highlight=False)


class Problems:
    """Tells on standard error what was unreadable: each kind once a file, with its number.

    unit  what places in files are: a line, or for captures the number of a response
    """

    def __init__(self, unit: str = "line") -> None:
        self._unit = unit
        self.count = 0
        self.first: Unreadable | None = None
        self._lines = 0
        self._hidden = 0
        # Kind → the first of it, how many there are, and what is true of all of them; of the file
        # being read.
        self._file: dict[str, tuple[Unreadable, int, str]] = {}
        self._source: str | None = None

    def __call__(self, problem: Unreadable) -> None:
        self.count += 1
        self.first = self.first or problem
        if problem.source != self._source:
            self._tell()
            self._source = problem.source
        kind = problem.kind or problem.reason
        if kind in self._file:
            first, count, said = self._file[kind]
            self._file[kind] = (first, count + 1, said if problem.reason == said else kind)
        elif self._lines + len(self._file) < SHOWN_PROBLEMS:
            self._file[kind] = (problem, 1, problem.reason)
        else:
            self._hidden += 1

    def close(self) -> None:
        """Tell what is left, and how many were not shown."""
        self._tell()
        if self._hidden:
            error(f"{self._hidden:,} more unreadable, {self.count:,} in all")

    def check_any(self, count: int) -> None:
        """Refuse to go on if so many documents, none, are all there is, because of problems: an
        output without a row would take the place of a good one."""
        if self.first is not None and not count:
            raise ValueError(f"no record could be read: {self.first}; nothing was written")

    def _tell(self) -> None:
        for first, count, said in self._file.values():
            if count == 1:
                error(str(first))
            else:
                place = "" if first.line is None else f", first at {self._unit} {first.line}"
                reason = f"{said} in {count:,} records{place}"
                error(str(first._replace(line=None, reason=reason)))
        self._lines += len(self._file)
        self._file = {}


def problems_of(reading: Reading) -> Problems:
    """Who tells what could not be read of such inputs."""
    return Problems("line" if reading.viewing is None else "number")


# How far the work is, on a terminal.


class ProgressBar:
    """A bar on standard error for each stage, with rate and time left; nothing unless `shown`."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._bar: Bar | None = None
        self._kind: tuple[int | None, str] = (None, "")
        self._task: TaskID

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def stage(self, name: str, total: int | None, unit: str) -> None:
        if self._bar is not None and total is not None and (total, unit) == self._kind:
            self._bar.update(self._task, description=name)
            return
        self.stop()
        self._kind = total, unit
        if not self._shown:
            return
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            *_counts(unit),
            # Where no end is in sight, how long it has taken is what there is to say.
            TimeElapsedColumn() if total is None else TimeRemainingColumn(),
            console=terminal(stderr=True),
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
        )
        self._task = self._bar.add_task(name, total=total)
        self._bar.start()

    def advance(self, count: int) -> None:
        if self._bar is not None:
            self._bar.advance(self._task, count)


def _counts(unit: str) -> tuple[ProgressColumn, ...]:
    """How much is done, and how quickly."""
    from rich.progress import DownloadColumn, ProgressColumn, Task, TransferSpeedColumn
    from rich.text import Text

    class Counted(ProgressColumn):
        def render(self, task: Task) -> Text:
            # Since the beginning: rich's own speed is not known before the second step.
            rate = task.completed / max(task.elapsed or 0.0, 1e-3)
            if task.total is not None:
                # The time left stands beside it: with the rate too, 80 columns are not enough.
                return Text(f"{task.completed:,.0f} of {task.total:,.0f} {unit}")
            return Text(f"{task.completed:,.0f} {unit}, {rate:,.0f}/s" if task.completed else "")

    return (DownloadColumn(), TransferSpeedColumn()) if unit == "bytes" else (Counted(),)
