"""What a search of a corpus has found: the types that engines and jobs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.near.corpus import Judge, Stage, Tick
from neardup.near.question import Linkage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus, Rows
    from neardup.near.question import Question


SIMILARITY_BINS = 20


@dataclass
class MatchCounts:
    """What was counted during the search.

    candidates    pairs that were looked at
    verified      those whose cosine was computed
    pairs         those that count
    distances     how many of them at each distance
    similarities  how many of them in each of SIMILARITY_BINS equal parts of 0 to 1
    edge          pairs found just above the similarity; and how many such pairs there are by that
    """

    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    distances: list[int] = field(default_factory=list)
    similarities: list[int] = field(default_factory=lambda: [0] * SIMILARITY_BINS)
    edge: tuple[int, float] = (0, 0.0)

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

    @property
    def estimated_recall(self) -> float | None:
        """The share of pairs just above the similarity that was found, by those found."""
        found, expected = self.edge
        return found / expected if found else None


@dataclass(frozen=True, eq=False)
class Pairs:
    """Some pairs of rows that count; `similarity` where it decided."""

    left: Rows
    right: Rows
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Clusters:
    """For each row the one that stands for its cluster.

    similarity  with that one, where it was computed on the way; NaN elsewhere
    distance    the same
    """

    labels: Rows
    similarity: NDArray[np.float64]
    distance: Rows


@dataclass(frozen=True, eq=False)
class Nearest:
    """For each row of the inputs the row of the reference it is nearest to, or -1."""

    match: Rows
    similarity: NDArray[np.float64]
    distance: Rows


def follow_twins(
    twins: Rows, labels: Rows, similarity: NDArray[np.float64], distance: Rows
) -> Clusters:
    """Twins have the same neighbours: they go with the one that stands for them."""
    import numpy as np

    alone = twins == np.arange(len(labels))
    labels, similarity, distance = labels[twins], similarity[twins], distance[twins]
    first = ~alone & (labels == twins)
    similarity[first], distance[first] = 1.0, 0
    return Clusters(labels, similarity, distance)


class Matches(ABC):
    """The near-duplicates of a corpus. Ask for `pairs`, `clusters` or `nearest` once.

    twins   for each row the first in order that says the same: equal features, or equal texts
            without a signal. One of them is compared, and the others follow it
    counts  what was seen on the way; complete when an answer is
    plan    how pairs are looked for
    sample  draws some of the pairs that are judged, if somebody has put one here
    """

    twins: Rows
    plan: dict[str, Any]

    def __init__(
        self,
        corpus: Corpus,
        question: Question,
        *,
        threads: int | None = None,
        tick: Tick | None = None,
        stage: Stage | None = None,
    ) -> None:
        self.corpus = corpus
        self.question = question
        self.threads = threads
        self.judge = Judge(corpus, threads=threads, tick=tick)
        self.counts = MatchCounts()
        self.sample: PairSample | None = None
        self._stage: Stage = stage or (lambda name, total, unit: None)

    @abstractmethod
    def pairs(self) -> Iterator[Pairs]:
        """The pairs of rows that are nobody's twin, in no order; the earlier row is on the left."""

    @abstractmethod
    def clusters(self, linkage: Linkage) -> Clusters:
        """Rows that are linked, under the first of them in order."""

    def nearest(self, first: int) -> Nearest:
        """For each row from `first` on the most similar row before it; of equals the nearest in
        bits, then the first."""
        import numpy as np

        rows = len(self.twins)
        match = np.full(rows, -1, dtype=np.int64)
        closeness, distance = np.full(rows, np.nan), np.zeros(rows, dtype=np.int64)
        found = [pairs for pairs in self.pairs() if len(pairs.left)]
        if found:
            left, right = (np.concatenate([getattr(x, side) for x in found]) for side in SIDES)
            apart = np.concatenate([x.distance for x in found]).astype(np.int64)
            value = np.full(len(left), np.nan)
            if self.question.similarity is not None:
                value = np.concatenate([x.similarity for x in found])
            # The best for each row is written last.
            sort = np.lexsort((-left, -apart, np.nan_to_num(value)))
            right = right[sort]
            match[right], closeness[right] = left[sort], value[sort]
            distance[right] = apart[sort]
        own = np.arange(rows)
        twin_before = (self.twins < first) & (own >= first)
        match[twin_before], distance[twin_before] = self.twins[twin_before], 0
        closeness[twin_before] = 1.0
        # Twins of a matched row have the same match.
        follows = (self.twins >= first) & (self.twins != own)
        for array in (match, closeness, distance):
            array[follows] = array[self.twins[follows]]
        match[:first] = -1
        return Nearest(match, closeness, distance)


SIDES = ("left", "right")


# Some of the pairs that were judged, and how many there were: what a threshold is chosen by.

# Steps of similarity from 0 to 1.
STEPS = 50
# Pairs kept of each step and side of the threshold.
OF_EACH = 6
# Pairs sorted at a time.
BATCH = 1 << 18
# The same pairs are drawn from the same corpus.
SEED = 20
# The share of a side that is much smaller than the other, in what is drawn from both.
LEAST_SHARE = 0.1


def shuffled(rows: NDArray[np.int64], reference: int, seed: int = 0) -> NDArray[np.int64]:
    """Rows in an order of which every beginning is a sample.

    With a reference (rows before this number) only pairs across are of interest: each beginning
    has rows of both sides, in proportion, but at least a tenth of the smaller one while it lasts.
    No rows, if one side has none.
    """
    import numpy as np

    mixed = np.random.default_rng(seed).permutation(rows)
    if not reference:
        return mixed
    sides = [mixed[mixed < reference], mixed[mixed >= reference]]
    if not all(map(len, sides)):
        return mixed[:0]
    share = min(max(len(sides[0]) / len(mixed), LEAST_SHARE), 1 - LEAST_SHARE)
    places = [np.arange(len(sides[0])) / share, np.arange(len(sides[1])) / (1 - share)]
    return np.concatenate(sides)[np.argsort(np.concatenate(places), kind="stable")]


class SampledPair(NamedTuple):
    """Two rows; `similarity` is NaN where a radius decided."""

    left: int
    right: int
    distance: int
    similarity: float
    near: bool


class PairSample:
    """Pairs drawn at random, so many of each step of similarity, or of each distance.

    near, far  how many pairs of each step count, and how many were rejected
    """

    def __init__(self, question: Question, bits: int) -> None:
        import numpy as np

        self.question = question
        steps = STEPS if question.similarity is not None else bits + 1
        self.near, self.far = np.zeros(steps, dtype=np.int64), np.zeros(steps, dtype=np.int64)
        self._random = np.random.default_rng(SEED)
        # Step and side → pairs with the smallest of the random numbers that all pairs get.
        self._drawn: dict[int, list[tuple[float, SampledPair]]] = {}

    def take(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
    ) -> None:
        """These pairs were judged."""
        for start in range(0, len(left), BATCH):
            part = slice(start, start + BATCH)
            some = None if similarity is None else similarity[part]
            self._take(left[part], right[part], distance[part], some)

    def _take(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
    ) -> None:
        import numpy as np

        step, near = self._steps(distance, similarity)
        for counts, side in ((self.near, near), (self.far, ~near)):
            counts += np.bincount(step[side], minlength=len(counts))
        group, key = step * 2 + near, self._random.random(len(step))
        order = np.lexsort((key, group))
        found, first = np.unique(group[order], return_index=True)
        ends = [*first[1:].tolist(), len(order)]
        for number, begin, end in zip(found.tolist(), first.tolist(), ends, strict=True):
            drawn = self._drawn.setdefault(number, [])
            for at in order[begin : min(end, begin + OF_EACH)].tolist():
                cosine = float("nan") if similarity is None else float(similarity[at])
                pair = SampledPair(
                    int(left[at]), int(right[at]), int(distance[at]), cosine, near[at]
                )
                drawn.append((float(key[at]), pair))
            drawn.sort(key=lambda each: each[0])
            del drawn[OF_EACH:]

    def _steps(
        self, distance: NDArray[np.integer], similarity: NDArray[np.float64] | None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The step of each pair, and whether it counts."""
        import numpy as np

        if self.question.similarity is None:
            return distance.astype(np.int64), distance <= (self.question.radius or 0)
        assert similarity is not None  # noqa: S101
        # A similarity of 0.86 is in the step that begins there, whatever its last digit.
        step = np.clip((similarity * STEPS + 1e-9).astype(np.int64), 0, STEPS - 1)
        return step, similarity >= self.question.similarity

    def drawn(self) -> dict[int, list[SampledPair]]:
        """Pairs by step: both sides of it."""
        found: dict[int, list[SampledPair]] = {}
        for group, pairs in sorted(self._drawn.items()):
            found.setdefault(group // 2, []).extend(pair for _, pair in pairs)
        return found
