"""What listens at a port and is not a Spark is told so, in seconds."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from neardup.engines.spark import probe, session
from neardup.engines.spark.errors import SparkFailedError


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
            f"--master sc://127.0.0.1:{port}: what listens at 127.0.0.1 port {port} is not a "
            "server of Spark Connect (no greeting of gRPC in 1.5 seconds); its port is 15002 "
            "unless set otherwise; behind TLS write sc://HOST:PORT/;use_ssl=true"
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
        (None, "it said nothing for 1.5 seconds"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it speaks another protocol"),
        (struct.pack(">qB", 1 << 40, 8), "it speaks another protocol"),
        (struct.pack(">qB", 40, 77), "it speaks another protocol"),
    ],
)
def test_no_master_of_spark(answer: bytes | None, said: str) -> None:
    with listening(answer) as port:
        expected = re.escape(
            f"--master spark://127.0.0.1:{port}: what listens at 127.0.0.1 port {port} is not a "
            f"master of Spark ({said}); a master's port is 7077 unless set otherwise, its page's "
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
