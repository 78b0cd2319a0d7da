"""neardup fingerprint: files to fingerprints."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import console
from neardup.cli.options import BitsOption, JsonOption, RecipeOption, recipe_of

if TYPE_CHECKING:
    from neardup.cli.output import Write
    from neardup.recipe import Recipe
    from neardup.sources import Document

COLUMNS = ("id", "fingerprint", "signal", "recipe")


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Text files, each a document; .jsonl files, a document in every line; - for "
            "standard input.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="OUT", help="Write to this file: .jsonl, .csv or .tsv."
        ),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Text files hold a document in every line.")
    ] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read every input as JSON lines, whatever its name.")
    ] = False,
    text_column: Annotated[
        str, typer.Option("--text-column", metavar="NAME", help="Where .jsonl files hold the text.")
    ] = "text",
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="NAME",
            help="Where they hold the id. [default: id, or file:line where there is none]",
        ),
    ] = None,
    recipe: RecipeOption = None,
    bits: BitsOption = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", metavar="N", min=1, help="Cores to use. [default: all]"),
    ] = None,
    as_json: JsonOption = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No summary on standard error.")
    ] = False,
) -> int:
    """Print the fingerprints of documents.

    A line each: id, tab, hexadecimal digits; "-" for a text with too few words. What cannot be
    read is reported on standard error, and the exit code is then 3.

    \b
    Examples:
      neardup fingerprint a.txt b.txt
      neardup fingerprint documents.jsonl -o fingerprints.csv
      echo "the quick brown fox" | neardup fingerprint -
    """
    from neardup import sources

    if lines and jsonl:
        raise typer.BadParameter("cannot be combined with --jsonl", param_hint="--lines")
    if inputs.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="INPUT")
    chosen = recipe_of(recipe, bits)
    started = time.perf_counter()
    problems = console.Problems()
    counts = {"documents": 0, "no_signal": 0}
    with ExitStack() as stack:
        for path in inputs:
            _check(path)
        write = _writer(stack, out, as_json=as_json)
        progress = console.Progress(quiet=quiet)
        stack.callback(progress.close)
        documents = sources.read(
            inputs,
            report=problems,
            lines=lines,
            jsonl=jsonl,
            text_column=text_column,
            id_column=id_column,
        )
        for row in _rows(documents, chosen, threads):
            write(row)
            counts["documents"] += 1
            counts["no_signal"] += not row["signal"]
            if counts["documents"] % 4096 == 0:
                progress.show(counts["documents"])
        sys.stdout.flush()
    problems.close()
    summary = {
        **counts,
        "unreadable": problems.count,
        "seconds": round(time.perf_counter() - started, 3),
        "recipe": chosen.identity,
    }
    if out is not None and as_json:
        print(json.dumps(summary, ensure_ascii=False))
    elif not quiet:
        console.error(
            f"documents {counts['documents']:,}, without signal {counts['no_signal']:,}, "
            f"unreadable {problems.count:,}, seconds {summary['seconds']:.2f}"
        )
    return 3 if problems.count else 0


def _rows(
    documents: Iterator[Document], recipe: Recipe, threads: int | None
) -> Iterator[dict[str, Any]]:
    from neardup import sources
    from neardup.fingerprint import fingerprints

    identity = recipe.identity
    for batch in sources.batches(documents):
        found = fingerprints([document.text for document in batch], recipe, threads=threads)
        for document, value in zip(batch, found, strict=True):
            code = None if value is None else f"{value:0{recipe.bits // 4}x}"
            yield {
                "id": document.id,
                "fingerprint": code,
                "signal": code is not None,
                "recipe": identity,
            }


def _writer(stack: ExitStack, out: Path | None, *, as_json: bool) -> Write:
    if out is not None:
        from neardup.cli import output

        try:
            output.check(out)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--out") from error
        return stack.enter_context(output.open_rows(out, COLUMNS))
    if as_json:
        # Without the recipe: whoever reads the lines has just named it.
        return lambda row: print(
            json.dumps({name: row[name] for name in COLUMNS[:3]}, ensure_ascii=False)
        )
    return lambda row: print(f"{console.printable(row['id'])}\t{row['fingerprint'] or '-'}")


def _check(path: str) -> None:
    """Fail before the first fingerprint is printed, not at the last file."""
    if path == "-":
        return
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path}: a folder; pass the files in it")
