"""Documents of the inputs, in batches a collection can take."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import typer

import neardup.http.captures  # noqa: F401  registers the formats of captures
from neardup.cli import console
from neardup.files.reading.batch import Batch, Note, Reading, Report, Unreadable
from neardup.files.reading.formats import name_of
from neardup.files.reading.inputs import check_options, expand, ignore, read_batches

SHOWN_NOTES = 20
# Characters that are hard to write in a shell.
DELIMITERS = {"tab": "\t", "\\t": "\t"}
SHIFTS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
# Documents of a transaction: enough that the disk is seldom waited for, and soon on it.
BATCH = 4096
# What is kept of a response beside its view.
OF_RESPONSE = ("url", "status", "title", "server")


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
    encoding: str | None = None,
    delimiter: str | None = None,
    quoting: str | None = None,
    no_header: bool = False,
    max_bytes: str | None = None,
    max_document: str | None = None,
    others: bool = False,
) -> Reading:
    """How the options say that files are read."""
    try:
        return Reading(
            tuple(text_column or ("text",)),
            id_column,
            None,
            lines,
            format_,
            others,
            encoding=encoding,
            delimiter=DELIMITERS.get(delimiter or "", delimiter),
            quoting=quoting,
            header=not no_header,
            max_bytes=_bytes("--max-bytes", max_bytes),
            max_document=_bytes("--max-document", max_document),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _bytes(option: str, size: str | None) -> int | None:
    """A size as one writes it: 1000, 500M, 64G."""
    if size is None:
        return None
    found = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", size.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"{option} is {size!r}; write a number of bytes, or such as 500M or 64G")
    return int(found[1]) << SHIFTS[found[2].upper()]


def files_of(inputs: Sequence[str], reading: Reading, note: Note) -> list[str]:
    """The files the arguments name."""
    if list(inputs).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="INPUT")
    try:
        files = expand(list(inputs), reading, note)
        check_options(files, reading)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="INPUT") from error
    return files


class InputNotes:
    """Tells on standard error what was read in another way than one may expect: some of it."""

    def __init__(self, *, quiet: bool, before: Callable[[], object] = lambda: None) -> None:
        self._quiet = quiet
        self._before = before
        self._count = 0

    def __call__(self, message: str) -> None:
        """A sentence.

        before  is called first, such as to take a progress bar away
        """
        self._count += 1
        if not self._quiet and self._count <= SHOWN_NOTES:
            self._before()
            console.error(f"warning: {message}")

    def close(self) -> None:
        """How many were not shown."""
        if not self._quiet and self._count > SHOWN_NOTES:
            console.error(f"{self._count - SHOWN_NOTES:,} more warnings")


def documents(
    files: Sequence[str], reading: Reading, report: Report, note: Note = ignore
) -> Iterator[Some]:
    """The documents of files, in order; with their metadata if the other columns are read."""
    for path in files:
        for batch in read_batches(path, reading, report, note=note):
            ids, texts = batch.ids.to_pylist(), batch.texts.to_pylist()
            metadata = None
            if reading.others and batch.facts is not None:
                metadata = batch.facts.select(list(OF_RESPONSE)).to_pylist()
            elif batch.others is not None:
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
