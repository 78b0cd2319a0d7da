"""Spans of a text, [start, end) in characters, and the words that lie in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

Span = tuple[int, int]


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order; merge spans that overlap or touch."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


class WordSpans:
    """The positions of the words of a text; in scripts without spaces each character is a word.

    is_character  whether a word is such a character
    lengths       number of characters of each word
    """

    def __init__(self, text: str) -> None:
        self.starts, self.ends, self.is_character = _core.units(text)
        self.lengths = self.ends - self.starts

    def __len__(self) -> int:
        return len(self.starts)

    def within(self, spans: Iterable[Span]) -> Mask:
        """Return for each word whether it lies wholly in one of the spans."""
        import numpy as np

        edges = np.zeros(len(self) + 1, np.int64)
        bounds = np.array(list(spans), np.int64).reshape(-1, 2)
        first = np.searchsorted(self.starts, bounds[:, 0], "left")
        last = np.maximum(np.searchsorted(self.ends, bounds[:, 1], "right"), first)
        np.add.at(edges, first, 1)
        np.add.at(edges, last, -1)
        return np.cumsum(edges)[:-1] > 0

    def spans(self, mask: Mask) -> list[Span]:
        """Return a span for each run of adjacent marked words."""
        import numpy as np

        changes = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
        return [
            (int(self.starts[first]), int(self.ends[end - 1]))
            for first, end in changes.reshape(-1, 2).tolist()
        ]

    def count(self, mask: Mask) -> int:
        """Return the number of marked words."""
        return int(mask.sum())

    def characters(self, mask: Mask) -> int:
        """Return the number of characters of the marked words."""
        return int(self.lengths[mask].sum())


class SpanCounter:
    """Counts words and characters in spans by prefix sums: O(log n) for a span of n words.

    There may be millions of sources with a span or two each, for which masks are too slow.
    """

    def __init__(self, words: WordSpans, counts: Mask) -> None:
        """Count only the words that `counts` marks."""
        self._starts: list[int] = words.starts.tolist()
        self._ends: list[int] = words.ends.tolist()
        # How many words and characters count before each word.
        self._words: list[int] = [0, *counts.cumsum().tolist()]
        self._characters: list[int] = [0, *(words.lengths * counts).cumsum().tolist()]

    def word_ranges(self, spans: Iterable[Span]) -> list[Span]:
        """Return the words in the spans as ranges of word indexes, in order and without overlap."""
        return merge_spans((first, end) for first, end in map(self._range, spans) if first < end)

    def words(self, ranges: Sequence[Span]) -> int:
        """Return how many words of these ranges count."""
        return sum(self._words[end] - self._words[first] for first, end in ranges)

    def characters(self, ranges: Sequence[Span]) -> int:
        """Return how many characters the counted words of these ranges have."""
        return sum(self._characters[end] - self._characters[first] for first, end in ranges)

    def has_word(self, ranges: Sequence[Span], span: Span) -> bool:
        """Return whether a counted word of these ranges lies in a span of the text."""
        first, last = self._range(span)
        for at in range(bisect_right(ranges, first, key=lambda each: each[1]), len(ranges)):
            begin, stop = max(ranges[at][0], first), min(ranges[at][1], last)
            if begin >= last:
                break
            if self._words[stop] > self._words[begin]:
                return True
        return False

    def _range(self, span: Span) -> Span:
        return bisect_left(self._starts, span[0]), bisect_right(self._ends, span[1])
