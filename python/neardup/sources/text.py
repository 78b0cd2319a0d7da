"""Plain text: a document a file, or a document a line."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.sources import document
from neardup.sources.document import BOM, Document, Report, Unreadable, name_of, open_binary


def read_text(path: str, report: Report) -> Iterator[Document]:
    """The whole file as one document, called by its name."""
    source = name_of(path)
    with open_binary(path) as file:
        data = file.read(document.MAX_BYTES + 1)
    if len(data) > document.MAX_BYTES:
        report(Unreadable(source, None, document.too_long()))
        return
    if data.startswith(document.GZIP):
        # Packed lines are known by the whole name only: documents.jsonl.gz.
        option = "--jsonl" if any(end in path.lower() for end in document.JSONL_SUFFIXES) else ""
        report(document.gzipped(path, option))
        return
    text = document.decode(data.removeprefix(BOM))
    if isinstance(text, str):
        yield Document(source, text)
    else:
        line = text.object[: text.start].count(b"\n") + 1
        report(document.not_utf8(path, line, text))


def read_lines(path: str, report: Report) -> Iterator[Document]:
    """Every line as a document, called file:line. Blank lines are documents too."""
    source = name_of(path)
    with open_binary(path) as file:
        for number, line in document.numbered_lines(file, path, report, option="--lines"):
            text = document.decode(line)
            if isinstance(text, str):
                yield Document(f"{source}:{number}", text)
            else:
                report(document.not_utf8(path, number, text))


def text_of(path: str) -> str:
    """The text of one file, or an error that says why there is none."""
    problems: list[Unreadable] = []
    for found in read_text(path, problems.append):
        return found.text
    raise ValueError(str(problems[0]))
