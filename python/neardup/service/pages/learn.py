"""The page Learn: SimHash step by step, on the user's own text.

`service.learning` computes the lessons; this module renders them, and answers the script of the
page, which draws the model (/learn/model.json) and edits a text at random (/learn/edits.json).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from neardup.reports.page import Wording
from neardup.service.errors import HTTPProblem, problem_response
from neardup.service.learning import exercises, lessons, radius
from neardup.service.learning.lessons import Items, Lessons, other_fields, read_lessons
from neardup.service.learning.steps import WIDTHS, LessonError, format_weight
from neardup.service.pages.learn_phrases import LEARN_PHRASES
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
    from neardup.service.state import Service

# Phrases of the script; the template has the others.
SCRIPT_PHRASES = (
    *("radius.at", "radius.at_measured", "radius.chart_distance", "radius.chart_recall"),
    *("radius.axis_share", "radius.axis_distance", "radius.axis_recall", "radius.line"),
    *("radius.col_within", "radius.key_model", "radius.key_measured", "radius.key_own"),
    *("own.working", "own.done", "own.failed"),
)
# Columns of a table of sums before it begins a new line.
BITS_PER_LINE = 16
# Fits the longest text to edit, with every character escaped.
MAX_BODY = 12 * radius.MAX_EDITED_TEXT + 1000


class EditsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A text to edit at random, and how its copies are fingerprinted."""

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
        if not wants_json(request):
            # In a thread: a page of many cells takes long to render.
            return await service.run(_learn_page, request, service, found)
        if found.errors:
            # The JSON page is in English, as the API.
            wording = Wording("en", LEARN_PHRASES)
            return _problem_response(next(iter(found.errors.values())), wording)
        return json_page(found.to_dict())

    @problem_page(service, "learn")
    async def model(request: Request) -> Response:
        bits = _parse_bits(request.query_params.get("bits", "64"))
        try:
            points = await service.run(radius.model_points, bits)
        except LessonError as error:
            return _problem_response(error, request_wording(request, LEARN_PHRASES))
        return json_page(
            {
                "points": [point.to_dict() for point in points],
                "measured": {
                    str(radius_): [[*pair] for pair in sorted(shares.items())]
                    for radius_, shares in radius.MEASURED.items()
                },
                "measured_bits": radius.MEASURED_BITS,
            }
        )

    @problem_page(service, "learn")
    async def edits(request: Request) -> Response:
        if media_type(request.scope) != JSON:
            raise HTTPProblem(415, f"the body must be {JSON}", headers={"Accept": JSON})
        limits = replace(service.settings, max_body=min(service.settings.max_body, MAX_BODY))
        body = await read_body(request.scope, request.receive, limits)
        given = decode_json(body, EDITS_DECODER)
        try:
            points = await service.run(
                radius.edit_curve, given.text, given.recipe, given.bits, given.seed
            )
        except LessonError as error:
            return _problem_response(error, request_wording(request, LEARN_PHRASES))
        return json_page({"bits": given.bits, "points": [point.to_dict() for point in points]})

    return [
        *page_routes("/learn", learn),
        Route("/learn/model.json", model, methods=["GET"], name="learn.model"),
        Route("/learn/edits.json", edits, methods=["POST"], name="learn.edits"),
    ]


def _learn_page(request: Request, service: Service, found: Lessons) -> Response:
    wording = request_wording(request, LEARN_PHRASES)
    return render_page(
        request,
        service,
        "learn.html",
        page="learn",
        status=400 if found.errors else 200,
        phrases=LEARN_PHRASES,
        **_context(found, request.query_params.multi_items(), wording),
    )


def _context(found: Lessons, items: Items, words: Wording) -> dict[str, Any]:
    column = 1 if words.language == "zh" else 0
    return {
        "lessons": found,
        "fields": found.fields,
        "errors": {name: words(error.key, **error.values) for name, error in found.errors.items()},
        "hidden": {
            "words": other_fields(items, lessons.WORD_FIELDS),
            "blocks": other_fields(items, lessons.BLOCK_FIELDS),
            "exercise": other_fields(items, lessons.EXERCISE_FIELDS),
            "plot": other_fields(items, lessons.PLOT_FIELDS),
        },
        "examples": exercises.EXAMPLES,
        "example": next(
            (x.key for x in exercises.EXAMPLES if x.values.items() <= found.fields.items()), None
        ),
        "block_examples": {
            "small": exercises.BLOCKS_EXAMPLE,
            "large": exercises.BLOCKS_EXAMPLE_64,
            "levelled": exercises.BLOCKS_EXAMPLE_LEVELS,
        },
        "presets": list(PRESETS),
        "widths": WIDTHS,
        "lines": _table_lines,
        "shares": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3),
        "point": radius.model_point,
        "measured": radius.measured_recall,
        "max_radius": radius.MAX_PLOT_RADIUS,
        "max_blocks": radius.MAX_BLOCK_RADIUS + 1,
        "max_levels": radius.MAX_LEVELS,
        "limits": {
            "text": lessons.MAX_TEXT,
            "lines": lessons.MAX_LINES,
            "own": radius.MAX_EDITED_TEXT,
        },
        "format_weight": format_weight,
        "visible": printable,
        "signed": _signed,
        "short": format_number,
        # The script fills in the braces.
        "too_long": str(LEARN_PHRASES["refused.text"][column]).replace(":,", ""),
        "script": json.dumps({name: LEARN_PHRASES[name][column] for name in SCRIPT_PHRASES}),
    }


def _signed(value: float, decimals: int | None = None) -> str:
    """Return a number with its sign, by U+2212 for minus; a number rounded to 0 keeps its sign."""
    rounded = value if decimals is None else round(value, decimals)
    text = format_signed(rounded) if rounded or not value else ("+0" if value > 0 else "-0")
    return text.replace("-", "\u2212")


def _table_lines(width: int) -> list[tuple[int, int]]:
    """Return where each line of a table of sums starts and ends."""
    return [(start, min(start + BITS_PER_LINE, width)) for start in range(0, width, BITS_PER_LINE)]


def _problem_response(error: LessonError, words: Wording) -> Response:
    return problem_response(400, words(error.key, **error.values))


def _parse_bits(text: str) -> int:
    """Return the number of bits; 0, which is refused, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
