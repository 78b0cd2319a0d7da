"""neardup explain: the vote behind a fingerprint."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from neardup.cli.options import BitsOption, JsonOption, RecipeOption, read, recipe_of


def command(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A text or document, or - for standard input."),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="T", help="The text itself, instead of a file.")
    ] = None,
    recipe: RecipeOption = None,
    bits: BitsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a fingerprint is voted.

    Tokens, weights, hashes, column sums and bits. With --bits 8 or 16 you see every single vote.

    \b
    Examples:
      neardup explain --bits 8 --text "the quick brown fox"
      neardup explain a.txt --recipe simhash
    """
    from neardup.text.explain import explain

    chosen = recipe_of(recipe, bits)
    if text is not None and file is None:
        explanation = explain(text, chosen)
    elif file is not None and text is None:
        explanation = explain(read(file), chosen)
    else:
        raise typer.BadParameter(
            "pass either a file (- for standard input) or --text T", param_hint="FILE"
        )
    if as_json:
        print(json.dumps(explanation.to_dict(), ensure_ascii=False))
    else:
        print(explanation)
