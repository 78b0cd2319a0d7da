"""CSV and TSV: a header with the names of the columns, then a record per row.

Records may span lines where cells are in quotes. `CsvLines` feeds the csv module and knows which
lines a record came from, so that it can be copied, or skipped if it is bad.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from neardup.files.reading import batch as document
from neardup.files.reading.batch import (
    BATCH_BYTES,
    BATCH_ROWS,
    BOM,
    DEFAULT_TEXT,
    Batch,
    Reading,
    Report,
    Task,
    Unreadable,
    make_batch,
)
from neardup.files.reading.formats import DELIMITERS, STDIN, Format, name_of, register
from neardup.files.reading.records import DEFAULT_ID, list_columns
from neardup.files.reading.streams import (
    ByteStream,
    blocks,
    open_stored,
    open_task,
    report_not_utf8,
    report_nul,
)


class RowTooLongError(Exception):
    """A record longer than the limit."""


class GapError(Exception):
    """A record with a line missing inside, which was skipped."""


class Unquoted:
    """Splits lines without quotes at the delimiter."""

    def __init__(self, lines: CsvLines, delimiter: str) -> None:
        self._lines = lines
        self._delimiter = delimiter

    def __iter__(self) -> Unquoted:
        return self

    def __next__(self) -> list[str]:
        text = next(self._lines).removesuffix("\n").removesuffix("\r")
        return text.split(self._delimiter) if text else []


class CsvLines:
    """Lines for the csv module, and the lines of its last record."""

    def __init__(self, pieces: Iterator[tuple[int, int, bytes]], most: int) -> None:
        self._pieces = pieces
        self._most = most
        self._raw: list[bytes] = []
        self._texts: list[str] = []
        self._next = 0
        self._held: list[bytes] = []
        self._piece_is_clean = True
        self.is_clean = True
        self.marked = False  # bytes of a byte order mark, which is not among the lines
        self.line = 0  # number of the last line returned
        self.first = 1
        self.start = self.end = 0

    def begin(self) -> None:
        """Start a record at the next line."""
        self._held = []
        self.is_clean = True

    def record(self) -> bytes:
        """Return the bytes of the lines since `begin`."""
        return b"".join(self._held)

    def __iter__(self) -> CsvLines:
        return self

    def __next__(self) -> str:
        if self._next == len(self._raw):
            self._load()
        at = self._next
        raw = self._raw[at]
        if not self._held:
            self.first, self.start = self.line + 1, self.end
        elif self.end + len(raw) - self.start > self._most + 1:
            raise RowTooLongError
        self._next += 1
        self.line += 1
        self.end += len(raw)
        self._held.append(raw)
        self.is_clean = self.is_clean and self._piece_is_clean
        return self._texts[at]

    def skip_quoted(self) -> None:
        """Skip to the end of a record whose quoted cell is still open."""
        self.begin()
        for text in self:
            self.begin()
            if text.count('"') % 2:
                return

    def _load(self) -> None:
        line, start, data = next(self._pieces)
        self.marked = self.marked or (line == 1 and start > 0)
        self._raw = data.splitlines(keepends=True) if b"\r" not in data else _split(data)
        text = document.decode(data)
        self._piece_is_clean = isinstance(text, str) and b"\0" not in data
        self._texts = [each.decode(errors="surrogateescape") for each in self._raw]
        self._next = 0
        gap = bool(self._held) and start != self.end
        self.line, self.end = line - 1, start
        if gap:
            raise GapError


def _split(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


# A record of more lines is probably caused by unbalanced quotes.
MAX_LIKELY_LINES = 300
OTHER_DELIMITERS = ",;\t|"
# TSV has no quotes, and a text may begin with one.
QUOTING = {"csv": "all", "tsv": "none"}
# Exports of a collection have both columns; there `guard_cell` changed such cells for spreadsheets.
EXPORT_COLUMNS = {"metadata", "fingerprint"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
GUARDED_STARTS = ("'", *FORMULA)


def guard_cell(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula; `unguard_cell` restores it."""
    return f"'{cell}" if cell.startswith(GUARDED_STARTS) else cell


def unguard_cell(cell: str) -> str:
    """Return the cell that `guard_cell` changed."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(GUARDED_STARTS) else cell


class Header(NamedTuple):
    """The names of the columns, and the bytes of the line they were read from."""

    names: list[str]
    data: bytes


def read_separated_batches(kind: str, task: Task) -> Iterator[Batch]:
    """Yield the documents of a table. Every row must have as many cells as the header."""
    with open_task(task) as file:
        rows = _Rows(file, kind, task.reading, task.report)
        names = rows.header()
        if names is None:
            return
        try:
            columns = _Columns(names, task.reading)
        except ValueError as error:
            hint = _way_out(names, task.reading)
            task.report(Unreadable(name_of(task.path), 1, str(error), hint=hint))
            return
        if columns.is_export and task.reading.quoting is None:
            rows.obey_quotes()  # as in an export of a collection
        yield from _batches(task, rows, columns)
        rows.tell_long(task)


def _way_out(names: list[str], reading: Reading) -> str:
    if not reading.header:
        return ""
    if any(name.startswith('"') for name in names):
        return "if cells are in quotes, use --quoting all"
    if len(names) == 1 and any(mark in names[0] for mark in OTHER_DELIMITERS):
        return "if cells are separated by another character, name it with --delimiter"
    return "if the first line is no header, use --no-header"


for _place, (_kind, _called) in enumerate((("csv", "CSV"), ("tsv", "TSV"))):
    register(
        Format(
            _kind,
            _called,
            (f".{_kind}",),
            partial(read_separated_batches, _kind),
            keeps="table",
            rank=12 + _place,
            options=frozenset({"encoding", "delimiter", "quoting", "header"}),
        )
    )


def header_of(path: str, kind: str, reading: Reading, report: Report) -> Header | None:
    """Return the header of a file, its bytes with the byte order mark; None if it has none.

    With `Reading.header` false it has no bytes.
    """
    with open_stored(path, reading) as file:
        rows = _Rows(file, kind, reading, report)
        names = rows.header()
        if names is None or not reading.header:
            return None if names is None else Header(names, b"")
        mark = BOM if rows.lines.marked else b""
        return Header(names, mark + rows.lines.record())


def _until_error(records: Iterator[list[str]], failed: list[OSError]) -> Iterator[list[str]]:
    """Yield the rows before an I/O error first."""
    try:
        yield from records
    except OSError as error:
        failed.append(error)


def _batches(task: Task, rows: _Rows, columns: _Columns) -> Iterator[Batch]:
    source = name_of(task.path)
    ids: list[str] = []
    texts: list[str] = []
    places: list[tuple[int, int, int]] = []
    keys: list[str | None] | None = [] if columns.wants_key else None
    others: list[dict[str, Any]] | None = [] if columns.others is not None else None
    size = 0

    def batch() -> Batch:
        spans, lines = [place[:2] for place in places], [place[2] for place in places]
        return make_batch(ids, texts, spans, lines, keys, others)

    failed: list[OSError] = []
    for cells in _until_error(rows.records(columns.count), failed):
        line = rows.lines.first
        if columns.is_export:
            cells = [unguard_cell(cell) for cell in cells]
        name = "" if columns.id is None else cells[columns.id]
        if not name and not (columns.is_export and columns.id is not None):
            name = f"{source}:{line}"
        ids.append(name)
        texts.append("\n".join([cells[at] if at >= 0 else "" for at in columns.texts]))
        places.append((rows.lines.start, rows.lines.end, line))
        if keys is not None:
            keys.append((cells[columns.key] or None) if columns.key >= 0 else None)
        if others is not None and columns.others is not None:
            others.append({other: cells[at] for other, at in columns.others})
        size += len(texts[-1])
        if size >= BATCH_BYTES or len(ids) >= BATCH_ROWS:
            yield batch()
            ids, texts, places, size = [], [], [], 0
            keys = None if keys is None else []
            others = None if others is None else []
    if ids:
        yield batch()
    for error in failed:
        raise error


class _Columns:
    """Positions of the selected cells in a row; -1 for a column that is missing."""

    def __init__(self, names: list[str], reading: Reading) -> None:
        self.count = len(names)
        self._names = names
        wanted = reading.text_columns
        if not reading.header and wanted == DEFAULT_TEXT:
            wanted = self._only()
        self.texts = [self._place(name) for name in wanted]
        if max(self.texts) < 0:
            raise ValueError(self._missing(wanted))
        place = self._place(reading.id_column or DEFAULT_ID)
        if reading.id_column is not None and place < 0:
            raise ValueError(self._missing((reading.id_column,)))
        self.id = None if place < 0 else place
        self.wants_key = reading.key_column is not None
        self.key = self._place(reading.key_column) if reading.key_column is not None else -1
        self.others: list[tuple[str, int]] | None = None
        if reading.others:
            taken = {*self.texts, self.id}
            rest = [name for at, name in enumerate(names) if at not in taken]
            self.others = [(name, self._place(name)) for name in rest]
        # Cells of an export are restored.
        self.is_export = reading.others and set(names) >= EXPORT_COLUMNS

    def _only(self) -> tuple[str, ...]:
        """Return the only column as the text, if none is named and the file has no header."""
        if len(self._names) > 1:
            raise ValueError(
                f"there is no header, so the columns are called 1 to {len(self._names)}; name the "
                "text column with --text-column"
            )
        return tuple(self._names)

    def _place(self, name: str) -> int:
        if self._names.count(name) > 1:
            raise ValueError(f"column {name!r} occurs {self._names.count(name)} times")
        return self._names.index(name) if name in self._names else -1

    def _missing(self, wanted: tuple[str, ...]) -> str:
        names = ", ".join(map(repr, wanted))
        none = "no column" if len(wanted) == 1 else "none of the columns"
        return f"{none} {names} (columns: {list_columns(self._names)})"


class _Rows:
    """The records of a file; bad ones are reported and skipped."""

    def __init__(self, file: ByteStream, kind: str, reading: Reading, report: Report) -> None:
        # This limit is one for the whole process, so it is only raised.
        csv.field_size_limit(max(csv.field_size_limit(), file.most + 1))
        self._file = file
        self._path = file.path
        self._told = report
        self._problems = 0
        self._has_header = reading.header
        self._first: list[str] | None = None
        self._long: list[tuple[int, int]] = []
        self._delimiter = reading.delimiter or DELIMITERS[kind]
        self.lines = CsvLines(blocks(file, self._report), file.most)
        self._reader: Iterator[list[str]] = Unquoted(self.lines, self._delimiter)
        if (reading.quoting or QUOTING[kind]) == "all":
            self.obey_quotes()

    def obey_quotes(self) -> None:
        """Accept quoted cells from here on."""
        # Strict, or an unclosed quote would make one record of the rest of the file.
        self._reader = csv.reader(self.lines, delimiter=self._delimiter, strict=True)

    def header(self) -> list[str] | None:
        """Return the names of the columns; None, reported, if they are missing or bad."""
        cells = next(self._read(), None)
        if cells is None and not self._problems:
            needed = "a line with the names of the columns" if self._has_header else "a row"
            self._bad(f"empty; {needed} is needed", 1)
        if cells is not None and any("\r" in cell for cell in cells) and self._is_one_line():
            self._report(self._old_line_ends())
            return None
        if cells is None or self._has_header:
            return cells
        self._first = cells
        return [str(number) for number in range(1, len(cells) + 1)]

    def _report(self, problem: Unreadable) -> None:
        self._problems += 1
        self._told(problem)

    def records(self, count: int) -> Iterator[list[str]]:
        if self._first is not None:
            yield self._first
        for cells in self._read():
            if cells is None:
                continue
            if len(cells) != count:
                where = "header" if self._has_header else "first row"
                self._bad(f"{len(cells)} fields, but the {where} has {count}")
                continue
            if (size := self.lines.line - self.lines.first) >= MAX_LIKELY_LINES:
                self._long.append((self.lines.first, size + 1))
            yield cells

    def tell_long(self, task: Task) -> None:
        """Note long records, which may be rows swallowed by an unbalanced quote."""
        if not self._long:
            return
        (line, size), count = self._long[0], len(self._long)
        more = f" (and {count - 1:,} more records like it)" if count > 1 else ""
        task.note(
            f"{name_of(self._path)}:{line}: a record of {size:,} lines{more}, read as it is; if "
            "quotes are plain characters in this file, use --quoting none"
        )

    def _read(self) -> Iterator[list[str] | None]:
        """Return the next row; None for one that was reported."""
        while True:
            self.lines.begin()
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._refuse(error)
            except RowTooLongError:
                self._bad(document.record_too_long(self._file.most))
                self.lines.skip_quoted()
            except GapError:
                self._bad("a line of the record is left out")
            else:
                if not cells:
                    continue
                if self._is_text():
                    yield cells
                    continue
            yield None

    def _refuse(self, error: csv.Error) -> None:
        """Report an error of the csv module in plain words."""
        why = str(error)
        if why == "unexpected end of data":
            lost = self.lines.line - self.lines.first
            below = "1 line below it is" if lost == 1 else f"{lost:,} lines below it are"
            self._bad(f"not CSV (a quote is opened and never closed; {below} lost)")
        elif "expected after" in why:
            self._bad(f"not CSV (text between a closing quote and the next {self._delimiter!r})")
        elif "new-line character" not in why:
            self._bad(f"not CSV ({why})")
        elif self._is_one_line():
            self._report(self._old_line_ends())
        else:
            self._bad("not CSV (a carriage return inside a cell without quotes)")

    def _is_one_line(self) -> bool:
        return self.lines.first == 1 and b"\n" not in self.lines.record()

    def _old_line_ends(self) -> Unreadable:
        file = "" if self._path == STDIN else f" < {shlex.quote(name_of(self._path))}"
        return Unreadable(
            name_of(self._path),
            None,
            "its lines end in CR alone, as on old Macs",
            hint=f"convert them: tr '\\r' '\\n'{file}",
        )

    def _is_text(self) -> bool:
        if self.lines.is_clean:
            return True
        data = self.lines.record()
        text = document.decode(data)
        if not isinstance(text, str):
            self._report(report_not_utf8(self._path, self.lines.first, text, self._file.encoding))
            return False
        if "\0" in text:
            self._report(report_nul(self._path, self.lines.first, data))
            return False
        return True

    def _bad(self, reason: str, line: int | None = None) -> None:
        self._report(Unreadable(name_of(self._path), line or self.lines.first, reason))
