"""Documents as people have them, one a file: HTML, Word, OpenDocument, EPUB, RTF and PDF.

What reads each is loaded when such a file comes. HTML and EPUB need selectolax and PDF needs
pypdfium2, both in the extra neardup[documents]; the others are zip and XML, or plain bytes, and
need nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from neardup.files.reading import batch, encodings, streams
from neardup.files.reading.batch import BOM, Batch, Task, Unreadable, make
from neardup.files.reading.formats import (
    Family,
    Format,
    UnreadableDocumentError,
    name_of,
    register,
    register_family,
)
from neardup.files.reading.streams import DamagedError, has_nul, not_utf8, open_told, packed

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
        task.report(Unreadable(source, None, batch.file_too_long(file.most)))
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

    data = data.removeprefix(BOM)
    found, how = (encodings.UTF8, "") if encoding is not None else encodings.page_encoding(data)
    if found not in ("", encodings.UTF8):
        encoding = found
        why = "which the page declares" if how == "declared" else "told by detection"
        task.note(f"{name_of(task.path)}: read as {encoding}, {why}")
        data = encodings.encode(encodings.decoder(encoding).decode(data, final=True))
    markup = batch.decode(data)
    if not isinstance(markup, str):
        line = data[: markup.start].count(b"\n") + 1
        task.report(not_utf8(task.path, line, markup, encoding))
    elif (nul := data.find(b"\0")) >= 0:
        task.report(has_nul(task.path, data[:nul].count(b"\n") + 1, data))
    else:
        return html.html_text(markup, most)
    return None


def _text_of(kind: str, data: bytes, most: int) -> str:
    if kind == "rtf":
        from neardup.files.documents.rtf import rtf_text

        return rtf_text(data, most)
    if kind == "pdf":
        from neardup.files.documents.sandbox import pdf_text_in_worker

        return pdf_text_in_worker(data, most)
    from neardup.files.documents import office

    read = {"docx": office.docx_text, "odt": office.odt_text, "epub": office.epub_text}[kind]
    return read(data, most)


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
