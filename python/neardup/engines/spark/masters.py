"""Where a Spark is said to be, and whether one answers there.

Spark itself would try for minutes, or for ever, where something else listens.
"""

from __future__ import annotations

import re
import socket
import struct
import time
from typing import Any
from urllib.parse import urlsplit

from neardup.engines.spark.errors import NoSparkError, SparkFailedError

SAIL = "sail"
# Ports that are meant where none is given.
PORTS = {"sc": 15002, "spark": 7077, "k8s": 443}
# Seconds to wait for a server to answer at all.
PATIENCE = 10.0
MASTERS = re.compile(r"local(?:\[[^\]]*\])?|local-cluster\[[^\]]*\]|yarn|(?:spark|k8s|sc)://\S+")
# A request of Spark's own protocol for a stream that nobody has: the length of the frame with these
# eight bytes, the kind, the length of the name, the name. Whoever speaks it answers with a frame.
STREAM = b"/files/neardup"
REQUEST = struct.pack(">qBi", 13 + len(STREAM), 6, len(STREAM)) + STREAM
KINDS = range(12)
MOST_FRAME = 1 << 20


def check_master(master: str | None) -> None:
    """Refuses what no Spark can be reached by, before anything is imported."""
    if master in (None, SAIL) or MASTERS.fullmatch(str(master)):
        return
    raise ValueError(
        f"master is {master!r}; use sc://HOST:PORT (Spark Connect), local[*], spark://HOST:PORT, "
        f"yarn, k8s://HOST:PORT, or {SAIL} for a server in this process"
    )


def reach(master: str) -> str:
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
    port = port or PORTS[scheme]
    try:
        with socket.create_connection((host, port), PATIENCE) as connection:
            said = _asked(connection) if scheme == "spark" else ""
    except OSError as error:
        raise SparkFailedError(
            f"--master {master}: nothing answers at {host} port {port} "
            f"({error.strerror or error}); is Spark running there?"
        ) from error
    if scheme == "sc":
        said = _greeted(master)
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
    return f"it said nothing for {PATIENCE:g} seconds"


def _asked(connection: socket.socket) -> str:
    """What is wrong with the answer to a request that any master answers, if something is."""
    end = time.monotonic() + PATIENCE
    answer = b""
    try:
        connection.sendall(REQUEST)
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
    is_frame = 9 <= length <= MOST_FRAME and kind in KINDS
    return "" if is_frame else "it speaks another protocol"


def _greeted(master: str) -> str:
    """What is wrong with a server of gRPC, if something is: it is one when it has greeted, whatever
    time its first answer takes. The client is loaded already."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    channel: Any = DefaultChannelBuilder(master).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=PATIENCE)
    except grpc.FutureTimeoutError:
        return f"no greeting of gRPC in {PATIENCE:g} seconds"
    finally:
        channel.close()
    return ""
