"""The page of neardup compare. Nothing of it is loaded unless a page is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from neardup.copying.findings import Ignored
    from neardup.text.comparison import Comparison

    # Of the left text and of the right one.
    Sides = tuple[Sequence[Ignored], Sequence[Ignored]]

PAGE = (".html", ".htm")


def check_page(
    path: Path | None, lang: str | None, inputs: Sequence[str], *, as_json: bool
) -> None:
    """Refuse a page that cannot be written before any text is read."""
    from neardup.cli.options import check_printed
    from neardup.files import writing
    from neardup.reports.page import LANGUAGES

    if lang is not None and lang not in LANGUAGES:
        raise typer.BadParameter(
            f"{lang!r} is no language of a page; it must be one of {', '.join(LANGUAGES)}",
            param_hint="--lang",
        )
    if path is None:
        raise typer.BadParameter("needs a page: --html FILE.html", param_hint="--lang")
    check_printed(as_json, html=path)
    try:
        writing.check(path, inputs, endings=PAGE)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--html") from error


def stripped(
    found: Comparison,
    texts: tuple[str, str],
    templates: Sequence[str],
    sharing: Mapping[str, int],
) -> tuple[Comparison, Sides]:
    """The comparison without what comes from templates, and where that is."""
    from neardup.cli.options import read
    from neardup.copying.rules import without_templates

    forms = [read(path) for path in templates]
    result = without_templates(found, texts[0], texts[1], forms, **sharing)
    return result.comparison, (result.left, result.right)


def write_page(
    path: Path,
    lang: str | None,
    names: tuple[str, str],
    texts: tuple[str, str],
    found: Comparison,
    ignored: Sides,
) -> bool:
    """Both texts side by side; whether that went to standard output."""
    from neardup.files import writing
    from neardup.files.reading.formats import name_of
    from neardup.reports.comparison import ComparisonReport, render_comparison
    from neardup.reports.page import language_of_locale

    compared = ComparisonReport(
        names=(name_of(names[0]), name_of(names[1])),
        texts=texts,
        passages=found.passages,
        coverage=(found.coverage_left, found.coverage_right),
        similarity=None if math.isnan(found.similarity) else found.similarity,
        distance=found.distance,
        bits=found.recipe.bits,
        verdict=found.verdict,
        threshold=found.threshold,
        ignored=ignored,
        coarse=found.coarse,
    )
    language = lang or language_of_locale()
    with writing.open_new(path) as file:
        for piece in render_comparison(compared, language):
            file.write(piece.encode())
    return writing.is_stdout(path)
