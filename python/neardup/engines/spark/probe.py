"""Probes of Spark before a job: the address of the master, the memory and Python of the workers.

Spark itself retries for minutes, or forever, if something else listens at an address, and waits
forever for a Python worker that starts and does not answer. A job may run for days, so only the
probe has a time limit: a first task that loads neardup. The wait for an executor has none.
"""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from neardup.engines.spark.errors import NoSparkError, SparkFailedError, wait_for

if TYPE_CHECKING:
    import pyarrow as pa


SAIL = "sail"
# Default ports.
DEFAULT_PORTS = {"sc": 15002, "spark": 7077, "k8s": 443}
# Seconds to wait for the first response of a server.
CONNECT_TIMEOUT = 10.0
MASTER_PATTERN = re.compile(
    r"local(?:\[[^\]]*\])?|local-cluster\[[^\]]*\]|yarn|(?:spark|k8s|sc)://\S+"
)
# A request of Spark's RPC protocol for a stream that does not exist: length of the frame including
# these eight bytes, message type, length of the name, name. A master responds with a frame.
PROBE_STREAM = b"/files/neardup"
PROBE_REQUEST = struct.pack(">qBi", 13 + len(PROBE_STREAM), 6, len(PROBE_STREAM)) + PROBE_STREAM
MESSAGE_TYPES = range(12)
MAX_FRAME_BYTES = 1 << 20


def check_master(master: str | None) -> None:
    """Raise ValueError for an invalid master, before anything is imported."""
    if master in (None, SAIL) or MASTER_PATTERN.fullmatch(str(master)):
        return
    raise ValueError(
        f"master is {master!r}; use sc://HOST:PORT (Spark Connect), local[*], spark://HOST:PORT, "
        f"yarn, k8s://HOST:PORT, or {SAIL} (pysail in this process)"
    )


def check_reachable(master: str) -> str:
    """Return the host of a master; raise SparkFailedError if no such Spark listens there."""
    url = urlsplit(master.removeprefix("k8s://") if master.startswith("k8s://https://") else master)
    scheme = master.partition("://")[0]
    try:
        # A highly available master has several addresses; Spark finds the leader.
        host, port = url.hostname, None if "," in url.netloc else url.port
    except ValueError as error:
        raise NoSparkError(f"--master {master}: {error}") from error
    if "," in url.netloc:
        return ""
    if not host:
        raise NoSparkError(f"--master {master} has no host; use {scheme}://HOST:PORT")
    port = port or DEFAULT_PORTS[scheme]
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT) as connection:
            problem = _probe_master(connection) if scheme == "spark" else ""
    except OSError as error:
        raise SparkFailedError(
            f"--master {master}: cannot connect to {host} port {port} "
            f"({error.strerror or error}); is Spark running there?"
        ) from error
    if scheme == "sc":
        problem = _probe_connect(master)
    if problem:
        what = "a Spark master" if scheme == "spark" else "a Spark Connect server"
        raise SparkFailedError(
            f"--master {master}: the server at {host} port {port} is not {what} ({problem}); "
            + WAYS_OUT[scheme]
        )
    return host


WAYS_OUT = {
    "spark": "the default port of a master is 7077, that of its web page 8080",
    "sc": "the default port is 15002; with TLS use sc://HOST:PORT/;use_ssl=true",
}


def _silent() -> str:
    return f"no response within {CONNECT_TIMEOUT:g} seconds"


def _probe_master(connection: socket.socket) -> str:
    """Send a request that any master answers; return what is wrong with the response, or ""."""
    end = time.monotonic() + CONNECT_TIMEOUT
    answer = b""
    try:
        connection.sendall(PROBE_REQUEST)
        while len(answer) < 9:
            connection.settimeout(max(end - time.monotonic(), 0.01))
            data = connection.recv(64)
            if not data:
                break
            answer += data
    except TimeoutError:
        return _silent()
    except OSError:
        # A server that expects TLS hangs up: leave it to Spark.
        return ""
    if len(answer) < 9 or answer[:2] == b"\x15\x03":
        return ""
    length, kind = struct.unpack_from(">qB", answer)
    is_frame = 9 <= length <= MAX_FRAME_BYTES and kind in MESSAGE_TYPES
    return "" if is_frame else "unknown protocol"


def _probe_connect(master: str) -> str:
    """Return what is wrong with a gRPC server, or "". A completed handshake suffices: the first
    response may take longer. The client is already imported."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel: Any = DefaultChannelBuilder(master).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=CONNECT_TIMEOUT)
    except grpc.FutureTimeoutError:
        return f"no gRPC handshake within {CONNECT_TIMEOUT:g} seconds"
    finally:
        channel.close()
    return ""


# Seconds that the probe may run. It includes unpacking a shipped environment.
PROBE_TIMEOUT = 180.0
# Seconds without an executor after which the user is notified.
WAIT_NOTE_SECONDS = 20.0
MEMORY_SETTING = "spark.executor.pyspark.memory"
# Measured: with 512m Python, NumPy and Arrow cannot be loaded; with less, Python may retry forever
# without a message.
MIN_WORKER_BYTES = 640 << 20
SIZE_UNITS = {"": 1 << 20, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def load_neardup(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Task: returns its input, after importing all that later tasks need."""
    import neardup.near.corpus  # noqa: F401

    yield from batches


def check_worker_memory(spark: Any) -> None:
    """Raise SparkFailedError if the memory limit of workers is too small to start one."""
    setting = spark.conf.get(MEMORY_SETTING, None)
    found = re.fullmatch(r"(\d+)([bkmgt]?)b?", str(setting or "").strip().lower())
    if found and 0 < int(found[1]) * SIZE_UNITS[found[2]] < MIN_WORKER_BYTES:
        raise SparkFailedError(
            f"{MEMORY_SETTING} is {setting}, but a worker needs at least 640m to load "
            "Python, NumPy and Arrow; raise it, or remove the setting"
        )


def check_workers(spark: Any, note: Callable[[str], object] | None = None) -> None:
    """Run the probe task, in a classic session."""
    watch = ProbeTimer(spark.sparkContext.statusTracker(), note)
    one = spark.range(0, 1, 1, 1)
    wait_for(lambda: one.mapInArrow(load_neardup, "id long").collect(), watch)


class ProbeTimer:
    """Raises SparkFailedError when the probe task has run too long.

    note  called once if no executor is assigned for a while
    """

    def __init__(self, tracker: Any, note: Callable[[str], object] | None = None) -> None:
        self._tracker = tracker
        self._since: float | None = None
        self._note = note
        self._began = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if not self._is_running():
            self._since = None
            if self._note is not None and now - self._began > WAIT_NOTE_SECONDS:
                self._note(
                    f"Spark has assigned no executor for {WAIT_NOTE_SECONDS:g} seconds; still "
                    "waiting. Check that the master has workers with free cores and memory"
                )
                self._note = None
        elif self._since is None:
            self._since = now
        elif now - self._since > PROBE_TIMEOUT:
            raise SparkFailedError(
                f"Spark: a worker started but did not load neardup within {PROBE_TIMEOUT:g} "
                "seconds; check that PYSPARK_PYTHON has neardup and that workers have enough memory"
            )

    def _is_running(self) -> bool:
        stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)
