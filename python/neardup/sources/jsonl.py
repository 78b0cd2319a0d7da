"""JSON lines: an object a line, the text in one column or several, the id in another."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from neardup import _core
from neardup.sources import document
from neardup.sources.batch import Batch, Made, Making, Reading, make
from neardup.sources.blocks import blocks
from neardup.sources.document import Document, Report, Unreadable, name_of, open_binary
from neardup.sources.stored import Progress, Stored, is_plain_file, open_stored

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_ID = "id"
# Blocks parsed at the same time.
AT_A_TIME = 2


class Records(NamedTuple):
    """What some lines hold. `rows` are the places of the lines that gave a document."""

    rows: list[int]
    ids: list[str]
    texts: list[str]
    keys: list[Any] | None
    others: list[dict[str, Any]] | None


def read_jsonl(
    path: str, report: Report, *, text_column: str = "text", id_column: str | None = None
) -> Iterator[Document]:
    """The documents of a JSON lines file. Blank lines are skipped.

    Without `id_column` the id is the column "id" where there is one, else file:line; a column
    asked for by name has to be there.
    """
    reading = Reading((text_column,), id_column)
    with open_binary(path) as file:
        for number, line in document.numbered_lines(file, path, report, option="--jsonl"):
            found = parse_lines([line], [number], path, reading, report)
            yield from map(Document, found.ids, found.texts)


def read_jsonl_batches(
    path: str,
    reading: Reading,
    report: Report,
    progress: Progress | None = None,
    making: Making | None = None,
) -> Iterator[Batch]:
    """The same in batches, a block of lines each.

    What can be read again in place is made something of at once, if that is asked for.
    """
    if making is not None and not is_plain_file(path):
        making = None

    # What was reported while the next block was read comes before what is in that block.
    waiting: list[Unreadable] = []

    def with_problems(file: Stored) -> Iterator[tuple[list[Unreadable], tuple[int, int, bytes]]]:
        for block in blocks(file, waiting.append):
            before = waiting.copy()
            waiting.clear()
            yield before, block

    def parse(
        item: tuple[list[Unreadable], tuple[int, int, bytes]],
    ) -> tuple[list[Unreadable], Batch]:
        before, block = item
        batch, problems = parse_block(*block, path, reading, making)
        return before + problems, batch

    with open_stored(path, progress) as file:
        try:
            for problems, batch in in_order(parse, with_problems(file)):
                for problem in problems:
                    report(problem)
                if len(batch.ids):
                    yield batch
        finally:
            for problem in waiting:
                report(problem)


def in_order(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """What the work makes of each item, in order, and of some at a time.

    It runs outside the GIL, on threads of its own, which have enough to do only if the next item is
    there when one is done.
    """
    with ThreadPoolExecutor(AT_A_TIME, "neardup-parser") as pool:
        coming: deque[Future[R]] = deque()
        try:
            for item in items:
                coming.append(pool.submit(work, item))
                if len(coming) > AT_A_TIME:
                    yield coming.popleft().result()
        except OSError:
            # What came before the file could not be read any further is as good as ever.
            while coming:
                yield coming.popleft().result()
            raise
        while coming:
            yield coming.popleft().result()


def parse_block(
    first: int,
    start: int,
    block: bytes,
    path: str,
    reading: Reading,
    making: Making | None = None,
) -> tuple[Batch, list[Unreadable]]:
    """The documents of whole lines, of which the first has this number and offset; and the rest."""
    problems: list[Unreadable] = []
    if reading.key_column is None and not reading.others:
        quick = _parse_quickly(first, start, block, path, reading, problems.append, making)
        if quick is not None:
            return quick, problems
        problems.clear()
    return _parse_slowly(first, start, block, path, reading, problems.append), problems


def _parse_quickly(
    first: int,
    start: int,
    block: bytes,
    path: str,
    reading: Reading,
    report: Report,
    making: Making | None,
) -> Batch | None:
    """By the core, on all cores. Lines it refuses are looked at one by one; if one of them is a
    document after all, nothing is returned."""
    id_column = reading.id_column
    columns = (reading.text_columns, id_column or DEFAULT_ID, id_column is not None)
    given = block, columns, name_of(path), first, None
    if making is None:
        found = _core.read_json_lines(*given)
    else:
        found = making.pipeline.make_json_lines(*given, sketches=making.sketches)
    for line, begin, end in found.refused:
        rest = block[begin:end].removesuffix(b"\n")
        if parse_lines([rest], [first + line], path, reading, report).rows:
            return None
    made = None
    if making is not None and found.made is not None:
        signal, values, sketches = found.made
        made = Made(
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
        is_plain_file(path),
        made,
    )


def _column(data: bytes, bounds: NDArray[np.int64]) -> pa.LargeStringArray:
    import pyarrow as pa

    buffers = pa.py_buffer(bounds), pa.py_buffer(data)
    return pa.LargeStringArray.from_buffers(len(bounds) - 1, *buffers)


def _parse_slowly(
    first: int, start: int, block: bytes, path: str, reading: Reading, report: Report
) -> Batch:
    import numpy as np

    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    sizes = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines)) + 1
    ends = start + np.cumsum(sizes)
    starts = ends - sizes
    ends[-1] = start + len(block)  # the last line may have no end
    found = parse_lines(lines, range(first, first + len(lines)), path, reading, report)
    rows = np.array(found.rows, dtype=np.int64)
    spans = np.stack((starts[rows], ends[rows]), axis=1)
    return make(found.ids, found.texts, spans, first + rows, found.keys, found.others)


def parse_lines(
    lines: Sequence[bytes], numbers: Sequence[int], path: str, reading: Reading, report: Report
) -> Records:
    """The documents of lines with these numbers. Blank lines are skipped, bad ones reported."""
    source = name_of(path)
    keys: list[Any] | None = None if reading.key_column is None else []
    found = Records([], [], [], keys, [] if reading.others else None)
    taken = {*reading.text_columns, reading.id_column or DEFAULT_ID}
    for row, (number, line) in enumerate(zip(numbers, lines, strict=True)):
        if not line.strip():
            continue
        decoded = document.decode(line)
        if not isinstance(decoded, str):
            report(document.not_utf8(path, number, decoded))
            continue
        try:
            record = _record(decoded)
            text = _texts(record, reading.text_columns)
            name = _id(record, reading.id_column)
        except _Bad as bad:
            report(Unreadable(source, number, str(bad), bad.kind))
            continue
        found.rows.append(row)
        found.ids.append(f"{source}:{number}" if name is None else name)
        found.texts.append(text)
        if found.keys is not None and reading.key_column is not None:
            found.keys.append(record.get(reading.key_column))
        if found.others is not None:
            found.others.append({x: y for x, y in record.items() if x not in taken})
    return found


class _Bad(Exception):
    """Why a line gives no document; `kind` is the same without the place inside the line."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        # Some of Python's messages end in "at" themselves.
        kind = f"not JSON ({error.msg.removesuffix(' at')}"
        raise _Bad(f"{kind} at character {error.pos})", kind) from None
    except RecursionError:
        raise _Bad("not JSON (nested too deeply)") from None
    except ValueError as error:  # an integer of thousands of digits
        raise _Bad(f"not JSON ({error})") from None
    if not isinstance(record, dict):
        raise _Bad(f"not an object but {_kind(record)}")
    return record


def _texts(record: dict[str, Any], columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return _text(record, columns[0])
    present = [name for name in columns if record.get(name) is not None]
    if not present:
        names = ", ".join(map(repr, columns))
        raise _Bad(f"none of the columns {names} (there is {columns_of(record)})")
    return "\n".join(_text(record, name) if name in present else "" for name in columns)


def _text(record: dict[str, Any], column: str) -> str:
    if column not in record:
        raise _Bad(f"no column {column!r} (there is {columns_of(record)})")
    value = record[column]
    if not isinstance(value, str):
        raise _Bad(f"column {column!r} is not a string but {_kind(value)}")
    return _encodable(value, column)


def _id(record: dict[str, Any], column: str | None) -> str | None:
    if column is None and record.get(DEFAULT_ID) is None:
        return None
    name = DEFAULT_ID if column is None else column
    if name not in record:
        raise _Bad(f"no column {name!r} (there is {columns_of(record)})")
    value = record[name]
    if isinstance(value, str):
        return _encodable(value, name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _Bad(f"column {name!r} is neither a string nor an integer but {_kind(value)}")


def _encodable(value: str, column: str) -> str:
    # JSON can spell half a surrogate pair, which is no character: nothing could write it back.
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        kind = f"column {column!r} holds a lone surrogate"
        raise _Bad(f"{kind} (U+{code:04X} at character {error.start})", kind) from None
    return value


def columns_of(record: Iterable[str], most: int = 8) -> str:
    names = [repr(name) for name in record]
    if len(names) > most:
        names[most:] = [f"{len(names) - most} more"]
    return ", ".join(names) or "none"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {list: "a list", dict: "an object", str: "a string", int: "a number"}
    return names.get(type(value), "a number")
