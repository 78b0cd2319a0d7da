"""What will take long, said before it begins, with the option that helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup import _core
from neardup.near.matches import sample_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Matches
    from neardup.near.question import Question

# From so many records on, comparing each with each is more than one waits for.
MANY = 100_000
# From so many records on, it is worth a look how many candidates there will be.
WORTH_A_LOOK = 20_000
# Records looked at: half a million pairs.
LOOKED_AT = 1000
# So many candidates that come to nothing take minutes, and 18 bytes each while they are listed.
MOST_IN_VAIN = 20_000_000
# Candidates of the sample that are judged, to see whether they come to anything.
JUDGED = 200
# Seconds of one core beyond which a join by radius is announced.
LONG = 120.0


def forecast(corpus: SpooledCorpus, asked: Question, matches: Matches) -> str | None:
    """A warning, or None if all goes as quickly as one expects."""
    if asked.similarity is None:
        return _by_radius(corpus, asked)
    if asked.recall == 1:
        return _each_with_each(corpus)
    return _by_sketches(corpus, asked, asked.similarity, matches)


def _each_with_each(corpus: SpooledCorpus) -> str | None:
    if len(corpus) <= MANY:
        return None
    return (
        f"recall is 1, so each of {len(corpus):,} records is compared with every other, which may "
        "take hours; with --recall 0.999 few pairs are missed and few are compared"
    )


def _by_radius(corpus: SpooledCorpus, asked: Question) -> str | None:
    from neardup.near.pairs import pairs_plan
    from neardup.text.fingerprint import Fingerprints

    if len(corpus) < WORTH_A_LOOK or asked.radius is None:
        return None
    assert corpus.values is not None  # noqa: S101
    made = Fingerprints(corpus.values, corpus.signal, corpus.recipe)
    plan = pairs_plan(made, asked.radius, asked.recall)
    if plan.seconds < LONG:
        return None
    return (
        f"radius {asked.radius} with {plan.rows:,} records takes about {plan.seconds / 60:,.0f} "
        "minutes of one core; a smaller --radius, or --recall 0.99, takes less"
    )


def _by_sketches(
    corpus: SpooledCorpus, asked: Question, similarity: float, matches: Matches
) -> str | None:
    """Joins a thousand records: what comes to nothing among them does so among all."""
    import numpy as np

    if len(corpus) < WORTH_A_LOOK:
        return None
    assert corpus.sketches is not None  # noqa: S101
    units = np.flatnonzero((matches.twins == np.arange(len(corpus))) & corpus.signal)
    if len(units) < WORTH_A_LOOK:
        return None
    rows = np.sort(sample_order(units, corpus.reference)[:LOOKED_AT])
    if not len(rows):
        return None  # one side has nothing to compare
    sketches = np.ascontiguousarray(corpus.sketches[rows])
    first = int(np.searchsorted(rows, corpus.reference))
    join = _core.NearJoin(sketches, corpus.signal[rows], similarity, asked.recall, first=first)
    later, earlier = join.candidates(matches.threads)
    if not len(later):
        return None
    some = np.unique(np.linspace(0, len(later) - 1, JUDGED).astype(np.int64))
    verdicts, _ = corpus.recipe.pipeline.judge(
        corpus.texts,
        rows[later[some]].astype(np.uint32),
        rows[earlier[some]].astype(np.uint32),
        matches.threads,
    )
    vain = len(later) * float((verdicts < similarity).mean())
    expected = vain * _pairs(units, corpus.reference) / _pairs(rows, corpus.reference)
    if expected < MOST_IN_VAIN:
        return None
    # Two digits: it is an estimate.
    digits = len(str(int(expected))) - 2
    return (
        f"similarity {similarity:g} is low for {len(corpus):,} records like these: about "
        f"{round(expected, -digits):,.0f} pairs have to be compared only to be rejected, which "
        "may take very long; a higher --similarity, or --recall 0.9, has fewer"
    )


def _pairs(rows: NDArray[np.int64], reference: int) -> int:
    """How many pairs of these rows are of interest: all, or those across."""
    before = int((rows < reference).sum())
    return before * (len(rows) - before) if reference else len(rows) ** 2 // 2
