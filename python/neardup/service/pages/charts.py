"""The chart of the collection: how near the nearest are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.reports.chart import Bar, Chart, Drawing, Tick, drawn
from neardup.service.pages.survey import STEPS, Survey, step_of

if TYPE_CHECKING:
    from neardup.reports.catalogue import Words


@dataclass(frozen=True)
class SurveyChart:
    """The drawing, and what the script needs to move the line; steps below `first` are not
    drawn."""

    drawing: Drawing
    counts: Sequence[int]
    first: int
    steps: int
    near: int
    asked: int


def survey_chart(survey: Survey, threshold: float, words: Words) -> SurveyChart | None:
    """Documents by the similarity of the nearest; None if there is nothing to draw."""
    counts = survey.counts()
    if not any(counts):
        return None
    first = step_of(survey.floor)
    bars = []
    for at in range(first, STEPS):
        near = sum(
            step_of(each.similarity) == at and each.similarity >= threshold
            for each in survey.nearest
        )
        bars.append(Bar(f"{at / STEPS:.2f}–{(at + 1) / STEPS:.2f}", near, counts[at] - near))
    tenths = range(-(-first * 10 // STEPS), 11)
    chart = Chart(
        name="survey",
        title=words("survey.title"),
        across=words("survey.across"),
        up=words("survey.up"),
        bars=bars,
        ticks=[Tick(tenth * STEPS / 10 - first, f"{tenth / 10:g}") for tenth in tenths],
        threshold=Tick(max(threshold * STEPS - first, 0), f"≥ {threshold:g}"),
        two_sided=True,
    )
    near = sum(each.similarity >= threshold for each in survey.nearest)
    return SurveyChart(drawn(chart, words), counts, first, STEPS, near, survey.done)


def size_said(count: int) -> str:
    """Bytes as people say them."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
