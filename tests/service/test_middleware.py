"""Who may ask: names, sites, tokens, rates; and what every answer says."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from neardup.service import auth
from neardup.service.auth import Authenticator
from neardup.service.errors import HTTPProblem
from neardup.service.middleware import ServiceMiddleware
from neardup.service.monitoring import Metrics
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service, demo_collection

READ, WRITE, NEW = "r" * 32, "w" * 32, "n" * 32
ROUTES = (
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/static/x.js",
    "/v1/stats",
    "/v1/documents",
    "/v1/documents/short",
    "/v1/clusters",
    "/nothing",
)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"# who may ask\nread {READ}\n\nwrite  {WRITE}\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "",
        "127.0.0.1.nip.io",
        "fe80::1%evil.example",
        "[fe80::1%evil.example]",
        "[127.0.0.1",
        "[127.0.0.1]",
        "127.0.0.1]",
        "::1",
    ],
)
def test_a_name_that_is_not_ours_is_refused(served: str, host: str) -> None:
    for path in ROUTES:
        assert httpx.get(served + path, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8765", "127.0.0.1", "[::1]:80", "10.1.2.3", "localhost."]
)
def test_names_and_addresses_of_this_machine_are_taken(served: str, host: str) -> None:
    assert httpx.get(f"{served}/healthz", headers={"Host": host}).status_code == 200


def test_further_names_can_be_allowed(serve: Callable[..., str]) -> None:
    url = serve(names=("Search.example",))
    assert httpx.get(url, headers={"Host": "search.EXAMPLE:443"}).status_code == 200
    assert httpx.get(url, headers={"Host": "other.example"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "file://"},
        {"Origin": "http://[bad"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(served: str, headers: dict[str, str]) -> None:
    count = httpx.get(f"{served}/v1/stats").json()["documents"]
    body = {"id": "evil", "text": "evil"}
    assert httpx.post(f"{served}/v1/documents", json=body, headers=headers).status_code == 403
    assert httpx.delete(f"{served}/v1/documents/short", headers=headers).status_code == 403
    assert httpx.get(f"{served}/v1/stats", headers=headers).json()["documents"] == count


def test_a_page_of_its_own_may_ask(served: str) -> None:
    headers = {"Origin": served, "Sec-Fetch-Site": "same-origin"}
    answer = httpx.post(f"{served}/v1/check", json={"text": "x"}, headers=headers)
    assert answer.status_code == 200


def test_a_form_of_another_site_cannot_be_taken_for_json(served: str) -> None:
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data"):
        answer = httpx.post(
            f"{served}/v1/documents",
            content=b'{"id": "evil", "text": "x"}',
            headers={"Content-Type": kind},
        )
        assert answer.status_code == 415


@pytest.mark.parametrize("kind", ["gzip", "deflate", "br", "zstd", "identity, gzip", "x" * 100])
def test_packed_bodies_are_refused_unread(served: str, kind: str) -> None:
    answer = httpx.post(
        f"{served}/v1/check",
        content=b"\x1f\x8b" * 1000,
        headers={"Content-Encoding": kind, "Content-Type": "application/json"},
    )
    assert answer.status_code == 415


def test_every_answer_is_guarded(served: str) -> None:
    for path in ROUTES:
        headers = httpx.get(served + path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        assert headers["server"] == "neardup"
    refused = httpx.get(served, headers={"Host": "evil.example"})
    assert "content-security-policy" in refused.headers


def test_without_a_token_nothing_is_answered(serve: Callable[..., str], token_file: Path) -> None:
    url = serve(token_file=token_file)
    for path in ROUTES:
        if path.startswith("/static/"):
            # What the page to sign in looks like is no secret.
            continue
        answer = httpx.get(url + path)
        assert answer.status_code == 401
        assert "Bearer" in answer.headers["www-authenticate"]
        assert answer.headers["content-type"] == "application/problem+json"
    wrong = (
        bearer("x" * 32),
        bearer(READ[:-1]),
        bearer(f"{READ}r"),
        {"Authorization": "Bearer"},
        {"Authorization": READ},
        {"Authorization": f"Basic {READ}"},
        {"Authorization": "Basic ////"},
    )
    strange = [(b"Authorization", b"Bearer \xff\xfe")]
    assert httpx.get(f"{url}/healthz", headers=strange).status_code == 401
    for headers in wrong:
        assert httpx.get(f"{url}/healthz", headers=headers).status_code == 401


def test_a_token_may_read_or_write(serve: Callable[..., str], token_file: Path) -> None:
    url = serve(token_file=token_file)
    body = {"id": "new", "text": "the cat sat on the mat"}
    assert httpx.get(f"{url}/v1/stats", headers=bearer(READ)).status_code == 200
    assert httpx.post(f"{url}/v1/check", json={"text": ""}, headers=bearer(READ)).is_success
    for answer in (
        httpx.post(f"{url}/v1/documents", json=body, headers=bearer(READ)),
        httpx.delete(f"{url}/v1/documents/short", headers=bearer(READ)),
    ):
        assert answer.status_code == 403
        assert "read-only" in answer.json()["detail"]
    assert httpx.post(f"{url}/v1/documents", json=body, headers=bearer(WRITE)).is_success
    # As a browser sends what its user typed.
    assert httpx.get(f"{url}/", auth=("anyone", READ)).status_code == 200
    assert httpx.get(f"{url}/", auth=("anyone", "wrong-password")).status_code == 401


def test_tokens_change_without_a_restart(
    serve: Callable[..., str], token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "RELOAD_SECONDS", 0.0)
    url = f"{serve(token_file=token_file)}/v1/stats"
    assert httpx.get(url, headers=bearer(NEW)).status_code == 401
    other = token_file.with_suffix(".new")
    other.write_text(f"read {NEW}\n", encoding="utf-8")
    other.chmod(0o600)
    os.replace(other, token_file)
    assert httpx.get(url, headers=bearer(NEW)).status_code == 200
    assert httpx.get(url, headers=bearer(READ)).status_code == 401
    # One that cannot be used changes nothing.
    token_file.write_text("nonsense", encoding="utf-8")
    assert httpx.get(url, headers=bearer(NEW)).status_code == 200


@pytest.mark.parametrize("text", ["", "# nobody\n", None])
def test_an_empty_token_file_rejects_every_request(
    serve: Callable[..., str],
    token_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    text: str | None,
) -> None:
    monkeypatch.setattr(auth, "RELOAD_SECONDS", 0.0)
    url = f"{serve(token_file=token_file)}/v1/stats"
    assert httpx.get(url, headers=bearer(READ)).status_code == 200
    if text is None:
        token_file.unlink()
    else:
        token_file.write_text(text, encoding="utf-8")
    for _ in range(3):
        assert httpx.get(url, headers=bearer(READ)).status_code == 401
    assert caplog.text.count("no token is accepted") == 1
    token_file.write_text(f"read {NEW}\n", encoding="utf-8")
    token_file.chmod(0o600)
    assert httpx.get(url, headers=bearer(NEW)).status_code == 200
    assert httpx.get(url, headers=bearer(READ)).status_code == 401


def test_wrong_tokens_are_throttled_and_valid_ones_are_not(
    serve: Callable[..., str], token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "DELAY_SECONDS", 0.01)
    url = f"{serve(token_file=token_file)}/v1/stats"
    with httpx.Client() as client:
        statuses = [
            client.get(url, headers=bearer(f"guess-{n:020}")).status_code for n in range(60)
        ]
        assert statuses[:20] == [401] * 20
        assert statuses.count(429) >= 30
        refused = client.get(url, headers=bearer("another-guess-here"))
        assert int(refused.headers["retry-after"]) >= 1
        assert client.get(url, headers=bearer(READ)).status_code == 200


def test_right_and_wrong_tokens_are_delayed_alike(
    serve: Callable[..., str], token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right and wrong ones take as long; but who was let in before goes on as before."""
    monkeypatch.setattr(auth, "DELAY_SECONDS", 1.0)
    monkeypatch.setattr(auth, "FORGOTTEN_PER_SECOND", 0.001)
    base = serve(token_file=token_file)
    with httpx.Client(base_url=base) as client:

        def asked(token: str) -> tuple[int, float]:
            began = time.monotonic()
            status = client.get("/healthz", headers=bearer(token)).status_code
            return status, time.monotonic() - began

        assert asked(READ)[0] == 200
        assert [asked(f"guess-{n:020}")[0] for n in range(20)] == [401] * 20
        status, seconds = asked("guess-that-is-one-too-many")
        assert (status, seconds >= 1.0) == (429, True)
        status, seconds = asked(READ)
        assert (status, seconds < 1.0) == (200, True)
        # As long as somebody guesses, and the second time too: who had not waited for the first
        # answer would learn from the second.
        for _ in range(2):
            status, seconds = asked(WRITE)
            assert (status, seconds >= 1.0) == (200, True)
        numbers = client.get("/metrics", headers=bearer(READ)).text.splitlines()
    assert "neardup_wrong_tokens 21.0" in numbers
    assert "neardup_slowed_tokens 3.0" in numbers


def test_more_than_the_rate_is_refused_until_later(serve: Callable[..., str]) -> None:
    url = serve(rate=5.0, burst=10)
    with httpx.Client(base_url=url) as client:
        statuses = [client.get("/healthz").status_code for _ in range(30)]
        assert statuses[:10] == [200] * 10
        assert statuses.count(429) >= 15
        refused = client.get("/healthz")
        assert refused.status_code == 429
        time.sleep(int(refused.headers["retry-after"]))
        assert client.get("/healthz").status_code == 200


def statuses(
    settings: ServiceSettings,
    asked: list[tuple[str, list[tuple[bytes, bytes]]]],
    method: str = "GET",
) -> list[int]:
    """What becomes of requests of these addresses with these headers."""
    guard = ServiceMiddleware(
        Response(), settings, Authenticator(settings), Metrics.__new__(Metrics)
    )

    async def status(peer: str, headers: list[tuple[bytes, bytes]]) -> int:
        scope = {"type": "http", "method": method, "path": "/v1/stats", "query_string": b""}
        try:
            await guard.check({**scope, "headers": [(b"host", b"localhost"), *headers]}, peer)
        except HTTPProblem as refusal:
            return refusal.status
        return 200

    async def main() -> list[int]:
        return [await status(*one) for one in asked]

    return asyncio.run(main())


def test_each_token_or_else_each_network_has_its_own_rate(token_file: Path) -> None:
    read, write = ([(b"authorization", f"Bearer {x}".encode())] for x in (READ, WRITE))
    settings = ServiceSettings(token_file=token_file, rate=0.001, burst=1)
    asked = [("192.0.2.1", read), ("192.0.2.1", write), ("192.0.2.2", read)]
    assert statuses(settings, asked) == [200, 200, 429]
    peers = ["192.0.2.1", "192.0.2.2", "192.0.2.1", "2001:db8::1", "2001:db8::2", "2001:db9::1"]
    asked = [(peer, []) for peer in peers]
    assert statuses(ServiceSettings(rate=0.001, burst=1), asked) == [200, 200, 429, 200, 429, 200]


def test_guesses_from_one_network_count_together(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(auth, "FORGOTTEN_PER_SECOND", 0.001)
    wrong = [(b"authorization", b"Bearer guess")]
    peers = [*(f"2001:db8::{n}" for n in range(auth.MAX_WRONG_TOKENS + 1)), "2001:db9::1"]
    found = statuses(ServiceSettings(token_file=token_file), [(peer, wrong) for peer in peers])
    assert found == [401] * auth.MAX_WRONG_TOKENS + [429, 401]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"authorization", f"Bearer {READ}".encode()),
        (b"content-encoding", b"identity"),
        (b"content-length", b"1"),
        (b"content-type", b"application/json"),
        (b"host", b"localhost"),
        (b"origin", b"http://localhost"),
    ],
)
def test_a_header_that_decides_something_comes_once(name: bytes, value: bytes) -> None:
    others = 0 if name == b"host" else 1
    for count, status in ((others, 200), (others + 1, 400)):
        asked = [("192.0.2.1", [(name, value)] * count)]
        assert statuses(ServiceSettings(), asked, "POST") == [status]


def test_a_service_that_reads_only_changes_nothing(serve: Callable[..., str]) -> None:
    url = serve(read_only=True)
    body = {"id": "a", "text": "b"}
    lines = {"Content-Type": "application/x-ndjson"}
    assert httpx.post(f"{url}/v1/documents", json=body).status_code == 403
    assert httpx.post(f"{url}/v1/documents", content=b"{}", headers=lines).status_code == 403
    assert httpx.delete(f"{url}/v1/documents/short").status_code == 403
    assert httpx.get(f"{url}/v1/stats").json()["read_only"] is True


@pytest.mark.parametrize(
    ("parts", "pause", "status"),
    [
        ([b"x" * 100], 0.0, 200),
        ([b"x" * 60, b"x" * 40], 0.0, 200),
        ([b"x" * 101], 0.0, 413),
        ([b"x" * 60, b"x" * 60], 0.0, 413),
        ([b"x", b"x"], 0.3, 408),
    ],
)
def test_bodies_that_a_page_reads_have_the_same_limits(
    tmp_path: Path, parts: list[bytes], pause: float, status: int
) -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        await Response(str(len(body)))(scope, receive, send)

    settings = ServiceSettings(max_body=100, body_seconds=0.1)
    with demo_collection(tmp_path) as collection:
        service = Service(collection, settings)
        guard = ServiceMiddleware(page, settings, Authenticator(settings), Metrics(service))
        given = [
            {"type": "http.request", "body": part, "more_body": at + 1 < len(parts)}
            for at, part in enumerate(parts)
        ]
        sent: list[Message] = []

        async def receive() -> Message:
            await asyncio.sleep(pause)
            return given.pop(0)

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/check", "query_string": b""}
        scope |= {"headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1)}
        asyncio.run(guard(scope, receive, send))
        service.close()
    assert sent[0]["status"] == status
