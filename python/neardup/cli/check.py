"""neardup check: how much of each document is elsewhere too, and where."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import console, options

if TYPE_CHECKING:
    from neardup.copying.findings import Finding
    from neardup.jobs import Checked

DONE, UNREADABLE = 0, 3
SHOWN = 10


def command(
    inputs: options.InputsArgument,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="FILE|COLLECTION",
            help="Compare with the documents of these files, or of a collection (.neardup); may be "
            "given several times. [default: the inputs with each other]",
        ),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="DIR|FILE.html",
            help="Write pages: a folder of them, or one file that has them all. A name with a "
            "slash at its end is a folder.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Write a table, a row for each document and source: .jsonl, .csv, .tsv or "
            ".parquet; - for standard output in JSON lines, -.csv for CSV.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="S",
            parser=options.share,
            help="The share from which a document is counted and marked, 0.3 for 30 %. "
            "[default: 0.3]",
        ),
    ] = None,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise", help="Call documents by numbers in all that is written and printed."
        ),
    ] = False,
    lang: options.LangOption = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            metavar="FILE",
            help="What documents share with this text does not count; may be given several times.",
        ),
    ] = None,
    ignore_quotations: Annotated[
        bool, typer.Option("--ignore-quotations", help="Quotations do not count.")
    ] = False,
    ignore_references: Annotated[
        bool, typer.Option("--ignore-references", help="Lists of references do not count.")
    ] = False,
    common: Annotated[
        int | None,
        typer.Option(
            "--common",
            metavar="N",
            help="Passages in more than N documents do not count.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="ID",
            help="Leave a source out; may be given several times.",
        ),
    ] = None,
    author_column: Annotated[
        str | None,
        typer.Option(
            "--author-column",
            metavar="NAME",
            help="The column of the author: what authors have from their own texts does not count.",
        ),
    ] = None,
    min_words: Annotated[
        int | None,
        typer.Option("--min-words", metavar="N", help="The shortest passage. [default: 6]"),
    ] = None,
    min_chars: Annotated[
        int | None,
        typer.Option(
            "--min-chars",
            metavar="N",
            help="The same where a script has no spaces, in characters. [default: 13]",
        ),
    ] = None,
    bridge: Annotated[
        int | None,
        typer.Option(
            "--bridge",
            metavar="N",
            help="Changed words in a row that do not end a passage. [default: 2]",
        ),
    ] = None,
    no_guard: options.NoGuardOption = False,
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
    as_what: options.AsOption = None,
    no_mask: options.NoMaskOption = None,
    threads: options.ThreadsOption = None,
    strict: options.StrictOption = False,
    config: options.ConfigOption = None,
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Check documents for copying.

    For each document: the share of its words that others have too (what several have counts
    once), the same without quotations and lists of references, and the largest single source. A
    text file is one document; a file of records has one a record. Without --against the inputs
    are compared with each other. Of captures of HTTP responses (--as http) the titles and visible
    texts are checked.

    \b
    Examples:
      neardup check essays/ --html report
      neardup check theses/*.txt --against library.neardup --html report.html
      neardup check essays.jsonl --template task.txt --common 5 -o table.csv
    """
    from neardup import jobs
    from neardup.cli.captures import choose
    from neardup.cli.console import ProgressBar
    from neardup.cli.inputs import InputNotes, reading_of
    from neardup.jobs.options import THRESHOLD

    pages = None if html is None else Path(html)
    options.check_printed(as_json, out=out, html=pages)
    asked = {"min_words": min_words, "min_chars": min_chars, "bridge": bridge, "common": common}
    asked["threads"] = threads
    rules: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if ignore_quotations:
        rules["ignore_quotations"] = True
    if ignore_references:
        rules["ignore_references"] = True
    reading = choose(
        [*inputs, *(against or ())],
        reading_of(
            text_column,
            id_column,
            lines,
            format,
            encoding=encoding,
            delimiter=delimiter,
            quoting=quoting,
            no_header=no_header,
            max_bytes=max_bytes,
            max_document=max_document,
        ),
        # What cannot be read is not copied.
        recipe="http-text",
        bits=None,
        as_what=as_what,
        no_mask=no_mask,
        tell=None if quiet else console.error,
    ).reading
    problems = console.problems_of(reading)
    with ProgressBar(shown=not quiet and sys.stderr.isatty()) as progress:
        notes = InputNotes(quiet=quiet, before=progress.stop)
        chosen = jobs.CheckOptions(
            against=tuple(against or ()),
            threshold=THRESHOLD if threshold is None else threshold,
            rules=rules,
            template=tuple(template or ()),
            author_column=author_column,
            exclude=tuple(exclude or ()),
            out=out,
            html=pages,
            # A path forgets its last slash.
            html_folder=html is not None and html.endswith(os.sep),
            lang=lang,
            anonymise=anonymise,
            guard=not no_guard,
            strict=strict,
            reading=reading,
            on_problem=None if quiet else problems,
            on_note=notes,
            progress=progress,
        )
        try:
            found = jobs.check(inputs, chosen)
        except jobs.RefusedError as error:
            raise typer.BadParameter(str(error)) from error
        except jobs.UnreadableError as error:
            progress.stop()
            problems.close()
            console.error(str(error))
            return UNREADABLE
    problems.close()
    notes.close()
    _tell(found, as_json=as_json, quiet=quiet, printed=(out, pages))
    return UNREADABLE if found.unreadable else DONE


def _tell(found: Checked, *, as_json: bool, quiet: bool, printed: tuple[Path | None, ...]) -> None:
    """The summary: on standard output, where nothing else goes there."""
    from neardup.files.writing.new_file import is_stdout

    if as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False))
        return
    if any(path is not None and is_stdout(path) for path in printed):
        if not quiet:
            for line in lines_of(found):
                console.error(line)
        return
    for line in lines_of(found):
        print(line)


def lines_of(found: Checked) -> list[str]:
    """The summary for a person."""
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
    lines.append(f"copied      {found.above:,} at {_percent(found.threshold)} or more")
    ranked = sorted(
        (finding for finding in findings if finding.sources),
        key=lambda finding: -finding.figures.share,
    )
    lines += [_line(finding) for finding in ranked[:SHOWN]]
    if len(ranked) > SHOWN:
        more = len(ranked) - SHOWN
        lines.append(f"            and {more:,} more that share{'s' * (more == 1)} passages")
    if found.files:
        lines.append(f"wrote       {', '.join(found.files)}")
    return lines


def _line(finding: Finding) -> str:
    largest = finding.sources[0]
    others = len(finding.sources) - 1
    more = f" and {_counted(others, 'other')}" if others else ""
    return (
        f"{_percent(finding.figures.share):>9}   {console.printable(finding.id)}: "
        f"{_percent(largest.share)} from {console.printable(largest.id)}{more}"
    )


def _percent(share: float) -> str:
    from neardup.reports.formatting import share as shown

    return shown(share)


def _counted(count: int, one: str) -> str:
    return f"{count:,} {one if count == 1 else one + 's'}"
