"""Results of a join of a corpus with itself: pairs, clusters, nearest rows, counts, a sample.

Each engine has its subclass of `Matches`; jobs read the results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import number_array
from neardup.near.corpus import Judge, Stage, Tick
from neardup.near.question import Linkage, Question

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus, Rows

SIMILARITY_BINS = 20
# The cosine of equal features may be less than 1 by rounding.
EXACT_SIMILARITY = 1 - 1e-9

# A sample has SIMILARITY_STEPS equal steps from 0 to 1, and up to PAIRS_PER_STEP near pairs and as
# many others in each.
SIMILARITY_STEPS = 50
PAIRS_PER_STEP = 6
# Pairs sorted at a time while a sample is drawn.
SAMPLE_BATCH_PAIRS = 1 << 18
# Fixed, so that the same pairs are drawn from the same corpus.
SEED = 20
# Minimum share of reference rows, and of other rows, in a sample of both.
MIN_SIDE_SHARE = 0.1


@dataclass
class MatchCounts:
    """Counts of a join.

    candidates    pairs compared
    verified      pairs whose cosine was computed
    pairs         near pairs
    distances     number of near pairs at each distance
    similarities  number of near pairs in each of SIMILARITY_BINS equal parts of 0 to 1
    edge          number of pairs found just above the threshold, and estimated number of all
    """

    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    distances: list[int] = field(default_factory=list)
    similarities: list[int] = field(default_factory=lambda: [0] * SIMILARITY_BINS)
    edge: tuple[int, float] = (0, 0.0)

    def add(self, distances: NDArray[Any], similarities: NDArray[Any] | None) -> None:
        """Count near pairs."""
        import numpy as np

        self.pairs += len(distances)
        histogram = np.bincount(distances, minlength=len(self.distances))
        histogram[: len(self.distances)] += np.array(self.distances, dtype=np.int64)
        self.distances = histogram.tolist()
        if similarities is not None:
            bins = np.minimum((similarities * SIMILARITY_BINS).astype(int), SIMILARITY_BINS - 1)
            added = np.bincount(bins, minlength=SIMILARITY_BINS).tolist()
            self.similarities = [a + b for a, b in zip(self.similarities, added, strict=True)]

    @property
    def estimated_recall(self) -> float | None:
        """Estimated share of pairs found, of those just above the threshold; None if none was."""
        found, expected = self.edge
        return found / expected if found else None


@dataclass(frozen=True, eq=False)
class Pairs:
    """A batch of near pairs of rows; `similarity` is None for a question by radius."""

    left: Rows
    right: Rows
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Clusters:
    """The representative of each row's cluster.

    labels      row of the representative; a row that is alone has its own number
    similarity  with the representative, where the join computed it; NaN elsewhere
    distance    to the representative; for a question by similarity, meaningless where `similarity`
                is NaN
    """

    labels: Rows
    similarity: NDArray[np.float64]
    distance: Rows


@dataclass(frozen=True, eq=False)
class Nearest:
    """For each input row the nearest reference row, or -1."""

    match: Rows
    similarity: NDArray[np.float64]
    distance: Rows


def follow_twins(
    twins: Rows, labels: Rows, similarity: NDArray[np.float64], distance: Rows
) -> Clusters:
    """Give each row the label of its twin, since twins have the same neighbours."""
    import numpy as np

    has_twin = twins != np.arange(len(labels))
    labels, similarity, distance = labels[twins], similarity[twins], distance[twins]
    under_twin = has_twin & (labels == twins)
    similarity[under_twin], distance[under_twin] = 1.0, 0
    return Clusters(labels, similarity, distance)


def removed_rows(clusters: Clusters, judge: Judge) -> pa.Table:
    """Return a table of the rows that are not kept: row, dup_of (the row kept in its place),
    distance (null without a fingerprint), similarity, differs (the aspects in which the row differs
    from the one kept), lost (the number of its words that the one kept lacks).

    The judge computes the similarities that the join has not computed.
    """
    import numpy as np
    import pyarrow as pa

    signal, labels = judge.corpus.signal, clusters.labels
    rows = np.flatnonzero(labels != np.arange(len(labels)))
    kept, similarity, distance = labels[rows], clusters.similarity[rows], clusters.distance[rows]
    unknown = np.flatnonzero(np.isnan(similarity))
    # Pairs with a common text become neighbours.
    unknown = unknown[np.argsort(kept[unknown], kind="stable")]
    similarity[unknown], distance[unknown] = judge.verdicts(kept[unknown], rows[unknown])
    # A label beyond the rows is a document of a collection; it has a signal if its duplicate has.
    others = np.where(kept < len(signal), kept, rows)
    # The judge has no text of a document of a collection.
    differs, lost = judge.differences(others, rows)
    return pa.table(
        {
            "row": number_array(rows),
            "dup_of": number_array(kept),
            "distance": number_array(distance, ~(signal[rows] & signal[others])),
            "similarity": number_array(similarity),
            "differs": differs,
            "lost": lost,
        }
    )


class Matches(ABC):
    """The near-duplicates of a corpus. Call one of `pairs`, `clusters` and `nearest`, once.

    twins   for each row the first row, in order, with identical features, or with an equal text if
            it has no signal. Only that row is compared; the others share its neighbours
    counts  complete once the result has been read
    plan    how the join searches for pairs
    sample  set it before the call to draw a sample of the judged pairs
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

    def forecast(self) -> Forecast | None:
        """Return how the pairs will be found, and how long that will take; None if nobody knows."""
        return None

    @abstractmethod
    def pairs(self) -> Iterator[Pairs]:
        """Yield the near pairs of rows that are their own twin, in any order; left is the row that
        comes first."""

    @abstractmethod
    def clusters(self, linkage: Linkage) -> Clusters:
        """Return the clusters; the first row in order is the representative."""

    def nearest(self, reference_rows: int) -> Nearest:
        """Return for each row after the reference rows the most similar reference row; ties go to
        the smallest distance, then to the first row."""
        import numpy as np

        rows = len(self.twins)
        match = np.full(rows, -1, dtype=np.int64)
        similarity, distance = np.full(rows, np.nan), np.zeros(rows, dtype=np.int64)
        batches = [pairs for pairs in self.pairs() if len(pairs.left)]
        if batches:
            left = np.concatenate([pairs.left for pairs in batches])
            right = np.concatenate([pairs.right for pairs in batches])
            pair_distance = np.concatenate([pairs.distance for pairs in batches]).astype(np.int64)
            pair_similarity = np.full(len(left), np.nan)
            if self.question.similarity is not None:
                pair_similarity = np.concatenate([pairs.similarity for pairs in batches])
            # The best pair of each row comes last: the last assignment wins.
            sort = np.lexsort((-left, -pair_distance, np.nan_to_num(pair_similarity)))
            right = right[sort]
            match[right], similarity[right] = left[sort], pair_similarity[sort]
            distance[right] = pair_distance[sort]
        own = np.arange(rows)
        in_reference = (self.twins < reference_rows) & (own >= reference_rows)
        match[in_reference], distance[in_reference] = self.twins[in_reference], 0
        # Equal fingerprints may be of different texts.
        similarity[in_reference] = np.nan if self.question.similarity is None else 1.0
        has_twin = (self.twins >= reference_rows) & (self.twins != own)
        for array in (match, similarity, distance):
            array[has_twin] = array[self.twins[has_twin]]
        match[:reference_rows] = -1
        return Nearest(match, similarity, distance)


def sample_order(rows: NDArray[np.int64], reference_rows: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the rows in an order in which every prefix is a random sample.

    With reference rows (rows below this number) only pairs of a reference row and another row are
    compared: each prefix has rows of both sides in proportion, but at least MIN_SIDE_SHARE of the
    smaller side until it is used up. If one side is empty, return no rows.
    """
    import numpy as np

    shuffled = np.random.default_rng(seed).permutation(rows)
    if not reference_rows:
        return shuffled
    sides = [shuffled[shuffled < reference_rows], shuffled[shuffled >= reference_rows]]
    if not all(map(len, sides)):
        return shuffled[:0]
    share = min(max(len(sides[0]) / len(shuffled), MIN_SIDE_SHARE), 1 - MIN_SIDE_SHARE)
    places = [np.arange(len(sides[0])) / share, np.arange(len(sides[1])) / (1 - share)]
    return np.concatenate(sides)[np.argsort(np.concatenate(places), kind="stable")]


class Forecast(NamedTuple):
    """How a join will find its pairs, and about how long it will take.

    method      "sketches" or "inverted"
    seconds     on the threads of the join
    candidates  pairs that sketches have in common, or that share enough rare features
    """

    method: str
    seconds: float
    candidates: float


class SampledPair(NamedTuple):
    """A pair of rows in a sample; `similarity` is NaN for a question by radius."""

    left: int
    right: int
    distance: int
    similarity: float
    near: bool


class PairSample:
    """A random sample of judged pairs, stratified by similarity, or by distance.

    near, far  number of near pairs, and of rejected pairs, in each step
    """

    def __init__(self, question: Question, bits: int) -> None:
        import numpy as np

        self.question = question
        steps = SIMILARITY_STEPS if question.similarity is not None else bits + 1
        self.near, self.far = np.zeros(steps, dtype=np.int64), np.zeros(steps, dtype=np.int64)
        self._random = np.random.default_rng(SEED)
        # Step and side → the pairs with the smallest random keys.
        self._drawn: dict[int, list[tuple[float, SampledPair]]] = {}

    def take(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
    ) -> None:
        """Count judged pairs and draw some of them."""
        for start in range(0, len(left), SAMPLE_BATCH_PAIRS):
            part = slice(start, start + SAMPLE_BATCH_PAIRS)
            cosines = None if similarity is None else similarity[part]
            self._take(left[part], right[part], distance[part], cosines)

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
        groups, first = np.unique(group[order], return_index=True)
        ends = [*first[1:].tolist(), len(order)]
        for number, begin, end in zip(groups.tolist(), first.tolist(), ends, strict=True):
            drawn = self._drawn.setdefault(number, [])
            for at in order[begin : min(end, begin + PAIRS_PER_STEP)].tolist():
                cosine = float("nan") if similarity is None else float(similarity[at])
                pair = SampledPair(
                    int(left[at]), int(right[at]), int(distance[at]), cosine, near[at]
                )
                drawn.append((float(key[at]), pair))
            drawn.sort(key=lambda each: each[0])
            del drawn[PAIRS_PER_STEP:]

    def _steps(
        self, distance: NDArray[np.integer], similarity: NDArray[np.float64] | None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the step of each pair, and whether it is near."""
        import numpy as np

        if self.question.similarity is None:
            return distance.astype(np.int64), distance <= (self.question.radius or 0)
        assert similarity is not None  # noqa: S101
        # Rounding must not move 0.86 to the step below the one that begins there.
        step = (similarity * SIMILARITY_STEPS + 1e-9).astype(np.int64)
        return np.clip(step, 0, SIMILARITY_STEPS - 1), similarity >= self.question.similarity

    def drawn(self) -> dict[int, list[SampledPair]]:
        """Return the drawn pairs, near and far, by step."""
        by_step: dict[int, list[SampledPair]] = {}
        for group, pairs in sorted(self._drawn.items()):
            by_step.setdefault(group // 2, []).extend(pair for _, pair in pairs)
        return by_step
