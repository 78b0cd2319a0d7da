"""neardup http: look at HTTP responses as they are compared, at masks and at labels."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import captures, console, options

if TYPE_CHECKING:
    from neardup.files.reading.batch import Note, Reading, Report
    from neardup.http.messages import Response
    from neardup.http.views import Preview

DONE, UNREADABLE = 0, 3
# Lines of a view, and characters of each, without --full.
MAX_LINES, MAX_LINE_CHARS = 40, 300
DEFAULT_COUNT = 3
MASKED = re.compile(r"‹[a-z-]+›")

LabelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels",
        metavar="FILE.toml",
        help="Your own rules for labels, tried before the built-in ones; may be given several "
        "times.",
    ),
]

app = typer.Typer(
    name="http",
    help="Look at HTTP responses as they are compared.",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("preview")
def preview(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A capture: WARC, HAR, JSON lines of httpx, XML of Burp or raw messages; - for "
            "standard input.",
        ),
    ],
    n: Annotated[
        int | None,
        typer.Option(
            "-n", metavar="N", min=1, help=f"How many responses. [default: {DEFAULT_COUNT}]"
        ),
    ] = None,
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="N", min=1, help="Only the response of this number."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show long views and long lines completely.")
    ] = False,
    labels: LabelsOption = None,
    max_bytes: options.MaxBytesOption = None,
    max_document: options.MaxDocumentOption = None,
    no_mask: options.NoMaskOption = None,
    recipe: options.RecipeOption = None,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Show the first responses of a capture as they are compared.

    For each: its number and URL, its label, its view (a line for the status, each header, the
    title, the tags, the keys of JSON, each block of text) with masked parts as ‹rule›, and which
    rule masked what, how often.

    \b
    Examples:
      neardup http preview crawl.warc.gz
      neardup http preview httpx.jsonl --at 17 --no-mask tokens
      neardup http preview site.har -n 1 --recipe http-text --json
    """
    from neardup.cli.inputs import InputNotes, files_of, reading_of
    from neardup.http.labels import Labels
    from neardup.http.views import previews

    if n is not None and at is not None:
        raise typer.BadParameter("cannot be combined with --at", param_hint="-n")
    rules = Labels.load(*labels or ())
    made = captures.recipe_of(recipe, None, no_mask)
    reading = reading_of(None, None, False, None, max_bytes=max_bytes, max_document=max_document)
    reading = replace(reading, viewing=made.viewing(), keeps=False)
    notes, problems = InputNotes(quiet=quiet), console.problems_of(reading)
    files = files_of([file], reading, notes)
    found = _responses(files, reading, problems, notes)
    chosen = (each for each in found if at is None or each[1] == at)
    shown = 0
    # Each file may have a response of that number.
    most = len(files) if at is not None else n or DEFAULT_COUNT
    for each in previews(islice(chosen, most), made.viewing(), rules):
        if as_json:
            print(json.dumps(each.as_dict(), ensure_ascii=False))
        else:
            _show(each, full=full, is_first=not shown)
        shown += 1
    sys.stdout.flush()
    problems.close()
    notes.close()
    problems.check_any(shown)
    if not shown:
        which = "no response" if at is None else f"no response number {at:,}"
        raise ValueError(f"{file}: has {which}")
    return UNREADABLE if problems.count else DONE


@app.command("masks")
def masks(as_json: options.JsonOption = False) -> int:
    """List the rules that mask volatile parts of responses.

    All are on unless --no-mask NAME or the recipe switches one off.
    """
    from neardup.http.views import MASK_DESCRIPTIONS

    if as_json:
        print(json.dumps(dict(MASK_DESCRIPTIONS), ensure_ascii=False))
        return DONE
    width = max(map(len, MASK_DESCRIPTIONS))
    for name, sentence in MASK_DESCRIPTIONS.items():
        print(f"{name:{width}}  {sentence}")
    return DONE


@app.command("labels")
def list_labels(labels: LabelsOption = None, as_json: options.JsonOption = False) -> int:
    """List the rules that label kinds of response, in the order they are tried."""
    from neardup.http.labels import Labels

    rules = Labels.load(*labels or ()).rules
    if as_json:
        rows = [{"rule": each.name, "label": each.label, "why": each.why} for each in rules]
        print(json.dumps(rows, ensure_ascii=False))
        return DONE
    width = max(len(each.name) for each in rules)
    wide = max(len(each.label) for each in rules)
    for each in rules:
        print(f"{each.label:{wide}}  {each.name:{width}}  {each.why}")
    return DONE


def _responses(
    files: Sequence[str], reading: Reading, report: Report, note: Note
) -> Iterator[tuple[str, int, Response]]:
    from neardup.files.reading.batch import Task
    from neardup.files.reading.formats import name_of
    from neardup.http.captures.reader import read_responses

    for path in files:
        name = name_of(path)
        for each in read_responses(Task(path, reading, report, note)):
            yield f"{name}:{each.number}", each.number, each.response


def _show(found: Preview, *, full: bool, is_first: bool) -> None:
    """Print a preview for a person: control characters escaped, masked parts highlighted."""
    from rich.text import Text

    out = console.terminal()

    def line(text: str, style: str = "") -> None:
        shown = Text(text, style=style)
        shown.highlight_regex(MASKED, "reverse")
        out.print(shown, soft_wrap=True)

    if not is_first:
        line("")
    url = console.printable(found.url) or "(no URL)"
    line(f"{console.printable(found.id)}  {url}", "bold")
    if found.label is not None:
        line(f"   label: {found.label.label} (rule {found.label.name}: {found.label.why})")
    lines = found.view.split("\n")
    for each in lines if full else lines[:MAX_LINES]:
        line(f"   {_shorten(console.printable(each), full=full)}")
    if not full and len(lines) > MAX_LINES:
        line(f"   … {len(lines) - MAX_LINES:,} more lines; --full shows them")
    if not found.masked:
        line("   nothing was masked")
        return
    line("   masked:")
    width = max(len(each.rule) for each in found.masked)
    for by in found.masked:
        originals = "; ".join(console.printable(each) for each in by.originals)
        line(f"     {by.rule:{width}} {by.count:5,}  {originals}")


def _shorten(text: str, *, full: bool) -> str:
    if full or len(text) <= MAX_LINE_CHARS:
        return text
    return f"{text[:MAX_LINE_CHARS]}… ({len(text) - MAX_LINE_CHARS:,} more characters)"
