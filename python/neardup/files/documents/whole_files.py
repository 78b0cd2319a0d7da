"""Documents as people have them, one a file: HTML, Word, OpenDocument, EPUB, RTF and PDF.

What reads each is loaded when such a file comes. HTML and EPUB need selectolax and PDF needs
pypdfium2, both in the extra neardup[documents]; the others are zip and XML, or plain bytes, and
need nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from neardup.files.documents.prose import UnreadableDocumentError
from neardup.files.reading import document, encodings, streams, text
from neardup.files.reading.bad_bytes import has_nul, not_utf8, packed
from neardup.files.reading.batch import Batch, Reading, Task, make
from neardup.files.reading.document import BOM, Unreadable, name_of
from neardup.files.reading.formats import Family, Format, register, register_family
from neardup.files.reading.recognition import format_of
from neardup.files.reading.streams import DamagedError, open_told

HTML = "html"


def read_whole(kind: str, task: Task) -> Iterator[Batch]:
    """A batch of one document, called by the name of its file."""
    if (found := whole_text(kind, task)) is not None:
        yield make([name_of(task.path)], [found], [(0, 0)], [1], None)


def whole_text(kind: str, task: Task) -> str | None:
    """The text of a file, or nothing, which is reported."""
    source = name_of(task.path)
    if kind != HTML:
        # They are no text, and say themselves in which encoding the text in them is.
        task = replace(task, reading=replace(task.reading, encoding=encodings.UTF8))
    if streams.is_named_pipe(task.path):
        # To open it would wait for a writer, perhaps for ever.
        told = "is a named pipe, no regular file; copy what comes out of it to a file"
        task.report(Unreadable(source, None, told))
        return None
    try:
        with open_told(task) as file:
            data = file.read(file.most + 1)
            file.read(1)  # so that damage just behind is seen
    except DamagedError as damage:
        task.report(Unreadable(source, None, str(damage)))
        return None
    if len(data) > file.most:
        task.report(Unreadable(source, None, document.file_too_long(file.most)))
        return None
    if problem := packed(file, data):
        task.report(problem)
        return None
    try:
        if kind == HTML:
            return _page(task, data, file.encoding, file.most)
        return _text_of(kind, data, file.most)
    except UnreadableDocumentError as why:
        task.report(Unreadable(source, None, str(why), why.kind, why.hint))
    except MemoryError:
        task.report(Unreadable(source, None, "needs more memory than there is"))
    return None


def _page(task: Task, data: bytes, encoding: str | None, most: int) -> str | None:
    from neardup.files.documents import html
    from neardup.files.reading import encodings as html_bytes

    data = data.removeprefix(BOM)
    if encoding is None and (found := html_bytes.encoding_of(data)) != encodings.UTF8:
        encoding = found
        task.note(f"{name_of(task.path)}: read as {encoding}, which the page declares")
        data = encodings.encode(encodings.decoder(encoding).decode(data, final=True))
    markup = document.decode(data)
    if not isinstance(markup, str):
        line = data[: markup.start].count(b"\n") + 1
        task.report(not_utf8(task.path, line, markup, encoding))
    elif (nul := data.find(b"\0")) >= 0:
        task.report(has_nul(task.path, data[:nul].count(b"\n") + 1, data))
    else:
        return html.text_of(markup, most)
    return None


def _text_of(kind: str, data: bytes, most: int) -> str:
    if kind == "docx":
        from neardup.files.documents.docx import text_of
    elif kind == "odt":
        from neardup.files.documents.odt import text_of
    elif kind == "epub":
        from neardup.files.documents.epub import text_of
    elif kind == "rtf":
        from neardup.files.documents.rtf import text_of
    else:
        from neardup.files.documents.pdf_worker import text_of
    return text_of(data, most)


def text_of(path: str) -> str:
    """The text of one file, a text or a document, or an error that says why there is none."""
    reading = Reading()
    kind = format_of(path, reading)
    if kind not in KINDS:
        return text.text_of(path)
    problems: list[Unreadable] = []
    found = whole_text(kind, Task(path, reading, problems.append, lambda _: None))
    if found is None:
        raise ValueError(str(problems[0]))
    return found


KINDS = {
    "html": ("HTML", (".html", ".htm", ".xhtml")),
    "docx": ("Word documents", (".docx",)),
    "odt": ("OpenDocument texts", (".odt",)),
    "epub": ("EPUB", (".epub",)),
    "rtf": ("RTF", (".rtf",)),
    "pdf": ("PDF", (".pdf",)),
}


def content_of(data: bytes) -> str | None:
    """The kind of document that the first bytes of a file tell, if it is one that they tell."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if not data.startswith(b"PK\x03\x04"):
        return None
    # The first part of some is their kind, not packed.
    if b"application/epub+zip" in data[:256]:
        return "epub"
    if b"application/vnd.oasis.opendocument.text" in data[:256]:
        return "odt"
    return "docx" if b"word/document" in data else None


register_family("document", Family(detect=content_of))


def _sniff(kind: str, data: bytes) -> str:
    """A file of such a name is often another document than its name says."""
    found = content_of(data)
    # What tells a Word document may be in any zip.
    if found is None or (found == "docx" and kind in ("odt", "epub")):
        return kind
    return found


for _place, (_name, (_called, _endings)) in enumerate(KINDS.items()):
    register(
        Format(
            _name,
            _called,
            _endings,
            partial(read_whole, _name),
            keeps="texts",
            rank=20 + _place,
            family="document",
            options=frozenset({"encoding"} if _name == HTML else ()),
            sniff=partial(_sniff, _name),
        )
    )
