"""JSON lines: an object per line, the text in one or more columns, the id in another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from neardup import _core
from neardup.files.reading import batch as document
from neardup.files.reading.batch import (
    Batch,
    OddIds,
    Precompute,
    Precomputed,
    Report,
    Task,
    Unreadable,
    make_batch,
)
from neardup.files.reading.formats import Format, register
from neardup.files.reading.records import DEFAULT_ID, BadRecordError, fields_of, parse_record
from neardup.files.reading.streams import ByteStream, blocks, nul_hint, open_task, report_not_utf8

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

# Blocks parsed at the same time.
PARALLEL_BLOCKS = 2


class JsonlRecords(NamedTuple):
    """The documents of some lines. `rows` are the positions of the lines that gave one."""

    rows: list[int]
    ids: list[str]
    texts: list[str]
    keys: list[Any] | None
    others: list[dict[str, Any]] | None


class JsonlFile(NamedTuple):
    """What is known of a file before its first line is parsed.

    source    its name, for ids and messages
    in_place  whether the core can read a line again from the file. Checked once: the file may be
              deleted while it is read
    """

    task: Task
    source: str
    encoding: str | None
    in_place: bool

    @property
    def making(self) -> Precompute | None:
        return self.task.making if self.in_place else None

    @property
    def is_simple(self) -> bool:
        """Return whether the core can find all columns: only those at the top level of a record."""
        reading = self.task.reading
        names = (*reading.text_columns, reading.id_column or DEFAULT_ID)
        return not (reading.key_column or reading.others or any("." in name for name in names))


def read_jsonl_batches(task: Task) -> Iterator[Batch]:
    """Yield the documents of JSON lines, a batch per block. Blank lines are skipped.

    With `Task.making`, sketches or fingerprints are computed at once if lines can be read in place.
    """
    # Report the problems of a block after those of the blocks before it.
    waiting: list[Unreadable] = []

    def with_problems(
        file: ByteStream,
    ) -> Iterator[tuple[list[Unreadable], tuple[int, int, bytes]]]:
        for block in blocks(file, waiting.append):
            before = waiting.copy()
            waiting.clear()
            yield before, block

    with open_task(task) as file:
        known = JsonlFile(task, file.name, file.encoding, file.is_plain)

        def parse(
            item: tuple[list[Unreadable], tuple[int, int, bytes]],
        ) -> tuple[list[Unreadable], Batch]:
            before, block = item
            batch, problems = parse_block(*block, known)
            return before + problems, batch

        try:
            for problems, batch in map_in_order(parse, with_problems(file)):
                for problem in problems:
                    task.report(problem)
                if len(batch.ids):
                    yield batch
        finally:
            for problem in waiting:
                task.report(problem)


register(
    Format(
        "jsonl",
        "JSON lines",
        (".jsonl", ".ndjson"),
        read_jsonl_batches,
        keeps="lines",
        rank=10,
        options=frozenset({"encoding"}),
    )
)


def map_in_order(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Apply a function to items in background threads, some at a time; yield results in order.

    The function should release the GIL; the next item is read while it runs.
    """
    with ThreadPoolExecutor(PARALLEL_BLOCKS, "neardup-parser") as pool:
        coming: deque[Future[R]] = deque()
        try:
            for item in items:
                coming.append(pool.submit(work, item))
                if len(coming) > PARALLEL_BLOCKS:
                    yield coming.popleft().result()
        except OSError:
            # Yield the results of the items before the error first.
            while coming:
                yield coming.popleft().result()
            raise
        while coming:
            yield coming.popleft().result()


def parse_block(
    first: int, start: int, block: bytes, file: JsonlFile
) -> tuple[Batch, list[Unreadable]]:
    """Parse whole lines, the first with this number and offset; return their documents."""
    problems: list[Unreadable] = []
    if file.is_simple:
        quick = _parse_quickly(first, start, block, file, problems.append)
        if quick is not None:
            return quick, problems
        problems.clear()
    return _parse_slowly(first, start, block, file, problems.append), problems


def _parse_quickly(
    first: int, start: int, block: bytes, file: JsonlFile, report: Report
) -> Batch | None:
    """Parse with the core, on all cores. Lines it refuses are parsed in Python; if one of them is a
    document after all, return None.
    """
    reading, making = file.task.reading, file.making
    columns = (reading.text_columns, reading.id_column or DEFAULT_ID, reading.id_column is not None)
    given = block, columns, file.source, first, None
    if making is None:
        found = _core.read_json_lines(*given)
    else:
        found = making.pipeline.make_json_lines(*given, sketches=making.sketches)
    for line, begin, end in found.refused:
        rest = block[begin:end].removesuffix(b"\n")
        if _parse_lines([rest], [first + line], file, report, OddIds()).rows:
            return None
    made = None
    if making is not None and found.made is not None:
        signal, values, sketches = found.made
        made = Precomputed(
            signal,
            None if making.sketches else values,
            sketches if making.sketches else None,
            found.lengths,
        )
    return Batch(
        _column(*found.ids),
        None if found.texts is None else _column(*found.texts),
        found.spans + start,
        found.lines + first,
        None,
        file.in_place,
        made,
    )


def _column(data: bytes, bounds: NDArray[np.int64]) -> pa.LargeStringArray:
    import pyarrow as pa

    buffers = pa.py_buffer(bounds), pa.py_buffer(data)
    return pa.LargeStringArray.from_buffers(len(bounds) - 1, *buffers)


def _parse_slowly(first: int, start: int, block: bytes, file: JsonlFile, report: Report) -> Batch:
    import numpy as np

    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    sizes = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines)) + 1
    ends = start + np.cumsum(sizes)
    starts = ends - sizes
    ends[-1] = start + len(block)  # the last line may have no line end
    numbers = range(first, first + len(lines))
    found = _parse_lines(lines, numbers, file, report, file.task.odd_ids)
    rows = np.array(found.rows, dtype=np.int64)
    spans = np.stack((starts[rows], ends[rows]), axis=1)
    return make_batch(found.ids, found.texts, spans, first + rows, found.keys, found.others)


def _parse_lines(
    lines: Sequence[bytes],
    numbers: Sequence[int],
    file: JsonlFile,
    report: Report,
    odd_ids: OddIds,
) -> JsonlRecords:
    """Parse the lines with these numbers. Blank lines are skipped, bad ones reported."""
    path, source, reading = file.task.path, file.source, file.task.reading
    keys: list[Any] | None = None if reading.key_column is None else []
    found = JsonlRecords([], [], [], keys, [] if reading.others else None)
    for row, (number, line) in enumerate(zip(numbers, lines, strict=True)):
        if not line.strip():
            continue
        decoded = document.decode(line)
        if not isinstance(decoded, str):
            report(report_not_utf8(path, number, decoded, file.encoding))
            continue
        try:
            fields = fields_of(parse_record(decoded), reading)
        except BadRecordError as bad:
            hint = nul_hint(path, line) or bad.hint
            report(Unreadable(source, number, str(bad), bad.kind, hint))
            continue
        if fields.odd is not None:
            odd_ids.see(number, fields.odd)
        found.rows.append(row)
        found.ids.append(f"{source}:{number}" if fields.id is None else fields.id)
        found.texts.append(fields.text)
        if found.keys is not None:
            found.keys.append(fields.key)
        if found.others is not None and fields.others is not None:
            found.others.append(fields.others)
    return found
