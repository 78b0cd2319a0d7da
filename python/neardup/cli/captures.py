"""Captures of HTTP responses on the command line: how inputs are known as some, and what of them
is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from neardup.cli import console, options
from neardup.cli.collections import SUFFIX, opened

if TYPE_CHECKING:
    from neardup.files.reading import Reading
    from neardup.text.recipe import Recipe

HTTP = "http"
ALL = "all"


class Chosen(NamedTuple):
    """How inputs are read, and the recipe by which they are compared."""

    reading: Reading
    recipe: Recipe


def choose(
    inputs: Sequence[str],
    reading: Reading,
    *,
    recipe: str | None,
    bits: int | None,
    as_what: str | None,
    no_mask: Sequence[str] | None,
    tell: Callable[[str], object] | None = console.error,
) -> Chosen:
    """Texts, or captures if that is said or the names of the inputs tell it."""
    if not is_captured(inputs, reading, as_what, tell):
        _refuse_masks(no_mask)
        return Chosen(reading, options.recipe_of(recipe, bits))
    check_reading(reading)
    made = recipe_of(recipe, bits, no_mask)
    return Chosen(replace(reading, viewing=made.viewing()), made)


def choose_at(
    path: Path,
    inputs: Sequence[str],
    reading: Reading,
    *,
    as_what: str | None,
    tell: Callable[[str], object] | None = console.error,
) -> Reading:
    """The same where a collection, which is there, has its recipe."""
    if not is_captured(inputs, reading, as_what, tell):
        return reading
    check_reading(reading)
    with opened(path, read_only=True) as collection:
        own = collection.recipe
    check_recipe(own)
    return replace(reading, viewing=own.viewing())


def note_texts(own: Recipe, reading: Reading, tell: Callable[[str], object] | None) -> None:
    """Texts can be compared with responses; that is seldom what is wanted."""
    if own.tokens == HTTP and reading.viewing is None and tell is not None:
        tell(
            "note: the collection is one of HTTP responses, and the inputs are read as texts; add "
            "--as http if they are captures"
        )


def recipe_for(
    name: str | None, bits: int | None, as_what: str | None, no_mask: Sequence[str] | None
) -> Recipe:
    """The recipe of a new collection, of texts or of responses."""
    if as_what is not None:
        check_as(as_what)
        return recipe_of(name, bits, no_mask)
    made = options.recipe_of(name, bits)
    if made.tokens != HTTP:
        _refuse_masks(no_mask)
    return without_masks(made, no_mask) if no_mask else made


def check_recipe(own: Recipe) -> None:
    """A collection of texts takes no responses."""
    if own.tokens != HTTP:
        raise typer.BadParameter(
            f"the collection is one of texts, made with {own.identity}; make one of responses: "
            "neardup index create NAME.neardup --as http",
            param_hint="--as",
        )


def is_captured(
    inputs: Sequence[str],
    reading: Reading,
    as_what: str | None,
    tell: Callable[[str], object] | None,
) -> bool:
    """Whether inputs are captures: it is said, or certain by their names, which is told."""
    from neardup.files.reading import captures_of
    from neardup.files.reading.formats import is_capture_format

    if as_what is not None:
        check_as(as_what)
        return True
    if reading.format is not None:
        return is_capture_format(reading.format)
    named = [name for name in inputs if not name.rstrip("/").endswith(SUFFIX)]
    captures, texts = captures_of(named, reading)
    if not captures:
        return False
    if texts:
        raise typer.BadParameter(
            f"{captures[0]} is a capture of HTTP responses, and {texts[0]} is none by its name; "
            "run once for each, or say that all are captures: --as http",
            param_hint="INPUT",
        )
    if tell is not None:
        more = f" and {len(captures) - 1:,} more" if len(captures) > 1 else ""
        verb = "are captures" if more else "is a capture"
        tell(f"note: {captures[0]}{more} {verb} of HTTP responses, and read as such (--as http)")
    return True


def check_as(as_what: str) -> None:
    """Refuses what inputs cannot be."""
    from neardup.files.reading.formats import formats_of

    if as_what != HTTP:
        raise typer.BadParameter(
            f"{as_what!r} is not known; it must be http, for captures of HTTP responses "
            f"({', '.join(each.called for each in formats_of('capture'))}). Leave it out for texts",
            param_hint="--as",
        )


def check_reading(reading: Reading) -> None:
    """Options that mean something to texts only."""
    from neardup.files.reading.batch import DEFAULT_TEXT
    from neardup.files.reading.formats import formats_of, is_capture_format

    wrong = {
        "--text-column": reading.text_columns != DEFAULT_TEXT,
        "--lines": reading.lines,
    }
    for name, is_given in wrong.items():
        if is_given:
            raise typer.BadParameter(
                "is for texts, and the inputs are captures of HTTP responses; leave it out",
                param_hint=name,
            )
    if reading.format is not None and not is_capture_format(reading.format):
        raise typer.BadParameter(
            f"{reading.format!r} is for texts, and the inputs are captures of HTTP responses; use "
            f"one of {', '.join(each.name for each in formats_of('capture'))}, or leave it out",
            param_hint="--format",
        )


def recipe_of(name: str | None, bits: int | None, no_mask: Sequence[str] | None) -> Recipe:
    """The recipe for responses that is asked for, without the masks that are not wanted."""
    made = options.recipe_of(HTTP if name is None else name, bits)
    if made.tokens != HTTP:
        from neardup.text.presets import PRESETS

        known = [each for each, preset in PRESETS.items() if preset.fields.get("tokens") == HTTP]
        raise typer.BadParameter(
            f"{name!r} is a recipe for texts; responses are compared by {', '.join(known)}, or a "
            'file with tokens = "http"',
            param_hint="--recipe",
        )
    return made if not no_mask else without_masks(made, no_mask)


def without_masks(recipe: Recipe, names: Sequence[str]) -> Recipe:
    """The recipe with fewer rules of masking."""
    from neardup.text.views import MASKS

    for name in names:
        if name != ALL and name not in MASKS:
            raise typer.BadParameter(
                f"{name!r} is no rule of masking; there are {', '.join(MASKS)}, and all",
                param_hint="--no-mask",
            )
    left = [each for each in recipe.viewing().masks if each not in names and ALL not in names]
    return recipe.replace(masks=left)


def _refuse_masks(no_mask: Sequence[str] | None) -> None:
    if no_mask:
        raise typer.BadParameter(
            "is for captures of HTTP responses, and the inputs are texts; add --as http",
            param_hint="--no-mask",
        )
