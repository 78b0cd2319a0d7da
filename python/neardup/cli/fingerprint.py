"""neardup fingerprint: files to fingerprints."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import console
from neardup.cli.options import (
    BitsOption,
    JsonOption,
    LinesOption,
    NoGuardOption,
    RecipeOption,
    ThreadsOption,
    check_printed,
    recipe_of,
)
from neardup.cli.progress import Progress

if TYPE_CHECKING:
    from neardup.cli.ids import Repeats
    from neardup.recipe import Recipe
    from neardup.sinks import Write
    from neardup.sources import Document

COLUMNS = {"id": str, "fingerprint": str, "signal": bool, "recipe": str}
# Endings of tables, which a user may expect to be read row by row.
TABLES = (".csv", ".tsv", ".json", ".parquet")


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Text files, each a document; .jsonl files, a document in every line; - for "
            "standard input.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Write to this file: .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet; - "
            "for standard output in JSON lines, -.csv for CSV.",
            readable=False,
        ),
    ] = None,
    lines: LinesOption = False,
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
    no_guard: NoGuardOption = False,
    recipe: RecipeOption = None,
    bits: BitsOption = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No summary, notes or progress on standard error.")
    ] = False,
) -> int:
    """Print the fingerprints of documents.

    A line each: id, tab, hexadecimal digits; "-" for a text with too few words. What cannot be
    read is reported on standard error, and the exit code is then 3, or 1 if nothing was read.

    \b
    Examples:
      neardup fingerprint a.txt b.txt
      neardup fingerprint documents.jsonl -o fingerprints.csv
      echo "the quick brown fox" | neardup fingerprint -
    """
    from neardup import sources
    from neardup.cli.ids import Repeats

    if lines and jsonl:
        raise typer.BadParameter("cannot be combined with --jsonl", param_hint="--lines")
    check_printed(as_json, out=out)
    if inputs.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="INPUT")
    chosen = recipe_of(recipe, bits)
    started = time.perf_counter()
    problems = console.Problems()
    repeats = Repeats()
    counts = {"documents": 0, "no_signal": 0}
    with ExitStack() as stack:
        for path in inputs:
            _check(path)
        write = _writer(stack, out, inputs, as_json=as_json, guard=not no_guard)
        if not (quiet or lines or jsonl):
            _note_tables(inputs)
        documents = sources.read(
            inputs,
            report=problems,
            lines=lines,
            jsonl=jsonl,
            text_column=text_column,
            id_column=id_column,
        )
        if "-" in inputs and not (quiet or jsonl):
            documents = _noting_json(documents)
        # Rows on a terminal show themselves how far the work is.
        shown = not quiet and sys.stderr.isatty() and (out is not None or not sys.stdout.isatty())
        try:
            with Progress(shown=shown) as progress:
                for row in _rows(documents, chosen, threads, repeats, progress):
                    write(row)
                    counts["documents"] += 1
                    counts["no_signal"] += not row["signal"]
                sys.stdout.flush()
        except KeyboardInterrupt:
            if out is None and counts["documents"]:
                raise KeyboardInterrupt("what was printed is not all") from None
            raise
        problems.close()
        if problems.count and not counts["documents"]:
            raise ValueError("nothing could be read")
    if repeats.count and not quiet:
        console.error(
            f"documents with the id of an earlier one: {repeats.count:,}, first {repeats.first!r}"
        )
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
    documents: Iterator[Document],
    recipe: Recipe,
    threads: int | None,
    repeats: Repeats,
    progress: Progress,
) -> Iterator[dict[str, Any]]:
    from neardup import sources
    from neardup.fingerprint import fingerprints

    identity = recipe.identity
    progress.stage("fingerprinting", None, "documents")
    for batch in sources.batches(documents):
        repeats.see([document.id for document in batch])
        found = fingerprints([document.text for document in batch], recipe, threads=threads)
        for document, value in zip(batch, found, strict=True):
            code = None if value is None else f"{value:0{recipe.bits // 4}x}"
            yield {
                "id": document.id,
                "fingerprint": code,
                "signal": code is not None,
                "recipe": identity,
            }
        progress.advance(len(batch))


def _writer(
    stack: ExitStack, out: Path | None, inputs: Sequence[str], *, as_json: bool, guard: bool
) -> Write:
    if out is not None:
        from neardup import sinks

        try:
            sinks.check(out, inputs)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--out") from error
        return stack.enter_context(sinks.open_rows(out, COLUMNS, guard=guard))
    if as_json:
        # Without the recipe: whoever reads the lines has just named it.
        return lambda row: print(
            json.dumps(
                {name: row[name] for name in COLUMNS if name != "recipe"}, ensure_ascii=False
            )
        )
    return lambda row: print(f"{console.printable(row['id'])}\t{row['fingerprint'] or '-'}")


def _note_tables(inputs: Sequence[str]) -> None:
    tables = [path for path in inputs if PurePath(path).suffix.lower() in TABLES]
    if tables:
        more = f" (and {len(tables) - 1:,} more)" if len(tables) > 1 else ""
        console.error(
            f"{tables[0]}{more}: read as one text; only JSON lines are read by column, "
            "and --lines reads a document in every line"
        )


def _noting_json(documents: Iterator[Document]) -> Iterator[Document]:
    for document in documents:
        if document.id in ("stdin", "stdin:1") and _is_object(document.text.partition("\n")[0]):
            console.error("standard input looks like JSON lines; use --jsonl")
        yield document


def _is_object(line: str) -> bool:
    try:
        return line.lstrip().startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _check(path: str) -> None:
    """Fail before the first fingerprint is printed, not at the last file."""
    if path == "-":
        return
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path}: a folder; pass the files in it")
