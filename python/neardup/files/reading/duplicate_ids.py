"""Ids that occur more than once, found in little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

REMEMBERED = 10_000_000


class Repeats:
    """Counts ids seen before. Keeps 8 bytes an id, and those of the first ten million only."""

    def __init__(self) -> None:
        self.count = 0
        self.first: str | None = None
        self._kept = 0
        # Sorted, each less than half as long as the one before: few to search, cheap to merge.
        self._runs: list[NDArray[np.uint64]] = []

    def see(self, ids: pa.LargeStringArray) -> None:
        """Take note of some more ids."""
        import numpy as np

        if not len(ids):
            return
        _, offsets, data = ids.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        hashes, places = np.unique(
            _core.stable_hashes(memoryview(data or b"").cast("B"), bounds), return_index=True
        )
        known = np.zeros(len(hashes), np.bool_)
        for run in self._runs:
            known |= run[np.searchsorted(run, hashes).clip(max=len(run) - 1)] == hashes
        repeated = np.ones(len(ids), np.bool_)
        repeated[places[~known]] = False
        self.count += int(repeated.sum())
        if self.first is None and self.count:
            self.first = ids[int(repeated.argmax())].as_py()
        self._keep(hashes[~known][: REMEMBERED - self._kept])

    def _keep(self, run: NDArray[np.uint64]) -> None:
        import numpy as np

        if not len(run):
            return
        self._kept += len(run)
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")
        self._runs.append(run)
