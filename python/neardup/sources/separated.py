"""CSV and TSV: a header with the names of the columns, then a record a row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, NamedTuple

from neardup.sources import document
from neardup.sources.batch import BATCH_BYTES, BATCH_ROWS, Batch, Reading, make
from neardup.sources.blocks import blocks
from neardup.sources.document import BOM, Report, Unreadable, name_of
from neardup.sources.formats import DELIMITERS
from neardup.sources.jsonl import DEFAULT_ID, columns_of
from neardup.sources.stored import Progress, Stored, open_stored
from neardup.sources.text import has_nul

# Both are columns of what a collection exports, where such a cell got a leading quote for safety.
EXPORTED = {"metadata", "fingerprint"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
GUARDED = ("'", *FORMULA)


def guarded(cell: str) -> str:
    """A cell that no spreadsheet runs as a formula, in a way that `unguarded` can undo."""
    return f"'{cell}" if cell.startswith(GUARDED) else cell


def unguarded(cell: str) -> str:
    """What `guarded` has made such a cell of."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(GUARDED) else cell


class Header(NamedTuple):
    """The names of the columns, and the bytes of the line they were read from."""

    names: list[str]
    data: bytes


def read_separated_batches(
    path: str, kind: str, reading: Reading, report: Report, progress: Progress | None = None
) -> Iterator[Batch]:
    """The documents of a table. The cells of a row are those of the header, no more, no fewer."""
    with open_stored(path, progress) as file:
        rows = _Rows(file, DELIMITERS[kind], report)
        names = rows.header()
        if names is None:
            return
        try:
            columns = _Columns(names, reading)
        except ValueError as error:
            report(Unreadable(name_of(path), 1, str(error)))
            return
        yield from _batches(path, rows, columns, report)


def header_of(path: str, kind: str, report: Report) -> Header | None:
    """The header of a file alone, its bytes with the byte order mark; None if it has none."""
    with open_stored(path) as file:
        rows = _Rows(file, DELIMITERS[kind], report)
        names = rows.header()
        mark = BOM if rows.lines.marked else b""
        return None if names is None else Header(names, mark + rows.lines.record())


def _until_error(records: Iterator[list[str]], failed: list[OSError]) -> Iterator[list[str]]:
    """What comes before the file cannot be read any further is as good as ever."""
    try:
        yield from records
    except OSError as error:
        failed.append(error)


def _batches(path: str, rows: _Rows, columns: _Columns, report: Report) -> Iterator[Batch]:
    source = name_of(path)
    ids: list[str] = []
    texts: list[str] = []
    places: list[tuple[int, int, int]] = []
    keys: list[str | None] | None = [] if columns.wants_key else None
    others: list[dict[str, Any]] | None = [] if columns.others is not None else None
    size = 0

    def batch() -> Batch:
        spans, lines = [place[:2] for place in places], [place[2] for place in places]
        return make(ids, texts, spans, lines, keys, others)

    failed: list[OSError] = []
    for cells in _until_error(rows.records(columns.count), failed):
        line = rows.lines.first
        if columns.is_export:
            cells = [unguarded(cell) for cell in cells]
        name = "" if columns.id is None else cells[columns.id]
        if not name and not (columns.is_export and columns.id is not None):
            if columns.named:
                report(Unreadable(source, line, f"column {columns.named!r} is empty"))
                continue
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
    """Where in a row the wanted cells are. A place of -1 is a column that is not there."""

    def __init__(self, names: list[str], reading: Reading) -> None:
        self.count = len(names)
        self.named = reading.id_column
        self._names = names
        self.texts = [self._place(name) for name in reading.text_columns]
        if max(self.texts) < 0:
            raise ValueError(self._missing(reading.text_columns))
        place = self._place(reading.id_column or DEFAULT_ID)
        if self.named and place < 0:
            raise ValueError(self._missing((self.named,)))
        self.id = None if place < 0 else place
        self.wants_key = reading.key_column is not None
        self.key = self._place(reading.key_column) if reading.key_column is not None else -1
        self.others: list[tuple[str, int]] | None = None
        if reading.others:
            taken = {*self.texts, self.id}
            rest = [name for at, name in enumerate(names) if at not in taken]
            self.others = [(name, self._place(name)) for name in rest]
        # What is exported is read back as it was.
        self.is_export = reading.others and set(names) >= EXPORTED

    def _place(self, name: str) -> int:
        if self._names.count(name) > 1:
            raise ValueError(f"column {name!r} is there {self._names.count(name)} times")
        return self._names.index(name) if name in self._names else -1

    def _missing(self, wanted: tuple[str, ...]) -> str:
        names = ", ".join(map(repr, wanted))
        none = "no column" if len(wanted) == 1 else "none of the columns"
        return f"{none} {names} (there is {columns_of(self._names)})"


class _TooLong(Exception):
    """A record goes on beyond MAX_BYTES."""


class _Gap(Exception):
    """A line inside a record has been left out."""


class _Rows:
    """The records of a file; bad ones are reported, and reading goes on behind them."""

    def __init__(self, file: Stored, delimiter: str, report: Report) -> None:
        # The limit is one for the whole process: it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), document.MAX_BYTES + 1))
        self._path = file.path
        self._told = report
        self._problems = 0
        self.lines = _Lines(blocks(file, self._report))
        # Strict: a quote that is never closed would else make one record of the rest.
        self._reader = csv.reader(self.lines, delimiter=delimiter, strict=True)

    def header(self) -> list[str] | None:
        """The first row; without one, or with a bad one, the others mean nothing."""
        cells = next(self._read(), None)
        if cells is None and not self._problems:
            self._bad("empty; a line with the names of the columns is needed", 1)
        return cells

    def _report(self, problem: Unreadable) -> None:
        self._problems += 1
        self._told(problem)

    def records(self, count: int) -> Iterator[list[str]]:
        for cells in self._read():
            if cells is None:
                continue
            if len(cells) != count:
                self._bad(f"{len(cells)} fields where the header has {count}")
            else:
                yield cells

    def _read(self) -> Iterator[list[str] | None]:
        """Rows; None for one that was reported."""
        while True:
            self.lines.begin()
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._bad(self._reason(error))
            except _TooLong:
                self._bad(document.record_too_long())
                self.lines.skip_quoted()
            except _Gap:
                self._bad("a line of the record is left out")
            else:
                if not cells:
                    continue
                if self._is_text():
                    yield cells
                    continue
            yield None

    def _reason(self, error: csv.Error) -> str:
        if str(error) != "unexpected end of data":
            return f"not CSV ({error})"
        lost = self.lines.line - self.lines.first
        return f"not CSV (a quote is opened and never closed; {lost:,} lines below it are lost)"

    def _is_text(self) -> bool:
        if self.lines.is_clean:
            return True
        data = self.lines.record()
        text = document.decode(data)
        if not isinstance(text, str):
            self._report(document.not_utf8(self._path, self.lines.first, text))
            return False
        if "\0" in text:
            self._report(has_nul(name_of(self._path), self.lines.first))
            return False
        return True

    def _bad(self, reason: str, line: int | None = None) -> None:
        self._report(Unreadable(name_of(self._path), line or self.lines.first, reason))


class _Lines:
    """Lines as the csv module wants them, and where in the file its last record came from."""

    def __init__(self, pieces: Iterator[tuple[int, int, bytes]]) -> None:
        self._pieces = pieces
        self._raw: list[bytes] = []
        self._texts: list[str] = []
        self._next = 0
        self._held: list[bytes] = []
        self._piece_is_clean = True
        self.is_clean = True
        self.marked = False  # by a byte order mark, which is not among the lines
        self.line = 0  # the last one given
        self.first = 1
        self.start = self.end = 0

    def begin(self) -> None:
        """The next line is the first of a record."""
        self._held = []
        self.is_clean = True

    def record(self) -> bytes:
        """The bytes of the lines given since."""
        return b"".join(self._held)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._next == len(self._raw):
            self._load()
        at = self._next
        raw = self._raw[at]
        if not self._held:
            self.first, self.start = self.line + 1, self.end
        elif self.end + len(raw) - self.start > document.MAX_BYTES + 1:
            raise _TooLong
        self._next += 1
        self.line += 1
        self.end += len(raw)
        self._held.append(raw)
        self.is_clean = self.is_clean and self._piece_is_clean
        return self._texts[at]

    def skip_quoted(self) -> None:
        """Go behind the record, of which a quoted cell is still open."""
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
            raise _Gap


def _split(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
