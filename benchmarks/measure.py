"""Timers, alternating rounds, and the rows of the report."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).parent)


@dataclass(frozen=True)
class Row:
    """One row of the report. A row without a target is informative only."""

    what: str
    neardup: str
    peer: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None

    def markdown(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}×"
        met = "" if self.met is None else "yes" if self.met else "**no**"
        return f"| {self.what} | {self.neardup} | {self.peer} | {ratio} | {self.target} | {met} |"


HEADER = "| what | neardup | peer or ceiling | ratio | target | met |\n|---|---|---|---|---|---|"


def at_least(what: str, neardup: str, peer: str, ratio: float, target: float | None) -> Row:
    """Return a row whose ratio should reach the target."""
    if target is None:
        return Row(what, neardup, peer, ratio)
    return Row(what, neardup, peer, ratio, f"≥ {target:g}×", ratio >= target)


def at_most(
    what: str,
    value: float,
    unit: str,
    limit: float | None,
    *,
    peer: str = "",
    ratio: float | None = None,
    more: str = "",
) -> Row:
    """Return a row whose value should not exceed the limit."""
    measured = f"{value:.3g} {unit}{more}"
    if limit is None:
        return Row(what, measured, peer, ratio)
    short = unit.split(" ", 1)[0]
    return Row(what, measured, peer, ratio, f"≤ {limit:g} {short}", value <= limit)


@dataclass(frozen=True)
class Rounds:
    """Speeds of neardup and of a peer, measured alternately in the same rounds."""

    ours: list[float]
    theirs: list[float]
    left_out: int = 0

    @property
    def ratio(self) -> float:
        """Return the median ratio of a round: whatever slows a round slows both."""
        return statistics.median(a / b for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def best_ratio(self) -> float:
        return max(self.ours) / max(self.theirs)

    def row(self, what: str, peer: str, target: float | None = None) -> Row:
        left_out = f"; without {self.left_out} texts it cannot process" if self.left_out else ""
        return at_least(
            what,
            megabytes(statistics.median(self.ours)),
            f"{peer}: {megabytes(statistics.median(self.theirs))}{left_out}",
            self.ratio,
            target,
        )


def by_turns(rounds: int, ours: Callable[[], float], theirs: Callable[[], float]) -> Rounds:
    """Measure both speeds in every round, after one round of warm-up."""
    pairs = [(ours(), theirs()) for _ in range(rounds + 1)][1:]
    return Rounds([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def seconds(work: Callable[..., object], *arguments: object, **options: object) -> float:
    """Return the wall-clock time of a call."""
    started = time.perf_counter()
    work(*arguments, **options)
    return time.perf_counter() - started


def core_seconds(work: Callable[..., object], *arguments: object, **options: object) -> float:
    """Return the CPU time of a call, all threads: less sensitive to other load than the clock."""
    started = time.process_time()
    work(*arguments, **options)
    return time.process_time() - started


def size(inputs: Sequence[str] | Sequence[list[str]]) -> int:
    """Return the bytes of UTF-8 of texts, or of lists of words."""
    return sum(len(x.encode()) if isinstance(x, str) else size(x) for x in inputs)


def megabytes(speed: float) -> str:
    """Format bytes per second."""
    return f"{speed / 1e6:.3g} MB/s"


def portions(inputs: Sequence[Any], wanted: int, count: int) -> Iterator[list[Any]]:
    """Yield up to `count` disjoint runs of inputs of about `wanted` bytes, at least one.

    Disjoint, so that no cache of a library has seen a run before.
    """
    start = filled = made = 0
    for at, value in enumerate(inputs, 1):
        filled += size([value])
        if filled >= wanted or (at == len(inputs) and not made):
            yield list(inputs[start:at])
            start, filled, made = at, 0, made + 1
            if made == count:
                return


def alone(module: str, task: str, *arguments: str) -> dict[str, Any]:
    """Run a task of a module in a fresh process and return the JSON it prints."""
    note(f"{module} {task}, in a process of its own")
    command = [sys.executable, "-m", module, task, *arguments]
    paths = os.pathsep.join(filter(None, (HERE, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
