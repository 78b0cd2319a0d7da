"""Ids that occur more than once, found in little memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMEMBERED = 10_000_000


class Repeats:
    """Counts ids seen before. Keeps 8 bytes an id, and those of the first ten million only."""

    def __init__(self) -> None:
        self.count = 0
        self.first: str | None = None
        self._kept = 0
        # Sorted, each less than half as long as the one before: few to search, cheap to merge.
        self._runs: list[NDArray[np.int64]] = []

    def see(self, ids: Sequence[str]) -> None:
        """Take note of some more ids."""
        import numpy as np

        hashes, places = np.unique(
            np.fromiter(map(hash, ids), np.int64, len(ids)), return_index=True
        )
        known = np.zeros(len(hashes), np.bool_)
        for run in self._runs:
            known |= run[np.searchsorted(run, hashes).clip(max=len(run) - 1)] == hashes
        repeated = np.ones(len(ids), np.bool_)
        repeated[places[~known]] = False
        self.count += int(repeated.sum())
        if self.first is None and self.count:
            self.first = ids[int(repeated.argmax())]
        self._keep(hashes[~known][: REMEMBERED - self._kept])

    def _keep(self, run: NDArray[np.int64]) -> None:
        import numpy as np

        if not len(run):
            return
        self._kept += len(run)
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")
        self._runs.append(run)
