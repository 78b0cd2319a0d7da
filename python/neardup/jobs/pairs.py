"""neardup pairs: files in, a table of all near-duplicate pairs out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import number_array
from neardup.jobs.copies import count_copied_pairs
from neardup.jobs.job import Job
from neardup.jobs.options import Options, Summary, refuse_bad_options
from neardup.jobs.sorter import Sorter
from neardup.near.matches import Matches, Pairs
from neardup.near.pairs import check_equal

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus

    Rows = NDArray[np.int64]

COLUMNS = ("left", "right", "distance", "similarity")
# More pairs than this are a mistake: nobody reads them, and no disk holds them.
MOST_PAIRS = 1 << 31
# From so many pairs of equal texts on, it is said beforehand how many there are.
MANY = 1_000_000
# Pairs made at a time.
BATCH = 1 << 18


def pairs(inputs: Sequence[str], out: Path | str, options: Options | None = None) -> Summary:
    """Writes a row for each pair: the ids, the distance in bits, the exact cosine.

    First come pairs of texts that say the same, then the others by the places of the left record
    and of the right.

    inputs   files, folders, patterns, URLs, or "-" for standard input
    out      the table: .jsonl, .csv, .tsv or .parquet; "-" is standard output, in JSON lines, and
             "-.csv" the same in another form
    options  what counts as near; `equal`: "first" pairs texts that say the same with the first of
             them only, so that a million copies are not half a million million pairs
    """
    from neardup.files import reading, writing

    job = Job("pairs", inputs, out, options or Options())
    with refuse_bad_options():
        check_equal(job.options.equal)
        writing.check(job.out, job.inputs)
    with ExitStack() as stack:
        stack.enter_context(job.opened())
        if "-" in job.inputs:
            stack.enter_context(reading.spooled_stdin())
        folder = stack.enter_context(job.work())
        corpus = job.read(folder)
        matches = job.match(corpus)
        groups = _Groups(matches.twins)
        first_only = job.options.equal == "first"
        if not first_only and groups.pairs > MANY:
            job.options.on_warning(
                f"texts that say the same make {groups.pairs:,} pairs, and all will be written; "
                f"with --equal first each is paired with the first of them only: "
                f"{groups.repeats:,} pairs"
            )
        schema = _schema()
        progress = job.options.progress
        count = 0
        with (
            writing.together(),
            writing.open_tables(job.out, schema, guard=job.options.guard) as write,
        ):
            verified = matches.question.similarity is not None
            if not first_only:
                progress.stage("writing pairs that say the same", groups.pairs, "pairs")
            for found in groups.with_first(verified) if first_only else groups.within(verified):
                count = _counted(count, found)
                write(_table(corpus, found, schema))
                progress.advance(len(found.left))
            sorter = Sorter(folder, len(corpus))
            for found in _near_pairs(matches, groups, first_only=first_only):
                count = _counted(count, found)
                sorter.add(found)
            for found in sorter.pairs():
                for start in range(0, len(found.left), BATCH):
                    write(_table(corpus, _part(found, start), schema))
            job.matched(matches)
            summary = job.summary
            summary.pairs = count
            summary.exact = count_copied_pairs(corpus, matches.twins, first_only=first_only)
            summary.near = count - summary.exact
            summary.files.append(writing.shown(job.out) or str(job.out))
            job.write_quarantine(corpus)
            if job.options.report is not None:
                from neardup.jobs.report import write_report

                write_report(job, corpus, matches, None)
        return job.finish()


def _part(found: Pairs, start: int) -> Pairs:
    part = slice(start, start + BATCH)
    similarity = None if found.similarity is None else found.similarity[part]
    return Pairs(found.left[part], found.right[part], found.distance[part], similarity)


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = (pa.string(), pa.string(), pa.int64(), pa.float64())
    return pa.schema(list(zip(COLUMNS, kinds, strict=True)))


def _table(corpus: SpooledCorpus, found: Pairs, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    coded = corpus.signal[found.left]
    columns = [
        corpus.ids_of(found.left),
        corpus.ids_of(found.right),
        number_array(found.distance.astype("i8"), ~coded),
        _similarity(found),
    ]
    return pa.table(columns, names=list(COLUMNS)).cast(schema)


def _similarity(found: Pairs) -> pa.Array:
    import pyarrow as pa

    if found.similarity is None:
        return pa.nulls(len(found.left), pa.float64())
    return number_array(found.similarity)


def _counted(before: int, found: Pairs) -> int:
    """So many pairs and these, if anybody can want as many."""
    count = before + len(found.left)
    if count > MOST_PAIRS:
        raise ValueError(
            f"there are more than {MOST_PAIRS:,} pairs, which is the limit; use --equal first, "
            "which pairs copies with the first of them only, or neardup cluster"
        )
    return count


def _near_pairs(matches: Matches, groups: _Groups, *, first_only: bool) -> Iterator[Pairs]:
    """The pairs of texts that differ, and of all their twins; the smaller row is on the left."""
    for found in matches.pairs():
        if first_only:
            yield _ordered(found)
        else:
            yield from groups.between(found)


def _ordered(found: Pairs) -> Pairs:
    import numpy as np

    left, right = np.minimum(found.left, found.right), np.maximum(found.left, found.right)
    return Pairs(left, right, found.distance, found.similarity)


class _Groups:
    """Twins, group after group."""

    def __init__(self, twins: Rows) -> None:
        import numpy as np

        self.order = np.argsort(twins, kind="stable")
        self.sizes = np.bincount(twins, minlength=len(twins))
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.twins = twins
        self.pairs = int((self.sizes * (self.sizes - 1) // 2).sum())
        self.repeats = len(twins) - int((self.sizes > 0).sum())

    def with_first(self, verified: bool) -> Iterator[Pairs]:
        """Each twin with the first of its kind."""
        import numpy as np

        rows = np.flatnonzero(self.twins != np.arange(len(self.twins)))
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            yield self._equal(self.twins[part], part, verified)

    def within(self, verified: bool) -> Iterator[Pairs]:
        """Each twin with all before it."""
        import numpy as np

        place = np.arange(len(self.order)) - self.starts[self.twins[self.order]]
        counts = np.cumsum(place)
        begin = 0
        while begin < len(place):
            base = int(counts[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(counts, base + BATCH, side="right")))
            number = place[begin:end]
            right = np.repeat(self.order[begin:end], number)
            within = np.arange(len(right)) - np.repeat(np.cumsum(number) - number, number)
            left = self.order[
                np.repeat(self.starts[self.twins[self.order[begin:end]]], number) + within
            ]
            if len(left):
                yield self._equal(left, right, verified)
            begin = end

    def between(self, found: Pairs) -> Iterator[Pairs]:
        """Each twin of the left with each of the right."""
        import numpy as np

        number = self.sizes[found.left] * self.sizes[found.right]
        counts = np.cumsum(number)
        begin = 0
        while begin < len(number):
            base = int(counts[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(counts, base + BATCH, side="right")))
            part = slice(begin, end)
            many = number[part]
            at = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
            width = np.repeat(self.sizes[found.right[part]], many)
            left = self.order[np.repeat(self.starts[found.left[part]], many) + at // width]
            right = self.order[np.repeat(self.starts[found.right[part]], many) + at % width]
            similarity = None
            if found.similarity is not None:
                similarity = np.repeat(found.similarity[part], many)
            yield _ordered(Pairs(left, right, np.repeat(found.distance[part], many), similarity))
            begin = end

    def _equal(self, left: Rows, right: Rows, verified: bool) -> Pairs:
        import numpy as np

        distance: Any = np.zeros(len(left), dtype=np.uint16)
        return Pairs(left, right, distance, np.ones(len(left)) if verified else None)
