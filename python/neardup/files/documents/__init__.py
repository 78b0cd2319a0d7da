"""Documents, one per file: HTML, Word, OpenDocument, EPUB, RTF and PDF.

`whole_text` reads a file and returns its text, the paragraphs separated by blank lines. The modules
turn the bytes of a format into text:

    html      selectolax parses the page; navigation and scripts are left out
    office    Word, OpenDocument and EPUB: zip archives of XML, opened by `zipped_xml`
    rtf       our own parser of RTF 1.9
    pdf       PDFium finds the lines, which are joined to paragraphs
    prose     joins paragraphs, lines and table rows to running text, for all formats
    sandbox   reads PDFs and uploads in another process, which can be killed

Importing this package registers the formats; a parser is imported when the first file needs it.
HTML and EPUB need selectolax and PDF needs pypdfium2, both in the extra neardup[documents].
There is no OCR, and layout is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from neardup.files.reading import batch, encodings
from neardup.files.reading.batch import BOM, Batch, Task, Unreadable, make_batch
from neardup.files.reading.formats import (
    Family,
    Format,
    UnreadableDocumentError,
    name_of,
    register,
    register_family,
)
from neardup.files.reading.locations import is_named_pipe
from neardup.files.reading.streams import (
    DamagedError,
    open_task,
    report_compressed,
    report_not_utf8,
    report_nul,
)

HTML = "html"


def read_whole(kind: str, task: Task) -> Iterator[Batch]:
    """Yield a batch of one document, whose id is the name of its file."""
    if (found := whole_text(kind, task)) is not None:
        yield make_batch([name_of(task.path)], [found], [(0, 0)], [1], None)


def whole_text(kind: str, task: Task) -> str | None:
    """Return the text of a file; without one, report why and return None."""
    source = name_of(task.path)
    if kind != HTML:
        # Binary formats, which know their encoding themselves.
        task = replace(task, reading=replace(task.reading, encoding=encodings.UTF8))
    if is_named_pipe(task.path):
        # Opening it would wait for a writer, perhaps for ever.
        reason = "is a named pipe; save its output to a file first"
        task.report(Unreadable(source, None, reason))
        return None
    try:
        with open_task(task) as file:
            data = file.read(file.most + 1)
            file.read(1)  # raises if the data after it is damaged
    except DamagedError as damage:
        task.report(Unreadable(source, None, str(damage)))
        return None
    if len(data) > file.most:
        task.report(Unreadable(source, None, batch.file_too_long(file.most)))
        return None
    if problem := report_compressed(file, data):
        task.report(problem)
        return None
    try:
        if kind == HTML:
            return _page(task, data, file.encoding, file.most)
        return _text_of(kind, data, file.most)
    except UnreadableDocumentError as why:
        task.report(Unreadable(source, None, str(why), why.kind, why.hint))
    except MemoryError:
        task.report(Unreadable(source, None, "needs more memory than is available"))
    return None


def _page(task: Task, data: bytes, encoding: str | None, most: int) -> str | None:
    from neardup.files.documents import html

    data = data.removeprefix(BOM)
    found, how = (encodings.UTF8, "") if encoding is not None else encodings.page_encoding(data)
    if found not in ("", encodings.UTF8):
        encoding = found
        why = "declared by the page" if how == "declared" else "detected"
        task.note(f"{name_of(task.path)}: read as {encoding} ({why})")
        data = encodings.encode(encodings.decoder(encoding).decode(data, final=True))
    markup = batch.decode(data)
    if not isinstance(markup, str):
        line = data[: markup.start].count(b"\n") + 1
        task.report(report_not_utf8(task.path, line, markup, encoding))
    elif (nul := data.find(b"\0")) >= 0:
        task.report(report_nul(task.path, data[:nul].count(b"\n") + 1, data))
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


# Name, name in messages, endings.
DOCUMENT_FORMATS = {
    "html": ("HTML", (".html", ".htm", ".xhtml")),
    "docx": ("Word documents", (".docx",)),
    "odt": ("OpenDocument texts", (".odt",)),
    "epub": ("EPUB", (".epub",)),
    "rtf": ("RTF", (".rtf",)),
    "pdf": ("PDF", (".pdf",)),
}


def detect_document(data: bytes) -> str | None:
    """Return the format of a document by its first bytes, or None."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if not data.startswith(b"PK\x03\x04"):
        return None
    # EPUB and OpenDocument begin with an uncompressed entry that names the format.
    if b"application/epub+zip" in data[:256]:
        return "epub"
    if b"application/vnd.oasis.opendocument.text" in data[:256]:
        return "odt"
    return "docx" if b"word/document" in data else None


register_family("document", Family(detect=detect_document))


def _sniff(kind: str, data: bytes) -> str:
    """Return the format of a document by its content: endings are often wrong."""
    found = detect_document(data)
    # The mark of a Word document may occur in any zip.
    if found is None or (found == "docx" and kind in ("odt", "epub")):
        return kind
    return found


for _place, (_name, (_called, _endings)) in enumerate(DOCUMENT_FORMATS.items()):
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
            has_ids=False,
        )
    )
