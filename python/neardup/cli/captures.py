"""Captures of HTTP responses on the command line: --as http, --no-mask, and recipes for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from neardup.cli import console
from neardup.cli.inputs import is_collection, open_collection

if TYPE_CHECKING:
    from neardup.cli.options import CaptureOptions, RecipeOptions
    from neardup.files.reading.batch import Reading
    from neardup.text.recipe import Recipe

HTTP = "http"
ALL_MASKS = "all"


class Chosen(NamedTuple):
    """How inputs are read, and the recipe by which they are compared."""

    reading: Reading
    recipe: Recipe


def choose(
    inputs: Sequence[str],
    reading: Reading,
    recipe_options: RecipeOptions,
    options: CaptureOptions,
    *,
    quiet: bool,
) -> Chosen:
    """Return the recipe of the options, and `reading` with its views if the inputs are captures."""
    if not are_captures(inputs, reading, options.as_what, quiet=quiet):
        _refuse_masks(options.no_mask)
        return Chosen(reading, recipe_options.load())
    check_reading(reading)
    recipe = capture_recipe(recipe_options, options.no_mask)
    return Chosen(replace(reading, viewing=recipe.viewing()), recipe)


def choose_at(
    path: Path, inputs: Sequence[str], reading: Reading, options: CaptureOptions, *, quiet: bool
) -> Reading:
    """Return `reading` with the views of a collection's recipe if the inputs are captures."""
    if not are_captures(inputs, reading, options.as_what, quiet=quiet):
        return reading
    check_reading(reading)
    with open_collection(path, read_only=True) as collection:
        recipe = collection.recipe
    check_recipe(recipe)
    return replace(reading, viewing=recipe.viewing())


def note_texts(recipe: Recipe, reading: Reading, *, quiet: bool) -> None:
    """Note that texts are compared with responses, which is seldom intended."""
    if recipe.tokens == HTTP and reading.viewing is None and not quiet:
        console.error(
            "note: the collection is one of HTTP responses, and the inputs are read as texts; add "
            "--as http if they are captures"
        )


def new_recipe(recipe_options: RecipeOptions, options: CaptureOptions) -> Recipe:
    """Return the recipe of a new collection, of texts or of responses."""
    if options.as_what is not None:
        check_as(options.as_what)
        return capture_recipe(recipe_options, options.no_mask)
    recipe = recipe_options.load()
    if recipe.tokens != HTTP:
        _refuse_masks(options.no_mask)
    return without_masks(recipe, options.no_mask)


def check_recipe(own: Recipe) -> None:
    """Refuse to read captures for a collection of texts."""
    if own.tokens != HTTP:
        raise click.BadParameter(
            f"the collection is one of texts, made with {own.identity}; make one of responses: "
            "neardup index create NAME.neardup --as http",
            param_hint="--as",
        )


def are_captures(
    inputs: Sequence[str],
    reading: Reading,
    as_what: str | None,
    *,
    quiet: bool,
) -> bool:
    """Return whether inputs are captures: by --as, by --format or, with a note, by their names."""
    from neardup.files.reading.inputs import captures_of

    if as_what is not None:
        check_as(as_what)
        return True
    named = [name for name in inputs if not is_collection(name)]
    captures, texts = captures_of(named, reading)
    if captures and reading.format is None:
        from neardup.http.captures import check_captures

        try:
            check_captures(
                captures, texts, lambda text: None if quiet else console.error(f"note: {text}")
            )
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="INPUT") from error
    return bool(captures)


def check_as(as_what: str) -> None:
    """Refuse a value of --as other than http."""
    from neardup.files.reading.formats import formats_of

    if as_what != HTTP:
        raise click.BadParameter(
            f"{as_what!r} is not known; it must be http, for captures of HTTP responses "
            f"({', '.join(each.called for each in formats_of('capture'))}). Leave it out for texts",
            param_hint="--as",
        )


def check_reading(reading: Reading) -> None:
    """Refuse options that only texts have."""
    from neardup.files.reading.batch import DEFAULT_TEXT
    from neardup.files.reading.formats import formats_of, is_capture_format

    wrong = {
        "--text-column": reading.text_columns != DEFAULT_TEXT,
        "--lines": reading.lines,
    }
    for name, is_given in wrong.items():
        if is_given:
            raise click.BadParameter(
                "is for texts, and the inputs are captures of HTTP responses; leave it out",
                param_hint=name,
            )
    if reading.format is not None and not is_capture_format(reading.format):
        raise click.BadParameter(
            f"{reading.format!r} is for texts, and the inputs are captures of HTTP responses; use "
            f"one of {', '.join(each.name for each in formats_of('capture'))}, or leave it out",
            param_hint="--format",
        )


def capture_recipe(options: RecipeOptions, no_mask: Sequence[str]) -> Recipe:
    """Return the recipe for responses that the options name, without the masks of --no-mask."""
    recipe = replace(options, recipe=options.recipe or HTTP).load()
    if recipe.tokens != HTTP:
        from neardup.text.presets import PRESETS

        known = [each for each, preset in PRESETS.items() if preset.fields.get("tokens") == HTTP]
        raise click.BadParameter(
            f"{options.recipe!r} is a recipe for texts; for responses use {', '.join(known)}, or a "
            'file with tokens = "http"',
            param_hint="--recipe",
        )
    return without_masks(recipe, no_mask)


def without_masks(recipe: Recipe, names: Sequence[str]) -> Recipe:
    """Return the recipe without some rules of masking."""
    if not names:
        return recipe
    from neardup.text.views import MASKS

    for name in names:
        if name != ALL_MASKS and name not in MASKS:
            raise click.BadParameter(
                f"{name!r} is not a rule of masking; there are {', '.join(MASKS)}, and all",
                param_hint="--no-mask",
            )
    masks = recipe.viewing().masks
    left = [each for each in masks if each not in names and ALL_MASKS not in names]
    return recipe.replace(masks=left)


def _refuse_masks(no_mask: Sequence[str]) -> None:
    if no_mask:
        raise click.BadParameter(
            "is for captures of HTTP responses, and the inputs are texts; add --as http",
            param_hint="--no-mask",
        )
