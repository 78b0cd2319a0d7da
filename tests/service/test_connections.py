"""Connections that are too many for one address, or whose clients hardly read."""

from __future__ import annotations

import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import neardup as nd
from neardup.service import connections

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists connections")

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
PAGE = b"GET /v1/documents?texts=true&limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "EVERY", 0.05)


@contextmanager
def connected(url: str, many: int, *, buffer: int = 0) -> Iterator[list[socket.socket]]:
    place = urlsplit(url)
    with ExitStack() as stack:
        made = []
        for _ in range(many):
            made.append(stack.enter_context(socket.socket()))
            if buffer:
                made[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            made[-1].connect((place.hostname, place.port))
        yield made


def is_open(made: socket.socket, seconds: float = 0.0) -> bool:
    """Whether the other end has not closed it, or does not before long."""
    if not select.select([made], (), (), seconds)[0]:
        return True
    with suppress(ConnectionResetError):
        return made.recv(1, socket.MSG_PEEK) != b""
    return False


def number(url: str, name: str) -> float:
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(f"neardup_{name} "))
    return float(found)


def test_one_address_cannot_hold_all_connections(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "is_here", lambda *_: False)
    url = serve(connections=20, connections_each=5)
    with connected(url, 5) as first:
        time.sleep(0.3)
        with connected(url, 12) as later:
            end = time.monotonic() + 10
            while sum(map(is_open, later)) and time.monotonic() < end:
                time.sleep(0.05)
            # Those who came first are served; and whoever asks when there is room again.
            assert not any(map(is_open, later))
            for one in first:
                one.sendall(HEALTH)
                assert one.recv(100).startswith(b"HTTP/1.1 200")
    time.sleep(0.3)
    assert httpx.get(f"{url}/healthz").status_code == 200
    assert number(url, "cut_connections") >= 12


def test_this_machine_is_not_limited_and_nobody_is_by_none(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(connections_each=3)
    with connected(url, 10) as made:
        time.sleep(0.3)
        assert all(map(is_open, made))
        assert number(url, "connections") >= 10
    monkeypatch.setattr(connections, "is_here", lambda *_: False)
    url = serve(connections_each=0)
    with connected(url, 10) as made:
        time.sleep(0.3)
        assert all(map(is_open, made))
        assert number(url, "cut_connections") == 0


@pytest.fixture
def large(tmp_path: Path) -> Iterator[nd.Collection]:
    """A page of it has more bytes than lie between two sockets."""
    with nd.Collection.open(tmp_path / "large.neardup") as collection:
        collection.add([(str(n), f"{n} " + "a text of some length " * 500) for n in range(1000)])
        yield collection


def test_a_client_that_reads_a_byte_now_and_then_is_cut_off(
    serve: Callable[..., str], large: nd.Collection
) -> None:
    url = serve(large, send_seconds=1.0)
    with connected(url, 1, buffer=2048) as (one,):
        one.sendall(PAGE)
        end, data = time.monotonic() + 20, 0
        with suppress(ConnectionResetError):
            while time.monotonic() < end:
                # Some hundred bytes a second.
                part = one.recv(64)
                if not part:
                    break
                data += len(part)
                time.sleep(0.1)
        assert time.monotonic() < end
        assert data < 100_000
    assert number(url, "cut_connections") == 1


def test_a_client_that_is_slow_but_reads_gets_all_of_it(
    serve: Callable[..., str], large: nd.Collection
) -> None:
    url = serve(large, send_seconds=2.0)
    with connected(url, 1, buffer=64 << 10) as (one,):
        one.sendall(PAGE.replace(b"limit=1000", b"limit=60"))
        received, began = b"", time.monotonic()
        while len(received) < 60 * 11_000 and (part := one.recv(16 << 10)):
            received += part
            time.sleep(0.1)
        assert len(received) >= 60 * 11_000
        assert time.monotonic() - began > 2
    assert number(url, "cut_connections") == 0


def test_connections_that_wait_for_an_answer_are_left_alone(serve: Callable[..., str]) -> None:
    url = serve(send_seconds=0.2)
    text = " ".join(f"w{n}" for n in range(200_000))
    found: list[int] = []

    def ask() -> None:
        answer = httpx.post(f"{url}/v1/compare", json={"a": text, "b": text}, timeout=60)
        found.append(answer.status_code)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * 4
