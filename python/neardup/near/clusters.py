"""Clusters: of fingerprints, and of pairs that a join has found.

`link_rows` is the one place in Python where pairs become clusters by a linkage and a keep order;
`PairGraph` and the Spark engine use it.
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

    To drop duplicates, keep the rows whose label is their own number. A row without a signal is
    alone. No list of all pairs is built.

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
    found = np.zeros(len(labels), dtype=np.int64)
    found[roots[np.argsort(firsts[roots])]] = np.arange(len(roots))
    return found


class LinkedRows(NamedTuple):
    """Rows linked into clusters.

    labels  for each row its representative
    pairs   indices of the pairs of a row and its representative
    rows    the row of each of these pairs that is not the representative
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
    """Link `count` rows by pairs of them; the row that is first in order represents a cluster.

    order  all rows, the ones to keep first [default: as numbered]
    """
    import numpy as np

    rows = np.arange(count)
    order = rows if order is None else order
    place = np.empty_like(rows)
    place[order] = rows
    ends = place[left], place[right]
    earlier, later = np.minimum(*ends), np.maximum(*ends)
    link = star if linkage == "star" else connected
    found = link(earlier, later, count)
    labels = np.empty_like(rows)
    labels[order] = order[found]
    direct = np.flatnonzero(found[later] == earlier)
    return LinkedRows(labels, direct, order[later[direct]])


def star(earlier: Rows, later: Rows, count: int) -> Rows:
    """Put each row, in turn, under the first near row that is a representative itself.

    Linear in the pairs.
    """
    import numpy as np

    sort = np.lexsort((earlier, later))
    leads = bytearray(b"\x01") * count
    labels = np.arange(count)
    found = []
    for first, second in zip(earlier[sort].tolist(), later[sort].tolist(), strict=True):
        if leads[second] and leads[first]:
            leads[second] = 0
            found.append((second, first))
    if found:
        under, over = np.array(found, dtype=np.int64).T
        labels[under] = over
    return labels


def connected(earlier: Rows, later: Rows, count: int) -> Rows:
    """Put rows joined by a chain of pairs under the first of them.

    The roots of two trees that a pair joins are hooked together until no pair joins two trees.
    """
    import numpy as np

    labels = np.arange(count)
    while len(earlier):
        low, high = np.minimum(earlier, later), np.maximum(earlier, later)
        np.minimum.at(labels, high, low)
        while not np.array_equal(above := labels[labels], labels):
            labels = above
        earlier, later = labels[earlier], labels[later]
        apart = earlier != later
        earlier, later = earlier[apart], later[apart]
    return labels


class PairArrays(NamedTuple):
    """All pairs of a join in compact arrays, left < right, sorted."""

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None


def gather_pairs(batches: Iterable[Pairs], *, judged: bool) -> PairArrays:
    """Collect batches of pairs; `judged` says whether they have similarities."""
    import numpy as np

    # Narrowed batch by batch: there may be many pairs.
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
    sort = np.lexsort((right, left))
    similarity = None
    if judged:
        similarity = np.concatenate([np.zeros(0), *(part[3] for part in parts)])[sort]
    return PairArrays(left[sort], right[sort], distance[sort], similarity)


@dataclass(frozen=True, eq=False)
class PairGraph:
    """All pairs of a join, to be clustered again at any stricter threshold. It can be pickled.

    left, right  rows that are their own twin, left < right, sorted
    distance     bits in which their fingerprints differ
    similarity   exact cosines; None where a radius decided
    twins        for each row the first row, in order, with identical features
    order        rows, the ones to keep first; None: as they come
    question     of the join
    texts        for verdicts on rows that only a chain of pairs links

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
        """Return which pairs are near by a question as strict as that of the join, or stricter."""
        if self.similarity is not None:
            assert question.similarity is not None  # noqa: S101
            close: NDArray[np.bool_] = self.similarity >= question.similarity
            return close
        assert question.radius is not None  # noqa: S101
        within: NDArray[np.bool_] = self.distance <= question.radius
        return within

    def clusters(self, question: Question) -> Clusters:
        """Return the clusters that a new join for this question would."""
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
        none = np.zeros(len(repeats), dtype=np.uint16)
        distance = np.concatenate([self.distance[near], none])
        similarity = np.full(len(left), np.nan)
        if self.similarity is not None:
            similarity = np.concatenate([self.similarity[near], np.ones(len(repeats))])
        sort = np.lexsort((right, left))
        left, right, similarity = left[sort], right[sort], similarity[sort]
        return pa.table(
            {
                "left": number_array(left),
                "right": number_array(right),
                "distance": number_array(distance[sort], ~(self.signal[left] & self.signal[right])),
                "similarity": number_array(similarity, np.isnan(similarity)),
            }
        )
