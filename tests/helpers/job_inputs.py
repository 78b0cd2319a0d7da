"""Valid and invalid inputs of jobs, and ways to stop a job."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from helpers import corpora
from neardup import jobs

TEXT = "Harbour Street will be closed to all motor traffic from Monday until Friday"
OTHER = "A letter from the seaside tells of gulls and rain and of a broken umbrella"


def line(**columns: Any) -> bytes:
    return json.dumps(columns, ensure_ascii=False).encode() + b"\n"


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def quarantined(path: Path) -> list[tuple[int | None, str]]:
    return [(row["line"], row["reason"]) for row in corpora.rows(path)]


GOOD = (line(id="a", text=TEXT), line(id="b", text=OTHER), line(id="c", text=TEXT))
JOBS: Sequence[Any] = (jobs.dedup, jobs.pairs, jobs.cluster)


class Stopper:
    """A progress listener that acts when a stage begins, or at its first advance."""

    def __init__(self, stage: str, act: Callable[[], object], *, begun: bool = False) -> None:
        self._wanted, self._act, self._begun = stage, act, begun
        self._stage = ""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        self._stage = name
        if name == self._wanted and not self._begun:
            self._act()

    def advance(self, count: int) -> None:
        if self._begun and self._stage == self._wanted:
            self._begun = False
            self._act()


def interrupt() -> None:
    raise KeyboardInterrupt
