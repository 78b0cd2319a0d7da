"""neardup compare: two texts side by side, printed or as a page."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import NEAR, SHARED, argument, command, only, option
from neardup.cli.console import printable, terminal
from neardup.cli.options import (
    PassageOptions,
    PrintOptions,
    ReadingOptions,
    RecipeOptions,
    ReportOptions,
    check_stdin,
    check_stdout,
    encoded_reading,
    read_text,
)

if TYPE_CHECKING:
    from neardup.copying.findings import Ignored
    from neardup.text.comparison import Comparison, Passage, Unit

    # Ignored passages of the left text and of the right one.
    IgnoredSides = tuple[Sequence[Ignored], Sequence[Ignored]]

MAX_SHOWN_PASSAGES = 10
MAX_SHOWN_TOKENS = 8
EXCERPT_LENGTH = 72
PAGE_SUFFIXES = (".html", ".htm")
COLOURS = {
    "identical": "green",
    "near-duplicate": "yellow",
    "contained": "yellow",
    "partly copied": "yellow",
    "different": "red",
}


@dataclass(frozen=True)
class CompareOptions:
    text: bool = option(
        "--text",
        default=False,
        section=SHARED,
        daily=True,
        help="A and B are texts, not files.",
    )
    similarity: float | None = option(
        "--similarity",
        section=NEAR,
        metavar="S",
        daily=True,
        help="Cosine similarity from which texts are near-duplicates. [default: 0.85]",
    )
    radius: int | None = option(
        "--radius",
        section=NEAR,
        metavar="K",
        daily=True,
        help="Instead of --similarity: fingerprints of near-duplicates differ in at most K bits.",
    )
    html: Path | None = option(
        "--html",
        metavar="FILE.html",
        daily=True,
        help="Write a page with both texts side by side and the shared passages marked.",
    )


@command(
    argument("left", "A", "Text or document; - for standard input."),
    argument("right", "B", "The other text or document."),
    own=CompareOptions,
    recipe_options=RecipeOptions,
    passages=PassageOptions,
    reading=only(ReadingOptions, "encoding"),
    page=only(ReportOptions, lang="Language of the page. [default: from the locale, or English]"),
    output=PrintOptions,
)
def compare(
    left: str,
    right: str,
    own: CompareOptions,
    recipe_options: RecipeOptions,
    passages: PassageOptions,
    reading: ReadingOptions,
    page: ReportOptions,
    output: PrintOptions,
) -> None:
    """Compare two texts.

    Prints the verdict (identical, near-duplicate, one contains the other, partly copied or
    different), the exact similarity (cosine, 0 to 1), the number of different bits of the
    fingerprints, the share of the words of each text that are in shared passages, the longest
    passage, and the passages with their positions in A and B, exact or edited. Similarity compares
    which words occur and how often, hardly their order; a number or a negation counts like any
    other word, so those that only one text has are printed too.

    \b
    Examples:
      neardup compare a.txt b.docx
      neardup compare a.txt b.txt --html compared.html
      neardup compare a.txt b.txt --radius 18 --recipe jieba-tfidf
      neardup compare --text "the cat sat on a mat" "the cat sat on the mat"
    """
    from neardup.text import comparison

    if not own.text:
        check_stdin((left, right), "B")
    if own.html is not None or page.lang is not None:
        _check_page(own.html, () if own.text else (left, right), as_json=output.as_json)
    recipe = recipe_options.load()
    try:
        comparison.check_thresholds(own.similarity, own.radius, recipe.bits)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    files = (*(() if own.text else (left, right)), *passages.template)
    how = encoded_reading(reading.encoding, files)
    texts = (left, right) if own.text else (read_text(left, how), read_text(right, how))
    sharing = {
        "min_words": comparison.DEFAULT_MIN_WORDS
        if passages.min_words is None
        else passages.min_words,
        "min_chars": comparison.DEFAULT_MIN_CHARS
        if passages.min_chars is None
        else passages.min_chars,
        "bridge": comparison.DEFAULT_BRIDGE if passages.bridge is None else passages.bridge,
    }
    found = comparison.compare(
        texts[0], texts[1], recipe, similarity=own.similarity, radius=own.radius, **sharing
    )
    ignored: IgnoredSides = ((), ())
    if passages.template:
        from neardup.copying.rules import without_templates

        templates = [read_text(path, how) for path in passages.template]
        result = without_templates(found, texts[0], texts[1], templates, **sharing)
        found, ignored = result.comparison, (result.left, result.right)
    if own.html is not None:
        names = ("A", "B") if own.text else (left, right)
        if _write_page(own.html, page.lang, names, texts, found, ignored):
            return
    if output.as_json:
        print(json.dumps(_as_dict(found, texts[0]), ensure_ascii=False))
    else:
        _show(found, texts[0], own.html)


def _check_page(path: Path | None, inputs: Sequence[str], *, as_json: bool) -> None:
    """Refuse a page that cannot be written before any text is read."""
    from neardup.cli.inputs import check_output

    if path is None:
        raise click.BadParameter("needs a page: --html FILE.html", param_hint="--lang")
    check_stdout(as_json, html=path)
    check_output(path, inputs, "--html", endings=PAGE_SUFFIXES)


def _write_page(
    path: Path,
    lang: str | None,
    names: tuple[str, str],
    texts: tuple[str, str],
    found: Comparison,
    ignored: IgnoredSides,
) -> bool:
    """Write the page; return whether it went to standard output."""
    from neardup.files import writing
    from neardup.files.reading.formats import name_of
    from neardup.reports.comparison import comparison_report, render_comparison
    from neardup.reports.page import language_of_locale

    report = comparison_report((name_of(names[0]), name_of(names[1])), texts, found, ignored)
    with writing.open_new(path) as file:
        for part in render_comparison(report, lang or language_of_locale()):
            file.write(part.encode())
    return writing.is_stdout(path)


def _as_dict(found: Comparison, left: str) -> dict[str, Any]:
    from neardup.text.comparison import own_tokens

    return {
        "distance": found.distance,
        "bits": found.recipe.bits,
        "similarity": None if math.isnan(found.similarity) else found.similarity,
        "threshold": found.threshold,
        "radius": found.radius,
        "verdict": found.verdict,
        "container": found.container,
        "coverage": [found.coverage_left, found.coverage_right],
        "containment": [found.containment_left, found.containment_right],
        "longest": found.longest,
        "words": [found.words_left, found.words_right],
        "unit": found.unit,
        "differences": {
            "aspects": found.differences.aspects,
            **own_tokens(found.differences),
            "order": found.differences.order,
        },
        "coarse": found.coarse,
        "passages": [
            {
                "left": [passage.left_start, passage.left_end],
                "right": [passage.right_start, passage.right_end],
                "words": passage.words,
                "exact": passage.exact,
                "text": left[passage.left_start : passage.left_end],
            }
            for passage in found.passages
        ],
        "recipe": found.recipe.identity,
    }


def _show(found: Comparison, left: str, page: Path | None) -> None:
    lines = _lines(found, left)
    if page is not None:
        lines.append(f"wrote       {printable(str(page))}")
    if not sys.stdout.isatty():
        print("\n".join(lines))
        return
    # Rich takes longer to load than texts to compare, and only a terminal has colours.
    from rich.text import Text

    console = terminal()
    console.print(Text.assemble("verdict     ", (_verdict(found), COLOURS[found.verdict])))
    for line in lines[1:]:
        console.print(Text(line), soft_wrap=True)


def _verdict(found: Comparison) -> str:
    contains = {"left": "A contains B", "right": "B contains A", None: ""}[found.container]
    parts = [contains if found.verdict == "contained" else found.verdict]
    if found.verdict == "near-duplicate":
        aspects = [aspect for aspect in found.differences.aspects if aspect != "order"]
        listed = " and ".join(filter(None, (", ".join(aspects[:-1]), *aspects[-1:])))
        parts += [contains, f"but {listed} differ" if aspects else ""]
        if found.differences.order:
            moved = "numbers" if found.differences.lost or found.differences.added else "words"
            parts.append(f"same {moved} in another order")
    elif found.distance is None:
        parts.append("too few words to compare")
    return ", ".join(filter(None, parts))


def _differences(found: Comparison) -> list[str]:
    """Return a line for each kind of token of which a text has its own."""
    from neardup.text.comparison import own_tokens, tells_differences

    lines: list[str] = []
    if not tells_differences(found):
        return lines
    for name, sides in own_tokens(found.differences).items():
        shown = "; ".join(
            f"only {side}: {_listed(tokens)}"
            for side, tokens in zip("AB", sides, strict=True)
            if tokens
        )
        if shown:
            label = "characters" if name == "words" and found.unit == "characters" else name
            lines.append(f"{label:11} {shown}")
    if not lines and not found.differences.order:
        lines.append("differs     only in case, punctuation, other signs or spaces")
    return lines


def _listed(tokens: Sequence[str]) -> str:
    shown = ", ".join(map(printable, tokens[:MAX_SHOWN_TOKENS]))
    return shown if len(tokens) <= MAX_SHOWN_TOKENS else f"{shown}, … ({len(tokens):,})"


def _lines(found: Comparison, left: str) -> list[str]:
    similarity = "none" if math.isnan(found.similarity) else f"{found.similarity:.4f}"
    distance = f"{found.distance} of {found.recipe.bits} bits"
    if found.threshold is not None:
        similarity += f" (near-duplicate from {found.threshold:g})"
    else:
        distance += f" (near-duplicate up to {found.radius})"
    if found.distance is None:
        distance = "none (a text has too few features for a fingerprint)"
    lines = [
        f"verdict     {_verdict(found)}",
        f"similarity  {similarity}",
        f"distance    {distance}",
        f"coverage    {found.coverage_left:.1%} of A, {found.coverage_right:.1%} of B",
    ]
    lines += _differences(found)
    if found.coarse:
        lines.append("coarse      the texts are very long: some passages may be missing")
    if not found.passages:
        return [*lines, "passages    none shared"]
    shown = _longest(found.passages)
    capped = (
        f" (showing the longest {len(shown)} of {len(found.passages)})"
        if len(shown) < len(found.passages)
        else ""
    )
    lines.append(f"longest     {_length(found.longest, found.unit)}")
    lines.append(f"passages    {len(found.passages)} shared{capped}")
    for passage in shown:
        here = f"A {passage.left_start}-{passage.left_end}"
        there = f"B {passage.right_start}-{passage.right_end}"
        kind = "exact" if passage.exact else "edited"
        excerpt = _excerpt(left[passage.left_start : passage.left_end])
        length = _length(passage.words, found.unit)
        lines += [f"  {here}, {there}: {length}, {kind}", f"    {excerpt}"]
    return lines


def _length(count: int, unit: Unit) -> str:
    one = {"words": "word", "characters": "character", "words and characters": "word or character"}
    return f"{count:,} {one[unit] if count == 1 else unit}"


def _longest(passages: tuple[Passage, ...]) -> list[Passage]:
    """Return the longest passages, in the order of the text."""
    longest = sorted(passages, key=lambda passage: -passage.words)
    return sorted(longest[:MAX_SHOWN_PASSAGES], key=lambda passage: passage.left_start)


def _excerpt(text: str) -> str:
    line = printable(" ".join(text.split()))
    if len(line) <= EXCERPT_LENGTH:
        return line
    half = EXCERPT_LENGTH // 2 - 1
    return f"{line[:half]} … {line[-half:]}"
