"""neardup check: the share of each document that other documents have too, and where."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup._util.numbers import percentage
from neardup.cli import DONE, UNREADABLE, console
from neardup.cli.command import SHARED, FileName, ParamType, command, only, option
from neardup.cli.options import (
    INPUTS,
    CaptureOptions,
    EngineOptions,
    OutputOptions,
    PassageOptions,
    ReadingOptions,
    RecipeOptions,
    ReportOptions,
    check_stdout,
    out_option,
)

if TYPE_CHECKING:
    from neardup.copying.findings import Finding
    from neardup.jobs import Checked

MAX_SHOWN = 10


class Fraction(ParamType):
    """A number from 0 to 1; the message helps those who write per cent."""

    name = "float"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number from 0 to 1: 0.3 for 30 %", param, ctx)


@dataclass(frozen=True)
class CopyingOptions:
    SECTION = SHARED

    against: tuple[str, ...] = option(
        "--against",
        default=(),
        metavar="FILE|COLLECTION",
        type=FileName(),
        daily=True,
        help="Compare with the documents of these files or collections (.neardup); may be "
        "repeated. [default: the inputs with each other]",
    )
    threshold: float | None = option(
        "--threshold",
        metavar="S",
        type=Fraction(),
        daily=True,
        help="Share from which a document is counted and marked, 0.3 for 30 %. [default: 0.3]",
    )
    ignore_quotations: bool = option(
        "--ignore-quotations", default=False, daily=True, help="Do not count quotations."
    )
    ignore_references: bool = option(
        "--ignore-references", default=False, daily=True, help="Do not count lists of references."
    )
    common: int | None = option(
        "--common", metavar="N", help="Do not count passages that more than N documents have."
    )
    exclude: tuple[str, ...] = option(
        "--exclude", default=(), metavar="ID", help="Ignore this source; may be repeated."
    )
    author_column: str | None = option(
        "--author-column",
        metavar="NAME",
        help="Column of the author: passages from authors' own texts do not count.",
    )


@dataclass(frozen=True)
class CheckOutput:
    html: str | None = option(
        "--html",
        metavar="DIR|FILE.html",
        type=FileName(),
        daily=True,
        help="Write pages: a folder of them, or one file with all. A name that ends in a slash is "
        "a folder.",
    )
    out: Path | None = out_option(
        help="Write a table, a row for each document and source: .jsonl, .csv, .tsv or .parquet; - "
        "for standard output in JSON lines, -.csv for CSV."
    )
    anonymise: bool = option(
        "--anonymise", default=False, help="Show numbers instead of ids everywhere."
    )


@command(
    INPUTS,
    own=CopyingOptions,
    passages=PassageOptions,
    reading_options=ReadingOptions,
    captures=only(CaptureOptions, "as_what", "no_mask"),
    engine=only(EngineOptions, "threads"),
    files=CheckOutput,
    report=only(ReportOptions, "lang"),
    output=only(OutputOptions, "strict", "no_guard", "config", "as_json", "quiet"),
)
def check(
    inputs: tuple[str, ...],
    own: CopyingOptions,
    passages: PassageOptions,
    reading_options: ReadingOptions,
    captures: CaptureOptions,
    engine: EngineOptions,
    files: CheckOutput,
    report: ReportOptions,
    output: OutputOptions,
) -> int:
    """Check documents for copying.

    Reports for each document the share of its words that other documents have too (each word
    counts once), the same without quotations and lists of references, and the largest single
    source. A text file is one document; a file of records has one per record. Without --against the
    inputs are compared with each other. For captures of HTTP responses (--as http), titles and
    visible texts are checked.

    \b
    Examples:
      neardup check essays/ --html report
      neardup check theses/*.txt --against library.neardup --html report.html
      neardup check essays.jsonl --template task.txt --common 5 -o table.csv
    """
    import neardup.jobs as jobs
    from neardup.jobs.options import THRESHOLD

    html = None if files.html is None else Path(files.html)
    check_stdout(output.as_json, out=files.out, html=html)
    rules: dict[str, Any] = {
        "min_words": passages.min_words,
        "min_chars": passages.min_chars,
        "bridge": passages.bridge,
        "common": own.common,
        "threads": engine.threads,
        "ignore_quotations": own.ignore_quotations or None,
        "ignore_references": own.ignore_references or None,
    }
    reading = reading_options.reading()
    # Without these options the job itself decides whether the inputs are captures.
    if captures.as_what or captures.no_mask:
        from neardup.cli.captures import choose

        # Only visible text can be copied.
        recipe, given = RecipeOptions(recipe="http-text"), [*inputs, *own.against]
        reading = choose(given, reading, recipe, captures, quiet=output.quiet).reading

    options = jobs.CheckOptions(
        against=own.against,
        threshold=THRESHOLD if own.threshold is None else own.threshold,
        rules={name: value for name, value in rules.items() if value is not None},
        template=passages.template,
        author_column=own.author_column,
        exclude=own.exclude,
        out=files.out,
        html=html,
        # A path forgets its trailing slash.
        html_folder=files.html is not None and files.html.endswith(os.sep),
        lang=report.lang,
        anonymise=files.anonymise,
        guard=not output.no_guard,
        strict=output.strict,
        reading=reading,
    )
    found = console.run_job(partial(jobs.check, inputs), options, quiet=output.quiet)
    if found is None:
        return UNREADABLE
    _print_summary(found, output, (files.out, html))
    return UNREADABLE if found.unreadable else DONE


def _print_summary(found: Checked, output: OutputOptions, files: tuple[Path | None, ...]) -> None:
    """Print the summary: on standard output, unless a file goes there."""
    from neardup.files.writing.new_file import is_stdout

    if output.as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False))
    elif not any(path is not None and is_stdout(path) for path in files):
        for line in lines_of(found):
            print(line)
    elif not output.quiet:
        for line in lines_of(found):
            console.error(line)


def lines_of(found: Checked) -> list[str]:
    """Return the summary for a person."""
    findings = found.copying.findings
    compared = "with each other"
    if not found.copying.among:
        compared = f"against {_counted(found.reference, 'text')}"
    lines = [f"documents   {len(findings):,} checked {compared}"]
    if found.unreadable:
        lines[0] += f"; {found.unreadable:,} unreadable"
    if too_short := found.copying.too_short:
        short = "has" if too_short == 1 else "have"
        lines[0] += f"; {too_short:,} {short} too few words for a passage"
    lines.append(f"copied      {found.above:,} at {percentage(found.threshold)} or more")
    ranked = sorted(
        (finding for finding in findings if finding.sources),
        key=lambda finding: -finding.figures.share,
    )
    lines += [_line(finding) for finding in ranked[:MAX_SHOWN]]
    if len(ranked) > MAX_SHOWN:
        more = len(ranked) - MAX_SHOWN
        lines.append(f"            and {more:,} more that share{'s' * (more == 1)} passages")
    if found.files:
        lines.append(f"wrote       {', '.join(found.files)}")
    return lines


def _line(finding: Finding) -> str:
    largest = finding.sources[0]
    others = len(finding.sources) - 1
    more = f" and {_counted(others, 'other')}" if others else ""
    return (
        f"{percentage(finding.figures.share):>9}   {console.printable(finding.id)}: "
        f"{percentage(largest.share)} from {console.printable(largest.id)}{more}"
    )


def _counted(count: int, one: str) -> str:
    return f"{count:,} {one if count == 1 else one + 's'}"
