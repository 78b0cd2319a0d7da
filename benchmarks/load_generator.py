"""Send HTTP requests to a service over persistent connections and report their latency.

    python benchmarks/load_generator.py URL FILE CONNECTIONS SECONDS RATE

A line of FILE is a method, a path and a body, separated by tabs; {n} in the body is replaced by a
unique number. RATE is requests per second, scheduled at even intervals; their latency counts from
the scheduled time. With RATE 0 each connection sends the next request when it has its response.
Prints {"requests", "errors", "kinds", "reopened", "seconds", "median", "p99", "most"} as JSON,
latencies in seconds; "kinds" counts errors by kind, such as "503 Service Unavailable".

An idle connection that the service closes is reopened, as any client would; "reopened" counts it.
A connection closed before the response is complete is an error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

END = b"\r\n\r\n"
LENGTH = b"content-length: "
LOST = "connection lost before the answer"
BROKEN = "connection lost within the answer"
BAD = "not an answer of HTTP"


class Connection(asyncio.Protocol):
    """A connection that sends one request at a time; further ones are queued."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.received = b""
        self.due = 0.0
        self.is_free = False
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.is_free = True

    def send(self, request: bytes, due: float) -> None:
        self.is_free = False
        self.due = due
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.received = self.received + data if self.received else data
        head = self.received.find(END)
        if head < 0:
            return
        try:
            length = _length(self.received[:head])
        except ValueError:
            self.load.failed(self, BAD)
            self.transport.abort()
            return
        if len(self.received) < head + len(END) + length:
            return
        kind = None
        if self.received[9:12] != b"200":
            kind = _kind(self.received[:head], self.received[head + len(END) :])
        self.received = b""
        self.is_free = True
        self.load.answered(self, time.perf_counter() - self.due, kind)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True
        if not self.is_free:
            self.load.failed(self, BROKEN if self.received else LOST)


class Load:
    """All connections, the queue, and the outcome of each request."""

    def __init__(self, requests: Iterator[bytes], seconds: float, rate: float) -> None:
        self.requests = requests
        self.seconds = seconds
        self.rate = rate
        self.times: list[float] = []
        self.kinds: Counter[str] = Counter()
        self.reopened = 0
        self.waiting: deque[float] = deque()
        # First in, first out, so that no connection stays idle for long.
        self.free: deque[Connection] = deque()
        self.open: set[Connection] = set()
        self.opening: set[asyncio.Task[None]] = set()
        self.end = 0.0

    async def run(self, url: str, connections: int) -> dict[str, Any]:
        place = urlsplit(url)
        self.place = place.hostname or "", place.port or 80
        for _ in range(connections):
            await self._open()
        began = time.perf_counter()
        self.end = began + self.seconds
        if self.rate:
            await self._paced(began)
        else:
            while self.free:
                self.free.popleft().send(next(self.requests), began)
            await asyncio.sleep(self.seconds)
        while self.opening or not all(one.is_free for one in self.open):
            await asyncio.sleep(0.01)
        took = time.perf_counter() - began
        for one in self.open:
            one.transport.close()
        times = sorted(self.times) or [0.0]
        return {
            "requests": len(self.times),
            "errors": self.kinds.total(),
            "kinds": dict(self.kinds.most_common()),
            "reopened": self.reopened,
            "seconds": took,
            "median": times[len(times) // 2],
            "p99": times[int(0.99 * len(times))],
            "most": times[-1],
        }

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        _, made = await loop.create_connection(lambda: Connection(self), *self.place)
        self.open.add(made)
        self._next(made)

    def _reopen(self, lost: Connection) -> None:
        self.open.discard(lost)
        self.reopened += 1
        task = asyncio.ensure_future(self._open())
        self.opening.add(task)
        task.add_done_callback(self._opened)

    def _opened(self, task: asyncio.Task[None]) -> None:
        self.opening.discard(task)
        if error := task.exception():
            self.kinds[f"no connection: {type(error).__name__}"] += 1

    async def _paced(self, began: float) -> None:
        for number in range(int(self.rate * self.seconds)):
            due = began + number / self.rate
            if (left := due - time.perf_counter()) > 0:
                await asyncio.sleep(left)
            while self.free and self.free[0].is_lost:
                self._reopen(self.free.popleft())
            if self.free:
                self.free.popleft().send(next(self.requests), due)
            else:
                self.waiting.append(due)
        while self.waiting and (self.opening or self.open):
            await asyncio.sleep(0.01)

    def answered(self, connection: Connection, took: float, kind: str | None) -> None:
        self.times.append(took)
        if kind is not None:
            self.kinds[kind] += 1
        self._next(connection)

    def failed(self, connection: Connection, kind: str) -> None:
        """Count a request without a readable response and replace its connection."""
        if connection in self.open:
            self.kinds[kind] += 1
            self._reopen(connection)

    def _next(self, connection: Connection) -> None:
        if self.waiting:
            connection.send(next(self.requests), self.waiting.popleft())
        elif self.rate or not self.end:
            self.free.append(connection)
        elif (now := time.perf_counter()) < self.end:
            connection.send(next(self.requests), now)


def _length(head: bytes) -> int:
    at = head.index(LENGTH) + len(LENGTH)
    return int(head[at:].partition(b"\r\n")[0])


def _kind(head: bytes, body: bytes) -> str:
    """Return the status of an error response with the title and detail of its problem."""
    status = head[9:12].decode("latin-1")
    try:
        told = json.loads(body)
        return f"{status} {told['title']}: {told['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"{status} without problem details"


def requests_of(path: Path, host: str) -> Iterator[bytes]:
    """Yield the requests of a file, in a loop."""
    lines = path.read_text(encoding="utf-8").splitlines()
    # Starts at the clock, so that numbers differ from those of an earlier process.
    numbers = count(time.monotonic_ns())
    for line in cycle(lines):
        method, target, *body = line.split("\t")
        data = "".join(body).replace("{n}", f"{os.getpid()}-{next(numbers)}").encode()
        head = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n"
        if data:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        yield f"{head}\r\n".encode() + data


def main(url: str, path: str, connections: str, seconds: str, rate: str) -> None:
    requests = requests_of(Path(path), urlsplit(url).netloc)
    load = Load(requests, float(seconds), float(rate))
    print(json.dumps(asyncio.run(load.run(url, int(connections)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
