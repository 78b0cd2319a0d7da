"""neardup index add: the documents of files into a collection."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import collections, console, options

if TYPE_CHECKING:
    from neardup.collection import Outcome

DONE, UNREADABLE = 0, 3
DUPLICATES = {"id": str, "dup_of": str, "distance": int, "similarity": float, "source": str}


def command(
    path: collections.CollectionArgument,
    inputs: options.InputsArgument,
    unless_duplicate: Annotated[
        bool,
        typer.Option(
            "--unless-duplicate",
            help="Leave out what is near a document that is there, or that comes before it.",
        ),
    ] = False,
    duplicates: Annotated[
        Path | None,
        typer.Option(
            "--duplicates",
            metavar="FILE",
            help="Write what was left out, and for which document: .jsonl, .csv, .parquet; - for "
            "standard output.",
        ),
    ] = None,
    no_guard: options.NoGuardOption = False,
    no_metadata: Annotated[
        bool,
        typer.Option("--no-metadata", help="Keep the id and the text only, and no other column."),
    ] = False,
    similarity: options.SimilarityOption = None,
    radius: options.RadiusOption = None,
    recall: options.RecallOption = None,
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
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Add the documents of files.

    All columns but the id and the text are kept as metadata. What 'neardup index export' has
    written can be added back as it was: its column metadata is taken apart, and its fingerprints
    are left out.

    Of captures of HTTP responses (--as http) the views are kept as texts, and url, status, title
    and server as metadata.

    An id that is there already gets the new text and metadata. What was added stays, also if the
    command is stopped: some thousand documents at a time are on the disk before the next ones are
    read.

    A document without an id of its own is called by its place: 'file:line', or 'file' for a whole
    text file, or 'stdin'. Another document read from the same place takes its place, so give
    documents ids (--id-column), above all those from standard input.

    \b
    Examples:
      neardup index add seen.neardup documents.jsonl
      neardup index add seen.neardup new.parquet --unless-duplicate
      neardup index add pages.neardup crawl.warc.gz --id-column url
    """
    from neardup.cli.captures import choose_at, note_texts
    from neardup.cli.inputs import InputNotes, documents, files_of, reading_of

    limits: dict[str, Any] = {"similarity": similarity, "radius": radius, "recall": recall}
    if not unless_duplicate:
        for name, value in {**limits, "duplicates": duplicates}.items():
            if value is not None:
                raise typer.BadParameter("needs --unless-duplicate", param_hint=f"--{name}")
    options.check_printed(as_json, duplicates=duplicates)
    reading = reading_of(
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
        others=not no_metadata,
    )
    collections.check_order(path, inputs, "add")
    notes = InputNotes(quiet=quiet)
    tell = None if quiet else console.error
    reading = choose_at(path, inputs, reading, as_what=as_what, tell=tell)
    files = files_of(inputs, reading, notes)
    started = time.perf_counter()
    problems = console.problems_of(reading)
    counts = {"added": 0, "updated": 0, "duplicate": 0}
    replaced: list[str] = []
    with ExitStack() as stack:
        collection = stack.enter_context(collections.opened(path))
        note_texts(collection.recipe, reading, tell)
        if unless_duplicate:
            collections.check_limits(collection, **limits)
        write = collections.table(
            stack, duplicates, DUPLICATES, files, "--duplicates", guard=not no_guard
        )
        progress = stack.enter_context(collections.progress("adding", quiet))
        try:
            for some in documents(files, reading, problems, notes):
                columns = (some.ids, some.texts, some.metadata)
                given = list(zip(*(x for x in columns if x is not None), strict=True))
                found = collection.add(given, unless_duplicate=unless_duplicate, **limits)
                for outcome in found:
                    counts[outcome.status] += 1
                    if outcome.status == "updated" and _is_place(outcome.id, some.source):
                        replaced.append(outcome.id)
                    if write is not None and outcome.status == "duplicate":
                        write(_refused(outcome, some.source))
                progress.advance(len(found))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{_stored(counts)} documents were added and stay") from None
        except OSError as error:
            raise _told(error, counts) from error
        problems.check_any(sum(counts.values()))
        total = len(collection)
    problems.close()
    notes.close()
    summary = {
        **{"duplicates" if name == "duplicate" else name: counts[name] for name in counts},
        "documents": total,
        "unreadable": problems.count,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        print(json.dumps(summary))
    if not quiet:
        console.error(
            f"added {summary['added']:,}, updated {summary['updated']:,}, "
            f"duplicates {summary['duplicates']:,}, unreadable {problems.count:,}, "
            f"documents now {total:,}"
        )
        if replaced:
            console.error(
                f"note: {len(replaced):,} of the updated have no id of their own, only a place "
                f"({replaced[0]!r}), and what was read there before is gone; to keep both, give "
                "documents ids (--id-column)"
            )
    return UNREADABLE if problems.count else DONE


def _stored(counts: dict[str, int]) -> str:
    return f"{counts['added'] + counts['updated']:,}"


def _told(error: OSError, counts: dict[str, int]) -> OSError:
    """A call that failed has stored nothing; those before it have."""
    from neardup.collection.errors import NOTHING_STORED

    why = error.strerror or ""
    if NOTHING_STORED not in why:
        return error
    stored = f"{_stored(counts)} documents of this run are stored and stay, the others are not"
    return OSError(error.errno, why.replace(NOTHING_STORED, stored), error.filename)


def _is_place(id_: str, source: str) -> bool:
    """Whether an id is one of those made up for documents that have none."""
    rest = id_.removeprefix(source)
    return rest != id_ and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))


def _refused(outcome: Outcome, source: str) -> dict[str, Any]:
    values = (outcome.id, *outcome[2:], source)
    return dict(zip(DUPLICATES, values, strict=True))
