"""Options and arguments that several commands share, and the checks that go with them.

Each group is a dataclass: a command names it and gets an object. What an option means is decided
below the command line; here are its name, its help and what only a command line can get wrong.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import (
    CAPTURES,
    ENGINE,
    KEPT,
    NEAR,
    OUTPUT,
    READING,
    SHARED,
    ConfigFile,
    FileName,
    argument,
    option,
)
from neardup.cli.console import Notes, reason

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from neardup.files.reading.batch import Reading
    from neardup.text.recipe import Recipe

# Characters that are hard to type in a shell.
DELIMITERS = {"tab": "\t", "\\t": "\t"}
SIZE_SHIFTS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
LANGUAGES = ("en", "zh")
ASPECTS = ("numbers", "negation", "symbols", "order", "fields")
PURPOSES = ("corpus", "news", "records", "templates")
MAX_SHOWN_PATH = 72

INPUTS = argument(
    "inputs",
    "INPUT...",
    "Files, folders or quoted patterns: .jsonl, .json, .csv, .tsv, .parquet, text, .html, .docx, "
    ".odt, .epub, .rtf, .pdf, .warc, .har; also .gz and .zst; - for standard input.",
    many=True,
)


class RecipeName(FileName):
    """A preset or a file; both are completed."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from neardup.text.presets import PRESETS

        names = [CompletionItem(name) for name in PRESETS if name.startswith(incomplete)]
        return names or super().shell_complete(ctx, param, incomplete)


@dataclass(frozen=True)
class NearOptions:
    SECTION = NEAR

    similarity: float | None = option(
        "--similarity",
        metavar="S",
        daily=True,
        help="Cosine similarity from which two texts are near-duplicates; every pair is verified. "
        "[default: 0.85]",
    )
    radius: int | None = option(
        "--radius",
        metavar="K",
        help="Instead of --similarity: fingerprints differ in at most K bits; the texts are not "
        "compared.",
    )
    recall: float | None = option(
        "--recall",
        metavar="R",
        help="Share of pairs at the threshold to find; lower is faster. [default: 0.99; 1 with "
        "--radius]",
    )
    distinguish: tuple[str, ...] = option(
        "--distinguish",
        default=(),
        metavar="NAME,…",
        values=ASPECTS,
        daily=True,
        help="Texts that differ in this are no near-duplicates: numbers, negation, symbols, order; "
        "for dedup and cluster also fields, of records made from one form.",
    )


@dataclass(frozen=True)
class PurposeOptions:
    SECTION = NEAR

    purpose: str | None = option(
        "--purpose",
        metavar="NAME",
        values=PURPOSES,
        daily=True,
        help="Sets --similarity and --distinguish for a kind of texts, unless they are given: "
        "corpus (the default), news (reposted stories), records (titles, products, questions), "
        "templates (forms with other fields).",
    )


@dataclass(frozen=True)
class RecipeOptions:
    SECTION = NEAR

    recipe: str | None = option(
        "--recipe",
        metavar="NAME|FILE.toml",
        type=RecipeName(),
        daily=True,
        help="How text becomes a fingerprint: a preset (see 'neardup recipes') or a file. "
        "[default: default; http for captures]",
    )
    bits: int | None = option(
        "--bits",
        metavar="N",
        help="Width of the fingerprint, a multiple of 8 from 8 to 512. [default: the recipe's]",
    )

    def load(self) -> Recipe:
        return recipe_of(self.recipe, self.bits)


@dataclass(frozen=True)
class KeepOptions:
    SECTION = KEPT

    keep: str = option(
        "--keep",
        default="first",
        metavar="POLICY",
        values=("first", "longest", "shortest", "newest:", "best:"),
        daily=True,
        help="Representative of a cluster: first, longest, shortest, newest:COLUMN or "
        "best:COLUMN. [default: first]",
    )
    linkage: str | None = option(
        "--linkage",
        metavar="star|connected",
        help="star: every record is near its representative; connected: chains of pairs. "
        "[default: star; cluster of texts: connected]",
    )


@dataclass(frozen=True)
class PassageOptions:
    SECTION = SHARED

    template: tuple[str, ...] = option(
        "--template",
        default=(),
        metavar="FILE",
        type=FileName(),
        daily=True,
        help="Do not count passages from this text, such as a form or a task; may be repeated.",
    )
    min_words: int | None = option(
        "--min-words", metavar="N", min=1, max=1000, help="Shortest passage, in words. [default: 6]"
    )
    min_chars: int | None = option(
        "--min-chars",
        metavar="N",
        min=1,
        max=1000,
        help="Shortest passage in scripts without spaces, in characters. [default: 13]",
    )
    bridge: int | None = option(
        "--bridge",
        metavar="N",
        min=0,
        max=16,
        help="Changed words in a row that do not end a passage; twice as many characters in "
        "scripts without spaces. [default: 2]",
    )


@dataclass(frozen=True)
class ReadingOptions:
    SECTION = READING

    text_column: tuple[str, ...] = option(
        "--text-column",
        default=(),
        metavar="NAME",
        daily=True,
        help="Column of the text; a.b for b in a. Repeat it to join columns. [default: text]",
    )
    id_column: str | None = option(
        "--id-column",
        metavar="NAME",
        daily=True,
        help="Column of the id. [default: id; file:line where there is none]",
    )
    lines: bool = option(
        "--lines", default=False, daily=True, help="Every line of a text input is a document."
    )
    format: str | None = option(
        "--format",
        metavar="NAME",
        help="Format of all inputs, whatever their names: jsonl, json, csv, tsv, parquet, text, "
        "html, docx, odt, epub, rtf or pdf; of captures raw-http, warc, har, httpx or burp.",
    )
    encoding: str | None = option(
        "--encoding",
        metavar="NAME|auto",
        help="Encoding of text, JSON, CSV and HTML; auto detects it. A byte order mark "
        "takes precedence. "
        "[default: utf-8]",
    )
    delimiter: str | None = option(
        "--delimiter",
        metavar="CHAR",
        help="Delimiter of CSV and TSV; tab for a tab. [default: , for CSV, tab for TSV]",
    )
    quoting: str | None = option(
        "--quoting",
        metavar="all|none",
        help="none: quotes in CSV and TSV are plain characters. [default: all for CSV, none for "
        "TSV]",
    )
    no_header: bool = option(
        "--no-header",
        default=False,
        help="CSV and TSV have no header; columns are called 1, 2, and so on.",
    )
    max_bytes: str | None = option(
        "--max-bytes",
        metavar="SIZE",
        help="Largest decompressed size of a file, such as 500M or 64G. [default: 16G, or 100 "
        "times the compressed size]",
    )
    max_document: str | None = option(
        "--max-document",
        metavar="SIZE",
        help="Largest document to read, at most 1G. [default: 256M]",
    )

    def reading(self, **settings: Any) -> Reading:
        """Return how files are read; `settings` are further fields of `Reading`."""
        import neardup.http.captures  # noqa: F401  registers the formats of captures
        from neardup.files.reading.batch import Reading

        try:
            return Reading(
                self.text_column or ("text",),
                self.id_column,
                lines=self.lines,
                format=self.format,
                encoding=self.encoding,
                delimiter=DELIMITERS.get(self.delimiter or "", self.delimiter),
                quoting=self.quoting,
                header=not self.no_header,
                max_bytes=_parse_size("--max-bytes", self.max_bytes),
                max_document=_parse_size("--max-document", self.max_document),
                **settings,
            )
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    def changed_options(self) -> list[str]:
        """Return the names of the options that are not at their defaults."""
        return [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value]


@dataclass(frozen=True)
class CaptureOptions:
    SECTION = CAPTURES

    as_what: str | None = option(
        "--as",
        metavar="http",
        daily=True,
        help="The inputs are captures of HTTP responses: WARC, HAR, JSON lines of httpx, XML of "
        "Burp, raw messages. [default for .warc and .har]",
    )
    no_mask: tuple[str, ...] = option(
        "--no-mask",
        default=(),
        metavar="NAME",
        help="Do not mask these volatile parts: a name of 'neardup http masks', or all; may be "
        "repeated.",
    )
    within: str | None = option(
        "--within",
        metavar="host|ip|status|COLUMN",
        once=True,
        help="Compare only responses with the same value of this column.",
    )


@dataclass(frozen=True)
class EngineOptions:
    SECTION = ENGINE

    threads: int | None = option(
        "--threads", metavar="N", min=1, daily=True, help="Threads to use. [default: one per core]"
    )
    engine: str = option(
        "--engine",
        default="local",
        metavar="local|spark",
        help="Engine that reads inputs and finds pairs; spark needs the extra neardup[spark]. "
        "[default: local]",
    )
    master: str | None = option(
        "--master",
        metavar="URL",
        help="With --engine spark: sc://HOST:PORT, local[*], spark://HOST:PORT, yarn, k8s://…, or "
        "sail. [default: sail, a server in this process]",
    )
    work_dir: Path | None = option(
        "--work-dir",
        metavar="DIR",
        help="Folder for intermediate files, used by nothing else; removed when the job is done.",
    )
    resume: bool = option(
        "--resume", default=False, help="Continue a stopped run from its --work-dir."
    )


@dataclass(frozen=True)
class ReportOptions:
    SECTION = OUTPUT

    report: Path | None = option(
        "--report",
        metavar="FILE.html",
        daily=True,
        help="Write a report: counts, charts, and pairs on both sides of the threshold.",
    )
    report_clusters: int | None = option(
        "--report-clusters",
        metavar="N",
        help="Clusters in the report, the largest first. [default: 25; 10,000 kinds of captures]",
    )
    lang: str | None = option(
        "--lang",
        metavar="en|zh",
        type=click.Choice(LANGUAGES),
        help="Language of the report. [default: from the locale, or English]",
    )


def quiet_option() -> Any:
    return option(
        *("--quiet", "-q"),
        default=False,
        daily=True,
        help="Write only errors to standard error.",
    )


@dataclass(frozen=True)
class OutputOptions:
    SECTION = OUTPUT

    quarantine: Path | None = option(
        "--quarantine",
        metavar="FILE",
        help="Where unreadable records are listed. [default: OUT.quarantine.jsonl, if there are "
        "any]",
    )
    strict: bool = option(
        "--strict", default=False, help="Write nothing if a record cannot be read."
    )
    no_guard: bool = option(
        "--no-guard",
        default=False,
        help="Leave cells of .csv and .tsv tables unchanged. By default a cell that a spreadsheet "
        "would run as a formula (= + - @) gets a leading '.",
    )
    config: Path | None = option(
        "--config",
        metavar="FILE.toml",
        is_eager=True,
        type=ConfigFile(),
        help="Read options from a file, by their long names; the command line wins.",
    )
    as_json: bool = option(
        "--json", default=False, daily=True, help="Print the summary as JSON on standard output."
    )
    quiet: bool = quiet_option()


@dataclass(frozen=True)
class PrintOptions:
    """Options of commands that print their result."""

    as_json: bool = option("--json", default=False, daily=True, help="Print JSON.")


@dataclass(frozen=True)
class PrintQuietOptions(PrintOptions):
    """Options of commands that also write to standard error."""

    quiet: bool = quiet_option()


@dataclass(frozen=True)
class JobOptions:
    """Options of all jobs on whole files."""

    near: NearOptions = field(default_factory=NearOptions)
    purpose: PurposeOptions = field(default_factory=PurposeOptions)
    recipe: RecipeOptions = field(default_factory=RecipeOptions)
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    captures: CaptureOptions = field(default_factory=CaptureOptions)
    engine: EngineOptions = field(default_factory=EngineOptions)
    output: OutputOptions = field(default_factory=OutputOptions)


TABLE_HELP = (
    "Write a table: .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet; - for standard output "
    "in JSON lines, -.csv for CSV."
)


def out_option(*, required: bool = False, help: str = TABLE_HELP) -> Any:  # noqa: A002
    """Declare the field of the main output."""
    return option(
        *("--out", "-o"),
        aliases=("--output",),
        metavar="OUT",
        required=required,
        daily=True,
        help=help,
    )


def _parse_size(name: str, size: str | None) -> int | None:
    """Return the bytes of a size such as 1000, 500M or 64G."""
    if size is None:
        return None
    found = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", size.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"{name} is {size!r}; write a number of bytes, or such as 500M or 64G")
    return int(found[1]) << SIZE_SHIFTS[found[2].upper()]


def encoded_reading(encoding: str | None, paths: Sequence[str]) -> Reading:
    """Return how the texts of a command are read that has --encoding and no other such option."""
    from neardup.files.reading.batch import Reading
    from neardup.files.reading.inputs import check_options

    try:
        reading = Reading(encoding=encoding, keeps=False)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    try:
        check_options(paths, reading)
    except ValueError:
        raise click.BadParameter(
            "is for files of text, JSON, CSV or HTML, and none is given; leave it out",
            param_hint="--encoding",
        ) from None
    return reading


def read_text(path: str, reading: Reading | None = None, notes: Notes | None = None) -> str:
    """Return the text of a file; if somebody passed a text instead, say how.

    reading  of a command that has --encoding
    notes    where notes go [default: printed]
    """
    from neardup.files.reading import inputs

    try:
        return inputs.read_text(path, reading, notes or Notes(quiet=False))
    except OSError as error:
        # A name with an extension and without spaces was meant as a file.
        is_name = " " not in path and PurePath(path).suffix
        if is_name or error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise
        shown = path if len(path) <= MAX_SHOWN_PATH else f"{path[:MAX_SHOWN_PATH]}…"
        raise FileNotFoundError(
            f"{shown}: no such file; to pass the text itself, use --text"
        ) from error


def file_or_text(file: str | None, text: str | None) -> None:
    """Refuse both a file and a text, and neither."""
    if (file is None) == (text is None):
        raise click.BadParameter(
            "pass either a file (- for standard input) or --text T", param_hint="FILE"
        )


def recipe_of(name: str | None, bits: int | None, *, hint: str = "--recipe") -> Recipe:
    """Return a recipe, or raise a usage error that lists the choices."""
    from neardup.text.recipe import as_recipe

    try:
        recipe = as_recipe(name)
    except (ValueError, TypeError, OSError) as error:
        raise click.BadParameter(reason(error), param_hint=hint) from error
    if bits is None:
        return recipe
    try:
        return recipe.replace(bits=bits)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bits") from error


def check_streams(inputs: Sequence[str], as_json: bool, **outputs: Path | None) -> None:
    """Refuse to use standard input or standard output twice."""
    check_stdin(inputs)
    check_stdout(as_json, **outputs)


def check_stdin(names: Sequence[str], hint: str = "INPUT") -> None:
    """Refuse standard input if it is named more than once."""
    if list(names).count("-") > 1:
        raise click.BadParameter("standard input (-) can be read only once", param_hint=hint)


def check_stdout(as_json: bool, **outputs: Path | None) -> None:
    """Refuse to mix the JSON summary with an output on standard output."""
    from neardup.files.writing.new_file import is_stdout

    for name, path in outputs.items():
        if as_json and path is not None and is_stdout(path):
            raise click.BadParameter(
                f"the summary and --{name} {path} would be mixed on standard output; leave one "
                "out, or name a file",
                param_hint="--json",
            )
