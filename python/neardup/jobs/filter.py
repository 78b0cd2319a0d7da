"""neardup filter: a stream of records in, those not seen before out, one by one."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from neardup.files.reading import batch, encodings, formats
from neardup.files.reading.batch import BOM, Note, Reading, Report, Unreadable
from neardup.files.reading.formats import STDIN, name_of
from neardup.files.reading.inputs import ignore
from neardup.files.reading.records import BadRecordError, fields_of, parse_record
from neardup.files.reading.streams import UNKNOWN, DamagedError, has_nul, not_utf8, nul_hint
from neardup.jobs.options import UnreadableError

if TYPE_CHECKING:
    from neardup.collection import Collection, Outcome
    from neardup.http.messages import Response
    from neardup.text.fingerprint import RecipeLike

# What is stored and perhaps not yet written, in the folder of the collection.
PENDING = "filter.pending"
# Bytes taken at a time, of those that are there already.
AT_ONCE = 1 << 20
# Records looked up at a time.
MOST = 1024

# Says what came in, and takes what goes out.
Read = Callable[[int], bytes]
Put = Callable[[bytes], object]


class InputLine(NamedTuple):
    """A line with its end, as it came, and its number from 1; None for one beyond the limit."""

    number: int
    data: bytes | None


class Record(NamedTuple):
    """A record that could be read: its line, its id (None: it has none) and its text."""

    line: InputLine
    id: str | None
    text: str


class Dropped(NamedTuple):
    """A record that was seen before, and for which document it was dropped."""

    id: str
    line: int
    dup_of: str
    distance: int | None
    similarity: float | None


class CutError(Exception):
    """Of a record only a part could be written, and why."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass
class Filtered:
    """What a filter has done so far.

    repeated  were written for a run that was killed
    is_cut    a part of one more record was written, when the run was stopped
    """

    read: int = 0
    written: int = 0
    dropped: int = 0
    unreadable: int = 0
    repeated: int = 0
    is_cut: bool = False


class EncodedError(DamagedError):
    """The input is in an encoding that a byte order mark tells, and not passed on as another."""

    def __init__(self, encoding: str) -> None:
        super().__init__(f"is {encoding} by its byte order mark, not UTF-8")
        self.encoding = encoding


def lines_of(read: Read, most: int | None = None) -> Iterator[list[InputLine]]:
    """Whole lines, as many as are there: none waits for the next one to come.

    read  gives at most so many bytes of those that are there, waits if there is none, and gives
          nothing at the end
    most  bytes of a line [document.MAX_BYTES]
    """
    most = batch.MAX_BYTES if most is None else most
    number, held, size, is_long = 0, list[bytes](), 0, False
    while data := read(AT_ONCE):
        *whole, rest = data.split(b"\n")
        found: list[InputLine] = []
        for part in whole:
            number += 1
            is_long = is_long or size + len(part) > most
            line = None if is_long else b"".join((*held, part, b"\n"))
            found.append(InputLine(number, line))
            held, size, is_long = [], 0, False
        if rest:
            size += len(rest)
            # Of a line beyond the limit nothing is kept.
            is_long = is_long or size > most
            held = [] if is_long else [*held, rest]
        for start in range(0, len(found), MOST):
            yield found[start : start + MOST]
    if size:
        yield [InputLine(number + 1, None if is_long else b"".join(held))]


def plain_lines(
    lines: Sequence[InputLine], name: str, reading: Reading, report: Report
) -> Iterator[tuple[InputLine, bytes]]:
    """Lines with their bytes, without the line end; see `records_of`."""
    most = reading.max_document or batch.MAX_BYTES
    for line in lines:
        if line.data is None:
            report(Unreadable(name_of(name), line.number, batch.line_too_long(most)))
            continue
        data = line.data.removesuffix(b"\n").removesuffix(b"\r")
        if line.number == 1:
            mark = encodings.marked(data)
            if mark is not None and mark[0] != encodings.UTF8:
                raise EncodedError(mark[0])
            data = data.removeprefix(BOM)
        if reading.lines or data.strip():
            yield line, data


def records_of(
    lines: Sequence[InputLine], name: str, reading: Reading, report: Report
) -> Iterator[Record]:
    """The records of lines. A blank line of JSON lines is none; bad ones are reported.

    name  of the input, "-" for standard input

    Raises EncodedError if it begins with the byte order mark of another encoding than UTF-8.
    """
    for line, data in plain_lines(lines, name, reading, report):
        text = batch.decode(data)
        if not isinstance(text, str):
            report(not_utf8(name, line.number, text, None))
        elif not reading.lines:
            try:
                fields = fields_of(parse_record(text), reading)
            except BadRecordError as bad:
                hint = nul_hint(name, data) or bad.hint
                report(Unreadable(name_of(name), line.number, str(bad), bad.kind, hint))
            else:
                yield Record(line, fields.id, fields.text)
        elif "\0" in text:
            report(has_nul(name, line.number, data))
        else:
            yield Record(line, None, text)


class CapturedLine:
    """Makes records of lines of httpx: the text of each is the view of its response.

    viewing  what of responses is compared
    note     is told what was read in another way than one may expect
    """

    def __init__(self, name: str, reading: Reading, report: Report, note: Note) -> None:
        from neardup.files.reading.batch import Task
        from neardup.http.captures.reader import Capture
        from neardup.http.views import ViewBuilder

        assert reading.viewing is not None  # noqa: S101
        self._reading, self._report, self._name = reading, report, name
        self._views = ViewBuilder(reading.viewing, threads=reading.threads)
        self._capture = Capture(Task(name, reading, report, note))
        self._has_told = False

    def records(self, lines: Sequence[InputLine]) -> Iterator[Record]:
        """The records of lines. A blank line is none; bad ones are reported."""
        found: list[tuple[InputLine, Response]] = []
        try:
            for line, data in plain_lines(lines, self._name, self._reading, self._report):
                if (response := self._response(line, data)) is not None:
                    found.append((line, response))
        finally:
            # What came before one that cannot be read is as good as ever.
            yield from self._records(found)
        if not self._has_told:
            # That bodies are missing is to be known before the end of a long run.
            self._has_told = True
            self.tell()

    def tell(self) -> None:
        self._capture.note_remarks()

    def _response(self, line: InputLine, data: bytes) -> Response | None:
        from neardup.http.captures.httpx import response_of
        from neardup.http.messages import MessageError

        try:
            return response_of(self._capture, data, line.number)
        except (BadRecordError, MessageError) as bad:
            self._capture.refuse(line.number, str(bad), kind=bad.kind)
        return None

    def _records(self, found: Sequence[tuple[InputLine, Response]]) -> Iterator[Record]:
        if not found:
            return
        from neardup.http.columns import column_value

        texts, titles = self._views.build([response for _, response in found])
        column = self._reading.id_column
        for (line, response), text, title in zip(found, texts.to_pylist(), titles, strict=True):
            id_ = None if column is None else column_value(response, column, title) or None
            yield Record(line, id_, text)


def converted(name: str, encoding: str) -> str:
    """The command that makes UTF-8 of an input."""
    command = f"iconv -f {encoding} -t UTF-8"
    if name == STDIN:
        return f"pipe it through {command}"
    file = shlex.quote(name_of(name))
    unpack = {"gzip": "zcat", "zstd": "zstdcat"}.get(formats.packing(name) or "")
    return f"use {command} {file}" if unpack is None else f"use {unpack} {file} | {command}"


def without_options(name: str, hint: str) -> str:
    """A hint for a command that passes bytes on as they are, and so has no --encoding."""
    if hint == UNKNOWN:
        return f"{converted(name, 'ENCODING')}, with an encoding such as gb18030 or latin-1"
    return re.sub(r"use --encoding (\S+)", lambda found: converted(name, found[1]), hint)


class Filter:
    """Passes records on that are near to none before them, and remembers them.

    put         writes bytes, all of them, or raises: `CutError` if a part of them was written
    collection  where to remember, beyond this run; None: in a temporary folder, for this run only
    recipe      how texts are compared; a collection has its own
    similarity, radius, recall   what is near, as for `Collection.check`
    reading     the columns of JSON lines, or that each line is a text; with `viewing` each line is
                a result of httpx, and the view of its response, as the recipe has it, is compared
    name        of the input
    on_problem  is told of each record that cannot be read
    on_dropped  is told of each record that was seen before
    on_note     is told what was read in another way than one may expect
    strict      stop at the first record that cannot be read
    hold        puts off what would stop the run while it does not know what was written

    A record is first noted in a file of the collection, then stored, then written, then the note
    is cleared. Whatever stops a run, all that was stored and not written is known: it is taken out
    of the collection, or, after a run that was killed, written when the next one begins. Where a
    run may have stopped inside a record, the next one begins with a line end.
    """

    def __init__(
        self,
        put: Put,
        *,
        collection: Path | None = None,
        recipe: RecipeLike = None,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
        reading: Reading | None = None,
        name: str = "-",
        on_problem: Report | None = None,
        on_dropped: Callable[[Dropped], object] | None = None,
        on_note: Note = ignore,
        strict: bool = False,
        hold: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        from neardup.collection import Collection

        self.counts = Filtered()
        self._put, self._name, self._strict, self._hold = put, name, strict, hold
        self._reading = reading or Reading()
        self._told, self._on_dropped = on_problem, on_dropped
        self._limits: dict[str, Any] = {
            "similarity": similarity,
            "radius": radius,
            "recall": recall,
        }
        # Records that have no id are called by their line, and by the run it was in.
        self._run = ""
        with ExitStack() as stack:
            if collection is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="neardup-"))
                path, durability = Path(folder) / "seen.neardup", "normal"
            else:
                path, durability = collection, "full"
                self._run = f"@{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
            self._seen: Collection = stack.enter_context(
                Collection.open(path, recipe, durability=durability)  # type: ignore[arg-type]
            )
            self._seen.check([], **self._limits)
            self._captured = self._made_of_responses(on_note)
            # From here on nobody else adds to it, nor looks at what is pending.
            self._seen.remove([])
            self._pending = None if collection is None else Pending(self._seen.path / PENDING)
            self._stack = stack.pop_all()

    def _made_of_responses(self, note: Note) -> CapturedLine | None:
        """What makes records of captured responses; the collection has the recipe for them."""
        if self._reading.viewing is None:
            return None
        own = self._seen.recipe
        if own.tokens != "http":
            raise ValueError(
                f"the collection is one of texts, made with {own.identity}; name a new one, or "
                "leave --as http out"
            )
        self._reading = replace(self._reading, viewing=own.viewing())
        return CapturedLine(self._name, self._reading, self._report, note)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self, read: Read) -> Filtered:
        """Filters what `read` gives, to its end; see `lines_of`."""
        with self._hold():
            self._write_pending()
        number = 1
        try:
            for lines in lines_of(read, self._reading.max_document):
                self._pass_lines(lines)
                number = lines[-1].number + 1
        except EncodedError as other:
            hint = converted(self._name, other.encoding)
            self._report(Unreadable(name_of(self._name), None, str(other), hint=hint))
        except DamagedError as damage:
            # The line it is in has no end, and is none.
            self._report(Unreadable(name_of(self._name), number, str(damage)))
        finally:
            if self._captured is not None:
                self._captured.tell()
        return self.counts

    def _pass_lines(self, lines: Sequence[InputLine]) -> None:
        records: list[Record] = []
        if self._captured is None:
            found = records_of(lines, self._name, self._reading, self._report)
        else:
            found = self._captured.records(lines)
        try:
            for record in found:
                records.append(record)
        finally:
            # What came before one that cannot be read is as good as ever.
            if records:
                with self._hold():
                    self._pass(records)

    def _report(self, problem: Unreadable) -> None:
        self.counts.unreadable += 1
        problem = problem._replace(hint=without_options(self._name, problem.hint))
        if self._told is not None:
            self._told(problem)
        if self._strict:
            raise UnreadableError(f"{problem}; stopped there, because strict was asked for")

    def _pass(self, records: Sequence[Record]) -> None:
        ids = self._names(records)
        self.counts.read += len(records)
        data = [record.line.data or b"" for record in records]
        if self._pending is not None:
            self._pending.note(ids, data)
        with self._taken_back(ids) as written:
            found = self._seen.add(
                [(id_, record.text) for id_, record in zip(ids, records, strict=True)],
                unless_duplicate=True,
                **self._limits,
            )
            for at, outcome in enumerate(found):
                if outcome.status == "duplicate":
                    self._drop(records[at], outcome)
                else:
                    self._write(data[at])
                    self.counts.written += 1
                written.append(ids[at])
        if self._pending is not None:
            self._pending.clear()

    def _write(self, data: bytes) -> None:
        try:
            self._put(data)
        except CutError as cut:
            self.counts.is_cut = True
            raise cut.cause from None

    def _drop(self, record: Record, outcome: Outcome) -> None:
        self.counts.dropped += 1
        if self._on_dropped is not None:
            name = record.id or f"{name_of(self._name)}:{record.line.number}"
            rest = str(outcome.dup_of), outcome.distance, outcome.similarity
            self._on_dropped(Dropped(name, record.line.number, *rest))

    @contextmanager
    def _taken_back(self, ids: Sequence[str]) -> Iterator[list[str]]:
        """If it cannot go on, what was stored and not written is not remembered."""
        written: list[str] = []
        try:
            yield written
        except BaseException:
            # If this fails too, the next run finds what is pending.
            with suppress(Exception):
                self._seen.remove(ids[len(written) :])
                if self._pending is not None and self.counts.is_cut:
                    self._pending.note_cut()
                elif self._pending is not None:
                    self._pending.clear()
            raise

    def _names(self, records: Sequence[Record]) -> list[str]:
        """An id for each that is not in the collection: what is there must not be replaced, or it
        would be forgotten."""
        names: list[str] = []
        taken = set[str]()
        for record in records:
            place = f"{name_of(self._name)}:{record.line.number}"
            name = f"{place}{self._run}" if record.id is None else record.id
            if name in taken or name in self._seen:
                name = f"{name}@{place}{self._run}"
            names.append(name)
            taken.add(name)
        return names

    def _write_pending(self) -> None:
        """What a killed run has stored and perhaps not written is written now."""
        if self._pending is None or not self._pending:
            return
        # It may have stopped inside a record, and nothing is to be glued to that.
        self._write(b"\n")
        for id_, data in self._pending.read():
            if id_ in self._seen:
                self._write(data if data.endswith(b"\n") else data + b"\n")
                self.counts.repeated += 1
        self._pending.clear()


class Pending:
    """A note of the records that are about to be stored and written, on the disk before they are.

    A line each, of an id and the bytes of the record. A note that was not written to its end was
    not acted upon. True if there is anything: then a run was stopped that may have been inside a
    record.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __bool__(self) -> bool:
        with suppress(FileNotFoundError):
            return self._path.stat().st_size > 0
        return False

    def note(self, ids: Sequence[str], data: Sequence[bytes]) -> None:
        rows = [[id_, base64.b64encode(x).decode()] for id_, x in zip(ids, data, strict=True)]
        with self._path.open("wb") as file:
            file.write("".join(f"{json.dumps(row)}\n" for row in rows).encode())
            file.flush()
            os.fsync(file.fileno())

    def note_cut(self) -> None:
        """Nothing is to be written again, but a record was cut: a blank line, and no record."""
        # At no moment it is empty: the process may be killed here too.
        with self._path.open("r+b", buffering=0) as file:
            file.write(b"\n")
            file.truncate(1)

    def clear(self) -> None:
        # Emptied and not removed: that is quicker, and the next note comes soon.
        if self._path.exists():
            os.truncate(self._path, 0)

    def read(self) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []
        with suppress(FileNotFoundError):
            for line in self._path.read_bytes().splitlines():
                with suppress(ValueError):
                    id_, data = json.loads(line)
                    found.append((id_, base64.b64decode(data, validate=True)))
        return found
