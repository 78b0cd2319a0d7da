"""Load for a service, from a process of its own: requests over connections that stay open.

    python benchmarks/load.py URL FILE CONNECTIONS SECONDS RATE

A line of FILE is a method, a path and, behind a tab each, what goes into the body; {n} in it is
replaced by a number that is never used twice. RATE is requests a second, due at even times, whose
latency counts from when they were due; 0: each connection sends the next when it has its answer.
Prints {"requests", "errors", "seconds", "median", "p99", "most"} as JSON, latencies in seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from urllib.parse import urlsplit

END = b"\r\n\r\n"
LENGTH = b"content-length: "


class Connection(asyncio.Protocol):
    """Sends one request at a time; what is due meanwhile waits."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.received = b""
        self.due = 0.0
        self.is_free = False
        self.lost = asyncio.get_running_loop().create_future()

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
        at = self.received.find(LENGTH, 0, head) + len(LENGTH)
        length = int(self.received[at : self.received.index(b"\r\n", at)])
        if len(self.received) < head + len(END) + length:
            return
        well = self.received[9:12] == b"200"
        self.received = b""
        self.is_free = True
        self.load.answered(self, time.perf_counter() - self.due, well)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(None)


class Load:
    """All connections, and what became of the requests."""

    def __init__(self, requests: Iterator[bytes], seconds: float, rate: float) -> None:
        self.requests = requests
        self.seconds = seconds
        self.rate = rate
        self.times: list[float] = []
        self.errors = 0
        self.waiting: deque[float] = deque()
        self.free: list[Connection] = []
        self.end = 0.0

    async def run(self, url: str, connections: int) -> dict[str, float]:
        place, loop = urlsplit(url), asyncio.get_running_loop()
        host, port = place.hostname or "", place.port or 80
        made = [
            (await loop.create_connection(lambda: Connection(self), host, port))[1]
            for _ in range(connections)
        ]
        began = time.perf_counter()
        self.end = began + self.seconds
        if self.rate:
            self.free = [*made]
            await self._paced(began)
        else:
            for one in made:
                one.send(next(self.requests), began)
            await asyncio.sleep(self.seconds)
        while not all(one.is_free or one.lost.done() for one in made):
            await asyncio.sleep(0.01)
        took = time.perf_counter() - began
        self.errors += sum(one.lost.done() for one in made)
        for one in made:
            one.transport.close()
        times = sorted(self.times)
        return {
            "requests": len(times),
            "errors": self.errors,
            "seconds": took,
            "median": times[len(times) // 2],
            "p99": times[int(0.99 * len(times))],
            "most": times[-1],
        }

    async def _paced(self, began: float) -> None:
        for number in range(int(self.rate * self.seconds)):
            due = began + number / self.rate
            if (left := due - time.perf_counter()) > 0:
                await asyncio.sleep(left)
            if self.free:
                self.free.pop().send(next(self.requests), due)
            else:
                self.waiting.append(due)
        while self.waiting:
            await asyncio.sleep(0.01)

    def answered(self, connection: Connection, took: float, well: bool) -> None:
        self.times.append(took)
        self.errors += not well
        if self.rate:
            if self.waiting:
                connection.send(next(self.requests), self.waiting.popleft())
            else:
                self.free.append(connection)
        elif (now := time.perf_counter()) < self.end:
            connection.send(next(self.requests), now)


def requests_of(path: Path, host: str) -> Iterator[bytes]:
    """The requests of a file, again and again."""
    lines = path.read_text(encoding="utf-8").splitlines()
    # Also another number than that of a process before.
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
