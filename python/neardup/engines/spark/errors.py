"""Errors of Spark: a page of stack traces becomes one sentence with a way out."""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

MAX_MESSAGE_CHARS = 300
# Seconds between checks for signals.
POLL_SECONDS = 0.5
# Patterns of errors of workers, and the message for the user.
KNOWN_FAILURES = (
    (
        r"No module named '?neardup",
        "neardup is not installed on the workers; install it there, or ship its wheel "
        "(docs/scale.md)",
    ),
    (
        r"No module named '?(?P<name>[\w.]+)",
        "the package {name} is not installed on the workers; install neardup with its dependencies "
        "there",
    ),
    (
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        "the workers run another Python version than the driver; set PYSPARK_PYTHON to the same "
        "version",
    ),
    (
        r"Cannot run program (?P<name>\"[^\"]*\")",
        "the workers cannot run Python as {name}; set PYSPARK_PYTHON to a Python with neardup that "
        "exists on every machine",
    ),
    (
        r"reading the port number from pyspark.daemon|Bad data in pyspark.daemon",
        "the Python of the workers exits at start; set PYSPARK_PYTHON to a Python with neardup, "
        "and see the log of an executor",
    ),
    (
        r"failed to map segment from shared object|Cannot allocate memory",
        "a worker had too little memory to load its packages; set spark.executor.pyspark.memory to "
        "640m or more, or remove the setting",
    ),
    (
        r"No space left on device|StorageFull|os error 28",
        "a disk of Spark is full (no space left on device); free some space, or set "
        "spark.local.dir, and work= for DataFrames, to a larger disk",
    ),
    (
        r"ExecutorLostFailure|Executor \S+ (?:has been )?lost|executor lost",
        "Spark lost executors and retried in vain; see their logs, and give executors more memory",
    ),
    (
        r"OutOfMemoryError|Java heap space|ResourcesExhausted|MemoryError",
        "Spark ran out of memory; raise spark.executor.memory or spark.driver.memory",
    ),
    (
        r"TaskResultLost|Py4JNetworkError|Answer from Java side is empty",
        "the JVM of Spark ran out of memory or was killed; give it more memory "
        "(SPARK_DRIVER_MEMORY=8g, or spark.driver.memory)",
    ),
    (
        r"Python worker exited unexpectedly",
        "a Python worker died, perhaps out of memory; see the log of its executor, and raise "
        "spark.executor.memoryOverhead",
    ),
    (
        r"RESOURCE_EXHAUSTED|message larger than max|exceeds max size",
        "a message is larger than the Spark server accepts; use DataFrames for this many records "
        "(docs/spark.md)",
    ),
    (
        r"UNAVAILABLE|Connection refused|Connection reset|Socket closed|Broken pipe",
        "the connection to the Spark server was lost; see its log, and run again",
    ),
)
# The last line of a Python traceback: type and message.
RAISED_PATTERN = re.compile(
    r"^(?:[\w.]+\.)?(\w+(?:Error|Exception|Interrupt|Exit)): (.+)$", re.MULTILINE
)
FAILURE_PATTERN = re.compile(r"most recent failure: (.+)")


class NoSparkError(ValueError):
    """Spark cannot be used, because a package, Java or a setting is missing."""


class SparkFailedError(OSError):
    """Spark failed; nothing was written."""


class WorkerError(ValueError):
    """Raised in a worker; its message is shown to the user unchanged."""


def failure_message(error: BaseException) -> str:
    """Return the cause of a failure in one line, without stack traces."""
    text = f"{type(error).__name__}: {error}"
    raised = RAISED_PATTERN.findall(str(error))
    for name, message in raised:
        if name == WorkerError.__name__:
            return str(message).strip()
    for pattern, way_out in KNOWN_FAILURES:
        if found := re.search(pattern, text):
            return way_out.format(**found.groupdict())
    if raised:
        name, message = raised[-1]
        return f"a task failed: {_shorten(message)} ({name})"
    if found := FAILURE_PATTERN.search(text):
        return f"a task failed: {_shorten(found[1])}"
    message = next((line for line in str(error).splitlines() if line.strip()), "")
    return _shorten(message) or type(error).__name__


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE_CHARS else f"{text[:MAX_MESSAGE_CHARS]}…"


def is_spark_error(error: BaseException) -> bool:
    """Return whether the type of an error is from Spark or its clients."""
    return any(
        kind.__module__.partition(".")[0] in ("pyspark", "py4j", "grpc", "pysail")
        for kind in type(error).__mro__
    )


def wait_for(call: Callable[[], T], look: Callable[[], object] | None = None) -> T:
    """Run a call to Spark in another thread and return its result.

    On Ctrl-C the clients would wait until the server has stopped; here the wait ends at once.
    Errors of Spark are raised as SparkFailedError.

    look  called while waiting; if it raises, the wait ends
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
        # On some systems a wait without a timeout is not interrupted by signals.
        while not done.wait(POLL_SECONDS):
            if look is not None:
                look()
        if raised:
            raise raised[0]
    return found[0]


@contextmanager
def explained() -> Iterator[None]:
    """Raise errors of Spark in the `with` block as SparkFailedError with one line."""
    try:
        yield
    except Exception as error:
        # Clients write what they send to local files first.
        is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if not (is_spark_error(error) or is_full):
            raise
        raise SparkFailedError(f"Spark: {failure_message(error)}") from error
