"""The load of benchmarks: what goes wrong is counted by what it is, and nothing else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from typing import Any

from load_generator import BAD, BROKEN, LOST, Load

ASKED = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
WELL = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
PROBLEM = json.dumps({"title": "Service Unavailable", "detail": "too much is waiting"}).encode()
BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: %d\r\n\r\n" % len(PROBLEM) + PROBLEM

# What is sent for the request of a number, and whether the connection ends then.
Script = Callable[[int], tuple[bytes, bool]]


def loaded(script: Script, *, rate: float = 200, seconds: float = 0.5) -> dict[str, Any]:
    """What a load of two connections says about a server that does as it is told."""
    count = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        ends = False
        while not ends and await reader.readline():
            while (await reader.readline()).strip():
                pass
            data, ends = script(count)
            count += 1
            writer.write(data)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def main() -> dict[str, Any]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            found = await Load(repeat(ASKED), seconds, rate).run(f"http://127.0.0.1:{port}", 2)
            # Those who answer see that nobody asks any more.
            await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=5)
            return found

    return asyncio.run(main())


def test_answers_that_are_well_are_no_errors() -> None:
    for rate in (0, 200):
        found = loaded(lambda _: (WELL, False), rate=rate)
        assert (found["errors"], found["kinds"], found["reopened"]) == (0, {}, 0)
        assert found["requests"] >= 100
        assert 0 < found["median"] <= found["p99"] <= found["most"]


def test_a_refusal_is_reported_by_its_status_and_its_title() -> None:
    found = loaded(lambda n: (BUSY if n < 3 else WELL, False))
    assert found["kinds"] == {"503 Service Unavailable: too much is waiting": 3}
    assert (found["errors"], found["requests"]) == (3, 100)
    bare = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n"
    found = loaded(lambda n: (bare if n == 7 else WELL, False), rate=0)
    assert found["kinds"] == {"500 without problem details": 1}


def test_a_connection_that_is_lost_costs_its_request_and_no_other() -> None:
    def ending(data: bytes) -> Script:
        return lambda n: (data if n == 9 else WELL, n == 9)

    for data, kind in ((b"", LOST), (WELL[:-1], BROKEN), (WELL[:9], BROKEN)):
        for rate in (0, 200):
            found = loaded(ending(data), rate=rate)
            assert (found["kinds"], found["errors"], found["reopened"]) == ({kind: 1}, 1, 1)
            assert found["requests"] >= 99


def test_an_invalid_answer_is_reported() -> None:
    found = loaded(lambda n: (b"HTTP/1.1 200 OK\r\n\r\n" if n == 9 else WELL, False))
    assert (found["kinds"], found["requests"]) == ({BAD: 1}, 99)


def test_a_connection_that_ends_while_nothing_is_asked_is_opened_anew() -> None:
    found = loaded(lambda n: (WELL, n in (3, 4, 20)), rate=50)
    assert (found["errors"], found["reopened"], found["requests"]) == (0, 3, 25)
