"""The report of a job on files, for people: counts, charts, and clusters to judge by eye."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from neardup.reports.chart import figure
from neardup.reports.clusters import Shown, ShownCluster, cluster_section
from neardup.reports.histograms import distance_chart, similarity_chart, size_chart
from neardup.reports.markup import amount, foreign, line, number, plain, table
from neardup.reports.style import STYLE

__all__ = ["JobReport", "Shown", "ShownCluster", "render"]

# Nothing is loaded and nothing runs, whatever the texts hold.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
# Names whose unit is told by the value.
LABELS = {"seconds": "time"}


@dataclass(frozen=True)
class JobReport:
    """What a job found. Lists that the caller has cut come with the number there is in all."""

    title: str
    summary: Mapping[str, object]
    """Counts by name, shown in order; names ending in `seconds`, `memory` or `bytes` say so."""
    settings: Mapping[str, str]
    distances: Sequence[int]
    """Pairs at each distance: the index is the distance in bits."""
    threshold: int | None
    """The radius."""
    similarities: Sequence[int] | None
    """Verified pairs in equal steps of cosine from 0 to 1; None without verification."""
    similarity_threshold: float | None
    sizes: Sequence[tuple[int, int]]
    """Cluster size and how many clusters have it, ascending."""
    clusters: Sequence[ShownCluster]
    """The largest."""
    cluster_count: int
    problems: Sequence[tuple[str, int | None, str]]
    """Unreadable records: file, line, reason."""
    problem_count: int


def render(report: JobReport) -> str:
    """The whole page."""
    title = plain(report.title)
    body = "\n".join(_sections(report))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1 dir="auto">{line(report.title)}</h1>
{body}
</main>
</body>
</html>
"""


def _sections(report: JobReport) -> Iterator[str]:
    if report.summary:
        yield f"<section>\n<h2>Summary</h2>\n{_counts(report.summary)}\n</section>"
    if report.settings:
        yield f"<section>\n<h2>Settings</h2>\n{_settings(report.settings)}\n</section>"
    yield f'<div class="charts">\n{_charts(report)}\n</div>'
    yield cluster_section(report.clusters, report.cluster_count)
    if report.problem_count or report.problems:
        yield _problems(report.problems, report.problem_count)


def _counts(summary: Mapping[str, object]) -> str:
    parts = [
        f"<div><dt>{line(LABELS.get(name, name.replace('_', ' ')))}</dt>"
        f"<dd>{amount(name, value)}</dd></div>"
        for name, value in summary.items()
    ]
    return f'<dl class="counts">{"".join(parts)}</dl>'


def _settings(settings: Mapping[str, str]) -> str:
    parts = [
        f"<dt>{foreign(name)}</dt><dd>{foreign(value)}</dd>" for name, value in settings.items()
    ]
    return f'<dl class="settings">{"".join(parts)}</dl>'


def _charts(report: JobReport) -> str:
    charts = []
    if any(report.distances):
        charts.append(figure(distance_chart(report.distances, report.threshold)))
    else:
        where = "" if report.threshold is None else f" within radius {report.threshold}"
        charts.append(_nothing("Pairs by distance", f"No pair{where}."))
    if report.similarities is not None:
        if any(report.similarities):
            chart = similarity_chart(report.similarities, report.similarity_threshold)
            charts.append(figure(chart))
        else:
            charts.append(_nothing("Verified pairs by similarity", "No pair was verified."))
    if any(count for _, count in report.sizes):
        charts.append(figure(size_chart(report.sizes)))
    return "\n".join(charts)


def _nothing(title: str, said: str) -> str:
    return f'<div class="chart"><h2>{title}</h2><p class="note">{said}</p></div>'


def _problems(problems: Sequence[tuple[str, int | None, str]], count: int) -> str:
    rows = [
        [foreign(file), "–" if at is None else number(at), foreign(reason)]
        for file, at, reason in problems
    ]
    shown = f"Showing {number(len(rows))} of {number(count)}." if len(rows) < count else ""
    said = f'<p class="note">{shown}</p>\n' if shown else ""
    listed = table(["File", "Line", "Reason"], rows) if rows else ""
    return f"<section>\n<h2>Unreadable records</h2>\n{said}{listed}\n</section>"
