"""neardup http: look at HTTP responses as they are compared, at masks and at labels."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli import DONE, UNREADABLE, captures, console
from neardup.cli.command import CAPTURES, Group, argument, command, only, option
from neardup.cli.options import (
    CaptureOptions,
    PrintOptions,
    PrintQuietOptions,
    ReadingOptions,
    RecipeOptions,
)

if TYPE_CHECKING:
    from neardup.files.reading.batch import Note, Reading, Report
    from neardup.http.messages import Response
    from neardup.http.views import Preview

# Lines of a view, and characters of each, without --full.
MAX_LINES, MAX_LINE_CHARS = 40, 300
DEFAULT_COUNT = 3
MASKED = re.compile(r"‹[a-z-]+›")


@dataclass(frozen=True)
class LabelOptions:
    SECTION = CAPTURES

    labels: tuple[Path, ...] = option(
        "--labels",
        default=(),
        metavar="FILE.toml",
        daily=True,
        help="Your own label rules, tried before the built-in ones; may be repeated.",
    )


@dataclass(frozen=True)
class PreviewOptions:
    n: int | None = option(
        "-n",
        metavar="N",
        min=1,
        daily=True,
        help=f"Number of responses. [default: {DEFAULT_COUNT}]",
    )
    at: int | None = option(
        "--at", metavar="N", min=1, daily=True, help="Show only the response with this number."
    )
    full: bool = option(
        "--full", default=False, daily=True, help="Do not cut long views and long lines."
    )


@command(
    argument(
        "file",
        "FILE",
        "Capture: WARC, HAR, JSON lines of httpx, XML of Burp or raw messages; - for standard "
        "input.",
    ),
    own=PreviewOptions,
    label_options=LabelOptions,
    limits=only(ReadingOptions, "max_bytes", "max_document"),
    masking=only(CaptureOptions, "no_mask"),
    recipe_options=only(RecipeOptions, "recipe"),
    output=PrintQuietOptions,
)
def preview(
    file: str,
    own: PreviewOptions,
    label_options: LabelOptions,
    limits: ReadingOptions,
    masking: CaptureOptions,
    recipe_options: RecipeOptions,
    output: PrintQuietOptions,
) -> int:
    """Show the first responses of a capture as they are compared.

    For each: its number and URL, its label, its view (a line for the status, each header, the
    title, the tags, the keys of JSON, each block of text) with masked parts as ‹rule›, and
    how often each rule masked what.

    \b
    Examples:
      neardup http preview crawl.warc.gz
      neardup http preview httpx.jsonl --at 17 --no-mask tokens
      neardup http preview site.har -n 1 --recipe http-text --json
    """
    from neardup.cli.inputs import expand_inputs
    from neardup.http.labels import Labels
    from neardup.http.views import previews

    n, at = own.n, own.at
    if n is not None and at is not None:
        raise click.BadParameter("cannot be combined with --at", param_hint="-n")
    rules = Labels.load(*label_options.labels)
    recipe = captures.capture_recipe(recipe_options, masking.no_mask)
    reading = limits.reading(viewing=recipe.viewing(), keeps=False)
    notes, problems = console.Notes(quiet=output.quiet), console.problems_of(reading)
    files = expand_inputs([file], reading, notes)
    found = _responses(files, reading, problems, notes)
    chosen = (each for each in found if at is None or each[1] == at)
    shown = 0
    # Each file may have a response of that number.
    most = len(files) if at is not None else n or DEFAULT_COUNT
    for each in previews(islice(chosen, most), recipe.viewing(), rules):
        if output.as_json:
            print(json.dumps(each.as_dict(), ensure_ascii=False))
        else:
            _show(each, full=own.full, is_first=not shown)
        shown += 1
    sys.stdout.flush()
    problems.close()
    notes.close()
    problems.check_any(shown)
    if not shown:
        which = "no response" if at is None else f"no response number {at:,}"
        raise ValueError(f"{file}: has {which}")
    return UNREADABLE if problems.count else DONE


@command(output=PrintOptions)
def masks(output: PrintOptions) -> int:
    """List the rules that mask volatile parts of responses.

    All are on unless --no-mask NAME or the recipe switches one off.
    """
    from neardup.http.views import MASK_DESCRIPTIONS

    if output.as_json:
        print(json.dumps(dict(MASK_DESCRIPTIONS), ensure_ascii=False))
        return DONE
    width = max(map(len, MASK_DESCRIPTIONS))
    for name, sentence in MASK_DESCRIPTIONS.items():
        print(f"{name:{width}}  {sentence}")
    return DONE


@command(own=LabelOptions, output=PrintOptions)
def labels(own: LabelOptions, output: PrintOptions) -> int:
    """List the rules that label kinds of response, in order."""
    from neardup.http.labels import Labels

    rules = Labels.load(*own.labels).rules
    if output.as_json:
        rows = [{"rule": each.name, "label": each.label, "why": each.why} for each in rules]
        print(json.dumps(rows, ensure_ascii=False))
        return DONE
    width = max(len(each.name) for each in rules)
    wide = max(len(each.label) for each in rules)
    for each in rules:
        print(f"{each.label:{wide}}  {each.name:{width}}  {each.why}")
    return DONE


commands = Group("http", help="Show HTTP responses as they are compared.")
commands.add(preview, masks, labels)


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
