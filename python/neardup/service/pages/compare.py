"""Two texts side by side: figures, fingerprints bit by bit, passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.reports.comparison import ComparisonReport, PairView, pair_view
from neardup.reports.formatting import line_pieces, line_text
from neardup.service.auth import may_write
from neardup.service.pages import page_input, shell
from neardup.service.pages.check import form_context
from neardup.service.pages.marks import Marks, NotesError
from neardup.service.pages.page_input import PageInput, Unanswerable, document_link
from neardup.service.pages.text_cache import CachedText, TextCache
from neardup.text.comparison import DEFAULT_SIMILARITY, Comparison, compare
from neardup.text.fingerprint import fingerprint

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.reports.page import Wording
    from neardup.service.pages.text_cache import CachedText
    from neardup.service.state import Service
    from neardup.text.recipe import Recipe


# Seconds for the passages: someone waits.
PATIENCE = 5.0
GROUP = 8


@dataclass(frozen=True)
class FingerprintBit:
    """A bit of both fingerprints; `place` counts from the highest, as they are written."""

    left: str
    right: str
    place: int

    @property
    def differs(self) -> bool:
        return self.left != self.right


@dataclass(frozen=True)
class Strip:
    """Both fingerprints in groups of eight bits, the highest first."""

    bits: int
    codes: tuple[str, str]
    groups: Sequence[Sequence[FingerprintBit]]

    @property
    def differing(self) -> list[int]:
        return [bit.place for group in self.groups for bit in group if bit.differs]


@dataclass(frozen=True)
class Both:
    """Two texts compared; `codes` are their fingerprints, None for one without a signal."""

    texts: tuple[CachedText, CachedText]
    found: Comparison
    codes: tuple[int | None, int | None]

    def strip(self) -> Strip | None:
        left, right = self.codes
        if left is None or right is None:
            return None
        bits = self.found.recipe.bits
        rows = [f"{code:0{bits}b}" for code in (left, right)]
        pairs = [FingerprintBit(a, b, at) for at, (a, b) in enumerate(zip(*rows, strict=True), 1)]
        groups = [pairs[at : at + GROUP] for at in range(0, bits, GROUP)]
        return Strip(bits, (_hex(left, bits), _hex(right, bits)), groups)

    def view(self, words: Wording, names: tuple[str, str]) -> PairView:
        found = self.found
        compared = ComparisonReport(
            names=names,
            texts=(self.texts[0].text, self.texts[1].text),
            passages=found.passages,
            coverage=(found.coverage_left, found.coverage_right),
            similarity=found.similarity,
            distance=found.distance,
            bits=found.recipe.bits,
            verdict=found.verdict,
            threshold=found.threshold,
            coarse=found.coarse,
        )
        return pair_view(compared, words)

    def as_dict(self) -> dict[str, Any]:
        found, bits = self.found, self.found.recipe.bits
        strip = self.strip()
        return {
            "names": [text.name or None for text in self.texts],
            "fingerprints": [None if code is None else _hex(code, bits) for code in self.codes],
            "bits": bits,
            "differing_bits": None if strip is None else strip.differing,
            "distance": found.distance,
            "similarity": found.similarity,
            "threshold": found.threshold,
            "verdict": found.verdict,
            "coverage": [found.coverage_left, found.coverage_right],
            "containment": [found.containment_left, found.containment_right],
            "longest": found.longest,
            "coarse": found.coarse,
            "passages": [vars(passage) for passage in found.passages],
        }


def both(left: CachedText, right: CachedText, recipe: Recipe, similarity: float) -> Both:
    """Compares two texts; it blocks."""
    found = compare(left.text, right.text, recipe, similarity=similarity, deadline=PATIENCE)
    codes = fingerprint(left.text, recipe), fingerprint(right.text, recipe)
    return Both((left, right), found, codes)


def _hex(code: int, bits: int) -> str:
    return f"{code:0{bits // 4}x}"


# The page Compare, for two texts of anyone; and Pair, for a text beside a stored document.


def routes(service: Service, kept: TextCache, marks: Marks) -> list[BaseRoute]:
    @page_input.problem_page(service, "compare")
    async def compare(request: Request) -> Response:
        if request.method == "POST":
            return await _posted(request, service, kept)
        found = _given(request, kept)
        if found is None:
            return _empty(request, service)
        return await service.run(_answer, request, service, marks, *found, page="compare")

    @page_input.problem_page(service, "check")
    async def pair(request: Request) -> Response:
        asked = await page_input.asked(request, service, kept)
        if asked is None or "source" not in request.query_params:
            raise Unanswerable(422, "problem.no_pair")
        source = await page_input.stored(service, request.query_params["source"], "source")
        return await service.run(
            _answer,
            request,
            service,
            marks,
            asked.given,
            source.given,
            page="check",
            back=asked.link("/check"),
            ids=(asked.id, source.id),
        )

    return [
        *shell.both("/compare", compare, methods=("GET", "POST")),
        *shell.both("/pair", pair),
    ]


async def _posted(request: Request, service: Service, kept: TextCache) -> Response:
    async with page_input.form_of(request, service) as form:
        texts = []
        for side in ("left", "right"):
            given = await page_input.text_of(form, service, text=side, file=f"{side}_file")
            texts.append(given or CachedText(page_input.field(form, side)))
        similarity = page_input.field(form, "similarity").strip()
    if not any(given.text for given in texts):
        raise Unanswerable(422, "problem.two_empty")
    left, right = texts
    more = [("similarity", similarity)] if similarity else []
    if page_input.in_address(left, right):
        query = {"left": left.text, "right": right.text}
    else:
        query = {"kept": kept.put(left, right)}
    return page_input.see_other(request, PageInput(left, query).link("/compare", more))


def _given(request: Request, kept: TextCache) -> tuple[CachedText, CachedText] | None:
    query = request.query_params
    if "kept" in query:
        found = kept.get(query["kept"])
        if found is None or len(found) != 2:
            raise Unanswerable(404, "problem.gone")
        return found[0], found[1]
    if "left" in query or "right" in query:
        texts = [page_input.limited(CachedText(query.get(side, ""))) for side in ("left", "right")]
        return texts[0], texts[1]
    return None


def _empty(request: Request, service: Service) -> Response:
    recipe = service.collection.recipe
    if shell.is_twin(request):
        return shell.twin({"recipe": recipe.identity, "bits": recipe.bits})
    return shell.page(
        request,
        service,
        "compare_form.html",
        page="compare",
        texts=("", ""),
        **form_context(service),
    )


def _answer(
    request: Request,
    service: Service,
    marks: Marks,
    left: CachedText,
    right: CachedText,
    *,
    page: str,
    back: str = "",
    ids: tuple[str | None, str | None] = (None, None),
) -> Response:
    similarity = page_input.number_in(request, "similarity", DEFAULT_SIMILARITY, 0.0, 1.0)
    found = both(left, right, service.collection.recipe, similarity)
    if shell.is_twin(request):
        return shell.twin(found.as_dict())
    words = shell.words_of(request)
    names = [
        given.name or words("check.yours" if page == "check" else f"compare.{side}")
        for given, side in ((left, "left"), (right, "right"))
    ]
    heading = words("title.pair", left=names[0], right=names[1])
    return shell.page(
        request,
        service,
        "pair.html",
        page=page,
        heading=line_pieces(heading if page == "check" else words("compare.title")),
        plain_heading=line_text(heading),
        strip=found.strip(),
        view=found.view(words, (names[0], names[1])),
        back=back,
        documents=[(document_link(id_), line_pieces(id_)) for id_ in ids if id_ is not None],
        texts=_typed(left, right) if page == "compare" else None,
        **_marking(request, service, marks, ids),
        **form_context(service),
    )


def _typed(left: CachedText, right: CachedText) -> tuple[str, str] | None:
    """The texts to change and compare again, where they are short enough for a form."""
    if not page_input.in_address(left, right):
        return None
    return left.text, right.text


def _marking(
    request: Request, service: Service, marks: Marks, ids: tuple[str | None, str | None]
) -> dict[str, Any]:
    """Two stored documents can be marked, by whoever may."""
    left, right = ids
    if left is None or right is None or left == right:
        return {"marking": None}
    if not may_write(request.scope, service.settings):
        return {"marking": None}
    try:
        verdict = marks.get(left, right) or ""
    except NotesError:
        return {"marking": None}
    return {"marking": (left, right), "marked": verdict}
