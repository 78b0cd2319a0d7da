"""neardup index: a durable collection of documents."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import DONE, FAILED, UNREADABLE, console
from neardup.cli.captures import choose_at, new_recipe, note_texts
from neardup.cli.command import KEPT, NEAR, Group, argument, command, only, option
from neardup.cli.inputs import (
    COLLECTION,
    DATABASE,
    check_limits,
    check_order,
    check_output,
    document_progress,
    expand_inputs,
    open_collection,
    open_table,
    read_documents,
)
from neardup.cli.options import (
    INPUTS,
    CaptureOptions,
    NearOptions,
    OutputOptions,
    PrintOptions,
    PrintQuietOptions,
    ReadingOptions,
    RecipeOptions,
    check_stdout,
    out_option,
)

if TYPE_CHECKING:
    from neardup.collection import Collection, Outcome

DUPLICATE_COLUMNS = {
    "id": str,
    "dup_of": str,
    "distance": int,
    "similarity": float,
    "source": str,
    "differs": str,
    "lost": int,
}
MATCH_COLUMNS = {
    "query": str,
    "id": str,
    "distance": int,
    "similarity": float,
    "differs": str,
    "lost": int,
}


@dataclass(frozen=True)
class CreateOptions:
    SECTION = KEPT

    no_text: bool = option(
        "--no-text",
        default=False,
        help="Store no texts; documents are then found by --radius only.",
    )
    search: bool = option(
        "--search",
        default=False,
        help="Store an index for 'neardup search' by cosine; without it each search builds one.",
    )
    runs: bool = option(
        "--runs",
        default=False,
        help="Store an index for 'neardup check --against'; without it each check builds one.",
    )


@command(
    COLLECTION,
    own=CreateOptions,
    recipe_options=RecipeOptions,
    captures=only(
        CaptureOptions, "no_mask", as_what="A collection of HTTP responses: --recipe http."
    ),
    output=PrintQuietOptions,
)
def create(
    path: Path,
    own: CreateOptions,
    recipe_options: RecipeOptions,
    captures: CaptureOptions,
    output: PrintQuietOptions,
) -> int:
    """Create an empty collection.

    The recipe, and whether texts are stored, cannot be changed later.

    \b
    Examples:
      neardup index create seen.neardup
      neardup index create seen.neardup --bits 64 --no-text
      neardup index create pages.neardup --as http
    """
    recipe = new_recipe(recipe_options, captures)
    if (path / DATABASE).exists():
        raise click.BadParameter(f"{path}: already exists", param_hint="COLLECTION")
    for name, is_given in (("--search", own.search), ("--runs", own.runs)):
        if is_given and own.no_text:
            raise click.BadParameter("needs the texts; leave --no-text out", param_hint=name)
    with open_collection(
        path, recipe=recipe, store_text=not own.no_text, search=own.search, runs=own.runs
    ) as collection:
        stats = collection.stats().as_dict()
    if output.as_json:
        print(json.dumps(stats, ensure_ascii=False))
    elif not output.quiet:
        texts = "without texts" if own.no_text else "with texts"
        ready = [name for name, flag in (("search", own.search), ("check", own.runs)) if flag]
        texts += f", ready for {' and '.join(ready)}" if ready else ""
        console.error(f"created {path}, {texts}, {recipe.bits} bits: {recipe.identity}")
    return DONE


@dataclass(frozen=True)
class AddOptions:
    SECTION = KEPT

    unless_duplicate: bool = option(
        "--unless-duplicate",
        default=False,
        daily=True,
        help="Do not store a document that is near a stored or an earlier one.",
    )
    duplicates: Path | None = option(
        "--duplicates",
        metavar="FILE",
        daily=True,
        help="Write the documents that were not stored and the document each is near: .jsonl, "
        ".csv, .parquet; - for standard output.",
    )
    no_metadata: bool = option(
        "--no-metadata", default=False, help="Store the id and the text, and no other column."
    )


@command(
    COLLECTION,
    INPUTS,
    own=AddOptions,
    near=NearOptions,
    reading_options=ReadingOptions,
    captures=only(CaptureOptions, "as_what"),
    output=only(OutputOptions, "no_guard", "as_json", "quiet"),
)
def add(
    path: Path,
    inputs: tuple[str, ...],
    own: AddOptions,
    near: NearOptions,
    reading_options: ReadingOptions,
    captures: CaptureOptions,
    output: OutputOptions,
) -> int:
    """Add the documents of files.

    All columns but the id and the text are stored as metadata. A file written by 'neardup index
    export' is added back as it was: its column metadata is unpacked, its fingerprints are ignored.

    For captures of HTTP responses (--as http), the views are stored as texts, and url, status,
    title and server as metadata.

    A document with a stored id replaces the stored one. Documents are committed a few thousand at
    a time, and stay if the command is stopped.

    A document without an id is named by its position: 'file:line', 'file' for a whole text file, or
    'stdin'. The next document read from there replaces it, so give documents ids (--id-column),
    above all those from standard input.

    \b
    Examples:
      neardup index add seen.neardup documents.jsonl
      neardup index add seen.neardup new.parquet --unless-duplicate
      neardup index add pages.neardup crawl.warc.gz --id-column url
    """
    quiet = output.quiet
    if not own.unless_duplicate:
        for name, value in {**vars(near), "duplicates": own.duplicates}.items():
            if value not in (None, ()):
                raise click.BadParameter("needs --unless-duplicate", param_hint=f"--{name}")
    check_stdout(output.as_json, duplicates=own.duplicates)
    reading = reading_options.reading(others=not own.no_metadata)
    check_order(path, inputs, "add")
    notes = console.Notes(quiet=quiet)
    reading = choose_at(path, inputs, reading, captures, quiet=quiet)
    files = expand_inputs(inputs, reading, notes)
    started = time.perf_counter()
    problems = console.problems_of(reading)
    counts = {"added": 0, "updated": 0, "duplicate": 0}
    differing: Counter[str] = Counter()
    replaced: list[str] = []
    with ExitStack() as stack:
        collection = stack.enter_context(open_collection(path))
        note_texts(collection.recipe, reading, quiet=quiet)
        if own.unless_duplicate:
            check_limits(collection, near)
        guard = not output.no_guard
        write = open_table(
            stack, own.duplicates, DUPLICATE_COLUMNS, files, "--duplicates", guard=guard
        )
        progress = stack.enter_context(document_progress("adding", shown=not quiet))
        try:
            for batch in read_documents(files, reading, problems, notes):
                columns = (batch.ids, batch.texts, batch.metadata)
                rows = list(zip(*(x for x in columns if x is not None), strict=True))
                outcomes = collection.add(rows, unless_duplicate=own.unless_duplicate, **vars(near))
                for outcome in outcomes:
                    counts[outcome.status] += 1
                    if outcome.status == "updated" and _is_position(outcome.id, batch.source):
                        replaced.append(outcome.id)
                    differing.update(filter(None, (outcome.differs or "").split(",")))
                    if write is not None and outcome.status == "duplicate":
                        write(_duplicate_row(outcome, batch.source))
                progress.advance(len(outcomes))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{_stored(counts)} documents were added and stay") from None
        except OSError as error:
            raise _with_stored(error, counts) from error
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
    if output.as_json:
        print(json.dumps(summary))
    if not quiet:
        console.error(
            f"added {summary['added']:,}, updated {summary['updated']:,}, "
            f"duplicates {summary['duplicates']:,}, unreadable {problems.count:,}, "
            f"documents now {total:,}"
        )
        console.note_differing(
            differing,
            f"{summary['duplicates']:,} duplicates",
            "stores them",
            near.distinguish,
        )
        if replaced:
            console.error(
                f"note: {len(replaced):,} of the updated have no id but a position "
                f"({replaced[0]!r}), and replaced the documents read from there before; to keep "
                "both, give documents ids (--id-column)"
            )
    return UNREADABLE if problems.count else DONE


def _stored(counts: dict[str, int]) -> str:
    return f"{counts['added'] + counts['updated']:,}"


def _with_stored(error: OSError, counts: dict[str, int]) -> OSError:
    """Return the error with the number of documents that earlier batches have stored."""
    from neardup.collection.errors import NOTHING_STORED

    why = error.strerror or ""
    if NOTHING_STORED not in why:
        return error
    stored = f"{_stored(counts)} documents of this run are stored and stay, the others are not"
    return OSError(error.errno, why.replace(NOTHING_STORED, stored), error.filename)


def _is_position(id_: str, source: str) -> bool:
    """Return whether an id was made of a file name and a line."""
    rest = id_.removeprefix(source)
    return rest != id_ and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))


def _duplicate_row(outcome: Outcome, source: str) -> dict[str, Any]:
    row = {**outcome._asdict(), "source": source}
    return {name: row[name] for name in DUPLICATE_COLUMNS}


@dataclass(frozen=True)
class LookupOptions:
    out: Path | None = out_option()
    n: int | None = option(
        "-n",
        metavar="N",
        min=1,
        section=NEAR,
        daily=True,
        help="Largest number of matches for a document.",
    )


@command(
    COLLECTION,
    INPUTS,
    own=LookupOptions,
    near=NearOptions,
    reading_options=ReadingOptions,
    captures=only(CaptureOptions, "as_what"),
    output=only(
        OutputOptions,
        *("no_guard", "quiet"),
        as_json="Print JSON lines; with -o, the summary as JSON.",
    ),
)
def check(
    path: Path,
    inputs: tuple[str, ...],
    own: LookupOptions,
    near: NearOptions,
    reading_options: ReadingOptions,
    captures: CaptureOptions,
    output: OutputOptions,
) -> int:
    """Find the stored documents near those of files.

    Writes a row for each match, the best first: query (the id of the document looked up), id,
    distance, similarity, differs (what the similarity does not see: numbers, negation, symbols,
    order), lost (number of words that only the document looked up has). Nothing is added. Without
    -o the rows are printed.

    \b
    Examples:
      neardup index check seen.neardup new.jsonl -o matches.csv
      echo "a text" | neardup index check seen.neardup - -n 1
    """
    quiet = output.quiet
    check_stdout(output.as_json, out=own.out)
    reading = reading_options.reading()
    check_order(path, inputs, "check")
    notes = console.Notes(quiet=quiet)
    reading = choose_at(path, inputs, reading, captures, quiet=quiet)
    files = expand_inputs(inputs, reading, notes)
    problems = console.problems_of(reading)
    counts = {"documents": 0, "near": 0, "matches": 0}
    differing: Counter[str] = Counter()
    with ExitStack() as stack:
        collection = stack.enter_context(open_collection(path, read_only=True))
        note_texts(collection.recipe, reading, quiet=quiet)
        check_limits(collection, near)
        guard = not output.no_guard
        write = open_table(stack, own.out, MATCH_COLUMNS, files, "--out", guard=guard)
        write = write or _match_printer(as_json=output.as_json)
        # Rows printed on a terminal are progress enough.
        shown = not quiet and (own.out is not None or not sys.stdout.isatty())
        progress = stack.enter_context(document_progress("checking", shown=shown))
        for batch in read_documents(files, reading, problems, notes):
            matches = collection.check(batch.texts, n=own.n, **vars(near))
            for row in matches.to_pylist():
                write({**row, "query": batch.ids[row["query"]]})
                differing.update(filter(None, (row["differs"] or "").split(",")))
            counts["documents"] += len(batch.ids)
            counts["near"] += len(set(matches.column("query").to_pylist()))
            counts["matches"] += matches.num_rows
            progress.advance(len(batch.ids))
        sys.stdout.flush()
        problems.check_any(counts["documents"])
    problems.close()
    notes.close()
    if own.out is not None and output.as_json:
        print(json.dumps({**counts, "unreadable": problems.count}))
    elif not quiet:
        console.error(
            f"documents {counts['documents']:,}, near one in the collection {counts['near']:,}, "
            f"matches {counts['matches']:,}, unreadable {problems.count:,}"
        )
        console.note_differing(
            differing,
            f"{counts['matches']:,} matches",
            "leaves them out",
            near.distinguish,
        )
    return UNREADABLE if problems.count else DONE


def _match_printer(*, as_json: bool) -> Callable[[dict[str, Any]], object]:
    def write(row: dict[str, Any]) -> None:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            return
        query, id_ = console.printable(row["query"]), console.printable(row["id"])
        distance = "-" if row["distance"] is None else row["distance"]
        similarity = "-" if row["similarity"] is None else f"{row['similarity']:.4f}"
        lost = "-" if row["lost"] is None else row["lost"]
        print(f"{query}\t{id_}\t{distance}\t{similarity}\t{row['differs'] or '-'}\t{lost}")

    return write


@dataclass(frozen=True)
class RemoveOptions:
    from_file: Path | None = option("--from", metavar="FILE", help="File with an id in every line.")


@command(
    COLLECTION,
    argument("ids", "[ID]...", "Ids to remove.", many=True, type=click.STRING),
    own=RemoveOptions,
    output=PrintQuietOptions,
)
def remove(path: Path, ids: tuple[str, ...], own: RemoveOptions, output: PrintQuietOptions) -> int:
    """Remove documents by their ids, in one transaction."""
    names = list(ids)
    if own.from_file is not None:
        try:
            # Split at \n only: an id may contain other characters that Python calls line ends.
            lines = own.from_file.read_bytes().decode().split("\n")
            names += filter(None, (line.rstrip("\r") for line in lines))
        except UnicodeDecodeError as error:
            raise ValueError(f"{own.from_file}: not UTF-8: {error}") from error
    if not names:
        raise click.BadParameter(
            "name at least one, or a file of them with --from", param_hint="ID"
        )
    with open_collection(path) as collection:
        count = collection.remove(names)
        left = len(collection)
    missing = len(set(names)) - count
    if output.as_json:
        print(json.dumps({"removed": count, "not_found": missing, "documents": left}))
    elif not output.quiet:
        console.error(f"removed {count:,}, not found {missing:,}, documents now {left:,}")
    return DONE


@command(COLLECTION, output=PrintOptions)
def stats(path: Path, output: PrintOptions) -> int:
    """Show counts and settings of a collection."""
    with open_collection(path, read_only=True) as collection:
        values = collection.stats().as_dict()
    if output.as_json:
        print(json.dumps(values, ensure_ascii=False))
        return DONE
    width = max(map(len, values))
    for name, value in values.items():
        shown = f"{value:,}" if type(value) is int else console.printable(str(value))
        print(f"{name.replace('_', ' '):{width}}  {shown}")
    return DONE


@command(COLLECTION, output=PrintQuietOptions)
def verify(path: Path, output: PrintQuietOptions) -> int:
    """Check rows, checksums and segments of a collection.

    The exit code is 1 if something is wrong. 'neardup index compact' repairs segments; a damaged
    database needs a backup.
    """
    with open_collection(path, read_only=True) as collection:
        problems = collection.verify()
    if output.as_json:
        print(json.dumps({"problems": problems}, ensure_ascii=False))
    else:
        for problem in problems:
            console.error(problem)
        if not problems and not output.quiet:
            console.error("no problems found")
    return FAILED if problems else DONE


@command(COLLECTION, output=PrintQuietOptions)
def compact(path: Path, output: PrintQuietOptions) -> int:
    """Rewrite all fingerprints to one file and free unused space."""
    with open_collection(path) as collection:
        before = _size(collection)
        collection.compact()
        after = _size(collection)
    if output.as_json:
        print(json.dumps({"before": before, "after": after}))
    elif not output.quiet:
        console.error(f"{before / 1e6:,.1f} MB before, {after / 1e6:,.1f} MB now")
    return DONE


def _size(collection: Collection) -> int:
    values = collection.stats()
    return values.database_bytes + values.segment_bytes + values.postings_bytes


@dataclass(frozen=True)
class ExportOptions:
    out: Path = out_option(required=True)


@command(COLLECTION, own=ExportOptions, output=PrintQuietOptions)
def export(path: Path, own: ExportOptions, output: PrintQuietOptions) -> int:
    """Write all documents to a file: id, text, metadata, fingerprint.

    'neardup index add' adds them back as they were.
    """
    from neardup.files import writing

    check_stdout(output.as_json, out=own.out)
    check_output(own.out, (), "--out")
    with open_collection(path, read_only=True) as collection:
        count = collection.export(own.out)
    if output.as_json:
        print(json.dumps({"documents": count, "file": str(own.out)}, ensure_ascii=False))
    elif not output.quiet:
        console.error(f"wrote {count:,} documents to {writing.stdout_label(own.out) or own.out}")
    return DONE


commands = Group("index", help="Store documents in a collection, and look texts up in it.")
commands.add(create, add, check, remove, stats, verify, compact, export)
