"""neardup cluster: files in, a table with the cluster of each record out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values, number_array, string_array
from neardup.files import writing
from neardup.jobs.job import FoundClusters, Job
from neardup.jobs.options import Options, Summary
from neardup.near.clusters import number_clusters

if TYPE_CHECKING:
    from neardup.http.kinds import Kinds
    from neardup.jobs.spool import SpooledCorpus

COLUMNS = ("id", "cluster", "size", "representative")
DIFFERENCES = ("differs", "lost")
BATCH_ROWS = 1 << 16


def cluster(inputs: Sequence[str], out: Path | str, options: Options | None = None) -> Summary:
    """Write a row for each document: id, cluster (a number), its size, its representative's id, in
    what it differs from that one, and how many of its words that one lacks.

    inputs   files, folders, patterns, URLs, or "-" for standard input
    out      the table: .jsonl, .csv, .tsv or .parquet; "-" is standard output, in JSON lines, and
             "-.csv" the same in another format
    options  what counts as near, how pairs are linked, and which document represents a cluster

    A document without near-duplicates is a cluster of one. Rows of captures also have url, status,
    title, server and length before what differs, and `Options.kinds` is a table with a row for each
    cluster.
    """
    job = Job("cluster", inputs, out, options or Options())
    with job.corpus() as corpus:
        found = job.find_clusters(corpus)
        summary = job.summary
        summary.clustered = len(found.removed) + summary.clusters
        kinds = None
        if job.viewing is not None:
            import numpy as np

            _, sizes = np.unique(found.clusters.labels, return_counts=True)
            summary.kinds, summary.alone = len(sizes), int((sizes == 1).sum())
        if job.labels is not None:
            from neardup.http.kinds import kinds_of_clusters

            kinds = kinds_of_clusters(corpus, found.clusters, found.removed, job.labels)
        with job.outputs(corpus, found, kinds) as written:
            written.append(job.out)
            _write_rows(job, corpus, found)
            if kinds is not None and job.options.kinds is not None:
                written.append(job.options.kinds)
                _write_kinds(job, kinds, job.options.kinds)
    return job.summary


def _write_rows(job: Job, corpus: SpooledCorpus, found: FoundClusters) -> None:
    import numpy as np
    import pyarrow as pa

    labels = found.clusters.labels
    # Where the removed row stands in its table; the row after the last is that of representatives.
    places = np.full(len(labels), len(found.removed))
    places[array_values(found.removed.column("row"))] = np.arange(len(found.removed))
    alike = [string_array([""]), number_array(np.zeros(1, dtype=np.int64))]
    differences = found.removed.select(DIFFERENCES)
    differences = pa.concat_tables([differences, pa.table(alike, schema=differences.schema)])
    sizes, number = np.bincount(labels, minlength=len(labels)), number_clusters(labels)
    types = (pa.string(), pa.int64(), pa.int64(), pa.string())
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    facts: Sequence[str] = ()
    if job.viewing is not None:
        from neardup.http.kinds import CLUSTER_COLUMNS as facts
    for name in facts:
        is_number = name in ("status", "length")
        schema = schema.append(pa.field(name, pa.int64() if is_number else pa.large_string()))
    for name in DIFFERENCES:
        schema = schema.append(differences.field(name))
    with writing.open_tables(job.out, schema, guard=job.options.guard) as write:
        for start in range(0, len(labels), BATCH_ROWS):
            part = labels[start : start + BATCH_ROWS]
            rows = np.arange(start, start + len(part))
            columns = [corpus.ids_of(rows), number_array(number[part]), number_array(sizes[part])]
            columns.append(corpus.ids_of(part))
            if facts:
                columns += corpus.facts.take(rows, *facts)
            columns += differences.take(number_array(places[rows])).columns
            write(pa.table(columns, names=schema.names).cast(schema))
            if job.advance is not None:
                job.advance(len(part))


def _write_kinds(job: Job, kinds: Kinds, path: Path) -> None:
    from neardup.http.kinds import kinds_schema

    job.stage("writing the kinds", len(kinds), "records")
    with writing.open_tables(path, kinds_schema(), guard=job.options.guard) as write:
        for table in kinds.tables():
            write(table)
            if job.advance is not None:
                job.advance(table.num_rows)
