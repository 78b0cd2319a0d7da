"""neardup index check: which documents of a collection are near those of files?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from neardup.cli import collections, console, options

DONE, UNREADABLE = 0, 3
MATCHES = {"query": str, "id": str, "distance": int, "similarity": float}


def command(
    path: collections.CollectionArgument,
    inputs: options.InputsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Write to this file: .jsonl, .csv, .tsv or .parquet; - for standard output in "
            "JSON lines, -.csv for CSV.",
        ),
    ] = None,
    no_guard: options.NoGuardOption = False,
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
    as_what: options.AsOption = None,
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
    from neardup.cli.captures import choose_at, note_texts
    from neardup.cli.inputs import InputNotes, documents, files_of, reading_of

    options.check_printed(as_json, out=out)
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
    collections.check_order(path, inputs, "check")
    notes = InputNotes(quiet=quiet)
    tell = None if quiet else console.error
    reading = choose_at(path, inputs, reading, as_what=as_what, tell=tell)
    files = files_of(inputs, reading, notes)
    problems = console.problems_of(reading)
    counts = {"documents": 0, "near": 0, "matches": 0}
    limits: dict[str, Any] = {"similarity": similarity, "radius": radius, "recall": recall}
    with ExitStack() as stack:
        collection = stack.enter_context(collections.opened(path, read_only=True))
        note_texts(collection.recipe, reading, tell)
        collections.check_limits(collection, **limits)
        write = collections.table(stack, out, MATCHES, files, "--out", guard=not no_guard)
        write = write or _printer(as_json=as_json)
        # Rows on a terminal show themselves how far the work is.
        shown = out is not None or not sys.stdout.isatty()
        progress = stack.enter_context(collections.progress("checking", quiet or not shown))
        for some in documents(files, reading, problems, notes):
            found = collection.check(some.texts, n=n, **limits)
            for row in found.to_pylist():
                write({**row, "query": some.ids[row["query"]]})
            counts["documents"] += len(some.ids)
            counts["near"] += len(set(found.column("query").to_pylist()))
            counts["matches"] += found.num_rows
            progress.advance(len(some.ids))
        sys.stdout.flush()
        problems.check_any(counts["documents"])
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
