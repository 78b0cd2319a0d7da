"""Naive deduplication: compare every text with every other."""

from __future__ import annotations

from collections.abc import Sequence

import neardup as nd


def is_near(a: str, b: str, similarity: float, recipe: nd.Recipe) -> bool:
    if nd.fingerprint(a, recipe) is None or nd.fingerprint(b, recipe) is None:
        # Without a fingerprint a text is near only to equal ones with a letter or digit.
        return a == b and any(char.isalnum() for char in a)
    return nd.similarity(a, b, recipe) >= similarity


def near_pairs(texts: Sequence[str], similarity: float, recipe: nd.Recipe) -> list[tuple[int, int]]:
    rows = range(len(texts))
    return [
        (a, b)
        for a in rows
        for b in rows[a + 1 :]
        if is_near(texts[a], texts[b], similarity, recipe)
    ]


def order_of(texts: Sequence[str], keep: str, keys: Sequence[float] | None = None) -> list[int]:
    rows = list(range(len(texts)))
    rule = keep.partition(":")[0]
    if rule == "longest":
        rows.sort(key=lambda row: -len(texts[row].encode()))
    elif rule == "shortest":
        rows.sort(key=lambda row: len(texts[row].encode()))
    elif rule in ("newest", "best"):
        assert keys is not None
        rows.sort(key=lambda row: -keys[row])
    return rows


def labels(
    count: int, pairs: Sequence[tuple[int, int]], linkage: str, order: Sequence[int]
) -> list[int]:
    """Return for each row the kept row of its cluster."""
    near: list[set[int]] = [set() for _ in range(count)]
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    label = [-1] * count
    for row in order:
        if linkage == "star":
            # The first representative, in this order, that it is near.
            chosen = [other for other in order if label[other] == other and other in near[row]]
            label[row] = chosen[0] if chosen else row
        elif label[row] < 0:
            reach = [row]
            while reach:
                member = reach.pop()
                if label[member] < 0:
                    label[member] = row
                    reach.extend(near[member])
    return label


def nearest(
    texts: Sequence[str], reference: Sequence[str], similarity: float, recipe: nd.Recipe
) -> list[int | None]:
    """Return for each text the most similar near row of the reference; ties go to an equal text,
    then to the first."""
    found: list[int | None] = []
    for text in texts:
        near = [
            (-closeness(text, other, recipe), text != other, row)
            for row, other in enumerate(reference)
            if is_near(text, other, similarity, recipe)
        ]
        found.append(min(near)[-1] if near else None)
    return found


def closeness(a: str, b: str, recipe: nd.Recipe) -> float:
    """Return the cosine, rounded so that equal features give equal cosines."""
    return 1.0 if a == b else round(nd.similarity(a, b, recipe), 9)


def twins(a: str, b: str, recipe: nd.Recipe) -> bool:
    """Return whether two texts have identical features."""
    return is_near(a, b, 1 - 1e-9, recipe)
