"""The report of a job on files, for people: counts, charts, pairs and clusters to judge by eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.reports.charts import Drawing, Histogram, chart_of, drawn, size_chart
from neardup.reports.differences import Fold
from neardup.reports.formatting import cosine, line, number, plain
from neardup.reports.marked_text import Shown, SideBySide, Sides
from neardup.reports.page import Said, Wording, render_page

OPENED = 3


@dataclass(frozen=True)
class ShownCluster:
    """A cluster shown in the report.

    members  the representative first; perhaps not all of `size`
    weakest  similarity of its weakest link, when chaining made members far apart
    """

    size: int
    members: Sequence[Shown]
    weakest: float | None = None


@dataclass(frozen=True)
class ShownPair:
    """Two records; `right` says how far it is from `left`. `near`: whether they count."""

    left: Shown
    right: Shown
    near: bool


@dataclass(frozen=True)
class JobReport:
    """What a job found. Lists that the caller has cut come with the number there is in all.

    job       "dedup", "pairs" or "cluster"
    counts    what people want to know first, by name
    said      how it was found, in sentences
    pairs     those that count first; the most similar first
    clusters  the largest; None for a job that makes none
    sizes     cluster size and how many clusters have it, ascending
    problems  unreadable records: file, line, reason
    fold      what words count as, so that only differences that count are marked
    """

    job: str
    language: str = "en"
    counts: Mapping[str, int] = field(default_factory=dict)
    said: Sequence[Said] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    histograms: Sequence[Histogram] = ()
    pairs: Sequence[ShownPair] = ()
    pairs_note: Said | None = None
    threshold: Said | None = None
    clusters: Sequence[ShownCluster] | None = None
    cluster_count: int = 0
    sizes: Sequence[tuple[int, int]] = ()
    problems: Sequence[tuple[str, int | None, str]] = ()
    problem_count: int = 0
    fold: Fold | None = None


@dataclass(frozen=True)
class _Folded:
    """A pair or a cluster as it is shown: a line to open, and what is under it."""

    head: Sequence[Any]
    value: str
    facts: str
    notes: Sequence[str]
    shown: Sequence[Sides]
    opened: bool
    near: bool = True


def render_job(report: JobReport) -> str:
    """The whole page."""
    words = Wording(report.language)
    beside = SideBySide(words, report.fold)
    pieces = render_page(
        "page.html",
        words,
        title=plain(words(f"title.{report.job}")),
        report=report,
        counts=[(line(words.label("count", name)), number(n)) for name, n in report.counts.items()],
        said=[words.say(said) for said in report.said],
        settings=[
            (line(words.label("setting", name)), line(value))
            for name, value in report.settings.items()
        ],
        drawings=_drawings(report, words),
        pairs=_pairs(report, beside),
        clusters=_clusters(report, words, beside),
        problems=[
            (line(file), "–" if at is None else number(at), line(reason))
            for file, at, reason in report.problems
        ],
    )
    return "".join(pieces)


def _drawings(report: JobReport, words: Wording) -> list[Drawing]:
    charts = [chart_of(histogram, words) for histogram in report.histograms]
    if any(count for _, count in report.sizes):
        charts.append(size_chart(report.sizes, words))
    return [drawn(chart, words) for chart in charts]


def _pairs(report: JobReport, beside: SideBySide) -> list[_Folded]:
    found = []
    # Opened are those on both sides of the line, where it is decided.
    line_at = sum(pair.near for pair in report.pairs)
    for at, pair in enumerate(report.pairs):
        similarity = pair.right.similarity
        value = "" if similarity is None else cosine(similarity)
        head = [*line(pair.left.id), ("  ·  ", False), *line(pair.right.id)]
        opened = line_at - 1 <= at <= line_at
        shown = [beside.pair(pair.left, pair.right)]
        found.append(_Folded(head, value, "", [], shown, opened, pair.near))
    return found


def _clusters(report: JobReport, words: Wording, beside: SideBySide) -> list[_Folded]:
    return [
        _Folded(
            line(cluster.members[0].id) if cluster.members else [],
            "",
            words("records", n=cluster.size),
            _notes(cluster, words),
            _members(cluster, beside),
            at < OPENED,
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
