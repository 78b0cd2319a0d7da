"""The definition of `distinguish`, pair by pair: the slow twin of sketches mixed with classes."""

from __future__ import annotations

from collections.abc import Sequence

import neardup as nd
from neardup.text.differences import differences, negation_words


def common_words(left: list[str], right: list[str]) -> int:
    """Return the length of the longest common subsequence, by the textbook."""
    row = [0] * (len(right) + 1)
    for a in left:
        corner = 0
        for at, b in enumerate(right):
            corner, row[at + 1] = row[at + 1], corner + 1 if a == b else max(row[at + 1], row[at])
    return row[-1]


def share_in_order(left: str, right: str) -> float:
    """Return the share of words that both texts have in the same order."""
    one, two = (negation_words().tokens(text)[0] for text in (left, right))
    return 2 * common_words(one, two) / (len(one) + len(two)) if one or two else 1.0


def agreement(left: str, right: str, distinguish: Sequence[str]) -> float:
    """Return the largest similarity that `distinguish` allows two texts."""
    if set(differences(left, right).aspects) & set(distinguish):
        return 0.0
    return share_in_order(left, right) if "order" in distinguish else 1.0


def similarity(left: str, right: str, distinguish: Sequence[str]) -> float:
    """Return the similarity of two texts under `distinguish`."""
    return min(nd.similarity(left, right), agreement(left, right, distinguish))
