"""neardup explain: the votes behind a fingerprint."""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from neardup.cli.command import NEAR, argument, command, only, option
from neardup.cli.options import (
    PrintOptions,
    ReadingOptions,
    RecipeOptions,
    encoded_reading,
    file_or_text,
    read_text,
    recipe_of,
)


@dataclass(frozen=True)
class ExplainOptions:
    SECTION = NEAR

    text: str | None = option(
        "--text", metavar="T", daily=True, help="The text itself, instead of a file."
    )


@command(
    argument("file", "[FILE]", "Text or document; - for standard input."),
    own=ExplainOptions,
    recipe_options=only(
        RecipeOptions, "recipe", bits="Width of the fingerprint, 1 to 512. [default: the recipe's]"
    ),
    reading=only(ReadingOptions, "encoding"),
    output=PrintOptions,
)
def explain(
    file: str | None,
    own: ExplainOptions,
    recipe_options: RecipeOptions,
    reading: ReadingOptions,
    output: PrintOptions,
) -> None:
    """Show the votes behind a fingerprint.

    Tokens, weights, hashes, column sums and bits. Up to --bits 16 every single vote is shown.

    \b
    Examples:
      neardup explain --bits 6 --text "the quick brown fox"
      neardup explain a.txt --recipe simhash
    """
    from neardup.text.explain import explain, recipe_of_width

    recipe, bits = recipe_of(recipe_options.recipe, None), recipe_options.bits
    if bits is not None:
        try:
            recipe_of_width(recipe, bits)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    file_or_text(file, own.text)
    how = encoded_reading(reading.encoding, [] if file is None else [file])
    text = str(own.text) if file is None else read_text(file, how)
    explanation = explain(text, recipe, bits=bits)
    if output.as_json:
        print(json.dumps(explanation.to_dict(), ensure_ascii=False))
    else:
        print(explanation)
