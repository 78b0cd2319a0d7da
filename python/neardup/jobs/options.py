"""What a job is asked to do, whom it tells how far it is, and how it refuses."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from neardup.files.reading.batch import Reading
from neardup.near.question import Linkage
from neardup.text.fingerprint import RecipeLike

if TYPE_CHECKING:
    from neardup.files.reading import Unreadable


class RefusedError(ValueError):
    """The job cannot be as it was asked for; nothing was begun."""


class UnreadableError(ValueError):
    """Input could not be read, and the job was told to be strict."""


class NothingReadError(ValueError):
    """There were records, and none of them could be read; nothing was written."""


class Progress(Protocol):
    """Hears how far a job is."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        """A new stage of so many bytes or pairs, if that is known; or, with the same total and
        unit, another name for the one that is on."""

    def advance(self, count: int) -> None:
        """So many more are done."""


class Silent:
    """A progress nobody looks at."""

    def stage(self, name: str, total: int | None, unit: str) -> None: ...

    def advance(self, count: int) -> None: ...


@dataclass(frozen=True)
class Options:
    """What a job is asked to do.

    similarity, radius, recall, recipe, keep, threads   as for `neardup.dedup`; newest:NAME and
                best:NAME look at a column of the inputs
    linkage     as for `neardup.dedup` [default: star for dedup and for captures of HTTP
                responses, connected for cluster]
    engine      where inputs are read and pairs are looked for: "local", or "spark"
    master      engine "spark": sc://HOST:PORT, local[N], spark://HOST:PORT, yarn, k8s://HOST:PORT
                or "sail" [default: the active session of this process, or sail in this process]
    against     dedup: files or collections to compare with; only what is near a record of them is
                removed
    removed     dedup: a file to write what was removed to, and for which record
    kinds       cluster, captures: a table to write, a row for each kind of response
    labels      cluster, captures: TOML files of rules for labels, before those of neardup
    within      captures: responses are compared only if they share this: "host", "ip", "status", or
                a column of the capture
    report      an HTML page to write
    report_clusters  dedup, cluster: how many clusters it shows [default: 25; of captures
                10,000 kinds]
    lang        the language of the page: en, zh [default: that of the locale, or English]
    quarantine  where to list what could not be read [default: named after the output, if anything;
                none beside standard output]
    guard       in .csv and .tsv tables, put a ' before what a spreadsheet would run as a formula;
                kept records, .jsonl and .parquet are never changed
    equal       pairs: "all", or "first" to pair equal texts with the first of them only
    work_dir    a folder of its own for intermediate files, emptied and removed when the job is done
    resume      read nothing again if a stopped run has left all that was read in work_dir, and
                all inputs are files that have not changed since
    strict      stop, and write nothing, if something cannot be read
    reading     formats and columns of the inputs; `Reading.viewing`, that they are captures of HTTP
                responses, of which the views of the recipe are compared. A recipe for HTTP and
                inputs that end in .warc or .har say so too; `Reading.format`, that they are texts
    on_problem  is told of each record that cannot be read
    on_warning  is told what will take very long, before it begins
    on_note     is told what was read in another way than one may expect, as `Summary.notes` has it
    progress    is told how far the job is
    """

    similarity: float | None = None
    radius: int | None = None
    recall: float | None = None
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
    progress: Progress = field(default_factory=Silent)


def default_linkage(job: str, reading: Reading) -> Linkage:
    """Nothing is removed by a chain, unless that is asked for. Nor are kinds of response chained:
    pages of one site are alike, and a chain of them would hide the odd one."""
    return "star" if job == "dedup" or reading.viewing is not None else "connected"


@contextmanager
def refuse_bad_options() -> Iterator[None]:
    """What is wrong here is wrong with what was asked for, not with the data."""
    try:
        yield
    except ValueError as error:
        raise RefusedError(str(error)) from error


# What a job did.

# A share of pairs that no number of a few digits tells from all.
NEARLY_ALL = 0.9995


@dataclass
class Summary:
    """The numbers at the end of a job.

    read         documents read; `reference` of them only to compare with
    unreadable   records that gave none
    no_signal    documents with too few words for a fingerprint
    candidates   pairs that were looked at; `verified` of them by their exact cosine
    pairs        pairs that count
    clusters     clusters of two or more
    kept, removed  documents of the inputs; None where the job keeps and removes nothing
    exact        what was found and is an exact copy: equal, character by character, to the document
                 that is kept, or that stands for its cluster; pairs: pairs of equal texts
    near         all else that was found: near-duplicates
    clustered    cluster: documents in clusters of two or more
    kinds, alone  cluster, captures: clusters of any size, and how many of them have one response
    similarity, radius, recall   what was asked for
    estimated_recall   the share of pairs just above the similarity that was found, estimated from
                 those found; None if there is none
    plan         how pairs were looked for
    weakest      the least similar member of a cluster that chaining has made, if it is less similar
                 to what is kept than was asked for: id, kept, similarity, size
    peak_memory  bytes
    files        what was written
    notes        what was read in another way than one may expect, a sentence each
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
    clustered: int | None = None
    kinds: int | None = None
    alone: int | None = None
    similarity: float | None = None
    radius: int | None = None
    recall: float = 1.0
    estimated_recall: float | None = None
    recipe: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    weakest: dict[str, Any] | None = None
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what does not apply is left out."""
        found = {name: value for name, value in asdict(self).items() if value is not None}
        return found if self.notes else {x: y for x, y in found.items() if x != "notes"}


def peak_memory() -> int:
    """The most memory this process has had, in bytes; 0 where that cannot be told."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        # Linux; what getrusage tells there may be of the process that started this one.
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
