"""Samples of a corpus: a forecast of slow joins, doubts about a threshold that strangers reach, and
pairs below the threshold for the report.

All draw records at random, count texts with identical features once, and look only at the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup import _core
from neardup.near.join import duration
from neardup.near.matches import SIMILARITY_STEPS, PairSample, sample_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Matches
    from neardup.near.question import Question

    Rows = NDArray[np.int64]

# Records from which the time of a join is estimated; fewer take seconds.
MIN_RECORDS = 20_000
# Records of that sample: half a million pairs.
FORECAST_RECORDS = 1000
# Candidates of the sample that are verified.
FORECAST_PAIRS = 200
# Rejected candidates that are announced: they take minutes, and 18 bytes each while listed.
MAX_REJECTED = 20_000_000
# Seconds of a join that are announced.
LONG_SECONDS = 120.0

# Distinct records from which strangers are counted; a person looks at the result of fewer.
DOUBT_RECORDS = 1000
# Fingerprints compared with each other, and pairs within the radius whose texts are compared.
DOUBT_FINGERPRINTS = 4000
DOUBT_PAIRS = 300
# A pair of fingerprints is near by chance if its texts are less similar than this.
CHANCE_SIMILARITY = 0.7
# Expected pairs of that kind for each record, and pairs in the sample, that are announced.
CHANCE_PAIRS = 0.05
MIN_CHANCE_PAIRS = 5
# A share above this would be rounded to 100 %.
ALMOST_ALL = 0.99
# Random pairs whose cosines are computed, if the similarity is below the other; and the share of
# them that is announced.
RANDOM_PAIRS = 2000
LOW_SIMILARITY = 0.7
RANDOM_SHARE = 0.005

# The sample for the report begins at this similarity, or so far below the threshold.
FLOOR = 0.5
BELOW_THRESHOLD = 0.2
# All pairs of so many records are compared.
ALL_PAIRS_RECORDS = 600
# More records are joined, as long as about so many candidates come out: some seconds.
JOIN_RECORDS = 20_000
JOIN_PAIRS = 100_000
JOIN_RECALL = 0.9
# Length of all texts of the sample.
MAX_BYTES = 1 << 26
# With a radius: fingerprints compared with each other, and bits beyond the radius shown.
FINGERPRINTS = 4000
BITS_BEYOND = 8


def forecast(corpus: SpooledCorpus, question: Question, matches: Matches) -> str | None:
    """Return a warning if the join of MIN_RECORDS or more will take long, with the option that
    helps."""
    if question.similarity is None:
        return _forecast_radius(corpus, question)
    expected = matches.forecast()
    if expected is None:
        return _forecast_sketches(corpus, question, question.similarity, matches)
    if expected.seconds < LONG_SECONDS:
        return None
    less = ", or --recall 0.9," if expected.method == "sketches" else ""
    return (
        f"similarity {question.similarity:g} with {corpus.rows:,} records like these takes "
        f"{duration(expected.seconds)}; a higher --similarity{less} takes less"
    )


def _forecast_radius(corpus: SpooledCorpus, question: Question) -> str | None:
    from neardup.near.pairs import pairs_plan
    from neardup.text.fingerprint import Fingerprints

    if question.radius is None:
        return None
    assert corpus.values is not None  # noqa: S101
    fingerprints = Fingerprints(corpus.values, corpus.signal, corpus.recipe)
    plan = pairs_plan(fingerprints, question.radius, question.recall)
    if plan.seconds < LONG_SECONDS:
        return None
    return (
        f"radius {question.radius} with {plan.rows:,} records takes about "
        f"{plan.seconds / 60:,.0f} minutes of one core; a smaller --radius, or --recall 0.99, "
        "takes less"
    )


def _forecast_sketches(
    corpus: SpooledCorpus, question: Question, similarity: float, matches: Matches
) -> str | None:
    """Join a sample and extrapolate the number of candidates that are rejected."""
    import numpy as np

    distinct = _distinct_rows(corpus, matches)
    if len(distinct) < MIN_RECORDS:
        return None
    rows = np.sort(sample_order(distinct, corpus.reference)[:FORECAST_RECORDS])
    if not len(rows):
        return None  # the inputs or the reference are empty
    left, right, _ = _join(corpus, rows, similarity, question.recall, matches.threads)
    if not len(left):
        return None
    some = np.unique(np.linspace(0, len(left) - 1, FORECAST_PAIRS).astype(np.int64))
    verdicts, _ = corpus.recipe.pipeline.judge(
        corpus.texts,
        right[some].astype(np.uint32),
        left[some].astype(np.uint32),
        matches.threads,
    )
    rejected = len(left) * float((verdicts < similarity).mean())
    share = _count_pairs(rows, corpus.reference) / _count_pairs(distinct, corpus.reference)
    expected = rejected / share
    if expected < MAX_REJECTED:
        return None
    return (
        f"similarity {similarity:g} is low for {corpus.rows:,} records like these: about "
        f"{_rounded(expected)} pairs have to be compared and rejected, which may take "
        "very long; a higher --similarity, or --recall 0.9, compares fewer"
    )


def doubts(corpus: SpooledCorpus, matches: Matches, *, across: bool) -> Iterator[str]:
    """Yield a warning if unrelated records of the corpus reach the threshold.

    across  inputs are compared with the reference only
    """
    distinct = _distinct_rows(corpus, matches)
    drawn = sample_order(distinct, corpus.reference)
    if len(distinct) < DOUBT_RECORDS or not len(drawn) or (across and not corpus.reference):
        return
    question = matches.question
    if question.similarity is None:
        yield from _doubt_radius(corpus, matches, distinct, drawn)
    elif question.similarity < LOW_SIMILARITY:
        yield from _doubt_similarity(corpus, matches, distinct, question.similarity)


def _doubt_radius(
    corpus: SpooledCorpus, matches: Matches, distinct: Rows, drawn: Rows
) -> Iterator[str]:
    """Compare fingerprints of a sample, and the texts of some pairs within the radius."""
    import numpy as np

    assert corpus.values is not None  # noqa: S101
    rows, radius = np.sort(drawn[:DOUBT_FINGERPRINTS]), matches.question.radius or 0
    values = corpus.values[rows]
    first = int(np.searchsorted(rows, corpus.reference))
    found: list[tuple[Rows, Rows]] = []
    for at in range(first or len(rows) - 1):
        others = np.arange(first or at + 1, len(rows))
        distance = np.bitwise_count(values[others] ^ values[at]).sum(axis=1)
        near = others[distance <= radius]
        found.append((np.full(len(near), rows[at]), rows[near]))
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    if len(left) < MIN_CHANCE_PAIRS:
        return
    some = np.random.default_rng(0).permutation(len(left))[:DOUBT_PAIRS]
    share = float((_cosines(corpus, matches, left[some], right[some]) < CHANCE_SIMILARITY).mean())
    scale = _count_pairs(distinct, corpus.reference) / _count_pairs(rows, corpus.reference)
    expected = share * len(left) * scale
    if share * len(left) < MIN_CHANCE_PAIRS or expected < CHANCE_PAIRS * len(distinct):
        return
    part = "over 99 %" if share > ALMOST_ALL else f"{100 * share:.0f} %"
    yield (
        f"radius {radius} of {corpus.recipe.bits} bits is wide for {len(distinct):,} records like "
        f"these: about {_rounded(expected)} pairs of unrelated texts are within it by chance, "
        f"{part} of all pairs to be found; a smaller --radius has fewer, and "
        "--similarity compares the texts"
    )


def _doubt_similarity(
    corpus: SpooledCorpus, matches: Matches, distinct: Rows, similarity: float
) -> Iterator[str]:
    """Compare random pairs."""
    import numpy as np

    random = np.random.default_rng(0)
    sides = [distinct, distinct]
    if corpus.reference:
        sides = [distinct[distinct < corpus.reference], distinct[distinct >= corpus.reference]]
    left, right = (side[random.integers(0, len(side), RANDOM_PAIRS)] for side in sides)
    differ = left != right
    cosines = _cosines(corpus, matches, left[differ], right[differ])
    share = float((cosines >= similarity).mean())
    if share < RANDOM_SHARE:
        return
    expected = share * _count_pairs(distinct, corpus.reference)
    cost = matches.forecast()
    takes = "" if cost is None else f"; finding them takes {duration(cost.seconds)}"
    yield (
        f"similarity {similarity:g} is low for {len(distinct):,} records like these: "
        f"{100 * share:.3g} % of pairs drawn at random reach it, and 1 in 100 reaches "
        f"{np.quantile(cosines, 0.99):.2f}; about {_rounded(expected)} pairs will count as "
        f"near-duplicates, related or not{takes}"
    )


def _cosines(
    corpus: SpooledCorpus, matches: Matches, left: Rows, right: Rows
) -> NDArray[np.float64]:
    """Return the exact cosines of pairs, those with a common text side by side."""
    import numpy as np

    order = np.argsort(left, kind="stable")
    pairs = (right[order].astype(np.uint32), left[order].astype(np.uint32))
    return corpus.recipe.pipeline.judge(corpus.texts, *pairs, matches.threads)[0]


def _rounded(expected: float) -> str:
    """Return an estimate with two digits."""
    return f"{round(expected, 2 - len(str(int(expected)))):,.0f}"


def _distinct_rows(corpus: SpooledCorpus, matches: Matches) -> Rows:
    """Return the rows with a fingerprint, without repetitions of identical features."""
    import numpy as np

    return np.flatnonzero((matches.twins == np.arange(corpus.rows)) & corpus.signal)


def _count_pairs(rows: Rows, reference: int) -> int:
    """Count the pairs of rows that are compared: all, or those of an input and a reference."""
    before = int((rows < reference).sum())
    return before * (len(rows) - before) if reference else len(rows) ** 2 // 2


def _join(
    corpus: SpooledCorpus, rows: Rows, similarity: float, recall: float, threads: int | None
) -> tuple[Rows, Rows, bool]:
    """Return the candidate pairs among rows, and whether there are dense groups beside them."""
    import numpy as np

    assert corpus.sketches is not None  # noqa: S101
    sketches = np.ascontiguousarray(corpus.sketches[rows])
    # 0 only if there is no reference: the sample has rows of both sides.
    first = int(np.searchsorted(rows, corpus.reference))
    join = _core.NearJoin(
        sketches, corpus.signal[rows], similarity, recall, first=first, threads=threads
    )
    later, earlier = join.candidates(threads)
    return rows[earlier], rows[later], bool(join.dense)


@dataclass(frozen=True, eq=False)
class ThresholdSample:
    """Pairs of sampled records, far below the threshold too.

    records, of  number of records sampled, and of records that could be
    joined       whether sketches chose the pairs; otherwise they are all pairs of the sample
    floor        lowest similarity shown
    """

    sample: PairSample
    records: int
    of: int
    joined: bool
    floor: float


def floor_below(similarity: float | None) -> float:
    """Return the lowest similarity to show, on a step of the histogram."""
    wanted = FLOOR if similarity is None else min(FLOOR, similarity - BELOW_THRESHOLD)
    return max(0, int(wanted * SIMILARITY_STEPS + 1e-9)) / SIMILARITY_STEPS


def sample_threshold(
    corpus: SpooledCorpus, matches: Matches, *, across: bool
) -> ThresholdSample | None:
    """Compare pairs of random records; None if there is nothing to compare.

    across  compare inputs with the reference only
    """
    import numpy as np

    distinct = _distinct_rows(corpus, matches)
    drawn = sample_order(distinct, corpus.reference)
    if len(drawn) < 2 or (across and not corpus.reference):
        return None
    question = matches.question
    if question.similarity is None:
        return _sample_distances(corpus, matches, drawn)
    floor = floor_below(question.similarity)
    sample = PairSample(question, corpus.recipe.bits)
    fitting = int(np.searchsorted(np.cumsum(corpus.lengths[drawn]), MAX_BYTES)) or 1
    if fitting > ALL_PAIRS_RECORDS and floor > 0:
        joined = _sample_join(corpus, drawn[: min(fitting, JOIN_RECORDS)], floor, matches.threads)
        if joined is not None:
            rows, left, right = joined
            _judge(matches, sample, left, right)
            return ThresholdSample(sample, len(rows), len(distinct), True, floor)
    rows = np.sort(drawn[: min(fitting, ALL_PAIRS_RECORDS)])
    left, right = _all_pairs(rows, corpus.reference)
    _judge(matches, sample, left, right)
    return ThresholdSample(sample, len(rows), len(distinct), False, floor)


def _judge(matches: Matches, sample: PairSample, left: Rows, right: Rows) -> None:
    verdicts = matches.judge.verdicts(left, right)
    sample.take(left, right, verdicts.distance, verdicts.similarity)


def _all_pairs(rows: Rows, reference: int) -> tuple[Rows, Rows]:
    import numpy as np

    left, right = np.triu_indices(len(rows), 1)
    left, right = rows[left], rows[right]
    if reference:
        across = (left < reference) & (right >= reference)
        left, right = left[across], right[across]
    return left, right


def _sample_join(
    corpus: SpooledCorpus, drawn: Rows, floor: float, threads: int | None
) -> tuple[Rows, Rows, Rows] | None:
    """Return the rows joined and the candidates among them; None if there are too many."""
    import numpy as np

    few = np.sort(drawn[:ALL_PAIRS_RECORDS])
    left, right, dense = _join(corpus, few, floor, JOIN_RECALL, threads)
    if dense:
        return None
    # Candidates grow with the square of the records.
    most = int(ALL_PAIRS_RECORDS * (JOIN_PAIRS / max(len(left), 1)) ** 0.5)
    if most <= ALL_PAIRS_RECORDS:
        return None
    rows = np.sort(drawn[:most])
    left, right, dense = _join(corpus, rows, floor, JOIN_RECALL, threads)
    if dense or len(left) > 4 * JOIN_PAIRS:
        return None
    return rows, left, right


def _sample_distances(corpus: SpooledCorpus, matches: Matches, drawn: Rows) -> ThresholdSample:
    import numpy as np

    rows = np.sort(drawn[:FINGERPRINTS])
    question, bits = matches.question, corpus.recipe.bits
    sample = PairSample(question, bits)
    farthest = (question.radius or 0) + max(BITS_BEYOND, bits // 8)
    for at in range(len(rows) - 1):
        left, right = np.full(len(rows) - 1 - at, rows[at]), rows[at + 1 :]
        distance = matches.judge.distances(left, right)
        near = distance <= farthest
        if corpus.reference:
            near &= (left < corpus.reference) & (right >= corpus.reference)
        if near.any():
            sample.take(left[near], right[near], distance[near], None)
    return ThresholdSample(sample, len(rows), len(drawn), False, 0.0)
