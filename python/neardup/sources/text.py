"""Plain text: a document a file, or a document a line."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.sources import document
from neardup.sources.batch import Batch, make
from neardup.sources.blocks import blocks, packed
from neardup.sources.document import BOM, Document, Report, Unreadable, name_of, open_binary
from neardup.sources.stored import DamagedError, Progress, open_stored


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
    text = _decoded(path, data, report)
    if text is not None:
        yield Document(source, text)


def _decoded(path: str, data: bytes, report: Report) -> str | None:
    text = document.decode(data.removeprefix(BOM))
    if isinstance(text, str):
        return text
    line = text.object[: text.start].count(b"\n") + 1
    report(document.not_utf8(path, line, text))
    return None


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


def read_text_batches(
    path: str, report: Report, progress: Progress | None = None
) -> Iterator[Batch]:
    """The whole file as a batch of one document, called by its name."""
    source = name_of(path)
    try:
        with open_stored(path, progress) as file:
            data = file.read(document.MAX_BYTES + 1)
            file.read(1)  # so that damage just behind the text is seen
    except DamagedError as damage:
        report(Unreadable(source, None, str(damage)))
        return
    if len(data) > document.MAX_BYTES:
        report(Unreadable(source, None, document.too_long()))
    elif problem := packed(path, data):
        report(problem)
    elif (text := _decoded(path, data, report)) is not None:
        if (nul := data.find(b"\0")) >= 0:
            report(has_nul(source, data[:nul].count(b"\n") + 1))
        else:
            yield make([source], [text], [(0, len(data))], [1], None)


def read_line_batches(
    path: str, report: Report, progress: Progress | None = None
) -> Iterator[Batch]:
    """Every line as a document, called file:line. Blank lines are documents too."""
    with open_stored(path, progress) as file:
        for first, start, block in blocks(file, report):
            batch = _lines(block, first, start, path, report)
            if len(batch.ids):
                yield batch


def _lines(block: bytes, first: int, start: int, path: str, report: Report) -> Batch:
    source = name_of(path)
    ids, texts, spans, numbers = [], [], [], []
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    end = start
    for number, line in enumerate(lines, first):
        begin, end = end, end + len(line) + 1
        text = document.decode(line.removesuffix(b"\r"))
        if not isinstance(text, str):
            report(document.not_utf8(path, number, text))
        elif "\0" in text:
            report(has_nul(source, number))
        else:
            ids.append(f"{source}:{number}")
            texts.append(text)
            spans.append((begin, min(end, start + len(block))))
            numbers.append(number)
    return make(ids, texts, spans, numbers, None)


def has_nul(source: str, line: int) -> Unreadable:
    """That a text has a NUL in it, which no writing has."""
    hint = "looks like a binary file, or UTF-16 without its mark"
    return Unreadable(source, line, "holds a NUL byte", hint=hint)
