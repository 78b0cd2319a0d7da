"""Where a Spark is said to be, and whether one answers there.

Spark itself would try for minutes, or for ever, where something else listens.
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
# Ports that are meant where none is given.
DEFAULT_PORTS = {"sc": 15002, "spark": 7077, "k8s": 443}
# Seconds to wait for a server to answer at all.
CONNECT_TIMEOUT = 10.0
MASTER_PATTERN = re.compile(
    r"local(?:\[[^\]]*\])?|local-cluster\[[^\]]*\]|yarn|(?:spark|k8s|sc)://\S+"
)
# A request of Spark's own protocol for a stream that nobody has: the length of the frame with these
# eight bytes, the kind, the length of the name, the name. Whoever speaks it answers with a frame.
PROBE_STREAM = b"/files/neardup"
PROBE_REQUEST = struct.pack(">qBi", 13 + len(PROBE_STREAM), 6, len(PROBE_STREAM)) + PROBE_STREAM
MESSAGE_TYPES = range(12)
MAX_FRAME_BYTES = 1 << 20


def check_master(master: str | None) -> None:
    """Refuses what no Spark can be reached by, before anything is imported."""
    if master in (None, SAIL) or MASTER_PATTERN.fullmatch(str(master)):
        return
    raise ValueError(
        f"master is {master!r}; use sc://HOST:PORT (Spark Connect), local[*], spark://HOST:PORT, "
        f"yarn, k8s://HOST:PORT, or {SAIL} for a server in this process"
    )


def check_reachable(master: str) -> str:
    """The host of a URL, if a Spark of that kind listens there."""
    url = urlsplit(master.removeprefix("k8s://") if master.startswith("k8s://https://") else master)
    scheme = master.partition("://")[0]
    try:
        # A master may have several addresses, one of which leads.
        host, port = url.hostname, None if "," in url.netloc else url.port
    except ValueError as error:
        raise NoSparkError(f"--master {master}: {error}") from error
    if "," in url.netloc:
        return ""
    if not host:
        raise NoSparkError(f"--master {master} names no host; write {scheme}://HOST:PORT")
    port = port or DEFAULT_PORTS[scheme]
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT) as connection:
            said = _probe_master(connection) if scheme == "spark" else ""
    except OSError as error:
        raise SparkFailedError(
            f"--master {master}: nothing answers at {host} port {port} "
            f"({error.strerror or error}); is Spark running there?"
        ) from error
    if scheme == "sc":
        said = _probe_connect(master)
    if said:
        what = "a master of Spark" if scheme == "spark" else "a server of Spark Connect"
        raise SparkFailedError(
            f"--master {master}: what listens at {host} port {port} is not {what} ({said}); "
            + WAYS_OUT[scheme]
        )
    return host


WAYS_OUT = {
    "spark": "a master's port is 7077 unless set otherwise, its page's 8080",
    "sc": "its port is 15002 unless set otherwise; behind TLS write sc://HOST:PORT/;use_ssl=true",
}


def _silent() -> str:
    return f"it said nothing for {CONNECT_TIMEOUT:g} seconds"


def _probe_master(connection: socket.socket) -> str:
    """What is wrong with the answer to a request that any master answers, if something is."""
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
        # It hung up, as one that wants TLS does: for Spark to find out.
        return ""
    if len(answer) < 9 or answer[:2] == b"\x15\x03":
        return ""
    length, kind = struct.unpack_from(">qB", answer)
    is_frame = 9 <= length <= MAX_FRAME_BYTES and kind in MESSAGE_TYPES
    return "" if is_frame else "it speaks another protocol"


def _probe_connect(master: str) -> str:
    """What is wrong with a server of gRPC, if something is: it is one when it has greeted, whatever
    time its first answer takes. The client is loaded already."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel: Any = DefaultChannelBuilder(master).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=CONNECT_TIMEOUT)
    except grpc.FutureTimeoutError:
        return f"no greeting of gRPC in {CONNECT_TIMEOUT:g} seconds"
    finally:
        channel.close()
    return ""


# A first task that only loads neardup: whether workers can do anything at all.
#
# Spark waits for ever for a Python worker that starts and never answers. A job may run for days, so
# only this task, which has nothing to do, has a limit; the wait for a machine to run it has none.

# Seconds that the task may run: Spark unpacks an environment that was shipped in it.
PROBE_TIMEOUT = 180.0
# Seconds after which somebody should know that it waits for a machine.
WAIT_NOTE_SECONDS = 20.0
MEMORY_SETTING = "spark.executor.pyspark.memory"
# Measured: with 512m Python, NumPy and Arrow cannot be loaded, and with less Python may not even
# say so but try for ever.
MIN_WORKER_BYTES = 640 << 20
SIZE_UNITS = {"": 1 << 20, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def load_neardup(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: gives back what came, with all loaded that later tasks need."""
    import neardup.near.corpus  # noqa: F401

    yield from batches


def check_worker_memory(spark: Any) -> None:
    """Refuses a limit under which no worker can begin."""
    said = spark.conf.get(MEMORY_SETTING, None)
    found = re.fullmatch(r"(\d+)([bkmgt]?)b?", str(said or "").strip().lower())
    if found and 0 < int(found[1]) * SIZE_UNITS[found[2]] < MIN_WORKER_BYTES:
        raise SparkFailedError(
            f"{MEMORY_SETTING} is {said}, and a worker needs at least 640m to load "
            "Python, NumPy and Arrow; raise it, or remove the setting"
        )


def check_workers(spark: Any, note: Callable[[str], object] | None = None) -> None:
    """Runs the task, beside a JVM of our own."""
    watch = ProbeTimer(spark.sparkContext.statusTracker(), note)
    one = spark.range(0, 1, 1, 1)
    wait_for(lambda: one.mapInArrow(load_neardup, "id long").collect(), watch)


class ProbeTimer:
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

    def _runs(self) -> bool:
        stages = map(self._tracker.getStageInfo, self._tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)
