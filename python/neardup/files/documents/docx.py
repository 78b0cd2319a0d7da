"""The text of a Word document (.docx, ECMA-376): body, tables, footnotes and endnotes."""

from __future__ import annotations

import posixpath

from neardup.files.documents.prose import Prose
from neardup.files.documents.zipped_xml import Parts, events, local

MAIN = "word/document.xml"
RELATIONS = "_rels/.rels"
SPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
MATH = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
# The same content once more, for programs that know less; and text that was moved away.
SKIPPED = {"Fallback", "moveFrom"}
OFF = {"0", "false", "off"}


def text_of(data: bytes, most: int) -> str:
    """The text. Headers, footers, comments and deleted text are no part of it.

    A footnote follows the paragraph that refers to it first; endnotes come at the end.
    """
    parts = Parts(data, most)
    main = _main(parts)
    folder = posixpath.dirname(main)
    notes = {kind: _notes(parts, posixpath.join(folder, f"{kind}s.xml"), most) for kind in NOTES}
    body = _Body(most, notes["footnote"], notes["endnote"])
    events(main, parts.read(main), body.begin, body.end, body.text)
    return body.finished()


def _main(parts: Parts) -> str:
    """The part with the body."""
    found: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if attributes.get("Type", "").endswith("/officeDocument"):
            found.append(posixpath.normpath(attributes.get("Target", "").lstrip("/")))

    if RELATIONS in parts:
        events(RELATIONS, parts.read(RELATIONS), begin, lambda name: None)
    return found[0] if found and found[0] in parts else MAIN


NOTES = ("footnote", "endnote")


def _notes(parts: Parts, name: str, most: int) -> dict[str, str]:
    """The texts of notes, by their ids."""
    if name not in parts:
        return {}
    found: dict[str, str] = {}
    current: list[tuple[str, _Body]] = []

    def begin(element: str, attributes: dict[str, str]) -> None:
        plain = {local(key): value for key, value in attributes.items()}
        # Others are the lines that separate notes from the text.
        if local(element) in NOTES and plain.get("type", "normal") == "normal":
            current.append((plain.get("id", ""), _Body(most, {}, {})))
        elif current:
            current[-1][1].begin(element, attributes)

    def end(element: str) -> None:
        if current and local(element) in NOTES:
            id_, body = current.pop()
            found[id_] = body.finished()
        elif current:
            current[-1][1].end(element)

    def text(data: str) -> None:
        if current:
            current[-1][1].text(data)

    events(name, parts.read(name), begin, end, text)
    return found


class _Body:
    """Follows the events of a body, or of a note."""

    def __init__(self, most: int, footnotes: dict[str, str], endnotes: dict[str, str]) -> None:
        self._prose = Prose(most)
        self._footnotes = footnotes
        self._endnotes = endnotes
        self._pending: list[str] = []
        self._last: list[str] = []
        self._skipping = 0
        self._is_text = False
        self._is_hidden = False

    def begin(self, element: str, attributes: dict[str, str]) -> None:
        space, _, name = element.rpartition(" ")
        if self._skipping or name in SKIPPED:
            self._skipping += 1
            return
        if space in MATH:
            self._is_text = name == "t"
            return
        if space not in SPACES:
            return
        if name == "t":
            self._is_text = True
        elif name == "p":
            self._prose.paragraph()
        elif name == "r":
            self._is_hidden = False
        elif name == "vanish":
            self._is_hidden = _value(attributes, "val") not in OFF
        elif name == "tab":
            self._prose.add(" ")
        elif name in ("br", "cr"):
            self._prose.break_line()
        elif name == "noBreakHyphen":
            self._prose.add("-")
        elif name == "tbl":
            self._prose.begin_table()
        elif name == "tr":
            self._prose.begin_row()
        elif name == "footnoteReference":
            # Once: a note that is referred to many times would make a text without end.
            self._pending.append(self._footnotes.pop(_value(attributes, "id"), ""))
        elif name == "endnoteReference":
            self._last.append(self._endnotes.pop(_value(attributes, "id"), ""))

    def end(self, element: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        space, _, name = element.rpartition(" ")
        if name == "t":
            self._is_text = False
        if space not in SPACES:
            return
        if name == "p":
            self._prose.paragraph()
            if not self._prose.is_in_row:
                self._tell()
        elif name == "r":
            self._is_hidden = False
        elif name == "tc":
            self._prose.end_cell()
        elif name == "tr":
            self._prose.end_row()
        elif name == "tbl":
            self._prose.end_table()
            if not self._prose.is_in_row:
                self._tell()

    def text(self, data: str) -> None:
        if self._is_text and not (self._skipping or self._is_hidden):
            self._prose.add(data)

    def finished(self) -> str:
        self._prose.paragraph()
        self._pending += self._last
        self._tell()
        return self._prose.text()

    def _tell(self) -> None:
        """The notes that the paragraph has referred to."""
        for note in self._pending:
            for paragraph in note.split("\n\n"):
                self._prose.add(paragraph)
                self._prose.paragraph()
        self._pending.clear()


def _value(attributes: dict[str, str], wanted: str) -> str:
    return next((value for name, value in attributes.items() if local(name) == wanted), "")
