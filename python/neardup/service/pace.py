"""How slow a client may be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

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
