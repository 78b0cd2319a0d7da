"""Lines in and out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

import neardup as nd
from neardup.service.limits import ByteBudget, ByteReservation
from neardup.service.ndjson import LineResponder, LineTooLongError, read_line_batches
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service
from neardup.service.worker_pool import BusyError, WorkerPool

LINES = {"Accept": "application/x-ndjson"}


def read(
    parts: list[bytes],
    settings: ServiceSettings | None = None,
    share: ByteReservation | None = None,
) -> list[tuple[int, bytes]]:
    given = [{"type": "http.request", "body": x, "more_body": True} for x in parts]
    given.append({"type": "http.request", "body": b"", "more_body": False})
    left = iter(given)

    async def receive() -> Message:
        return next(left)

    async def main() -> list[tuple[int, bytes]]:
        found = read_line_batches(receive, settings or ServiceSettings(), share)
        return [line async for batch in found for line in batch]

    return asyncio.run(main())


@given(st.binary(max_size=60).map(lambda x: x.replace(b"a", b"\n")), st.lists(st.integers(0, 60)))
def test_lines_are_the_same_whatever_the_parts(body: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(body)]
    parts = [body[a:b] for a, b in pairwise(places)]
    naive = [(at, line) for at, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    assert read(parts) == naive


def test_small_parts_of_a_long_line_take_linear_time() -> None:
    def seconds(rest: int) -> float:
        parts = [b"x" * rest, *[b"y"] * 3000]
        # Of this thread: services of other tests may still be at work in theirs.
        began = time.thread_time()
        assert read(parts) == [(1, b"".join(parts))]
        return time.thread_time() - began

    # To copy the rest for each part would be twelve gigabytes; a busy machine is given five tries.
    assert any(seconds(4_000_000) < 3 * seconds(1) + 0.1 for _ in range(5))


def test_a_line_that_is_too_long_ends_it_at_once() -> None:
    settings = ServiceSettings(max_line=100)
    for parts in ([b"x" * 101], [b"x" * 60, b"x" * 60], [b"a\n" + b"x" * 101 + b"\nb"]):
        with pytest.raises(LineTooLongError):
            read(parts, settings)
    assert len(read([b"x" * 50, b"x" * 50, b"\n" + b"y" * 100], settings)) == 2


def test_no_more_is_held_than_what_is_being_answered() -> None:
    budget = ByteBudget(1000)
    share = ByteReservation(budget)
    read([b"x" * 90 + b"\n"] * 100, share=share)
    assert budget.used == 0
    other = ByteReservation(budget)
    other.reserve(950)
    with pytest.raises(TimeoutError):
        read([b"x" * 90 + b"\n"], ServiceSettings(answer_seconds=0.1), share)


@pytest.mark.parametrize(
    ("error", "status", "calls"),
    # A wrong line is looked for by halves. A failure may have stored some: it is not repeated.
    [(ValueError("x"), 422, 7), (OSError(5, "x"), 503, 1), (KeyError("x"), 500, 1)],
)
def test_only_a_batch_refused_for_one_of_its_lines_is_tried_in_parts(
    tmp_path: Path, error: Exception, status: int, calls: int
) -> None:
    made, sent = [], b""

    async def fail(_: Any, __: Any, given: list[Any]) -> list[Any]:
        made.append(given)
        raise error

    async def receive() -> Message:
        return {"type": "http.request", "body": b"1\n2\n3\n4\n", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal sent
        sent += message.get("body", b"")

    with nd.Collection.open(tmp_path / "a.neardup") as collection:
        service = Service(collection)
        asyncio.run(LineResponder(service, int, fail)(None, None, receive, send))
        service.close()
    answers = [_json(line) for line in sent.decode().splitlines()]
    assert [(one["line"], one["status"]) for one in answers] == [(n, status) for n in range(1, 5)]
    assert len(made) == calls


def test_a_moment_of_a_full_queue_does_not_break_a_list(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, calls = WorkerPool.run, 0

    async def busy(self: WorkerPool, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in (1, 3, 4):
            raise BusyError
        return await run(self, *args, **kwargs)

    with nd.Collection.open(tmp_path / "many.neardup") as collection:
        collection.add([(str(n), f"text number {n}") for n in range(300)])
        url = serve(collection)
        monkeypatch.setattr(WorkerPool, "run", busy)
        answer = httpx.get(f"{url}/v1/documents", headers=LINES)
        assert calls > 4
        assert [one["id"] for one in map(_json, answer.iter_lines())] == [*map(str, range(300))]


def test_a_list_that_cannot_go_on_says_so(
    serve: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run, calls = WorkerPool.run, 0

    async def busy(self: WorkerPool, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise BusyError
        return await run(self, *args, **kwargs)

    with nd.Collection.open(tmp_path / "many.neardup") as collection:
        collection.add([(str(n), f"text number {n}") for n in range(300)])
        url = serve(collection, answer_seconds=0.3)
        monkeypatch.setattr(WorkerPool, "run", busy)
        answer = httpx.get(f"{url}/v1/documents", headers=LINES)
        *documents, last = map(_json, answer.iter_lines())
        assert 0 < len(documents) < 300
        assert (last["line"], last["status"]) == (len(documents) + 1, 503)
        assert "Error" not in caplog.text


def _json(line: str) -> Any:
    return httpx.Response(200, text=line).json()
