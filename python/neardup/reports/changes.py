"""Which words of an edited passage differ between the two texts."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from neardup.passages import Passage
from neardup.reports.differences import Budget, differences

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
