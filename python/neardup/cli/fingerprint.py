"""neardup fingerprint: fingerprints of documents."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import DONE, UNREADABLE, console
from neardup.cli.captures import choose
from neardup.cli.command import READING, command, only, option
from neardup.cli.options import (
    INPUTS,
    CaptureOptions,
    EngineOptions,
    OutputOptions,
    ReadingOptions,
    RecipeOptions,
    check_stdout,
    out_option,
)

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Note, Reading, Report
    from neardup.files.reading.records import DuplicateIds
    from neardup.files.writing import Write
    from neardup.text.recipe import Recipe

COLUMNS = {"id": str, "fingerprint": str, "signal": bool, "recipe": str}


@dataclass(frozen=True)
class FingerprintOptions:
    out: Path | None = out_option()
    jsonl: bool = option(
        "--jsonl", default=False, section=READING, help="The same as --format jsonl."
    )


@command(
    INPUTS,
    own=FingerprintOptions,
    recipe_options=RecipeOptions,
    reading_options=ReadingOptions,
    captures=only(CaptureOptions, "as_what", "no_mask"),
    engine=only(EngineOptions, "threads"),
    output=only(
        OutputOptions,
        "no_guard",
        as_json="Print JSON lines; with -o, the summary as JSON.",
        quiet="Write no summary, notes or progress to standard error.",
    ),
)
def fingerprint(
    inputs: tuple[str, ...],
    own: FingerprintOptions,
    recipe_options: RecipeOptions,
    reading_options: ReadingOptions,
    captures: CaptureOptions,
    engine: EngineOptions,
    output: OutputOptions,
) -> int:
    """Print the fingerprints of documents.

    Prints a line for each: id, tab, hexadecimal digits; "-" for a text with too few words. Records
    that cannot be read are reported on standard error, and the exit code is then 3, or 1 if nothing
    was read.

    \b
    Examples:
      neardup fingerprint a.txt b.txt
      neardup fingerprint documents.jsonl -o fingerprints.csv
      echo "the quick brown fox" | neardup fingerprint -
      neardup fingerprint crawl.warc.gz -o fingerprints.csv --id-column url
    """
    from neardup.cli.inputs import expand_inputs
    from neardup.files.reading.records import DuplicateIds

    quiet, out, threads = output.quiet, own.out, engine.threads
    if own.jsonl:
        if reading_options.lines or reading_options.format not in (None, "jsonl"):
            other = "--lines" if reading_options.lines else "--format"
            raise click.BadParameter("cannot be combined with --jsonl", param_hint=other)
        reading_options = replace(reading_options, format="jsonl")
    check_stdout(output.as_json, out=out)
    reading, recipe = choose(
        inputs, reading_options.reading(), recipe_options, captures, quiet=quiet
    )
    reading = replace(reading, threads=threads)
    started = time.perf_counter()
    problems = console.problems_of(reading)
    notes = console.Notes(quiet=quiet)
    repeats = DuplicateIds()
    counts = {"documents": 0, "no_signal": 0}
    with ExitStack() as stack:
        files = expand_inputs(inputs, reading, notes)
        guard = not output.no_guard
        write = _row_writer(stack, out, files, as_json=output.as_json, guard=guard)
        batches = _batches(files, reading, problems, notes)
        # Rows printed on a terminal are progress enough.
        shown = not quiet and sys.stderr.isatty() and (out is not None or not sys.stdout.isatty())
        try:
            with console.ProgressBar(shown=shown) as progress:
                for row in _rows(batches, recipe, threads, repeats, progress):
                    write(row)
                    counts["documents"] += 1
                    counts["no_signal"] += not row["signal"]
                sys.stdout.flush()
        except KeyboardInterrupt:
            if out is None and counts["documents"]:
                raise KeyboardInterrupt("the printed rows are not all") from None
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
        "recipe": recipe.identity,
    }
    if out is not None and output.as_json:
        print(json.dumps(summary, ensure_ascii=False))
    elif not quiet:
        console.error(
            f"documents {counts['documents']:,}, without signal {counts['no_signal']:,}, "
            f"unreadable {problems.count:,}, seconds {summary['seconds']:.2f}"
        )
    return UNREADABLE if problems.count else DONE


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
    progress: console.ProgressBar,
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


def _row_writer(
    stack: ExitStack, out: Path | None, inputs: Sequence[str], *, as_json: bool, guard: bool
) -> Write:
    if out is not None:
        from neardup.cli.inputs import check_output
        from neardup.files import writing

        check_output(out, inputs, "--out")
        return stack.enter_context(writing.open_rows(out, COLUMNS, guard=guard))
    if as_json:
        # Without the recipe: it was named on the command line.
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
