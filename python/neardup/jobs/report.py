"""A job → its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from neardup.jobs.job import Job
from neardup.jobs.options import NEARLY_ALL
from neardup.jobs.threshold_sample import ThresholdSample, floor_of, wider_look
from neardup.near.matches import SIMILARITY_STEPS, SampledPair
from neardup.reports.charts import Histogram
from neardup.reports.formatting import percent
from neardup.reports.job import JobReport, ShownCluster, ShownPair, render_job
from neardup.reports.marked_text import Shown
from neardup.reports.page import Said, language_of_locale
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Clusters, Matches
    from neardup.reports.differences import Fold

    Rows = NDArray[np.int64]

CLUSTERS = 25
MEMBERS = 6
CHARACTERS = 20_000
PROBLEMS = 50
NAMES = 10
# Pairs shown of a step of similarity, or of a distance: more beside the threshold.
OF_EACH, BESIDE = 1, 3
# Steps on either side that are beside it, and those that are shown at all, where bits decide.
BESIDE_STEPS, BITS_BEYOND = 2, 24
# What people see as words; of other tokens nothing is known but how they are written.
FOLDED = {"words": "words", "jieba": "words", "jieba-keywords": "words", "chars": "chars"}


def write_report(job: Job, corpus: SpooledCorpus, matches: Matches, found: Clusters | None) -> None:
    """The page a person looks at; `found` are the clusters, where the job makes some."""
    from neardup.files import writing

    path = job.options.report
    assert path is not None  # noqa: S101
    job.options.progress.stage("writing the report", None, "pairs")
    wider = wider_look(job, corpus, matches)
    shown = _Clusters(job, corpus, matches, found) if found is not None else None
    report = JobReport(
        job=job.summary.job,
        language=job.options.lang or language_of_locale(),
        counts=_counts(job),
        said=list(said_of(job)),
        settings=settings_of(job),
        histograms=list(_histograms(job, matches, wider)),
        pairs=_pairs(job, corpus, matches, wider),
        pairs_note=Said("pairs.note" if job.is_sketched else "pairs.note_radius"),
        threshold=_threshold(job),
        clusters=None if shown is None else shown.largest(),
        cluster_count=0 if shown is None else len(shown.roots),
        sizes=() if shown is None else shown.by_size(),
        problems=corpus.problems(PROBLEMS),
        problem_count=corpus.unreadable,
        fold=fold_of(job.recipe),
    )
    with writing.open_new(path) as file:
        file.write(render_job(report).encode())
    job.summary.files.append(str(path))


def _counts(job: Job) -> dict[str, int]:
    found = job.summary
    kinds = {"exact": found.exact, "near": found.near, "unreadable": found.unreadable}
    if found.kept is not None and found.removed is not None:
        return {"kept": found.kept, "removed": found.removed, **kinds}
    if found.job == "pairs":
        return {"pairs": found.pairs, **kinds}
    grouped = found.clustered or 0
    alone = found.read - grouped
    return {"clusters": found.clusters, "clustered": grouped, "alone": alone, **kinds}


def said_of(job: Job) -> Iterator[Said]:
    """How it was found, as the summary has it."""
    found = job.summary
    yield Said("said.read", {"n": found.read})
    if found.reference:
        yield Said("said.reference", {"n": found.reference})
    if found.no_signal:
        yield Said("said.no_signal", {"n": found.no_signal})
    if found.similarity is None:
        yield Said("said.radius", {"radius": found.radius, "bits": job.recipe.bits})
    elif found.plan.get("method") == "all-pairs":
        yield Said("said.all", {"similarity": found.similarity})
    else:
        yield Said("said.checked", {"n": found.candidates})
        asked: dict[str, Any] = {"similarity": found.similarity, "share": percent(found.recall)}
        if found.estimated_recall is None:
            yield Said("said.expected", asked)
        elif found.estimated_recall > NEARLY_ALL:
            yield Said("said.nearly_all", asked)
        else:
            yield Said("said.estimated", {**asked, "share": percent(found.estimated_recall)})
    if found.exact:
        name = {"pairs": "said.exact_pairs", "cluster": "said.exact_cluster"}
        yield Said(name.get(found.job, "said.exact"))


def settings_of(job: Job) -> dict[str, str]:
    from neardup._core import __version__

    found, compared = job.summary, [*job.against, *job.collections]
    by_radius = found.similarity is None
    settings = {
        "inputs": _listed(job.inputs),
        "against": _listed(compared),
        "similarity": "" if by_radius else f"{found.similarity:g}",
        "radius": f"{found.radius} / {job.recipe.bits}" if by_radius else "",
        "recall": f"{found.recall:g}",
        # Neither matters where only what is near the reference is removed.
        "linkage": "" if compared or found.job == "pairs" else job.linkage,
        "keep": "" if compared or found.job == "pairs" else str(job.keep),
        "recipe": found.recipe,
        "version": __version__,
    }
    return {name: value for name, value in settings.items() if value}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMES]) + (", …" if len(names) > NAMES else "")


def _histograms(job: Job, matches: Matches, wider: ThresholdSample | None) -> Iterator[Histogram]:
    asked, seen = job.question, matches.sample
    if seen is not None:
        note = Said("note.compared_radius")
        if asked.similarity is not None:
            note = Said("note.compared", {"similarity": asked.similarity})
        yield Histogram(
            "compared",
            seen.near.tolist(),
            seen.far.tolist(),
            floor_of(asked.similarity),
            asked.similarity,
            asked.radius,
            [note],
        )
    if wider is not None:
        values: dict[str, Any] = {"n": wider.records, "of": wider.of, "floor": wider.floor}
        name = "note.wider_sample" if wider.records < wider.of else "note.wider_all"
        yield Histogram(
            "wider",
            wider.sample.near.tolist(),
            wider.sample.far.tolist(),
            wider.floor,
            asked.similarity,
            asked.radius,
            [
                Said("note.wider_joined" if wider.joined else name, values),
                Said("note.wider_twins"),
            ],
        )


def _threshold(job: Job) -> Said:
    if job.question.similarity is None:
        return Said("pairs.line_radius", {"radius": job.question.radius})
    return Said("pairs.line", {"similarity": job.question.similarity})


def _pairs(
    job: Job, corpus: SpooledCorpus, matches: Matches, wider: ThresholdSample | None
) -> list[ShownPair]:
    """Pairs on both sides of the threshold, the most similar first."""
    import math

    drawn: dict[int, list[SampledPair]] = {}
    for sample in (matches.sample, None if wider is None else wider.sample):
        for step, pairs in ({} if sample is None else sample.drawn()).items():
            drawn.setdefault(step, []).extend(pairs)
    chosen: list[SampledPair] = []
    first, last, line = _range_of(job)
    known: set[tuple[int, int]] = set()
    for step, pairs in drawn.items():
        if not first <= step <= last:
            continue
        most = BESIDE if abs(step - line) <= BESIDE_STEPS else OF_EACH
        if job.summary.job == "pairs":
            most = len(pairs)
        taken = {True: 0, False: 0}
        for pair in pairs:
            rows = (min(pair[:2]), max(pair[:2]))
            if rows not in known and taken[bool(pair.near)] < most:
                known.add(rows)
                taken[bool(pair.near)] += 1
                chosen.append(pair)
    shown = [_pair(corpus, matches, pair) for pair in chosen]
    shown += _twins(job, corpus, matches)
    by_bits = job.question.similarity is None

    def place(pair: ShownPair) -> tuple[float, float, str, str]:
        cosine = pair.right.similarity
        closeness = -1.0 if cosine is None or math.isnan(cosine) else cosine
        bits = float(pair.right.distance or 0) if by_bits else 0.0
        return bits, -closeness, pair.left.id, pair.right.id

    return sorted(shown, key=place)


def _range_of(job: Job) -> tuple[int, int, int]:
    """The first and the last step that are shown, and the one at the threshold."""
    asked = job.question
    if asked.similarity is not None:
        line = min(int(asked.similarity * SIMILARITY_STEPS + 1e-9), SIMILARITY_STEPS - 1)
        return int(floor_of(asked.similarity) * SIMILARITY_STEPS + 1e-9), SIMILARITY_STEPS - 1, line
    radius = asked.radius or 0
    return max(0, radius - BITS_BEYOND), radius + BITS_BEYOND, radius


def _twins(job: Job, corpus: SpooledCorpus, matches: Matches) -> list[ShownPair]:
    """Two pairs of texts that say the same, which nobody compares, where pairs are what counts."""
    import numpy as np

    if job.summary.job != "pairs":
        return []
    rows = np.flatnonzero(matches.twins != np.arange(len(matches.twins)))[:2]
    pairs = (SampledPair(int(matches.twins[row]), int(row), 0, 1.0, True) for row in rows)
    return [_pair(corpus, matches, pair) for pair in pairs]


def _pair(corpus: SpooledCorpus, matches: Matches, pair: SampledPair) -> ShownPair:
    import numpy as np

    left, right = min(pair[:2]), max(pair[:2])
    similarity = pair.similarity
    if np.isnan(similarity):
        similarity = float(
            matches.judge.verdicts(np.array([left]), np.array([right])).similarity[0]
        )
    return ShownPair(
        _shown(corpus, left, left, None, 0),
        _shown(corpus, right, left, similarity, pair.distance),
        bool(pair.near),
    )


class _Clusters:
    """The clusters of two or more, the largest first."""

    def __init__(self, job: Job, corpus: SpooledCorpus, matches: Matches, found: Clusters) -> None:
        import numpy as np

        self._job, self._corpus, self._matches, self._found = job, corpus, matches, found
        self._sizes = np.bincount(found.labels, minlength=len(found.labels))
        roots = np.flatnonzero(self._sizes > 1)
        self.roots = roots[np.argsort(-self._sizes[roots], kind="stable")]

    def by_size(self) -> list[tuple[int, int]]:
        import numpy as np

        sizes, counts = np.unique(self._sizes[self.roots], return_counts=True)
        return list(zip(sizes.tolist(), counts.tolist(), strict=True))

    def largest(self) -> list[ShownCluster]:
        asked = self._job.options.report_clusters
        return [
            self._cluster(int(root)) for root in self.roots[: CLUSTERS if asked is None else asked]
        ]

    def _cluster(self, root: int) -> ShownCluster:
        import numpy as np

        found, corpus = self._found, self._corpus
        members = np.flatnonzero(found.labels == root)
        others = members[members != root]
        similarity, distance = found.similarity[others], found.distance[others]
        if np.isnan(similarity).any():
            verdicts = self._matches.judge.verdicts(np.full(len(others), root), others)
            similarity, distance = verdicts.similarity, verdicts.distance.astype(np.int64)
        # The least similar first: those are worth a look.
        order = np.argsort(similarity, kind="stable")[: MEMBERS - 1]
        shown = [_shown(corpus, root, root, None, 0, representative=True)]
        shown += [
            _shown(corpus, int(others[at]), root, float(similarity[at]), int(distance[at]))
            for at in order
        ]
        wanted = self._job.summary.similarity
        weakest = float(similarity.min()) if len(similarity) else None
        chained = wanted is not None and weakest is not None and weakest < wanted
        return ShownCluster(len(members), shown, weakest if chained else None)


def _shown(
    corpus: SpooledCorpus,
    row: int,
    other: int,
    similarity: float | None,
    distance: int,
    *,
    representative: bool = False,
) -> Shown:
    text = corpus.text_of(row)
    coded = all(at >= len(corpus) or corpus.signal[at] for at in (row, other))
    return Shown(
        corpus.id_of(row),
        text[:CHARACTERS],
        len(text),
        distance if coded else None,
        similarity,
        representative,
    )


def fold_of(recipe: Recipe) -> Fold | None:
    """What a word counts as under a recipe: words in capitals may be the same as others, and
    punctuation nothing. None where only whole lines or patterns count."""
    if recipe.tokens not in FOLDED:
        return None
    # The words alone: weights and neighbours are of no interest here.
    plain = Recipe(normalize=recipe.normalize, tokens=FOLDED[recipe.tokens], min_features=1)  # type: ignore[arg-type]

    @cache
    def fold(word: str) -> str:
        try:
            found = plain.pipeline.features(word)
        except UnicodeEncodeError:
            return word
        return " ".join(token for token, _, _ in found)

    return fold
