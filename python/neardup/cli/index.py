"""neardup index: a durable collection on the command line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import console, options
from neardup.cli.progress import Progress

if TYPE_CHECKING:
    from neardup.collection import Collection, Outcome
    from neardup.sinks import Columns

DONE, FAILED, UNREADABLE = 0, 1, 3
# By it a folder is known as a collection; imports would take long.
DATABASE = "collection.sqlite"
SUFFIX = ".neardup"
DUPLICATES = {"id": str, "dup_of": str, "distance": int, "similarity": float, "source": str}
MATCHES = {"query": str, "id": str, "distance": int, "similarity": float}

app = typer.Typer(
    name="index",
    help="Keep documents in a durable collection, and ask it what it has seen.",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

CollectionArgument = Annotated[
    Path, typer.Argument(metavar="COLLECTION", help="A folder whose name ends in .neardup.")
]


@app.command("create")
def create(
    path: CollectionArgument,
    recipe: options.RecipeOption = None,
    bits: options.BitsOption = None,
    no_text: Annotated[
        bool,
        typer.Option("--no-text", help="Keep no texts; documents are then found by radius only."),
    ] = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Make an empty collection.

    The recipe and whether texts are kept are decided here, for good.

    \b
    Examples:
      neardup index create seen.neardup
      neardup index create seen.neardup --bits 64 --no-text
    """
    chosen = options.recipe_of(recipe, bits)
    if (path / DATABASE).exists():
        raise typer.BadParameter(f"{path}: is there already", param_hint="COLLECTION")
    with _opened(path, recipe=chosen, store_text=not no_text) as collection:
        found = collection.stats().as_dict()
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    elif not quiet:
        keeps = "without texts" if no_text else "with texts"
        console.error(f"made {path}, {keeps}, {chosen.bits} bits: {chosen.identity}")
    return DONE


@app.command("add")
def add(
    path: CollectionArgument,
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
            help="Write what was left out, and for which document: .jsonl, .csv, .parquet.",
        ),
    ] = None,
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
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Add the documents of files.

    All columns but the id and the text are kept as metadata. What 'neardup index export' has
    written can be added back as it was: its column metadata is taken apart, and its fingerprints
    are left out.

    An id that is there already gets the new text and metadata. What was added stays, also if the
    command is stopped: some thousand documents at a time are on the disk before the next ones are
    read.

    A document without an id of its own is called by its place: 'file:line', or 'file' for a whole
    text file, or 'stdin'. Another document read from the same place takes its place, so give
    documents ids (--id-column), above all those from standard input.

    \b
    Examples:
      neardup index add seen.neardup documents.jsonl
      neardup index add seen.neardup new.parquet --unless-duplicate --duplicates seen-before.csv
    """
    from neardup.cli.inputs import Notes, documents, files_of, reading_of

    limits: dict[str, Any] = {"similarity": similarity, "radius": radius, "recall": recall}
    if not unless_duplicate:
        for name, value in {**limits, "duplicates": duplicates}.items():
            if value is not None:
                raise typer.BadParameter("needs --unless-duplicate", param_hint=f"--{name}")
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
    _check_order(path, inputs, "add")
    notes = Notes(quiet=quiet)
    files = files_of(inputs, reading, notes)
    started = time.perf_counter()
    problems = console.Problems()
    counts = {"added": 0, "updated": 0, "duplicate": 0}
    replaced: list[str] = []
    with ExitStack() as stack:
        collection = stack.enter_context(_opened(path))
        if unless_duplicate:
            _check_limits(collection, **limits)
        write = _table(stack, duplicates, DUPLICATES, files, "--duplicates")
        progress = stack.enter_context(_progress("adding", quiet))
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
            stored = counts["added"] + counts["updated"]
            raise KeyboardInterrupt(f"{stored:,} documents were added and stay") from None
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


@app.command("check")
def check(
    path: CollectionArgument,
    inputs: options.InputsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Write to this file: .jsonl, .csv, .tsv or .parquet.",
        ),
    ] = None,
    similarity: options.SimilarityOption = None,
    radius: options.RadiusOption = None,
    recall: options.RecallOption = None,
    n: Annotated[
        int | None, typer.Option("-n", metavar="N", min=1, help="At most so many for a document.")
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
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Look the documents of files up: which in the collection are near each?

    A row for each match, the best first: query (the id of the document asked for), id, distance,
    similarity. Nothing is added. Without -o the rows are printed.

    \b
    Examples:
      neardup index check seen.neardup new.jsonl -o matches.csv
      echo "a text" | neardup index check seen.neardup - -n 1
    """
    from neardup.cli.inputs import Notes, documents, files_of, reading_of

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
    )
    _check_order(path, inputs, "check")
    notes = Notes(quiet=quiet)
    files = files_of(inputs, reading, notes)
    problems = console.Problems()
    counts = {"documents": 0, "near": 0, "matches": 0}
    limits: dict[str, Any] = {"similarity": similarity, "radius": radius, "recall": recall}
    with ExitStack() as stack:
        collection = stack.enter_context(_opened(path, read_only=True))
        _check_limits(collection, **limits)
        write = _table(stack, out, MATCHES, files, "--out") or _printer(as_json=as_json)
        # Rows on a terminal show themselves how far the work is.
        shown = out is not None or not sys.stdout.isatty()
        progress = stack.enter_context(_progress("checking", quiet or not shown))
        for some in documents(files, reading, problems, notes):
            found = collection.check(some.texts, n=n, **limits)
            for row in found.to_pylist():
                write({**row, "query": some.ids[row["query"]]})
            counts["documents"] += len(some.ids)
            counts["near"] += len(set(found.column("query").to_pylist()))
            counts["matches"] += found.num_rows
            progress.advance(len(some.ids))
        sys.stdout.flush()
    problems.close()
    notes.close()
    if out is not None and as_json:
        print(json.dumps({**counts, "unreadable": problems.count}))
    elif not quiet:
        console.error(
            f"documents {counts['documents']:,}, near one in the collection {counts['near']:,}, "
            f"matches {counts['matches']:,}, unreadable {problems.count:,}"
        )
    return UNREADABLE if problems.count else DONE


@app.command("remove")
def remove(
    path: CollectionArgument,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="The ids to remove.")
    ] = None,
    from_file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="A file with an id in every line."),
    ] = None,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Remove documents by their ids; all of them at once."""
    names = list(ids or ())
    if from_file is not None:
        try:
            # An id may hold any other character at which Python ends a line.
            found = (line.rstrip("\r") for line in from_file.read_bytes().decode().split("\n"))
            names += filter(None, found)
        except UnicodeDecodeError as error:
            raise ValueError(f"{from_file}: not UTF-8: {error}") from error
    if not names:
        raise typer.BadParameter(
            "name at least one, or a file of them with --from", param_hint="ID"
        )
    with _opened(path) as collection:
        count = collection.remove(names)
        left = len(collection)
    missing = len(set(names)) - count
    if as_json:
        print(json.dumps({"removed": count, "not_found": missing, "documents": left}))
    elif not quiet:
        console.error(f"removed {count:,}, not found {missing:,}, documents now {left:,}")
    return DONE


@app.command("stats")
def stats(path: CollectionArgument, as_json: options.JsonOption = False) -> int:
    """Show the numbers of a collection."""
    with _opened(path, read_only=True) as collection:
        found = collection.stats().as_dict()
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return DONE
    width = max(map(len, found))
    for name, value in found.items():
        shown = f"{value:,}" if type(value) is int else console.printable(str(value))
        print(f"{name.replace('_', ' '):{width}}  {shown}")
    return DONE


@app.command("verify")
def verify(
    path: CollectionArgument,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Read everything and compare it: rows, checksums, segments.

    The exit code is 1 if something is wrong. What is wrong with a segment, 'neardup index compact'
    mends; what is wrong with the database needs a backup.
    """
    with _opened(path, read_only=True) as collection:
        problems = collection.verify()
    if as_json:
        print(json.dumps({"problems": problems}, ensure_ascii=False))
    else:
        for problem in problems:
            console.error(problem)
        if not problems and not quiet:
            console.error("all is well")
    return FAILED if problems else DONE


@app.command("compact")
def compact(
    path: CollectionArgument,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Write all fingerprints anew in one file, and give free space back."""
    with _opened(path) as collection:
        before = _bytes(collection)
        collection.compact()
        after = _bytes(collection)
    if as_json:
        print(json.dumps({"before": before, "after": after}))
    elif not quiet:
        console.error(f"{before / 1e6:,.1f} MB before, {after / 1e6:,.1f} MB now")
    return DONE


@app.command("export")
def export(
    path: CollectionArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="The file: .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet.",
        ),
    ],
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Write all documents to a file: id, text, metadata, fingerprint.

    'neardup index add' takes them back as they were.
    """
    from neardup import sinks

    try:
        sinks.check(out)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--out") from error
    with _opened(path, read_only=True) as collection:
        count = collection.export(out)
    if as_json:
        print(json.dumps({"documents": count, "file": str(out)}, ensure_ascii=False))
    elif not quiet:
        console.error(f"wrote {count:,} documents to {out}")
    return DONE


@contextmanager
def _opened(path: Path, **how: Any) -> Iterator[Collection]:
    """The collection; only `create` makes one."""
    from neardup.collection import Collection

    if not path.name.endswith(SUFFIX):
        raise typer.BadParameter(
            f"{str(path)!r}: the name of a collection ends in .neardup", param_hint="COLLECTION"
        )
    if "recipe" not in how and not path.is_file() and not (path / DATABASE).exists():
        raise FileNotFoundError(
            f"{path}: no such collection; make it with: neardup index create {path}"
        )
    with Collection.open(path, **how) as collection:
        yield collection


def _check_order(path: Path, inputs: Sequence[str], command: str) -> None:
    """Who names the collection behind the files is told so, and not what is wrong with each."""
    for name in inputs:
        if Path(name).name.endswith(SUFFIX) and not path.name.endswith(SUFFIX):
            raise typer.BadParameter(
                f"{str(path)!r} is no collection, and {name!r} among the inputs is one; name the "
                f"collection first: neardup index {command} {name} {path}",
                param_hint="COLLECTION",
            )


def _is_place(id_: str, source: str) -> bool:
    """Whether an id is one of those made up for documents that have none."""
    rest = id_.removeprefix(source)
    return rest != id_ and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))


def _check_limits(collection: Collection, **limits: Any) -> None:
    """Wrong limits are told before anything is read."""
    try:
        collection.check([], **limits)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _table(
    stack: ExitStack, path: Path | None, columns: Columns, files: list[str], option: str
) -> Callable[[dict[str, Any]], object] | None:
    if path is None:
        return None
    from neardup import sinks

    try:
        sinks.check(path, files)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
    return stack.enter_context(sinks.open_rows(path, columns))


def _printer(*, as_json: bool) -> Callable[[dict[str, Any]], object]:
    def write(row: dict[str, Any]) -> None:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            return
        query, id_ = console.printable(row["query"]), console.printable(row["id"])
        distance = "-" if row["distance"] is None else row["distance"]
        similarity = "-" if row["similarity"] is None else f"{row['similarity']:.4f}"
        print(f"{query}\t{id_}\t{distance}\t{similarity}")

    return write


def _progress(doing: str, quiet: bool) -> Progress:
    progress = Progress(shown=not quiet and sys.stderr.isatty())
    progress.stage(doing, None, "documents")
    return progress


def _refused(outcome: Outcome, source: str) -> dict[str, Any]:
    values = (outcome.id, *outcome[2:], source)
    return dict(zip(DUPLICATES, values, strict=True))


def _bytes(collection: Collection) -> int:
    found = collection.stats()
    return found.database_bytes + found.segment_bytes
