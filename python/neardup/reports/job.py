"""The report of a job: counts, charts, and pairs and clusters to judge by eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.reports import comparison
from neardup.reports.charts import Drawing, Histogram, draw_chart, histogram_chart, size_chart
from neardup.reports.differences import Fold
from neardup.reports.formatting import block_pieces, cosine, line_pieces, line_text, number
from neardup.reports.marked_text import ShownRecord, SideBySide, Sides
from neardup.reports.page import Sentence, Wording, render_page
from neardup.text.comparison import unit_of
from neardup.text.differences import Differences

OPEN_CLUSTERS = 3


@dataclass(frozen=True)
class ShownCluster:
    """A cluster shown in the report.

    members  the representative first; may be fewer than `size`
    weakest  similarity of the weakest link, if chaining joined dissimilar members
    """

    size: int
    members: Sequence[ShownRecord]
    weakest: float | None = None


@dataclass(frozen=True)
class ShownPair:
    """Two records, `right` with its distance from `left`; `near` if they are near-duplicates."""

    left: ShownRecord
    right: ShownRecord
    near: bool


@dataclass(frozen=True)
class ShownTemplate:
    """A cluster of records made from one form: the text around its fields, and values of each."""

    id: str
    size: int
    parts: Sequence[str]
    fields: Sequence[Sequence[str]]


@dataclass(frozen=True)
class ShownDifference:
    """Two near-duplicates and what differs between them, `left` the one kept.

    cluster  its place among the clusters of the page; None if it is not there
    size     number of records of the cluster; 0 for a pair
    """

    left: ShownRecord
    right: ShownRecord
    found: Differences
    cluster: int | None = None
    size: int = 0


@dataclass(frozen=True)
class JobReport:
    """The content of the report. Lists may be cut by the caller; counts are of the whole.

    job       "dedup", "pairs" or "cluster"
    counts    the main numbers, by name
    sentences  how the result was computed
    differing  how many near-duplicates differ in each aspect; empty if none does
    differing_said   what is lost, and how to keep apart what differs
    differences  examples of them, the most suspicious first
    pairs     near-duplicates first, then rejected pairs; each the most similar first
    clusters  the largest; None if the job makes none
    sizes     cluster size and how many clusters have it, ascending
    templates  the largest clusters made from one form; `template_notes` say how many there are
    problems  unreadable records: file, line, reason
    fold      how the recipe normalises words, so that only differences it sees are marked
    """

    job: str
    language: str = "en"
    counts: Mapping[str, int] = field(default_factory=dict)
    sentences: Sequence[Sentence] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    histograms: Sequence[Histogram] = ()
    differing: Mapping[str, int] = field(default_factory=dict)
    differing_said: Sequence[Sentence] = ()
    differences: Sequence[ShownDifference] = ()
    pairs: Sequence[ShownPair] = ()
    pairs_note: Sentence | None = None
    threshold: Sentence | None = None
    clusters: Sequence[ShownCluster] | None = None
    cluster_count: int = 0
    sizes: Sequence[tuple[int, int]] = ()
    templates: Sequence[ShownTemplate] = ()
    template_notes: Sequence[Sentence] = ()
    problems: Sequence[tuple[str, int | None, str]] = ()
    problem_count: int = 0
    fold: Fold | None = None


@dataclass(frozen=True)
class _Folded:
    """A pair or a cluster in the template: a line to open, and the texts below it."""

    head: Sequence[Any]
    value: str
    facts: str
    notes: Sequence[str]
    shown: Sequence[Sides]
    opened: bool
    near: bool = True
    rows: Sequence[comparison.DifferenceRow] = ()
    anchor: str = ""
    link: tuple[str, str] | None = None


def render_job(report: JobReport) -> str:
    """Return the page."""
    words = Wording(report.language)
    beside = SideBySide(words, report.fold)
    pieces = render_page(
        "page.html",
        words,
        title=line_text(words(f"title.{report.job}")),
        report=report,
        counts=[
            (line_pieces(words.label("count", name)), number(n))
            for name, n in report.counts.items()
        ],
        sentences=[words.say(each) for each in report.sentences],
        settings=[
            (line_pieces(words.label("setting", name)), line_pieces(value))
            for name, value in report.settings.items()
        ],
        drawings=_drawings(report, words),
        differing=[
            (words(f"aspect.{name}"), number(count)) for name, count in report.differing.items()
        ],
        differing_said=[words.say(each) for each in report.differing_said],
        differences=[
            _difference(at, each, report.job, words, beside)
            for at, each in enumerate(report.differences)
        ],
        pairs=_pairs(report, beside),
        clusters=_clusters(report, words, beside),
        templates=[
            {
                "id": line_pieces(each.id),
                "facts": words("records", n=each.size),
                "parts": [block_pieces(part) for part in each.parts],
                "fields": [[line_pieces(value) for value in values] for values in each.fields],
            }
            for each in report.templates
        ],
        problems=[
            (line_pieces(file), "–" if at is None else number(at), line_pieces(reason))
            for file, at, reason in report.problems
        ],
    )
    return "".join(pieces)


def _drawings(report: JobReport, words: Wording) -> list[Drawing]:
    charts = [histogram_chart(histogram, words) for histogram in report.histograms]
    if any(count for _, count in report.sizes):
        charts.append(size_chart(report.sizes, words))
    return [draw_chart(chart, words) for chart in charts]


def _difference(
    at: int, shown: ShownDifference, job: str, words: Wording, beside: SideBySide
) -> _Folded:
    found, left, right = shown.found, shown.left, shown.right
    unit = unit_of(left.text, right.text)
    facts = [words(f"aspect.{name}") for name in found.aspects]
    if found.lost:
        name = "differing.only_right" if job == "pairs" else "differing.lost"
        facts.append(words(name, words=words(f"length.{unit}", n=len(found.lost))))
    link = None
    if shown.cluster is not None:
        link = _anchor(shown.cluster), words("differing.cluster", n=shown.size)
    tokens = [token for side in (*found.numbers, *found.symbols) for token in side]
    return _Folded(
        _head(left, right),
        "" if right.similarity is None else cosine(right.similarity),
        words.comma.join(facts),
        [],
        [beside.pair(left, right, tokens)],
        at == 0,
        rows=list(comparison.difference_rows(found, words, unit)),
        link=link,
    )


def _anchor(cluster: int) -> str:
    return f"cluster{cluster}"


def _head(left: ShownRecord, right: ShownRecord) -> list[Any]:
    return [*line_pieces(left.id), ("  ·  ", False), *line_pieces(right.id)]


def _pairs(report: JobReport, beside: SideBySide) -> list[_Folded]:
    found = []
    # The pairs on both sides of the threshold are open.
    line_at = sum(pair.near for pair in report.pairs)
    for at, pair in enumerate(report.pairs):
        similarity = pair.right.similarity
        value = "" if similarity is None else cosine(similarity)
        opened = line_at - 1 <= at <= line_at
        shown = [beside.pair(pair.left, pair.right)]
        head = _head(pair.left, pair.right)
        found.append(_Folded(head, value, "", [], shown, opened, pair.near))
    return found


def _clusters(report: JobReport, words: Wording, beside: SideBySide) -> list[_Folded]:
    return [
        _Folded(
            line_pieces(cluster.members[0].id) if cluster.members else [],
            "",
            words("records", n=cluster.size),
            _notes(cluster, words),
            _members(cluster, beside),
            at < OPEN_CLUSTERS,
            anchor=_anchor(at),
        )
        for at, cluster in enumerate(report.clusters or ())
    ]


def _notes(cluster: ShownCluster, words: Wording) -> list[str]:
    notes = []
    if cluster.weakest is not None:
        notes.append(words("clusters.weakest", value=cosine(cluster.weakest)))
    if len(cluster.members) < cluster.size:
        notes.append(words("clusters.members", shown=len(cluster.members), n=cluster.size))
    return notes


def _members(cluster: ShownCluster, beside: SideBySide) -> list[Sides]:
    if not cluster.members:
        return []
    first, *others = cluster.members
    return [beside.pair(first, member) for member in others] or [beside.alone(first)]
