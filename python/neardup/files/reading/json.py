"""JSON: an array of records, or records one after the other, however they are laid out."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from neardup.files.reading import batch as document
from neardup.files.reading import encodings
from neardup.files.reading.batch import (
    BATCH_BYTES,
    BATCH_ROWS,
    BOM,
    Batch,
    Task,
    Unreadable,
    make_batch,
)
from neardup.files.reading.formats import Format, name_of, register
from neardup.files.reading.records import (
    BadRecordError,
    as_record,
    fields_of,
    not_json,
    too_many_digits,
)
from neardup.files.reading.streams import (
    ByteStream,
    DamagedError,
    nul_hint,
    open_task,
    report_compressed,
    report_not_utf8,
)

CHUNK_BYTES = 1 << 18
SPACE = " \t\r\n"
# An error this near to the end of the buffer may be caused by that end: the longest JSON token (an
# escaped surrogate pair) is shorter.
NEAR_END = 16
REST = "the data after it cannot be read"


class Value(NamedTuple):
    """A value of a file, its number, the line it begins on, and its span in bytes.

    Values are counted from 1: the elements of all arrays, and values beside them; several may share
    a line. For bytes that are not UTF-8, `value` is the decoding error, and for a number that is
    too long a BadRecordError.
    """

    value: Any
    number: int
    line: int
    start: int
    end: int


def read_json_batches(task: Task) -> Iterator[Batch]:
    """Yield the records of a file: the elements of its arrays, and the objects beside them.

    Records are numbered; only problems name a line, where a user looks for the error.
    """
    source, reading = name_of(task.path), task.reading
    ids: list[str] = []
    texts: list[str] = []
    places: list[tuple[int, int, int]] = []
    keys: list[Any] | None = None if reading.key_column is None else []
    others: list[dict[str, Any]] | None = [] if reading.others else None
    size = 0

    def batch() -> Batch:
        spans, lines = [place[:2] for place in places], [place[2] for place in places]
        return make_batch(ids, texts, spans, lines, keys, others)

    with open_task(task) as file:
        for found in _until_bad(Values(file), task):
            if isinstance(found.value, UnicodeDecodeError):
                task.report(report_not_utf8(task.path, found.line, found.value, file.encoding))
                continue
            try:
                if isinstance(found.value, BadRecordError):
                    raise found.value
                fields = fields_of(as_record(found.value), reading)
            except BadRecordError as bad:
                task.report(Unreadable(source, found.line, str(bad), bad.kind))
                continue
            if fields.odd is not None:
                task.odd_ids.see(found.number, fields.odd)
            ids.append(f"{source}:{found.number}" if fields.id is None else fields.id)
            texts.append(fields.text)
            places.append((found.start, found.end, found.number))
            if keys is not None:
                keys.append(fields.key)
            if others is not None and fields.others is not None:
                others.append(fields.others)
            size += len(fields.text)
            if size >= BATCH_BYTES or len(ids) >= BATCH_ROWS:
                yield batch()
                ids, texts, places, size = [], [], [], 0
                keys = None if keys is None else []
                others = None if others is None else []
    if ids:
        yield batch()


def _until_bad(values: Values, task: Task) -> Iterator[Value]:
    """Yield the values before the file cannot be parsed any further; report why."""
    source = name_of(task.path)
    try:
        yield from values
    except BadRecordError as bad:
        hint = values.hint_of_nul() or values.hint or bad.hint
        task.report(Unreadable(source, values.line, str(bad), bad.kind, hint))
    except DamagedError as damage:
        task.report(Unreadable(source, values.line, str(damage)))
    except OSError as error:
        task.report(Unreadable(source, values.line, error.strerror or str(error)))
    if values.problem is not None:
        task.report(values.problem)


class Values:
    """Parses a file value by value, with no more than one value in memory.

    An incomplete value is parsed again when twice as much has been read.
    """

    def __init__(self, file: ByteStream) -> None:
        self.file = file
        self.count = 0
        self.line = 1
        self.hint = ""
        self.problem: Unreadable | None = None
        self._decode = json.JSONDecoder().raw_decode
        # Bytes that are not UTF-8 are escaped, so that only their record is bad.
        self._bytes = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._at = 0  # in the text
        self._done = 0  # up to here `_line` and `_at` have counted
        self._offset = 0  # in bytes of the file
        self._ended = False

    def __iter__(self) -> Iterator[Value]:
        while (char := self._next()) is not None:
            if char != "[":
                yield self._value()
                continue
            opened = self.line
            self._skip(1)
            if self._next() == "]":
                self._skip(1)
                continue
            yield from self._elements(opened)

    def _elements(self, opened: int) -> Iterator[Value]:
        while True:
            if self._next() is None:
                raise self._unclosed(opened)
            yield self._value()
            char = self._next()
            if char is None:
                raise self._unclosed(opened)
            self._skip(1)
            if char == "]":
                return
            if char != ",":
                self.hint = REST
                raise BadRecordError(f"not JSON (a comma or ] was expected, not {char!r})")

    def _unclosed(self, opened: int) -> BadRecordError:
        return BadRecordError(f"not JSON (the array opened on line {opened} is not closed)")

    def _next(self) -> str | None:
        """Return the next character that is not space; None at the end."""
        while True:
            start = self._at
            while self._at < len(self._text) and self._text[self._at] in SPACE:
                self._at += 1
            self.line += self._text.count("\n", start, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(CHUNK_BYTES):
                return None

    def _skip(self, count: int) -> None:
        self._at += count

    def _value(self) -> Value:
        """Return the value that begins here."""
        while True:
            start = self._at
            try:
                value, end = self._decoded()
            except json.JSONDecodeError as error:
                if self._is_cut(error) and self._more(len(self._text) - self._at):
                    continue
                self.hint = REST
                raise not_json(error, start) from None
            except RecursionError:
                self.hint = REST
                raise BadRecordError("not JSON (nested too deeply)") from None
            # A number may go on. Reading moves the text, so keep only the size of the value.
            size = end - self._at
            if end < len(self._text) or not self._more(CHUNK_BYTES):
                return self._taken(value, self._at + size)

    def _decoded(self) -> tuple[Any, int]:
        """Return the value that begins here, and its end. A number that is too long makes this
        value bad, not those after it.
        """
        try:
            return self._decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError:
            decoder = json.JSONDecoder(parse_int=len)
            return too_many_digits(), decoder.raw_decode(self._text, self._at)[1]

    def hint_of_nul(self) -> str:
        """Return advice if the file is UTF-16, which reads as text with NUL in it."""
        return nul_hint(self.file.path, encodings.encode(self._text[: encodings.SAMPLE]))

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Return whether reading more may complete a value."""
        if error.msg.startswith("Unterminated string"):
            return True
        return error.pos >= len(self._text) - NEAR_END

    def _taken(self, value: Any, end: int) -> Value:
        start = self._offset + self._size(self._done, self._at)
        text = self._text[self._at : end]
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            data = encodings.encode(text)
            size, value = len(data), document.decode(data)
        self.count += 1
        found = Value(value, self.count, self.line, start, start + size)
        self.line += self._text.count("\n", self._at, end)
        self._offset, self._done, self._at = start + size, end, end
        return found

    def _size(self, start: int, end: int) -> int:
        """Return the number of bytes of a part of the text."""
        return len(encodings.encode(self._text[start:end]))

    def _more(self, size: int) -> bool:
        """Read more; return whether there was any."""
        if self._ended:
            return False
        if len(self._text) - self._at > self.file.most:
            self.hint = REST
            raise BadRecordError(document.record_too_long(self.file.most))
        first = not self.file.position
        data = self.file.read(max(size, CHUNK_BYTES))
        if first:
            if problem := report_compressed(self.file, data):
                self.problem, self._ended = problem, True
                return False
            if data.startswith(BOM):
                data, self._offset = data[len(BOM) :], len(BOM)
        self._ended = not data
        # Drop the text before the current value.
        self._offset += self._size(self._done, self._at)
        self._text, self._at, self._done = self._text[self._at :], 0, 0
        self._text += self._bytes.decode(data, final=self._ended)
        return not self._ended


def sniff(data: bytes) -> str:
    """Return "jsonl" for a .json file of JSON lines, which is read faster and kept byte for
    byte."""
    first, _, rest = data.removeprefix(BOM).lstrip().partition(b"\n")
    if not first.startswith(b"{"):
        return "json"
    if rest.lstrip(b"\r").startswith(b"{"):
        return "jsonl"
    try:
        return "jsonl" if isinstance(json.loads(first), dict) else "json"
    except (ValueError, RecursionError):
        return "json"


register(
    Format(
        "json",
        "JSON",
        (".json",),
        read_json_batches,
        keeps="json",
        rank=11,
        options=frozenset({"encoding"}),
        sniff=sniff,
        unit="record",
    )
)
