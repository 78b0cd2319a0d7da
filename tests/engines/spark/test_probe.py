"""A server that is not Spark and workers that cannot start are reported within seconds.

The wait for an executor has no limit.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from neardup.engines.spark import errors, probe, session
from neardup.engines.spark.errors import SparkFailedError, wait_for


@contextmanager
def listening(answer: bytes | None, *, hangs_up: bool = True) -> Iterator[int]:
    """A port where whoever has said something gets an answer; None: never one."""
    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    held.append(connection)
                    if answer is None:
                        continue
                    with suppress(OSError):
                        # Another that only looks whether the port is open says nothing.
                        if connection.recv(1000) and answer:
                            connection.sendall(answer)
                    if hangs_up:
                        connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    for connection in held:
        connection.close()


@contextmanager
def pages() -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()


ALERT = b"\x15\x03\x03\x00\x02\x02\x46"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "CONNECT_TIMEOUT", 1.5)
    # There is no JVM beside the client.
    monkeypatch.setattr(session, "_has_module", lambda _: True)
    monkeypatch.setattr(session, "java_version", lambda: 17)


@pytest.mark.parametrize("kind", ["silence", "pages", "tls", "words"])
def test_no_server_of_spark_connect(kind: str) -> None:
    made: dict[str, Callable[[], AbstractContextManager[int]]] = {
        "silence": lambda: listening(None),
        "pages": pages,
        "tls": lambda: listening(ALERT),
        "words": lambda: listening(b"220 mail.example ESMTP\r\n"),
    }
    began = time.monotonic()
    with made[kind]() as port:
        expected = re.escape(
            f"--master sc://127.0.0.1:{port}: the server at 127.0.0.1 port {port} is not a "
            "Spark Connect server (no gRPC handshake within 1.5 seconds); the default port is "
            "15002; with TLS use sc://HOST:PORT/;use_ssl=true"
        )
        with (
            pytest.raises(SparkFailedError, match=f"^{expected}$"),
            session.open_session(f"sc://127.0.0.1:{port}"),
        ):
            pass
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "no response within 1.5 seconds"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "unknown protocol"),
        (struct.pack(">qB", 1 << 40, 8), "unknown protocol"),
        (struct.pack(">qB", 40, 77), "unknown protocol"),
    ],
)
def test_no_master_of_spark(answer: bytes | None, said: str) -> None:
    with listening(answer) as port:
        expected = re.escape(
            f"--master spark://127.0.0.1:{port}: the server at 127.0.0.1 port {port} is not a "
            f"Spark master ({said}); the default port of a master is 7077, that of its web page "
            "8080"
        )
        with (
            pytest.raises(SparkFailedError, match=f"^{expected}$"),
            session.open_session(f"spark://127.0.0.1:{port}"),
        ):
            pass


@pytest.mark.parametrize("answer", [struct.pack(">qB", 40, 8), ALERT * 2, b"", b"1234"])
def test_what_may_be_a_master_is_left_to_spark(answer: bytes) -> None:
    """One that wants TLS hangs up, or says so in its way."""
    with listening(answer) as port:
        assert probe.check_reachable(f"spark://127.0.0.1:{port}") == "127.0.0.1"


def test_several_masters_are_left_to_spark() -> None:
    assert probe.check_reachable("spark://a:7077,b:7077") == ""


class Settings:
    def __init__(self, memory: str | None) -> None:
        self.conf = self
        self._memory = memory

    def get(self, name: str, default: str | None) -> str | None:
        assert name == "spark.executor.pyspark.memory"
        return default if self._memory is None else self._memory


@pytest.mark.parametrize("memory", ["1m", "1", "512m", "639M", "600mb", "500000k", "1048576b"])
def test_too_little_memory_is_refused(memory: str) -> None:
    expected = f"^spark.executor.pyspark.memory is {memory}, but a worker needs at least 640m to"
    with pytest.raises(SparkFailedError, match=expected):
        probe.check_worker_memory(Settings(memory))


@pytest.mark.parametrize("memory", [None, "", "0", "640m", "640", "1g", "2t", "odd"])
def test_enough_memory_and_no_limit(memory: str | None) -> None:
    probe.check_worker_memory(Settings(memory))


class Tracker:
    """A status tracker with one stage that has a task or not."""

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
    notes: list[str] = []
    watch = probe.ProbeTimer(Tracker(runs=False), notes.append)

    def slow() -> int:
        time.sleep(1)
        return 7

    assert wait_for(slow, watch) == 7
    # Once.
    assert [note[:48] for note in notes] == ["Spark has assigned no executor for 0.2 seconds; "]


def test_what_the_task_does() -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1, 2]})
    assert list(probe.load_neardup(iter([batch]))) == [batch]
