"""neardup dedup: files in, the same files without near-duplicates out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import array_values, number_array
from neardup.jobs import reference
from neardup.jobs.copies import count_copies
from neardup.jobs.job import Job
from neardup.jobs.options import Options, Summary, refuse_bad_options
from neardup.near.clusters import number_clusters
from neardup.near.matches import Clusters, removed_rows

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Matches

    Rows = NDArray[np.int64]

REMOVED = (
    *("id", "dup_of", "cluster", "distance", "similarity"),
    # Ids may be repeated: by its place a record is known for sure.
    *("source", "line", "dup_source", "dup_line"),
)
# Rows of a table made at a time.
BATCH = 1 << 16


def dedup(inputs: Sequence[str], out: Path | str, options: Options | None = None) -> Summary:
    """Writes the records of the inputs that are to be kept, unchanged and in order.

    inputs   files, folders, patterns, URLs, or "-" for standard input, all of one format
    out      the kept records, in that format; "-" is standard output
    options  what counts as near, which are kept, and what else is written

    Files appear when they are complete. What cannot be read is counted in the summary and listed in
    a quarantine file; with `Options.strict` it raises UnreadableError instead.
    """
    from neardup.files import reading, writing

    job = Job("dedup", inputs, out, options or Options())
    with ExitStack() as stack:
        stack.enter_context(job.opened())
        # Kept records are copied from what was read, and not from what a URL gives later.
        stack.enter_context(reading.copied(job.inputs, job.beside))
        # Before the work: an output that cannot be is known at once.
        with refuse_bad_options():
            writing.check_kept(
                job.out, job.inputs, job.options.reading, others=[*job.against, *job.collections]
            )
        folder = stack.enter_context(job.work())
        corpus = job.read(folder)
        compared = bool(job.against or job.collections)
        matches = job.match(corpus, None if compared else order_of(job, corpus))
        found = against(job, matches, corpus) if compared else matches.clusters(job.linkage)
        job.matched(matches)
        _write(job, corpus, matches, found)
        return job.finish()


def order_of(job: Job, corpus: SpooledCorpus) -> Rows | None:
    """The rows, those to be kept first; None: as they come."""
    import pyarrow as pa

    keys = corpus.keys
    if not len(corpus):
        return None
    if job.keep.column is not None and keys is not None and len(keys) == keys.null_count:
        raise ValueError(
            f"keep is {job.keep}, but no record has a value in the column {job.keep.column!r}"
        )
    try:
        return job.keep.order(corpus.lengths, keys)
    except (pa.ArrowNotImplementedError, TypeError) as error:
        kind = None if keys is None else keys.type
        raise ValueError(
            f"keep is {job.keep}, but values of type {kind} have no order; "
            "name a column of numbers, dates or strings"
        ) from error


def against(job: Job, matches: Matches, corpus: SpooledCorpus) -> Clusters:
    """For each row of the inputs the one it is removed for: the nearest of the reference."""
    import numpy as np

    nearest = matches.nearest(corpus.reference or len(corpus))
    labels = np.where(nearest.match < 0, np.arange(len(nearest.match)), nearest.match)
    found = Clusters(labels, nearest.similarity, nearest.distance)
    if job.collections:
        matches.plan["collections"] = len(job.collections)
        rows = (len(corpus) - corpus.reference) * len(job.collections)
        job.options.progress.stage("comparing with collections", rows, "records")
    for path in job.collections:
        tick = job.options.progress.advance
        found = reference.nearest(path, corpus, job.question, found, tick)
    matches.counts.pairs += int((found.labels[: len(corpus)] >= len(corpus)).sum())
    return found


def _write(job: Job, corpus: SpooledCorpus, matches: Matches, found: Clusters) -> None:
    import numpy as np

    from neardup.files import writing

    labels = found.labels
    own = np.arange(len(labels))
    kept = labels == own
    removed = own[~kept]
    summary = job.summary
    summary.removed = len(removed)
    summary.kept = len(corpus) - corpus.reference - len(removed)
    summary.clusters = len(np.unique(labels[removed]))
    summary.exact = count_copies(corpus, labels, found.similarity)
    summary.near = summary.removed - summary.exact
    table = removed_rows(found, matches.judge)
    if not (job.against or job.collections):
        note_weakest(job, corpus, table, labels)
    progress = job.options.progress
    progress.stage("writing", len(corpus) - corpus.reference, "records")
    with ExitStack() as stack:
        # Files are renamed into place when all of them are complete.
        stack.enter_context(writing.together())
        output = stack.enter_context(writing.open_kept(job.out, job.inputs, job.options.reading))
        for path, start, stop in corpus.files:
            if start >= corpus.reference and stop > start:
                counted = _Counted(progress.advance)
                output.copy(path, corpus.spans[start:stop], kept[start:stop], counted)
                progress.advance(max(0, stop - start - counted.count))
        if job.options.removed is not None:
            schema = removed_schema()
            opened = writing.open_tables(job.options.removed, schema, guard=job.options.guard)
            write = stack.enter_context(opened)
            progress.stage("writing what was removed", len(table), "records")
            for batch in removed_records(corpus, table, labels, schema):
                write(batch)
                progress.advance(len(batch))
        job.check_unchanged()
        summary.files += [
            writing.shown(path) or str(path) for path in (job.out, job.options.removed) if path
        ]
        job.write_quarantine(corpus)
        if job.options.report is not None:
            from neardup.jobs.report import write_report

            write_report(job, corpus, matches, found)


class _Counted:
    """Passes on what it is told, and knows how much it was."""

    def __init__(self, tick: Callable[[int], object]) -> None:
        self._tick = tick
        self.count = 0

    def __call__(self, count: int) -> None:
        self.count += count
        self._tick(count)


def removed_schema() -> pa.Schema:
    import pyarrow as pa

    of_match = (pa.string(), pa.string(), pa.int64(), pa.int64(), pa.float64())
    kinds = (*of_match, pa.string(), pa.int64(), pa.string(), pa.int64())
    return pa.schema(list(zip(REMOVED, kinds, strict=True)))


def removed_records(
    corpus: SpooledCorpus, table: pa.Table, labels: Rows, schema: pa.Schema
) -> Iterator[pa.Table]:
    """The rows removed, by the ids their owner knows; `cluster` as `neardup cluster` has it."""
    import pyarrow as pa

    number = number_clusters(labels)
    for batch in table.to_batches(BATCH):
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
        ]
        yield pa.table(columns, names=list(REMOVED)).cast(schema)


def note_weakest(job: Job, corpus: SpooledCorpus, table: pa.Table, labels: Rows) -> None:
    """Chaining links texts that are not near each other: which is the least like what is kept?"""
    import numpy as np

    wanted = job.summary.similarity
    if job.linkage == "star" or wanted is None or not len(table):
        return
    similarity = array_values(table.column("similarity"))
    worst = int(similarity.argmin())
    if similarity[worst] >= wanted:
        return
    row, kept = (table.column(name)[worst].as_py() for name in ("row", "dup_of"))
    found: dict[str, Any] = {
        "id": corpus.ids.get(row),
        "kept": corpus.ids.get(kept),
        "similarity": float(similarity[worst]),
        "size": int(np.count_nonzero(labels == kept)),
        "below": int(np.count_nonzero(similarity < wanted)),
    }
    job.summary.weakest = found
