"""neardup compare: two texts side by side."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import compare_page
from neardup.cli.console import printable, terminal
from neardup.cli.options import BitsOption, JsonOption, RecipeOption, read, recipe_of

if TYPE_CHECKING:
    from neardup.text.comparison import Comparison, Passage

SHOWN_PASSAGES = 10
EXCERPT = 72
COLOURS = {"identical": "green", "near-duplicate": "yellow", "different": "red"}


def command(
    left: Annotated[
        str, typer.Argument(metavar="A", help="A text or document, or - for standard input.")
    ],
    right: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    text: Annotated[bool, typer.Option("--text", help="A and B are texts, not files.")] = False,
    recipe: RecipeOption = None,
    bits: BitsOption = None,
    similarity: Annotated[
        float | None,
        typer.Option(
            "--similarity",
            metavar="S",
            min=0.0,
            max=1.0,
            help="The similarity from which texts are near-duplicates. [default: 0.85]",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE.html",
            help="Write a page: both texts side by side, the passages they share marked.",
        ),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="en|zh",
            help="The language of the page. [default: that of the locale, or English]",
        ),
    ] = None,
    min_words: Annotated[
        int | None,
        typer.Option(
            "--min-words",
            metavar="N",
            min=1,
            max=1000,
            help="So many equal words are a passage. [default: 6]",
        ),
    ] = None,
    min_chars: Annotated[
        int | None,
        typer.Option(
            "--min-chars",
            metavar="N",
            min=1,
            max=1000,
            help="So many equal characters are one, where a script has no spaces. [default: 13]",
        ),
    ] = None,
    bridge: Annotated[
        int | None,
        typer.Option(
            "--bridge",
            metavar="N",
            min=0,
            max=16,
            help="So many changed words in a row do not end a passage. [default: 2]",
        ),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            metavar="FILE",
            help="What the texts have from this one does not count as shared; may be given several "
            "times.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two texts.

    Prints the verdict, the exact similarity (cosine, 0 to 1), how many bits of the fingerprints
    differ, the share of the words of each text that are in passages both have, the longest passage,
    and the passages with their places in A and B, exact or edited.

    \b
    Examples:
      neardup compare a.txt b.docx
      neardup compare a.txt b.txt --html compared.html
      neardup compare --text "the cat sat on a mat" "the cat sat on the mat"
    """
    from neardup.text import comparison
    from neardup.text.comparison import DEFAULT_SIMILARITY, compare

    if not text and left == right == "-":
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="B")
    if html is not None or lang is not None:
        compare_page.check_page(html, lang, () if text else (left, right), as_json=as_json)
    chosen = recipe_of(recipe, bits)
    texts = (left, right) if text else (read(left), read(right))
    limit = DEFAULT_SIMILARITY if similarity is None else similarity
    sharing = {
        "min_words": comparison.MIN_WORDS if min_words is None else min_words,
        "min_chars": comparison.MIN_CHARS if min_chars is None else min_chars,
        "bridge": comparison.BRIDGE if bridge is None else bridge,
    }
    found = compare(texts[0], texts[1], chosen, similarity=limit, **sharing)
    ignored: compare_page.Sides = ((), ())
    if template:
        found, ignored = compare_page.stripped(found, texts, template, sharing)
    if html is not None:
        names = ("A", "B") if text else (left, right)
        if compare_page.write_page(html, lang, names, texts, found, ignored):
            return
    if as_json:
        print(json.dumps(_plain(found, texts[0]), ensure_ascii=False))
    else:
        _show(found, texts[0], html)


def _plain(found: Comparison, left: str) -> dict[str, object]:
    return {
        "distance": found.distance,
        "bits": found.recipe.bits,
        "similarity": None if math.isnan(found.similarity) else found.similarity,
        "threshold": found.threshold,
        "verdict": found.verdict,
        "coverage": [found.coverage_left, found.coverage_right],
        "containment": [found.containment_left, found.containment_right],
        "longest": found.longest,
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
    # Only a terminal has colours, and rich takes longer to load than the texts to compare.
    from rich.text import Text

    console = terminal()
    name, _, verdict = lines[0].rpartition(" ")
    console.print(Text.assemble(f"{name} ", (verdict, COLOURS[verdict])))
    for line in lines[1:]:
        console.print(Text(line), soft_wrap=True)


def _lines(found: Comparison, left: str) -> list[str]:
    if found.distance is None:
        distance = "none (a text has too few features for a fingerprint)"
    else:
        distance = f"{found.distance} of {found.recipe.bits} bits"
    similarity = "none" if math.isnan(found.similarity) else f"{found.similarity:.4f}"
    lines = [
        f"verdict     {found.verdict}",
        f"similarity  {similarity} (near-duplicate from {found.threshold:g})",
        f"distance    {distance}",
        f"coverage    {found.coverage_left:.1%} of A, {found.coverage_right:.1%} of B",
    ]
    if found.coarse:
        lines.append("coarse      the texts are too long for the time: passages may be missing")
    if not found.passages:
        return [*lines, "passages    none shared"]
    shown = _longest(found.passages)
    capped = (
        f" (showing the longest {len(shown)} of {len(found.passages)})"
        if len(shown) < len(found.passages)
        else ""
    )
    lines.append(f"longest     {_words(found.longest)}")
    lines.append(f"passages    {len(found.passages)} shared{capped}")
    for passage in shown:
        here = f"A {passage.left_start}-{passage.left_end}"
        there = f"B {passage.right_start}-{passage.right_end}"
        kind = "exact" if passage.exact else "edited"
        excerpt = _excerpt(left[passage.left_start : passage.left_end])
        lines += [f"  {here}, {there}: {_words(passage.words)}, {kind}", f"    {excerpt}"]
    return lines


def _words(count: int) -> str:
    return f"{count} word" if count == 1 else f"{count:,} words"


def _longest(passages: tuple[Passage, ...]) -> list[Passage]:
    """The longest few, in the order of the text."""
    longest = sorted(passages, key=lambda passage: -passage.words)
    return sorted(longest[:SHOWN_PASSAGES], key=lambda passage: passage.left_start)


def _excerpt(text: str) -> str:
    line = printable(" ".join(text.split()))
    if len(line) <= EXCERPT:
        return line
    half = EXCERPT // 2 - 1
    return f"{line[:half]} … {line[-half:]}"
