"""neardup index: a durable collection on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import console, index_add, index_check, options
from neardup.cli.collections import DATABASE, CollectionArgument, opened

if TYPE_CHECKING:
    from neardup.collection import Collection

DONE, FAILED = 0, 1

app = typer.Typer(
    name="index",
    help="Keep documents in a durable collection, and ask it what it has seen.",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("add")(index_add.command)
app.command("check")(index_check.command)


@app.command("create")
def create(
    path: CollectionArgument,
    as_what: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="http", help="The collection is one of HTTP responses: --recipe http."
        ),
    ] = None,
    no_mask: options.NoMaskOption = None,
    recipe: options.RecipeOption = None,
    bits: options.BitsOption = None,
    no_text: Annotated[
        bool,
        typer.Option("--no-text", help="Keep no texts; documents are then found by radius only."),
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Keep what 'neardup search' by cosine needs in files; else it is made of the "
            "texts for each search.",
        ),
    ] = False,
    runs: Annotated[
        bool,
        typer.Option(
            "--runs",
            help="Keep what 'neardup check --against' needs in files; else it is made of the "
            "texts for each check.",
        ),
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
      neardup index create pages.neardup --as http
    """
    from neardup.cli.captures import recipe_for

    chosen = recipe_for(recipe, bits, as_what, no_mask)
    if (path / DATABASE).exists():
        raise typer.BadParameter(f"{path}: is there already", param_hint="COLLECTION")
    for name, wanted in (("--search", search), ("--runs", runs)):
        if wanted and no_text:
            raise typer.BadParameter(
                "texts are what it is made of; leave --no-text out", param_hint=name
            )
    with opened(
        path, recipe=chosen, store_text=not no_text, search=search, runs=runs
    ) as collection:
        found = collection.stats().as_dict()
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    elif not quiet:
        keeps = "without texts" if no_text else "with texts"
        ready = [name for name, wanted in (("search", search), ("check", runs)) if wanted]
        keeps += f", ready for {' and '.join(ready)}" if ready else ""
        console.error(f"made {path}, {keeps}, {chosen.bits} bits: {chosen.identity}")
    return DONE


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
    with opened(path) as collection:
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
    with opened(path, read_only=True) as collection:
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
    with opened(path, read_only=True) as collection:
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
    with opened(path) as collection:
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
            help="The file: .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet; - for standard "
            "output in JSON lines, -.csv for CSV.",
        ),
    ],
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Write all documents to a file: id, text, metadata, fingerprint.

    'neardup index add' takes them back as they were.
    """
    from neardup.files import writing

    options.check_printed(as_json, out=out)
    try:
        writing.check(out)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--out") from error
    with opened(path, read_only=True) as collection:
        count = collection.export(out)
    if as_json:
        print(json.dumps({"documents": count, "file": str(out)}, ensure_ascii=False))
    elif not quiet:
        console.error(f"wrote {count:,} documents to {writing.shown(out) or out}")
    return DONE


def _bytes(collection: Collection) -> int:
    found = collection.stats()
    return found.database_bytes + found.segment_bytes + found.postings_bytes
