"""Running text made of the parts of a document: paragraphs, lines, rows of tables."""

from __future__ import annotations

import re

from neardup.files.reading import batch
from neardup.files.reading.formats import UnreadableDocumentError

# Scripts without spaces wrap anywhere, so a line end between two of these is not a space.
WIDE = r"\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
WRAPPED = re.compile(rf"(?<=[{WIDE}])[ \t]*[\r\n]\s*(?=[{WIDE}])")
# Soft hyphens and NUL are not part of a text.
INVISIBLE = str.maketrans("", "", "\u00ad\0")
# Tables nested deeper are read line by line: each level copies its content once more.
MAX_NESTED_TABLES = 16
LINE, PARAGRAPH = "\n", "\n\n"


def collapse_space(text: str) -> str:
    """Collapse white space to single blanks, strip, and drop invisible characters."""
    return " ".join(WRAPPED.sub("", text.translate(INVISIBLE)).split())


class Prose:
    """Collects parts in reading order. Paragraphs are separated by a blank line; cells of a row by
    a tab, unless one of them holds several paragraphs: then all cells are paragraphs.

    most  largest size of the text, in bytes
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._run: list[str] = []
        # Each block with the gap before it.
        self._blocks: list[tuple[str, str]] = []
        self._gap = PARAGRAPH
        self._rows: list[_Row] = []
        self._beyond = 0

    def add(self, text: str) -> None:
        """Add to the current line."""
        self._size += len(text)
        if self._size > self._most:
            raise UnreadableDocumentError(batch.text_too_long(self._most))
        self._run.append(text)

    def line(self) -> None:
        """End the line."""
        self._close(LINE)

    def paragraph(self) -> None:
        """End the paragraph."""
        self._close(PARAGRAPH)

    def break_line(self) -> None:
        """End the line; a second one in a row ends the paragraph."""
        if "".join(self._run).strip():
            self._close(LINE)
        else:
            self._run.clear()
            self._gap = PARAGRAPH

    def begin_table(self) -> None:
        self.paragraph()

    def begin_row(self) -> None:
        if len(self._rows) >= MAX_NESTED_TABLES:
            self._beyond += 1
            self.line()
            return
        # The gap is a line only after another row: tables begin with a paragraph.
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
        """Return the whole text; open rows are closed."""
        while self._rows:
            self._beyond = 0
            self.end_row()
        self._close(PARAGRAPH)
        text = _paired("".join(gap + text for gap, text in self._blocks).strip("\n"))
        if len(text.encode()) > self._most:
            raise UnreadableDocumentError(batch.text_too_long(self._most))
        return text

    def _close(self, gap: str) -> None:
        text = collapse_space("".join(self._run))
        self._run.clear()
        if text:
            self._blocks.append((self._gap, text))
            self._gap = gap
        elif gap == PARAGRAPH:
            self._gap = gap


def _is_plain(cell: list[tuple[str, str]]) -> bool:
    """Return whether a cell is at most one paragraph, and not a row of another table."""
    return all(gap == LINE for gap, _ in cell[1:]) and all("\t" not in text for _, text in cell)


def _paired(text: str) -> str:
    """Join surrogate pairs; replace single surrogates by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class _Row:
    """A row being read: the blocks before it, and its cells so far."""

    def __init__(self, before: list[tuple[str, str]], gap: str) -> None:
        self.before = before
        self.gap = gap
        self.cells: list[list[tuple[str, str]]] = []
