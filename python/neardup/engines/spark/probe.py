"""A first task that only loads neardup: whether workers can do anything at all.

Spark waits for a Python that has begun and never answers, however long. A job may run for days, so
only this task, which has nothing to do, has a limit; the wait for a machine to run it has none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from neardup.engines.spark.errors import SparkFailedError, waited

if TYPE_CHECKING:
    import pyarrow as pa

# Seconds that the task may run: Spark unpacks an environment that was shipped in it.
LIMIT = 180.0
# Seconds after which somebody should know that it waits for a machine.
LONG = 20.0
MEMORY = "spark.executor.pyspark.memory"
# Measured: with 512m Python, NumPy and Arrow cannot be loaded, and with less Python may not even
# say so but try for ever.
LEAST_MEMORY = 640 << 20
UNITS = {"": 1 << 20, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def loaded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: gives back what came, with all loaded that later tasks need."""
    import neardup.near.corpus  # noqa: F401

    yield from batches


def check_memory(spark: Any) -> None:
    """Refuses a limit under which no worker can begin."""
    said = spark.conf.get(MEMORY, None)
    found = re.fullmatch(r"(\d+)([bkmgt]?)b?", str(said or "").strip().lower())
    if found and 0 < int(found[1]) * UNITS[found[2]] < LEAST_MEMORY:
        raise SparkFailedError(
            f"{MEMORY} is {said}, and a worker needs at least 640m to load Python, NumPy and Arrow;"
            " set it higher, or leave it out"
        )


def check_workers(spark: Any, note: Callable[[str], object] | None = None) -> None:
    """Runs the task, beside a JVM of our own."""
    watch = Watch(spark.sparkContext.statusTracker(), note)
    one = spark.range(0, 1, 1, 1)
    waited(lambda: one.mapInArrow(loaded, "id long").collect(), watch)


class Watch:
    """How long the one task of a session runs already, or waits for a machine.

    note  is told once that it waits
    """

    def __init__(self, tracker: Any, note: Callable[[str], object] | None = None) -> None:
        self._tracker = tracker
        self._since: float | None = None
        self._note = note
        self._began = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if not self._runs():
            self._since = None
            if self._note is not None and now - self._began > LONG:
                self._note(
                    f"Spark has had no machine for this job for {LONG:g} seconds, and it waits; "
                    "see that the master has workers, with cores and memory to spare"
                )
                self._note = None
        elif self._since is None:
            self._since = now
        elif now - self._since > LIMIT:
            raise SparkFailedError(
                f"Spark: a worker has begun and has not loaded neardup in {LIMIT:g} seconds; see "
                "that PYSPARK_PYTHON is a Python with neardup, and that workers have memory"
            )

    def _runs(self) -> bool:
        stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)
