"""How far the work is, on a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from neardup.cli import console

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn, TaskID


class Progress:
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
            console=console.terminal(stderr=True),
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
