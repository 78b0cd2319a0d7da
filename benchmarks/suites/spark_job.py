"""Run one dedup on Spark and measure it.

    python benchmarks/suites/spark_job.py MASTER job|frames IN OUT

`job` reads and writes JSON lines; `frames` reads Parquet and writes kept and removed rows as
Parquet. Prints {"seconds", "core_seconds", "peak", "shuffled", "kept"} as JSON. Memory and CPU time
cover this process and its descendants, the JVM and its workers; start-up of Spark is excluded.
`shuffled` is the bytes that Spark reports as written for shuffles, null if it reports none.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")
EVERY = 0.2


class Watched:
    """Samples memory and CPU time of this process and its descendants."""

    def __init__(self) -> None:
        self.peak = 0
        self._used: dict[int, float] = {}
        self._before: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._look()
        self._before, self.peak = dict(self._used), 0
        self._thread.start()

    def stop(self) -> float:
        """Stop sampling and return the CPU seconds since `start`."""
        self._ended.set()
        self._thread.join()
        self._look()
        return sum(used - self._before.get(pid, 0.0) for pid, used in self._used.items())

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            self._look()

    def _look(self) -> None:
        parents: dict[int, int] = {}
        fields: dict[int, list[str]] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    text = Path("/proc", name, "stat").read_text(errors="replace")
                except OSError:
                    continue
                fields[int(name)] = text.rpartition(")")[2].split()
                parents[int(name)] = int(fields[int(name)][1])
        memory = 0
        for pid, found in fields.items():
            above = pid
            while above not in (0, 1, os.getpid()):
                above = parents.get(above, 0)
            if above == os.getpid():
                self._used[pid] = (int(found[11]) + int(found[12])) / TICK
                memory += int(found[21]) * PAGE
        self.peak = max(self.peak, memory)


def shuffled(spark: Any) -> int | None:
    """Return the bytes written for shuffles by all stages."""
    if not hasattr(spark, "_jsc"):
        return None
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urlopen(url) as answer:  # noqa: S310
        return sum(int(stage["shuffleWriteBytes"]) for stage in json.load(answer))


def job(spark: Any, path: str, out: str) -> int:
    """Dedup by a job, which uses the active session; return the number of kept records."""
    from neardup import jobs

    return jobs.dedup([path], out, jobs.Options(engine="spark")).kept or 0


def frames(spark: Any, path: str, out: str) -> int:
    """Dedup by DataFrames; return the number of kept records."""
    from neardup.engines.spark import dedup

    found = dedup(spark.read.parquet(path), order_by="line")
    found.kept.write.parquet(f"{out}/kept")
    found.removed.write.parquet(f"{out}/removed")
    return int(spark.read.parquet(f"{out}/kept").count())


def main() -> None:
    master, what, path, out = sys.argv[1:]
    from neardup.engines.spark.session import open_session

    os.environ["NEARDUP_SPARK_UI"] = "true"
    with open_session(master) as opened:
        # Warm up: the first task starts workers.
        opened.spark.range(10).repartition(2).count()
        watched = Watched()
        watched.start()
        started = time.perf_counter()
        kept = {"job": job, "frames": frames}[what](opened.spark, path, out)
        seconds = time.perf_counter() - started
        core = watched.stop()
        found = {
            "seconds": seconds,
            "core_seconds": core,
            "peak": watched.peak,
            "shuffled": shuffled(opened.spark) if opened.kind == "classic" else None,
            "kept": kept,
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
