"""Pairs on both sides of a threshold, side by side, to be read and marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.reports.charts import Bar, Chart, Drawing, Tick, draw_chart
from neardup.reports.formatting import Piece, cosine, line_pieces
from neardup.reports.marked_text import ShownRecord, SideBySide, Sides
from neardup.service.pages.marks import Mark, ordered
from neardup.service.pages.page_input import pair_link
from neardup.service.pages.survey import STEPS, NearestDocument, Survey, step_of

if TYPE_CHECKING:
    from neardup.reports.page import Wording
    from neardup.service.state import Service


# Characters of each text: an example is looked at, not read through.
SHOWN = 1_500


@dataclass(frozen=True)
class PairExample:
    """A pair; `mark` is what was said of it, if anything."""

    left: str
    right: str
    head: Sequence[Sequence[Piece]]
    value: str
    distance: str
    mark: str
    pair: str
    sides: Sides

    @staticmethod
    def verdict(pair: NearestDocument, verdicts: Mapping[tuple[str, str], str]) -> str | None:
        return verdicts.get(ordered(pair.left, pair.right))


@dataclass(frozen=True)
class Examples:
    """The closest to the threshold come first on both sides."""

    near: Sequence[PairExample]
    far: Sequence[PairExample]

    @staticmethod
    def chosen(
        survey: Survey | None, threshold: float, wanted: int
    ) -> tuple[list[NearestDocument], list[NearestDocument]]:
        pairs = [] if survey is None else survey.pairs()
        near = [pair for pair in pairs if pair.similarity >= threshold]
        far = [pair for pair in pairs if pair.similarity < threshold]
        return near[::-1][:wanted], far[:wanted]


def examples_of(
    service: Service,
    survey: Survey | None,
    marks: Sequence[Mark],
    threshold: float,
    wanted: int,
    words: Wording,
) -> Examples:
    """The pairs as they are shown; those with a document that is gone are left out."""
    verdicts = {(mark.left, mark.right): mark.verdict for mark in marks}
    beside = SideBySide(words, None)
    near, far = Examples.chosen(survey, threshold, wanted)

    def shown(pairs: list[NearestDocument]) -> list[PairExample]:
        found = []
        for pair in pairs:
            texts = [_shown(service, id_) for id_ in (pair.left, pair.right)]
            if texts[0] is None or texts[1] is None:
                continue
            found.append(
                PairExample(
                    pair.left,
                    pair.right,
                    (line_pieces(pair.left), line_pieces(pair.right)),
                    cosine(pair.similarity),
                    "–" if pair.distance is None else str(pair.distance),
                    PairExample.verdict(pair, verdicts) or "",
                    pair_link(pair.left, pair.right),
                    beside.pair(texts[0], texts[1]),
                )
            )
        return found

    return Examples(shown(near), shown(far))


def _shown(service: Service, id_: str) -> ShownRecord | None:
    found = service.collection.get(id_)
    if found is None or found.text is None:
        return None
    return ShownRecord(id_, found.text[:SHOWN], len(found.text))


# The chart of the collection: how near the nearest are.


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


def survey_chart(survey: Survey, threshold: float, words: Wording) -> SurveyChart | None:
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
    return SurveyChart(draw_chart(chart, words), counts, first, STEPS, near, survey.done)


def size_said(count: int) -> str:
    """Bytes as people say them."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
