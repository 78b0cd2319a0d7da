"""Pairs put into the order of records, more than fit into memory too.

Engines find pairs in orders of their own, which depend on keys, threads and machines. Some million
at a time are sorted in memory; if there are more, these runs lie in one file of the work folder and
are merged range by range, each so wide that its pairs fit into memory again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.near.matches import Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The file, in a work folder.
PAIRS = "pairs.bin"
# Pairs in memory at a time, of 18 bytes each.
MOST = 1 << 21
FIELDS = [("left", "<u4"), ("right", "<u4"), ("distance", "<u2"), ("similarity", "<f8")]
# Ranges of left rows whose pairs are counted.
BINS = 1 << 16


class Sorter:
    """Takes pairs, some at a time, and gives all of them by left row, then by right.

    rows  there are in all
    """

    def __init__(self, folder: Path, rows: int) -> None:
        import numpy as np

        self._path = folder / PAIRS
        self._width = max(1, -(-rows // BINS))
        self._counts = np.zeros(BINS, dtype=np.int64)
        self._waiting: list[NDArray[Any]] = []
        self._held = 0
        # Where each run ends in the file.
        self._ends = [0]
        self._judged = False

    def add(self, found: Pairs) -> None:
        import numpy as np

        some = np.empty(len(found.left), dtype=FIELDS)
        some["left"], some["right"], some["distance"] = found.left, found.right, found.distance
        self._judged = found.similarity is not None
        some["similarity"] = found.similarity if found.similarity is not None else np.nan
        self._counts += np.bincount(found.left // self._width, minlength=BINS)
        for start in range(0, len(some), MOST):
            part = some[start : start + MOST]
            if self._held and self._held + len(part) > MOST:
                self._write()
            self._waiting.append(part)
            self._held += len(part)

    def _sorted(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        import numpy as np

        run = np.concatenate(parts) if parts else np.empty(0, dtype=FIELDS)
        return run[np.argsort(run["left"].astype(np.uint64) << np.uint64(32) | run["right"])]

    def _write(self) -> None:
        run = self._sorted(self._waiting)
        with self._path.open("ab" if len(self._ends) > 1 else "wb") as file:
            file.write(run.tobytes())
        self._ends.append(self._ends[-1] + len(run))
        self._waiting, self._held = [], 0

    def pairs(self) -> Iterator[Pairs]:
        """All of them; nothing can be added any more."""
        import numpy as np

        if len(self._ends) == 1:
            yield self._given(self._sorted(self._waiting))
            return
        if self._waiting:
            self._write()
        held = np.memmap(self._path, dtype=FIELDS, mode="r")
        runs = [held[a:b] for a, b in zip(self._ends, self._ends[1:], strict=False)]
        places = [0] * len(runs)
        for stop in self._stops():
            parts = []
            for number, run in enumerate(runs):
                # Not by NumPy, which would make a copy of the whole column.
                end = bisect_left(run["left"], stop, places[number])
                parts.append(run[places[number] : end])
                places[number] = end
            yield self._given(self._sorted(parts))
        self._path.unlink()

    def _stops(self) -> Iterator[int]:
        """Left rows before which the ranges end."""
        held = 0
        for number, count in enumerate(self._counts.tolist()):
            if held and held + count > MOST:
                yield number * self._width
                held = 0
            held += count
        yield BINS * self._width

    def _given(self, run: NDArray[Any]) -> Pairs:
        import numpy as np

        similarity = np.ascontiguousarray(run["similarity"]) if self._judged else None
        left, right = run["left"].astype(np.int64), run["right"].astype(np.int64)
        return Pairs(left, right, np.ascontiguousarray(run["distance"]), similarity)
