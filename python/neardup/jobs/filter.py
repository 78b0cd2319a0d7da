"""neardup filter: a stream of records in, the records without an earlier near-duplicate out. One
file, since the stream, its records and the note of pending ones make one protocol.

Lines are passed on as soon as they arrive. A record is noted in a file of the collection (see
`Pending`), then stored, then written, then the note is cleared: a killed run loses nothing.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from neardup.files.reading import batch, encodings, formats
from neardup.files.reading.batch import BOM, Note, Reading, Report, Unreadable
from neardup.files.reading.formats import STDIN, name_of
from neardup.files.reading.inputs import ignore
from neardup.files.reading.records import BadRecordError, fields_of, parse_record
from neardup.files.reading.streams import (
    NAME_THE_ENCODING,
    DamagedError,
    nul_hint,
    report_not_utf8,
    report_nul,
)
from neardup.jobs.options import UnreadableError
from neardup.text.differences import check_distinguish

if TYPE_CHECKING:
    from neardup.collection import Collection, Outcome
    from neardup.http.messages import Response
    from neardup.text.fingerprint import RecipeLike

# Records that are stored and perhaps not yet written, in the folder of the collection.
PENDING = "filter.pending"
READ_BYTES = 1 << 20
# Records looked up at a time.
BATCH_RECORDS = 1024

# Read returns at most so many bytes, waits if there are none, and returns b"" at the end.
Read = Callable[[int], bytes]
Put = Callable[[bytes], object]


class InputLine(NamedTuple):
    """A line with its line end, and its number from 1; None instead of a line that is too long."""

    number: int
    data: bytes | None


class Record(NamedTuple):
    """A record: its line, its id (None if it has none) and its text."""

    line: InputLine
    id: str | None
    text: str


class Dropped(NamedTuple):
    """A dropped record, the earlier document it is near to, and what differs, as in `Match`."""

    id: str
    line: int
    dup_of: str
    distance: int | None
    similarity: float | None
    differs: str | None = None
    lost: int | None = None


class CutError(Exception):
    """Only a part of a record could be written."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass
class Filtered:
    """Counts of a filter.

    repeated  records written again after a run that was killed
    is_cut    whether one more record was written in part
    differing dropped records by the aspects in which they differ from the earlier document
    """

    read: int = 0
    written: int = 0
    dropped: int = 0
    unreadable: int = 0
    repeated: int = 0
    is_cut: bool = False
    differing: Counter[str] = field(default_factory=Counter)


class EncodedError(DamagedError):
    """The input has the byte order mark of another encoding than UTF-8."""

    def __init__(self, encoding: str) -> None:
        super().__init__(f"is {encoding} by its byte order mark, not UTF-8")
        self.encoding = encoding


def read_lines(read: Read, max_bytes: int | None = None) -> Iterator[list[InputLine]]:
    """Return whole lines as soon as they are complete.

    max_bytes  of a line [batch.MAX_BYTES]
    """
    most = batch.MAX_BYTES if max_bytes is None else max_bytes
    number, held, size, is_long = 0, list[bytes](), 0, False
    while data := read(READ_BYTES):
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
            # The bytes of a line that is too long are not held.
            is_long = is_long or size > most
            held = [] if is_long else [*held, rest]
        for start in range(0, len(found), BATCH_RECORDS):
            yield found[start : start + BATCH_RECORDS]
    if size:
        yield [InputLine(number + 1, None if is_long else b"".join(held))]


def _strip_lines(
    lines: Sequence[InputLine], name: str, reading: Reading, report: Report
) -> Iterator[tuple[InputLine, bytes]]:
    """Return lines with their bytes without the line end; see `parse_records`."""
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


def parse_records(
    lines: Sequence[InputLine], name: str, reading: Reading, report: Report
) -> Iterator[Record]:
    """Return the records of lines, skip blank lines of JSON lines, and report bad records.

    name  of the input, "-" for standard input

    Raise EncodedError if the input begins with the byte order mark of another encoding than UTF-8.
    """
    for line, data in _strip_lines(lines, name, reading, report):
        text = batch.decode(data)
        if not isinstance(text, str):
            report(report_not_utf8(name, line.number, text, None))
        elif not reading.lines:
            try:
                fields = fields_of(parse_record(text), reading)
            except BadRecordError as bad:
                hint = nul_hint(name, data) or bad.hint
                report(Unreadable(name_of(name), line.number, str(bad), bad.kind, hint))
            else:
                yield Record(line, fields.id, fields.text)
        elif "\0" in text:
            report(report_nul(name, line.number, data))
        else:
            yield Record(line, None, text)


class CaptureParser:
    """Parses lines of httpx: the text of a record is the view of its response."""

    def __init__(self, name: str, reading: Reading, report: Report, note: Note) -> None:
        from neardup.files.reading.batch import Task
        from neardup.http.captures.reader import Capture
        from neardup.http.views import ViewBuilder

        assert reading.viewing is not None  # noqa: S101
        self._reading, self._report, self._name = reading, report, name
        self._views = ViewBuilder(reading.viewing, threads=reading.threads)
        self._capture = Capture(Task(name, reading, report, note))
        self._has_noted = False

    def records(self, lines: Sequence[InputLine]) -> Iterator[Record]:
        """Return the records of lines, skip blank lines, and report bad records."""
        found: list[tuple[InputLine, Response]] = []
        try:
            for line, data in _strip_lines(lines, self._name, self._reading, self._report):
                if (response := self._response(line, data)) is not None:
                    found.append((line, response))
        finally:
            # If a strict run stops here, the records before are still passed on.
            yield from self._records(found)
        if not self._has_noted:
            # Missing bodies are noted early: a stream may have no end.
            self._has_noted = True
            self.note_remarks()

    def note_remarks(self) -> None:
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


def _conversion(name: str, encoding: str) -> str:
    """Return the command that converts an input to UTF-8."""
    command = f"iconv -f {encoding} -t UTF-8"
    if name == STDIN:
        return f"pipe it through {command}"
    file = shlex.quote(name_of(name))
    unpack = {"gzip": "zcat", "zstd": "zstdcat"}.get(formats.packing(name) or "")
    return f"use {command} {file}" if unpack is None else f"use {unpack} {file} | {command}"


def _filter_hint(name: str, hint: str) -> str:
    """Replace --encoding in a hint: the filter passes bytes on, so it has no such option."""
    if hint == NAME_THE_ENCODING:
        return f"{_conversion(name, 'ENCODING')}, with an encoding such as gb18030 or latin-1"
    return re.sub(r"use --encoding (\S+)", lambda found: _conversion(name, found[1]), hint)


class Filter:
    """Passes records on that are not near an earlier one, and stores them.

    put         write all bytes, or raise: `CutError` if only a part of them was written
    collection  where to store records for later runs; None: in a temporary folder
    recipe      how texts are compared; an existing collection has its own
    similarity, radius, recall, distinguish   what counts as near, as for `Collection.check`
    reading     the columns of JSON lines, or that each line is a text; with `viewing` each line is
                a result of httpx, and the views of its response are compared
    name        of the input
    on_problem  called with each record that cannot be read
    on_dropped  called with each record that is dropped
    on_note     called with a sentence on input that was not read as expected
    strict      stop at the first record that cannot be read
    hold        a context manager that delays signals between storing and writing a record

    If a run is stopped, records that were stored and not written are removed from the collection.
    If it is killed, the next run writes them first, after a line end, because the killed run may
    have written half a record.
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
        distinguish: str | Iterable[str] | None = None,
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
        self._on_problem, self._on_dropped = on_problem, on_dropped
        self._limits: dict[str, Any] = {"similarity": similarity, "radius": radius}
        self._limits |= {"recall": recall, "distinguish": check_distinguish(distinguish)}
        # Records without an id are named after their line and this run.
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
            self._seen.check_limits(**self._limits)
            self._captures = self._capture_parser(on_note)
            # Take the writer's lock: no other filter may read the pending records.
            self._seen.remove([])
            self._pending = None if collection is None else Pending(self._seen.path / PENDING)
            self._stack = stack.pop_all()

    def _capture_parser(self, note: Note) -> CaptureParser | None:
        if self._reading.viewing is None:
            return None
        own = self._seen.recipe
        if own.tokens != "http":
            raise ValueError(
                f"the collection has texts ({own.identity}), not HTTP responses; name a new one, "
                "or leave --as http out"
            )
        self._reading = replace(self._reading, viewing=own.viewing())
        return CaptureParser(self._name, self._reading, self._report, note)

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
        """Filter a stream to its end."""
        with self._hold():
            self._write_pending()
        number = 1
        try:
            for lines in read_lines(read, self._reading.max_document):
                self._pass_lines(lines)
                number = lines[-1].number + 1
        except EncodedError as other:
            hint = _conversion(self._name, other.encoding)
            self._report(Unreadable(name_of(self._name), None, str(other), hint=hint))
        except DamagedError as damage:
            # The line with the damage is incomplete, so it is not a record.
            self._report(Unreadable(name_of(self._name), number, str(damage)))
        finally:
            if self._captures is not None:
                self._captures.note_remarks()
        return self.counts

    def _pass_lines(self, lines: Sequence[InputLine]) -> None:
        records: list[Record] = []
        if self._captures is None:
            found = parse_records(lines, self._name, self._reading, self._report)
        else:
            found = self._captures.records(lines)
        try:
            for record in found:
                records.append(record)
        finally:
            # If a strict run stops here, the records before are still passed on.
            if records:
                with self._hold():
                    self._pass(records)

    def _report(self, problem: Unreadable) -> None:
        self.counts.unreadable += 1
        problem = problem._replace(hint=_filter_hint(self._name, problem.hint))
        if self._on_problem is not None:
            self._on_problem(problem)
        if self._strict:
            raise UnreadableError(f"{problem}; stopped there, because the filter is strict")

    def _pass(self, records: Sequence[Record]) -> None:
        ids = self._new_ids(records)
        self.counts.read += len(records)
        data = [record.line.data or b"" for record in records]
        if self._pending is not None:
            self._pending.note(ids, data)
        with self._rollback(ids) as written:
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
        self.counts.differing.update(filter(None, (outcome.differs or "").split(",")))
        if self._on_dropped is not None:
            name = record.id or f"{name_of(self._name)}:{record.line.number}"
            rest = outcome._asdict()
            told = (rest[field] for field in Dropped._fields[2:])
            self._on_dropped(Dropped(name, record.line.number, *told))

    @contextmanager
    def _rollback(self, ids: Sequence[str]) -> Iterator[list[str]]:
        """On an error, remove the records that were stored and not written."""
        written: list[str] = []
        try:
            yield written
        except BaseException:
            # If this fails too, the next run finds the pending records.
            with suppress(Exception):
                self._seen.remove(ids[len(written) :])
                if self._pending is not None and self.counts.is_cut:
                    self._pending.note_cut()
                elif self._pending is not None:
                    self._pending.clear()
            raise

    def _new_ids(self, records: Sequence[Record]) -> list[str]:
        """Return an unused id for each record: a used one would replace the earlier document."""
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
        """Write the records that a killed run has stored and perhaps not written."""
        if self._pending is None or not self._pending:
            return
        # The killed run may have written half a record: begin on a new line.
        self._write(b"\n")
        for id_, data in self._pending.read():
            if id_ in self._seen:
                self._write(data if data.endswith(b"\n") else data + b"\n")
                self.counts.repeated += 1
        self._pending.clear()


class Pending:
    """The file of records that are about to be stored and written, synced before they are.

    A line has the id and the bytes of a record; an incomplete line was never acted upon. True if
    the file is not empty: then a run was stopped, perhaps inside a record.
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
        """Leave a blank line: a record was cut, but none has to be written again."""
        # Never empty in between: the process may be killed here, too.
        with self._path.open("r+b", buffering=0) as file:
            file.write(b"\n")
            file.truncate(1)

    def clear(self) -> None:
        # Truncated, because that is faster than to remove and create it for each batch.
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
