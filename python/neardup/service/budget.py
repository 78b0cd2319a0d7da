"""How much all requests together may hold, in bytes."""

from __future__ import annotations

from neardup.service.worker_pool import Busy


class Budget:
    """Bytes of bodies that are being read or answered. Counted in the thread of the loop only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0


class Share:
    """What one request holds of a budget, from the bytes it has sent to the end of its answer."""

    def __init__(self, budget: Budget) -> None:
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
