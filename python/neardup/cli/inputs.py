"""Documents of the inputs, in batches a collection can take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import typer

from neardup.sources import Reading, Report, expand, name_of, read_batches

# Documents of a transaction: enough that the disk is seldom waited for, and soon on it.
BATCH = 4096


class Some(NamedTuple):
    """Documents of one file, each id once."""

    source: str
    ids: list[str]
    texts: list[str]


def reading_of(
    text_column: Sequence[str] | None, id_column: str | None, lines: bool, format_: str | None
) -> Reading:
    """How the options say that files are read."""
    try:
        return Reading(tuple(text_column or ("text",)), id_column, None, lines, format_)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def files_of(inputs: Sequence[str]) -> list[str]:
    """The files the arguments name."""
    if list(inputs).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="INPUT")
    try:
        return expand(list(inputs))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="INPUT") from error


def documents(files: Sequence[str], reading: Reading, report: Report) -> Iterator[Some]:
    """The documents of files, in order."""
    for path in files:
        for batch in read_batches(path, reading, report):
            ids, texts = batch.ids.to_pylist(), batch.texts.to_pylist()
            for start, end in _runs(ids):
                yield Some(name_of(path), ids[start:end], texts[start:end])


def _runs(ids: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Parts of BATCH at most in which no id comes twice: the later one is an update."""
    start, seen = 0, set[str]()
    for at, id_ in enumerate(ids):
        if id_ in seen or at - start >= BATCH:
            yield start, at
            start, seen = at, set()
        seen.add(id_)
    if start < len(ids):
        yield start, len(ids)
