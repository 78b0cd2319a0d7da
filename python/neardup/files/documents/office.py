"""Text of documents that are zip archives of XML: Word (.docx, ECMA-376), OpenDocument (.odt,
ISO/IEC 26300) and EPUB (.epub).
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple
from urllib.parse import unquote

from neardup.files.documents import html
from neardup.files.documents.prose import Prose
from neardup.files.documents.zipped_xml import ZipEntries, local_name, parse_xml
from neardup.files.reading import encodings
from neardup.files.reading.formats import UnreadableDocumentError

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
# Fallback content for older programs, and text moved elsewhere.
WORD_SKIPPED = {"Fallback", "moveFrom"}
OFF = {"0", "false", "off"}


def docx_text(data: bytes, most: int) -> str:
    """Return the text of a Word document without headers, footers, comments and deleted text.

    A footnote follows the paragraph that refers to it first; endnotes come at the end.
    """
    parts = ZipEntries(data, most)
    main = _main_part(parts)
    folder = posixpath.dirname(main)
    notes = {kind: _notes(parts, posixpath.join(folder, f"{kind}s.xml"), most) for kind in NOTES}
    body = _WordBody(most, notes["footnote"], notes["endnote"])
    parse_xml(main, parts.read(main), body.begin, body.end, body.text)
    return body.finished()


def _main_part(parts: ZipEntries) -> str:
    """Return the name of the part with the body."""
    found: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if attributes.get("Type", "").endswith("/officeDocument"):
            found.append(posixpath.normpath(attributes.get("Target", "").lstrip("/")))

    if RELATIONS in parts:
        parse_xml(RELATIONS, parts.read(RELATIONS), begin, lambda name: None)
    return found[0] if found and found[0] in parts else MAIN


NOTES = ("footnote", "endnote")


def _notes(parts: ZipEntries, name: str, most: int) -> dict[str, str]:
    """Return the texts of notes by id."""
    if name not in parts:
        return {}
    found: dict[str, str] = {}
    current: list[tuple[str, _WordBody]] = []

    def begin(element: str, attributes: dict[str, str]) -> None:
        plain = {local_name(key): value for key, value in attributes.items()}
        # Other types are separator lines.
        if local_name(element) in NOTES and plain.get("type", "normal") == "normal":
            current.append((plain.get("id", ""), _WordBody(most, {}, {})))
        elif current:
            current[-1][1].begin(element, attributes)

    def end(element: str) -> None:
        if current and local_name(element) in NOTES:
            id_, body = current.pop()
            found[id_] = body.finished()
        elif current:
            current[-1][1].end(element)

    def text(data: str) -> None:
        if current:
            current[-1][1].text(data)

    parse_xml(name, parts.read(name), begin, end, text)
    return found


class _WordBody:
    """Handles the XML events of a body or a note."""

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
        if self._skipping or name in WORD_SKIPPED:
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
            self._is_hidden = _attribute(attributes, "val") not in OFF
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
            # Only once: a note with many references would be copied without end.
            self._pending.append(self._footnotes.pop(_attribute(attributes, "id"), ""))
        elif name == "endnoteReference":
            self._last.append(self._endnotes.pop(_attribute(attributes, "id"), ""))

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
                self._add_notes()
        elif name == "r":
            self._is_hidden = False
        elif name == "tc":
            self._prose.end_cell()
        elif name == "tr":
            self._prose.end_row()
        elif name == "tbl":
            self._prose.end_table()
            if not self._prose.is_in_row:
                self._add_notes()

    def text(self, data: str) -> None:
        if self._is_text and not (self._skipping or self._is_hidden):
            self._prose.add(data)

    def finished(self) -> str:
        self._prose.paragraph()
        self._pending += self._last
        self._add_notes()
        return self._prose.text()

    def _add_notes(self) -> None:
        """Add the notes that the paragraph refers to."""
        for note in self._pending:
            for paragraph in note.split("\n\n"):
                self._prose.add(paragraph)
                self._prose.paragraph()
        self._pending.clear()


def _attribute(attributes: dict[str, str], wanted: str) -> str:
    return next((value for name, value in attributes.items() if local_name(name) == wanted), "")


# ---- OpenDocument ----

CONTENT = "content.xml"
MANIFEST = "META-INF/manifest.xml"
PARAGRAPHS = {"p", "h"}
# Deletions, comments, and elements that are not text.
ODT_SKIPPED = {
    *("tracked-changes", "annotation", "note-citation", "forms", "ruby-text", "title", "desc"),
    *("script", "settings", "event-listeners", "hidden-text"),
}


def odt_text(data: bytes, most: int) -> str:
    """Return the text of an OpenDocument text without headers, footers, comments and deletions. A
    note follows the paragraph that refers to it.
    """
    parts = ZipEntries(data, most)
    if MANIFEST in parts:
        parse_xml(MANIFEST, parts.read(MANIFEST), _refuse_encryption, lambda name: None)
    body = _OpenDocumentBody(most)
    parse_xml(CONTENT, parts.read(CONTENT), body.begin, body.end, body.text)
    return body.finished()


def _refuse_encryption(name: str, attributes: dict[str, str]) -> None:
    if local_name(name) == "encryption-data":
        raise UnreadableDocumentError(
            "is encrypted; save it without a password", kind="is encrypted"
        )


class _OpenDocumentBody:
    """Handles the XML events of the content."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._main = self._prose = Prose(most)
        self._is_body = False
        self._paragraphs = 0
        self._skipping = 0
        self._notes: list[Prose] = []
        self._outer: list[tuple[Prose, int]] = []

    def begin(self, element: str, attributes: dict[str, str]) -> None:
        name = local_name(element)
        if not self._is_body:
            # The child of the body names the kind of document.
            self._is_body = name == "body"
            return
        if self._skipping or name in ODT_SKIPPED:
            self._skipping += 1
        elif name in PARAGRAPHS:
            self._prose.paragraph()
            self._paragraphs += 1
        elif name == "s":
            count = next((v for key, v in attributes.items() if local_name(key) == "c"), "1")
            # White space is collapsed.
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
        name = local_name(element)
        if name == "body":
            self._is_body = False
        elif name in PARAGRAPHS and self._paragraphs:
            self._paragraphs -= 1
            self._prose.paragraph()
            if not self._outer and not self._prose.is_in_row:
                self._add_notes()
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
                self._add_notes()

    def text(self, data: str) -> None:
        if self._paragraphs and not self._skipping:
            self._prose.add(data)

    def finished(self) -> str:
        self._main.paragraph()
        self._add_notes()
        return self._main.text()

    def _add_notes(self) -> None:
        """Add the notes of the paragraph."""
        for note in self._notes:
            for paragraph in note.text().split("\n\n"):
                self._main.add(paragraph)
                self._main.paragraph()
        self._notes.clear()


# ---- EPUB ----

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
PAGES = {"application/xhtml+xml", "text/html", "application/xml", ""}


class _Item(NamedTuple):
    """A file of the book, as the manifest lists it."""

    path: str
    kind: str
    properties: frozenset[str]


def epub_text(data: bytes, most: int) -> str:
    """Return the text of all chapters in the order of the spine, without the table of contents."""
    parts = ZipEntries(data, most)
    package = _package(parts)
    chapters = _chapters(parts, package)
    encrypted = _encrypted(parts)
    texts: list[str] = []
    left = most
    for path in chapters:
        if path in encrypted:
            raise UnreadableDocumentError(f"is encrypted ({path})", kind="is encrypted")
        if path not in parts:
            raise UnreadableDocumentError(f"is damaged (it has no entry {path})", kind="is damaged")
        text = html.html_text(encodings.decode_page(parts.read(path)), left)
        left = max(left - len(text), 0)
        if text:
            texts.append(text)
    return "\n\n".join(texts)


def _package(parts: ZipEntries) -> str:
    """Return the name of the package document."""
    found: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if local_name(name) == "rootfile" and "full-path" in attributes:
            found.append(attributes["full-path"])

    parse_xml(CONTAINER, parts.read(CONTAINER), begin, lambda name: None)
    if not found:
        raise UnreadableDocumentError(
            f"is damaged ({CONTAINER} names no package)", kind="is damaged"
        )
    return found[0]


def _chapters(parts: ZipEntries, package: str) -> list[str]:
    folder = posixpath.dirname(package)
    items: dict[str, _Item] = {}
    spine: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        element = local_name(name)
        if element == "item":
            href = unquote(attributes.get("href", "").partition("#")[0])
            # Looked up in the archive only; never a path on disk.
            path = posixpath.normpath(posixpath.join(folder, href))
            properties = frozenset(attributes.get("properties", "").split())
            kind = attributes.get("media-type", "").lower()
            items[attributes.get("id", "")] = _Item(path, kind, properties)
        elif element == "itemref":
            spine.append(attributes.get("idref", ""))

    parse_xml(package, parts.read(package), begin, lambda name: None)
    named = [items[id_] for id_ in dict.fromkeys(spine) if id_ in items]
    return [item.path for item in named if item.kind in PAGES and "nav" not in item.properties]


def _encrypted(parts: ZipEntries) -> set[str]:
    """Return the names of encrypted entries; fonts do not count."""
    found: set[str] = set()

    def begin(name: str, attributes: dict[str, str]) -> None:
        if local_name(name) == "CipherReference":
            found.add(posixpath.normpath(unquote(attributes.get("URI", ""))))

    if ENCRYPTION in parts:
        parse_xml(ENCRYPTION, parts.read(ENCRYPTION), begin, lambda name: None)
    return found
