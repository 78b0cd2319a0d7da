"""Marks are set on pages, and given out as tables."""

from __future__ import annotations

import csv
import io
import time
from typing import TYPE_CHECKING, cast

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from neardup.service import answers
from neardup.service.auth import check_write
from neardup.service.pages import page_input, shell
from neardup.service.pages.marks import COLUMNS, VERDICTS, Mark, Marks, Verdict
from neardup.service.pages.page_input import Unanswerable
from neardup.service.pages.sign_in import following
from neardup.text.comparison import similarity
from neardup.text.fingerprint import distance, fingerprint

if TYPE_CHECKING:
    from starlette.requests import Request

    from neardup.service.state import Service

# A spreadsheet would take cells that begin so for a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def routes(service: Service, marks: Marks) -> list[BaseRoute]:
    @page_input.problem_page(service, "collection")
    async def mark(request: Request) -> Response:
        check_write(request.scope, service.settings)
        async with page_input.form_of(request, service) as form:
            left, right = page_input.coded(form, "left"), page_input.coded(form, "right")
            verdict = page_input.field(form, "verdict")
            back = following(page_input.field(form, "back"))
        if verdict not in (*VERDICTS, "none") or left == right:
            raise Unanswerable(422, "problem.no_mark")
        await service.run(_set, service, marks, left, right, verdict)
        return page_input.see_other(request, back)

    @page_input.problem_page(service, "collection")
    async def exported(request: Request) -> Response:
        found = await service.run(marks.all)
        if shell.is_twin(request):
            answer = shell.twin({"marks": [each.as_dict() for each in found]})
            name = "marks.json"
        else:
            answer = Response(table(found), media_type="text/csv; charset=utf-8")
            name = "marks.csv"
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    return [
        Route("/collection/marks", mark, methods=["POST"], name="marks"),
        Route("/collection/marks.csv", exported, name="marks.csv"),
        Route("/collection/marks.json", exported, name="marks.json"),
    ]


def _set(service: Service, marks: Marks, left: str, right: str, verdict: str) -> None:
    if verdict == "none":
        marks.remove(left, right)
        return
    text, other = (answers.document(service, id_).text for id_ in (left, right))
    if text is None or other is None:
        raise Unanswerable(409, "problem.no_texts")
    recipe = service.collection.recipe
    code, its = fingerprint(text, recipe), fingerprint(other, recipe)
    apart = None if code is None or its is None else distance(code, its)
    alike = similarity(text, other, recipe)
    marks.put(Mark(left, right, cast("Verdict", verdict), alike, apart, time.time()))


def table(marks: list[Mark]) -> str:
    """As CSV for spreadsheets: UTF-8 with its mark, and no cell that would be run."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for mark in marks:
        row = mark.as_dict()
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return "\ufeff" + written.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        # Halves of characters cannot be written as UTF-8.
        whole = value.encode(errors="replace").decode()
        return f"'{whole}" if whole.startswith(FORMULAS) else whole
    return "" if value is None else value
