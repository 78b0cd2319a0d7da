"""A text against the collection: who is near it, and what of it is there already."""

from __future__ import annotations

import secrets
from collections.abc import Collection as Ids
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from neardup.copying.check import check_copying
from neardup.copying.findings import Figures, Finding, Source
from neardup.reports.document import NAMES, DocumentView, SourceRow, document_view
from neardup.reports.formatting import Piece, cosine, line_pieces, line_text
from neardup.service import answers
from neardup.service.auth import check_write, may_write
from neardup.service.models import MAX_ID
from neardup.service.pages import page_input, shell
from neardup.service.pages.page_input import PageInput, Unanswerable, document_link
from neardup.service.pages.text_cache import CachedText, TextCache
from neardup.service.pages.upload import ACCEPTED, MOST_CHARACTERS
from neardup.text.comparison import DEFAULT_SIMILARITY, Passage, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.collection import Collection
    from neardup.reports.page import Wording
    from neardup.service.pages.page_input import PageInput
    from neardup.service.state import Service


# Below this similarity nobody is looked for; the larger the collection, the dearer it would be.
FLOORS = ((5_000, 0.3), (50_000, 0.5))
HIGHEST_FLOOR = 0.7
NEAREST = 10
# As many as the API gives at most.
COUNTED = 1_000
# Seconds for a pair of texts: someone waits.
PATIENCE = 2.0
# Without postings of runs on disk all texts are read for the first check; of more than these a
# text is compared with the nearest only.
READ_THROUGH = 200_000
# Where there are no texts: the share of bits in which fingerprints may differ.
BITS_APART = 8


@dataclass(frozen=True)
class NearDocument:
    """A document near the text; `coverage` is the share of the text that is in it, and the share
    of it that is in the text; None where there are no texts."""

    id: str
    similarity: float | None
    distance: int | None
    is_near: bool
    coverage: tuple[float, float] | None

    def as_dict(self) -> dict[str, Any]:
        coverage = self.coverage or (None, None)
        return {
            "id": self.id,
            "similarity": self.similarity,
            "distance": self.distance,
            "near": self.is_near,
            "coverage": coverage[0],
            "coverage_of_document": coverage[1],
        }


@dataclass(frozen=True)
class CheckResult:
    """What was found.

    nearest   the nearest documents, near or not
    near      how many are near, listed or not; they are counted up to `COUNTED`
    finding   what was copied; None where the collection stores no texts
    whole     whether passages were looked for in all documents, and not in the nearest only
    off       ids of sources that are left out
    """

    asked: PageInput
    similarity: float
    nearest: list[NearDocument]
    near: int
    finding: Finding | None
    whole: bool
    off: frozenset[str]

    @property
    def counted(self) -> Finding | None:
        """The finding without the sources that are left out."""
        return self.finding and self.finding.without(self.off) if self.off else self.finding

    def as_dict(self) -> dict[str, Any]:
        given = self.asked.given
        return {
            "name": given.name or None,
            "characters": len(given.text),
            "similarity": self.similarity,
            "near": self.near,
            "nearest": [each.as_dict() for each in self.nearest],
            "copied": self._copied(),
        }

    def _copied(self) -> dict[str, Any] | None:
        if self.finding is None or self.counted is None:
            return None
        return {
            "compared_with": "all documents" if self.whole else "the nearest documents",
            "words": self.finding.words,
            **_figures(self.counted.figures),
            "by_characters": _figures(self.counted.by_characters),
            "sources": [self._source(each) for each in self.finding.sources],
        }

    def _source(self, source: Source) -> dict[str, Any]:
        return {
            "id": source.id,
            "counts": source.id not in self.off,
            "share": source.share,
            "share_of_source": source.own_share,
            "words": source.words,
            "longest": source.longest,
            "similarity": source.similarity,
            "passages": len(source.passages),
        }


def floor_of(documents: int) -> float:
    """Where the search for the nearest ends, whatever the threshold is."""
    return next((floor for most, floor in FLOORS if documents <= most), HIGHEST_FLOOR)


def check(service: Service, asked: PageInput, similarity: float, off: Ids[str]) -> CheckResult:
    """Everything the page shows; it blocks."""
    collection, text = service.collection, asked.given.text
    if not collection.stores_text:
        return _by_bits(collection, asked, similarity)
    found = collection.check(text, min(floor_of(len(collection)), similarity), n=NEAREST + 1)
    matches = [match for match in found if match.id != asked.id][:NEAREST]
    texts = {match.id: _text(collection, match.id) for match in matches}
    whole = collection.stats().runs or len(collection) <= READ_THROUGH
    against: Any = collection if whole else [*texts.items()]
    # An equal text under an equal id would be taken for the text itself.
    name = asked.id or f"checked-{secrets.token_hex(8)}"
    copying = check_copying([(name, text)], against, deadline=PATIENCE, recipe=collection.recipe)
    finding = copying.findings[0]
    shares = {source.id: (source.share, source.own_share) for source in finding.sources}
    nearest = [
        NearDocument(
            match.id,
            match.similarity,
            match.distance,
            (match.similarity or 0.0) >= similarity,
            shares.get(match.id) or _coverage(text, texts[match.id]),
        )
        for match in matches
    ]
    near = _counted(collection, asked, similarity, nearest)
    return CheckResult(asked, similarity, nearest, near, finding, whole, frozenset(off))


def _counted(
    collection: Collection, asked: PageInput, similarity: float, nearest: Sequence[NearDocument]
) -> int:
    """How many documents are near, as a check of that similarity has it."""
    listed = {each.id for each in nearest if each.is_near}
    if len(listed) < NEAREST:
        return len(listed)
    found = collection.check(asked.given.text, similarity, n=COUNTED + 1)
    return min(COUNTED, len(listed.union(match.id for match in found) - {asked.id}))


def _by_bits(collection: Collection, asked: PageInput, similarity: float) -> CheckResult:
    """Where no texts are kept only fingerprints can be compared."""
    radius = collection.recipe.bits // BITS_APART
    found = collection.check(asked.given.text, radius=radius, n=COUNTED)
    nearest = [
        NearDocument(match.id, None, match.distance, True, None) for match in found[:NEAREST]
    ]
    return CheckResult(asked, similarity, nearest, len(found), None, False, frozenset())


def _text(collection: Collection, id_: str) -> str:
    # It may have been removed meanwhile.
    found = collection.get(id_)
    return (found.text if found else None) or ""


def _coverage(text: str, other: str) -> tuple[float, float]:
    found = shared(text, other, deadline=PATIENCE)
    return found.coverage_left, found.coverage_right


def _figures(figures: Figures) -> dict[str, float]:
    return {
        "share": figures.share,
        "unquoted": figures.unquoted,
        "largest": figures.largest,
    }


# The page Check: a text against the collection, with the evidence.

# Sources with a row and a colour of their own.
SOURCES = 20
# Documents offered on the empty page.
OFFERED = 4
MOST_OFF = 200


@dataclass(frozen=True)
class NearRow:
    """A near document in the table."""

    name: Sequence[Piece]
    similarity: str
    distance: str
    coverage: str
    own_coverage: str
    is_near: bool
    pair: str


@dataclass(frozen=True)
class SourceSwitch:
    """A source in the table, and the address of the page with it switched."""

    row: SourceRow
    id: str
    counts: bool
    switched: str


@dataclass(frozen=True)
class CheckView:
    """What the template writes down; `figures` are labels and values without the sources that are
    left out, each with what the script needs to compute it again."""

    name: Sequence[Piece]
    near: Sequence[NearRow]
    document: DocumentView | None
    figures: Sequence[tuple[str, Sequence[tuple[Any, str]]]]
    share: str
    sources: Sequence[SourceSwitch]
    off: frozenset[int]


def routes(service: Service, kept: TextCache) -> list[BaseRoute]:
    @page_input.problem_page(service, "check")
    async def endpoint(request: Request) -> Response:
        if request.method == "POST":
            return await _posted(request, service, kept)
        similarity = page_input.number_in(request, "similarity", DEFAULT_SIMILARITY, 0.05, 1.0)
        asked = await page_input.asked(request, service, kept)
        if asked is None:
            return await _empty(request, service)
        off = request.query_params.getlist("off")[:MOST_OFF]
        return await service.run(_answer, request, service, asked, similarity, off)

    @page_input.problem_page(service, "check")
    async def add(request: Request) -> Response:
        check_write(request.scope, service.settings)
        async with page_input.form_of(request, service) as form:
            fields = {name: page_input.coded(form, name) for name in ("text", "kept")}
            fields["new_id"] = page_input.field(form, "new_id")
        return await _added(request, service, kept, fields)

    return [
        Route("/", endpoint, methods=["GET"], name="home"),
        *shell.both("/check", endpoint, methods=("GET", "POST")),
        Route("/check/add", add, methods=["POST"], name="check.add"),
    ]


async def _added(
    request: Request, service: Service, kept: TextCache, fields: dict[str, str]
) -> Response:
    """Stores the text that was checked, if nothing is stored under that id yet."""
    id_ = fields["new_id"].strip()
    if not 1 <= len(id_) <= MAX_ID:
        raise Unanswerable(422, "problem.id", most=MAX_ID)
    text = fields["text"]
    if fields["kept"]:
        found = kept.get(fields["kept"])
        if found is None or len(found) != 1:
            raise Unanswerable(404, "problem.gone")
        text = found[0].text
    if not text.strip():
        raise Unanswerable(422, "problem.empty")
    if await service.run(service.collection.get, id_) is not None:
        raise Unanswerable(409, "problem.known_id", id=id_)
    await service.add([(id_, text, {})])
    return page_input.see_other(request, f"{document_link(id_)}&added=1")


async def _posted(request: Request, service: Service, kept: TextCache) -> Response:
    """A form was sent: the answer is at an address of its own, which can be shared."""
    async with page_input.form_of(request, service) as form:
        given = await page_input.text_of(form, service, text="text", file="file")
        if given is None:
            raise Unanswerable(422, "problem.empty")
        similarity = page_input.field(form, "similarity").strip()
    return page_input.see_other(request, address(given, kept, similarity))


def address(given: CachedText, kept: TextCache, similarity: str = "") -> str:
    """The page about a text."""
    more = [("similarity", similarity)] if similarity else []
    query = {"text": given.text} if page_input.in_address(given) else {"kept": kept.put(given)}
    return PageInput(given, query).link("/check", more)


async def _empty(request: Request, service: Service) -> Response:
    found = await service.run(answers.documents, service, limit=5 * OFFERED, newest=True)
    stats = await service.run(answers.stats, service)
    # Those with too few words would show nothing.
    worth = [one.id for one in found.documents if stats.texts and one.fingerprint]
    ids = worth[:OFFERED]
    if shell.is_twin(request):
        return shell.twin({"documents": stats.documents, "recent": ids})
    return shell.page(
        request,
        service,
        "check_form.html",
        page="check",
        documents=stats.documents,
        offered=[(document_link(id_), line_pieces(id_)) for id_ in ids],
        **form_context(service),
    )


def form_context(service: Service) -> dict[str, Any]:
    """What a form for a text speaks of."""
    return {
        "accepted": ",".join(ACCEPTED),
        "most_bytes": service.settings.max_body,
        "default_similarity": DEFAULT_SIMILARITY,
    }


def _answer(
    request: Request, service: Service, asked: PageInput, similarity: float, off: Sequence[str]
) -> Response:
    found = check(service, asked, similarity, off)
    if shell.is_twin(request):
        return shell.twin(found.as_dict())
    words = shell.words_of(request)
    name = asked.given.name
    return shell.page(
        request,
        service,
        "check.html",
        page="check",
        found=found,
        view=_view(found, words),
        heading=line_text(name) if name else words("check.yours"),
        similarity=f"{similarity:g}",
        note=asked.given.note,
        addable=asked.id is None and may_write(request.scope, service.settings),
        added=asked.id is not None and "added" in request.query_params,
        suggested=line_text(name) if name else "",
        query=asked.query,
        **form_context(service),
    )


def _view(found: CheckResult, words: Wording) -> CheckView:
    finding, asked = found.finding, found.asked
    threshold = [("similarity", f"{found.similarity:g}")]

    def pair(id_: str, place: str = "") -> str:
        return f"{asked.link('/pair', [('source', id_), *threshold])}{place}"

    near = [
        NearRow(
            line_pieces(each.id),
            "–" if each.similarity is None else cosine(each.similarity),
            "–" if each.distance is None else str(each.distance),
            "–" if each.coverage is None else words.share(each.coverage[0]),
            "–" if each.coverage is None else words.share(each.coverage[1]),
            each.is_near,
            "" if each.coverage is None else pair(each.id),
        )
        for each in found.nearest
    ]
    name = line_pieces(asked.given.name or words("check.yours"))
    if finding is None or found.counted is None:
        return CheckView(name, near, None, (), "", (), frozenset())

    rows = [
        SourceRow.of(rank, source, document_link(source.id), pair(source.id), words)
        for rank, source in enumerate(finding.sources[:SOURCES], 1)
    ]

    def link(rank: int, n: int, passage: Passage) -> str:
        return pair(finding.sources[rank - 1].id, f"#l{n}")

    view = document_view(finding, words, rows, link, most=MOST_CHARACTERS)
    counted = {"w": found.counted.figures, "c": found.counted.by_characters}
    figures = [
        (label, [(figure, words.share(getattr(counted[figure.by], name_))) for figure in row])
        for name_, (label, row) in zip(NAMES, view.figures, strict=True)
    ]
    return CheckView(
        name,
        near,
        view,
        figures,
        figures[0][1][0][1],
        _switches(found, view),
        frozenset(
            rank
            for rank, source in enumerate(finding.sources[:SOURCES], 1)
            if source.id in found.off
        ),
    )


def _switches(found: CheckResult, view: DocumentView) -> list[SourceSwitch]:
    assert found.finding is not None  # noqa: S101
    switches = []
    for row, source in zip(view.sources, found.finding.sources, strict=False):
        # The last row may stand for all others together, which are switched by the script only.
        id_ = source.id if row.pair else ""
        others = sorted(found.off ^ {id_})
        more = [("similarity", f"{found.similarity:g}"), *(("off", each) for each in others)]
        link = found.asked.link("/check", more) if id_ else ""
        switches.append(SourceSwitch(row, id_, id_ not in found.off, link))
    return switches
