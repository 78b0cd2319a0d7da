"""The page Learn: SimHash step by step, on the user's own words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from neardup.service.errors import HTTPProblem, problem_response
from neardup.service.learning import blocks, exercise, model
from neardup.service.learning import lessons as asking
from neardup.service.learning import model as edits
from neardup.service.learning.lessons import LessonInput, asked, kept
from neardup.service.learning.steps import WIDTHS, Refused, plain
from neardup.service.pages.learn_phrases import LESSONS, PHRASES, REFUSED
from neardup.service.pages.page_input import problem_page
from neardup.service.pages.shell import both, is_twin, language_of, page, twin, words_of
from neardup.service.requests import JSON, decode_json, media_type, read_body
from neardup.text.explain import format_number, format_signed, printable
from neardup.text.presets import PRESETS

if TYPE_CHECKING:
    from neardup.reports.page import Wording
    from neardup.service.state import Service

SAID = {**PHRASES, **REFUSED, **LESSONS}
# What the script says itself; the rest comes with the page.
SCRIPT = (
    *("radius.at", "radius.at_measured", "radius.chart_distance", "radius.chart_recall"),
    *(
        "radius.axis_share",
        "radius.axis_distance",
        "radius.axis_recall",
        "radius.line",
        "radius.col_within",
    ),
    *("radius.key_model", "radius.key_measured", "radius.key_own"),
    *("own.working", "own.done", "own.failed"),
)
# Bits of sums in one line of a table: as many as a page is wide.
LINE = 16
# A request of this size holds any text that is edited, escaped.
MAX_BODY = 12 * edits.MAX_TEXT + 1000


class LessonQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """A text to edit at random, and how it is fingerprinted."""

    text: str
    recipe: str = "default"
    bits: int = 64
    seed: int = 1


QUESTION = msgspec.json.Decoder(LessonQuestion)


def routes(service: Service) -> list[BaseRoute]:
    @problem_page(service, "learn")
    async def learn(request: Request) -> Response:
        items = request.query_params.multi_items()
        found = await service.run(asked, items, language_of(request))
        if is_twin(request):
            return _twin(found)
        # A page of many cells takes a moment to write.
        return await service.run(_written, request, service, found)

    @problem_page(service, "learn")
    async def drawn(request: Request) -> Response:
        words = words_of(request, SAID)
        try:
            found = await service.run(model.points, _bits(request.query_params.get("bits", "64")))
        except Refused as refused:
            return _refused(refused, words)
        return twin(
            {
                "points": [point.to_dict() for point in found],
                "measured": {
                    str(radius): [[*pair] for pair in sorted(shares.items())]
                    for radius, shares in model.MEASURED.items()
                },
                "measured_bits": model.MEASURED_BITS,
            }
        )

    @problem_page(service, "learn")
    async def edit(request: Request) -> Response:
        words = words_of(request, SAID)
        if media_type(request.scope) != JSON:
            raise HTTPProblem(415, f"the body must be {JSON}", headers={"Accept": JSON})
        limits = replace(service.settings, max_body=min(service.settings.max_body, MAX_BODY))
        given = decode_json(await read_body(request.scope, request.receive, limits), QUESTION)
        try:
            found = await service.run(edits.curve, given.text, given.recipe, given.bits, given.seed)
        except Refused as refused:
            return _refused(refused, words)
        return twin({"bits": given.bits, "points": [point.to_dict() for point in found]})

    return [
        *both("/learn", learn),
        Route("/learn/model.json", drawn, methods=["GET"], name="learn.model"),
        Route("/learn/edits.json", edit, methods=["POST"], name="learn.edits"),
    ]


def _written(request: Request, service: Service, found: LessonInput) -> Response:
    return page(
        request,
        service,
        "learn.html",
        page="learn",
        status=400 if found.refused else 200,
        phrases=SAID,
        **_context(found, request.query_params.multi_items(), words_of(request, SAID)),
    )


def _context(found: LessonInput, items: asking.Items, words: Wording) -> dict[str, Any]:
    return {
        "asked": found,
        "fields": found.fields,
        "refused": {name: words(why.key, **why.values) for name, why in found.refused.items()},
        "kept": {
            "words": kept(items, asking.WORDS),
            "blocks": kept(items, asking.BLOCK),
            "exercise": kept(items, asking.EXERCISE),
            "plot": kept(items, asking.PLOT),
        },
        "examples": exercise.EXAMPLES,
        "example": next(
            (e.key for e in exercise.EXAMPLES if e.values.items() <= found.fields.items()), None
        ),
        "block_examples": {"small": exercise.BLOCKS, "large": exercise.BLOCKS_64},
        "presets": list(PRESETS),
        "widths": WIDTHS,
        "lines": _lines,
        "shares": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3),
        "point": model.point,
        "measured": model.measured,
        "most_radius": model.MAX_RADIUS,
        "most_blocks": blocks.MAX_RADIUS + 1,
        "limits": {"text": asking.MAX_TEXT, "lines": asking.MAX_LINES, "own": edits.MAX_TEXT},
        "plain": plain,
        "visible": printable,
        "signed": _signed,
        "short": format_number,
        # Braces stay: the script fills them in.
        "too_long": str(SAID["refused.text"][words.language == "zh"]).replace(":,", ""),
        "script": json.dumps({name: SAID[name][words.language == "zh"] for name in SCRIPT}),
    }


def _signed(value: float, decimals: int | None = None) -> str:
    """A number with its sign, a real minus; one that is not 0 keeps its sign when rounded."""
    rounded = value if decimals is None else round(value, decimals)
    found = format_signed(rounded) if rounded or not value else ("+0" if value > 0 else "-0")
    return found.replace("-", "\u2212")


def _lines(width: int) -> list[tuple[int, int]]:
    """Where each line of a table of sums starts and ends, most significant bit first."""
    return [(start, min(start + LINE, width)) for start in range(0, width, LINE)]


def _twin(found: LessonInput) -> Response:
    if found.refused:
        return _refused(next(iter(found.refused.values())))
    return twin(found.to_dict())


def _refused(refused: Refused, words: Wording | None = None) -> Response:
    """Problem details of RFC 9457."""
    said = words or _english()
    return problem_response(400, said(refused.key, **refused.values))


def _english() -> Wording:
    from neardup.reports.page import Wording

    return Wording("en", SAID)


def _bits(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
