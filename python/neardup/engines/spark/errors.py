"""What Spark says in a page of traces, said in a sentence."""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

MAX_MESSAGE_CHARS = 300
# Seconds between looks whether a signal has come.
POLL_SECONDS = 0.5
# What workers say → the way out.
KNOWN_FAILURES = (
    (
        r"No module named '?neardup",
        "the workers have no neardup; install it there, or ship its wheel (docs/scale.md)",
    ),
    (
        r"No module named '?(?P<name>[\w.]+)",
        "the workers have no package {name}; install neardup with all it needs there",
    ),
    (
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        "the workers run another Python than this one; set PYSPARK_PYTHON to the same version",
    ),
    (
        r"Cannot run program (?P<name>\"[^\"]*\")",
        "the workers cannot run their Python, {name}; set PYSPARK_PYTHON to one with neardup that "
        "every machine has",
    ),
    (
        r"reading the port number from pyspark.daemon|Bad data in pyspark.daemon",
        "the Python of the workers ends as soon as it begins; set PYSPARK_PYTHON to one with "
        "neardup, and see what it says in the log of an executor",
    ),
    (
        r"failed to map segment from shared object|Cannot allocate memory",
        "a worker had too little memory to load its packages; give it more (set "
        "spark.executor.pyspark.memory to 640m or more, or leave it out)",
    ),
    (
        r"No space left on device|StorageFull|os error 28",
        "a disk of Spark is full (no space left on device); free some, or set spark.local.dir, and "
        "for DataFrames work=, to a larger one",
    ),
    (
        r"ExecutorLostFailure|Executor \S+ (?:has been )?lost|executor lost",
        "Spark lost a worker as often as it tries again; see its logs, give executors more memory",
    ),
    (
        r"OutOfMemoryError|Java heap space|ResourcesExhausted|MemoryError",
        "Spark ran out of memory; give it more (spark.executor.memory, spark.driver.memory)",
    ),
    (
        r"TaskResultLost|Py4JNetworkError|Answer from Java side is empty",
        "the JVM of Spark is out of memory, or was ended by somebody else; give it more "
        "(SPARK_DRIVER_MEMORY=8g, or spark.driver.memory)",
    ),
    (
        r"Python worker exited unexpectedly",
        "a Python worker died, maybe for want of memory; see the log of its executor, give it more "
        "(spark.executor.memoryOverhead)",
    ),
    (
        r"RESOURCE_EXHAUSTED|message larger than max|exceeds max size",
        "what goes to the Spark server at once is more than it takes; use DataFrames for so many "
        "records (docs/spark.md)",
    ),
    (
        r"UNAVAILABLE|Connection refused|Connection reset|Socket closed|Broken pipe",
        "the Spark server is gone; see its log, and run again",
    ),
)
# The last line of a trace of Python: a name of an error and what it says.
RAISED_PATTERN = re.compile(
    r"^(?:[\w.]+\.)?(\w+(?:Error|Exception|Interrupt|Exit)): (.+)$", re.MULTILINE
)
FAILURE_PATTERN = re.compile(r"most recent failure: (.+)")


class NoSparkError(ValueError):
    """There is no Spark to be had as it was asked for, and what to do."""


class SparkFailedError(OSError):
    """Spark could not do what it was asked; nothing was written."""


class WorkerError(ValueError):
    """Raised in a worker: what it says is for the user as it is."""


def failure_message(error: BaseException) -> str:
    """Why Spark failed, in one line, without its traces."""
    text = f"{type(error).__name__}: {error}"
    raised = RAISED_PATTERN.findall(str(error))
    for name, said in raised:
        if name == WorkerError.__name__:
            return str(said).strip()
    for pattern, way_out in KNOWN_FAILURES:
        if found := re.search(pattern, text):
            return way_out.format(**found.groupdict())
    if raised:
        name, said = raised[-1]
        return f"a task failed: {_shorten(said)} ({name})"
    if found := FAILURE_PATTERN.search(text):
        return f"a task failed: {_shorten(found[1])}"
    said = next((line for line in str(error).splitlines() if line.strip()), "")
    return _shorten(said) or type(error).__name__


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE_CHARS else f"{text[:MAX_MESSAGE_CHARS]}…"


def is_spark_error(error: BaseException) -> bool:
    """Whether an error comes out of Spark or the way to it, by the package of its type."""
    return any(
        kind.__module__.partition(".")[0] in ("pyspark", "py4j", "grpc", "pysail")
        for kind in type(error).__mro__
    )


def wait_for(call: Callable[[], T], look: Callable[[], object] | None = None) -> T:
    """What a call to Spark gives, made on another thread: at Ctrl-C clients ask the server to stop,
    and wait until it does. What it raises is a SparkFailedError of one line.

    look  called now and then meanwhile; what it raises ends the wait
    """
    found: list[T] = []
    raised: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=work, name="neardup-spark", daemon=True)
    with explained():
        thread.start()
        # In steps: a wait without an end would not hear of signals on all systems.
        while not done.wait(POLL_SECONDS):
            if look is not None:
                look()
        if raised:
            raise raised[0]
    return found[0]


@contextmanager
def explained() -> Iterator[None]:
    """In here what Spark raises becomes a SparkFailedError of one line."""
    try:
        yield
    except Exception as error:
        # Clients put what they send into files of Spark first, on this machine.
        is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if isinstance(error, SparkFailedError) or not (is_spark_error(error) or is_full):
            raise
        raise SparkFailedError(f"Spark: {failure_message(error)}") from error
