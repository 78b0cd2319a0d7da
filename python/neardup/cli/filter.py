"""neardup filter: the records of a stream that were not seen before."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import DONE, UNREADABLE, console, streams
from neardup.cli.captures import capture_recipe
from neardup.cli.command import KEPT, argument, command, only, option
from neardup.cli.inputs import DATABASE, check_collection_name
from neardup.cli.options import (
    CaptureOptions,
    NearOptions,
    OutputOptions,
    ReadingOptions,
    RecipeOptions,
)

if TYPE_CHECKING:
    from neardup.files.reading.batch import Reading, Unreadable
    from neardup.jobs.filter import Dropped, Filter, Read
    from neardup.text.recipe import Recipe

CUT = "the last record is incomplete in the output"


@dataclass(frozen=True)
class FilterOptions:
    collection: Path | None = option(
        "--in",
        metavar="COLLECTION",
        section=KEPT,
        daily=True,
        help="Compare with this collection and store new records in it; created if missing. "
        "[default: remember records until the end of the run]",
    )
    seen: Path | None = option(
        "--seen",
        metavar="FILE.jsonl",
        daily=True,
        help="Append a line for each dropped record, with the document it is near.",
    )


@command(
    argument("name", "[INPUT]", "JSON lines; - for standard input.", default="-"),
    name="filter",
    own=FilterOptions,
    near=NearOptions,
    recipe_options=RecipeOptions,
    reading_options=only(
        ReadingOptions,
        *("text_column", "id_column", "max_bytes", "max_document"),
        lines="Every line is a text, not JSON.",
    ),
    captures=only(
        CaptureOptions,
        "no_mask",
        as_what="Every line is a result of httpx (-json -irr); the first of each kind of response "
        "passes.",
    ),
    output=only(OutputOptions, "quiet", strict="Stop at the first record that cannot be read."),
)
def filter_stream(
    name: str,
    own: FilterOptions,
    near: NearOptions,
    recipe_options: RecipeOptions,
    reading_options: ReadingOptions,
    captures: CaptureOptions,
    output: OutputOptions,
) -> int:
    """Pass on the records of a stream that were not seen before.

    Reads records line by line and writes a record to standard output, unchanged and at once, if no
    earlier record is near it. With --in, a record is stored in the collection before it is
    written, and later runs know it.

    Records that cannot be read are reported with their line and dropped; the exit code is then 3.

    \b
    Examples:
      crawler | neardup filter --in seen.neardup | consumer
      tail -f log.txt | neardup filter --lines --distinguish numbers
      neardup filter documents.jsonl --seen dropped.jsonl > fresh.jsonl
      httpx -l hosts.txt -json -irr | neardup filter --as http
    """
    from neardup.cli.captures import check_as, check_reading
    from neardup.collection import CollectionError
    from neardup.jobs.filter import Filter
    from neardup.jobs.options import UnreadableError
    from neardup.text.views import Viewing

    collection, seen = own.collection, own.seen
    quiet, strict = output.quiet, output.strict
    is_captured = captures.as_what is not None
    reading = reading_options.reading()
    if captures.as_what is not None:
        check_as(captures.as_what)
        check_reading(reading)
        # The recipe of the collection says what is compared.
        reading = replace(reading, viewing=Viewing((), ()))
    elif captures.no_mask:
        raise click.BadParameter("is for results of httpx; add --as http", param_hint="--no-mask")
    recipe = _choose_recipe(collection, recipe_options, captures.no_mask, is_captured=is_captured)
    if collection is not None:
        check_collection_name(collection, "--in")
    if seen is not None and seen.suffix.lower() not in (".jsonl", ".ndjson"):
        raise click.BadParameter(
            f"{str(seen)!r}: lines of JSON are appended to it; use a name that ends in .jsonl",
            param_hint="--seen",
        )
    with ExitStack() as stack:
        read = _reader(stack, name, reading)
        on_dropped = None
        if seen is not None:
            log = stack.enter_context(seen.open("a", encoding="utf-8", errors="backslashreplace"))

            def on_dropped(found: Dropped) -> None:
                log.write(f"{json.dumps(found._asdict(), ensure_ascii=False)}\n")
                log.flush()

        def on_problem(problem: Unreadable) -> None:
            if not (quiet or strict):
                console.error(str(problem))

        try:
            filtering: Filter = stack.enter_context(
                Filter(
                    _write_all,
                    collection=collection,
                    recipe=recipe,
                    **vars(near),
                    reading=reading,
                    name=name,
                    on_problem=on_problem,
                    on_dropped=on_dropped,
                    on_note=console.Notes(quiet=quiet),
                    strict=strict,
                    hold=streams.held,
                )
            )
        except CollectionError:
            raise
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
        counts = filtering.counts
        try:
            filtering.run(read)
        except UnreadableError as error:
            console.error(str(error))
            return UNREADABLE
        except KeyboardInterrupt:
            stored = "" if collection is None else " and stored"
            cut = f"; {CUT}" if counts.is_cut else ""
            raise KeyboardInterrupt(
                f"{counts.written:,} records were written{stored}{cut}"
            ) from None
        except OSError as error:
            if counts.is_cut and error.strerror:
                # With its number it stays the same kind of error.
                raise OSError(error.errno, f"{error.strerror}; {CUT}", error.filename) from error
            raise
    if not quiet:
        repeated = (
            f", written again {counts.repeated:,} that a killed run had stored"
            if counts.repeated
            else ""
        )
        console.error(
            f"read {counts.read:,}, passed on {counts.written:,}, seen before "
            f"{counts.dropped:,}, unreadable {counts.unreadable:,}{repeated}"
        )
        console.note_differing(
            counts.differing,
            f"{counts.dropped:,} seen before",
            "passes them on",
            near.distinguish,
        )
    return UNREADABLE if counts.unreadable else DONE


def _choose_recipe(
    collection: Path | None,
    options: RecipeOptions,
    no_mask: Sequence[str],
    *,
    is_captured: bool,
) -> Recipe | None:
    """Return the recipe; None for that of a collection that exists."""
    is_default = options.recipe is None and options.bits is None and not no_mask
    if is_default and collection is not None and (collection / DATABASE).exists():
        return None
    return capture_recipe(options, no_mask) if is_captured else options.load()


def _reader(stack: ExitStack, name: str, reading: Reading) -> Read:
    """Return a function that reads available bytes and blocks only if there are none."""
    if name == "-":
        stdin: Any = sys.stdin.buffer
        read: Read = stdin.read1
        return read
    from neardup.files.reading.formats import format_by_name, is_document_format, is_url, packing
    from neardup.files.reading.streams import open_stored

    if is_url(name) or packing(name):
        from neardup.jobs.filter import EncodedError

        file = stack.enter_context(open_stored(name, reading))

        def read_as_it_is(size: int) -> bytes:
            # Plain files are not decoded either: records are written byte for byte.
            if file.encoding is not None:
                raise EncodedError(file.encoding)
            return file.read(size)

        return read_as_it_is
    if os.path.isdir(name):
        raise click.BadParameter(f"{name}: is a folder; name a file in it", param_hint="INPUT")
    source = format_by_name(name)
    if source is not None and is_document_format(source.name):
        raise click.BadParameter(
            f"{name}: is one document ({source.called}), and filter reads records line by line; "
            "use neardup index add --unless-duplicate, or neardup dedup",
            param_hint="INPUT",
        )
    if source is not None and source.name in ("warc", "har"):
        raise click.BadParameter(
            f"{name}: is {source.called}, and filter reads lines; use neardup dedup --as http, or "
            "neardup cluster",
            param_hint="INPUT",
        )
    return stack.enter_context(open(name, "rb")).read1


def _write_all(data: bytes) -> None:
    """Write all of it unbuffered: bytes in a buffer would be written after a stop was reported."""
    try:
        handle = sys.stdout.fileno()
    except (OSError, ValueError):
        # Not a descriptor, or a closed stream, which raises.
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    left = memoryview(data)
    # Signals are handled only while waiting for a slow reader, so that it is always known what was
    # written. A record once begun is finished, or half a line would be left; a second Ctrl-C stops
    # waiting for a reader that hangs.
    waiting = streams.released
    try:
        while left:
            with waiting():
                select.select([], [handle], [])
            # A pipe that select finds writable has room for PIPE_BUF bytes.
            left = left[os.write(handle, left[: select.PIPE_BUF]) :]
            waiting = streams.finishing
    except BaseException as error:
        from neardup.jobs.filter import CutError

        if len(left) < len(data):
            raise CutError(error) from error
        raise
