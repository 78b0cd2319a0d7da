"""neardup explain: the votes behind a fingerprint."""

from __future__ import annotations

import json
from dataclasses import dataclass

from neardup.cli.command import NEAR, argument, command, option
from neardup.cli.options import PrintOptions, RecipeOptions, file_or_text, read_text


@dataclass(frozen=True)
class ExplainOptions:
    SECTION = NEAR

    text: str | None = option(
        "--text", metavar="T", daily=True, help="The text itself, instead of a file."
    )


@command(
    argument("file", "[FILE]", "Text or document; - for standard input."),
    own=ExplainOptions,
    recipe_options=RecipeOptions,
    output=PrintOptions,
)
def explain(
    file: str | None, own: ExplainOptions, recipe_options: RecipeOptions, output: PrintOptions
) -> None:
    """Show the votes behind a fingerprint.

    Tokens, weights, hashes, column sums and bits. With --bits 8 or 16 every single vote is shown.

    \b
    Examples:
      neardup explain --bits 8 --text "the quick brown fox"
      neardup explain a.txt --recipe simhash
    """
    from neardup.text.explain import explain

    recipe = recipe_options.load()
    file_or_text(file, own.text)
    explanation = explain(read_text(file) if file is not None else str(own.text), recipe)
    if output.as_json:
        print(json.dumps(explanation.to_dict(), ensure_ascii=False))
    else:
        print(explanation)
