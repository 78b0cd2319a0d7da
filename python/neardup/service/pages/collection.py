"""The page Collection: what is stored, how alike it is, and where to draw the line."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.collection import CollectionError
from neardup.reports.formatting import cosine, line_pieces
from neardup.service import answers, models
from neardup.service.auth import may_write
from neardup.service.errors import TooManyDocumentsError
from neardup.service.pages import page_input, shell
from neardup.service.pages.examples import (
    Examples,
    PairExample,
    examples_of,
    size_said,
    survey_chart,
)
from neardup.service.pages.marks import Mark, Marks, NotesError, Score, score
from neardup.service.pages.page_input import document_link
from neardup.service.pages.survey import Survey, Surveyor
from neardup.service.worker_pool import BusyError
from neardup.text.comparison import DEFAULT_SIMILARITY

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.service.state import Service

# Seconds a page waits for what is made in the background.
PATIENCE = 1.5
RECENT, CLUSTERS, MEMBERS, MARKS = 8, 8, 6, 100
EXAMPLES, MOST_EXAMPLES = 4, 40
BEGINS = 90


@dataclass(frozen=True)
class CollectionView:
    """All that the page shows."""

    stats: models.StatsModel
    survey: Survey | None
    clusters: models.ClustersModel | None
    clusters_said: str
    recent: list[models.DocumentModel]
    marks: list[Mark]
    threshold: float

    @property
    def score(self) -> Score:
        return score(self.marks, self.threshold)


class Clusterer:
    """Makes clusters in the background, one at a time. Used by the loop only."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._task: asyncio.Task[models.ClustersModel] | None = None
        self._shown: models.ClustersModel | None = None

    async def look(self, patience: float) -> tuple[models.ClustersModel | None, str]:
        """The clusters, or those of a moment ago while newer ones are made; and what is said where
        there are none."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(
                answers.clusters(self._service, limit=CLUSTERS, members=MEMBERS)
            )
        await asyncio.wait([self._task], timeout=patience)
        if not self._task.done():
            return self._shown, "" if self._shown else "groups.running"
        try:
            self._shown = self._task.result()
        except BusyError:
            # Others wait for clusters too.
            return self._shown, "" if self._shown else "groups.running"
        except TooManyDocumentsError:
            return None, "groups.too_many"
        except CollectionError:
            return None, "survey.no_texts"
        return self._shown, ""


def routes(service: Service, marks: Marks) -> list[BaseRoute]:
    surveyor, clusterer = Surveyor(service), Clusterer(service)

    @page_input.problem_page(service, "collection")
    async def endpoint(request: Request) -> Response:
        threshold = page_input.number_in(request, "threshold", DEFAULT_SIMILARITY, 0.0, 1.0)
        wanted = int(page_input.number_in(request, "examples", EXAMPLES, 1, MOST_EXAMPLES))
        stats = await service.run(answers.stats, service)
        survey, (clusters, said) = await asyncio.gather(
            surveyor.look(PATIENCE), clusterer.look(PATIENCE)
        )
        recent = await service.run(
            answers.documents, service, limit=RECENT, newest=True, texts=True
        )
        noted = await service.run(_noted, marks)
        found = CollectionView(stats, survey, clusters, said, recent.documents, noted, threshold)
        return await service.run(_answer, request, service, found, wanted)

    return shell.both("/collection", endpoint)


def _noted(marks: Marks) -> list[Mark]:
    try:
        return marks.all()
    except NotesError:
        # The page can do without; whoever wants to mark something is told.
        return []


def _answer(request: Request, service: Service, found: CollectionView, wanted: int) -> Response:
    if shell.is_twin(request):
        return shell.twin(_as_dict(found, wanted))
    words = shell.words_of(request)
    stats = found.stats
    pairs = examples_of(service, found.survey, found.marks, found.threshold, wanted, words)
    return shell.page(
        request,
        service,
        "collection.html",
        page="collection",
        stats=stats,
        size=size_said(stats.database_bytes + stats.segment_bytes + stats.postings_bytes),
        survey=found.survey,
        chart=None if found.survey is None else survey_chart(found.survey, found.threshold, words),
        threshold=f"{found.threshold:g}",
        least=min(found.threshold, found.survey.floor if found.survey else 0.0),
        pairs=pairs,
        more=shell.with_query(request, "/collection", examples=str(min(4 * wanted, MOST_EXAMPLES)))
        if wanted < MOST_EXAMPLES
        else "",
        score=found.score,
        marks=found.marks,
        listed=[_listed(mark) for mark in found.marks[:MARKS]],
        clusters=_clusters(found.clusters),
        clusters_said=found.clusters_said,
        recent=[
            (
                line_pieces(one.id),
                document_link(one.id) if one.text else "",
                line_pieces(_begins(one.text or "")),
            )
            for one in found.recent
        ],
        writes=may_write(request.scope, service.settings),
    )


def _listed(mark: Mark) -> dict[str, Any]:
    return {
        "left": line_pieces(mark.left),
        "right": line_pieces(mark.right),
        "verdict": mark.verdict,
        "similarity": cosine(mark.similarity),
        "pair": page_input.pair_link(mark.left, mark.right),
    }


def _clusters(found: models.ClustersModel | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "total": found.total,
        "similarity": f"{found.similarity:g}",
        "groups": [
            {
                "size": group.size,
                "more": group.size - len(group.members),
                "members": [
                    (
                        line_pieces(id_),
                        document_link(id_)
                        if id_ == group.representative
                        else page_input.pair_link(group.representative, id_),
                    )
                    for id_ in group.members
                ],
            }
            for group in found.clusters
        ],
    }


def _begins(text: str) -> str:
    shown = " ".join(text[: 4 * BEGINS].split())
    return shown if len(shown) <= BEGINS else f"{shown[:BEGINS]}…"


def _as_dict(found: CollectionView, wanted: int) -> dict[str, Any]:
    pairs = Examples.chosen(found.survey, found.threshold, wanted)
    verdicts = {(mark.left, mark.right): mark.verdict for mark in found.marks}
    return {
        "documents": found.stats.documents,
        "without_signal": found.stats.without_signal,
        "bits": found.stats.bits,
        "recipe": found.stats.recipe,
        "bytes": found.stats.database_bytes
        + found.stats.segment_bytes
        + found.stats.postings_bytes,
        "survey": None if found.survey is None else found.survey.as_dict(),
        "threshold": found.threshold,
        "pairs": {
            side: [{**each._asdict(), "mark": PairExample.verdict(each, verdicts)} for each in some]
            for side, some in (("near", pairs[0]), ("far", pairs[1]))
        },
        "marks": {"count": len(found.marks), **found.score.as_dict()},
        "clusters": None
        if found.clusters is None
        else {
            "similarity": found.clusters.similarity,
            "total": found.clusters.total,
            "largest": [
                {"size": each.size, "members": each.members} for each in found.clusters.clusters
            ],
        },
        "recent": [one.id for one in found.recent],
    }
