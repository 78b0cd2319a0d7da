"""Fingerprints and texts → who is near whom, verified, on this machine.

Texts that say the same (equal fingerprints and a cosine of one) are twins: one of them is compared,
and the others follow it. So a million copies of a text cost no more than one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup.clusters import Linkage, clusters
from neardup.columns import values_of
from neardup.fingerprint import Fingerprints
from neardup.pairs import pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.threshold import Threshold

    Rows = NDArray[np.int64]

Tick = Callable[[int], object]

# Cosines of equal features may miss 1 by a rounding error.
TWIN = 1 - 1e-9
# Pairs verified at a time.
BATCH = 1 << 16
SIMILARITY_BINS = 20


@dataclass
class Counts:
    """What was seen on the way.

    candidates    pairs within the radius
    verified      those whose cosine was computed
    pairs         those that count
    distances     how many of them at each distance
    similarities  how many of them in each of SIMILARITY_BINS equal parts of 0 to 1
    """

    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    distances: list[int] = field(default_factory=list)
    similarities: list[int] = field(default_factory=lambda: [0] * SIMILARITY_BINS)

    def add(self, distances: NDArray[Any], similarities: NDArray[Any] | None) -> None:
        import numpy as np

        self.pairs += len(distances)
        found = np.bincount(distances, minlength=len(self.distances))
        found[: len(self.distances)] += np.array(self.distances, dtype=np.int64)
        self.distances = found.tolist()
        if similarities is not None:
            bins = np.minimum((similarities * SIMILARITY_BINS).astype(int), SIMILARITY_BINS - 1)
            more = np.bincount(bins, minlength=SIMILARITY_BINS).tolist()
            self.similarities = [a + b for a, b in zip(self.similarities, more, strict=True)]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Some pairs of rows that count."""

    left: Rows
    right: Rows
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None


class Matcher:
    """Finds pairs among the rows of one corpus."""

    def __init__(
        self,
        fingerprints: Fingerprints,
        texts: _core.Texts,
        threshold: Threshold,
        *,
        firm: NDArray[np.uint64] | None = None,
        threads: int | None = None,
        tick: Tick | None = None,
    ) -> None:
        self.fingerprints = fingerprints
        self.texts = texts
        self.threshold = threshold
        self.firm = firm
        self.threads = threads
        self.counts = Counts()
        self.plan: dict[str, Any] = {}
        self._tick = tick or (lambda _: None)
        self._linked: list[Pairs] = []
        self.twins = self._twins()

    def similarities(self, left: Rows, right: Rows) -> NDArray[np.float64]:
        """The exact cosine of pairs of texts; those without features are alike if equal."""
        import numpy as np

        pipeline = self.fingerprints.recipe.pipeline
        found = np.empty(len(left))
        for start in range(0, len(left), BATCH):
            part = slice(start, start + BATCH)
            found[part] = pipeline.similarities(self.texts, left[part], right[part], self.threads)
            self._tick(len(found[part]))
        for row in np.flatnonzero(np.isnan(found)):
            found[row] = self.texts.get(left[row]) == self.texts.get(right[row])
        return found

    def similarities_to(self, kept: Rows, rows: Rows) -> NDArray[np.float64]:
        """As `similarities` of rows and those that are kept for them, most of which were judged
        when they were linked."""
        import numpy as np

        found = np.full(len(rows), np.nan)
        if self._linked:
            left, right = (
                np.concatenate([getattr(pairs, side) for pairs in self._linked])
                for side in ("left", "right")
            )
            cosine = np.concatenate([pairs.similarity for pairs in self._linked])
            known = np.minimum(left, right) * len(self.twins) + np.maximum(left, right)
            order = np.argsort(known)
            wanted = np.minimum(kept, rows) * len(self.twins) + np.maximum(kept, rows)
            at = np.searchsorted(known, wanted, sorter=order)
            at = order[np.minimum(at, len(order) - 1)]
            there = known[at] == wanted
            found[there] = cosine[at[there]]
        rest = np.flatnonzero(np.isnan(found))
        # Pairs that share a text lie side by side.
        rest = rest[np.argsort(kept[rest], kind="stable")]
        found[rest] = self.similarities(kept[rest], rows[rest])
        return found

    def distances(self, left: Rows, right: Rows) -> NDArray[np.int64]:
        """The distance of pairs of rows that have a signal."""
        import numpy as np

        values = self.fingerprints.values
        differing: Rows = np.bitwise_count(values[left] ^ values[right]).sum(
            axis=-1, dtype=np.int64
        )
        return differing

    def _twins(self) -> Rows:
        """For each row the first that says the same."""
        import numpy as np

        twins = clusters(self.fingerprints, 0, threads=self.threads)
        if self.threshold.similarity is not None:
            rows = np.flatnonzero(twins != np.arange(len(twins)))
            alike = self.similarities(twins[rows], rows) >= TWIN
            self.counts.verified += len(rows)
            # Equal fingerprints by chance: compared with the others as every text is.
            twins[rows[~alike]] = rows[~alike]
        first: dict[bytes, int] = {}
        for row in np.flatnonzero(~self.fingerprints.signal).tolist():
            text = self.texts.get(row)
            if any(char.isalnum() for char in text):
                # Too short to be near anything, but it may be equal to another.
                digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
                twins[row] = first.setdefault(digest, row)
        return twins

    def _units(self) -> Fingerprints:
        """The same rows; only those that are compared have a signal: nobody's twin."""
        import numpy as np

        made = self.fingerprints
        first = self.twins == np.arange(len(self.twins))
        return Fingerprints(made.values, made.signal & first, made.recipe)

    def pairs(
        self, choose: Callable[[Rows, Rows], NDArray[np.bool_]] | None = None
    ) -> Iterator[Pairs]:
        """The pairs of units that count, in no order.

        choose  of candidates, which are worth looking at
        """
        import json

        reader = pairs(
            self._units(),
            self.threshold.radius,
            self.threshold.recall,
            similarity=self.threshold.similarity,
            stream=True,
            threads=self.threads,
        )
        self.plan = json.loads(reader.schema.metadata[b"neardup"])
        for batch in reader:
            left, right, distance = map(values_of, batch.columns)
            self.counts.candidates += len(left)
            for start in range(0, len(left), BATCH):
                part = slice(start, start + BATCH)
                yield self._judged(left[part], right[part], distance[part], choose)

    def _judged(
        self,
        left: Rows,
        right: Rows,
        distance: NDArray[np.uint16],
        choose: Callable[[Rows, Rows], NDArray[np.bool_]] | None,
    ) -> Pairs:
        import numpy as np

        if choose is not None:
            chosen = choose(left, right)
            left, right, distance = left[chosen], right[chosen], distance[chosen]
        if self.threshold.similarity is None:
            self.counts.add(distance, None)
            return Pairs(left, right, distance, None)
        if self.firm is not None and self.threshold.firm is not None:
            # Strangers, however near by chance, differ in many firm bits.
            values = self.fingerprints.values
            alike = _core.firm_alike(values, self.firm, left, right, self.threshold.firm)
            left, right, distance = left[alike], right[alike], distance[alike]
        # Pairs that share their left text lie side by side: its features are made once.
        order = np.argsort(left, kind="stable")
        left, right, distance = left[order], right[order], distance[order]
        found = self.similarities(left, right)
        self.counts.verified += len(found)
        near = found >= self.threshold.similarity
        judged = Pairs(left[near], right[near], distance[near], found[near])
        self.counts.add(judged.distance, judged.similarity)
        return judged

    def clusters(self, linkage: Linkage, order: Rows | None = None) -> Rows:
        """For each row the one of its cluster that is kept: the earliest in `order`."""
        import numpy as np

        if order is None:
            # The first row of a cluster, or of twins, is its label already.
            return self._connected() if linkage == "connected" else self._star(None)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return _best(self._connected(), order) if linkage == "connected" else self._star(rank)

    def _connected(self) -> Rows:
        import numpy as np

        forest = _core.Components(len(self.twins))
        forest.link(np.arange(len(self.twins)), self.twins)
        # Pairs whose ends are connected already add nothing, however many they are.
        for found in self.pairs(forest.apart):
            forest.link(found.left, found.right)
            if found.similarity is not None and len(found.left):
                self._linked.append(found)
        return forest.labels()

    def _star(self, rank: Rows | None) -> Rows:
        """In order of rank: a row joins the first representative it is near to, or becomes one."""
        import numpy as np

        # Twins have the same neighbours: the best of them stands for all.
        best = self.twins if rank is None else _best(self.twins, np.argsort(rank, kind="stable"))
        lefts, rights = [], []
        for found in self.pairs():
            left, right = best[found.left], best[found.right]
            swap = left > right if rank is None else rank[left] > rank[right]
            lefts.append(np.where(swap, right, left))
            rights.append(np.where(swap, left, right))
        if not lefts:
            return best
        left, right = np.concatenate(lefts), np.concatenate(rights)
        sort = np.lexsort((left, right) if rank is None else (rank[left], rank[right]))
        joined = best.copy()
        for earlier, row in zip(left[sort].tolist(), right[sort].tolist(), strict=True):
            # Its first neighbour that is a representative; those before it are settled.
            if joined[row] == row and joined[earlier] == earlier:
                joined[row] = earlier
        labels: Rows = joined[best]
        return labels

    def nearest(self, first: int) -> tuple[Rows, NDArray[np.float64], Rows]:
        """For each row from `first` on the most similar row before `first`, or -1.

        Returns it with its similarity and distance (0 where there is no fingerprint).
        """
        import numpy as np

        rows = len(self.twins)
        match = np.full(rows, -1, dtype=np.int64)
        closeness = np.zeros(rows)
        distance = np.zeros(rows, dtype=np.int64)
        for found in self.pairs(lambda left, right: (left < first) & (right >= first)):
            value = found.similarity
            if value is None:
                value = -found.distance.astype(np.float64)
            # The best for each row, of equal ones the nearest, then the first, is written last.
            sort = np.lexsort((-found.left, -found.distance.astype(np.int64), value))
            left, right, value = found.left[sort], found.right[sort], value[sort]
            apart = found.distance[sort].astype(np.int64)
            nearer = (apart < distance[right]) | (
                (apart == distance[right]) & (left < match[right])
            )
            better = (match[right] < 0) | (value > closeness[right])
            better |= (value == closeness[right]) & nearer
            right = right[better]
            match[right], closeness[right] = left[better], value[better]
            distance[right] = apart[better]
        own = np.arange(rows)
        twin_before = (self.twins < first) & (own >= first)
        match[twin_before], closeness[twin_before] = self.twins[twin_before], 1.0
        distance[twin_before] = 0
        # Twins of a matched unit have the same match.
        follows = (self.twins >= first) & (self.twins != own)
        for array in (match, closeness, distance):
            array[follows] = array[self.twins[follows]]
        if self.threshold.similarity is None:
            closeness[:] = np.nan
        match[:first] = -1
        return match, closeness, distance


def _best(labels: Rows, order: Rows) -> Rows:
    """For each row the one of its label that comes first in order."""
    import numpy as np

    best = np.empty_like(labels)
    # Written from the last to the first: the first stays.
    best[labels[order[::-1]]] = order[::-1]
    return best[labels]
