"""Clients that misbehave: slow, half gone, too large, too many, and hostile in every field."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

import neardup as nd
from neardup.service.background import serving
from neardup.service.state import demo_collection

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HOSTILE = (
    "<script>alert(1)</script>",
    "'; DROP TABLE documents; --",
    "{{7*7}} ${7*7} %s %n %x",
    "../../../../etc/passwd",
    "..\\..\\windows",
    "\x00\x07\x1b[31m\r\nSet-Cookie: a=b",
    "\u202egnp.exe\u2028\u2029\ufeff",
    "=cmd|' /C calc'!A0",
    "A" * 1024,
)


@contextmanager
def connected(url: str, seconds: float = 20) -> Iterator[socket.socket]:
    place = urlsplit(url)
    with closing(socket.create_connection((place.hostname, place.port), timeout=seconds)) as made:
        yield made


def received(made: socket.socket) -> bytes:
    parts = []
    try:
        while part := made.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def is_well(url: str) -> bool:
    return httpx.get(f"{url}/readyz", timeout=20).status_code == 200


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("impatient")
    with demo_collection(folder) as demo, serving(demo, head_seconds=0.5) as url:
        yield url


def test_a_head_that_comes_slowly_or_not_at_all_ends_the_connection(
    serve: Callable[..., str],
) -> None:
    url = serve(head_seconds=0.5)
    for sent in (b"", b"GET", HEAD, HEAD + b"X-Slow: "):
        with connected(url) as made:
            made.sendall(sent)
            began = time.monotonic()
            received(made)
            assert time.monotonic() - began < 10
    assert is_well(url)


def test_a_client_that_falls_silent_is_let_go(serve: Callable[..., str]) -> None:
    url = serve(head_seconds=0.5)
    with connected(url) as made:
        made.sendall(HEAD + b"\r\n")
        began = time.monotonic()
        assert received(made).startswith(b"HTTP/1.1 200")
        assert time.monotonic() - began < 10


def test_a_body_that_trickles_is_refused_with_408(serve: Callable[..., str]) -> None:
    url = serve(body_seconds=0.5)
    with connected(url) as made:
        made.sendall(POST + b"Content-Length: 1000\r\n\r\n{")
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.1):
                try:
                    made.sendall(b" ")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            answer = made.recv(65536)
        finally:
            stop.set()
            thread.join()
    assert answer.startswith(b"HTTP/1.1 408")
    assert is_well(url)


def test_lines_that_stop_coming_are_answered_as_far_as_they_came(serve: Callable[..., str]) -> None:
    url = serve(body_seconds=0.5)
    head = POST.replace(b"application/json", b"application/x-ndjson")
    with connected(url) as made:
        made.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for line in (b'{"text": "one"}\n', b'{"text": "tw'):
            made.sendall(b"%x\r\n%b\r\n" % (len(line), line))
        answer = received(made)
    assert b"HTTP/1.1 200" in answer
    lines = [json.loads(line) for line in re.findall(rb"^\{.*\}$", answer, re.M)]
    assert lines[0] == {"id": None, "matches": []}
    assert lines[1]["status"] == 408
    assert is_well(url)


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
        HEAD + b"".join(b"X%d: a\r\n" % n for n in range(20_000)) + b"\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_a_huge_head_is_refused(served: str, sent: bytes) -> None:
    with connected(served) as made:
        with suppress(BrokenPipeError, ConnectionResetError):
            made.sendall(sent)
        answer = received(made)
    assert answer[9:12] in (b"431", b"414", b"400", b"")
    assert is_well(served)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: folded\r\n\r\n",
        b"GET \xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_what_is_no_proper_request_is_refused(impatient: str, sent: bytes) -> None:
    with connected(impatient) as made:
        made.sendall(sent)
        # It is refused, or the connection ends.
        assert made.recv(12)[9:] in (b"400", b"403", b"415", b"")
    assert is_well(impatient)


def test_closed_connections_do_not_affect_others(served: str) -> None:
    for end in (socket.SHUT_WR, socket.SHUT_RDWR):
        for sent in (
            HEAD,
            HEAD + b"\r\n",
            POST + b"Content-Length: 100\r\n\r\n{",
            POST + b'Content-Length: 13\r\n\r\n{"text": "x"}',
        ):
            with connected(served) as made:
                made.sendall(sent)
                made.shutdown(end)
                received(made)
    assert is_well(served)


def test_a_half_closed_connection_gets_no_response_and_leaks_nothing(served: str) -> None:
    """As hyper does unless it is told otherwise, and Granian has no setting to tell it. What was
    asked may be done all the same."""
    body = b'{"id": "half", "text": "closed"}'
    post = POST.replace(b"check", b"documents") + b"Content-Length: %d\r\n\r\n" % len(body) + body
    before = _sockets()
    for sent in (HEAD + b"\r\n", HEAD.replace(b"healthz", b"v1/stats") + b"\r\n", post) * 5:
        with connected(served) as made:
            made.sendall(sent)
            made.shutdown(socket.SHUT_WR)
            began = time.monotonic()
            answer = received(made)
            assert time.monotonic() - began < 5
            # None, or all of it if it was quicker.
            assert answer == b"" or answer.startswith(b"HTTP/1.1 200")
    end = time.monotonic() + 10
    while _sockets() > before and time.monotonic() < end:
        time.sleep(0.05)
    assert _sockets() <= before
    assert is_well(served)


def _sockets() -> int:
    """Connections that this process has, as a server or as a client."""
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        return 0
    found = 0
    for path in folder.iterdir():
        with suppress(OSError):
            found += path.readlink().name.startswith("socket:")
    return found


def test_a_reader_that_does_not_read_takes_no_memory(
    serve: Callable[..., str], tmp_path: Path
) -> None:
    text = "a text of some length " * 500
    with nd.Collection.open(tmp_path / "large.neardup") as collection:
        collection.add([(str(n), f"{n} {text}") for n in range(3000)])
        url = serve(collection)
        httpx.get(f"{url}/v1/documents")
        before = _resident()
        with connected(url) as made:
            made.sendall(
                b"GET /v1/documents?texts=true HTTP/1.1\r\nHost: localhost\r\n"
                b"Accept: application/x-ndjson\r\n\r\n"
            )
            time.sleep(1)
            # All of it would be 33 MB as lines, and as much as text.
            assert _resident() - before < 30e6
            assert is_well(url)
        assert is_well(url)


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_a_body_over_the_limit_is_refused(serve: Callable[..., str]) -> None:
    url = serve(max_body=1000)
    for size, status in ((1000, 200), (1001, 413), (2000, 413)):
        whole = b'{"text": "%b"}' % (b"x" * (size - 12))
        # With its length in the head, and in chunks without.
        for body in (whole, iter([whole[:500], whole[500:]])):
            headers = {"Content-Type": "application/json"}
            answer = httpx.post(f"{url}/v1/check", content=body, headers=headers)
            assert (len(whole), answer.status_code) == (size, status)
    # Nobody has to send it all to be told.
    with connected(url) as made:
        made.sendall(POST + b"Content-Length: 100000000000\r\n\r\n")
        assert made.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "path",
    [
        b"/static/../app.py",
        b"/static/%2e%2e/app.py",
        b"/static/..%2fapp.py",
        b"/static/%252e%252e/app.py",
        b"/static//etc/passwd",
        b"/static/%00",
        b"/static/",
        b"/static",
        b"/static/.gitkeep",
        b"//etc/passwd",
        b"/..%5capp.py",
        b"/v1/documents/../stats/../../etc/passwd",
        b"/v1/documents/",
        b"/v1/documents/%ff%fe",
        b"/v1/documents/%00",
        b"*",
    ],
)
def test_tricks_with_paths_lead_nowhere(served: str, path: bytes) -> None:
    with connected(served) as made:
        made.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = received(made)
    assert answer[9:10] in (b"3", b"4"), answer[:200]
    assert b"import" not in answer
    assert b"root:" not in answer


def test_hostile_texts_are_nothing_but_texts(served: str) -> None:
    with httpx.Client(base_url=f"{served}/v1") as client:
        for text in HOSTILE:
            document = {"id": text, "text": text * 3, "metadata": {text: [text, {text: text}]}}
            assert client.post("/documents", json=document).json()["id"] == text
            path = "/documents/" + "".join(f"%{byte:02X}" for byte in text.encode())
            found = client.get(path)
            assert found.headers["content-type"] == "application/json"
            assert found.json()["metadata"] == document["metadata"]
            assert found.json()["text"] == document["text"]
            for route, body in (
                ("/check", {"text": text}),
                ("/search", {"text": text}),
                ("/explain", {"text": text}),
                ("/compare", {"a": text, "b": {"id": text}}),
            ):
                assert client.post(route, json=body).status_code == 200, (route, text)
            assert client.get("/documents", params={"after": text}).status_code == 422
            listed = client.get("/documents", params={"newest": True, "limit": 1}).json()
            assert listed["documents"][0]["id"] == text
            assert client.delete(path).status_code == 204


def test_a_full_queue_rejects_and_does_not_grow(serve: Callable[..., str]) -> None:
    url = serve(workers=1, queue=2)
    text = "many different words " + " ".join(f"w{n}" for n in range(30_000))
    statuses: list[int] = []
    waits: list[Any] = []

    def ask() -> None:
        answer = httpx.post(f"{url}/v1/compare", json={"a": text, "b": text}, timeout=60)
        statuses.append(answer.status_code)
        waits.append(answer.headers.get("retry-after"))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200, 503}
    # One at work and two waiting at any moment; those who come later find room again.
    assert statuses.count(200) >= 3
    assert all(
        wait and int(wait) > 0
        for status, wait in zip(statuses, waits, strict=True)
        if status == 503
    )
    assert is_well(url)


def test_a_flood_of_connections_is_waited_out(serve: Callable[..., str]) -> None:
    url = serve(connections=20, head_seconds=0.5)
    place = urlsplit(url)
    made = [socket.create_connection((place.hostname, place.port)) for _ in range(100)]
    try:
        assert is_well(url)
    finally:
        for one in made:
            one.close()


def test_an_answer_that_takes_too_long_is_given_up(serve: Callable[..., str]) -> None:
    url = serve(answer_seconds=0.05)
    text = " ".join(f"w{n}" for n in range(200_000))
    answer = httpx.post(f"{url}/v1/compare", json={"a": text, "b": text}, timeout=60)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
