"""Documents by the runs they share: who is worth a look, found without a look at the texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# So many pairs of a hash and a document are looked at together.
ENTRIES = 2_000_000


@runtime_checkable
class RunIndex(Protocol):
    """A corpus that finds documents by the hashes of their runs: a Collection.

    runs_minimum  words or characters of the shortest passage for which its hashes are made
    """

    @property
    def runs_minimum(self) -> tuple[int, int]: ...
    def documents(self) -> Iterator[Any]: ...
    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, Any]]:
        """For each of some texts, given by their hashes, its place and a document that shares a
        run with it."""


class Runs:
    """Hashes of runs of some documents, sorted, each with the row of its document.

    Every passage of the minimum length that two documents have word for word makes them share a
    hash. A look-up is a binary search a hash: O(log n).
    """

    def __init__(
        self,
        texts: Sequence[str],
        minimum: tuple[int, int],
        *,
        threads: int | None = None,
        without: Sequence[str] = (),
    ) -> None:
        """`minimum`: words, or characters, of a passage. `without` are texts whose runs do not
        count; those shorter than a passage make no difference.

        A run is three quarters of a passage. So a passage is lost if it is a stretch of `without`
        with no more than a quarter of the minimum beside it: with six words, one more word. A
        document that shares anything else is found, and then that passage is too.
        """
        import numpy as np

        self._minimum = minimum
        self._threads = threads
        self._texts = len(texts)
        bounds, hashes = _core.winnow(list(texts), *minimum, threads)
        rows = np.repeat(np.arange(len(texts)), _sizes(bounds))
        if without:
            # What is shorter than a passage has no hash here, but it may have a run.
            bounds, _ = _core.winnow(list(without), *minimum, threads)
            long = [text for text, size in zip(without, _sizes(bounds), strict=True) if size]
            _, left_out = _core.winnow(long, *minimum, threads, every=True)
            kept = ~np.isin(hashes, left_out)
            hashes, rows = hashes[kept], rows[kept]
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._rows = hashes[order], rows[order]

    def each(self) -> list[NDArray[np.uint64]]:
        """The hashes of each document."""
        import numpy as np

        order = np.argsort(self._rows, kind="stable")
        ends = np.searchsorted(self._rows[order], np.arange(1, self._texts))
        return np.split(self._hashes[order], ends) if self._texts else []

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
        found = [np.zeros(0, np.int64)]
        for start, end in pairwise([0, *cuts, len(hashes)]):
            size = counts[start:end]
            # For each hash the places of its equals: first, first + 1, …
            before = np.repeat(np.cumsum(size) - size, size)
            equal = np.repeat(first[start:end], size) + np.arange(int(size.sum())) - before
            # A pair as one number: those are sorted many times faster than rows of two.
            pairs = np.repeat(places[start:end], size) * self._texts + self._rows[equal]
            found.append(np.unique(pairs))
        every = np.unique(np.concatenate(found))
        return every // max(self._texts, 1), every % max(self._texts, 1)


def _sizes(bounds: NDArray[np.uint64]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (bounds[1:] - bounds[:-1]).astype("int64")
    return counts
