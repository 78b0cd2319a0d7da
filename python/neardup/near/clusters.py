"""Fingerprints → clusters of near-duplicates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup._util.arrow import numbers
from neardup.near.corpus import Judge, judged_only
from neardup.near.matches import Clusters, Pairs, follow_twins
from neardup.near.pairs import join_arguments
from neardup.near.question import Linkage, Question, check_linkage
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.corpus import Rows


def clusters(
    fingerprints: Any,
    radius: int = 3,
    *,
    linkage: Linkage = "connected",
    recall: float = 1.0,
    threads: int | None = None,
) -> NDArray[np.int64]:
    """For each row the number of the first row of its cluster, without a list of all pairs.

    Rows whose label is their own number are the ones to keep when duplicates are dropped. A row
    without a signal is alone.

    linkage  "connected": rows joined by a chain of pairs, so the ends of a chain may be unlike.
             "star": rows in order; each joins the earliest representative within the radius, or
             becomes one: no row is further than `radius` from its label
    recall   as for `pairs`

    >>> clusters([0b0000, 0b0001, 0b0011, 0b1111000], radius=1).tolist()
    [0, 0, 0, 3]
    >>> clusters([0b0000, 0b0001, 0b0011, 0b1111000], radius=1, linkage="star").tolist()
    [0, 0, 2, 3]
    """
    codes, settings = join_arguments(fingerprints, radius, recall, None, threads)
    check_linkage(linkage)
    return _core.clusters(codes.values, codes.signal, settings, linkage, threads)


def numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers the clusters from 0, in the order in which they first occur; the number is at the
    row of the label.

    >>> import numpy as np
    >>> labels = np.array([2, 1, 2, 4, 4])
    >>> numbered(labels)[labels].tolist()
    [0, 1, 0, 2, 2]
    """
    import numpy as np

    firsts = np.full(len(labels), len(labels), dtype=np.int64)
    np.minimum.at(firsts, labels, np.arange(len(labels)))
    roots = np.flatnonzero(firsts < len(labels))
    numbers = np.zeros(len(labels), dtype=np.int64)
    numbers[roots[np.argsort(firsts[roots])]] = np.arange(len(roots))
    return numbers


# Pairs that were found, kept → clusters at any stricter threshold, without a new search.


@dataclass(frozen=True, eq=False)
class PairGraph:
    """All pairs of a search, and what it takes to cluster them again. Plain data: it pickles.

    left, right  rows that are nobody's twin, left < right, sorted
    distance     bits in which their fingerprints differ
    similarity   their exact cosines; None where a radius decided
    twins        for each row the first in order that says the same
    order        rows, those to be kept first; None: as they come
    asked        what was searched for
    texts        the texts, for verdicts on pairs that a chain has linked

    Takes 18 bytes for each pair, 17 for each text, and the texts.
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None
    twins: Rows
    order: Rows | None
    signal: NDArray[np.bool_]
    asked: Question
    linkage: Linkage
    texts: pa.ChunkedArray
    recipe: Recipe
    threads: int | None

    def near(self, question: Question) -> NDArray[np.bool_]:
        """Which pairs count for this question, which must not ask for more than was found."""
        if self.similarity is not None:
            assert question.similarity is not None  # noqa: S101
            close: NDArray[np.bool_] = self.similarity >= question.similarity
            return close
        assert question.radius is not None  # noqa: S101
        within: NDArray[np.bool_] = self.distance <= question.radius
        return within

    def clusters(self, question: Question) -> Clusters:
        """As a search for this question links them."""
        import numpy as np

        near = self.near(question)
        rows = np.arange(len(self.twins))
        order = rows if self.order is None else self.order
        place = np.empty_like(rows)
        place[order] = rows
        ends = place[self.left[near]], place[self.right[near]]
        earlier, later = np.minimum(*ends), np.maximum(*ends)
        link = star if self.linkage == "star" else connected
        chosen = link(earlier, later, len(rows))
        labels = np.empty_like(rows)
        labels[order] = order[chosen]
        # A pair is the verdict on its later row if that row is under its earlier one.
        told = np.flatnonzero(chosen[later] == earlier)
        similarity, distance = np.full(len(rows), np.nan), np.zeros(len(rows), dtype=np.int64)
        of = order[later[told]]
        distance[of] = self.distance[near][told]
        if self.similarity is not None:
            similarity[of] = self.similarity[near][told]
        found = follow_twins(self.twins, labels, similarity, distance)
        if self.similarity is None:
            # Twins by radius have equal fingerprints, but not always equal features.
            found.similarity[:] = np.nan
        return found

    def judge(self) -> Judge:
        """Judges pairs of these texts that were not looked at."""
        return Judge(judged_only(self.texts, self.recipe, self.signal), threads=self.threads)

    def table(self, question: Question) -> pa.Table:
        """left, right, distance, similarity; a twin is paired with the first of its equals only."""
        import numpy as np
        import pyarrow as pa

        near = self.near(question)
        repeats = np.flatnonzero(self.twins != np.arange(len(self.twins)))
        firsts = self.twins[repeats]
        left = np.concatenate([self.left[near].astype(np.int64), np.minimum(repeats, firsts)])
        right = np.concatenate([self.right[near].astype(np.int64), np.maximum(repeats, firsts)])
        none = np.zeros(len(repeats), dtype=np.uint16)
        distance = np.concatenate([self.distance[near], none])
        cosine = np.full(int(near.sum()), np.nan)
        if self.similarity is not None:
            cosine = self.similarity[near]
        unknown = self.similarity is None
        similarity = np.concatenate([cosine, np.full(len(repeats), np.nan if unknown else 1.0)])
        sort = np.lexsort((right, left))
        left, right, similarity = left[sort], right[sort], similarity[sort]
        return pa.table(
            {
                "left": numbers(left),
                "right": numbers(right),
                "distance": numbers(distance[sort], ~(self.signal[left] & self.signal[right])),
                "similarity": numbers(similarity, np.isnan(similarity)),
            }
        )


class Gathered(NamedTuple):
    """All pairs in few bytes, left < right, sorted."""

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None


def gathered(found: Iterable[Pairs], *, judged: bool) -> Gathered:
    """Pairs as they are found, put together; `judged` says whether they have a similarity."""
    import numpy as np

    # Batches are turned into narrow numbers as they come: there may be many.
    parts = [
        (
            np.minimum(pairs.left, pairs.right).astype(np.uint32),
            np.maximum(pairs.left, pairs.right).astype(np.uint32),
            pairs.distance.astype(np.uint16, copy=False),
            pairs.similarity if judged else None,
        )
        for pairs in found
    ]
    left = np.concatenate([np.zeros(0, dtype=np.uint32), *(part[0] for part in parts)])
    right = np.concatenate([np.zeros(0, dtype=np.uint32), *(part[1] for part in parts)])
    distance = np.concatenate([np.zeros(0, dtype=np.uint16), *(part[2] for part in parts)])
    sort = np.lexsort((right, left))
    similarity = None
    if judged:
        similarity = np.concatenate([np.zeros(0), *(part[3] for part in parts)])[sort]
    return Gathered(left[sort], right[sort], distance[sort], similarity)


def star(earlier: Rows, later: Rows, rows: int) -> Rows:
    """Rows in turn: each goes under the first row that it is near to and that is under none.

    Linear in the pairs.
    """
    import numpy as np

    sort = np.lexsort((earlier, later))
    leads = bytearray(b"\x01") * rows
    labels = np.arange(rows)
    found = []
    for first, second in zip(earlier[sort].tolist(), later[sort].tolist(), strict=True):
        if leads[second] and leads[first]:
            leads[second] = 0
            found.append((second, first))
    if found:
        under, over = np.array(found, dtype=np.int64).T
        labels[under] = over
    return labels


def connected(earlier: Rows, later: Rows, rows: int) -> Rows:
    """Rows joined by a chain of pairs, under the first of them.

    The roots of two trees that a pair joins are hooked together until no pair joins two.
    """
    import numpy as np

    labels = np.arange(rows)
    while len(earlier):
        low, high = np.minimum(earlier, later), np.maximum(earlier, later)
        np.minimum.at(labels, high, low)
        while not np.array_equal(above := labels[labels], labels):
            labels = above
        earlier, later = labels[earlier], labels[later]
        apart = earlier != later
        earlier, later = earlier[apart], later[apart]
    return labels
