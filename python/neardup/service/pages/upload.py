"""A file that someone brings becomes a text: plain, HTML, Word, OpenDocument, EPUB, RTF, PDF."""

from __future__ import annotations

from pathlib import PurePosixPath

from neardup.files.documents import DOCUMENT_FORMATS, detect_document, sandbox
from neardup.files.documents.sandbox import DocumentTooLongError
from neardup.files.reading import encodings
from neardup.files.reading.batch import GZIP, ZSTD
from neardup.files.reading.formats import UnreadableDocumentError, all_endings

# Longer texts are for the command line.
MOST_CHARACTERS = 2_000_000
# Endings the page offers; others are taken for plain text if they are one.
ACCEPTED = (
    ".txt",
    ".md",
    *(ending for _, endings in DOCUMENT_FORMATS.values() for ending in endings),
)


class UnreadableFile(ValueError):
    """Why a file gives no text: a phrase for the one who brought it, and what the reader said."""

    def __init__(self, phrase: str, reason: str = "") -> None:
        super().__init__(phrase)
        self.phrase = phrase
        self.reason = reason


def text_from(name: str, data: bytes, most: int = MOST_CHARACTERS) -> tuple[str, str]:
    """The text of a file and the encoding it was read as, if that is not UTF-8; raises
    `UnreadableFile`, or `TooLongError`.

    name  as the browser has it: its ending tells the kind, and nothing else is done with it
    most  characters that the text may have
    """
    kind = all_endings().get(PurePosixPath(name.replace("\\", "/")).suffix.lower(), "")
    kind = detect_document(data[:4096]) or kind
    if kind in DOCUMENT_FORMATS:
        return _document(kind, data, most), ""
    text, encoding = _plain(data)
    if len(text) > most:
        raise DocumentTooLongError(len(text))
    return text, encoding


def _plain(data: bytes) -> tuple[str, str]:
    if data.startswith((GZIP, ZSTD, b"PK\x03\x04")):
        raise UnreadableFile("file.packed")
    encoding = encodings.detect(data)
    if encoding is None and b"\0" not in data:
        # Too few bytes to tell, yet some are not UTF-8.
        raise UnreadableFile("file.encoding")
    if encoding is None:
        raise UnreadableFile("file.binary")
    mark = encodings.marked(data)
    try:
        text = data[mark[1] if mark else 0 :].decode(encoding)
    except UnicodeDecodeError as error:
        where = f"{encoding.upper()}, {error.start + 1:,}"
        raise UnreadableFile("file.wrong_byte", where) from None
    if "\0" in text:
        raise UnreadableFile("file.binary")
    return text, "" if encoding == encodings.UTF8 else encoding


def _document(kind: str, data: bytes, most: int) -> str:
    try:
        return sandbox.sandboxed_text(kind, data, most)
    except UnreadableDocumentError as why:
        raise UnreadableFile(
            "file.unreadable", f"{why}{f'; {why.hint}' if why.hint else ''}"
        ) from None
