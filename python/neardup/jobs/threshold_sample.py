"""A wider look for the report: pairs of some records, far below what the job looks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup import _core
from neardup.near.matches import SIMILARITY_STEPS, PairSample, sample_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.jobs.job import Job
    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Matches

    Rows = NDArray[np.int64]

# Similarities are looked at from here up, or from so far below what was asked for.
FLOOR = 0.5
BELOW = 0.2
# Up to so many records all pairs are compared.
EACH = 600
# Records that are joined, if few of their pairs are candidates.
MOST = 20_000
# About so many candidates are judged: some seconds.
PAIRS = 100_000
# Of texts that are judged, bytes in all.
BYTES = 1 << 26
# The share of pairs at the floor that a join finds.
RECALL = 0.9
# Fingerprints compared each with each, and bits beyond the radius that are of interest.
CODES = 4000
BEYOND = 8


@dataclass(frozen=True, eq=False)
class ThresholdSample:
    """Pairs of some records.

    records, of  how many records were looked at, of how many that could be
    joined       whether sketches chose the pairs; otherwise they are all pairs of these records
    floor        the similarity from which on pairs are shown
    """

    sample: PairSample
    records: int
    of: int
    joined: bool
    floor: float


def floor_of(similarity: float | None) -> float:
    """The lowest similarity of interest: a whole step."""
    wanted = FLOOR if similarity is None else min(FLOOR, similarity - BELOW)
    return max(0, int(wanted * SIMILARITY_STEPS + 1e-9)) / SIMILARITY_STEPS


def wider_look(job: Job, corpus: SpooledCorpus, matches: Matches) -> ThresholdSample | None:
    """Pairs among records drawn at random; None if there is nothing to compare.

    Texts that say the same are drawn once. With a reference only pairs across are of interest.
    """
    import numpy as np

    units = np.flatnonzero((matches.twins == np.arange(len(corpus))) & corpus.signal)
    # A collection that was asked itself has no rows here.
    if len(units) < 2 or job.collections:
        return None
    drawn = sample_order(units, corpus.reference)
    # A reference may be empty, and then nothing is compared.
    if not len(drawn) or (job.against and not corpus.reference):
        return None
    asked = job.question
    if asked.similarity is None:
        return _by_distance(job, corpus, matches, drawn)
    floor = floor_of(asked.similarity)
    sample = PairSample(asked, corpus.recipe.bits)
    fits = int(np.searchsorted(np.cumsum(corpus.lengths[drawn]), BYTES)) or 1
    if fits > EACH and floor > 0:
        joined = _joined(corpus, drawn[: min(fits, MOST)], floor, matches.threads)
        if joined is not None:
            rows, left, right = joined
            _judge(matches, sample, left, right)
            return ThresholdSample(sample, len(rows), len(units), True, floor)
    rows = np.sort(drawn[: min(fits, EACH)])
    left, right = _each(rows, corpus.reference)
    _judge(matches, sample, left, right)
    return ThresholdSample(sample, len(rows), len(units), False, floor)


def _judge(matches: Matches, sample: PairSample, left: Rows, right: Rows) -> None:
    verdicts = matches.judge.verdicts(left, right)
    sample.take(left, right, verdicts.distance, verdicts.similarity)


def _each(rows: Rows, reference: int) -> tuple[Rows, Rows]:
    """All pairs of rows, or all across."""
    import numpy as np

    left, right = np.triu_indices(len(rows), 1)
    left, right = rows[left], rows[right]
    if reference:
        across = (left < reference) & (right >= reference)
        left, right = left[across], right[across]
    return left, right


def _joined(
    corpus: SpooledCorpus, drawn: Rows, floor: float, threads: int | None
) -> tuple[Rows, Rows, Rows] | None:
    """The rows taken, and the candidates among them; None if that is too many."""
    import numpy as np

    assert corpus.sketches is not None  # noqa: S101

    def join(rows: Rows) -> tuple[Rows, Rows, bool]:
        sketches = np.ascontiguousarray(corpus.sketches[rows])  # type: ignore[index]
        # Rows of both sides were drawn, so this is 0 only where all are compared with all.
        first = int(np.searchsorted(rows, corpus.reference))
        made = _core.NearJoin(
            sketches, corpus.signal[rows], floor, RECALL, first=first, threads=threads
        )
        later, earlier = made.candidates(threads)
        return rows[earlier], rows[later], bool(made.dense)

    few = np.sort(drawn[:EACH])
    left, right, dense = join(few)
    if dense:
        return None
    # Candidates grow with the square of the records.
    most = int(EACH * (PAIRS / max(len(left), 1)) ** 0.5)
    if most <= EACH:
        return None
    rows = np.sort(drawn[:most])
    left, right, dense = join(rows)
    if dense or len(left) > 4 * PAIRS:
        return None
    return rows, left, right


def _by_distance(job: Job, corpus: SpooledCorpus, matches: Matches, drawn: Rows) -> ThresholdSample:
    import numpy as np

    rows = np.sort(drawn[:CODES])
    sample = PairSample(job.question, corpus.recipe.bits)
    farthest = (job.question.radius or 0) + max(BEYOND, corpus.recipe.bits // 8)
    for at in range(len(rows) - 1):
        left, right = np.full(len(rows) - 1 - at, rows[at]), rows[at + 1 :]
        distance = matches.judge.distances(left, right)
        near = distance <= farthest
        if corpus.reference:
            near &= (left < corpus.reference) & (right >= corpus.reference)
        if near.any():
            sample.take(left[near], right[near], distance[near], None)
    return ThresholdSample(sample, len(rows), len(drawn), False, 0.0)
