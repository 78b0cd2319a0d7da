"""The page Check: a text against the collection, the documents near it, and the copied passages.

`check_text` computes the result, `CheckView` holds the values of the template. The text can be
added to the collection.
"""

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
from neardup.service.pages.page_input import (
    MAX_CHARACTERS,
    UPLOAD_ENDINGS,
    CachedText,
    PageError,
    PageInput,
    TextCache,
    document_link,
)
from neardup.text.comparison import DEFAULT_SIMILARITY, Passage, shared
from neardup.text.differences import ASPECTS, Aspect, check_distinguish

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.collection import Collection
    from neardup.reports.page import Wording
    from neardup.service.models import MatchModel
    from neardup.service.state import Service

# Lowest similarity searched, by the number of documents: a low one is slow in a large collection.
SEARCH_FLOORS = ((5_000, 0.3), (50_000, 0.5))
HIGHEST_FLOOR = 0.7
MAX_NEAREST = 10
# The largest number of matches of the API.
MAX_COUNTED = 1_000
# Deadline of the search for passages of two texts: a user waits.
PAIR_SECONDS = 2.0
# Without a run index the first check reads all documents; of more than these only the nearest are
# compared.
MAX_READ_THROUGH = 200_000
# Without stored texts: fingerprints may differ in one bit of so many.
BITS_APART = 8


@dataclass(frozen=True)
class NearDocument:
    """A document near the text.

    coverage       the share of the text in the document, and of the document in the text; None
                   without stored texts
    differs, lost  as in a match of the API
    """

    id: str
    similarity: float | None
    distance: int | None
    is_near: bool
    coverage: tuple[float, float] | None
    differs: str | None
    lost: int | None

    def as_dict(self) -> dict[str, Any]:
        coverage = self.coverage or (None, None)
        return {
            "id": self.id,
            "similarity": self.similarity,
            "distance": self.distance,
            "near": self.is_near,
            "coverage": coverage[0],
            "coverage_of_document": coverage[1],
            "differs": self.differs,
            "lost": self.lost,
        }


@dataclass(frozen=True)
class CheckResult:
    """The result of a check.

    nearest   the most similar documents, near or not
    near      the number of near documents, counted up to `MAX_COUNTED`
    finding   the copied passages; None if the collection stores no texts
    whole     whether passages were searched in all documents, not only in the nearest
    off       ids of sources that the user left out
    distinguish   aspects in which near documents do not differ
    """

    input: PageInput
    similarity: float
    distinguish: tuple[Aspect, ...]
    nearest: list[NearDocument]
    near: int
    finding: Finding | None
    whole: bool
    off: frozenset[str]

    @property
    def counted(self) -> Finding | None:
        """The finding without the sources left out."""
        return self.finding and self.finding.without(self.off) if self.off else self.finding

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.input.source.name or None,
            "characters": len(self.input.text),
            "similarity": self.similarity,
            "distinguish": self.distinguish,
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
            **_figures_dict(self.counted.figures),
            "by_characters": _figures_dict(self.counted.by_characters),
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


def search_floor(documents: int) -> float:
    """Return the lowest similarity at which the nearest documents are searched."""
    return next((floor for most, floor in SEARCH_FLOORS if documents <= most), HIGHEST_FLOOR)


def check_text(
    service: Service,
    page_text: PageInput,
    similarity: float,
    off: Ids[str],
    distinguish: tuple[Aspect, ...] = (),
) -> CheckResult:
    """Check a text against the collection. Blocks."""
    collection, text = service.collection, page_text.text
    if not collection.stores_text:
        return _check_fingerprints(service, page_text, similarity, distinguish)
    floor = min(search_floor(len(collection)), similarity)
    found = answers.check(service, text, similarity=floor, n=MAX_NEAREST + 1).matches
    matches = {match.id: match for match in found if match.id != page_text.id}
    near = {id_ for id_, match in matches.items() if (match.similarity or 0.0) >= similarity}
    if distinguish or len(near) >= MAX_NEAREST:
        # The nearest documents may all differ; those that do not come first.
        counted = _near_matches(service, page_text, similarity, distinguish)
        near = set(counted) if distinguish else near.union(counted)
        matches = {**counted, **matches} if distinguish else matches
    listed = [*matches.values()][:MAX_NEAREST]
    texts = {match.id: _stored_text(collection, match.id) for match in listed}
    whole = collection.stats().runs or len(collection) <= MAX_READ_THROUGH
    against: Any = collection if whole else [*texts.items()]
    # A random id: a document with the id of the text is left out as the text itself.
    name = page_text.id or f"checked-{secrets.token_hex(8)}"
    copying = check_copying(
        [(name, text)], against, deadline=PAIR_SECONDS, recipe=collection.recipe
    )
    finding = copying.findings[0]
    shares = {source.id: (source.share, source.own_share) for source in finding.sources}
    nearest = [
        NearDocument(
            match.id,
            match.similarity,
            match.distance,
            match.id in near,
            shares.get(match.id) or _coverage(text, texts[match.id]),
            match.differs,
            match.lost,
        )
        for match in listed
    ]
    number = min(MAX_COUNTED, len(near))
    return CheckResult(
        page_text, similarity, distinguish, nearest, number, finding, whole, frozenset(off)
    )


def _near_matches(
    service: Service, page_text: PageInput, similarity: float, distinguish: tuple[Aspect, ...]
) -> dict[str, MatchModel]:
    """Return the near documents by id, the best first, counted up to `MAX_COUNTED`."""
    found = answers.check(
        service,
        page_text.text,
        similarity=similarity,
        n=MAX_COUNTED + 1,
        distinguish=",".join(distinguish) or None,
    )
    return {match.id: match for match in found.matches if match.id != page_text.id}


def _check_fingerprints(
    service: Service, page_text: PageInput, similarity: float, distinguish: tuple[Aspect, ...]
) -> CheckResult:
    """Check a text against a collection without texts, by distance."""
    radius = service.collection.recipe.bits // BITS_APART
    found = answers.check(
        service,
        page_text.text,
        radius=radius,
        n=MAX_COUNTED,
        distinguish=",".join(distinguish) or None,
    ).matches
    nearest = [
        NearDocument(match.id, None, match.distance, True, None, match.differs, match.lost)
        for match in found[:MAX_NEAREST]
    ]
    return CheckResult(
        page_text, similarity, distinguish, nearest, len(found), None, False, frozenset()
    )


def _stored_text(collection: Collection, id_: str) -> str:
    # Another request may have removed it.
    found = collection.get(id_)
    return (found.text if found else None) or ""


def _coverage(text: str, other: str) -> tuple[float, float]:
    found = shared(text, other, deadline=PAIR_SECONDS)
    return found.coverage_left, found.coverage_right


def _figures_dict(figures: Figures) -> dict[str, float]:
    return {
        "share": figures.share,
        "unquoted": figures.unquoted,
        "largest": figures.largest,
    }


# Sources with a row and a colour of their own.
MAX_SOURCES = 20
# Documents suggested below the empty form.
MAX_SUGGESTED = 4
MAX_OFF = 200


@dataclass(frozen=True)
class NearRow:
    """A row of the table of nearest documents; `pair` is a link."""

    name: Sequence[Piece]
    similarity: str
    distance: str
    coverage: str
    own_coverage: str
    differs: str
    lost: str
    is_near: bool
    pair: str


@dataclass(frozen=True)
class SourceSwitch:
    """A row of the table of sources; `switched` links to the page with the source left out, or
    counted again."""

    row: SourceRow
    id: str
    counts: bool
    switched: str


@dataclass(frozen=True)
class CheckView:
    """The values of the template.

    figures   labels and values without the sources left out, with the numbers the script needs to
              compute them again
    """

    name: Sequence[Piece]
    near: Sequence[NearRow]
    document: DocumentView | None
    figures: Sequence[tuple[str, Sequence[tuple[Any, str]]]]
    share: str
    sources: Sequence[SourceSwitch]
    off: frozenset[int]


def routes(service: Service, cache: TextCache) -> list[BaseRoute]:
    @page_input.problem_page(service, "check")
    async def endpoint(request: Request) -> Response:
        if request.method == "POST":
            return await _redirect_to_result(request, service, cache)
        similarity = page_input.query_number(request, "similarity", DEFAULT_SIMILARITY, 0.05, 1.0)
        page_text = await page_input.read_input(request, service, cache)
        if page_text is None:
            return await _form_page(request, service)
        off = request.query_params.getlist("off")[:MAX_OFF]
        given = [*filter(None, request.query_params.getlist("distinguish"))]
        try:
            distinguish = check_distinguish(given)
        except ValueError:
            raise PageError(422, "problem.aspect", value=",".join(given)) from None
        return await service.run(
            _result_page, request, service, page_text, similarity, off, distinguish
        )

    @page_input.problem_page(service, "check")
    async def add(request: Request) -> Response:
        check_write(request.scope, service.settings)
        async with page_input.read_form(request, service) as form:
            fields = {name: page_input.encoded_field(form, name) for name in ("text", "kept")}
            fields["new_id"] = page_input.form_field(form, "new_id")
        return await _add_document(request, service, cache, fields)

    return [
        Route("/", endpoint, methods=["GET"], name="home"),
        *shell.page_routes("/check", endpoint, methods=("GET", "POST")),
        Route("/check/add", add, methods=["POST"], name="check.add"),
    ]


async def _add_document(
    request: Request, service: Service, cache: TextCache, fields: dict[str, str]
) -> Response:
    """Store the checked text; refuse an id that is in use."""
    id_ = fields["new_id"].strip()
    if not 1 <= len(id_) <= MAX_ID:
        raise PageError(422, "problem.id", most=MAX_ID)
    text = fields["text"]
    if fields["kept"]:
        (source,) = cache.get(fields["kept"], 1)
        text = source.text
    if not text.strip():
        raise PageError(422, "problem.empty")
    if await service.run(service.collection.get, id_) is not None:
        raise PageError(409, "problem.known_id", id=id_)
    await service.add([(id_, text, {})])
    return page_input.redirect(request, f"{document_link(id_)}&added=1")


async def _redirect_to_result(request: Request, service: Service, cache: TextCache) -> Response:
    async with page_input.read_form(request, service) as form:
        source = await page_input.submitted_text(form, service, text="text", file="file")
        if source is None:
            raise PageError(422, "problem.empty")
        similarity = page_input.form_field(form, "similarity").strip()
        aspects = [aspect for aspect in ASPECTS if aspect in form.getlist("distinguish")]
    return page_input.redirect(request, result_address(source, cache, similarity, aspects))


def result_address(
    source: CachedText, cache: TextCache, similarity: str, distinguish: Sequence[Aspect]
) -> str:
    """Return the address of the check of a text; a long text is cached."""
    more = [("similarity", similarity)] if similarity else []
    more += _distinguish_query(distinguish)
    in_address = page_input.fits_address(source)
    query = {"text": source.text} if in_address else {"kept": cache.put(source)}
    return PageInput(source, query).link("/check", more)


def _distinguish_query(distinguish: Sequence[Aspect]) -> list[tuple[str, str]]:
    return [("distinguish", ",".join(distinguish))] if distinguish else []


async def _form_page(request: Request, service: Service) -> Response:
    found = await service.run(answers.documents, service, limit=5 * MAX_SUGGESTED, newest=True)
    stats = await service.run(answers.stats, service)
    # The check of a document without a fingerprint finds nothing.
    checkable = [one.id for one in found.documents if stats.texts and one.fingerprint]
    ids = checkable[:MAX_SUGGESTED]
    if shell.wants_json(request):
        return shell.json_page({"documents": stats.documents, "recent": ids})
    return shell.render_page(
        request,
        service,
        "check_form.html",
        page="check",
        documents=stats.documents,
        suggested=[(document_link(id_), line_pieces(id_)) for id_ in ids],
        **form_context(service),
    )


def form_context(service: Service) -> dict[str, Any]:
    """Return the values of a form for a text."""
    return {
        "accepted": ",".join(UPLOAD_ENDINGS),
        "most_bytes": service.settings.max_body,
        "default_similarity": DEFAULT_SIMILARITY,
        "aspects": ASPECTS if service.collection.stores_text else (),
    }


def _result_page(
    request: Request,
    service: Service,
    page_text: PageInput,
    similarity: float,
    off: Sequence[str],
    distinguish: tuple[Aspect, ...],
) -> Response:
    result = check_text(service, page_text, similarity, off, distinguish)
    if shell.wants_json(request):
        return shell.json_page(result.as_dict())
    words = shell.request_wording(request)
    source = page_text.source
    return shell.render_page(
        request,
        service,
        "check.html",
        page="check",
        found=result,
        view=_check_view(result, words),
        heading=line_text(source.name) if source.name else words("check.yours"),
        similarity=f"{similarity:g}",
        distinguished=aspect_list(",".join(distinguish), words) if distinguish else "",
        encoding=source.encoding,
        addable=page_text.id is None and may_write(request.scope, service.settings),
        added=page_text.id is not None and "added" in request.query_params,
        new_id=line_text(source.name),
        query=page_text.query,
        **form_context(service),
    )


def _check_view(found: CheckResult, words: Wording) -> CheckView:
    finding, page_text = found.finding, found.input
    threshold = [("similarity", f"{found.similarity:g}")]

    def pair(id_: str, place: str = "") -> str:
        return f"{page_text.link('/pair', [('source', id_), *threshold])}{place}"

    near = [
        NearRow(
            line_pieces(each.id),
            "–" if each.similarity is None else cosine(each.similarity),
            "–" if each.distance is None else str(each.distance),
            "–" if each.coverage is None else words.share(each.coverage[0]),
            "–" if each.coverage is None else words.share(each.coverage[1]),
            aspect_list(each.differs, words),
            "–" if each.lost is None else f"{each.lost:,}",
            each.is_near,
            "" if each.coverage is None else pair(each.id),
        )
        for each in found.nearest
    ]
    name = line_pieces(page_text.source.name or words("check.yours"))
    if finding is None or found.counted is None:
        return CheckView(name, near, None, (), "", (), frozenset())

    rows = [
        SourceRow.of(rank, source, document_link(source.id), pair(source.id), words)
        for rank, source in enumerate(finding.sources[:MAX_SOURCES], 1)
    ]

    def link(rank: int, n: int, passage: Passage) -> str:
        return pair(finding.sources[rank - 1].id, f"#l{n}")

    view = document_view(finding, words, rows, link, most=MAX_CHARACTERS)
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
            for rank, source in enumerate(finding.sources[:MAX_SOURCES], 1)
            if source.id in found.off
        ),
    )


def aspect_list(differs: str | None, words: Wording) -> str:
    """Return the names of aspects for a reader."""
    names = [words(f"aspect.{name}") for name in differs.split(",")] if differs else []
    return words.comma.join(names) or "–"


def _switches(found: CheckResult, view: DocumentView) -> list[SourceSwitch]:
    assert found.finding is not None  # noqa: S101
    switches = []
    for row, source in zip(view.sources, found.finding.sources, strict=False):
        # The last row may be all other sources together; only the script switches these.
        id_ = source.id if row.pair else ""
        others = sorted(found.off ^ {id_})
        more = [("similarity", f"{found.similarity:g}"), *_distinguish_query(found.distinguish)]
        more += (("off", each) for each in others)
        link = found.input.link("/check", more) if id_ else ""
        switches.append(SourceSwitch(row, id_, id_ not in found.off, link))
    return switches
