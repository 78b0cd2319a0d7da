"""Documents of the inputs, in batches a collection can take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import typer

from neardup.sources import Batch, Reading, Report, Unreadable, expand, name_of, read_batches

# Documents of a transaction: enough that the disk is seldom waited for, and soon on it.
BATCH = 4096


class Some(NamedTuple):
    """Documents of one file, each id once."""

    source: str
    ids: list[str]
    texts: list[str]
    metadata: list[dict[str, Any]] | None


def reading_of(
    text_column: Sequence[str] | None,
    id_column: str | None,
    lines: bool,
    format_: str | None,
    *,
    others: bool = False,
) -> Reading:
    """How the options say that files are read."""
    try:
        return Reading(tuple(text_column or ("text",)), id_column, None, lines, format_, others)
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
    """The documents of files, in order; with their metadata if the other columns are read."""
    for path in files:
        for batch in read_batches(path, reading, report):
            ids, texts = batch.ids.to_pylist(), batch.texts.to_pylist()
            metadata = None
            if batch.others is not None:
                good, metadata = _metadata(name_of(path), batch, report)
                ids, texts = [ids[at] for at in good], [texts[at] for at in good]
            for start, end in _runs(ids):
                some = None if metadata is None else metadata[start:end]
                yield Some(name_of(path), ids[start:end], texts[start:end], some)


def _metadata(source: str, batch: Batch, report: Report) -> tuple[list[int], list[dict[str, Any]]]:
    """Which records have metadata that can be stored, and it; the others are reported."""
    from neardup.collection.documents import metadata_of

    good: list[int] = []
    found: list[dict[str, Any]] = []
    for at, columns in enumerate(batch.others or ()):
        try:
            kept = {name: _storable(value, name, 1) for name, value in metadata_of(columns).items()}
        except _Unstorable as why:
            line = int(batch.lines[at])
            hint = "--no-metadata leaves all columns but the id and the text out"
            report(Unreadable(source, line, str(why), hint=hint))
        else:
            good.append(at)
            found.append(kept)
    return good, found


class _Unstorable(Exception):
    """Why a value cannot be metadata."""


def _storable(value: Any, column: str, depth: int) -> Any:
    """A value as JSON has it: dates and decimal numbers are strings there, not-a-number is null."""
    from neardup.collection.documents import MOST_DEPTH

    if isinstance(value, str):
        if not value.isascii():
            _check_text(value, column)
        return value
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID | timedelta):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        if depth >= MOST_DEPTH:
            raise _Unstorable(f"column {column!r} is nested more than {MOST_DEPTH} deep")
        if isinstance(value, Mapping):
            return {
                _storable(name, column, depth): _storable(part, column, depth + 1)
                for name, part in value.items()
            }
        return [_storable(part, column, depth + 1) for part in value]
    raise _Unstorable(f"column {column!r} holds {type(value).__name__}, which metadata cannot")


def _check_text(value: str, column: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        raise _Unstorable(f"column {column!r} holds a lone surrogate (U+{code:04X})") from None


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
