"""Which words of an edited passage differ between the two texts."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from neardup.reports.differences import Budget, differences
from neardup.text.passages import Passage

# Half a second for all passages of a page; later ones are marked as a whole.
PAGE_STEPS = 3_000_000

Spans = tuple[tuple[int, int], ...]


class Changes(NamedTuple):
    """Places of changed words in the left text and in the right one.

    is_known  else the passage was too much work, and is marked as a whole
    """

    left: Spans = ()
    right: Spans = ()
    is_known: bool = True

    def on(self, side: int) -> Spans:
        return self.right if side else self.left


class Equal:
    """The stretches of equal words in the passages of two texts, where they are known.

    rows  left start, left end, right start, right end
    """

    def __init__(self, rows: Sequence[tuple[int, int, int, int]]) -> None:
        self._rows = sorted(rows)

    def changes(self, passage: Passage, texts: tuple[str, str]) -> Changes:
        """What lies between them in a passage."""
        first = bisect_left(self._rows, (passage.left_start, 0, 0, 0))
        last = bisect_left(self._rows, (passage.left_end, 0, 0, 0))
        inside = [
            row
            for row in self._rows[first:last]
            if row[1] <= passage.left_end
            and passage.right_start <= row[2] <= row[3] <= passage.right_end
        ]
        left = _gaps(texts[0], passage.left_start, passage.left_end, [row[:2] for row in inside])
        right = [row[2:] for row in inside]
        return Changes(left, _gaps(texts[1], passage.right_start, passage.right_end, sorted(right)))


def _gaps(text: str, start: int, end: int, equal: Sequence[tuple[int, int]]) -> Spans:
    """Words of a stretch that are in none of those within it."""
    found = []
    for begin, stop in [*equal, (end, end)]:
        gap = text[start:begin]
        if any(map(str.isalnum, gap)):
            first = start + len(gap) - len(gap.lstrip())
            found.append((first, first + len(gap.strip())))
        start = max(start, stop)
    return tuple(found)


def changes(passage: Passage, left: str, right: str, budget: Budget) -> Changes:
    """What was changed, added or left out within a passage, word by word."""
    if passage.exact:
        return Changes()
    here = left[passage.left_start : passage.left_end]
    there = right[passage.right_start : passage.right_end]
    # Pieces of a text are cheap to compare; without any steps left nothing is.
    if budget.left <= 0:
        return Changes(is_known=False)
    found = differences(here, there, budget, fold=_folded)
    if found.coarse:
        budget.left = 0
        return Changes(is_known=False)
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    at = [passage.left_start, passage.right_start]
    for stretch in found.stretches:
        for side, text in enumerate((stretch.left, stretch.right)):
            size = len(text.rstrip())
            if size and stretch.counts and not stretch.same:
                spans[side].append((at[side], at[side] + size))
            at[side] += len(text)
    return Changes(tuple(spans[0]), tuple(spans[1]))


def _folded(word: str) -> str:
    """What words are compared by; nothing for signs, which do not count."""
    if not any(map(str.isalnum, word)):
        return ""
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
