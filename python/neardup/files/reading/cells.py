"""Lines of a table, and the cells of lines without quotes."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.files.reading import document


class TooLongError(Exception):
    """A record goes on beyond the limit."""


class GapError(Exception):
    """A line inside a record has been left out."""


class Unquoted:
    """Rows without quotes: a line each, cut at the delimiters."""

    def __init__(self, lines: Lines, delimiter: str) -> None:
        self._lines = lines
        self._delimiter = delimiter

    def __iter__(self) -> Unquoted:
        return self

    def __next__(self) -> list[str]:
        text = next(self._lines).removesuffix("\n").removesuffix("\r")
        return text.split(self._delimiter) if text else []


class Lines:
    """Lines as the csv module wants them, and where in the file its last record came from."""

    def __init__(self, pieces: Iterator[tuple[int, int, bytes]], most: int) -> None:
        self._pieces = pieces
        self._most = most
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

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        if self._next == len(self._raw):
            self._load()
        at = self._next
        raw = self._raw[at]
        if not self._held:
            self.first, self.start = self.line + 1, self.end
        elif self.end + len(raw) - self.start > self._most + 1:
            raise TooLongError
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
            raise GapError


def _split(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
