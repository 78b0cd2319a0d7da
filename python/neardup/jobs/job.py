"""One run of a job: its work folder, reading, matching, and where one can go on from."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import check_int
from neardup.engines import engine
from neardup.files.reading.batch import Precompute, Precomputed, Reading
from neardup.files.reading.document import name_of
from neardup.jobs import reference, work_folder
from neardup.jobs.captures import Groups, labels_of, recipe_of, viewing_of, with_views
from neardup.jobs.forecast import forecast
from neardup.jobs.options import (
    NothingReadError,
    Options,
    Summary,
    UnreadableError,
    default_linkage,
    peak_memory,
    refuse_bad_options,
)
from neardup.jobs.prefetch import ahead
from neardup.jobs.spool import MOST_OPEN, Spool, SpooledCorpus, bounds_of, open_corpus
from neardup.jobs.work_folder import STATE, Stamp, size, stamp
from neardup.near.corpus import precompute
from neardup.near.keep import Keep
from neardup.near.matches import PairSample
from neardup.near.question import Linkage, check_linkage, check_question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.engines.spark.read_inputs import Spread
    from neardup.files.reading import Batch, DuplicateIds, Unreadable
    from neardup.near.matches import Matches

VERSION = 6
# Notes that a summary keeps: a thousand files may each have one.
MOST_NOTES = 100
# More clusters than this make a page that no browser opens.
MOST_CLUSTERS = 10_000
QUARANTINE = {"source": str, "line": int, "reason": str}


class Job:
    """One run: its corpus, its summary, and what it writes to."""

    @refuse_bad_options()
    def __init__(self, name: str, inputs: Sequence[str], out: Path | str, options: Options) -> None:
        from neardup.files import reading as sources

        inputs = [inputs] if isinstance(inputs, str) else inputs
        # What is told now belongs into a summary that is made when the recipe is known.
        told: list[str] = []
        options = with_views(options, inputs, told.append)
        self.linkage: Linkage = options.linkage or default_linkage(name, options.reading)
        check_linkage(self.linkage)
        self.engine = engine(options.engine, options.master)
        if options.resume and options.work_dir is None:
            raise ValueError("resume needs a work_dir: the one the earlier run was given")
        if options.resume and "-" in (*inputs, *options.against):
            raise ValueError("resume: standard input cannot be read again; save it to a file")
        self.options = options
        self.out = Path(out)
        if not self.out.name:
            given = "empty" if str(out) in ("", ".") else repr(str(out))
            raise ValueError(f"the output is {given}; name a file, or - for standard output")
        self.keep = Keep.parse(options.keep)
        self.recipe = recipe_of(options)
        self.viewing = viewing_of(options, self.recipe)
        self.labels = labels_of(name, options)
        self._groups = Groups(self.viewing)
        self.summary = Summary(name, recipe=self.recipe.identity)
        for message in told:
            self.note(message)
        self.inputs = sources.expand(list(inputs), options.reading, self.note)
        names = reference.expand(list(options.against), options.reading, self.note)
        sources.check_options([*self.inputs, *names], options.reading)
        self._groups.check_against([name for name in names if reference.is_collection(name)])
        # Those that are asked themselves; all others are read.
        self.collections = [
            name
            for name in names
            if reference.is_collection(name) and reference.can_be_asked(name, self.recipe)
        ]
        self.against = [name for name in names if name not in self.collections]
        for name in self.against:
            reference.check_sketches(name, self.recipe)
        # Complains before any work is done.
        asked_for = options.similarity, options.radius, options.recall
        self.question = check_question(*asked_for, bits=self.recipe.bits)
        self._check_outputs()
        self._check_report()
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
    def quarantine(self) -> Path | None:
        """Where what cannot be read is listed. Beside standard output there is no place for it."""
        from neardup.files import writing
        from neardup.files.reading.formats import ending

        if self.options.quarantine is not None or writing.is_stdout(self.out):
            return self.options.quarantine

        # The end of "kept.jsonl.gz" is all from its first format ending on.
        name = self.out.name
        stem = name[: name.lower().rindex(ending(name))] if ending(name) else name
        return self.out.with_name(f"{stem}.quarantine.jsonl")

    @property
    def beside(self) -> Path:
        """Where intermediate files lie: next to the output there is room for them, and /tmp may be
        memory."""
        from neardup.files import writing

        if writing.is_stdout(self.out):
            return Path(tempfile.gettempdir())
        return self.out.absolute().parent

    @property
    def is_sketched(self) -> bool:
        """Whether sketches are made of the texts, or else fingerprints."""
        return self.question.similarity is not None

    def _check_outputs(self) -> None:
        from neardup.files import writing

        inputs = [*self.inputs, *self.against, *self.collections]
        outputs = [self.out]
        if (quarantine := self.quarantine) is not None:
            if quarantine.exists() or self.options.quarantine is not None:
                writing.check(quarantine, inputs)
            outputs.append(quarantine)
        if (removed := self.options.removed) is not None:
            writing.check(removed, inputs)
            outputs.append(removed)
        if (kinds := self.options.kinds) is not None:
            writing.check(kinds, inputs)
            outputs.append(kinds)
        if (report := self.options.report) is not None:
            writing.check(report, inputs, endings=(".html", ".htm"))
            outputs.append(report)
        named = [writing.shown(path) or os.path.abspath(path) for path in outputs]
        for name in named:
            if named.count(name) > 1:
                raise ValueError(f"{name}: named for two outputs; give each its own file")

    def _check_report(self) -> None:
        """What is asked of a page can be done, and there is a page."""
        wanted = {"report_clusters": self.options.report_clusters, "lang": self.options.lang}
        for name, value in wanted.items():
            if value is not None and self.options.report is None:
                raise ValueError(
                    f"{name} is {value!r}, but no report is written; name its file: --report "
                    "FILE.html"
                )
        if self.options.lang is not None:
            from neardup.reports.page import LANGUAGES

            if self.options.lang not in LANGUAGES:
                raise ValueError(
                    f"lang is {self.options.lang!r}; it must be one of {', '.join(LANGUAGES)}"
                )
        if self.options.report_clusters is not None:
            check_int("report_clusters", self.options.report_clusters, 0, MOST_CLUSTERS)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """In here the engine is open. What Spark reads itself is expanded by it."""
        with self.engine.opened(self.note):
            if self.engine.session is None:
                yield
                return
            from neardup.engines.spark.read_inputs import expanded, opened_by_spark

            self.inputs = expanded(self.engine.session, self.inputs)
            self.against = expanded(self.engine.session, self.against)
            with opened_by_spark(self.engine.session):
                yield

    @contextmanager
    def work(self) -> Iterator[Path]:
        """The work folder. One that was not named is gone afterwards, whatever happens."""
        work_folder.tidy(self.beside)
        if (named := self.options.work_dir) is not None:
            with work_folder.alone_in(named):
                try:
                    yield named
                except (UnreadableError, NothingReadError):
                    # Half a corpus is nothing to go on from; a whole one of an earlier run stays.
                    if not (named / STATE).exists():
                        work_folder.empty(named)
                    raise
                # Done: what is left here would only be in the way.
                with suppress(OSError):
                    work_folder.empty(named)
            return
        with work_folder.unnamed(self.beside) as folder:
            yield folder

    def read(self, folder: Path) -> SpooledCorpus:
        """The corpus: read and fingerprinted, or as an earlier run has left it."""
        state = self._state()
        self._stamps = {path: stamp(path) for path in self._files() if os.path.isfile(path)}
        is_done = self.options.resume and self._is_done(folder, state)
        if not is_done:
            work_folder.empty(folder)
            self._read_all(folder)
        columns = self.options.reading.text_columns
        corpus = open_corpus(folder, self.recipe, columns, sketched=self.is_sketched)
        if is_done:
            self._tell_again(corpus)
        self._check_read(corpus)
        self._groups.check(self.inputs)
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
        for path, before in self._stamps.items():
            if stamp(path) != before:
                raise OSError(
                    f"{name_of(path)}: changed while the job ran; nothing was written, run again"
                )

    def _tell_again(self, corpus: SpooledCorpus) -> None:
        """What the earlier run could not read, this one cannot either."""
        if self.options.on_problem is not None:
            for problem in corpus.unread(corpus.unreadable):
                self.options.on_problem(problem)

    def _check_read(self, corpus: SpooledCorpus) -> None:
        """Refuses to go on without what it was asked for: all records, or else any."""
        is_whole = len(corpus.files) == len(self._files())
        if is_whole and corpus.is_unread:
            self._refuse_nothing(corpus, "no record could be read", 1 + corpus.unread_reference)
        if is_whole and self.against and corpus.is_reference_unread and not self.collections:
            self._refuse_nothing(corpus, "no record to compare with could be read", 1)
        if self.options.strict and corpus.unreadable:
            many = "1 record" if corpus.unreadable == 1 else f"{corpus.unreadable:,} records"
            raise UnreadableError(
                f"{many} could not be read, the first is {_first(corpus, 1)}; "
                "with --strict nothing is written then"
            )

    def _refuse_nothing(self, corpus: SpooledCorpus, what: str, number: int) -> None:
        """With nothing read, an empty output would take the place of a good one."""
        self.check_unchanged()
        first = _first(corpus, number)
        self.write_quarantine(corpus)
        listed = "".join(f"; all problems are listed in {path}" for path in self.summary.files)
        raise NothingReadError(
            f"{what}: {first}; nothing was written, and files of before are as they were{listed}"
        )

    def _read_all(self, folder: Path) -> None:
        from neardup.files import reading as sources

        files = self._files()
        sizes = [size(path) for path in files]
        known = None if None in sizes else sum(size or 0 for size in sizes)
        progress = self.options.progress
        progress.stage("reading", known, "bytes")
        repeats = sources.DuplicateIds()
        # Only clusters are told by what is known of their responses.
        with Spool(folder, self.recipe, facts=self.summary.job == "cluster") as spool:

            def report(problem: Unreadable) -> None:
                spool.problem(problem)
                if self.options.on_problem is not None:
                    self.options.on_problem(problem)

            spread = self._spread(files)
            for number, path in enumerate(files):
                if number == len(self.against):
                    spool.end_reference()
                coming: AbstractContextManager[Iterator[Batch]]
                if spread is not None and spread.has(number):
                    found = spread.batches(number, report, self.note, progress.advance)
                    coming = nullcontext(found)
                elif number < len(self.against) and reference.is_collection(path):
                    coming = ahead(reference.batches(path))
                else:
                    batches = sources.read_batches(
                        path,
                        self._reading(),
                        report,
                        note=self.note,
                        progress=progress.advance,
                        making=self._making(spool),
                    )
                    coming = ahead(batches)
                with coming as some:
                    for batch in some:
                        if number >= len(self.against):
                            repeats.see(batch.ids)
                        self._add(spool, batch)
                spool.end_file(path)
                if self.options.strict and spool.unreadable:
                    break
            spool.close()
        if repeats.count:
            self.note(self._repeated(repeats))

    def _spread(self, files: Sequence[str]) -> Spread | None:
        """The files as workers of Spark read them, if there are any."""
        if self.engine.session is None:
            return None
        from neardup.engines.spark.input_units import Work
        from neardup.engines.spark.read_inputs import Spread

        work = Work(self._reading(), self.question, self.recipe)
        return Spread(
            self.engine.session,
            files,
            work,
            skip=reference.is_collection,
            most_in_place=MOST_OPEN,
        )

    def _repeated(self, repeats: DuplicateIds) -> str:
        count = f"{repeats.count:,} record{' has' if repeats.count == 1 else 's have'}"
        told = f"{count} the id of an earlier one, first {repeats.first!r}"
        if self.options.removed is not None:
            told += "; line in --removed tells them apart"
        return told

    def _making(self, spool: Spool) -> Precompute | None:
        """What a source may make of texts: not with a hash that only Python can call, nor on other
        threads than all, nor where the texts have to be spooled."""
        simple = self.is_sketched or not callable(self.recipe.hash)
        if simple and self.options.threads is None and spool.has_room_in_place():
            return Precompute(self.recipe.pipeline, self.is_sketched)
        return None

    def _add(self, spool: Spool, batch: Batch) -> None:
        import numpy as np

        self._groups.see(batch)
        if batch.made is not None:
            spool.add(batch, batch.made)
            return
        signal, sketches, values = precompute(
            self.question, batch.texts, self.recipe, self.options.threads
        )
        spool.add(batch, Precomputed(signal, values, sketches, np.diff(bounds_of(batch.texts))))

    def _reading(self) -> Reading:
        from dataclasses import replace

        return replace(
            self.options.reading,
            key_column=self.keep.column,
            viewing=self.viewing,
            threads=self.options.threads,
        )

    def match(self, corpus: SpooledCorpus, order: NDArray[np.int64] | None = None) -> Matches:
        """The near-duplicates of the corpus, ready to be looked for.

        order  rows, those that are to stand for others first
        """
        # Inputs that are compared with others are not compared with each other, even if the others
        # are in a collection, or there are none.
        compared = bool(self.against or self.collections)
        first = corpus.reference or (len(corpus) if compared else 0)
        asked, summary = self.question, self.summary
        summary.similarity, summary.radius = asked.similarity, asked.radius
        summary.recall = asked.recall
        self.options.progress.stage("finding texts that say the same", None, "records")
        matches = self.engine.match(
            corpus,
            asked,
            order=order,
            reference_rows=first,
            threads=self.options.threads,
            tick=self.options.progress.advance,
            stage=self.options.progress.stage,
        )
        # Where nothing but collections is asked, no two rows are compared.
        if first < len(corpus) and (warning := forecast(corpus, asked, matches)):
            self.options.on_warning(warning)
        if self.options.report is not None:
            matches.sample = PairSample(asked, self.recipe.bits)
        return matches

    def matched(self, matches: Matches) -> None:
        """Notes what was seen while matching."""
        self.check_unchanged()
        counts, summary = matches.counts, self.summary
        summary.candidates, summary.verified = counts.candidates, counts.verified
        summary.pairs, summary.plan = counts.pairs, matches.plan
        summary.estimated_recall = counts.estimated_recall
        self.stage_done("match")
        # Of a chain the ends are compared too, and copies are told from near-duplicates.
        self.options.progress.stage("comparing with what is kept", None, "pairs")

    def stage_done(self, name: str) -> None:
        now = time.perf_counter()
        self.summary.stages[name] = round(now - self._stage_started, 3)
        self._stage_started = now

    def write_quarantine(self, corpus: SpooledCorpus) -> None:
        """What could not be read. A file that was named is written like any output, also empty."""
        path = self.quarantine
        if path is None or (not corpus.unreadable and self.options.quarantine is None):
            return
        from neardup.files import writing

        with writing.open_rows(path, QUARANTINE, guard=self.options.guard) as write:
            for problem in corpus.problems(corpus.unreadable):
                write(dict(zip(QUARANTINE, problem, strict=True)))
        self.summary.files.append(writing.shown(path) or str(path))

    def finish(self) -> Summary:
        path = self.quarantine
        if path is not None and self.options.quarantine is None and not self.summary.unreadable:
            # One of an earlier run would tell of what is mended.
            path.unlink(missing_ok=True)
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
            "views": self._state_of_views(),
            "inputs": [[path, *stamp(path)] for path in self.inputs],
            "against": [[path, *stamp(path)] for path in (*self.against, *self.collections)],
        }

    def _state_of_views(self) -> list[Any] | None:
        """Facts are kept for some jobs only."""
        if self.viewing is None:
            return None
        views, masks, within = self.viewing
        return [self.summary.job, list(views), list(masks), within]

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
            if None in stamp(path):
                self.options.on_warning(
                    f"{name_of(path)}: nothing tells whether it is what the earlier run has read; "
                    "all inputs are read again"
                )
                return True
        return False


def _first(corpus: SpooledCorpus, number: int) -> Unreadable:
    return corpus.unread(number)[-1]
