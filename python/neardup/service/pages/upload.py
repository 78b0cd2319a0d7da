"""A file that someone brings becomes a text: plain, HTML, Word, OpenDocument, EPUB, RTF, PDF."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

from neardup.sources import charsets
from neardup.sources.batch import Reading, Task
from neardup.sources.document import GZIP, ZSTD, Unreadable
from neardup.sources.formats import ENDINGS, content_of
from neardup.sources.whole_files import KINDS, whole_text

# Endings the page offers; others are taken for plain text if they are one.
ACCEPTED = (".txt", ".md", *(ending for _, endings in KINDS.values() for ending in endings))


class UnreadableFile(ValueError):
    """Why a file gives no text: a phrase for the one who brought it, and what the reader said."""

    def __init__(self, phrase: str, reason: str = "") -> None:
        super().__init__(phrase)
        self.phrase = phrase
        self.reason = reason


def text_from(name: str, data: bytes) -> tuple[str, str]:
    """The text of a file and the encoding it was read as, if that is not UTF-8.

    name  as the browser has it: its ending tells the kind, and nothing else is done with it
    """
    kind = ENDINGS.get(PurePosixPath(name.replace("\\", "/")).suffix.lower(), "")
    kind = content_of(data[:4096]) or kind
    if kind in KINDS:
        return _document(kind, data), ""
    return _plain(data)


def _plain(data: bytes) -> tuple[str, str]:
    if data.startswith((GZIP, ZSTD, b"PK\x03\x04")):
        raise UnreadableFile("file.packed")
    encoding = charsets.detect(data)
    if encoding is None and b"\0" not in data:
        # Too few bytes to tell, yet some are not UTF-8.
        raise UnreadableFile("file.encoding")
    if encoding is None:
        raise UnreadableFile("file.binary")
    mark = charsets.marked(data)
    try:
        text = data[mark[1] if mark else 0 :].decode(encoding)
    except UnicodeDecodeError as error:
        where = f"{encoding.upper()}, {error.start + 1:,}"
        raise UnreadableFile("file.wrong_byte", where) from None
    if "\0" in text:
        raise UnreadableFile("file.binary")
    return text, "" if encoding == charsets.UTF8 else encoding


def _document(kind: str, data: bytes) -> str:
    problems: list[Unreadable] = []
    # The readers take files, some in a process of their own. The name is ours, not the stranger's.
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        path = Path(folder) / f"file{KINDS[kind][1][0]}"
        path.write_bytes(data)
        text = whole_text(kind, Task(str(path), Reading(), problems.append, lambda _: None))
    if text is None:
        hint = f"; {problems[0].hint}" if problems[0].hint else ""
        raise UnreadableFile("file.unreadable", f"{problems[0].reason}{hint}")
    return text
