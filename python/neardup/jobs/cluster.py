"""neardup cluster: files in, a table of which record belongs to which cluster out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from neardup._util.arrow import number_array
from neardup.http.kinds import CLUSTER_COLUMNS, Kinds, kinds_of_clusters
from neardup.jobs.copies import count_copies
from neardup.jobs.dedup import BATCH, note_weakest, order_of
from neardup.jobs.job import Job
from neardup.jobs.options import Options, Summary, refuse_bad_options
from neardup.near.clusters import number_clusters
from neardup.near.matches import removed_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Clusters, Matches

COLUMNS = ("id", "cluster", "size", "representative")


def cluster(inputs: Sequence[str], out: Path | str, options: Options | None = None) -> Summary:
    """Writes a row for each document: id, cluster (a number), its size, its representative's id.

    inputs   files, folders, patterns, URLs, or "-" for standard input
    out      the table: .jsonl, .csv, .tsv or .parquet; "-" is standard output, in JSON lines, and
             "-.csv" the same in another form
    options  what counts as near, how pairs are linked, and which of a cluster represents it

    A document that is alone is a cluster of one. Of captures a row has also url, status, title,
    server and length, and `Options.kinds` is a table with a row for each cluster.
    """
    import numpy as np

    from neardup.files import reading, writing

    job = Job("cluster", inputs, out, options or Options())
    with refuse_bad_options():
        writing.check(job.out, job.inputs)
    with ExitStack() as stack:
        stack.enter_context(job.opened())
        if "-" in job.inputs:
            stack.enter_context(reading.spooled_stdin())
        corpus = job.read(stack.enter_context(job.work()))
        matches = job.match(corpus, order_of(job, corpus))
        found = matches.clusters(job.linkage)
        job.matched(matches)
        labels = found.labels
        own = np.arange(len(labels))
        summary = job.summary
        beside = int((labels != own).sum())
        summary.clusters = len(np.unique(labels[labels != own]))
        summary.clustered = beside + summary.clusters
        summary.exact = count_copies(corpus, labels, found.similarity)
        summary.near = beside - summary.exact
        removed = removed_rows(found, matches.judge)
        note_weakest(job, corpus, removed, labels)
        kinds = None
        if job.viewing is not None:
            kinds = kinds_of_clusters(corpus, found, removed, job.labels)
            summary.kinds, summary.alone = len(kinds), int((kinds.size == 1).sum())
        _write(job, corpus, matches, found, removed, kinds)
        return job.finish()


def _write(
    job: Job,
    corpus: SpooledCorpus,
    matches: Matches,
    found: Clusters,
    removed: pa.Table,
    kinds: Kinds | None,
) -> None:
    import numpy as np
    import pyarrow as pa

    from neardup.files import writing

    labels = found.labels
    sizes, number = np.bincount(labels, minlength=len(labels)), number_clusters(labels)
    of_column = (pa.string(), pa.int64(), pa.int64(), pa.string())
    schema = pa.schema(list(zip(COLUMNS, of_column, strict=True)))
    facts = () if kinds is None else CLUSTER_COLUMNS
    for name in facts:
        numeric = name in ("status", "length")
        schema = schema.append(pa.field(name, pa.int64() if numeric else pa.large_string()))
    progress = job.options.progress
    progress.stage("writing", len(labels), "records")
    with writing.together(), writing.open_tables(job.out, schema, guard=job.options.guard) as write:
        for start in range(0, len(labels), BATCH):
            part = labels[start : start + BATCH]
            rows = np.arange(start, start + len(part))
            counts = (number_array(of[part]) for of in (number, sizes))
            columns = [corpus.ids_of(rows), *counts, corpus.ids_of(part)]
            if facts:
                columns += corpus.facts.take(rows, *facts)
            write(pa.table(columns, names=schema.names).cast(schema))
            progress.advance(len(part))
        job.check_unchanged()
        job.summary.files.append(writing.shown(job.out) or str(job.out))
        if kinds is not None and (path := job.options.kinds) is not None:
            _write_kinds(job, kinds, path)
        job.write_quarantine(corpus)
        if job.options.report is None:
            return
        if kinds is None:
            from neardup.jobs.report import write_report

            write_report(job, corpus, matches, found)
        else:
            from neardup.jobs.kinds_report import write_kinds_report

            write_kinds_report(job, corpus, kinds, found, removed)


def _write_kinds(job: Job, kinds: Kinds, path: Path) -> None:
    from neardup.files import writing
    from neardup.http.kinds import kinds_schema

    job.options.progress.stage("writing the kinds", len(kinds), "records")
    with writing.open_tables(path, kinds_schema(), guard=job.options.guard) as write:
        for table in kinds.tables():
            write(table)
            job.options.progress.advance(table.num_rows)
    job.summary.files.append(writing.shown(path) or str(path))
