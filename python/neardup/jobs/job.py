"""One run of `dedup`, `pairs` or `cluster`: checked options, then stage by stage to the summary.

`Job(…)` checks everything that can be wrong before anything is read. `Job.corpus` reads the inputs,
`Job.match` or `Job.find_clusters` finds near-duplicates, and `Job.outputs` puts the files in place;
`Job.summary` is then complete. The module of each command writes what only that command writes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values
from neardup._util.numbers import check_int
from neardup.engines import engine
from neardup.files import writing
from neardup.files.reading.inputs import check_options, expand, is_collection
from neardup.files.reading.locations import fetched_once, spooled_stdin
from neardup.jobs import reference, sample
from neardup.jobs.captures import texts_of_job
from neardup.jobs.differences import DifferenceTally
from neardup.jobs.options import Options, Summary, peak_memory, refuse_bad_options
from neardup.jobs.read import read_corpus
from neardup.jobs.work_folder import check_work_dir, open_work_folder
from neardup.near.keep import Keep
from neardup.near.matches import PairSample, removed_rows
from neardup.near.question import Linkage, check_linkage, check_purpose, check_question
from neardup.near.templates import Templates, find_templates

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.http.kinds import Kinds
    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Clusters, Matches

    Rows = NDArray[np.int64]

# Thousands of files may have a note each.
MAX_NOTES = 100
# A page with more clusters is too large for a browser.
MAX_REPORT_CLUSTERS = 10_000
QUARANTINE_COLUMNS = {"source": str, "line": int, "reason": str}


@dataclass(frozen=True, eq=False)
class FoundClusters:
    """The clusters of a corpus.

    clusters  the representative of each row, and how near it is
    removed   a table of the other rows; see `neardup.near.matches.removed_rows`
    templates  clusters made from one form, before they were split by fields; None if the job does
              not look for them
    """

    matches: Matches
    clusters: Clusters
    removed: pa.Table
    templates: Templates | None = None


class Job:
    """One run: its checked options, its inputs, and its summary.

    name         the command: dedup, pairs or cluster
    inputs       all files to read
    against      dedup: files to compare with, and collections that are read like files
    collections  dedup: collections that look texts up themselves
    reading      how inputs are read; `viewing` is set if they are captures
    advance      adds units to the progress; None if nobody watches it
    differing    counts what differs between near-duplicates
    """

    def __init__(self, name: str, inputs: Sequence[str], out: Path | str, options: Options) -> None:
        self.name = name
        self.summary = Summary(name)
        self.differing = DifferenceTally()
        self.options = options
        self.advance = None if options.progress is None else options.progress.advance
        with refuse_bad_options():
            self._check([inputs] if isinstance(inputs, str) else inputs, out)
        self._started = self._stage_started = time.perf_counter()

    def _check(self, inputs: Sequence[str], out: Path | str) -> None:
        """Check options, inputs and outputs."""
        name, options = self.name, self.options
        texts = texts_of_job(name, options, inputs, self.note)
        self.viewing = texts.viewing
        self.question = check_question(
            options.similarity,
            options.radius,
            options.recall,
            bits=texts.recipe.bits,
            distinguish=options.distinguish,
            # A purpose may have fields, which pairs and a reference do not show.
            fields=name != "pairs" and not (options.purpose and options.against),
            purpose=options.purpose,
        )
        if self.question.fields and options.against:
            raise ValueError(
                "distinguish has 'fields', which are those of the inputs' own clusters; "
                "leave it out, or run without against"
            )
        by_fields = options.purpose and "fields" in check_purpose(options.purpose).distinguish
        if by_fields and not self.question.fields and not options.distinguish:
            self.warn(
                f"purpose {options.purpose} keeps forms apart by their fields, but only where "
                "inputs are clustered among themselves; here fields do not count"
            )
        self.recipe = self.question.apply_to(texts.recipe)
        self.groups, self.labels = texts.groups, texts.labels
        self.summary.recipe = self.recipe.identity
        # Chains would remove records unlike the one kept, and hide odd pages of a site.
        default: Linkage = "star" if name == "dedup" or self.viewing else "connected"
        self.linkage: Linkage = options.linkage or default
        if options.linkage is not None:
            check_linkage(options.linkage)
        self.engine = engine(options.engine, options.master)
        if options.resume and options.work_dir is None:
            raise ValueError("resume needs the work_dir of the earlier run")
        if options.resume and "-" in (*inputs, *options.against):
            raise ValueError("resume: standard input cannot be read again; save it to a file")
        self.out = Path(out)
        if not self.out.name:
            given = "empty" if str(out) in ("", ".") else repr(str(out))
            raise ValueError(f"the output is {given}; name a file, or - for standard output")
        self.keep = Keep.parse(options.keep)
        self.inputs = expand(list(inputs), texts.reading, self.note)
        self.against, self.collections = list[str](), list[str]()
        if options.against:
            self.against, self.collections = reference.expand(
                options.against, texts.reading, self.recipe, self.note
            )
        check_options([*self.inputs, *self.against, *self.collections], texts.reading)
        if self.groups is not None:
            self.groups.check_against(
                [path for path in (*self.collections, *self.against) if is_collection(path)]
            )
        self.reading = replace(
            texts.reading,
            key_column=self.keep.column,
            viewing=self.viewing,
            threads=options.threads,
        )
        self.is_sketched = self.question.similarity is not None
        # "kept.jsonl.gz" → "kept.quarantine.jsonl"
        beside = writing.named_after(self.out, ".quarantine.jsonl")
        self.quarantine = options.quarantine or beside
        # Beside the output there is room; /tmp may be in memory.
        self.work_parent = (beside or Path(tempfile.gettempdir(), "-")).absolute().parent
        self._check_outputs()
        _check_report(options)
        if options.work_dir is not None:
            check_work_dir(options.work_dir)

    @property
    def has_reference(self) -> bool:
        """Whether the inputs are compared with a reference, not with each other."""
        return bool(self.against or self.collections)

    def stage(self, name: str, total: int | None, unit: str) -> None:
        """Begin a stage of the progress."""
        if self.options.progress is not None:
            self.options.progress.stage(name, total, unit)

    def note(self, message: str) -> None:
        """Add a sentence to the summary: input was skipped or not read as expected."""
        if len(self.summary.notes) < MAX_NOTES:
            self.summary.notes.append(message)
        if self.options.on_note is not None:
            self.options.on_note(message)

    def warn(self, message: str) -> None:
        """Add a warning to the summary: something takes long, or may not be what is meant."""
        self.summary.warnings.append(message)
        self.options.on_warning(message)

    def _check_outputs(self) -> None:
        options, inputs = self.options, [*self.inputs, *self.against, *self.collections]
        if self.name != "dedup":
            writing.check_output(self.out, inputs)
        if self.quarantine is not None and (options.quarantine or self.quarantine.exists()):
            writing.check_output(self.quarantine, inputs)
        for path in (options.removed, options.kinds):
            if path is not None:
                writing.check_output(path, inputs)
        if options.report is not None:
            writing.check_output(options.report, inputs, endings=(".html", ".htm"))
        outputs = [self.out, self.quarantine, options.removed, options.kinds, options.report]
        names = [writing.stdout_label(path) or os.path.abspath(path) for path in outputs if path]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name}: is named for two outputs; give each its own file")

    @contextmanager
    def corpus(self) -> Iterator[SpooledCorpus]:
        """Open the engine and the work folder, and read all inputs; complete the summary at the
        end."""
        with ExitStack() as stack:
            stack.enter_context(self.engine.opened(self.note))
            if self.engine.session is not None:
                from neardup.engines.spark.read_driver import expand_inputs, opened_by_spark

                self.inputs = expand_inputs(self.engine.session, self.inputs)
                self.against = expand_inputs(self.engine.session, self.against)
                stack.enter_context(opened_by_spark(self.engine.session))
            if self.name == "dedup":
                # Kept records are copied from this download; a second one might differ.
                stack.enter_context(fetched_once(self.inputs, self.work_parent))
                with refuse_bad_options():
                    others = [*self.against, *self.collections]
                    writing.check_kept(self.out, self.inputs, self.reading, others=others)
            elif "-" in self.inputs:
                stack.enter_context(spooled_stdin())
            folder = stack.enter_context(open_work_folder(self.options.work_dir, self.work_parent))
            corpus = read_corpus(self, folder)
            asked = sum(map(reference.size, self.collections))
            self.summary.read = corpus.rows + asked
            self.summary.reference = corpus.reference + asked
            self.summary.unreadable = corpus.unreadable
            self.summary.no_signal = int((~corpus.signal).sum())
            self._tell_of_nothing(corpus)
            self._end_stage("read")
            yield corpus
        self._finish()

    def _tell_of_nothing(self, corpus: SpooledCorpus) -> None:
        """Tell if there is nothing to compare, or nothing that can be near."""
        rows = corpus.rows - corpus.reference
        if not rows:
            self.note("the inputs hold no record, so the output holds none")
        elif not corpus.lengths[corpus.reference :].any():
            self.note(f"all texts of the inputs are empty: {rows:,} of {rows:,}")
        elif self.has_reference and not self.summary.reference:
            self.note("--against holds no record, so nothing is removed")
        elif lengths := reference.compare_lengths(self.collections, corpus):
            self.warn(
                "records of the inputs are much shorter than those to compare with: half of them "
                f"have at most {lengths[0]:,} bytes, and those {lengths[1]:,}; a part of a text is "
                "not similar to the whole. To find parts that were copied, use neardup check"
            )

    def match(self, corpus: SpooledCorpus, order: Rows | None = None) -> Matches:
        """Prepare the join of a corpus.

        order  rows, those preferred as representatives first
        """
        # Inputs that have a reference are not compared with each other, even if all of the
        # reference is in collections, or it is empty.
        first = corpus.reference or (corpus.rows if self.has_reference else 0)
        asked, summary = self.question, self.summary
        summary.similarity, summary.radius = asked.similarity, asked.radius
        summary.distinguish = list(asked.all_distinguished)
        summary.recall = asked.recall
        self.stage("finding identical texts", None, "records")
        matches = self.engine.match(
            corpus,
            asked,
            order=order,
            reference_rows=first,
            threads=self.options.threads,
            tick=self.advance,
            stage=self.stage,
        )
        # No two rows are compared if there are only collections.
        is_large = first < corpus.rows >= sample.MIN_RECORDS
        if is_large and (warning := sample.forecast(corpus, asked, matches)):
            self.warn(warning)
        for warning in sample.doubts(corpus, matches, across=self.has_reference):
            self.warn(warning)
        if self.options.report is not None:
            matches.sample = PairSample(asked, self.recipe.bits)
        return matches

    def end_match(self, corpus: SpooledCorpus, matches: Matches) -> None:
        """Record the counts of a finished join."""
        corpus.check_unchanged()
        counts, summary = matches.counts, self.summary
        summary.candidates, summary.verified = counts.candidates, counts.verified
        summary.pairs, summary.plan = counts.pairs, matches.plan
        summary.estimated_recall = counts.estimated_recall
        self._end_stage("match")

    def find_clusters(self, corpus: SpooledCorpus) -> FoundClusters:
        """Match a corpus, choose the representative of each row, and count the clusters."""
        import numpy as np

        if self.has_reference:
            matches = self.match(corpus)
            found = reference.nearest(self.collections, corpus, matches, self.options.progress)
            templates = None
        else:
            order = _keep_order(self.keep, corpus)
            matches = self.match(corpus, order)
            found = matches.clusters(self.linkage)
            templates = self._templates(found, matches)
            if templates is not None and self.question.fields:
                found = templates.split(found, matches.judge, self.question, self.linkage, order)
        self.end_match(corpus, matches)
        # Ends of chains are compared now, and texts to find exact copies.
        self.stage("comparing with kept records", None, "pairs")
        removed = reference.document_differences(removed_rows(found, matches.judge), corpus)
        labels, summary = found.labels, self.summary
        self._count_differences(removed)
        summary.clusters = len(np.unique(labels[labels != np.arange(len(labels))]))
        summary.exact = corpus.count_copies(matches.twins, labels, across=self.has_reference)
        summary.near = len(removed) - summary.exact
        if self.linkage == "connected" and not self.has_reference:
            self._note_weakest(corpus, removed, labels)
        return FoundClusters(matches, found, removed, templates)

    def _templates(self, found: Clusters, matches: Matches) -> Templates | None:
        """Return which clusters are made from one form, and count them."""
        if self.viewing is not None and not self.question.fields:
            # Responses of one kind are made from one form anyway.
            return None
        self.stage("looking for templates", None, "clusters")
        texts, threads = matches.judge.corpus.texts, self.options.threads
        templates = find_templates(
            found.labels, found.similarity, texts, threads=threads, told=not self.question.fields
        )
        self.summary.templates = {"clusters": len(templates), "records": templates.records}
        if templates.looked_at is not None:
            self.summary.templates["of"] = templates.looked_at
        return templates

    def _count_differences(self, removed: pa.Table) -> None:
        import numpy as np

        differs, lost = (removed.column(name).combine_chunks() for name in ("differs", "lost"))
        kept, rows, distance, similarity = (
            array_values(removed.column(name))
            for name in ("dup_of", "row", "distance", "similarity")
        )
        self.differing.add(kept, rows, distance, similarity, differs, lost)
        self.summary.differs = self.differing.counts
        if self.name == "dedup":
            words = array_values(lost)
            median = float(np.median(words)) if len(words) else 0.0
            self.summary.lost = {"words": int(words.sum()), "median": median}

    def _note_weakest(self, corpus: SpooledCorpus, removed: pa.Table, labels: Rows) -> None:
        """Record the row of a chain that is least similar to its representative."""
        import numpy as np

        wanted = self.summary.similarity
        if wanted is None or not len(removed):
            return
        similarity = array_values(removed.column("similarity"))
        worst = int(similarity.argmin())
        if similarity[worst] >= wanted:
            return
        row, kept = (removed.column(name)[worst].as_py() for name in ("row", "dup_of"))
        self.summary.weakest = {
            "id": corpus.ids.get(row),
            "kept": corpus.ids.get(kept),
            "similarity": float(similarity[worst]),
            "size": int(np.count_nonzero(labels == kept)),
            "below": int(np.count_nonzero(similarity < wanted)),
        }

    @contextmanager
    def outputs(
        self,
        corpus: SpooledCorpus,
        found: FoundClusters | Matches,
        kinds: Kinds | None = None,
    ) -> Iterator[list[Path]]:
        """Put all outputs in place together: those the caller lists, quarantine and report."""
        written: list[Path] = []
        if self.name != "pairs":
            self.stage("writing", corpus.rows - corpus.reference, "records")
        with writing.together():
            yield written
            corpus.check_unchanged()
            self.summary.files += [writing.stdout_label(path) or str(path) for path in written]
            self.write_quarantine(corpus)
            if self.options.report is not None:
                from neardup.jobs.report import write_report

                write_report(self, corpus, found, kinds)

    def write_quarantine(self, corpus: SpooledCorpus) -> None:
        """List the unreadable records; the default file only if there are any."""
        path = self.quarantine
        if path is None or not (corpus.unreadable or self.options.quarantine):
            return
        with writing.open_rows(path, QUARANTINE_COLUMNS, guard=self.options.guard) as write:
            for problem in corpus.problems(corpus.unreadable):
                write(dict(zip(QUARANTINE_COLUMNS, problem, strict=True)))
        self.summary.files.append(writing.stdout_label(path) or str(path))

    def _finish(self) -> None:
        """Complete the summary."""
        if self.quarantine and not (self.options.quarantine or self.summary.unreadable):
            # The file of an earlier run would list records that have been mended.
            self.quarantine.unlink(missing_ok=True)
        self._end_stage("write")
        self.summary.seconds = round(time.perf_counter() - self._started, 3)
        self.summary.peak_memory = peak_memory()

    def _end_stage(self, name: str) -> None:
        now = time.perf_counter()
        self.summary.stages[name] = round(now - self._stage_started, 3)
        self._stage_started = now


def _check_report(options: Options) -> None:
    for name in ("report_clusters", "lang"):
        value = getattr(options, name)
        if value is not None and options.report is None:
            raise ValueError(
                f"{name} is {value!r}, but no report is written; name its file: --report FILE.html"
            )
    if options.lang is not None:
        check_language(options.lang)
    if options.report_clusters is not None:
        check_int("report_clusters", options.report_clusters, 0, MAX_REPORT_CLUSTERS)


def check_language(lang: str) -> None:
    """Raise ValueError if there are no pages in a language."""
    from neardup.reports.page import LANGUAGES

    if lang not in LANGUAGES:
        raise ValueError(f"lang is {lang!r}; it must be one of {', '.join(LANGUAGES)}")


def _keep_order(keep: Keep, corpus: SpooledCorpus) -> Rows | None:
    """Return the rows, those to be kept first; None for the order of the inputs."""
    import pyarrow as pa

    keys = corpus.keys
    if not corpus.rows:
        return None
    if keep.column is not None and keys is not None and len(keys) == keys.null_count:
        raise ValueError(f"keep is {keep}, but no record has a value in the column {keep.column!r}")
    try:
        return keep.order(corpus.lengths, keys)
    except (pa.ArrowNotImplementedError, TypeError) as error:
        kind = None if keys is None else keys.type
        raise ValueError(
            f"keep is {keep}, but values of type {kind} have no order; "
            "name a column of numbers, dates or strings"
        ) from error
