"""What all jobs share: their options, the work folder, reading, and where one can go on from."""

from __future__ import annotations

import json
import os
import queue
import stat
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from neardup.clusters import Linkage, check_linkage
from neardup.engines import engine
from neardup.fingerprint import RecipeLike
from neardup.jobs import reference, work_folder
from neardup.jobs.spool import Corpus, Spool, bounds_of, open_corpus
from neardup.jobs.summary import Summary, peak_memory
from neardup.jobs.work_folder import STATE
from neardup.keep import Keep
from neardup.near.corpus import made_for
from neardup.near.question import question
from neardup.recipe import as_recipe
from neardup.sources.batch import Made, Making, Reading
from neardup.sources.document import name_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.matches import Matches
    from neardup.sources import Batch, Repeats, Unreadable

T = TypeVar("T")
# By which a change of a file is noticed; nothing for what is no file.
Stamp = tuple[int | None, ...]
VERSION = 3
# Batches read before they are asked for.
AHEAD = 2
# Seconds to wait for a reader that is no longer needed.
PATIENCE = 1.0
# Notes that a summary keeps: a thousand files may each have one.
MOST_NOTES = 100
# From so many records on, comparing each with each is more than one waits for.
MANY = 100_000
QUARANTINE = {"source": str, "line": int, "reason": str}
# Nothing is removed by a chain of pairs, unless that is asked for.
LINKAGES: dict[str, Linkage] = {"dedup": "star"}


class RefusedError(ValueError):
    """The job cannot be as it was asked for; nothing was begun."""


class UnreadableError(ValueError):
    """Input could not be read, and the job was told to be strict."""


class Progress(Protocol):
    """Hears how far a job is."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        """A new stage of so many bytes or pairs, if that is known."""

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
    linkage     as for `neardup.dedup` [default: star for dedup, connected for cluster]
    engine      where pairs are looked for: "local"
    against     dedup: files or collections to compare with; only what is near a record of them is
                removed
    removed     dedup: a file to write what was removed to, and for which record
    report      dedup, cluster: an HTML page to write
    quarantine  where to list what could not be read [default: named after the output, if anything]
    equal       pairs: "all", or "first" to pair equal texts with the first of them only
    work_dir    a folder of its own for intermediate files, emptied and removed when the job is done
    resume      read nothing again if a stopped run has left all that was read in work_dir, and
                all inputs are files that have not changed since
    strict      stop, and write nothing, if something cannot be read
    reading     formats and columns of the inputs
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
    against: Sequence[str] = ()
    removed: Path | None = None
    report: Path | None = None
    quarantine: Path | None = None
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


@contextmanager
def asked() -> Iterator[None]:
    """What is wrong here is wrong with what was asked for, not with the data."""
    try:
        yield
    except ValueError as error:
        raise RefusedError(str(error)) from error


class Job:
    """One run: its corpus, its summary, and what it writes to."""

    @asked()
    def __init__(self, name: str, inputs: Sequence[str], out: Path | str, options: Options) -> None:
        from neardup import sources

        inputs = [inputs] if isinstance(inputs, str) else inputs
        self.linkage: Linkage = options.linkage or LINKAGES.get(name, "connected")
        check_linkage(self.linkage)
        self.engine = engine(options.engine)
        if options.resume and options.work_dir is None:
            raise ValueError("resume needs a work_dir: the one the earlier run was given")
        if options.resume and "-" in (*inputs, *options.against):
            raise ValueError("resume: standard input cannot be read again; save it to a file")
        self.options = options
        self.out = Path(out)
        self.keep = Keep.parse(options.keep)
        self.recipe = as_recipe(options.recipe)
        self.summary = Summary(name, recipe=self.recipe.identity)
        self.inputs = sources.expand(list(inputs), options.reading, self.note)
        names = reference.expand(list(options.against), options.reading, self.note)
        sources.check_options([*self.inputs, *names], options.reading)
        # Those that are asked themselves; all others are read.
        self.collections = [
            name
            for name in names
            if reference.is_collection(name) and reference.can_be_asked(name, self.recipe)
        ]
        self.against = [name for name in names if name not in self.collections]
        # Complains before any work is done.
        asked_for = options.similarity, options.radius, options.recall
        self.question = question(*asked_for, bits=self.recipe.bits)
        self._check_outputs()
        if options.work_dir is not None:
            work_folder.check(options.work_dir)
        self._stamps: dict[str, Stamp] = {}
        self._started = time.perf_counter()
        self._stage_started = self._started

    def note(self, message: str) -> None:
        """Something was read in another way than one may expect."""
        if len(self.summary.notes) < MOST_NOTES:
            self.summary.notes.append(message)
        if self.options.on_note is not None:
            self.options.on_note(message)

    @property
    def quarantine(self) -> Path:
        """Where what cannot be read is listed."""
        if self.options.quarantine is not None:
            return self.options.quarantine
        from neardup.sources.formats import ending

        # The end of "kept.jsonl.gz" is all from its first format ending on.
        name = self.out.name
        stem = name[: name.lower().rindex(ending(name))] if ending(name) else name
        return self.out.with_name(f"{stem}.quarantine.jsonl")

    @property
    def is_sketched(self) -> bool:
        """Whether sketches are made of the texts, or else fingerprints."""
        return self.question.similarity is not None

    def _check_outputs(self) -> None:
        from neardup import sinks

        inputs = [*self.inputs, *self.against, *self.collections]
        outputs = [self.out, self.quarantine]
        if self.quarantine.exists() or self.options.quarantine is not None:
            sinks.check(self.quarantine, inputs)
        if (removed := self.options.removed) is not None:
            sinks.check(removed, inputs)
            outputs.append(removed)
        if (report := self.options.report) is not None:
            sinks.check(report, inputs, endings=(".html", ".htm"))
            outputs.append(report)
        named = [os.path.abspath(output) for output in outputs]
        for name in named:
            if named.count(name) > 1:
                raise ValueError(f"{name}: named for two outputs; give each its own file")

    @contextmanager
    def work(self) -> Iterator[Path]:
        """The work folder. One that was not named is gone afterwards, whatever happens."""
        # Next to the output: there is room for it, and /tmp may be memory.
        beside = self.out.absolute().parent
        work_folder.tidy(beside)
        if (named := self.options.work_dir) is not None:
            with work_folder.alone_in(named):
                try:
                    yield named
                except UnreadableError:
                    # Half a corpus is nothing to go on from; a whole one of an earlier run stays.
                    if not (named / STATE).exists():
                        work_folder.empty(named)
                    raise
                # Done: what is left here would only be in the way.
                with suppress(OSError):
                    work_folder.empty(named)
            return
        with work_folder.unnamed(beside) as folder:
            yield folder

    def read(self, folder: Path) -> Corpus:
        """The corpus: read and fingerprinted, or as an earlier run has left it."""
        state = self._state()
        self._stamps = {path: _stamp(path) for path in self._files() if os.path.isfile(path)}
        is_done = self.options.resume and self._is_done(folder, state)
        if not is_done:
            work_folder.empty(folder)
            self._read_all(folder)
        columns = self.options.reading.text_columns
        corpus = open_corpus(folder, self.recipe, columns, sketched=self.is_sketched)
        if is_done:
            self._tell_again(corpus)
        if self.options.strict and corpus.unreadable:
            self._refuse(corpus)
        if not is_done:
            (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
        summary = self.summary
        asked = sum(map(reference.size, self.collections))
        summary.read, summary.reference = len(corpus) + asked, corpus.reference + asked
        summary.unreadable = corpus.unreadable
        summary.no_signal = int((~corpus.signal).sum())
        self.stage_done("read")
        return corpus

    def _files(self) -> list[str]:
        return [*self.against, *self.inputs]

    def check_unchanged(self) -> None:
        """Records are copied from where they lay when they were read, so they must lie there."""
        for path, stamp in self._stamps.items():
            if _stamp(path) != stamp:
                raise OSError(
                    f"{name_of(path)}: changed while the job ran; nothing was written, run again"
                )

    def _tell_again(self, corpus: Corpus) -> None:
        """What the earlier run could not read, this one cannot either."""
        from neardup.sources import Unreadable

        if self.options.on_problem is not None:
            for problem in corpus.problems(corpus.unreadable):
                self.options.on_problem(Unreadable(*problem))

    def _refuse(self, corpus: Corpus) -> None:
        source, line, reason = corpus.problems(1)[0]
        place = source if line is None else f"{source}:{line}"
        raise UnreadableError(
            f"{corpus.unreadable:,} records could not be read, first {place}: {reason}; "
            "nothing was written, because strict was asked for"
        )

    def _read_all(self, folder: Path) -> None:
        from neardup import sources

        files = self._files()
        sizes = [_size(path) for path in files]
        known = None if None in sizes else sum(size or 0 for size in sizes)
        progress = self.options.progress
        progress.stage("reading", known, "bytes")
        repeats = sources.Repeats()
        with Spool(folder, self.recipe) as spool:

            def report(problem: Unreadable) -> None:
                spool.problem(problem)
                if self.options.on_problem is not None:
                    self.options.on_problem(problem)

            for number, path in enumerate(files):
                if number == len(self.against):
                    spool.end_reference()
                if number < len(self.against) and reference.is_collection(path):
                    batches = reference.batches(path)
                else:
                    batches = sources.read_batches(
                        path,
                        self._reading(),
                        report,
                        note=self.note,
                        progress=progress.advance,
                        making=self._making(spool),
                    )
                with ahead(batches) as coming:
                    for batch in coming:
                        if number >= len(self.against):
                            repeats.see(batch.ids.to_pylist())
                        self._add(spool, batch)
                spool.end_file(path)
                if self.options.strict and spool.unreadable:
                    break
            spool.close()
        if repeats.count:
            self.note(self._repeated(repeats))

    def _repeated(self, repeats: Repeats) -> str:
        count = f"{repeats.count:,} record{' has' if repeats.count == 1 else 's have'}"
        told = f"{count} the id of an earlier one, first {repeats.first!r}"
        if self.options.removed is not None:
            told += "; line in --removed tells them apart"
        return told

    def _making(self, spool: Spool) -> Making | None:
        """What a source may make of texts: not with a hash that only Python can call, nor on other
        threads than all, nor where the texts have to be spooled."""
        simple = self.is_sketched or not callable(self.recipe.hash)
        if simple and self.options.threads is None and spool.has_room_in_place():
            return Making(self.recipe.pipeline, self.is_sketched)
        return None

    def _add(self, spool: Spool, batch: Batch) -> None:
        import numpy as np

        if batch.texts is None:
            assert batch.made is not None  # noqa: S101
            spool.add(batch, batch.made)
            return
        signal, sketches, values = made_for(
            self.question, batch.texts, self.recipe, self.options.threads
        )
        spool.add(batch, Made(signal, values, sketches, np.diff(bounds_of(batch.texts))))

    def _reading(self) -> Reading:
        from dataclasses import replace

        return replace(self.options.reading, key_column=self.keep.column)

    def match(self, corpus: Corpus, order: NDArray[np.int64] | None = None) -> Matches:
        """The near-duplicates of the corpus, ready to be looked for.

        order  rows, those that are to stand for others first
        """
        # Inputs that are compared with collections only are not compared with each other.
        first = corpus.reference or (len(corpus) if self.collections else 0)
        asked, summary = self.question, self.summary
        summary.similarity, summary.radius = asked.similarity, asked.radius
        summary.recall = asked.recall
        if asked.similarity is not None and asked.recall == 1 and len(corpus) > MANY:
            self.options.on_warning(
                f"recall is 1: each of {len(corpus):,} records is compared with each other, which "
                "may take very long; with a recall of 0.999 few are"
            )
        self.options.progress.stage("comparing", None, "pairs")
        return self.engine.match(
            corpus,
            asked,
            order=order,
            first=first,
            threads=self.options.threads,
            tick=self.options.progress.advance,
        )

    def matched(self, matches: Matches) -> None:
        """Notes what was seen while matching."""
        self.check_unchanged()
        counts, summary = matches.counts, self.summary
        summary.candidates, summary.verified = counts.candidates, counts.verified
        summary.pairs, summary.plan = counts.pairs, matches.plan
        summary.estimated_recall = counts.estimated_recall
        self.stage_done("match")

    def stage_done(self, name: str) -> None:
        now = time.perf_counter()
        self.summary.stages[name] = round(now - self._stage_started, 3)
        self._stage_started = now

    def write_quarantine(self, corpus: Corpus) -> None:
        """What could not be read. A file that was named is written like any output, also empty."""
        if not corpus.unreadable and self.options.quarantine is None:
            return
        from neardup import sinks

        with sinks.open_rows(self.quarantine, QUARANTINE) as write:
            for problem in corpus.problems(corpus.unreadable):
                write(dict(zip(QUARANTINE, problem, strict=True)))
        self.summary.files.append(str(self.quarantine))

    def finish(self) -> Summary:
        if str(self.quarantine) not in self.summary.files:
            # One of an earlier run would tell of what is mended.
            self.quarantine.unlink(missing_ok=True)
        self.stage_done("write")
        self.summary.seconds = round(time.perf_counter() - self._started, 3)
        self.summary.peak_memory = peak_memory()
        return self.summary

    def _state(self) -> dict[str, Any]:
        """What must be the same for a finished stage to be of use."""
        reading = self._reading()
        return {
            "version": VERSION,
            "recipe": self.recipe.identity,
            "compared by": "similarity" if self.is_sketched else "radius",
            "reading": [*reading.text_columns, reading.id_column, reading.key_column],
            "lines": [reading.lines, reading.format],
            "cells": [reading.delimiter, reading.quoting, reading.header],
            "encoding": reading.encoding,
            "limits": [reading.max_bytes, reading.max_document],
            "inputs": [[path, *_stamp(path)] for path in self.inputs],
            "against": [[path, *_stamp(path)] for path in (*self.against, *self.collections)],
        }

    def _is_done(self, folder: Path, state: dict[str, Any]) -> bool:
        try:
            known = json.loads((folder / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        if not isinstance(known, dict):
            return False
        for name, value in state.items():
            if known.get(name) != value:
                raise ValueError(
                    f"{folder}: the earlier run differs in {name}: {known.get(name)!r}, "
                    f"now {value!r}; run without --resume to begin anew"
                )
        return not self._unproven()

    def _unproven(self) -> bool:
        """Whether an input may have changed without a sign of it: then all is read again."""
        for path in self._files():
            if None in _stamp(path):
                self.options.on_warning(
                    f"{name_of(path)}: nothing tells whether it is what the earlier run has read; "
                    "all inputs are read again"
                )
                return True
        return False


@contextmanager
def ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """The same items, made on another thread before they are asked for."""
    made: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(AHEAD)
    stopped = threading.Event()

    def put(item: T | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                made.put((item, error), timeout=0.1)
                return

    def make() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, None)
        except BaseException as error:
            put(None, error)

    def take() -> Iterator[T]:
        while True:
            item, error = made.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    thread = threading.Thread(target=make, name="neardup-reader", daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        stopped.set()
        # Not for ever: it may wait for a pipe that gives nothing, and Ctrl-C is to stop at once.
        thread.join(PATIENCE)


def _size(path: str) -> int | None:
    return None if reference.is_collection(path) else _stamp(path)[0]


def _stamp(path: str) -> Stamp:
    """Size, time and number of a file. A URL and a pipe have nothing of the kind."""
    if reference.is_collection(path):
        return reference.stamp(path)
    with suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev
    return (None,)
