"""Options that several commands share."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from neardup.cli.console import reason

if TYPE_CHECKING:
    from neardup.text.recipe import Recipe

RecipeOption = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="NAME|FILE.toml",
        help="How text becomes a fingerprint: a preset (see 'neardup recipes') or a file. "
        "[default: default, or http for captures]",
    ),
]
BitsOption = Annotated[
    int | None,
    typer.Option(
        "--bits",
        metavar="N",
        help="Width of the fingerprint, a multiple of 8 from 8 to 512. [default: the recipe's]",
    ),
]
InputsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Files, folders or quoted patterns: .jsonl, .json, .csv, .tsv, .parquet, text, .html, "
        ".docx, .odt, .epub, .rtf, .pdf, .warc, .har; also .gz and .zst; - for standard input.",
    ),
]
SimilarityOption = Annotated[
    float | None,
    typer.Option(
        "--similarity",
        metavar="S",
        help="The cosine from which texts are near-duplicates; every pair is verified. "
        "[default: 0.85]",
    ),
]
RadiusOption = Annotated[
    int | None,
    typer.Option(
        "--radius",
        metavar="K",
        help="Instead: the bits in which fingerprints may differ; nothing is verified.",
    ),
]
RecallOption = Annotated[
    float | None,
    typer.Option(
        "--recall",
        metavar="R",
        help="The share of pairs of just that similarity to find. [default: 0.99, or 1 with "
        "--radius]",
    ),
]
KeepOption = Annotated[
    str,
    typer.Option(
        "--keep",
        metavar="POLICY",
        help="Which one of a cluster stands for it: first, longest, shortest, newest:COLUMN, "
        "best:COLUMN.",
    ),
]
LinkageOption = Annotated[
    str,
    typer.Option(
        "--linkage",
        metavar="star|connected",
        help="star: each is near the one that stands for it; connected: chains of pairs.",
    ),
]
ClusterLinkageOption = Annotated[
    str | None,
    typer.Option(
        "--linkage",
        metavar="star|connected",
        help="star: each is near the one that stands for it; connected: chains of pairs. "
        "[default: connected; star with --as http]",
    ),
]
TextColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text-column",
        metavar="NAME",
        help="The column of the text, a.b for the b in a; given several times, they are joined. "
        "[default: text]",
    ),
]
IdColumnOption = Annotated[
    str | None,
    typer.Option(
        "--id-column",
        metavar="NAME",
        help="The column of the id. [default: id, or file:line where there is none]",
    ),
]
LinesOption = Annotated[
    bool, typer.Option("--lines", help="Text files hold a document in every line.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="jsonl, json, csv, tsv, parquet, text, html, docx, odt, epub, rtf or pdf, whatever "
        "the names of the inputs.",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME|auto",
        help="The encoding of text, JSON, CSV and HTML; auto detects it. A byte order mark is "
        "obeyed in any case. [default: utf-8]",
    ),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help="What separates the cells of CSV and TSV; tab for a tab. [default: , or a tab]",
    ),
]
QuotingOption = Annotated[
    str | None,
    typer.Option(
        "--quoting",
        metavar="all|none",
        help="none: quotes in CSV and TSV are plain characters. [default: all for CSV, none for "
        "TSV]",
    ),
]
NoHeaderOption = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="CSV and TSV begin with a record; columns are called 1, 2, and so on.",
    ),
]
MaxBytesOption = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="SIZE",
        help="What a packed file may hold, such as 500M or 64G. [default: 16G, or 100 times its "
        "own size]",
    ),
]
MaxDocumentOption = Annotated[
    str | None,
    typer.Option(
        "--max-document",
        metavar="SIZE",
        help="The size of the largest document that is read, at most 1G. [default: 256M]",
    ),
]
AsOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="http",
        help="The inputs are captures of HTTP responses: WARC, HAR, JSON lines of httpx, XML of "
        "Burp, raw messages. [default: texts, but for .warc and .har]",
    ),
]
NoMaskOption = Annotated[
    list[str] | None,
    typer.Option(
        "--no-mask",
        metavar="NAME",
        help="Of HTTP responses, do not mask such volatile parts: a name of 'neardup http masks', "
        "or all; may be given several times.",
    ),
]
WithinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--within",
        metavar="host|ip|status|COLUMN",
        help="Of HTTP responses, compare only those that share this, such as their host.",
    ),
]
TableOption = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="OUT",
        help="The table: .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet; - for standard "
        "output in JSON lines, -.csv for CSV.",
    ),
]
NoGuardOption = Annotated[
    bool,
    typer.Option(
        "--no-guard",
        help="Leave cells of .csv and .tsv tables as they are. Else one that a spreadsheet would "
        "run as a formula (= + - @) gets a leading '.",
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Write a page to choose a threshold by: counts, charts, pairs on both sides of it.",
    ),
]
ReportClustersOption = Annotated[
    int | None,
    typer.Option(
        "--report-clusters",
        metavar="N",
        help="How many clusters the report shows, the largest first. [default: 25; of captures "
        "10,000 kinds]",
    ),
]
LangOption = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="en|zh",
        help="The language of the report. [default: that of the locale, or English]",
    ),
]
QuarantineOption = Annotated[
    Path | None,
    typer.Option(
        "--quarantine",
        metavar="FILE",
        help="Where to list what could not be read. [default: OUT.quarantine.jsonl, if anything]",
    ),
]
WorkDirOption = Annotated[
    Path | None,
    typer.Option(
        "--work-dir",
        metavar="DIR",
        help="A folder of its own for intermediate files, deleted when the job is done.",
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on from what a stopped run left in --work-dir.")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Write nothing if something cannot be read.")
]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Cores to use. [default: all]"),
]
EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="local|spark",
        help="Where inputs are read and pairs are looked for; spark needs neardup[spark].",
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="With --engine spark: sc://HOST:PORT, local[*], spark://HOST:PORT, yarn, k8s://…, or "
        "sail. [default: sail, a server in this process]",
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Nothing on standard error but why a job failed."),
]
SummaryOption = Annotated[
    bool, typer.Option("--json", help="Print the summary as one JSON object on standard output.")
]
SHOWN_PATH = 72
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read(path: str) -> str:
    """The text of a file; whoever passed the text itself is told how."""
    from neardup.files.reading.inputs import read_text

    try:
        return read_text(path)
    except OSError as error:
        # What has an ending and no space was meant as a file.
        named = " " not in path and PurePath(path).suffix
        if named or error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise
        shown = path if len(path) <= SHOWN_PATH else f"{path[:SHOWN_PATH]}…"
        raise FileNotFoundError(
            f"{shown}: no such file; to pass the text itself, use --text"
        ) from error


def recipe_of(name: str | None, bits: int | None, *, hint: str = "--recipe") -> Recipe:
    """The recipe the options ask for, or a usage error that says the choices."""
    from neardup.text.recipe import as_recipe

    try:
        recipe = as_recipe(name)
    except (ValueError, TypeError, OSError) as error:
        raise typer.BadParameter(reason(error), param_hint=hint) from error
    if bits is None:
        return recipe
    try:
        return recipe.replace(bits=bits)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--bits") from error


def check_printed(as_json: bool, **outputs: Path | None) -> None:
    """The summary and an output cannot both go to standard output."""
    from neardup.files.writing.new_file import is_stdout

    for name, path in outputs.items():
        if as_json and path is not None and is_stdout(path):
            raise typer.BadParameter(
                f"the summary and --{name} {path} would be mixed on standard output; leave one "
                "out, or name a file",
                param_hint="--json",
            )


def only_one(name: str, values: Sequence[str] | None) -> str | None:
    """The value of an option that has one; the last of several would be taken silently."""
    if values is not None and len(values) > 1:
        raise typer.BadParameter(
            f"is given {len(values)} times ({', '.join(values)}), and takes one value; leave the "
            "others out",
            param_hint=name,
        )
    return values[0] if values else None


def share(text: str) -> float:
    """A share as it is written in a shell; of one in per cent it is said how."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number from 0 to 1: 0.3 for 30 %") from None


def load_config(context: typer.Context, value: Path | None) -> Path | None:
    """Options from a TOML file; those given on the command line win."""
    if value is None:
        return None
    import tomllib

    from neardup._util.settings_file import read_settings

    try:
        content = read_settings(value, "file")
    except (OSError, ValueError) as error:
        raise typer.BadParameter(reason(error), param_hint="--config") from error
    try:
        given = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{value}: not TOML: {error}", param_hint="--config") from error
    options = {str(option.name): option for option in context.command.params}
    known = options.keys() - {"config"}
    # As they are called on the command line.
    renamed = {"input": "inputs", "json": "as_json", "as": "as_what"}
    named = {renamed.get(name, name.replace("-", "_")): name for name in given}
    for option, name in named.items():
        if option not in known:
            backwards = {new: old for old, new in renamed.items()}
            choices = sorted(backwards.get(name, name.replace("_", "-")) for name in known)
            raise typer.BadParameter(
                f"{value}: no option {name!r}; there are {', '.join(choices)}",
                param_hint="--config",
            )
        if wanted := _not_of_kind(options[option], given[name]):
            raise typer.BadParameter(
                f"{value}: {name} is {_in_toml(given[name])}; it must be {wanted}",
                param_hint="--config",
            )
    # Numbers go the way of those on the command line, which are text.
    chosen = {
        option: str(given[name]) if type(given[name]) in (int, float) else given[name]
        for option, name in named.items()
    }
    for option, text in chosen.items():
        if isinstance(text, str) and _takes_several(options[option]):
            chosen[option] = [text]
    context.default_map = {**(context.default_map or {}), **chosen}
    return value


def _not_of_kind(option: Any, value: object) -> str | None:
    """What a value of a file must be, if it is not; nothing if it is."""
    kind = type(value)
    if getattr(option, "is_flag", False):
        return None if kind is bool else "true or false"
    if _takes_several(option):
        strings = kind is list and all(type(part) is str for part in cast("list[object]", value))
        return None if kind is str or strings else "a string or a list of strings"
    if option.type.name.startswith("int"):
        return None if kind is int else "a whole number"
    if option.type.name.startswith("float") or option.type.name == share.__name__:
        return None if kind in (int, float) else "a number"
    return None if kind is str else "a string"


def _takes_several(option: Any) -> bool:
    return bool(getattr(option, "multiple", False) or option.nargs == -1)


def _in_toml(value: object) -> str:
    return str(value).lower() if type(value) is bool else repr(value)


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.toml",
        help="Options from a file, by their long names.",
        is_eager=True,
        callback=load_config,
    ),
]
