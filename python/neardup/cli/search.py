"""neardup search: the documents that resemble a text most."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from neardup._util.strings import cell_width, cut_to_width, pad_to_width
from neardup.cli import DONE, UNREADABLE, console
from neardup.cli.captures import check_as, check_recipe, choose, choose_at
from neardup.cli.command import SEARCH, FileName, argument, command, only, option
from neardup.cli.inputs import (
    document_progress,
    expand_inputs,
    is_collection,
    open_collection,
    open_table,
    read_documents,
)
from neardup.cli.options import (
    CaptureOptions,
    EngineOptions,
    OutputOptions,
    ReadingOptions,
    RecipeOptions,
    check_stdin,
    check_stdout,
    file_or_text,
    out_option,
    read_text,
)

if TYPE_CHECKING:
    from neardup.collection import Collection
    from neardup.files.reading.batch import Reading
    from neardup.near.ranking import RankingRequest
    from neardup.text.recipe import Recipe

COLUMNS = {"rank": int, "id": str, "score": float, "distance": int, "excerpt": str}
# Characters; on a terminal, cells.
EXCERPT_LENGTH = 60
# Cells to which ids are padded.
MAX_ID_WIDTH = 40


class SearchRequest(NamedTuple):
    """The text to search for, and how documents are ranked."""

    text: str
    ranking: RankingRequest
    recipe: Recipe
    threads: int | None


class HitRow(NamedTuple):
    """A document that was found; `text` is None in a collection without texts."""

    id: str
    score: float
    distance: int | None
    text: str | None


@dataclass(frozen=True)
class SearchOptions:
    SECTION = SEARCH

    text: str | None = option(
        "--text", metavar="T", daily=True, help="The text itself, instead of a file."
    )
    inputs: tuple[str, ...] = option(
        "--in",
        default=(),
        metavar="INPUT|COLLECTION",
        type=FileName(),
        daily=True,
        help="Where to search: a collection, or files, folders or quoted patterns; may be "
        "repeated.",
    )
    n: int = option(
        "-n", default=6, metavar="N", min=1, daily=True, help="Number of documents. [default: 6]"
    )
    by: str = option(
        "--by",
        default="cosine",
        metavar="cosine|simhash",
        daily=True,
        help="cosine: exact, of TF-IDF weights; simhash: by distance of fingerprints. [default: "
        "cosine]",
    )
    idf: str | None = option(
        "--idf",
        metavar="smooth|gensim",
        help="IDF formula, with --by cosine: as in scikit-learn or as in gensim. [default: smooth]",
    )
    least: float = option(
        "--least",
        default=0.0,
        metavar="S",
        min=0.0,
        max=1.0,
        daily=True,
        help="Lowest score to show, from 0 to 1. [default: 0]",
    )


@dataclass(frozen=True)
class SearchOutput:
    out: Path | None = out_option()


@command(
    argument("file", "[FILE]", "Text file to search for; - for standard input."),
    own=SearchOptions,
    recipe_options=RecipeOptions,
    reading_options=ReadingOptions,
    captures=only(CaptureOptions, "as_what", "no_mask"),
    engine=only(EngineOptions, "threads"),
    table=SearchOutput,
    output=only(
        OutputOptions,
        *("no_guard", "quiet"),
        as_json="Print JSON lines; with -o, the summary as JSON.",
    ),
)
def search(
    file: str | None,
    own: SearchOptions,
    recipe_options: RecipeOptions,
    reading_options: ReadingOptions,
    captures: CaptureOptions,
    engine: EngineOptions,
    table: SearchOutput,
    output: OutputOptions,
) -> int:
    """Find the documents that resemble a text most.

    Prints rank, score (0 to 1), distance of the fingerprints in bits, id and the beginning of each
    document, the best first. By cosine, words are weighted by TF-IDF with the document frequencies
    of the searched documents; a document without a common word is not found.

    With --as http FILE and INPUT are captures of HTTP responses: the first response of FILE is
    searched for, and --text finds responses with these words.

    \b
    Examples:
      neardup search --text "the cat sat on the mat" --in documents.jsonl
      neardup search draft.txt --in archive.neardup -n 10
      neardup search draft.txt --in 'news/*.jsonl' --by simhash -o nearest.csv
    """
    from neardup.near.ranking import check_ranking

    quiet, out = output.quiet, table.out
    check_stdout(output.as_json, out=out)
    file_or_text(file, own.text)
    _check_places(file, own.inputs)
    if own.by == "simhash" and own.idf is not None:
        raise click.BadParameter(
            f"{own.idf!r} is for --by cosine; the weights of fingerprints are those of the recipe",
            param_hint="--idf",
        )
    try:
        ranking = check_ranking(own.n, own.by, own.idf or "smooth", own.least)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    # Records are not kept, so notes on the encoding of the output would be noise.
    reading = reading_options.reading(keeps=False)
    notes = console.Notes(quiet=quiet)
    with ExitStack() as stack:
        files: list[str] = []
        collection = None
        if is_collection(own.inputs[0]):
            path = Path(own.inputs[0])
            collection = stack.enter_context(open_collection(path, read_only=True))
            recipe = collection.recipe
            _check_collection_options(recipe, recipe_options, reading_options, captures)
            if file is not None:
                reading = choose_at(path, [file], reading, captures, quiet=quiet)
            elif captures.as_what is not None:
                check_as(captures.as_what)
                check_recipe(recipe)
        else:
            places = own.inputs if file is None else [file, *own.inputs]
            reading, recipe = choose(places, reading, recipe_options, captures, quiet=quiet)
            files = expand_inputs(own.inputs, reading, notes)
        reading = replace(reading, threads=engine.threads)
        write = open_table(stack, out, COLUMNS, files, "--out", guard=not output.no_guard)
        problems = console.problems_of(reading)
        query = own.text if own.text is not None else _read_query(str(file), reading, notes)
        request = SearchRequest(query, ranking, recipe, engine.threads)
        if collection is not None:
            documents, found = len(collection), _search_collection(collection, request)
        else:
            documents, found = _search_files(files, reading, request, problems, notes, quiet=quiet)
        write = write or _row_printer(found, as_json=output.as_json)
        for rank, row in enumerate(found, 1):
            write(_row(rank, row))
        sys.stdout.flush()
        problems.check_any(documents)
    problems.close()
    notes.close()
    if out is not None and output.as_json:
        counts = {"documents": documents, "found": len(found), "unreadable": problems.count}
        print(json.dumps(counts))
    elif not quiet:
        console.error(
            f"found {len(found):,} of {documents:,} documents, unreadable {problems.count:,}"
        )
    if not found and not quiet:
        console.error(_why_nothing(request, documents))
    return UNREADABLE if problems.count else DONE


def _check_places(file: str | None, inputs: Sequence[str]) -> None:
    """Refuse places to search that cannot be combined."""
    if not inputs:
        raise click.BadParameter("say where to search: --in INPUT", param_hint="--in")
    collections = [place for place in inputs if is_collection(place)]
    if collections and len(inputs) > 1:
        raise click.BadParameter(
            f"{collections[0]!r} is a collection, which is searched alone; name one collection, or "
            "files",
            param_hint="--in",
        )
    check_stdin([file or "", *inputs], "--in")


def _check_collection_options(
    own: Recipe, recipe: RecipeOptions, reading: ReadingOptions, captures: CaptureOptions
) -> None:
    """Refuse options that a collection decides itself."""
    is_given = recipe.recipe is not None or recipe.bits is not None
    if is_given and recipe.load().identity != own.identity:
        raise click.BadParameter(
            f"the collection was made with {own.identity}; leave --recipe and --bits out",
            param_hint="--recipe",
        )
    for name in reading.changed_options():
        raise click.BadParameter(
            "is for files, and a collection has its documents; leave it out", param_hint=name
        )
    if captures.no_mask:
        raise click.BadParameter(
            "the recipe of the collection says what is masked; leave it out",
            param_hint="--no-mask",
        )


def _read_query(file: str, reading: Reading, notes: console.Notes) -> str:
    """Return the text to search for; of a capture the first response."""
    if reading.viewing is None:
        return read_text(file, notes=notes)
    problems = console.problems_of(reading)
    found: list[str] = []
    for batch in read_documents(expand_inputs([file], reading, notes), reading, problems):
        found += batch.texts[:2]
        if len(found) > 1:
            notes(f"{file}: has more than one response; the first one is searched for")
            break
    if not found:
        why = f"{problems.first}" if problems.first else f"{file}: has no response"
        raise ValueError(f"nothing to search for: {why}")
    return found[0]


def _why_nothing(request: SearchRequest, documents: int) -> str:
    """Return why no document was found."""
    from neardup import _core
    from neardup.text.fingerprint import fingerprints

    if not documents:
        return "there are no documents to search"
    if not _core.says_something(request.text):
        return "the text has no words"
    if request.ranking.by == "cosine":
        rare = " that other documents lack" if request.ranking.idf == "gensim" else ""
        return f"no document shares a word with the text{rare}"
    if not fingerprints([request.text], request.recipe).signal[0]:
        return "the text has too few words for a fingerprint; search by cosine: --by cosine"
    return "no document has enough words for a fingerprint; search by cosine: --by cosine"


def _search_collection(collection: Collection, request: SearchRequest) -> list[HitRow]:
    ranking = request.ranking
    found = collection.search(
        request.text,
        ranking.n,
        ranking.by,
        idf=ranking.idf,
        least=ranking.least,
        threads=request.threads,
    ).to_pylist()
    rows = []
    for row in found:
        stored = collection.get(row["id"])
        rows.append(HitRow(**row, text=None if stored is None else stored.text))
    return rows


def _search_files(
    files: list[str],
    reading: Reading,
    request: SearchRequest,
    problems: console.Problems,
    notes: console.Notes,
    *,
    quiet: bool,
) -> tuple[int, list[HitRow]]:
    """Return the number of documents, and the best of them."""
    from neardup.near.search import search

    ids: list[str] = []
    texts: list[str] = []
    with document_progress("reading", shown=not quiet) as progress:
        for batch in read_documents(files, reading, problems, notes):
            ids += batch.ids
            texts += batch.texts
            progress.advance(len(batch.ids))
    problems.check_any(len(ids))
    ranking = request.ranking
    found = search(
        request.text,
        texts,
        ranking.n,
        ranking.by,
        recipe=request.recipe,
        idf=ranking.idf,
        least=ranking.least,
        threads=request.threads,
    ).to_pylist()
    rows = [
        HitRow(ids[row["id"]], row["score"], row["distance"], texts[row["id"]]) for row in found
    ]
    return len(ids), rows


def _row(rank: int, row: HitRow) -> dict[str, Any]:
    return {
        "rank": rank,
        "id": row.id,
        "score": row.score,
        "distance": row.distance,
        "excerpt": None if row.text is None else _excerpt(row.text),
    }


def _excerpt(text: str) -> str:
    """Return the beginning of a text, on one line."""
    words = " ".join(text[: 20 * EXCERPT_LENGTH].split())
    return words if len(words) <= EXCERPT_LENGTH else f"{words[: EXCERPT_LENGTH - 1]}…"


def _row_printer(found: Sequence[HitRow], *, as_json: bool) -> Callable[[dict[str, Any]], object]:
    width = min(
        max((cell_width(console.printable(row.id)) for row in found), default=0), MAX_ID_WIDTH
    )

    def write(row: dict[str, Any]) -> None:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            return
        id_ = pad_to_width(console.printable(row["id"]), width)
        excerpt = cut_to_width(console.printable(row["excerpt"] or "-"), EXCERPT_LENGTH)
        distance = "-" if row["distance"] is None else row["distance"]
        print(f"{row['rank']:3} {row['score']:.4f} {distance:>4}  {id_}  {excerpt}")

    return write
