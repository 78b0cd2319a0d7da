"""Rows to a file, its form chosen by extension. The file appears only when it is complete."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

Row = dict[str, Any]
Write = Callable[[Row], object]


def check(path: Path) -> None:
    """Refuse a name no writer knows, before any work is done."""
    if path.suffix.lower() not in WRITERS:
        raise ValueError(f"{str(path)!r}: unknown ending; use one of {', '.join(WRITERS)}")


@contextmanager
def open_rows(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    """A function that writes a row. A failed or stopped run leaves no half-written file."""
    check(path)
    # In the same folder, so that renaming is one step.
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            yield WRITERS[path.suffix.lower()](file, columns)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _jsonl(file: TextIO, columns: Sequence[str]) -> Write:
    def write(row: Row) -> None:
        file.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")

    return write


def _separated(delimiter: str) -> Callable[[TextIO, Sequence[str]], Write]:
    def writer(file: TextIO, columns: Sequence[str]) -> Write:
        rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        rows.writerow(columns)

        def write(row: Row) -> None:
            rows.writerow([_cell(row[name]) for name in columns])

        return write

    return writer


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    # A spreadsheet would run such a cell as a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


WRITERS: dict[str, Callable[[TextIO, Sequence[str]], Write]] = {
    ".jsonl": _jsonl,
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
}
