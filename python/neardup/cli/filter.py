"""neardup filter: the records of a stream that were not seen before."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import console, options, streams
from neardup.cli.captures import recipe_of
from neardup.cli.collections import DATABASE, SUFFIX

if TYPE_CHECKING:
    from neardup.files.reading.batch import Reading, Unreadable
    from neardup.jobs.filter import Dropped, Filter, Read

DONE, UNREADABLE = 0, 3
CUT = "the last record is cut: the output ends inside it"


def command(
    name: Annotated[
        str, typer.Argument(metavar="[INPUT]", help="JSON lines; - for standard input.")
    ] = "-",
    collection: Annotated[
        Path | None,
        typer.Option(
            "--in",
            metavar="COLLECTION",
            help="Compare with this collection, and remember in it; made if there is none. "
            "[default: remember until the end of the run]",
        ),
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Each line is a text, not JSON.")] = False,
    similarity: options.SimilarityOption = None,
    radius: options.RadiusOption = None,
    recall: options.RecallOption = None,
    text_column: options.TextColumnOption = None,
    id_column: options.IdColumnOption = None,
    as_what: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="http",
            help="Each line is a result of httpx (-json -irr): pass one of each kind of response.",
        ),
    ] = None,
    no_mask: options.NoMaskOption = None,
    recipe: options.RecipeOption = None,
    bits: options.BitsOption = None,
    max_bytes: options.MaxBytesOption = None,
    max_document: options.MaxDocumentOption = None,
    seen: Annotated[
        Path | None,
        typer.Option(
            "--seen",
            metavar="FILE.jsonl",
            help="Add a line to this file for each record dropped, and for which document.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first record that cannot be read.")
    ] = False,
    quiet: options.QuietOption = False,
) -> int:
    """Pass on the records of a stream that were not seen before.

    Reads records line by line, and writes those that are near to none before them to standard
    output, byte for byte, each at once: no record waits for the next one. With --in, what is
    passed on is stored in a collection first, and later runs know it.

    With --as http each line is a result of httpx: of each kind of response the first passes.

    What cannot be read is told with its line and not passed on; the exit code is then 3.

    \b
    Examples:
      crawler | neardup filter --in seen.neardup | consumer
      tail -f log.txt | neardup filter --lines --similarity 0.7
      neardup filter documents.jsonl --seen dropped.jsonl > fresh.jsonl
      httpx -l hosts.txt -json -irr | neardup filter --as http
    """
    from neardup.cli.captures import check_as, check_reading
    from neardup.cli.inputs import InputNotes, reading_of
    from neardup.collection import CollectionError
    from neardup.jobs.filter import Filter
    from neardup.jobs.options import UnreadableError
    from neardup.text.views import Viewing

    reading = reading_of(
        text_column, id_column, lines, None, max_bytes=max_bytes, max_document=max_document
    )
    if as_what is not None:
        check_as(as_what)
        check_reading(reading)
        # The recipe of the collection tells the views.
        reading = replace(reading, viewing=Viewing((), ()))
    elif no_mask:
        raise typer.BadParameter("is for results of httpx; add --as http", param_hint="--no-mask")
    chosen = _recipe(collection, recipe, bits, no_mask, is_captured=as_what is not None)
    _check_names(collection, seen)
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
                    _put,
                    collection=collection,
                    recipe=chosen,
                    similarity=similarity,
                    radius=radius,
                    recall=recall,
                    reading=reading,
                    name=name,
                    on_problem=on_problem,
                    on_dropped=on_dropped,
                    on_note=InputNotes(quiet=quiet),
                    strict=strict,
                    hold=streams.held,
                )
            )
        except CollectionError:
            raise
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        counts = filtering.counts
        try:
            filtering.run(read)
        except UnreadableError as error:
            console.error(str(error))
            return UNREADABLE
        except KeyboardInterrupt:
            stays = "" if collection is None else ", and are remembered"
            cut = f"; {CUT}" if counts.is_cut else ""
            raise KeyboardInterrupt(
                f"{counts.written:,} records were written{stays}{cut}"
            ) from None
        except OSError as error:
            if counts.is_cut and error.strerror:
                # The number makes it the same kind of error again.
                raise OSError(error.errno, f"{error.strerror}; {CUT}", error.filename) from error
            raise
    if not quiet:
        repeated = (
            f", {counts.repeated:,} more that a killed run had stored and perhaps not written"
            if counts.repeated
            else ""
        )
        console.error(
            f"read {counts.read:,}, passed on {counts.written:,}, seen before "
            f"{counts.dropped:,}, unreadable {counts.unreadable:,}{repeated}"
        )
    return UNREADABLE if counts.unreadable else DONE


def _recipe(
    collection: Path | None,
    name: str | None,
    bits: int | None,
    no_mask: Sequence[str] | None,
    *,
    is_captured: bool,
) -> Any:
    """A collection knows its own recipe, unless one is asked for."""
    if collection is not None and name is None and bits is None and not no_mask:
        is_there = (collection / DATABASE).exists()
        if is_there or not is_captured:
            return None
    return recipe_of(name, bits, no_mask) if is_captured else options.recipe_of(name, bits)


def _check_names(collection: Path | None, seen: Path | None) -> None:
    if collection is not None and not collection.name.endswith(SUFFIX):
        raise typer.BadParameter(
            f"{str(collection)!r}: the name of a collection ends in .neardup", param_hint="--in"
        )
    if seen is not None and seen.suffix.lower() not in (".jsonl", ".ndjson"):
        raise typer.BadParameter(
            f"{str(seen)!r}: written line by line; use a name that ends in .jsonl",
            param_hint="--seen",
        )


def _reader(stack: ExitStack, name: str, reading: Reading) -> Read:
    """What gives the bytes that are there, and waits only if there are none."""
    if name == "-":
        stdin: Any = sys.stdin.buffer
        read: Read = stdin.read1
        return read
    from neardup.files.documents.whole_files import KINDS
    from neardup.files.reading.formats import format_by_name, is_url, packing
    from neardup.files.reading.streams import open_stored

    if is_url(name) or packing(name):
        from neardup.jobs.filter import EncodedError

        file = stack.enter_context(open_stored(name, reading))

        def read_as_it_is(size: int) -> bytes:
            # A plain file is not decoded either: records go out byte for byte.
            if file.encoding is not None:
                raise EncodedError(file.encoding)
            return file.read(size)

        return read_as_it_is
    if os.path.isdir(name):
        raise typer.BadParameter(f"{name}: a folder; name a file in it", param_hint="INPUT")
    source = format_by_name(name)
    if source is not None and source.name in KINDS:
        raise typer.BadParameter(
            f"{name}: a file of {source.called} is one document, and filter passes on the records "
            "of a stream; use neardup index add --unless-duplicate, or dedup",
            param_hint="INPUT",
        )
    if source is not None and source.name in ("warc", "har"):
        raise typer.BadParameter(
            f"{name}: is {source.called}, and filter passes on lines; use neardup dedup --as http, "
            "or neardup cluster",
            param_hint="INPUT",
        )
    return stack.enter_context(open(name, "rb")).read1


def _put(data: bytes) -> None:
    """All of it, past every buffer: what a stopped run leaves in one would come out later."""
    try:
        handle = sys.stdout.fileno()
    except (OSError, ValueError):
        # Not a file of the system, or none at all, which will say so.
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    left = memoryview(data)
    # Whoever reads may be slow: only while that is waited for signals are answered, so that it is
    # always known what was written. Once a record has begun it is finished, or there would be half
    # a line; a second Ctrl-C is for a reader that takes nothing any more.
    waiting = streams.released
    try:
        while left:
            with waiting():
                select.select([], [handle], [])
            # As much as a pipe has room for then does not wait.
            left = left[os.write(handle, left[: select.PIPE_BUF]) :]
            waiting = streams.finishing
    except BaseException as error:
        from neardup.jobs.filter import CutError

        if len(left) < len(data):
            raise CutError(error) from error
        raise
