"""Documents of inputs, collections and output tables, as several commands use them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from neardup.cli.command import FILE_PATH, argument
from neardup.cli.console import ProgressBar
from neardup.cli.options import NearOptions, check_stdin

if TYPE_CHECKING:
    from neardup.collection import Collection
    from neardup.files.reading.batch import Batch, Note, Reading, Report
    from neardup.files.writing import Columns

# Files and suffix of a collection, here too: importing its package would take long.
DATABASE = "collection.sqlite"
SUFFIX = ".neardup"
# Documents of a transaction: many enough that it seldom waits for the disk.
BATCH_SIZE = 4096
# Columns of a response that are stored as metadata.
RESPONSE_COLUMNS = ("url", "status", "title", "server")

COLLECTION = argument("path", "COLLECTION", "Folder whose name ends in .neardup.", type=FILE_PATH)


class DocumentBatch(NamedTuple):
    """Documents of one file, without repeated ids."""

    source: str
    ids: list[str]
    texts: list[str]
    metadata: list[dict[str, Any]] | None


def is_collection(name: str | Path) -> bool:
    return Path(name).name.endswith(SUFFIX)


@contextmanager
def open_collection(path: Path, hint: str = "COLLECTION", **settings: Any) -> Iterator[Collection]:
    """Open a collection; only with a recipe a missing one is created."""
    from neardup.collection import Collection

    check_collection_name(path, hint)
    if "recipe" not in settings and not path.is_file() and not (path / DATABASE).exists():
        raise FileNotFoundError(
            f"{path}: no such collection; create it: neardup index create {path}"
        )
    with Collection.open(path, **settings) as collection:
        yield collection


def check_collection_name(path: Path, hint: str) -> None:
    if not is_collection(path):
        raise click.BadParameter(
            f"{str(path)!r}: the name of a collection must end in .neardup", param_hint=hint
        )


def check_order(path: Path, inputs: Sequence[str], command: str) -> None:
    """Refuse a collection among the inputs if the first argument is none: they are swapped."""
    for name in inputs:
        if is_collection(name) and not is_collection(path):
            raise click.BadParameter(
                f"{str(path)!r} is not a collection, but the input {name!r} is; name the "
                f"collection first: neardup index {command} {name} {path}",
                param_hint="COLLECTION",
            )


def check_limits(collection: Collection, near: NearOptions) -> None:
    """Refuse bad limits before anything is read."""
    try:
        collection.check_limits(**vars(near))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def open_table(
    stack: ExitStack,
    path: Path | None,
    columns: Columns,
    files: Sequence[str],
    option: str,
    *,
    guard: bool,
) -> Callable[[dict[str, Any]], object] | None:
    """Return a function that writes a row to the file, if there is one."""
    if path is None:
        return None
    from neardup.files import writing

    check_output(path, files, option)
    return stack.enter_context(writing.open_rows(path, columns, guard=guard))


def check_output(path: Path, inputs: Sequence[str], option: str, **settings: Any) -> None:
    """Refuse an output that cannot be written, or that is an input."""
    from neardup.files import writing

    try:
        writing.check_output(path, inputs, **settings)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def document_progress(stage: str, *, shown: bool) -> ProgressBar:
    """Return a progress bar that counts documents."""
    progress = ProgressBar(shown=shown and sys.stderr.isatty())
    progress.stage(stage, None, "documents")
    return progress


def expand_inputs(inputs: Sequence[str], reading: Reading, note: Note) -> list[str]:
    """Return the files that the arguments name."""
    from neardup.files.reading.inputs import check_options, expand

    check_stdin(inputs)
    try:
        files = expand(list(inputs), reading, note)
        check_options(files, reading)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="INPUT") from error
    return files


def read_documents(
    files: Sequence[str],
    reading: Reading,
    report: Report,
    note: Note = lambda message: None,
) -> Iterator[DocumentBatch]:
    """Read the documents of files in order, with metadata if the other columns are read."""
    from neardup.files.reading.formats import name_of
    from neardup.files.reading.inputs import read_batches

    for path in files:
        for batch in read_batches(path, reading, report, note=note):
            ids, texts = batch.ids.to_pylist(), batch.texts.to_pylist()
            metadata = None
            if reading.others and batch.facts is not None:
                metadata = batch.facts.select(list(RESPONSE_COLUMNS)).to_pylist()
            elif batch.others is not None:
                good, metadata = _metadata(name_of(path), batch, report)
                ids, texts = [ids[at] for at in good], [texts[at] for at in good]
            for start, end in _split_at_repeats(ids):
                part = None if metadata is None else metadata[start:end]
                yield DocumentBatch(name_of(path), ids[start:end], texts[start:end], part)


def _metadata(source: str, batch: Batch, report: Report) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the rows whose metadata can be stored, and their metadata; report the others."""
    from neardup.collection.documents import extract_metadata
    from neardup.files.reading.batch import Unreadable

    rows: list[int] = []
    values: list[dict[str, Any]] = []
    for at, columns in enumerate(batch.others or ()):
        try:
            plain = {
                name: _as_json(value, name, 1) for name, value in extract_metadata(columns).items()
            }
        except _MetadataError as error:
            hint = "--no-metadata stores the id and the text only"
            report(Unreadable(source, int(batch.lines[at]), str(error), hint=hint))
        else:
            rows.append(at)
            values.append(plain)
    return rows, values


class _MetadataError(Exception):
    """A value cannot be stored as metadata."""


def _as_json(value: Any, column: str, depth: int) -> Any:
    """Convert a value to JSON: dates and decimals to strings, NaN to null."""
    if isinstance(value, str):
        if not value.isascii():
            _check_text(value, column)
        return value
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # Imported here: most values are none of these, and most commands have no metadata.
    from datetime import date, time, timedelta
    from decimal import Decimal
    from uuid import UUID

    from neardup.collection.documents import MAX_DEPTH

    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID | timedelta):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        if depth >= MAX_DEPTH:
            raise _MetadataError(f"column {column!r} is nested more than {MAX_DEPTH} deep")
        if isinstance(value, Mapping):
            return {
                _as_json(name, column, depth): _as_json(part, column, depth + 1)
                for name, part in value.items()
            }
        return [_as_json(part, column, depth + 1) for part in value]
    raise _MetadataError(f"column {column!r} holds {type(value).__name__}, which cannot be stored")


def _check_text(value: str, column: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        raise _MetadataError(f"column {column!r} holds a lone surrogate (U+{code:04X})") from None


def _split_at_repeats(ids: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Split into batches without repeated ids: a later document updates an earlier one."""
    start, seen = 0, set[str]()
    for at, id_ in enumerate(ids):
        if id_ in seen or at - start >= BATCH_SIZE:
            yield start, at
            start, seen = at, set()
        seen.add(id_)
    if start < len(ids):
        yield start, len(ids)
