"""The pages Compare, for two texts, and Pair, for a text beside a stored document.

Both show similarity and distance, the fingerprints bit by bit, and the shared passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.reports.comparison import PairView, comparison_report, pair_view
from neardup.reports.formatting import line_pieces, line_text
from neardup.service import answers
from neardup.service.answers import TextComparison
from neardup.service.auth import may_write
from neardup.service.pages import page_input, shell
from neardup.service.pages.check import form_context
from neardup.service.pages.marks import Marks, NotesError
from neardup.service.pages.page_input import (
    CachedText,
    PageError,
    PageInput,
    TextCache,
)
from neardup.text.comparison import DEFAULT_SIMILARITY, own_tokens

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.reports.page import Wording
    from neardup.service.state import Service

# Deadline of the search for passages: a user waits.
PASSAGES_SECONDS = 5.0
GROUP_BITS = 8


@dataclass(frozen=True)
class FingerprintBit:
    """A bit of both fingerprints; `place` counts from 1 at the most significant bit."""

    left: str
    right: str
    place: int

    @property
    def differs(self) -> bool:
        return self.left != self.right


@dataclass(frozen=True)
class Strip:
    """Both fingerprints in groups of eight bits, most significant first, and in hexadecimal."""

    bits: int
    codes: tuple[str, str]
    groups: Sequence[Sequence[FingerprintBit]]

    @property
    def differing(self) -> list[int]:
        return [bit.place for group in self.groups for bit in group if bit.differs]


@dataclass(frozen=True)
class TextPair:
    """Two texts and their comparison."""

    texts: tuple[CachedText, CachedText]
    result: TextComparison

    def strip(self) -> Strip | None:
        """Return the fingerprints bit by bit; None if a text has none."""
        (left, right), codes = self.result.fingerprints, self.result.hex_fingerprints
        if left is None or right is None or codes[0] is None or codes[1] is None:
            return None
        bits = self.result.comparison.recipe.bits
        rows = [f"{code:0{bits}b}" for code in (left, right)]
        pairs = [FingerprintBit(a, b, at) for at, (a, b) in enumerate(zip(*rows, strict=True), 1)]
        groups = [pairs[at : at + GROUP_BITS] for at in range(0, bits, GROUP_BITS)]
        return Strip(bits, (codes[0], codes[1]), groups)

    def view(self, words: Wording, names: tuple[str, str]) -> PairView:
        texts = (self.texts[0].text, self.texts[1].text)
        return pair_view(comparison_report(names, texts, self.result.comparison), words)

    def as_dict(self) -> dict[str, Any]:
        comparison, strip = self.result.comparison, self.strip()
        return {
            "names": [text.name or None for text in self.texts],
            "fingerprints": list(self.result.hex_fingerprints),
            "bits": comparison.recipe.bits,
            "differing_bits": None if strip is None else strip.differing,
            "distance": comparison.distance,
            "similarity": comparison.similarity,
            "threshold": comparison.threshold,
            "verdict": comparison.verdict,
            "container": comparison.container,
            "coverage": [comparison.coverage_left, comparison.coverage_right],
            "containment": [comparison.containment_left, comparison.containment_right],
            "longest": comparison.longest,
            "words": [comparison.words_left, comparison.words_right],
            "unit": comparison.unit,
            "differences": {
                "aspects": comparison.differences.aspects,
                **own_tokens(comparison.differences),
                "order": comparison.differences.order,
            },
            "coarse": comparison.coarse,
            "passages": [vars(passage) for passage in comparison.passages],
        }


def routes(service: Service, cache: TextCache, marks: Marks) -> list[BaseRoute]:
    @page_input.problem_page(service, "compare")
    async def compare(request: Request) -> Response:
        if request.method == "POST":
            return await _redirect_to_result(request, service, cache)
        texts = _read_texts(request, cache)
        if texts is None:
            return _form_page(request, service)
        return await service.run(_result_page, request, service, marks, *texts, page="compare")

    @page_input.problem_page(service, "check")
    async def pair(request: Request) -> Response:
        left = await page_input.read_input(request, service, cache)
        if left is None or "source" not in request.query_params:
            raise PageError(422, "problem.no_pair")
        right = await page_input.stored_input(service, request.query_params["source"], "source")
        return await service.run(
            _result_page,
            request,
            service,
            marks,
            left.source,
            right.source,
            page="check",
            back=left.link("/check"),
            ids=(left.id, right.id),
        )

    return [
        *shell.page_routes("/compare", compare, methods=("GET", "POST")),
        *shell.page_routes("/pair", pair),
    ]


async def _redirect_to_result(request: Request, service: Service, cache: TextCache) -> Response:
    async with page_input.read_form(request, service) as form:
        texts = []
        for side in ("left", "right"):
            text = await page_input.submitted_text(form, service, text=side, file=f"{side}_file")
            texts.append(text or CachedText(page_input.form_field(form, side)))
        similarity = page_input.form_field(form, "similarity").strip()
    left, right = texts
    if not left.text and not right.text:
        raise PageError(422, "problem.two_empty")
    more = [("similarity", similarity)] if similarity else []
    if page_input.fits_address(left, right):
        query = {"left": left.text, "right": right.text}
    else:
        query = {"kept": cache.put(left, right)}
    return page_input.redirect(request, PageInput(left, query).link("/compare", more))


def _read_texts(request: Request, cache: TextCache) -> tuple[CachedText, CachedText] | None:
    """Return the texts of the address; None if it has none."""
    query = request.query_params
    if "kept" in query:
        left, right = cache.get(query["kept"], 2)
    elif "left" in query or "right" in query:
        left, right = (
            page_input.check_length(CachedText(query.get(side, ""))) for side in ("left", "right")
        )
    else:
        return None
    return left, right


def _form_page(request: Request, service: Service) -> Response:
    recipe = service.collection.recipe
    if shell.wants_json(request):
        return shell.json_page({"recipe": recipe.identity, "bits": recipe.bits})
    return shell.render_page(
        request,
        service,
        "compare_form.html",
        page="compare",
        texts=("", ""),
        **form_context(service),
    )


def _result_page(
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
    similarity = page_input.query_number(request, "similarity", DEFAULT_SIMILARITY, 0.0, 1.0)
    result = answers.compare_texts(
        service, left.text, right.text, similarity=similarity, deadline=PASSAGES_SECONDS
    )
    pair = TextPair((left, right), result)
    if shell.wants_json(request):
        return shell.json_page(pair.as_dict())
    words = shell.request_wording(request)
    names = [
        source.name or words("check.yours" if page == "check" else f"compare.{side}")
        for source, side in ((left, "left"), (right, "right"))
    ]
    heading = words("title.pair", left=names[0], right=names[1])
    # Short texts can be edited and compared again.
    is_editable = page == "compare" and page_input.fits_address(left, right)
    return shell.render_page(
        request,
        service,
        "pair.html",
        page=page,
        heading=line_pieces(heading if page == "check" else words("compare.title")),
        plain_heading=line_text(heading),
        strip=pair.strip(),
        view=pair.view(words, (names[0], names[1])),
        back=back,
        texts=(left.text, right.text) if is_editable else None,
        **_marking_context(request, service, marks, ids),
        **form_context(service),
    )


def _marking_context(
    request: Request, service: Service, marks: Marks, ids: tuple[str | None, str | None]
) -> dict[str, Any]:
    """Return the ids and the mark of two stored documents, if the user may mark them."""
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
