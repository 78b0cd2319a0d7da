"""Messages and progress on standard error, and text from inputs made safe for a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn, TaskID

    from neardup.files.reading.batch import Reading, Unreadable
    from neardup.jobs.options import CheckOptions, Options


Result = TypeVar("Result")
JobOptions = TypeVar("JobOptions", "Options", "CheckOptions")

MAX_SHOWN_PROBLEMS = 20
MAX_SHOWN_NOTES = 20


def printable(text: str) -> str:
    """Escape control, bidirectional and other invisible characters: one safe line."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def error(message: str) -> None:
    """Print a line to standard error. If that is closed, the work goes on."""
    with suppress(OSError, ValueError):
        print(f"neardup: {printable(' '.join(message.split()))}", file=sys.stderr)


def lines(text: str) -> None:
    """Print text of our own to standard error, unchanged."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr)


def note_differing(
    counts: Mapping[str, int], of_what: str, effect: str, distinguish: Sequence[str]
) -> None:
    """Print how many near-duplicates differ in each aspect, and what --distinguish does to them.

    counts       near-duplicates by aspect
    distinguish  aspects of the question, which need no note
    """
    from neardup.text.differences import ASPECTS, check_distinguish

    known = check_distinguish(distinguish)
    told = [name for name in ASPECTS if counts.get(name) and name not in known]
    if told:
        first, *others = told
        verb = "differs" if counts[first] == 1 else "differ"
        shown = f"{counts[first]:,} of {of_what} {verb} in {first}"
        shown += "".join(f", {counts[name]:,} in {name}" for name in others)
        names = ",".join(name for name in ASPECTS if name in (*known, *told))
        error(f"{shown}; --distinguish {names} {effect}")


def failed(problem: Exception) -> None:
    """Print why a command failed, in a line; NEARDUP_DEBUG=1 adds the traceback."""
    trace()
    error(reason(problem))


def unexpected(problem: Exception) -> None:
    """Print an error that no code expects, in a line that can be reported."""
    trace()
    if isinstance(problem, OSError) and problem.strerror:
        error(reason(problem))
        return
    if isinstance(problem, MemoryError):
        error("out of memory; use smaller inputs or a machine with more memory")
        return
    import platform

    from neardup._core import __version__

    what = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    where = f"neardup {__version__}, Python {platform.python_version()}, {sys.platform}"
    error(
        f"unexpected {what} ({where}). This is a bug in neardup: please report this line. "
        "NEARDUP_DEBUG=1 prints the traceback."
    )


def trace() -> None:
    """Print the traceback of the current error if NEARDUP_DEBUG is set."""
    if os.environ.get("NEARDUP_DEBUG", "0") not in ("", "0"):
        import traceback

        with suppress(OSError, ValueError):
            traceback.print_exc()


def reason(problem: Exception) -> str:
    """Return the message of an error, without the number of a system error."""
    if isinstance(problem, OSError) and problem.strerror:
        if problem.filename is None:
            return problem.strerror
        return f"{problem.filename}: {problem.strerror}"
    return str(problem)


def terminal(*, stderr: bool = False) -> Console:
    """Return rich's console; a closed pipe raises BrokenPipeError as elsewhere."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Terminal(stderr=stderr, highlight=False)


class Problems:
    """Prints unreadable records: each kind of problem once per file, with its count.

    unit  what positions in files are: a line, or for captures the number of a response
    """

    def __init__(self, unit: str = "line") -> None:
        self._unit = unit
        self.count = 0
        self.first: Unreadable | None = None
        self._lines = 0
        self._hidden = 0
        # Of the file being read: kind → first problem, count, and a reason that fits all of them.
        self._file: dict[str, tuple[Unreadable, int, str]] = {}
        self._source: str | None = None

    def __call__(self, problem: Unreadable) -> None:
        self.count += 1
        self.first = self.first or problem
        if problem.source != self._source:
            self._flush()
            self._source = problem.source
        kind = problem.kind or problem.reason
        if kind in self._file:
            first, count, shown = self._file[kind]
            self._file[kind] = (first, count + 1, shown if problem.reason == shown else kind)
        elif self._lines + len(self._file) < MAX_SHOWN_PROBLEMS:
            self._file[kind] = (problem, 1, problem.reason)
        else:
            self._hidden += 1

    def close(self) -> None:
        """Print the last file's problems, and how many were not shown."""
        self._flush()
        if self._hidden:
            error(f"{self._hidden:,} more unreadable, {self.count:,} in all")

    def check_any(self, count: int) -> None:
        """Raise if no document could be read: an empty output would replace a good one."""
        if self.first is not None and not count:
            raise ValueError(f"no record could be read: {self.first}; nothing was written")

    def _flush(self) -> None:
        for first, count, shown in self._file.values():
            if count == 1:
                error(str(first))
            else:
                place = "" if first.line is None else f", first at {self._unit} {first.line}"
                reason = f"{shown} in {count:,} records{place}"
                error(str(first._replace(line=None, reason=reason)))
        self._lines += len(self._file)
        self._file = {}


def problems_of(reading: Reading) -> Problems:
    """Return a printer of problems for such inputs."""
    return Problems("line" if reading.viewing is None else "number")


class Notes:
    """Prints notes and warnings, up to a number.

    before  called before each, such as to remove a progress bar
    """

    def __init__(self, *, quiet: bool, before: Callable[[], object] = lambda: None) -> None:
        self._quiet = quiet
        self._before = before
        self._count = 0

    def __call__(self, message: str, kind: str = "note") -> None:
        self._count += 1
        if not self._quiet and self._count <= MAX_SHOWN_NOTES:
            self._before()
            error(f"{kind}: {message}")

    def warn(self, message: str) -> None:
        self(message, "warning")

    def close(self) -> None:
        """Print how many were not shown."""
        if not self._quiet and self._count > MAX_SHOWN_NOTES:
            error(f"{self._count - MAX_SHOWN_NOTES:,} more notes")


def run_job(
    job: Callable[[JobOptions], Result], options: JobOptions, *, quiet: bool
) -> Result | None:
    """Call a job with options whose callbacks print problems, notes and progress.

    Return None if a record is unreadable and the job is strict; bad options are a usage error.
    """
    import click

    from neardup.jobs import Options, RefusedError, UnreadableError

    problems = problems_of(options.reading)
    shown = not quiet and sys.stderr.isatty()
    with ProgressBar(shown=shown) as progress:
        notes = Notes(quiet=quiet, before=progress.stop)
        # Problems that are not printed are still in the exit code, the summary and the quarantine.
        callbacks: dict[str, Any] = {
            "on_problem": None if quiet else problems,
            "on_note": notes,
            "progress": progress if shown else None,
        }
        if isinstance(options, Options):
            callbacks["on_warning"] = notes.warn
        try:
            result = job(replace(options, **callbacks))
        except RefusedError as refused:
            raise click.BadParameter(str(refused)) from refused
        except UnreadableError as unreadable:
            progress.stop()
            problems.close()
            error(str(unreadable))
            return None
    problems.close()
    notes.close()
    return result


class ProgressBar:
    """A progress bar on standard error for each stage; nothing unless `shown`."""

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
            # Without a total there is no estimate of the time left.
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
    """Return the columns for the count and the rate."""
    from rich.progress import DownloadColumn, ProgressColumn, Task, TransferSpeedColumn
    from rich.text import Text

    class Counted(ProgressColumn):
        def render(self, task: Task) -> Text:
            # Over the whole time: rich's own speed is unknown before the second update.
            rate = task.completed / max(task.elapsed or 0.0, 1e-3)
            if task.total is not None:
                # The time left is shown beside it; the rate too would exceed 80 columns.
                return Text(f"{task.completed:,.0f} of {task.total:,.0f} {unit}")
            return Text(f"{task.completed:,.0f} {unit}, {rate:,.0f}/s" if task.completed else "")

    return (DownloadColumn(), TransferSpeedColumn()) if unit == "bytes" else (Counted(),)
