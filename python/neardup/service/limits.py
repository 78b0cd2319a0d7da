"""How often one client may ask."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from neardup.service.worker_pool import Busy

# Clients that are remembered; the one not seen for longest is forgotten.
MOST_CLIENTS = 10_000


class Rate:
    """A bucket for each client: it holds `burst`, is filled by `rate` a second, and a request takes
    one out. The clock can be replaced in tests."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self.burst = float(max(1, burst))
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def left(self, client: str) -> int:
        """As `wait`, and nothing is taken out."""
        level, _ = self._level(client)
        return 0 if level >= 1.0 else math.ceil((1.0 - level) / self.rate)

    def _level(self, client: str) -> tuple[float, float]:
        now = self._clock()
        level, before = self._buckets.get(client, (self.burst, now))
        return min(self.burst, level + (now - before) * self.rate), now

    def wait(self, client: str, cost: float = 1.0) -> int:
        """0 if the client may ask now; else the seconds after which it may."""
        level, now = self._level(client)
        self._buckets.pop(client, None)
        allowed = level >= cost
        self._buckets[client] = (level - cost if allowed else level, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0 if allowed else math.ceil((cost - level) / self.rate)


# How much all requests together may hold, in bytes.


class ByteBudget:
    """Bytes of bodies that are being read or answered. Counted in the thread of the loop only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0


class Share:
    """What one request holds of a budget, from the bytes it has sent to the end of its answer."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self.size = 0

    def take(self, size: int) -> None:
        """Raises `Busy` if all is used up. Whoever is alone has limits of his own, and goes on."""
        budget = self._budget
        if budget.used > self.size and budget.used + size > budget.most:
            raise Busy
        self.size += size
        budget.used += size

    def keep(self, size: int) -> None:
        """Gives back all but so many bytes."""
        self._budget.used -= self.size - size
        self.size = size


# How slow a client may be.

T = TypeVar("T")


class Pace:
    """So many seconds of waiting. What comes gives time back, as much as it may take at the lowest
    rate, in bytes a second; so neither silence nor a trickle goes on for ever."""

    def __init__(self, seconds: float, rate: float) -> None:
        self.most = self.left = seconds
        self.rate = rate

    async def wait(self, what: Awaitable[T]) -> T:
        """What is waited for; `TimeoutError` if no time is left."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(max(0.0, self.left)):
                return await what
        finally:
            self.left -= loop.time() - began

    def moved(self, size: int) -> None:
        self.left = min(self.most, self.left + size / self.rate)
