"""The words of a document, and which of them lie in given stretches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


class WordSpans:
    """The words of a text by their places; characters where a script has no spaces, which is what
    `alone` says of each."""

    def __init__(self, text: str) -> None:
        self.starts, self.ends, self.alone = _core.units(text)
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


class Tally:
    """Counts the words of stretches that count, source by source.

    A stretch takes O(log n) of n words. There may be millions of sources with a stretch or two
    each, for which arrays of all words are too slow.
    """

    def __init__(self, words: WordSpans, counts: Mask) -> None:
        """`counts`: which words do."""
        self._starts: list[int] = words.starts.tolist()
        self._ends: list[int] = words.ends.tolist()
        # How many words, and characters, that count come before each word.
        self._words: list[int] = [0, *counts.cumsum().tolist()]
        self._characters: list[int] = [0, *(words.lengths * counts).cumsum().tolist()]

    def spans(self, stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The words that the stretches hold, as places of words: in order, none twice."""
        found: list[tuple[int, int]] = []
        for start, end in sorted(map(self._span, stretches)):
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            elif start < end:
                found.append((start, end))
        return found

    def words(self, spans: Sequence[tuple[int, int]]) -> int:
        """How many words of these count."""
        return sum(self._words[end] - self._words[start] for start, end in spans)

    def characters(self, spans: Sequence[tuple[int, int]]) -> int:
        """How many characters they have."""
        return sum(self._characters[end] - self._characters[start] for start, end in spans)

    def has(self, spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
        """Whether one of these words that counts lies between two places of the text."""
        first, last = self._span((start, end))
        for at in range(bisect_right(spans, first, key=lambda span: span[1]), len(spans)):
            begin, stop = max(spans[at][0], first), min(spans[at][1], last)
            if begin >= last:
                break
            if self._words[stop] > self._words[begin]:
                return True
        return False

    def _span(self, stretch: tuple[int, int]) -> tuple[int, int]:
        return bisect_left(self._starts, stretch[0]), bisect_right(self._ends, stretch[1])
