"""Clients that hold on to what they were given: connections, memory."""

from __future__ import annotations

import select
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import neardup as nd

STATIC = b"GET /static/base.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIST = (
    b"GET /v1/documents?texts=true HTTP/1.1\r\nHost: localhost\r\n"
    b"Accept: application/x-ndjson\r\n\r\n"
)
POST = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="the system has no such limit")


@contextmanager
def connected(url: str, many: int) -> Iterator[list[socket.socket]]:
    """Connections that take little at once."""
    place = urlsplit(url)
    with ExitStack() as stack:
        made = [stack.enter_context(socket.socket()) for _ in range(many)]
        for one in made:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            one.connect((place.hostname, place.port))
        yield made


def is_answered(url: str, seconds: float) -> bool:
    """Whether somebody else gets an answer before long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{url}/healthz", timeout=1).status_code == 200
    return False


@linux
def test_clients_that_do_not_read_are_cut_off(serve: Callable[..., str]) -> None:
    url = serve(connections=3, send_seconds=1.0)
    with connected(url, 3) as made:
        for one in made:
            one.setblocking(False)
            with suppress(BlockingIOError):
                for _ in range(3000):
                    one.send(STATIC * 10)
        assert is_answered(url, 20)


def test_a_list_that_is_not_read_is_broken_off(serve: Callable[..., str], tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "large.neardup") as collection:
        collection.add([(str(n), f"{n} " + "a text of some length " * 500) for n in range(1500)])
        url = serve(collection, connections=3, send_seconds=1.0)
        with connected(url, 3) as made:
            for one in made:
                one.sendall(LIST)
            assert is_answered(url, 20)
            # It must not look like the end of the list.
            data = b""
            with suppress(ConnectionResetError):
                while part := made[0].recv(65536):
                    data += part
            assert len(data) < 10_000_000
            assert not data.endswith(b"0\r\n\r\n")


def test_a_trickle_of_lines_ends(serve: Callable[..., str]) -> None:
    url = serve(body_seconds=1.0)
    with connected(url, 1) as (one,):
        one.sendall(POST + b"Content-Type: application/x-ndjson\r\n")
        one.sendall(b"Transfer-Encoding: chunked\r\n\r\n")
        one.settimeout(0.1)
        answer, end = b"", time.monotonic() + 20
        while b"408" not in answer and time.monotonic() < end:
            with suppress(OSError):
                one.sendall(b"1\r\n\n\r\n")
            with suppress(TimeoutError):
                answer += one.recv(65536)
        assert b'"status":408' in answer


def test_bodies_in_flight_are_limited_in_sum(serve: Callable[..., str]) -> None:
    url = serve(max_bodies=1 << 20, body_seconds=20)
    head = POST + b"Content-Type: application/json\r\nContent-Length: 700000\r\n\r\n"
    small = {"text": "a small text"}
    with connected(url, 2) as made:
        for one in made:
            one.settimeout(20)
            with suppress(ConnectionError):
                one.sendall(head + b'{"text": "' + b"x" * 600_000)
        # The one that was read first goes on; nobody knows which that is.
        (refused,), _, _ = select.select(made, (), (), 20)
        told = refused.recv(4096)
        assert told.startswith(b"HTTP/1.1 503")
        assert b"retry-after" in told.lower()
        # What is small still finds room.
        assert httpx.post(f"{url}/v1/check", json=small).status_code == 200
        (other,) = (one for one in made if one is not refused)
        other.sendall(b"x" * (700_000 - 600_012) + b'"}')
        assert other.recv(4096).startswith(b"HTTP/1.1 200")
    # It is given back.
    for _ in range(5):
        large = {"text": "x" * 600_000}
        assert httpx.post(f"{url}/v1/check", json=large, timeout=20).status_code == 200


def test_a_form_does_not_stop_the_loop(serve: Callable[..., str]) -> None:
    """A request beside it is answered while it is parsed."""
    url = serve()
    place = urlsplit(url)
    body = b"text=" + b"%41a" * 3_500_000
    head = (
        b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\n" % len(body)
    )
    with socket.create_connection((place.hostname, place.port)) as one, httpx.Client() as client:
        client.get(f"{url}/healthz")
        one.sendall(head + body)
        began, longest = time.monotonic(), 0.0
        while not select.select([one], (), (), 0.001)[0]:
            asked = time.monotonic()
            assert client.get(f"{url}/healthz", timeout=60).status_code == 200
            longest = max(longest, time.monotonic() - asked)
        assert longest < max(0.5, (time.monotonic() - began) / 2)
