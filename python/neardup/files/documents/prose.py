"""Running text put together from the pieces of a document: paragraphs, lines, rows of tables."""

from __future__ import annotations

import re

from neardup.files.reading import batch
from neardup.files.reading.formats import UnreadableDocumentError

# A line end between two of these is no space: scripts without spaces wrap anywhere.
WIDE = r"\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
WRAPPED = re.compile(rf"(?<=[{WIDE}])[ \t]*[\r\n]\s*(?=[{WIDE}])")
# They are in no text: a hyphen that is shown only at line ends, and what no writing has.
INVISIBLE = str.maketrans("", "", "\u00ad\0")
# Tables in tables beyond this are read line by line: each level moves what is in it once more.
MOST_TABLES = 16
LINE, PARAGRAPH = "\n", "\n\n"


def squeezed(text: str) -> str:
    """Any space as one blank, none at the ends, nothing invisible."""
    return " ".join(WRAPPED.sub("", text.translate(INVISIBLE)).split())


class Prose:
    """Takes pieces in reading order. Paragraphs are separated by a blank line; cells of a row by a
    tab, unless one of them holds several paragraphs: then all cells are paragraphs.

    most  bytes that the text may have
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._run: list[str] = []
        # Each text with what stands before it.
        self._blocks: list[tuple[str, str]] = []
        self._gap = PARAGRAPH
        self._rows: list[_Row] = []
        self._beyond = 0

    def add(self, text: str) -> None:
        """More of the same line."""
        self._size += len(text)
        if self._size > self._most:
            raise UnreadableDocumentError(batch.text_too_long(self._most))
        self._run.append(text)

    def line(self) -> None:
        """What follows begins a line."""
        self._close(LINE)

    def paragraph(self) -> None:
        """What follows begins a paragraph."""
        self._close(PARAGRAPH)

    def break_line(self) -> None:
        """As `line`; a second one makes a paragraph."""
        if "".join(self._run).strip():
            self._close(LINE)
        else:
            self._run.clear()
            self._gap = PARAGRAPH

    def begin_table(self) -> None:
        self.paragraph()

    def begin_row(self) -> None:
        if len(self._rows) >= MOST_TABLES:
            self._beyond += 1
            self.line()
            return
        # The gap is that of a line only behind another row: tables begin with a paragraph.
        self._close(LINE)
        self._rows.append(_Row(self._blocks, self._gap))
        self._blocks = []

    def end_cell(self) -> None:
        if self._beyond or not self._rows:
            self.line()
            return
        self._close(PARAGRAPH)
        self._rows[-1].cells.append(self._blocks)
        self._blocks = []

    def end_row(self) -> None:
        if self._beyond:
            self._beyond -= 1
            self.line()
            return
        if not self._rows:
            self.line()
            return
        self._close(PARAGRAPH)
        row = self._rows.pop()
        cells = [*row.cells, self._blocks] if self._blocks else row.cells
        self._blocks = row.before
        if all(_is_plain(cell) for cell in cells):
            self._gap = LINE
            text = "\t".join(" ".join(text for _, text in cell) for cell in cells).strip("\t")
            if text:
                self._blocks.append((row.gap, text))
        else:
            for cell in cells:
                self._blocks += cell
            self._gap = PARAGRAPH

    def end_table(self) -> None:
        self.paragraph()

    @property
    def is_in_row(self) -> bool:
        return bool(self._rows)

    def text(self) -> str:
        """All of it; rows that were not closed are."""
        while self._rows:
            self._beyond = 0
            self.end_row()
        self._close(PARAGRAPH)
        text = _paired("".join(gap + text for gap, text in self._blocks).strip("\n"))
        if len(text.encode()) > self._most:
            raise UnreadableDocumentError(batch.text_too_long(self._most))
        return text

    def _close(self, gap: str) -> None:
        text = squeezed("".join(self._run))
        self._run.clear()
        if text:
            self._blocks.append((self._gap, text))
            self._gap = gap
        elif gap == PARAGRAPH:
            self._gap = gap


def _is_plain(cell: list[tuple[str, str]]) -> bool:
    """Whether a cell is no more than a paragraph, and no row of another table."""
    return all(gap == LINE for gap, _ in cell[1:]) and all("\t" not in text for _, text in cell)


def _paired(text: str) -> str:
    """Halves of surrogate pairs put together; what is left over becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class _Row:
    """A row that is being read: what came before the row, and its cells so far."""

    def __init__(self, before: list[tuple[str, str]], gap: str) -> None:
        self.before = before
        self.gap = gap
        self.cells: list[list[tuple[str, str]]] = []
