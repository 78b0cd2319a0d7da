"""neardup dedup: files in, the same records without near-duplicates out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values, number_array
from neardup.files import writing
from neardup.jobs.job import FoundClusters, Job
from neardup.jobs.options import Options, Summary
from neardup.near.clusters import number_clusters

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus

    Rows = NDArray[np.int64]

REMOVED_COLUMNS = (
    *("id", "dup_of", "cluster", "distance", "similarity"),
    # Ids may be repeated; source and line are unique.
    *("source", "line", "dup_source", "dup_line"),
    *("differs", "lost"),
)
BATCH_ROWS = 1 << 16


def dedup(inputs: Sequence[str], out: Path | str, options: Options | None = None) -> Summary:
    """Write the records to keep, unchanged and in order.

    inputs   files, folders, patterns, URLs, or "-" for standard input, all of one format
    out      the kept records, in that format; "-" is standard output
    options  what counts as near, which records are kept, and what else is written

    Files appear when they are complete. Unreadable records are counted in the summary and listed in
    a quarantine file; with `Options.strict` they raise UnreadableError.
    """
    job = Job("dedup", inputs, out, options or Options())
    with job.corpus() as corpus:
        found = job.find_clusters(corpus)
        job.summary.removed = len(found.removed)
        job.summary.kept = corpus.rows - corpus.reference - len(found.removed)
        with job.outputs(corpus, found) as written:
            written.append(job.out)
            _write_kept(job, corpus, found.clusters.labels)
            if job.options.removed is not None:
                written.append(job.options.removed)
                _write_removed(job, corpus, found, job.options.removed)
    return job.summary


def _write_kept(job: Job, corpus: SpooledCorpus, labels: Rows) -> None:
    import numpy as np

    kept = labels == np.arange(len(labels))
    parts = [
        (path, corpus.spans[start:stop], kept[start:stop])
        for path, start, stop in corpus.files
        if start >= corpus.reference and stop > start
    ]
    writing.write_kept(job.out, job.inputs, job.reading, parts, job.advance)


def _write_removed(job: Job, corpus: SpooledCorpus, found: FoundClusters, path: Path) -> None:
    job.stage("writing removed records", len(found.removed), "records")
    schema = _removed_schema()
    with writing.open_tables(path, schema, guard=job.options.guard) as write:
        for batch in _removed_records(corpus, found.removed, found.clusters.labels, schema):
            write(batch)
            if job.advance is not None:
                job.advance(len(batch))


def _removed_schema() -> pa.Schema:
    import pyarrow as pa

    types = (
        *(pa.string(), pa.string(), pa.int64(), pa.int64(), pa.float64()),
        *(pa.string(), pa.int64(), pa.string(), pa.int64()),
        *(pa.string(), pa.int64()),
    )
    return pa.schema(list(zip(REMOVED_COLUMNS, types, strict=True)))


def _removed_records(
    corpus: SpooledCorpus, table: pa.Table, labels: Rows, schema: pa.Schema
) -> Iterator[pa.Table]:
    """Replace rows by ids and positions; `cluster` is numbered as in `neardup cluster`."""
    import pyarrow as pa

    number = number_clusters(labels)
    for batch in table.to_batches(BATCH_ROWS):
        rows = array_values(batch.column("row"))
        kept = array_values(batch.column("dup_of"))
        columns = [
            corpus.ids_of(rows),
            corpus.ids_of(kept),
            number_array(number[kept]),
            batch.column("distance"),
            batch.column("similarity"),
            corpus.sources_of(rows),
            corpus.lines_of(rows),
            corpus.sources_of(kept),
            corpus.lines_of(kept),
            batch.column("differs"),
            batch.column("lost"),
        ]
        yield pa.table(columns, names=list(REMOVED_COLUMNS)).cast(schema)
