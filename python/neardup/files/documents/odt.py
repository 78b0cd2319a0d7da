"""The text of an OpenDocument text (.odt, ISO/IEC 26300): body, tables and notes."""

from __future__ import annotations

from neardup.files.documents.prose import Prose, UnreadableDocumentError
from neardup.files.documents.zipped_xml import Parts, events, local

CONTENT = "content.xml"
MANIFEST = "META-INF/manifest.xml"
PARAGRAPHS = {"p", "h"}
# What was deleted, what others have written beside the text, and what is no text.
SKIPPED = {
    *("tracked-changes", "annotation", "note-citation", "forms", "ruby-text", "title", "desc"),
    *("script", "settings", "event-listeners", "hidden-text"),
}


def text_of(data: bytes, most: int) -> str:
    """The text. A note follows the paragraph that refers to it. Headers and footers, comments and
    tracked deletions are no part of it."""
    parts = Parts(data, most)
    if MANIFEST in parts:
        events(MANIFEST, parts.read(MANIFEST), _refuse_encryption, lambda name: None)
    body = _Body(most)
    events(CONTENT, parts.read(CONTENT), body.begin, body.end, body.text)
    return body.finished()


def _refuse_encryption(name: str, attributes: dict[str, str]) -> None:
    if local(name) == "encryption-data":
        raise UnreadableDocumentError(
            "is encrypted; save it without a password", kind="is encrypted"
        )


class _Body:
    """Follows the events of the content."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._main = self._prose = Prose(most)
        self._is_body = False
        self._paragraphs = 0
        self._skipping = 0
        self._notes: list[Prose] = []
        self._outer: list[tuple[Prose, int]] = []

    def begin(self, element: str, attributes: dict[str, str]) -> None:
        name = local(element)
        if not self._is_body:
            # The body holds an element that says what kind of document it is.
            self._is_body = name == "body"
            return
        if self._skipping or name in SKIPPED:
            self._skipping += 1
        elif name in PARAGRAPHS:
            self._prose.paragraph()
            self._paragraphs += 1
        elif name == "s":
            count = next((v for key, v in attributes.items() if local(key) == "c"), "1")
            # All of them are one space in the end.
            self._prose.add(" " if count != "0" else "")
        elif name == "tab":
            self._prose.add(" ")
        elif name == "line-break":
            self._prose.break_line()
        elif name == "note":
            self._outer.append((self._prose, self._paragraphs))
            self._prose, self._paragraphs = Prose(self._most), 0
        elif name == "table":
            self._prose.begin_table()
        elif name == "table-row":
            self._prose.begin_row()

    def end(self, element: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        name = local(element)
        if name == "body":
            self._is_body = False
        elif name in PARAGRAPHS and self._paragraphs:
            self._paragraphs -= 1
            self._prose.paragraph()
            if not self._outer and not self._prose.is_in_row:
                self._tell()
        elif name == "note" and self._outer:
            self._notes.append(self._prose)
            self._prose, self._paragraphs = self._outer.pop()
        elif name in ("table-cell", "covered-table-cell"):
            self._prose.end_cell()
        elif name == "table-row":
            self._prose.end_row()
        elif name == "table":
            self._prose.end_table()
            if not self._outer and not self._prose.is_in_row:
                self._tell()

    def text(self, data: str) -> None:
        if self._paragraphs and not self._skipping:
            self._prose.add(data)

    def finished(self) -> str:
        self._main.paragraph()
        self._tell()
        return self._main.text()

    def _tell(self) -> None:
        """The notes of the paragraph."""
        for note in self._notes:
            for paragraph in note.text().split("\n\n"):
                self._main.add(paragraph)
                self._main.paragraph()
        self._notes.clear()
