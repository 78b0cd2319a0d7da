"""Limits per client and per service: request rate, memory for bodies, slow uploads."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from neardup.service.worker_pool import BusyError

T = TypeVar("T")

# Clients whose buckets are kept; the least recently seen is dropped.
MAX_CLIENTS = 10_000


class RateLimiter:
    """A token bucket per client: it holds `burst` requests and refills `rate` per second."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self.burst = float(max(1, burst))
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, client: str) -> int:
        """Take one request from the bucket; return 0, or the seconds to wait if it is empty."""
        level, now = self._level(client)
        self._buckets.pop(client, None)
        seconds = self._seconds_until_one(level)
        self._buckets[client] = (level if seconds else level - 1.0, now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return seconds

    def retry_after(self, client: str) -> int:
        """Return the same as `acquire`, without taking a request."""
        return self._seconds_until_one(self._level(client)[0])

    def _level(self, client: str) -> tuple[float, float]:
        now = self._clock()
        level, before = self._buckets.get(client, (self.burst, now))
        return min(self.burst, level + (now - before) * self.rate), now

    def _seconds_until_one(self, level: float) -> int:
        return 0 if level >= 1.0 else math.ceil((1.0 - level) / self.rate)


class ByteBudget:
    """Bytes of request bodies in memory, of all requests. Used in the event loop only."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0


class ByteReservation:
    """The bytes of a budget that one request holds until its response is sent."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self.size = 0

    def reserve(self, size: int) -> None:
        """Add bytes; raise `BusyError` if that exceeds the budget.

        If no other request holds bytes, the budget is not enforced: `max_body` limits the request.
        """
        budget = self._budget
        if budget.used > self.size and budget.used + size > budget.limit:
            raise BusyError
        self.size += size
        budget.used += size

    def shrink(self, size: int) -> None:
        """Release all but this many bytes."""
        self._budget.used -= self.size - size
        self.size = size


class SlowClientTimeout:
    """A timeout for an upload of unknown length.

    Waiting reduces the remaining time; each byte received adds 1/`rate` seconds, up to `seconds`.
    So a client that sends nothing, or fewer than `rate` bytes per second, gets a `TimeoutError`.
    """

    def __init__(self, seconds: float, rate: float) -> None:
        self.limit = self.remaining = seconds
        self.rate = rate

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Await within the remaining time."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(max(0.0, self.remaining)):
                return await awaitable
        finally:
            self.remaining -= loop.time() - began

    def received(self, size: int) -> None:
        self.remaining = min(self.limit, self.remaining + size / self.rate)
