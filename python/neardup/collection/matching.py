"""Candidates → documents that are near, verified by their texts where that is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.threshold import Threshold, threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.segments import Candidates, Segments
    from neardup.collection.store import Store
    from neardup.recipe import Recipe

# Cosines of equal features may miss 1 by a rounding error.
TWIN = 1 - 1e-9
# Candidates looked at beyond those asked for, before all are.
SPARE = 32
# So many pairs are compared at once: to hand them to other threads would take longer.
FEW = 64
# Pairs whose texts are in memory at a time.
PAIRS = 4096


class Pairs(NamedTuple):
    """Rows of queries and the keys near them, best first for each query.

    similarity  exact cosine; None where the radius decides
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64] | None


def limits(
    similarity: float | None, radius: int | None, recall: float | None, bits: int, magnitude: int
) -> Threshold:
    """`threshold` for about 2 ** magnitude documents. It takes a while, and is asked each time."""
    try:
        return _limits(similarity, radius, recall, bits, magnitude)
    except TypeError:
        # What cannot be remembered is told by its name.
        return threshold(similarity, radius, recall, bits=bits, rows=1 << magnitude)


@lru_cache(maxsize=256)
def _limits(
    similarity: float | None, radius: int | None, recall: float | None, bits: int, magnitude: int
) -> Threshold:
    return threshold(similarity, radius, recall, bits=bits, rows=1 << magnitude)


def digest_of(text: str, data: bytes) -> bytes | None:
    """By what a text without a signal is known again; without a letter or digit it is not."""
    if any(map(str.isalnum, text)):
        return hashlib.blake2b(data, digest_size=16).digest()
    return None


def verified(
    candidates: Candidates,
    texts: Sequence[str],
    store: Store,
    recipe: Recipe,
    wanted: float,
    most: int | None,
) -> Pairs:
    """Candidates whose cosine is at least `wanted`, the most similar first.

    A query that has `most` with a cosine of one needs no others: nothing is better, and of those
    the nearest come first. So one of a million equal texts is found as fast as one of a few.
    """
    import numpy as np

    queries, keys, distances = candidates
    rest = np.arange(len(keys))
    perfect = np.zeros(len(texts), dtype=np.int64)
    rows: list[NDArray[np.int64]] = []
    cosines: list[NDArray[np.float64]] = []
    while len(rest):
        part, rest = rest[:PAIRS], rest[PAIRS:]
        found = _cosines(queries[part], keys[part], texts, store, recipe)
        near = found >= wanted
        rows.append(part[near])
        cosines.append(found[near])
        if most is not None and len(rest):
            perfect += np.bincount(queries[part[found >= 1]], minlength=len(texts))
            rest = rest[perfect[queries[rest]] < most]
    if not rows:
        return Pairs(queries, keys, distances, np.zeros(0))
    row, cosine = np.concatenate(rows), np.concatenate(cosines)
    order = np.lexsort((keys[row], distances[row], -cosine, queries[row]))
    row, cosine = row[order], cosine[order]
    if most is not None:
        kept = np.arange(len(row)) - np.searchsorted(queries[row], queries[row]) < most
        row, cosine = row[kept], cosine[kept]
    return Pairs(queries[row], keys[row], distances[row], cosine)


def _cosines(
    queries: NDArray[np.int64],
    keys: NDArray[np.int64],
    texts: Sequence[str],
    store: Store,
    recipe: Recipe,
) -> NDArray[np.float64]:
    import numpy as np

    from neardup.collection.rows import unpacked

    asked, left = np.unique(queries, return_inverse=True)
    stored, right = np.unique(keys, return_inverse=True)
    found = store.by_keys(stored.tolist(), whole=True)
    both = [texts[row] for row in asked.tolist()]
    both += [unpacked(found[key].text) or "" for key in stored.tolist()]
    return cosines(both, left, right + len(asked), recipe)


def cosines(
    texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64], recipe: Recipe
) -> NDArray[np.float64]:
    """The exact cosine of pairs of texts; those without features are alike if equal."""
    import numpy as np

    if len(left) <= FEW:
        similarity = recipe.pipeline.similarity
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        found = np.array([similarity(texts[a], texts[b]) for a, b in pairs], dtype=np.float64)
    else:
        data = [text.encode() for text in texts]
        ends = np.cumsum([len(part) for part in data], dtype=np.int64)
        stored = _core.Texts.in_memory(b"".join(data), ends)
        rows = left.astype(np.uint32), right.astype(np.uint32)
        found, _ = recipe.pipeline.judge(stored, *rows, None)
    for row in np.flatnonzero(np.isnan(found)).tolist():
        found[row] = texts[left[row]] == texts[right[row]]
    found[found >= TWIN] = 1.0
    return found


def near(
    values: NDArray[np.uint64],
    texts: Sequence[str],
    segments: Segments,
    wanted: Threshold,
    most: int | None,
) -> Pairs:
    """The documents near each query, or the best `most`. All queries have a fingerprint."""
    import numpy as np

    store, recipe = segments.store, segments.recipe
    if wanted.similarity is None:
        return Pairs(*segments.search(values, wanted, most), None)
    if most is None:
        found = segments.search(values, wanted, None)
        return verified(found, texts, store, recipe, wanted.similarity, None)
    # A few of the nearest are often enough. If not, and there are more, they have to be looked at.
    few = most + SPARE
    found = segments.search(values, wanted, few)
    first = verified(found, texts, store, recipe, wanted.similarity, most)
    assert first.similarities is not None  # noqa: S101
    enough = np.bincount(first.queries[first.similarities >= 1], minlength=len(texts)) >= most
    full = np.bincount(found.queries, minlength=len(texts)) >= few
    again = np.flatnonzero(full & ~enough)
    if not len(again):
        return first
    kept = ~np.isin(first.queries, again)
    parts = [Pairs(*(np.asarray(column)[kept] for column in first))]
    for query in again.tolist():
        every = segments.search(values[query : query + 1], wanted, None)
        every = every._replace(queries=every.queries + query)
        parts.append(verified(every, texts, store, recipe, wanted.similarity, most))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Pairs(*(column[order] for column in columns))
