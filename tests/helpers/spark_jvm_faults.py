"""Check DataFrames on Spark with its JVM under faults, as a script:

.venv-spark/bin/python tests/helpers/spark_jvm_faults.py killed|failing WORK [SMALL]

WORK is a folder for intermediate tables, SMALL one on a disk that is soon full.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from helpers.processes import children, command_of
from helpers.spark_cases import check_dedup, check_pairs, frame_of, listed, mixed
from neardup.engines import spark as sp
from neardup.engines.spark.errors import SparkFailedError, explained


def session(master: str) -> Any:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.sql.shuffle.partitions", "4"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.driver.bindAddress", "127.0.0.1"),
    ):
        builder = builder.config(name, value)
    return builder.getOrCreate()


def executors() -> list[int]:
    return [
        pid for pid in children(os.getpid()) if "CoarseGrainedExecutorBackend" in command_of(pid)
    ]


def kill_one(work: Path, killed: list[int]) -> None:
    """Kill an executor once two intermediate tables of a run exist."""
    while len(list(work.glob("*/*/_SUCCESS"))) < 2:
        time.sleep(0.05)
    victim = executors()[0]
    os.kill(victim, signal.SIGKILL)
    killed.append(victim)


def lost_executor(work: Path) -> None:
    spark = session("local-cluster[2,1,1024]")
    texts = mixed(2, 120)
    frame = frame_of(spark, texts, partitions=4)
    killed: list[int] = []
    threading.Thread(target=kill_one, args=(work, killed), daemon=True).start()
    check_dedup(frame, texts, {}, work=str(work))
    assert killed
    spark.stop()


def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if 5 in batch["id"].to_pylist():
            raise RuntimeError("row 5 cannot be made")
        yield batch


class Once:
    """A function that fails at its first call."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if 5 in batch["id"].to_pylist() and not self.mark.exists():
                self.mark.touch()
                raise RuntimeError("not yet")
            yield batch


def refused(frame: Any, work: Path) -> str:
    """Return the one-line error message of a failing run."""
    try:
        with explained():
            sp.dedup(frame, work=str(work)).counts()
    except SparkFailedError as error:
        return str(error)
    return "nothing"


def failed_tasks(work: Path, small: Path | None) -> None:
    # A task may fail three times.
    spark = session("local[2,3]")
    texts = mixed(3, 30)
    schema = "id long, text string, key double, named string"
    frame = frame_of(spark, texts, partitions=3)
    again = frame.mapInArrow(Once(work / "failed before"), schema)
    check_pairs(again, texts, {}, work=str(work))
    assert (work / "failed before").exists()
    print("a task that fails once", flush=True)
    said = refused(frame.mapInArrow(failing, schema), work)
    assert said == "Spark: a task failed: row 5 cannot be made (RuntimeError)", said
    print("a task that always fails", flush=True)
    rows = [(0, b"one two three four"), (1, b"\xff bad"), (2, b"one two three four"), (3, None)]
    bad = sp.dedup(spark.createDataFrame(rows, "id long, text binary"), work=str(work))
    assert listed(bad.unreadable.toArrow()) == [(1, "not UTF-8"), (3, "no text")]
    assert listed(bad.removed.select("id", "dup_of").toArrow()) == [(2, 0)]
    print("a poison record", flush=True)
    if small is not None:
        many = frame_of(spark, mixed(4, 3000), partitions=3)
        said = refused(many, small)
        assert "a disk of Spark is full (no space left on device)" in said, said
        print("a full disk", flush=True)
    # The session still works.
    check_dedup(frame, texts, {}, work=str(work))
    spark.stop()


if __name__ == "__main__":
    if sys.argv[1] == "killed":
        lost_executor(Path(sys.argv[2]))
    else:
        failed_tasks(Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)
    print("all of", sys.argv[1])
