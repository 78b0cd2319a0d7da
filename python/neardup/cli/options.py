"""Options that several commands share."""

from __future__ import annotations

import errno
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli.console import reason

if TYPE_CHECKING:
    from neardup.recipe import Recipe

RecipeOption = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="NAME|FILE.toml",
        help="How text becomes a fingerprint: a preset (see 'neardup recipes') or a file. "
        "[default: default]",
    ),
]
BitsOption = Annotated[
    int | None,
    typer.Option(
        "--bits",
        metavar="N",
        help="Width of the fingerprint, a multiple of 8 from 8 to 512. [default: the recipe's]",
    ),
]
SHOWN_PATH = 72
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read(path: str) -> str:
    """The text of a file; whoever passed the text itself is told how."""
    from neardup.sources import text_of

    try:
        return text_of(path)
    except OSError as error:
        # What has an ending and no space was meant as a file.
        named = " " not in path and PurePath(path).suffix
        if named or error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise
        shown = path if len(path) <= SHOWN_PATH else f"{path[:SHOWN_PATH]}…"
        raise FileNotFoundError(
            f"{shown}: no such file; to pass the text itself, use --text"
        ) from error


def recipe_of(name: str | None, bits: int | None, *, hint: str = "--recipe") -> Recipe:
    """The recipe the options ask for, or a usage error that says the choices."""
    from neardup.recipe import as_recipe

    try:
        recipe = as_recipe(name)
    except (ValueError, TypeError, OSError) as error:
        raise typer.BadParameter(reason(error), param_hint=hint) from error
    if bits is None:
        return recipe
    try:
        return recipe.replace(bits=bits)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--bits") from error
