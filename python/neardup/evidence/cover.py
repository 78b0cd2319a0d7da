"""The words of a document, and which of them lie in given stretches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


class Words:
    """The words of a text by their places; characters where a script has no spaces."""

    def __init__(self, text: str) -> None:
        self.starts, self.ends, _ = _core.units(text)
        # Spaces and punctuation between words are no characters of the text, as for checkers.
        self.lengths = self.ends - self.starts

    def __len__(self) -> int:
        return len(self.starts)

    def within(self, stretches: Iterable[tuple[int, int]]) -> Mask:
        """For each word whether one of the stretches holds all of it."""
        import numpy as np

        edges = np.zeros(len(self) + 1, np.int64)
        bounds = np.array(list(stretches), np.int64).reshape(-1, 2)
        first = np.searchsorted(self.starts, bounds[:, 0], "left")
        last = np.maximum(np.searchsorted(self.ends, bounds[:, 1], "right"), first)
        np.add.at(edges, first, 1)
        np.add.at(edges, last, -1)
        return np.cumsum(edges)[:-1] > 0

    def has(self, mask: Mask, start: int, end: int) -> bool:
        """Whether a word between these places is marked."""
        first, last = self.starts.searchsorted(start), self.ends.searchsorted(end, "right")
        return bool(mask[first:last].any())

    def stretches(self, mask: Mask) -> list[tuple[int, int]]:
        """The stretches of words next to each other that are marked."""
        import numpy as np

        changes = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
        return [
            (int(self.starts[first]), int(self.ends[end - 1]))
            for first, end in changes.reshape(-1, 2).tolist()
        ]

    def count(self, mask: Mask) -> int:
        """How many words are marked."""
        return int(mask.sum())

    def characters(self, mask: Mask) -> int:
        """How many characters they have."""
        return int(self.lengths[mask].sum())
