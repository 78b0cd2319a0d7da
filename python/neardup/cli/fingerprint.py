"""neardup fingerprint: files to fingerprints."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import console, options
from neardup.cli.console import ProgressBar

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Note, Reading, Report
    from neardup.files.reading.records import DuplicateIds
    from neardup.files.writing import Write
    from neardup.text.recipe import Recipe

COLUMNS = {"id": str, "fingerprint": str, "signal": bool, "recipe": str}


def command(
    inputs: options.InputsArgument,
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
    text_column: options.TextColumnOption = None,
    id_column: options.IdColumnOption = None,
    lines: options.LinesOption = False,
    format: options.FormatOption = None,  # noqa: A002
    encoding: options.EncodingOption = None,
    delimiter: options.DelimiterOption = None,
    quoting: options.QuotingOption = None,
    no_header: options.NoHeaderOption = False,
    max_bytes: options.MaxBytesOption = None,
    max_document: options.MaxDocumentOption = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="The same as --format jsonl.")] = False,
    no_guard: options.NoGuardOption = False,
    as_what: options.AsOption = None,
    no_mask: options.NoMaskOption = None,
    recipe: options.RecipeOption = None,
    bits: options.BitsOption = None,
    threads: options.ThreadsOption = None,
    as_json: options.JsonOption = False,
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
      neardup fingerprint crawl.warc.gz -o fingerprints.csv --id-column url
    """
    from neardup.cli.captures import choose
    from neardup.cli.inputs import InputNotes, files_of, reading_of
    from neardup.files.reading.records import DuplicateIds

    if jsonl and (lines or format not in (None, "jsonl")):
        other = "--lines" if lines else "--format"
        raise typer.BadParameter("cannot be combined with --jsonl", param_hint=other)
    options.check_printed(as_json, out=out)
    reading = reading_of(
        text_column,
        id_column,
        lines,
        "jsonl" if jsonl else format,
        encoding=encoding,
        delimiter=delimiter,
        quoting=quoting,
        no_header=no_header,
        max_bytes=max_bytes,
        max_document=max_document,
    )
    reading, chosen = choose(
        inputs,
        reading,
        recipe=recipe,
        bits=bits,
        as_what=as_what,
        no_mask=no_mask,
        tell=None if quiet else console.error,
    )
    reading = replace(reading, threads=threads)
    started = time.perf_counter()
    problems = console.problems_of(reading)
    notes = InputNotes(quiet=quiet)
    repeats = DuplicateIds()
    counts = {"documents": 0, "no_signal": 0}
    with ExitStack() as stack:
        files = files_of(inputs, reading, notes)
        write = _writer(stack, out, files, as_json=as_json, guard=not no_guard)
        batches = _batches(files, reading, problems, notes)
        # Rows on a terminal show themselves how far the work is.
        shown = not quiet and sys.stderr.isatty() and (out is not None or not sys.stdout.isatty())
        try:
            with ProgressBar(shown=shown) as progress:
                for row in _rows(batches, chosen, threads, repeats, progress):
                    write(row)
                    counts["documents"] += 1
                    counts["no_signal"] += not row["signal"]
                sys.stdout.flush()
        except KeyboardInterrupt:
            if out is None and counts["documents"]:
                raise KeyboardInterrupt("what was printed is not all") from None
            raise
        problems.close()
        notes.close()
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


def _batches(files: Sequence[str], reading: Reading, report: Report, note: Note) -> Iterator[Batch]:
    from neardup.files.reading.inputs import read_batches

    for path in files:
        first = path == "-" and reading.format is None and reading.viewing is None
        for batch in read_batches(path, reading, report, note=note):
            if first and _is_object(batch.texts[0].as_py().partition("\n")[0]):
                note("standard input looks like JSON lines; use --format jsonl")
            first = False
            yield batch


def _rows(
    batches: Iterator[Batch],
    recipe: Recipe,
    threads: int | None,
    repeats: DuplicateIds,
    progress: ProgressBar,
) -> Iterator[dict[str, Any]]:
    from neardup.text.fingerprint import fingerprints

    identity = recipe.identity
    progress.stage("fingerprinting", None, "documents")
    for batch in batches:
        ids = batch.ids.to_pylist()
        repeats.see(batch.ids)
        found = fingerprints(batch.texts, recipe, threads=threads)
        for id_, value in zip(ids, found, strict=True):
            code = None if value is None else f"{value:0{recipe.bits // 4}x}"
            yield {
                "id": id_,
                "fingerprint": code,
                "signal": code is not None,
                "recipe": identity,
            }
        progress.advance(len(ids))


def _writer(
    stack: ExitStack, out: Path | None, inputs: Sequence[str], *, as_json: bool, guard: bool
) -> Write:
    if out is not None:
        from neardup.files import writing

        try:
            writing.check(out, inputs)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--out") from error
        return stack.enter_context(writing.open_rows(out, COLUMNS, guard=guard))
    if as_json:
        # Without the recipe: whoever reads the lines has just named it.
        return lambda row: print(
            json.dumps(
                {name: row[name] for name in COLUMNS if name != "recipe"}, ensure_ascii=False
            )
        )
    return lambda row: print(f"{console.printable(row['id'])}\t{row['fingerprint'] or '-'}")


def _is_object(line: str) -> bool:
    try:
        return line.lstrip().startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
