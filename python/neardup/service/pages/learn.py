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
from neardup.service.learning import exercises
from neardup.service.learning import lessons as asking
from neardup.service.learning import radius as blocks
from neardup.service.learning import radius as edits
from neardup.service.learning import radius as model
from neardup.service.learning.lessons import Lessons, other_fields, read_lessons
from neardup.service.learning.steps import WIDTHS, LessonError, format_weight
from neardup.service.pages.learn_phrases import LESSONS, PHRASES, REFUSED
from neardup.service.pages.page_input import problem_page
from neardup.service.pages.shell import (
    json_page,
    page_routes,
    render_page,
    request_language,
    request_wording,
    wants_json,
)
from neardup.service.requests import JSON, decode_json, media_type, read_body
from neardup.text.explain import format_number, format_signed, printable
from neardup.text.presets import PRESETS

if TYPE_CHECKING:
    from neardup.reports.page import Wording
    from neardup.service.state import Service

LEARN_PHRASES = {**PHRASES, **REFUSED, **LESSONS}
# What the script says itself; the rest comes with the page.
SCRIPT_PHRASES = (
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
BITS_PER_LINE = 16
# A request of this size holds any text that is edited, escaped.
MAX_BODY = 12 * edits.MAX_EDITED_TEXT + 1000


class EditsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A text to edit at random, and how it is fingerprinted."""

    text: str
    recipe: str = "default"
    bits: int = 64
    seed: int = 1


EDITS_DECODER = msgspec.json.Decoder(EditsRequest)


def routes(service: Service) -> list[BaseRoute]:
    @problem_page(service, "learn")
    async def learn(request: Request) -> Response:
        items = request.query_params.multi_items()
        found = await service.run(read_lessons, items, request_language(request))
        if wants_json(request):
            return _json_response(found)
        # A page of many cells takes a moment to write.
        return await service.run(_learn_page, request, service, found)

    @problem_page(service, "learn")
    async def drawn(request: Request) -> Response:
        words = request_wording(request, LEARN_PHRASES)
        try:
            found = await service.run(
                model.model_points, _parse_bits(request.query_params.get("bits", "64"))
            )
        except LessonError as refused:
            return _problem_response(refused, words)
        return json_page(
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
        words = request_wording(request, LEARN_PHRASES)
        if media_type(request.scope) != JSON:
            raise HTTPProblem(415, f"the body must be {JSON}", headers={"Accept": JSON})
        limits = replace(service.settings, max_body=min(service.settings.max_body, MAX_BODY))
        given = decode_json(await read_body(request.scope, request.receive, limits), EDITS_DECODER)
        try:
            found = await service.run(
                edits.edit_curve, given.text, given.recipe, given.bits, given.seed
            )
        except LessonError as refused:
            return _problem_response(refused, words)
        return json_page({"bits": given.bits, "points": [point.to_dict() for point in found]})

    return [
        *page_routes("/learn", learn),
        Route("/learn/model.json", drawn, methods=["GET"], name="learn.model"),
        Route("/learn/edits.json", edit, methods=["POST"], name="learn.edits"),
    ]


def _learn_page(request: Request, service: Service, found: Lessons) -> Response:
    return render_page(
        request,
        service,
        "learn.html",
        page="learn",
        status=400 if found.refused else 200,
        phrases=LEARN_PHRASES,
        **_context(
            found, request.query_params.multi_items(), request_wording(request, LEARN_PHRASES)
        ),
    )


def _context(found: Lessons, items: asking.Items, words: Wording) -> dict[str, Any]:
    return {
        "asked": found,
        "fields": found.fields,
        "refused": {name: words(why.key, **why.values) for name, why in found.refused.items()},
        "kept": {
            "words": other_fields(items, asking.WORD_FIELDS),
            "blocks": other_fields(items, asking.BLOCK_FIELDS),
            "exercise": other_fields(items, asking.EXERCISE_FIELDS),
            "plot": other_fields(items, asking.PLOT_FIELDS),
        },
        "examples": exercises.EXAMPLES,
        "example": next(
            (e.key for e in exercises.EXAMPLES if e.values.items() <= found.fields.items()), None
        ),
        "block_examples": {"small": exercises.BLOCKS_EXAMPLE, "large": exercises.BLOCKS_EXAMPLE_64},
        "presets": list(PRESETS),
        "widths": WIDTHS,
        "lines": _table_lines,
        "shares": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3),
        "point": model.model_point,
        "measured": model.measured_recall,
        "most_radius": model.MAX_PLOT_RADIUS,
        "most_blocks": blocks.MAX_BLOCK_RADIUS + 1,
        "limits": {
            "text": asking.MAX_TEXT,
            "lines": asking.MAX_LINES,
            "own": edits.MAX_EDITED_TEXT,
        },
        "plain": format_weight,
        "visible": printable,
        "signed": _signed,
        "short": format_number,
        # Braces stay: the script fills them in.
        "too_long": str(LEARN_PHRASES["refused.text"][words.language == "zh"]).replace(":,", ""),
        "script": json.dumps(
            {name: LEARN_PHRASES[name][words.language == "zh"] for name in SCRIPT_PHRASES}
        ),
    }


def _signed(value: float, decimals: int | None = None) -> str:
    """A number with its sign, a real minus; one that is not 0 keeps its sign when rounded."""
    rounded = value if decimals is None else round(value, decimals)
    found = format_signed(rounded) if rounded or not value else ("+0" if value > 0 else "-0")
    return found.replace("-", "\u2212")


def _table_lines(width: int) -> list[tuple[int, int]]:
    """Where each line of a table of sums starts and ends, most significant bit first."""
    return [(start, min(start + BITS_PER_LINE, width)) for start in range(0, width, BITS_PER_LINE)]


def _json_response(found: Lessons) -> Response:
    if found.refused:
        return _problem_response(next(iter(found.refused.values())))
    return json_page(found.to_dict())


def _problem_response(refused: LessonError, words: Wording | None = None) -> Response:
    """Problem details of RFC 9457."""
    said = words or _english()
    return problem_response(400, said(refused.key, **refused.values))


def _english() -> Wording:
    from neardup.reports.page import Wording

    return Wording("en", LEARN_PHRASES)


def _parse_bits(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
