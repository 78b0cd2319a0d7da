"""Workers that can never begin end a job with one sentence; a wait for a machine does not."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from neardup.engines.spark import errors, probe
from neardup.engines.spark.errors import SparkFailedError, wait_for


class Settings:
    def __init__(self, memory: str | None) -> None:
        self.conf = self
        self._memory = memory

    def get(self, name: str, default: str | None) -> str | None:
        assert name == "spark.executor.pyspark.memory"
        return default if self._memory is None else self._memory


@pytest.mark.parametrize("memory", ["1m", "1", "512m", "639M", "600mb", "500000k", "1048576b"])
def test_too_little_memory_is_refused(memory: str) -> None:
    expected = f"^spark.executor.pyspark.memory is {memory}, and a worker needs at least 640m to"
    with pytest.raises(SparkFailedError, match=expected):
        probe.check_worker_memory(Settings(memory))


@pytest.mark.parametrize("memory", [None, "", "0", "640m", "640", "1g", "2t", "odd"])
def test_enough_memory_and_no_limit(memory: str | None) -> None:
    probe.check_worker_memory(Settings(memory))


class Tracker:
    """Tells of one stage, which has a task from some moment on."""

    def __init__(self, *, runs: bool) -> None:
        self.runs = runs

    def getActiveStageIds(self) -> list[int]:
        return [0, 1]

    def getStageInfo(self, number: int) -> Any:
        return SimpleNamespace(numActiveTasks=int(self.runs)) if number else None


def test_a_task_that_runs_and_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROBE_TIMEOUT", 0.2)
    monkeypatch.setattr(errors, "POLL_SECONDS", 0.05)
    watch = probe.ProbeTimer(Tracker(runs=True))
    expected = r"^Spark: a worker started but did not load neardup within 0\.2 seconds; check"
    with pytest.raises(SparkFailedError, match=expected):
        wait_for(lambda: time.sleep(3), watch)


def test_the_wait_for_a_machine_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROBE_TIMEOUT", 0.2)
    monkeypatch.setattr(errors, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(probe, "WAIT_NOTE_SECONDS", 0.2)
    told: list[str] = []
    watch = probe.ProbeTimer(Tracker(runs=False), told.append)

    def slow() -> int:
        time.sleep(1)
        return 7

    assert wait_for(slow, watch) == 7
    # Once.
    assert [note[:48] for note in told] == ["Spark has assigned no executor for 0.2 seconds; "]


def test_what_the_task_does() -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1, 2]})
    assert list(probe.load_neardup(iter([batch]))) == [batch]
