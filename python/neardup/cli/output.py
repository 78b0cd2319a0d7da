"""Rows to a file, its form chosen by extension. The file appears only when it is complete."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from neardup.sources.document import STDIN

Row = dict[str, Any]
Write = Callable[[Row], object]


def check(path: Path, inputs: Sequence[str] = ()) -> None:
    """Refuse what cannot be written, or is one of the inputs, before any work is done."""
    if path.suffix.lower() not in WRITERS:
        raise ValueError(f"{str(path)!r}: unknown ending; use one of {', '.join(WRITERS)}")
    folder = _target(path).parent
    if not folder.is_dir():
        raise ValueError(f"{path}: the folder {folder} does not exist")
    if path.is_dir():
        raise ValueError(f"{path}: a folder; name a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: the folder {folder} is not writable")
    if not path.exists():
        return
    for name in inputs:
        if _same(name, path):
            raise ValueError(f"{path}: is also an input, which would be lost; name another file")
    if not path.is_file():
        raise ValueError(f"{path}: not a regular file")
    if not os.access(path, os.W_OK):
        raise ValueError(f"{path}: not writable")


@contextmanager
def open_rows(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    """A function that writes a row. A failed or stopped run leaves no half-written file."""
    check(path)
    target = _target(path)
    with _named(path):
        # In the same folder, so that renaming is one step.
        handle, temporary = tempfile.mkstemp(prefix=".neardup-", dir=target.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            yield WRITERS[path.suffix.lower()](file, columns)
            with _named(path):
                file.flush()
                os.fsync(file.fileno())
        with _named(path):
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _target(path: Path) -> Path:
    """The file behind a link; it is that one which is written."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _same(name: str, path: Path) -> bool:
    if name != STDIN:
        return os.path.samefile(name, path)
    # Standard input may be a file too, by "<".
    with suppress(OSError, ValueError):
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    return False


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """System errors name the user's file, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


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
