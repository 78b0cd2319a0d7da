"""How often one client may ask."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

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
