"""neardup search: the documents that resemble a text most."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from neardup._util.strings import cell_width, cut_to_width, pad_to_width
from neardup.cli import collections as opened
from neardup.cli import console, options

if TYPE_CHECKING:
    from neardup.cli.inputs import InputNotes
    from neardup.files.reading.batch import Reading
    from neardup.near.ranking import RankingRequest
    from neardup.text.recipe import Recipe

DONE, UNREADABLE = 0, 3
COLUMNS = {"rank": int, "id": str, "score": float, "distance": int, "excerpt": str}
# Characters, and on a terminal cells.
EXCERPT = 60
# Cells to which ids are padded.
MOST_ID = 40


class SearchRequest(NamedTuple):
    """What is searched for, and how."""

    text: str
    wish: RankingRequest
    recipe: Recipe
    threads: int | None


class HitRow(NamedTuple):
    """A document that was found; `text` is None where none is kept."""

    id: str
    score: float
    distance: int | None
    text: str | None


def command(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="What to search for: a text file; - for standard input."
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="T", help="The text itself, instead of a file.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--in",
            metavar="INPUT|COLLECTION",
            help="Where to search: a collection, or files, folders or quoted patterns; may be "
            "given several times.",
        ),
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many documents.")] = 6,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="cosine|simhash",
            help="cosine: exact, of TF-IDF weights; simhash: by the distance of fingerprints.",
        ),
    ] = "cosine",
    idf: Annotated[
        str | None,
        typer.Option(
            "--idf",
            metavar="smooth|gensim",
            help="How rare words weigh more, with cosine: as scikit-learn or as gensim has it. "
            "[default: smooth]",
        ),
    ] = None,
    least: Annotated[
        float,
        typer.Option(
            "--least",
            metavar="S",
            min=0.0,
            max=1.0,
            help="Leave out what scores less, from 0 to 1.",
        ),
    ] = 0.0,
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
    as_what: options.AsOption = None,
    no_mask: options.NoMaskOption = None,
    recipe: options.RecipeOption = None,
    bits: options.BitsOption = None,
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
    threads: options.ThreadsOption = None,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Find the documents that resemble a text most.

    Prints rank, score (0 to 1), distance of the fingerprints in bits, id and the beginning of each
    document, the best first. By cosine, words weigh by TF-IDF, with the document frequencies of
    what is searched; a document that shares nothing with the text is not found.

    With --as http FILE and INPUT are captures of HTTP responses: the first response of FILE is
    searched for. --text finds responses that say it.

    \b
    Examples:
      neardup search --text "the cat sat on the mat" --in documents.jsonl
      neardup search draft.txt --in archive.neardup -n 10
      neardup search draft.txt --in 'news/*.jsonl' --by simhash -o nearest.csv
    """
    from neardup.cli.inputs import InputNotes, reading_of
    from neardup.near.ranking import check_ranking

    options.check_printed(as_json, out=out)
    places = _places(file, text, inputs)
    if by == "simhash" and idf is not None:
        raise typer.BadParameter(
            f"{idf!r} is for --by cosine, and fingerprints have their weights from the recipe; "
            "leave --idf out",
            param_hint="--idf",
        )
    try:
        wanted = check_ranking(n, by, "smooth" if idf is None else idf, least)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
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
    # Nothing is kept: what an output would be written in is no news.
    reading = replace(reading, keeps=False)
    notes = InputNotes(quiet=quiet)
    with ExitStack() as stack:
        files: list[str] = []
        kept = None
        if len(places) == 1 and Path(places[0]).name.endswith(opened.SUFFIX):
            kept = stack.enter_context(opened.opened(Path(places[0]), read_only=True))
            own = kept.recipe
            _check_recipe(own, recipe, bits)
            _check_reading(
                {
                    "--text-column": text_column,
                    "--id-column": id_column,
                    "--lines": lines,
                    "--format": format,
                    "--encoding": encoding,
                    "--delimiter": delimiter,
                    "--quoting": quoting,
                    "--no-header": no_header,
                    "--max-bytes": max_bytes,
                    "--max-document": max_document,
                }
            )
            reading = _reading_at(
                Path(places[0]), own, file, reading, as_what, no_mask, quiet=quiet
            )
        else:
            from neardup.cli.captures import choose
            from neardup.cli.inputs import files_of

            reading, own = choose(
                [*places, *([] if file is None else [file])],
                reading,
                recipe=recipe,
                bits=bits,
                as_what=as_what,
                no_mask=no_mask,
                tell=None if quiet else console.error,
            )
            files = files_of(places, reading, notes)
        reading = replace(reading, threads=threads)
        write = opened.table(stack, out, COLUMNS, files, "--out", guard=not no_guard)
        query = text if text is not None else _query(str(file), reading, notes)
        problems = console.problems_of(reading)
        asked = SearchRequest(query, wanted, own, threads)
        if kept is not None:
            documents, found = len(kept), _in_collection(kept, asked)
        else:
            documents, found = _in_files(files, reading, asked, problems, notes, quiet=quiet)
        write = write or _printer(found, as_json=as_json)
        for at, row in enumerate(found, 1):
            write(_told(at, row))
        sys.stdout.flush()
        problems.check_any(documents)
    problems.close()
    notes.close()
    if out is not None and as_json:
        counts = {"documents": documents, "found": len(found), "unreadable": problems.count}
        print(json.dumps(counts))
    elif not quiet:
        console.error(
            f"found {len(found):,} of {documents:,} documents, unreadable {problems.count:,}"
        )
    if not found and not quiet:
        console.error(_why_nothing(asked, documents))
    return UNREADABLE if problems.count else DONE


def _places(file: str | None, text: str | None, inputs: Sequence[str] | None) -> list[str]:
    """Where to search; refuses what does not go together."""
    if (file is None) == (text is None):
        raise typer.BadParameter(
            "pass either a file (- for standard input) or --text T", param_hint="FILE"
        )
    if not inputs:
        raise typer.BadParameter("say where to search: --in INPUT", param_hint="--in")
    collections = [place for place in inputs if Path(place).name.endswith(opened.SUFFIX)]
    if collections and len(inputs) > 1:
        raise typer.BadParameter(
            f"{collections[0]!r} is a collection, which is searched alone; name one collection, or "
            "files",
            param_hint="--in",
        )
    if file == "-" and "-" in inputs:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="--in")
    return list(inputs)


def _query(file: str, reading: Reading, notes: InputNotes) -> str:
    """What is searched for: a text, or the first response of a capture."""
    if reading.viewing is None:
        return options.read(file)
    from neardup.cli.inputs import documents, files_of

    problems = console.problems_of(reading)
    found: list[str] = []
    for some in documents(files_of([file], reading, notes), reading, problems):
        found += some.texts[:2]
        if len(found) > 1:
            notes(f"{file}: holds more than one response; the first is searched for")
            break
    if not found:
        why = f"{problems.first}" if problems.first else f"{file}: holds no response"
        raise ValueError(f"nothing to search for: {why}")
    return found[0]


def _reading_at(
    path: Path,
    own: Recipe,
    file: str | None,
    reading: Reading,
    as_what: str | None,
    no_mask: Sequence[str] | None,
    *,
    quiet: bool,
) -> Reading:
    """How what is searched for in a collection is read."""
    from neardup.cli import captures

    if no_mask:
        raise typer.BadParameter(
            "a collection has its recipe, and that says what is masked; leave it out",
            param_hint="--no-mask",
        )
    if file is not None:
        tell = None if quiet else console.error
        return captures.choose_at(path, [file], reading, as_what=as_what, tell=tell)
    if as_what is not None:
        captures.check_as(as_what)
        captures.check_recipe(own)
    return reading


def _check_recipe(own: Recipe, name: str | None, bits: int | None) -> None:
    """A collection has its recipe; another one is refused."""
    if name is None and bits is None:
        return
    given = options.recipe_of(name, bits)
    if given.identity != own.identity:
        raise typer.BadParameter(
            f"the collection was made with {own.identity}; leave --recipe and --bits out",
            param_hint="--recipe",
        )


def _check_reading(given: dict[str, object]) -> None:
    """A collection is not read as files are; options that say how are refused."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(
                f"a collection has its documents, and {name} says how files are read; leave it out",
                param_hint=name,
            )


def _why_nothing(asked: SearchRequest, documents: int) -> str:
    """Why no document was found."""
    from neardup import _core
    from neardup.text.fingerprint import fingerprints

    if not documents:
        return "there is nothing to search in"
    if not _core.says_something(asked.text):
        return "the text has no words"
    if asked.wish.by == "cosine":
        most = " but what all have" if asked.wish.idf == "gensim" else ""
        return f"no document has anything in common with the text{most}"
    if not fingerprints([asked.text], asked.recipe).signal[0]:
        return "the text has too few words for a fingerprint; search by cosine: --by cosine"
    return "no document has enough words for a fingerprint; search by cosine: --by cosine"


def _in_collection(collection: Any, asked: SearchRequest) -> list[HitRow]:
    wanted = asked.wish
    found = collection.search(
        asked.text,
        wanted.n,
        wanted.by,
        idf=wanted.idf,
        least=wanted.least,
        threads=asked.threads,
    ).to_pylist()
    rows = []
    for row in found:
        stored = collection.get(row["id"])
        rows.append(HitRow(**row, text=None if stored is None else stored.text))
    return rows


def _in_files(
    files: list[str],
    reading: Reading,
    asked: SearchRequest,
    problems: console.Problems,
    notes: InputNotes,
    *,
    quiet: bool,
) -> tuple[int, list[HitRow]]:
    """How many documents there are, and the best of them."""
    from neardup.cli.inputs import documents
    from neardup.near.search import search

    ids: list[str] = []
    texts: list[str] = []
    with opened.progress("reading", quiet) as progress:
        for some in documents(files, reading, problems, notes):
            ids += some.ids
            texts += some.texts
            progress.advance(len(some.ids))
    problems.check_any(len(ids))
    wanted = asked.wish
    found = search(
        asked.text,
        texts,
        wanted.n,
        wanted.by,
        recipe=asked.recipe,
        idf=wanted.idf,
        least=wanted.least,
        threads=asked.threads,
    ).to_pylist()
    rows = [
        HitRow(ids[row["id"]], row["score"], row["distance"], texts[row["id"]]) for row in found
    ]
    return len(ids), rows


def _told(at: int, row: HitRow) -> dict[str, Any]:
    return {
        "rank": at,
        "id": row.id,
        "score": row.score,
        "distance": row.distance,
        "excerpt": None if row.text is None else _excerpt(row.text),
    }


def _excerpt(text: str) -> str:
    """The beginning of a text, on one line."""
    # A long text need not be looked at as a whole.
    words = " ".join(text[: 20 * EXCERPT].split())
    return words if len(words) <= EXCERPT else f"{words[: EXCERPT - 1]}…"


def _printer(found: Sequence[HitRow], *, as_json: bool) -> Callable[[dict[str, Any]], object]:
    width = min(max((cell_width(console.printable(row.id)) for row in found), default=0), MOST_ID)

    def write(row: dict[str, Any]) -> None:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            return
        id_ = pad_to_width(console.printable(row["id"]), width)
        excerpt = cut_to_width(console.printable(row["excerpt"] or "-"), EXCERPT)
        distance = "-" if row["distance"] is None else row["distance"]
        print(f"{row['rank']:3} {row['score']:.4f} {distance:>4}  {id_}  {excerpt}")

    return write
