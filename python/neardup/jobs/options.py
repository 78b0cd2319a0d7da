"""What a job is asked to do, whom it tells how far it is, and how it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from neardup.files.reading.batch import Reading
from neardup.near.clusters import Linkage
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
def asked() -> Iterator[None]:
    """What is wrong here is wrong with what was asked for, not with the data."""
    try:
        yield
    except ValueError as error:
        raise RefusedError(str(error)) from error
