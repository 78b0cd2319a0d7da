"""Plain text: a document per file, or per line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from neardup.files.reading import batch as document
from neardup.files.reading.batch import BOM, Batch, Note, Reading, Task, Unreadable, make_batch
from neardup.files.reading.formats import STDIN, Family, Format, name_of, register, register_family
from neardup.files.reading.streams import (
    NAME_THE_ENCODING,
    DamagedError,
    blocks,
    open_task,
    report_compressed,
    report_not_utf8,
    report_nul,
)

# First bytes of the items that Burp saves.
BURP = re.compile(r"\s*(?:<\?xml[^>]{0,256}\?>)?\s*(?:<!DOCTYPE items\b|<items burpVersion=)")


def read_text_batches(task: Task) -> Iterator[Batch]:
    """Yield the file as one document whose id is its name; or with `Reading.lines` each line."""
    if task.reading.lines:
        yield from _read_lines(task)
    elif (found := _whole(task)) is not None:
        text, size = found
        if BURP.match(text):
            task.note(
                f"{name_of(task.path)} looks like XML of Burp, and is read as one text; add --as "
                "http to compare the responses in it"
            )
        yield make_batch([name_of(task.path)], [text], [(0, size)], [1], None)


def _whole(task: Task) -> tuple[str, int] | None:
    """Return the text of a file and its size in bytes; report why and return None if it has
    none."""
    source, report = name_of(task.path), task.report
    try:
        with open_task(task) as file:
            data = file.read(file.most + 1)
            file.read(1)  # raises if the data after the text is damaged
    except DamagedError as damage:
        report(Unreadable(source, None, str(damage)))
        return None
    if len(data) > file.most:
        report(Unreadable(source, None, document.too_long(file.most)))
        return None
    if problem := report_compressed(file, data):
        report(problem)
        return None
    text = document.decode(data.removeprefix(BOM))
    if not isinstance(text, str):
        line = text.object[: text.start].count(b"\n") + 1
        report(report_not_utf8(task.path, line, text, file.encoding))
    elif (nul := data.find(b"\0")) >= 0:
        report(report_nul(task.path, data[:nul].count(b"\n") + 1, data))
    else:
        return text, len(data)
    return None


def _read_lines(task: Task) -> Iterator[Batch]:
    """Yield every line as a document with the id file:line, also blank lines."""
    with open_task(task) as file:
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
            task.report(report_not_utf8(task.path, number, text, encoding))
        elif "\0" in text:
            task.report(report_nul(task.path, number, line))
        else:
            ids.append(f"{source}:{number}")
            texts.append(text)
            spans.append((begin, min(end, start + len(block))))
            numbers.append(number)
    return make_batch(ids, texts, spans, numbers, None)


def read_plain_text(path: str, reading: Reading | None, note: Note) -> str:
    """Return the text of one file; raise ValueError if it is not text.

    reading  None for a command without --encoding, which advises iconv instead
    """
    problems: list[Unreadable] = []
    # Without Arrow, whose import takes longer than all else.
    task = Task(path, reading or Reading(), problems.append, note)
    if (found := _whole(task)) is not None:
        return found[0]
    problem = problems[0]
    if reading is None:
        file = "" if path == STDIN else f" {shlex.quote(name_of(path))}"
        hint = re.sub(r"use --encoding (\S+)", rf"iconv -f \1 -t UTF-8{file}", problem.hint)
        if hint == NAME_THE_ENCODING:
            hint = f"make it UTF-8 with iconv -f ENCODING -t UTF-8{file}"
        problem = problem._replace(hint=hint)
    raise ValueError(str(problem))


register_family("text", Family(fallback="text"))
register(
    Format(
        "text",
        "text",
        (".txt", ".md"),
        read_text_batches,
        keeps="texts",
        rank=15,
        has_ids=False,
        options=frozenset({"encoding"}),
    )
)
