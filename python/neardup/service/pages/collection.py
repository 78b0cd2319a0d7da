"""The page Collection: what is stored, how similar it is, and where to set the threshold.

It shows the survey, pairs on both sides of the threshold side by side, the score of the marks, the
largest clusters and the newest documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.collection import CollectionError
from neardup.reports.formatting import Piece, cosine, line_pieces
from neardup.reports.marked_text import ShownRecord, SideBySide, Sides
from neardup.service import answers, models
from neardup.service.auth import may_write
from neardup.service.errors import TooManyDocumentsError
from neardup.service.pages import page_input, shell
from neardup.service.pages.marks import Mark, Marks, NotesError, Score, ordered_pair, score
from neardup.service.pages.page_input import document_link, pair_link
from neardup.service.pages.survey import NearestDocument, Survey, Surveyor, survey_chart
from neardup.service.worker_pool import BusyError
from neardup.text.comparison import DEFAULT_SIMILARITY

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.service.state import Service

# How long a page waits for the survey and the clusters.
WAIT_SECONDS = 1.5
MAX_RECENT, MAX_CLUSTERS, MAX_MEMBERS, MAX_MARKS = 8, 8, 6, 100
# Pairs on each side of the threshold.
DEFAULT_EXAMPLES, MAX_EXAMPLES = 4, 40
# Of each text of a pair, and of a newest document.
EXAMPLE_CHARACTERS, EXCERPT_CHARACTERS = 1_500, 90


@dataclass(frozen=True)
class CollectionView:
    """The content of the page; `clusters_phrase` says why there are no clusters."""

    stats: models.StatsModel
    survey: Survey | None
    clusters: models.ClustersModel | None
    clusters_phrase: str
    recent: list[models.DocumentModel]
    marks: list[Mark]
    threshold: float

    @property
    def score(self) -> Score:
        return score(self.marks, self.threshold)

    @property
    def disk_bytes(self) -> int:
        stats = self.stats
        return stats.database_bytes + stats.segment_bytes + stats.postings_bytes

    @property
    def verdicts(self) -> dict[tuple[str, str], str]:
        return {(mark.left, mark.right): mark.verdict for mark in self.marks}

    def closest_pairs(self, count: int) -> tuple[list[NearestDocument], list[NearestDocument]]:
        return ([], []) if self.survey is None else self.survey.split(self.threshold, count)


@dataclass(frozen=True)
class PairExample:
    """A pair side by side; `mark` is its verdict or ""."""

    left: str
    right: str
    names: Sequence[Sequence[Piece]]
    similarity: str
    distance: str
    mark: str
    pair: str
    sides: Sides


class Clusterer:
    """Computes clusters in the background. Not thread-safe: for the event loop only."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._task: asyncio.Task[models.ClustersModel] | None = None
        self._latest: models.ClustersModel | None = None

    async def latest(self, timeout: float) -> tuple[models.ClustersModel | None, str]:
        """Return the clusters, or the last ones while new ones are computed; if there are none,
        the phrase that says why."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(
                answers.clusters(self._service, limit=MAX_CLUSTERS, members=MAX_MEMBERS)
            )
        await asyncio.wait([self._task], timeout=timeout)
        if not self._task.done():
            return self._latest, "" if self._latest else "groups.running"
        try:
            self._latest = self._task.result()
        except BusyError:
            # The clustering pool is full.
            return self._latest, "" if self._latest else "groups.running"
        except TooManyDocumentsError:
            return None, "groups.too_many"
        except CollectionError:
            return None, "survey.no_texts"
        return self._latest, ""


def routes(service: Service, marks: Marks) -> list[BaseRoute]:
    surveyor, clusterer = Surveyor(service), Clusterer(service)

    @page_input.problem_page(service, "collection")
    async def endpoint(request: Request) -> Response:
        threshold = page_input.query_number(request, "threshold", DEFAULT_SIMILARITY, 0.0, 1.0)
        count = page_input.query_number(request, "examples", DEFAULT_EXAMPLES, 1, MAX_EXAMPLES)
        stats = await service.run(answers.stats, service)
        survey, (clusters, phrase) = await asyncio.gather(
            surveyor.latest(WAIT_SECONDS), clusterer.latest(WAIT_SECONDS)
        )
        recent = await service.run(
            answers.documents, service, limit=MAX_RECENT, newest=True, texts=True
        )
        rows = await service.run(_readable_marks, marks)
        view = CollectionView(stats, survey, clusters, phrase, recent.documents, rows, threshold)
        return await service.run(_collection_page, request, service, view, int(count))

    return shell.page_routes("/collection", endpoint)


def _readable_marks(marks: Marks) -> list[Mark]:
    try:
        return marks.all()
    except NotesError:
        # The page works without marks; setting one reports the error.
        return []


def _collection_page(
    request: Request, service: Service, view: CollectionView, count: int
) -> Response:
    if shell.wants_json(request):
        return shell.json_page(_as_dict(view, count))
    words = shell.request_wording(request)
    near, far = view.closest_pairs(count)
    side_by_side = SideBySide(words, None)
    more = shell.with_query(request, "/collection", examples=str(min(4 * count, MAX_EXAMPLES)))
    return shell.render_page(
        request,
        service,
        "collection.html",
        page="collection",
        stats=view.stats,
        size=format_bytes(view.disk_bytes),
        survey=view.survey,
        chart=None if view.survey is None else survey_chart(view.survey, view.threshold, words),
        threshold=f"{view.threshold:g}",
        least=min(view.threshold, view.survey.floor if view.survey else 0.0),
        near=_examples(service, near, view.verdicts, side_by_side),
        far=_examples(service, far, view.verdicts, side_by_side),
        more=more if count < MAX_EXAMPLES else "",
        score=view.score,
        marks=view.marks,
        listed=[_mark_row(mark) for mark in view.marks[:MAX_MARKS]],
        clusters=_cluster_rows(view.clusters),
        clusters_phrase=view.clusters_phrase,
        recent=[
            (
                line_pieces(one.id),
                document_link(one.id) if one.text else "",
                line_pieces(_excerpt(one.text or "")),
            )
            for one in view.recent
        ],
        writes=may_write(request.scope, service.settings),
    )


def _examples(
    service: Service,
    pairs: Sequence[NearestDocument],
    verdicts: Mapping[tuple[str, str], str],
    side_by_side: SideBySide,
) -> list[PairExample]:
    """Return the pairs side by side, without those of removed documents."""
    examples = []
    for pair in pairs:
        left, right = _shown_document(service, pair.left), _shown_document(service, pair.right)
        if left is None or right is None:
            continue
        examples.append(
            PairExample(
                pair.left,
                pair.right,
                (line_pieces(pair.left), line_pieces(pair.right)),
                cosine(pair.similarity),
                "–" if pair.distance is None else str(pair.distance),
                verdicts.get(ordered_pair(pair.left, pair.right), ""),
                pair_link(pair.left, pair.right),
                side_by_side.pair(left, right),
            )
        )
    return examples


def _shown_document(service: Service, id_: str) -> ShownRecord | None:
    stored = service.collection.get(id_)
    if stored is None or stored.text is None:
        return None
    return ShownRecord(id_, stored.text[:EXAMPLE_CHARACTERS], len(stored.text))


def _mark_row(mark: Mark) -> dict[str, Any]:
    return {
        "left": line_pieces(mark.left),
        "right": line_pieces(mark.right),
        "verdict": mark.verdict,
        "similarity": cosine(mark.similarity),
        "pair": pair_link(mark.left, mark.right),
    }


def _cluster_rows(clusters: models.ClustersModel | None) -> dict[str, Any] | None:
    if clusters is None:
        return None
    return {
        "total": clusters.total,
        "similarity": f"{clusters.similarity:g}",
        "groups": [
            {
                "size": group.size,
                "more": group.size - len(group.members),
                "members": [
                    (
                        line_pieces(id_),
                        document_link(id_)
                        if id_ == group.representative
                        else pair_link(group.representative, id_),
                    )
                    for id_ in group.members
                ],
            }
            for group in clusters.clusters
        ],
    }


def _excerpt(text: str) -> str:
    shown = " ".join(text[: 4 * EXCERPT_CHARACTERS].split())
    return shown if len(shown) <= EXCERPT_CHARACTERS else f"{shown[:EXCERPT_CHARACTERS]}…"


def format_bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _as_dict(view: CollectionView, count: int) -> dict[str, Any]:
    near, far = view.closest_pairs(count)
    verdicts, clusters = view.verdicts, view.clusters
    return {
        "documents": view.stats.documents,
        "without_signal": view.stats.without_signal,
        "bits": view.stats.bits,
        "recipe": view.stats.recipe,
        "bytes": view.disk_bytes,
        "survey": None if view.survey is None else view.survey.as_dict(),
        "threshold": view.threshold,
        "pairs": {
            side: [
                {**pair._asdict(), "mark": verdicts.get(ordered_pair(pair.left, pair.right))}
                for pair in pairs
            ]
            for side, pairs in (("near", near), ("far", far))
        },
        "marks": {"count": len(view.marks), **view.score.as_dict()},
        "clusters": None
        if clusters is None
        else {
            "similarity": clusters.similarity,
            "total": clusters.total,
            "largest": [{"size": each.size, "members": each.members} for each in clusters.clusters],
        },
        "recent": [one.id for one in view.recent],
    }
