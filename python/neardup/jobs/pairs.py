"""neardup pairs: files in, a table of all near-duplicate pairs out.

Engines find pairs in an order that depends on keys, threads and machines. `PairSorter` sorts a few
million at a time in memory; if there are more, the sorted runs are written to one file of the work
folder and merged range by range, each range small enough for memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import number_array
from neardup.files import writing
from neardup.jobs.job import Job
from neardup.jobs.options import Options, Summary, refuse_bad_options
from neardup.jobs.work_folder import PAIRS
from neardup.near.matches import Matches, Pairs
from neardup.near.pairs import check_equal

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.corpus import Judge

    Rows = NDArray[np.int64]

COLUMNS = ("left", "right", "distance", "similarity", "differs", "lost")
# A larger output is a mistake: no disk holds it.
MAX_PAIRS = 1 << 31
# Pairs of identical texts that are announced before they are written.
MANY_PAIRS = 1_000_000
# Pairs written at a time.
BATCH_PAIRS = 1 << 18
# Pairs sorted at a time, of 18 bytes each.
SORTED_PAIRS = 1 << 21
FIELDS = [("left", "<u4"), ("right", "<u4"), ("distance", "<u2"), ("similarity", "<f8")]
# Ranges of left rows whose pairs are counted.
BINS = 1 << 16


def pairs(inputs: Sequence[str], out: Path | str, options: Options | None = None) -> Summary:
    """Write a row for each pair: both ids, the distance in bits, the exact cosine, the aspects in
    which they differ, and how many words of the right text the left one lacks.

    Pairs of texts with identical features come first, then the others by the positions of the left
    and the right record.

    inputs   files, folders, patterns, URLs, or "-" for standard input
    out      the table: .jsonl, .csv, .tsv or .parquet; "-" is standard output, in JSON lines, and
             "-.csv" the same in another format
    options  what counts as near; `equal`: "first" pairs identical texts with the first of them
             only, so that a million copies do not make half a million million pairs
    """
    with refuse_bad_options():
        options = options or Options()
        check_equal(options.equal)
    job = Job("pairs", inputs, out, options)
    first_only = options.equal == "first"
    with job.corpus() as corpus:
        matches = job.match(corpus)
        groups = _Groups(matches.twins)
        if not first_only and groups.pairs > MANY_PAIRS:
            job.warn(
                f"identical texts make {groups.pairs:,} pairs, and all will be written; with "
                f"--equal first each is paired with the first of them only: {groups.repeats:,} "
                "pairs"
            )
        with job.outputs(corpus, matches) as written:
            written.append(job.out)
            count = _write(job, corpus, matches, groups)
            job.end_match(corpus, matches)
            job.summary.pairs, job.summary.differs = count, job.differing.counts
            job.summary.exact = _count_copies(corpus, matches.twins, first_only=first_only)
            job.summary.near = count - job.summary.exact
    return job.summary


def _write(job: Job, corpus: SpooledCorpus, matches: Matches, groups: _Groups) -> int:
    """Write all pairs, and return how many there are."""
    first_only = job.options.equal == "first"
    verified = matches.question.similarity is not None
    schema, count = _schema(), 0
    with writing.open_tables(job.out, schema, guard=job.options.guard) as write:
        if not first_only:
            job.stage("writing identical pairs", groups.pairs, "pairs")
        for found in groups.with_first(verified) if first_only else groups.within(verified):
            count = _add_count(count, found)
            write(_table(job, corpus, matches.judge, found, schema))
            if job.advance is not None:
                job.advance(len(found.left))
        sorter = PairSorter(corpus.folder, corpus.rows)
        for found in _near_pairs(matches, groups, first_only=first_only):
            count = _add_count(count, found)
            sorter.add(found)
        for found in sorter.pairs():
            for start in range(0, len(found.left), BATCH_PAIRS):
                write(_table(job, corpus, matches.judge, _part(found, start), schema))
    return count


def _count_copies(corpus: SpooledCorpus, twins: Rows, *, first_only: bool) -> int:
    """Count the pairs of texts that are equal, character by character.

    twins  for each row the first row with identical features
    """
    if first_only:
        sets = corpus.equal_texts(twins)
        return sum(len(rows) - 1 for rows in sets if twins[rows[0]] == rows[0])
    return sum(len(rows) * (len(rows) - 1) // 2 for rows in corpus.equal_texts(twins))


def _part(found: Pairs, start: int) -> Pairs:
    part = slice(start, start + BATCH_PAIRS)
    similarity = None if found.similarity is None else found.similarity[part]
    return Pairs(found.left[part], found.right[part], found.distance[part], similarity)


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = (pa.string(), pa.string(), pa.int64(), pa.float64(), pa.string(), pa.int64())
    return pa.schema(list(zip(COLUMNS, kinds, strict=True)))


def _table(
    job: Job, corpus: SpooledCorpus, judge: Judge, found: Pairs, schema: pa.Schema
) -> pa.Table:
    """Return the rows of some pairs, and count what differs in them."""
    import pyarrow as pa

    differs, lost = judge.differences(found.left, found.right)
    job.differing.add(found.left, found.right, found.distance, found.similarity, differs, lost)
    coded = corpus.signal[found.left]
    columns = [
        corpus.ids_of(found.left),
        corpus.ids_of(found.right),
        number_array(found.distance.astype("i8"), ~coded),
        _similarity(found),
        differs,
        lost,
    ]
    return pa.table(columns, names=list(COLUMNS)).cast(schema)


def _similarity(found: Pairs) -> pa.Array:
    import pyarrow as pa

    if found.similarity is None:
        return pa.nulls(len(found.left), pa.float64())
    return number_array(found.similarity)


def _add_count(before: int, found: Pairs) -> int:
    """Return the number of pairs with these; raise ValueError beyond the limit."""
    count = before + len(found.left)
    if count > MAX_PAIRS:
        raise ValueError(
            f"there are more than {MAX_PAIRS:,} pairs, which is the limit; use --equal first, "
            "which pairs copies with the first of them only, or neardup cluster"
        )
    return count


def _near_pairs(matches: Matches, groups: _Groups, *, first_only: bool) -> Iterator[Pairs]:
    """Return the pairs of different texts and of their twins; the smaller row is on the left."""
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
    """Rows with identical features ("twins"), group after group.

    pairs    number of pairs within groups
    repeats  rows that are not the first of their group
    """

    def __init__(self, twins: Rows) -> None:
        import numpy as np

        self.order = np.argsort(twins, kind="stable")
        self.sizes = np.bincount(twins, minlength=len(twins))
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.twins = twins
        self.pairs = int((self.sizes * (self.sizes - 1) // 2).sum())
        self.repeats = len(twins) - int((self.sizes > 0).sum())

    def with_first(self, verified: bool) -> Iterator[Pairs]:
        """Pair each twin with the first of its group."""
        import numpy as np

        rows = np.flatnonzero(self.twins != np.arange(len(self.twins)))
        for start in range(0, len(rows), BATCH_PAIRS):
            part = rows[start : start + BATCH_PAIRS]
            yield self._identical(self.twins[part], part, verified)

    def within(self, verified: bool) -> Iterator[Pairs]:
        """Pair each twin with all before it."""
        import numpy as np

        place = np.arange(len(self.order)) - self.starts[self.twins[self.order]]
        counts = np.cumsum(place)
        begin = 0
        while begin < len(place):
            base = int(counts[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(counts, base + BATCH_PAIRS, side="right")))
            number = place[begin:end]
            right = np.repeat(self.order[begin:end], number)
            within = np.arange(len(right)) - np.repeat(np.cumsum(number) - number, number)
            left = self.order[
                np.repeat(self.starts[self.twins[self.order[begin:end]]], number) + within
            ]
            if len(left):
                yield self._identical(left, right, verified)
            begin = end

    def between(self, found: Pairs) -> Iterator[Pairs]:
        """Pair each twin of the left row with each of the right."""
        import numpy as np

        number = self.sizes[found.left] * self.sizes[found.right]
        counts = np.cumsum(number)
        begin = 0
        while begin < len(number):
            base = int(counts[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(counts, base + BATCH_PAIRS, side="right")))
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

    def _identical(self, left: Rows, right: Rows, verified: bool) -> Pairs:
        import numpy as np

        distance: Any = np.zeros(len(left), dtype=np.uint16)
        return Pairs(left, right, distance, np.ones(len(left)) if verified else None)


class PairSorter:
    """Sorts pairs by left row, then by right row; see the top of this file.

    rows  number of rows of the corpus
    """

    def __init__(self, folder: Path, rows: int) -> None:
        import numpy as np

        self._path = folder / PAIRS
        self._width = max(1, -(-rows // BINS))
        self._counts = np.zeros(BINS, dtype=np.int64)
        self._waiting: list[NDArray[Any]] = []
        self._held = 0
        # Where each run ends in the file.
        self._ends = [0]
        self._judged = False

    def add(self, found: Pairs) -> None:
        import numpy as np

        some = np.empty(len(found.left), dtype=FIELDS)
        some["left"], some["right"], some["distance"] = found.left, found.right, found.distance
        self._judged = found.similarity is not None
        some["similarity"] = found.similarity if found.similarity is not None else np.nan
        self._counts += np.bincount(found.left // self._width, minlength=BINS)
        for start in range(0, len(some), SORTED_PAIRS):
            part = some[start : start + SORTED_PAIRS]
            if self._held and self._held + len(part) > SORTED_PAIRS:
                self._write()
            self._waiting.append(part)
            self._held += len(part)

    def _sorted(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        import numpy as np

        run = np.concatenate(parts) if parts else np.empty(0, dtype=FIELDS)
        return run[np.argsort(run["left"].astype(np.uint64) << np.uint64(32) | run["right"])]

    def _write(self) -> None:
        run = self._sorted(self._waiting)
        with self._path.open("ab" if len(self._ends) > 1 else "wb") as file:
            file.write(run.tobytes())
        self._ends.append(self._ends[-1] + len(run))
        self._waiting, self._held = [], 0

    def pairs(self) -> Iterator[Pairs]:
        """Return all pairs in order; nothing can be added after this."""
        import numpy as np

        if len(self._ends) == 1:
            yield self._as_pairs(self._sorted(self._waiting))
            return
        if self._waiting:
            self._write()
        held = np.memmap(self._path, dtype=FIELDS, mode="r")
        runs = [held[a:b] for a, b in zip(self._ends, self._ends[1:], strict=False)]
        places = [0] * len(runs)
        for stop in self._stops():
            parts = []
            for number, run in enumerate(runs):
                # np.searchsorted would copy the whole column.
                end = bisect_left(run["left"], stop, places[number])
                parts.append(run[places[number] : end])
                places[number] = end
            yield self._as_pairs(self._sorted(parts))
        self._path.unlink()

    def _stops(self) -> Iterator[int]:
        """Return the left rows at which ranges end."""
        held = 0
        for number, count in enumerate(self._counts.tolist()):
            if held and held + count > SORTED_PAIRS:
                yield number * self._width
                held = 0
            held += count
        yield BINS * self._width

    def _as_pairs(self, run: NDArray[Any]) -> Pairs:
        import numpy as np

        similarity = np.ascontiguousarray(run["similarity"]) if self._judged else None
        left, right = run["left"].astype(np.int64), run["right"].astype(np.int64)
        return Pairs(left, right, np.ascontiguousarray(run["distance"]), similarity)
