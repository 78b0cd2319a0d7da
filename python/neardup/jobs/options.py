"""The options of a job, its errors, its progress, and the summary it returns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from neardup.files.reading.batch import Reading
from neardup.near.question import Linkage
from neardup.text.fingerprint import RecipeLike

if TYPE_CHECKING:
    from neardup.copying.findings import Copying, Finding
    from neardup.files.reading.batch import Unreadable

# A share above this would be rounded to 100 %; messages say "over 99.9 %".
NEARLY_ALL = 0.9995
# Share of copied text from which `check` marks a document.
THRESHOLD = 0.3


class RefusedError(ValueError):
    """The options or the inputs are wrong; the job was not started."""


class UnreadableError(ValueError):
    """A record could not be read, and the job is strict."""


class NothingReadError(ValueError):
    """No record could be read; nothing was written."""


@contextmanager
def refuse_bad_options() -> Iterator[None]:
    """Re-raise ValueError as RefusedError: the options are wrong, not the data."""
    try:
        yield
    except ValueError as error:
        raise RefusedError(str(error)) from error


class Progress(Protocol):
    """Receiver of a job's progress."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        """Begin a stage of `total` units, None if unknown.

        The same total and unit as before: only the name of the current stage changes.
        """

    def advance(self, count: int) -> None:
        """Add units that are done."""


@dataclass(frozen=True)
class Options:
    """Options of `dedup`, `pairs` and `cluster`.

    similarity, radius, recall, distinguish, purpose, recipe, keep, threads   as for
                `neardup.dedup`; newest:NAME and best:NAME compare a column of the inputs
    linkage     as for `neardup.dedup` [default: star for dedup and for captures of HTTP
                responses, connected for cluster]
    engine      where inputs are read and pairs are found: "local", or "spark"
    master      engine "spark": sc://HOST:PORT, local[N], spark://HOST:PORT, yarn, k8s://HOST:PORT
                or "sail" [default: the active session of this process, or sail in this process]
    against     dedup: files or collections to compare with; only records near one of theirs are
                removed
    removed     dedup: a table of the removed records and the record kept for each
    kinds       cluster, captures: a table with a row for each kind of response
    labels      cluster, captures: TOML files of rules for labels, applied before the built-in ones
    within      captures: compare responses only if they share this: "host", "ip", "status", or
                a column of the capture
    report      an HTML page to write
    report_clusters  dedup, cluster: number of clusters in the report [default: 25; for captures
                10,000 kinds]
    lang        language of the report: en, zh [default: from the locale, or English]
    quarantine  a file that lists the unreadable records [default: named after the output, written
                if there are any; none with standard output]
    guard       in .csv and .tsv tables, put a ' before text that a spreadsheet would run as a
                formula; kept records, .jsonl and .parquet are never changed
    equal       pairs: "all", or "first" to pair equal texts with the first of them only
    work_dir    a folder for intermediate files, removed when the job is done
    resume      use the corpus that a stopped run left in work_dir, if all inputs are files that
                have not changed since
    strict      stop and write nothing if a record cannot be read
    reading     formats and columns of the inputs. With `Reading.viewing` they are captures of HTTP
                responses; a recipe for HTTP, and inputs that end in .warc or .har, imply it, and
                `Reading.format` names text formats
    on_problem  called with each record that cannot be read
    on_warning  called with each sentence of `Summary.warnings`, before the job goes on
    on_note     called with each sentence of `Summary.notes`
    progress    receives the stages and their progress
    """

    similarity: float | None = None
    radius: int | None = None
    recall: float | None = None
    distinguish: str | Iterable[str] | None = None
    purpose: str | None = None
    recipe: RecipeLike = None
    keep: str = "first"
    linkage: Linkage | None = None
    engine: str = "local"
    master: str | None = None
    against: Sequence[str] = ()
    removed: Path | None = None
    kinds: Path | None = None
    labels: Sequence[Path] = ()
    within: str | None = None
    report: Path | None = None
    report_clusters: int | None = None
    lang: str | None = None
    quarantine: Path | None = None
    guard: bool = True
    equal: str = "all"
    work_dir: Path | None = None
    resume: bool = False
    strict: bool = False
    threads: int | None = None
    reading: Reading = field(default_factory=Reading)
    on_problem: Callable[[Unreadable], object] | None = None
    on_warning: Callable[[str], object] = warnings.warn
    on_note: Callable[[str], object] | None = None
    progress: Progress | None = None


@dataclass
class Summary:
    """Counts and settings of a finished job.

    read         documents read, with `reference` documents to compare with
    unreadable   records that could not be read
    no_signal    documents with too few words for a fingerprint
    candidates   pairs compared; `verified` of them by exact cosine
    pairs        near-duplicate pairs
    clusters     clusters of two or more documents
    kept, removed  documents of the inputs; None for jobs that remove nothing
    exact        exact copies: of each set of texts that are equal, character by character, all
                 but one, whatever the threshold; with `against`, documents equal to one of the
                 reference; pairs: pairs of equal texts
    near         near-duplicates that are not exact copies
    clustered    cluster: documents in clusters of two or more
    templates    clusters made from one form with other fields, and the records in them, `of` so
                 many largest clusters if only these were looked at; with `distinguish` fields
                 these are kept apart
    kinds, alone  cluster, captures: clusters of any size, and those with one response
    differs      number of near-duplicates that differ from the record kept, their representative
                 or the other record of their pair, in each aspect
    lost         dedup: words of the records removed that the record kept lacks: their number, and
                 the median of a record
    similarity, radius, recall, distinguish   as requested
    estimated_recall   share of the pairs just above the similarity that was found, estimated from
                 the pairs found; None if there are none
    plan         how pairs were looked for
    weakest      the member of a chained cluster that is least similar to its representative, if
                 that is below the requested similarity: id, kept, similarity, size
    peak_memory  bytes
    files        the files written
    notes        sentences on input that is empty, was skipped or not read as expected
    warnings     sentences on what will take long, or give a result that nobody may have meant:
                 strangers within the radius or the similarity, inputs much shorter than the
                 reference
    """

    job: str
    read: int = 0
    reference: int = 0
    unreadable: int = 0
    no_signal: int = 0
    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    clusters: int = 0
    kept: int | None = None
    removed: int | None = None
    exact: int = 0
    near: int = 0
    differs: dict[str, int] = field(default_factory=dict)
    lost: dict[str, float] | None = None
    clustered: int | None = None
    templates: dict[str, int] | None = None
    kinds: int | None = None
    alone: int | None = None
    similarity: float | None = None
    radius: int | None = None
    recall: float = 1.0
    distinguish: list[str] = field(default_factory=list)
    estimated_recall: float | None = None
    recipe: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    weakest: dict[str, Any] | None = None
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, without those that do not apply."""
        said = {"notes": self.notes or None, "warnings": self.warnings or None}
        found = asdict(self) | said
        return {name: value for name, value in found.items() if value is not None}

    def as_lines(self) -> list[str]:
        """Return the summary for people: what was found, then how."""
        lines = [f"{self._found()}, unreadable {self.unreadable:,}", *self._differences()]
        if self.templates is not None and self.templates["clusters"]:
            lines.append(self._templates(**self.templates))
        lines += [self._documents(), self._how()]
        if (weak := self.weakest) is not None:
            lines.append(
                f"{weak['below']:,} records are below similarity {self.similarity:g} to their "
                f"representative (lowest {weak['similarity']:.2f}, {weak['id']!r} for "
                f"{weak['kept']!r} in a cluster of {weak['size']:,}), linked by chains of pairs; "
                "--linkage star prevents this"
            )
        lines.append(f"{self.seconds:.1f} seconds, {self.peak_memory / 1e6:,.0f} MB of memory")
        lines.append(f"wrote {', '.join(self.files)}")
        return lines

    def _found(self) -> str:
        copies = _count(self.exact, "exact copy", "exact copies")
        kinds = f"{copies}, {_count(self.near, 'near-duplicate')}"
        if self.kept is not None and self.removed is not None:
            removed = f"removed {self.removed:,}"
            return f"kept {self.kept:,}, {removed}" + (f" ({kinds})" if self.removed else "")
        if self.job == "pairs":
            return _count(self.pairs, "pair") + (f" ({kinds})" if self.pairs else "")
        if self.kinds is not None:
            alone = ""
            if self.alone:
                has = "has" if self.alone == 1 else "have"
                alone = f"; {_count(self.alone, 'kind')} {has} one response"
            return f"{_count(self.read, 'response')} of {_count(self.kinds, 'kind')}{alone}"
        if not self.clusters:
            return "no clusters"
        clusters = f"{_count(self.clusters, 'cluster')} with {self.clustered or 0:,} records"
        return f"{clusters} ({_count(self.clusters, 'representative')}, {kinds})"

    def _differences(self) -> Iterator[str]:
        """Return what differs between near-duplicates, and the option that keeps them apart."""
        counts = {name: count for name, count in self.differs.items() if count}
        # Responses of a kind differ where no mask hides it; the report of kinds shows it.
        if counts and self.kinds is None:
            members = (self.clustered or 0) - self.clusters
            of, other = {
                "dedup": (_count(self.removed or 0, "removed record"), " from the record kept"),
                "pairs": (_count(self.pairs, "pair"), ""),
                "cluster": (_count(members, "member"), " from their representative"),
            }[self.job]
            (name, count), *others = counts.items()
            line = f"{count:,} of {of} {'differs' if count == 1 else 'differ'} in {name}{other}"
            line += "".join(f", {count:,} in {name}" for name, count in others)
            if names := self.to_distinguish():
                keeps = "keeps them" if self.job == "dedup" else "keeps them apart"
                line += f"; --distinguish {','.join(names)} {keeps}"
            yield line
        if self.lost is not None and self.lost["words"]:
            yield (
                f"{_count(int(self.lost['words']), 'word')} of removed records "
                f"{'is' if self.lost['words'] == 1 else 'are'} missing in the record kept "
                f"(median {self.lost['median']:g})"
            )

    def _templates(self, clusters: int, records: int, of: int | None = None) -> str:
        found = _count(clusters, "cluster")
        if of is not None:
            found = f"{clusters:,} of the {of:,} largest clusters"
        are = "is a template" if clusters == 1 else "are templates"
        line = f"{found} {are}: {records:,} records made from one form with other fields"
        if "fields" in self.distinguish:
            return f"{line}, which were kept apart"
        return f"{line}; --distinguish fields keeps them apart"

    def to_distinguish(self) -> list[str]:
        """Return the aspects that would keep apart what differs; none if all were asked for."""
        if "fields" in self.distinguish:
            # Smaller clusters show fewer forms: with more aspects less might be kept.
            return []
        names = (*self.differs, "fields")
        wanted = [name for name in names if self.differs.get(name) or name in self.distinguish]
        return [] if set(wanted) <= set(self.distinguish) else wanted

    def _documents(self) -> str:
        line = f"read {_count(self.read, 'record')}"
        if self.reference:
            line += f", {self.reference:,} of them to compare with"
        if self.no_signal:
            line += f"; {self.no_signal:,} with too few words to compare"
        return line

    def _how(self) -> str:
        """Return how pairs were found, and what share of them."""
        apart = " or ".join(self.distinguish)
        apart = f"; texts that differ in {apart} were kept apart" if apart else ""
        return f"{self._found_share()}{apart}"

    def _found_share(self) -> str:
        plan = self.plan
        if self.similarity is None:
            reach = f"pairs of fingerprints at most {_count(self.radius or 0, 'bit')} apart"
            share = "all" if self.recall == 1 else f"about {_percent(self.recall)} of the"
            compared = "" if self.distinguish else "; texts were not compared"
            return f"found {share} {reach}{compared}"
        inverted = plan.get("method") == "inverted"
        if inverted and self.recall == 1:
            return "looked all records up in an inverted index; share found: 100 %"
        # Texts with identical features are found without a comparison.
        compared = "no pair had to be compared"
        if self.candidates:
            compared = f"compared {_count(self.candidates, 'pair')}"
        if inverted:
            compared = "looked all records up in an inverted index"
        if asked := plan.get("collections"):
            looked_up = f"looked each record up in {_count(asked, 'collection')}"
            compared = f"{compared}; {looked_up}" if self.candidates or inverted else looked_up
        if dense := plan.get("dense"):
            compared += f" and {_count(len(dense), 'dense group')}"
        if self.estimated_recall is None:
            if not (self.candidates or asked or dense or inverted):
                return compared
            return f"{compared}; expected share found: {_percent(self.recall)}"
        nearly_all = self.estimated_recall > NEARLY_ALL
        share = "over 99.9 %" if nearly_all else _percent(self.estimated_recall)
        return f"{compared}; estimated share found: {share}"


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


@dataclass(frozen=True)
class CheckOptions:
    """Options of `check`.

    against     files or collections to compare with [default: the inputs with each other]
    threshold   share of copied text from which a document is counted and marked
    rules       options of `neardup.check_copying`, by name
    template    text files: text that documents share with them does not count
    author_column  column of the author: authors may repeat their own texts
    exclude     ids of documents that are not sources
    out         a table to write
    html        pages to write: one file if the name ends in .html, otherwise a folder
    html_folder  write a folder, whatever the name of `html`
    lang        language of the pages: en, zh [default: from the locale, or English]
    anonymise   replace names of documents by numbers, except inside their texts
    guard, strict, reading, on_problem, on_note, progress   as for `Options`
    """

    against: Sequence[str] = ()
    threshold: float = THRESHOLD
    rules: Mapping[str, Any] = field(default_factory=dict)
    template: Sequence[str] = ()
    author_column: str | None = None
    exclude: Sequence[str] = ()
    out: Path | None = None
    html: Path | None = None
    html_folder: bool = False
    lang: str | None = None
    anonymise: bool = False
    guard: bool = True
    strict: bool = False
    reading: Reading = field(default_factory=Reading)
    on_problem: Callable[[Unreadable], object] | None = None
    on_note: Callable[[str], object] | None = None
    progress: Progress | None = None


# Columns of the table of a check: a row for each document and source; a document without sources
# has one row.
CHECK_COLUMNS: Mapping[str, type] = {
    "id": str,
    "share": float,
    "unquoted": float,
    "largest": float,
    "source": str,
    "source_share": float,
    "source_own_share": float,
    "words": int,
    "longest": int,
    "similarity": float,
}
_DOCUMENT_COLUMNS = 4


def check_rows(finding: Finding) -> Iterator[dict[str, Any]]:
    """Return the rows of a document, by `CHECK_COLUMNS`."""
    figures = finding.figures
    document = (finding.id, figures.share, figures.unquoted, figures.largest)
    if not finding.sources:
        empty = [None] * (len(CHECK_COLUMNS) - len(document))
        yield dict(zip(CHECK_COLUMNS, (*document, *empty), strict=True))
    for each in finding.sources:
        source = (each.id, each.share, each.own_share, each.words, each.longest, each.similarity)
        yield dict(zip(CHECK_COLUMNS, (*document, *source), strict=True))


@dataclass(frozen=True)
class Checked:
    """Results and counts of a finished check.

    reference    documents compared with
    unreadable   records that could not be read
    problems     the first of them; with `anonymise` their files are numbered
    above        documents whose share reaches the threshold
    peak_memory  bytes
    files        the files written
    """

    copying: Copying
    threshold: float
    reference: int
    unreadable: int
    problems: Sequence[Unreadable]
    above: int
    seconds: float
    peak_memory: int
    files: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the result for JSON, without the texts and the positions of passages."""
        return {
            "documents": len(self.copying.findings),
            "reference": self.reference,
            "unreadable": self.unreadable,
            "problems": [
                {"source": each.source, "line": each.line, "reason": each.reason}
                for each in self.problems
            ],
            "too_short": self.copying.too_short,
            "among": self.copying.among,
            "itself": len(self.copying.itself),
            "threshold": self.threshold,
            "above": self.above,
            "settings": dict(self.copying.settings),
            "findings": [
                {
                    "id": finding.id,
                    "words": finding.words,
                    "characters": finding.characters,
                    **asdict(finding.figures),
                    "by_characters": asdict(finding.by_characters),
                    "sources": [
                        dict(list(row.items())[_DOCUMENT_COLUMNS:])
                        for row in check_rows(finding)
                        if row["source"] is not None
                    ],
                }
                for finding in self.copying.findings
            ],
            "seconds": round(self.seconds, 3),
            "peak_memory": self.peak_memory,
            "files": list(self.files),
        }


def peak_memory() -> int:
    """Return the most memory this process has used, in bytes; 0 where it is unknown."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        # On Linux getrusage may include the parent process.
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
