"""Large pieces of a file, each of whole lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from neardup import _core
from neardup.files.reading import batch
from neardup.files.reading import batch as document
from neardup.files.reading.batch import BOM, Batch, Reading, Report, Task, Unreadable, make
from neardup.files.reading.formats import STDIN, Family, Format, name_of, register, register_family
from neardup.files.reading.streams import (
    UNKNOWN,
    ByteStream,
    DamagedError,
    has_nul,
    not_utf8,
    open_told,
    packed,
)

# Little enough to stay in a cache between reading and parsing.
BLOCK_BYTES = 2 << 20


def blocks(file: ByteStream, report: Report) -> Iterator[tuple[int, int, bytes]]:
    """Pieces of about BLOCK_BYTES: number of the first line, offset of the first byte, bytes.

    Each ends at a line end, but for a last line without one. A leading byte order mark is left
    out. A line longer than `file.most` is reported and left out; so is a line cut off by damage.
    """
    source = name_of(file.path)
    # Of the line that has not ended yet: number, offset, bytes (unless too long), their count.
    line, start, held, size = 1, 0, list[bytes](), 0
    while True:
        try:
            data = file.read(min(BLOCK_BYTES, file.most))
        except DamagedError as damage:
            report(Unreadable(source, line, str(damage)))
            return
        if not data:
            break
        if file.position == len(data):
            if problem := packed(file, data):
                report(problem)
                return
            if data.startswith(BOM):
                data, start = data[len(BOM) :], len(BOM)
        first = data.find(b"\n") + 1
        head = first or len(data)
        if size + head - bool(first) > file.most:
            # No other line of the piece can be too long: the piece itself is not.
            if size <= file.most:
                report(Unreadable(source, line, batch.line_too_long(file.most)))
            held, size, data = [], size + head, data[head:]
            if first:
                line, start, size = line + 1, start + size, 0
        if cut := data.rfind(b"\n") + 1:
            block = b"".join((*held, data[:cut]))
            yield line, start, block
            line, start = line + _core.count_lines(block), start + len(block)
            held, size, data = [], 0, data[cut:]
        if data:
            held.append(data)
            size += len(data)
    if held:
        yield line, start, b"".join(held)


# Plain text: a document a file, or a document a line.

# How a file of Burp's saved items begins.
BURP = re.compile(r"\s*(?:<\?xml[^>]{0,256}\?>)?\s*(?:<!DOCTYPE items\b|<items burpVersion=)")


def read_text_batches(task: Task) -> Iterator[Batch]:
    """The whole file as a batch of one document, called by its name; or with `lines` each line."""
    if task.reading.lines:
        yield from _read_lines(task)
    elif (found := _whole(task)) is not None:
        text, size = found
        if BURP.match(text):
            task.note(
                f"{name_of(task.path)} looks like XML of Burp, and is read as one text; add --as "
                "http to compare the responses in it"
            )
        yield make([name_of(task.path)], [text], [(0, size)], [1], None)


def _whole(task: Task) -> tuple[str, int] | None:
    """The text of a file and its bytes, or nothing, which is reported."""
    source, report = name_of(task.path), task.report
    try:
        with open_told(task) as file:
            data = file.read(file.most + 1)
            file.read(1)  # so that damage just behind the text is seen
    except DamagedError as damage:
        report(Unreadable(source, None, str(damage)))
        return None
    if len(data) > file.most:
        report(Unreadable(source, None, document.too_long(file.most)))
        return None
    if problem := packed(file, data):
        report(problem)
        return None
    text = document.decode(data.removeprefix(BOM))
    if not isinstance(text, str):
        line = text.object[: text.start].count(b"\n") + 1
        report(not_utf8(task.path, line, text, file.encoding))
    elif (nul := data.find(b"\0")) >= 0:
        report(has_nul(task.path, data[:nul].count(b"\n") + 1, data))
    else:
        return text, len(data)
    return None


def _read_lines(task: Task) -> Iterator[Batch]:
    """Every line as a document, called file:line. Blank lines are documents too."""
    with open_told(task) as file:
        for first, start, block in blocks(file, task.report):
            batch = _lines(block, first, start, task, file.encoding)
            if len(batch.ids):
                yield batch


def _lines(block: bytes, first: int, start: int, task: Task, encoding: str | None) -> Batch:
    source = name_of(task.path)
    ids, texts, spans, numbers = [], [], [], []
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    end = start
    for number, line in enumerate(lines, first):
        begin, end = end, end + len(line) + 1
        text = document.decode(line.removesuffix(b"\r"))
        if not isinstance(text, str):
            task.report(not_utf8(task.path, number, text, encoding))
        elif "\0" in text:
            task.report(has_nul(task.path, number, line))
        else:
            ids.append(f"{source}:{number}")
            texts.append(text)
            spans.append((begin, min(end, start + len(block))))
            numbers.append(number)
    return make(ids, texts, spans, numbers, None)


def read_plain_text(path: str) -> str:
    """The text of one file, or an error that says why there is none."""
    problems: list[Unreadable] = []
    # Without Arrow, which takes longer to load than all else.
    if (found := _whole(Task(path, Reading(), problems.append, lambda _: None))) is not None:
        return found[0]
    # Whoever wants one text has no options for reading many.
    file = "" if path == STDIN else f" {shlex.quote(name_of(path))}"
    hint = re.sub(r"use --encoding (\S+)", rf"iconv -f \1 -t UTF-8{file}", problems[0].hint)
    if hint == UNKNOWN:
        hint = f"make it UTF-8 with iconv -f ENCODING -t UTF-8{file}"
    raise ValueError(str(problems[0]._replace(hint=hint)))


register_family("text", Family(fallback="text"))
register(
    Format(
        "text",
        "text",
        (".txt", ".md"),
        read_text_batches,
        keeps="texts",
        rank=15,
        options=frozenset({"encoding"}),
    )
)
