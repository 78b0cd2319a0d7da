"""Documents by the runs they share: who is worth a look, found without a look at the texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# So many pairs of a hash and a document are looked at together.
ENTRIES = 2_000_000


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
        # A hash that all documents have makes as many entries as there are documents: in parts.
        ends = np.cumsum(counts)
        cuts = np.flatnonzero(np.diff(ends // ENTRIES, prepend=0)).tolist()
        found = [np.zeros((0, 2), np.int64)]
        for start, end in pairwise([0, *cuts, len(hashes)]):
            size = counts[start:end]
            # For each hash the places of its equals: first, first + 1, …
            before = np.repeat(np.cumsum(size) - size, size)
            equal = np.repeat(first[start:end], size) + np.arange(int(size.sum())) - before
            pairs = np.stack([np.repeat(places[start:end], size), self._rows[equal]], axis=1)
            found.append(np.unique(pairs, axis=0))
        every = np.unique(np.concatenate(found), axis=0)
        return every[:, 0], every[:, 1]


def _sizes(bounds: NDArray[np.uint64]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (bounds[1:] - bounds[:-1]).astype("int64")
    return counts
