"""Clusters of fingerprints, and of the pairs of a join.

`link_rows` is the only place in Python that turns pairs into clusters, by a linkage and a keep
order; `PairGraph` and the Spark engine call it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup._util.arrow import number_array
from neardup.near.corpus import Judge, judging_corpus
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
    """Return for each row the number of the first row of its cluster.

    To drop duplicates, keep the rows whose label is their own number. A row without a signal is a
    cluster of its own. The list of all pairs is never in memory.

    linkage  "connected": rows joined by a chain of pairs, so the ends of a chain may differ a lot.
             "star": in order, each row joins the first representative within the radius, or becomes
             one, so no row is further than `radius` from its label
    recall   as for `pairs`

    >>> clusters([0b0000, 0b0001, 0b0011, 0b1111000], radius=1).tolist()
    [0, 0, 0, 3]
    >>> clusters([0b0000, 0b0001, 0b0011, 0b1111000], radius=1, linkage="star").tolist()
    [0, 0, 2, 3]
    """
    codes, reach = join_arguments(fingerprints, radius, recall, None, threads)
    check_linkage(linkage)
    return _core.clusters(codes.values, codes.signal, reach, linkage, threads)


def number_clusters(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the clusters from 0, in the order of their first rows; index the result by label.

    >>> import numpy as np
    >>> labels = np.array([2, 1, 2, 4, 4])
    >>> number_clusters(labels)[labels].tolist()
    [0, 1, 0, 2, 2]
    """
    import numpy as np

    firsts = np.full(len(labels), len(labels), dtype=np.int64)
    np.minimum.at(firsts, labels, np.arange(len(labels)))
    roots = np.flatnonzero(firsts < len(labels))
    numbers = np.zeros(len(labels), dtype=np.int64)
    numbers[roots[np.argsort(firsts[roots])]] = np.arange(len(roots))
    return numbers


class LinkedRows(NamedTuple):
    """Rows linked into clusters.

    labels  for each row its representative
    pairs   indices of the pairs of a row and its representative
    rows    for each of these pairs the row that is not the representative
    """

    labels: Rows
    pairs: Rows
    rows: Rows


def link_rows(
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    count: int,
    linkage: Linkage,
    order: Rows | None = None,
) -> LinkedRows:
    """Link `count` rows by pairs of them; the first row in order represents its cluster.

    order  all rows, the ones to keep first [default: by row number]
    """
    import numpy as np

    rows = np.arange(count)
    order = rows if order is None else order
    place = np.empty_like(rows)
    place[order] = rows
    ends = place[left], place[right]
    earlier, later = np.minimum(*ends), np.maximum(*ends)
    link = star if linkage == "star" else connected
    place_labels = link(earlier, later, count)
    labels = np.empty_like(rows)
    labels[order] = order[place_labels]
    direct = np.flatnonzero(place_labels[later] == earlier)
    return LinkedRows(labels, direct, order[later[direct]])


def star(earlier: Rows, later: Rows, count: int) -> Rows:
    """Label each row, in turn, with the first near row that is a representative.

    Takes rows by their place in keep order. Linear in the pairs, after a order.
    """
    import numpy as np

    order = np.lexsort((earlier, later))
    is_representative = bytearray(b"\x01") * count
    labels = np.arange(count)
    joined = []
    for first, second in zip(earlier[order].tolist(), later[order].tolist(), strict=True):
        if is_representative[second] and is_representative[first]:
            is_representative[second] = 0
            joined.append((second, first))
    if joined:
        members, representatives = np.array(joined, dtype=np.int64).T
        labels[members] = representatives
    return labels


def connected(earlier: Rows, later: Rows, count: int) -> Rows:
    """Label rows joined by a chain of pairs with the first of them.

    A forest of labels: hook the roots of two trees that a pair joins, until no pair joins two.
    """
    import numpy as np

    labels = np.arange(count)
    while len(earlier):
        low, high = np.minimum(earlier, later), np.maximum(earlier, later)
        np.minimum.at(labels, high, low)
        while not np.array_equal(grandparents := labels[labels], labels):
            labels = grandparents
        earlier, later = labels[earlier], labels[later]
        separate = earlier != later
        earlier, later = earlier[separate], later[separate]
    return labels


class PairArrays(NamedTuple):
    """All pairs of a join in compact arrays, left < right, sorted."""

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None


def gather_pairs(batches: Iterable[Pairs], *, judged: bool) -> PairArrays:
    """Collect batches of pairs in sorted arrays; `judged`: whether they have similarities."""
    import numpy as np

    # Narrow the types of each batch at once: there may be many pairs.
    parts = [
        (
            np.minimum(pairs.left, pairs.right).astype(np.uint32),
            np.maximum(pairs.left, pairs.right).astype(np.uint32),
            pairs.distance.astype(np.uint16, copy=False),
            pairs.similarity if judged else None,
        )
        for pairs in batches
    ]
    left = np.concatenate([np.zeros(0, dtype=np.uint32), *(part[0] for part in parts)])
    right = np.concatenate([np.zeros(0, dtype=np.uint32), *(part[1] for part in parts)])
    distance = np.concatenate([np.zeros(0, dtype=np.uint16), *(part[2] for part in parts)])
    order = np.lexsort((right, left))
    similarity = None
    if judged:
        similarity = np.concatenate([np.zeros(0), *(part[3] for part in parts)])[order]
    return PairArrays(left[order], right[order], distance[order], similarity)


@dataclass(frozen=True, eq=False)
class PairGraph:
    """All pairs of a join, to cluster again at any stricter threshold. It can be pickled.

    left, right  rows that are their own twin, left < right, sorted
    distance     bits in which their fingerprints differ
    similarity   exact cosines; None for a question by radius
    twins        for each row the first row, in order, with identical features
    order        all rows, the ones to keep first; None: by row number
    question     the question of the join
    texts        to judge rows that only a chain of pairs links to their representative

    Takes 18 bytes a pair, 17 bytes a text, and the texts.
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None
    twins: Rows
    order: Rows | None
    signal: NDArray[np.bool_]
    question: Question
    linkage: Linkage
    texts: pa.ChunkedArray
    recipe: Recipe
    threads: int | None

    def near(self, question: Question) -> NDArray[np.bool_]:
        """Return a mask of the near pairs; the question is at least as strict as the join's."""
        if self.similarity is not None:
            assert question.similarity is not None  # noqa: S101
            close: NDArray[np.bool_] = self.similarity >= question.similarity
            return close
        assert question.radius is not None  # noqa: S101
        within: NDArray[np.bool_] = self.distance <= question.radius
        return within

    def clusters(self, question: Question) -> Clusters:
        """Return the clusters that a new join for this question would return."""
        import numpy as np

        near = self.near(question)
        count = len(self.twins)
        linked = link_rows(self.left[near], self.right[near], count, self.linkage, self.order)
        similarity, distance = np.full(count, np.nan), np.zeros(count, dtype=np.int64)
        distance[linked.rows] = self.distance[near][linked.pairs]
        if self.similarity is not None:
            similarity[linked.rows] = self.similarity[near][linked.pairs]
        found = follow_twins(self.twins, linked.labels, similarity, distance)
        if self.similarity is None:
            # Twins by radius have equal fingerprints, but not always equal features.
            found.similarity[:] = np.nan
        return found

    def judge(self) -> Judge:
        """Return a judge of pairs of these texts that the join did not compare."""
        return Judge(judging_corpus(self.texts, self.recipe, self.signal), threads=self.threads)

    def table(self, question: Question) -> pa.Table:
        """Return the pairs: left, right, distance, similarity; a row is paired with its twin."""
        import numpy as np
        import pyarrow as pa

        near = self.near(question)
        repeats = np.flatnonzero(self.twins != np.arange(len(self.twins)))
        firsts = self.twins[repeats]
        left = np.concatenate([self.left[near].astype(np.int64), np.minimum(repeats, firsts)])
        right = np.concatenate([self.right[near].astype(np.int64), np.maximum(repeats, firsts)])
        zeros = np.zeros(len(repeats), dtype=np.uint16)
        distance = np.concatenate([self.distance[near], zeros])
        similarity = np.full(len(left), np.nan)
        if self.similarity is not None:
            similarity = np.concatenate([self.similarity[near], np.ones(len(repeats))])
        order = np.lexsort((right, left))
        left, right, similarity = left[order], right[order], similarity[order]
        return pa.table(
            {
                "left": number_array(left),
                "right": number_array(right),
                "distance": number_array(
                    distance[order], ~(self.signal[left] & self.signal[right])
                ),
                "similarity": number_array(similarity, np.isnan(similarity)),
            }
        )
