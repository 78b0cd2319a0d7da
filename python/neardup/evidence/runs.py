"""Documents by the runs they share: who is worth a look, found without a look at the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Runs:
    """Hashes of runs of some documents, sorted, each with the row of its document.

    Every passage of the minimum length that two documents have word for word makes them share a
    hash. A look-up is a binary search a hash: O(log n).
    """

    def __init__(
        self,
        texts: Sequence[str],
        *,
        min_words: int,
        min_chars: int,
        threads: int | None = None,
        without: Sequence[str] = (),
    ) -> None:
        """`without` are texts whose runs do not count."""
        import numpy as np

        self._minimum = (min_words, min_chars)
        self._threads = threads
        bounds, hashes = _core.winnow(list(texts), min_words, min_chars, threads)
        rows = np.repeat(np.arange(len(texts)), _sizes(bounds))
        if without:
            _, left_out = _core.winnow(list(without), min_words, min_chars, threads, every=True)
            kept = ~np.isin(hashes, left_out)
            hashes, rows = hashes[kept], rows[kept]
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._rows = hashes[order], rows[order]

    def shared(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs that share a run: places in `texts` and rows, by place and then by row."""
        import numpy as np

        bounds, hashes = _core.winnow(list(texts), *self._minimum, self._threads)
        places = np.repeat(np.arange(len(texts)), _sizes(bounds))
        first = np.searchsorted(self._hashes, hashes, "left")
        counts = np.searchsorted(self._hashes, hashes, "right") - first
        # For each hash the places of its equals: first, first + 1, …
        before = np.repeat(np.cumsum(counts) - counts, counts)
        found = np.repeat(first, counts) + np.arange(int(counts.sum())) - before
        pairs = np.unique(np.stack([np.repeat(places, counts), self._rows[found]], axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]


def _sizes(bounds: NDArray[np.uint64]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (bounds[1:] - bounds[:-1]).astype("int64")
    return counts
