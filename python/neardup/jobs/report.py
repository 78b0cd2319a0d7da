"""The report of a job: an HTML page of its pairs and clusters, or of the kinds of response.

This module chooses what the page shows; `neardup.reports` renders it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup._util.arrow import array_values
from neardup.files import writing
from neardup.jobs.job import FoundClusters, Job
from neardup.jobs.options import NEARLY_ALL
from neardup.jobs.sample import ThresholdSample, floor_below, sample_threshold
from neardup.near.matches import SIMILARITY_STEPS, PairSample, SampledPair
from neardup.reports.charts import Histogram
from neardup.reports.formatting import percent
from neardup.reports.job import (
    JobReport,
    ShownCluster,
    ShownDifference,
    ShownPair,
    ShownTemplate,
    render_job,
)
from neardup.reports.kinds import (
    FacetColumns,
    Facets,
    KindsReport,
    Member,
    SampleResponse,
    ShownKind,
    render_kinds,
)
from neardup.reports.marked_text import ShownRecord
from neardup.reports.page import Sentence, language_of_locale
from neardup.reports.views import ResponseView
from neardup.text.differences import differences
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.http.kinds import Kinds
    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Matches
    from neardup.reports.differences import Fold

    Rows = NDArray[np.int64]

# Limits of the page: clusters, members of a cluster, characters of a text, unreadable records, and
# names of inputs.
MAX_CLUSTERS = 25
MAX_MEMBERS = 6
MAX_CHARACTERS = 20_000
MAX_PROBLEMS = 50
MAX_NAMES = 10
# Templates, values of a field, and characters of a value and of the text between two fields.
MAX_TEMPLATES = 10
MAX_VALUES = 8
MAX_VALUE_CHARACTERS, MAX_PART_CHARACTERS = 200, 2_000
# Pairs shown of each step of similarity, or of each distance; more near the threshold.
PAIRS_OF_STEP, PAIRS_NEAR_THRESHOLD = 1, 3
# Steps on either side that are near the threshold, and with a radius the bits shown beyond it.
NEAR_STEPS, BITS_BEYOND = 2, 24
# Recipes whose tokens people see as words; other tokens are compared as they are written.
FOLDED_TOKENS = {"words": "words", "jieba": "words", "jieba-keywords": "words", "chars": "chars"}

# The page of kinds: a browser opens so many at once; a part of them is for kinds of one response.
MAX_KINDS = 10_000
ALONE_SHARE = 0.2
# Kinds with sample responses: the largest, and some of one response.
SAMPLED_KINDS, SAMPLED_ALONE = 200, 100
# Responses listed of a kind, and characters of a view.
MAX_RESPONSES = 8
MAX_VIEW_CHARACTERS = 50_000
# Sentences of the other report that the page of kinds does not need.
OMITTED = ("said.read", "said.exact")


def write_report(
    job: Job, corpus: SpooledCorpus, found: FoundClusters | Matches, kinds: Kinds | None = None
) -> None:
    """Write the page of a job: its kinds of response if there are any, else pairs and clusters."""
    path = job.options.report
    assert path is not None  # noqa: S101
    if kinds is not None:
        assert isinstance(found, FoundClusters)  # noqa: S101
        job.stage("writing the report", None, "kinds")
        pieces = render_kinds(kinds_report(job, corpus, kinds, found))
    else:
        job.stage("writing the report", None, "pairs")
        pieces = iter([render_job(_job_report(job, corpus, found))])
    with writing.open_new(path) as file:
        for piece in pieces:
            file.write(piece.encode())
    job.summary.files.append(str(path))


def _job_report(job: Job, corpus: SpooledCorpus, found: FoundClusters | Matches) -> JobReport:
    clusters = _Clusters(job, corpus, found) if isinstance(found, FoundClusters) else None
    matches = found.matches if isinstance(found, FoundClusters) else found
    # Documents of collections are not in the corpus, so they cannot be sampled.
    sample = None
    if not job.collections:
        sample = sample_threshold(corpus, matches, across=bool(job.against))
    return JobReport(
        job=job.name,
        language=job.options.lang or language_of_locale(),
        counts=_counts(job),
        sentences=list(_sentences(job)),
        settings=_settings(job),
        histograms=list(_histograms(job, matches, sample)),
        differing={name: count for name, count in job.differing.counts.items() if count},
        differing_said=list(_differing_said(job)),
        differences=list(_differences(job, corpus, matches, clusters)),
        pairs=_pairs(job, corpus, matches, sample),
        pairs_note=Sentence("pairs.note" if job.is_sketched else "pairs.note_radius"),
        threshold=_threshold(job),
        clusters=None if clusters is None else clusters.largest(),
        cluster_count=0 if clusters is None else len(clusters.roots),
        sizes=() if clusters is None else clusters.by_size(),
        **_templates(job, corpus, found),
        problems=corpus.problems(MAX_PROBLEMS),
        problem_count=corpus.unreadable,
        fold=fold_of(job.recipe),
    )


def _templates(job: Job, corpus: SpooledCorpus, found: FoundClusters | Matches) -> dict[str, Any]:
    """Return the templates for the page, and the sentence above them."""
    if not isinstance(found, FoundClusters) or not found.templates:
        return {}
    values = {"n": len(found.templates), "records": found.templates.records}
    notes = [Sentence("templates.apart" if job.question.fields else "templates.found", values)]
    if found.templates.looked_at is not None:
        notes.append(Sentence("templates.looked_at", {"n": found.templates.looked_at}))
    return {
        "templates": [
            ShownTemplate(
                corpus.id_of(each.row),
                each.records,
                [_shorten(part, MAX_PART_CHARACTERS) for part in each.parts],
                [[_shorten(value, MAX_VALUE_CHARACTERS) for value in row] for row in each.fields],
            )
            for each in found.templates.largest(corpus.texts, MAX_TEMPLATES, MAX_VALUES)
        ],
        "template_notes": notes,
    }


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


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


def _sentences(job: Job) -> Iterator[Sentence]:
    """Return how the pairs were found, as in the summary."""
    found = job.summary
    yield Sentence("said.read", {"n": found.read})
    if found.reference:
        yield Sentence("said.reference", {"n": found.reference})
    if found.no_signal:
        yield Sentence("said.no_signal", {"n": found.no_signal})
    if found.similarity is None:
        name = "said.radius_apart" if found.distinguish else "said.radius"
        yield Sentence(name, {"radius": found.radius, "bits": job.recipe.bits})
    elif found.plan.get("method") == "inverted" and found.recall == 1:
        yield Sentence("said.all", {"similarity": found.similarity})
    else:
        yield Sentence("said.checked", {"n": found.candidates})
        asked: dict[str, Any] = {"similarity": found.similarity, "share": percent(found.recall)}
        if found.estimated_recall is None:
            if found.candidates or found.plan.get("dense") or found.plan.get("collections"):
                yield Sentence("said.expected", asked)
        elif found.estimated_recall > NEARLY_ALL:
            yield Sentence("said.nearly_all", asked)
        else:
            yield Sentence("said.estimated", {**asked, "share": percent(found.estimated_recall)})
    if found.exact:
        kind = "_pairs" if found.job == "pairs" else "_against" if job.has_reference else ""
        yield Sentence(f"said.exact{kind}")


def _settings(job: Job) -> dict[str, str]:
    from neardup._core import __version__

    found, compared = job.summary, [*job.against, *job.collections]
    by_radius = found.similarity is None
    settings = {
        "inputs": _listed(job.inputs),
        "against": _listed(compared),
        "similarity": "" if by_radius else f"{found.similarity:g}",
        "radius": f"{found.radius} / {job.recipe.bits}" if by_radius else "",
        "recall": f"{found.recall:g}",
        "purpose": job.options.purpose or "",
        "distinguish": ", ".join(job.question.all_distinguished),
        # Neither has an effect on records that are removed for the reference.
        "linkage": "" if compared or found.job == "pairs" else job.linkage,
        "keep": "" if compared or found.job == "pairs" else str(job.keep),
        "recipe": found.recipe,
        "version": __version__,
    }
    return {name: value for name, value in settings.items() if value}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")


def _differing_said(job: Job) -> Iterator[Sentence]:
    found = job.summary
    if found.lost is not None and found.lost["words"]:
        yield Sentence(
            "differing.words", {"n": found.lost["words"], "median": found.lost["median"]}
        )
    if names := found.to_distinguish():
        yield Sentence("differing.option", {"names": ",".join(names)})


def _differences(
    job: Job, corpus: SpooledCorpus, matches: Matches, clusters: _Clusters | None
) -> Iterator[ShownDifference]:
    for _, examples in job.differing.examples():
        for _, left, right, distance, similarity in examples:
            sides = _sides(corpus, matches, left, right, distance, similarity)
            found = differences(corpus.text_of(left), corpus.text_of(right))
            place, size = (None, 0) if clusters is None else clusters.place(right)
            yield ShownDifference(*sides, found, place, size)


def _histograms(job: Job, matches: Matches, sample: ThresholdSample | None) -> Iterator[Histogram]:
    asked, seen = job.question, matches.sample
    if seen is not None:
        note = Sentence("note.compared_radius")
        if asked.similarity is not None:
            note = Sentence("note.compared", {"similarity": asked.similarity})
        floor = floor_below(asked.similarity)
        yield _histogram("compared", job, seen, floor, [note])
    if sample is not None:
        values: dict[str, Any] = {"n": sample.records, "of": sample.of, "floor": sample.floor}
        name = "note.wider_sample" if sample.records < sample.of else "note.wider_all"
        note = Sentence("note.wider_joined" if sample.joined else name, values)
        notes = [note, Sentence("note.wider_twins")]
        yield _histogram("wider", job, sample.sample, sample.floor, notes)


def _histogram(
    name: str, job: Job, sample: PairSample, floor: float, notes: list[Sentence]
) -> Histogram:
    near, far = sample.near.tolist(), sample.far.tolist()
    return Histogram(name, near, far, floor, job.question.similarity, job.question.radius, notes)


def _threshold(job: Job) -> Sentence:
    if job.question.similarity is None:
        return Sentence("pairs.line_radius", {"radius": job.question.radius})
    return Sentence("pairs.line", {"similarity": job.question.similarity})


def _pairs(
    job: Job, corpus: SpooledCorpus, matches: Matches, sample: ThresholdSample | None
) -> list[ShownPair]:
    """Return pairs on both sides of the threshold, the most similar first."""
    import math

    drawn: dict[int, list[SampledPair]] = {}
    for source in (matches.sample, None if sample is None else sample.sample):
        for step, pairs in ({} if source is None else source.drawn()).items():
            drawn.setdefault(step, []).extend(pairs)
    chosen: list[SampledPair] = []
    first, last, line = _range_of(job)
    known: set[tuple[int, int]] = set()
    for step, pairs in drawn.items():
        if not first <= step <= last:
            continue
        most = PAIRS_NEAR_THRESHOLD if abs(step - line) <= NEAR_STEPS else PAIRS_OF_STEP
        if job.name == "pairs":
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
    """Return the first and the last step shown, and the step of the threshold."""
    asked = job.question
    if asked.similarity is not None:
        last = SIMILARITY_STEPS - 1
        line, floor = (
            min(int(each * SIMILARITY_STEPS + 1e-9), last)
            for each in (asked.similarity, floor_below(asked.similarity))
        )
        return floor, last, line
    radius = asked.radius or 0
    return max(0, radius - BITS_BEYOND), radius + BITS_BEYOND, radius


def _twins(job: Job, corpus: SpooledCorpus, matches: Matches) -> list[ShownPair]:
    """Return two pairs of identical texts for `pairs`: they are not among those compared."""
    if job.name != "pairs":
        return []
    rows = np.flatnonzero(matches.twins != np.arange(len(matches.twins)))[:2]
    pairs = (SampledPair(int(matches.twins[row]), int(row), 0, 1.0, True) for row in rows)
    return [_pair(corpus, matches, pair) for pair in pairs]


def _pair(corpus: SpooledCorpus, matches: Matches, pair: SampledPair) -> ShownPair:
    left, right = min(pair[:2]), max(pair[:2])
    sides = _sides(corpus, matches, left, right, pair.distance, pair.similarity)
    return ShownPair(*sides, bool(pair.near))


def _sides(
    corpus: SpooledCorpus,
    matches: Matches,
    left: int,
    right: int,
    distance: int,
    similarity: float,
) -> tuple[ShownRecord, ShownRecord]:
    if np.isnan(similarity):
        similarity = float(
            matches.judge.verdicts(np.array([left]), np.array([right])).similarity[0]
        )
    return (
        _shown(corpus, left, left, None, 0),
        _shown(corpus, right, left, similarity, distance),
    )


class _Clusters:
    """The clusters of two or more, the largest first."""

    def __init__(self, job: Job, corpus: SpooledCorpus, found: FoundClusters) -> None:
        self._job, self._corpus, self._matches = job, corpus, found.matches
        self._found = found.clusters
        asked, labels = job.options.report_clusters, self._found.labels
        self._most = MAX_CLUSTERS if asked is None else asked
        self._sizes = np.bincount(labels, minlength=len(labels))
        roots = np.flatnonzero(self._sizes > 1)
        self.roots = roots[np.argsort(-self._sizes[roots], kind="stable")]

    def place(self, row: int) -> tuple[int | None, int]:
        """Return the place of a row's cluster among those shown, None if not, and its size."""
        root = self._found.labels[row]
        places = np.flatnonzero(self.roots[: self._most] == root).tolist()
        return (places[0] if places else None), int(self._sizes[root])

    def by_size(self) -> list[tuple[int, int]]:
        sizes, counts = np.unique(self._sizes[self.roots], return_counts=True)
        return list(zip(sizes.tolist(), counts.tolist(), strict=True))

    def largest(self) -> list[ShownCluster]:
        return [self._cluster(int(root)) for root in self.roots[: self._most]]

    def _cluster(self, root: int) -> ShownCluster:
        found, corpus = self._found, self._corpus
        members = np.flatnonzero(found.labels == root)
        others = members[members != root]
        similarity, distance = found.similarity[others], found.distance[others]
        if np.isnan(similarity).any():
            verdicts = self._matches.judge.verdicts(np.full(len(others), root), others)
            similarity, distance = verdicts.similarity, verdicts.distance.astype(np.int64)
        # The least similar first: they are the ones to look at.
        order = np.argsort(similarity, kind="stable")[: MAX_MEMBERS - 1]
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
) -> ShownRecord:
    text = corpus.text_of(row)
    coded = all(at >= corpus.rows or corpus.signal[at] for at in (row, other))
    return ShownRecord(
        corpus.id_of(row),
        text[:MAX_CHARACTERS],
        len(text),
        distance if coded else None,
        similarity,
        representative,
    )


def fold_of(recipe: Recipe) -> Fold | None:
    """Return a function that folds words which the recipe treats as equal (case, punctuation).

    None for recipes whose features are whole lines or patterns.
    """
    if recipe.tokens not in FOLDED_TOKENS:
        return None
    # Without weights and n-grams.
    plain = Recipe(normalize=recipe.normalize, tokens=FOLDED_TOKENS[recipe.tokens], min_features=1)  # type: ignore[arg-type]

    @cache
    def fold(word: str) -> str:
        try:
            found = plain.pipeline.features(word)
        except UnicodeEncodeError:
            return word
        return " ".join(token for token, _, _ in found)

    return fold


def kinds_report(
    job: Job, corpus: SpooledCorpus, kinds: Kinds, found: FoundClusters
) -> KindsReport:
    """Return the page of the kinds of response."""
    return _KindsPage(job, corpus, kinds, found).report()


class _KindsPage:
    def __init__(self, job: Job, corpus: SpooledCorpus, kinds: Kinds, found: FoundClusters) -> None:
        self._job, self._kinds, self._corpus = job, kinds, corpus
        self._labels = found.clusters.labels
        # To the representative; NaN for representatives.
        self._similarity = np.full(len(self._labels), np.nan)
        rows, near = (array_values(found.removed.column(name)) for name in ("row", "similarity"))
        self._similarity[rows] = near
        wanted = job.options.report_clusters
        self._places = choose_kinds(kinds.size, MAX_KINDS if wanted is None else wanted)

    def report(self) -> KindsReport:
        job, corpus = self._job, self._corpus
        settings = _settings(job)
        if job.viewing is not None and job.viewing.within:
            settings = {"within": job.viewing.within, **settings}
        return KindsReport(
            responses=len(self._labels),
            kind_count=len(self._kinds),
            alone=int((self._kinds.size == 1).sum()),
            kinds=list(self._shown()),
            facets=self._facets(),
            language=job.options.lang or language_of_locale(),
            sentences=[each for each in _sentences(job) if each.name not in OMITTED],
            settings=settings,
            problems=corpus.problems(MAX_PROBLEMS),
            problem_count=corpus.unreadable,
        )

    def _shown(self) -> Iterator[ShownKind]:
        kinds = self._kinds
        names = ("status", "title", "server", "url")
        columns = self._corpus.facts.take(kinds.rows[self._places], *names)
        statuses, titles, servers, urls = (column.to_pylist() for column in columns)
        sampled = set(choose_sampled(kinds.size[self._places]).tolist())
        for place, at in enumerate(self._places.tolist()):
            rule = kinds.rule(at)
            row = int(kinds.rows[at])
            lowest = float(kinds.similarity[at])
            members, sample = self._members(row) if place in sampled else ([], None)
            yield ShownKind(
                number=int(kinds.cluster[at]),
                size=int(kinds.size[at]),
                status=statuses[place] or 0,
                title=titles[place] or "",
                server=servers[place] or "",
                label="" if rule is None else rule.label,
                rule="" if rule is None else rule.name,
                why="" if rule is None else rule.why,
                shortest=int(kinds.shortest[at]),
                longest=int(kinds.longest[at]),
                hosts=int(kinds.hosts[at]),
                lowest=None if np.isnan(lowest) else lowest,
                id=self._corpus.id_of(row),
                url=urls[place] or "",
                members=members,
                sample=sample,
            )

    def _members(self, root: int) -> tuple[list[Member], SampleResponse]:
        """Return some responses of a kind, the least similar to its representative first."""
        rows = np.flatnonzero(self._labels == root)
        rows = rows[rows != root]
        rows = rows[np.argsort(self._similarity[rows], kind="stable")]
        some = rows[spread_evenly(len(rows), MAX_RESPONSES - 1)]
        urls = self._corpus.facts.take(np.append(root, some), "url")[0].to_pylist()
        members = [
            Member(self._corpus.id_of(row), url or "", None if row == root else near)
            for row, url, near in zip(
                [root, *some.tolist()],
                urls,
                self._similarity[np.append(root, some)].tolist(),
                strict=True,
            )
        ]
        first = self._view(members[0], root)
        other = self._view(members[1], int(some[0])) if len(some) else None
        return members, SampleResponse(first, other)

    def _view(self, member: Member, row: int) -> ResponseView:
        text = self._corpus.text_of(row)
        return ResponseView(
            member.id, member.url, text[:MAX_VIEW_CHARACTERS], len(text), member.similarity
        )

    def _facets(self) -> Facets:
        kinds = self._kinds
        # The position of the kind of each response on the page.
        place = np.full(len(self._labels), -1, dtype=np.int64)
        place[kinds.rows[self._places]] = np.arange(len(self._places))
        columns = FacetColumns(place[self._labels], len(self._places))
        labels = [kinds.rule(at) for at in self._places.tolist()]
        columns.add_of_kinds("label", ["" if rule is None else rule.label for rule in labels])
        for name in ("status", "title", "server", "host"):
            columns.add(name, self._corpus.facts.column(name))
        return columns.facets()


def choose_kinds(sizes: Rows, most: int) -> Rows:
    """Return the positions of the kinds to show: the largest, and some of one response.

    sizes  of the kinds, the largest first
    """
    if len(sizes) <= most:
        return np.arange(len(sizes))
    last = min(int((sizes == 1).sum()), int(most * ALONE_SHARE))
    head = most - last
    # Kinds of one response come last.
    rest = np.flatnonzero(sizes[head:] == 1) + head
    return np.concatenate((np.arange(head), rest[spread_evenly(len(rest), last)]))


def choose_sampled(sizes: Rows) -> Rows:
    """Return the positions of the kinds with sample responses."""
    large, alone = np.flatnonzero(sizes > 1)[:SAMPLED_KINDS], np.flatnonzero(sizes == 1)
    return np.concatenate((large, alone[spread_evenly(len(alone), SAMPLED_ALONE)]))


def spread_evenly(count: int, most: int) -> Rows:
    """Return at most so many positions at even distances, the first and the last included."""
    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).astype(np.int64)
