"""The files of segments: what they are called, and whether they are the ones that were written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from neardup import _core
from neardup.collection.schema import SegmentRow

# Bytes of a file that tell whether it is the one that was written: header and checksums.
HEAD = 1 << 16
SUFFIXES = CODES, SKETCHES = ".index", ".sketches"


def path_of(folder: Path, number: int, suffix: str = CODES) -> Path:
    return folder / f"segment-{number}{suffix}"


def paths_of(folder: Path, row: SegmentRow) -> list[Path]:
    """The files a segment has."""
    suffixes = [CODES] if row.sketch_size is None else SUFFIXES
    return [path_of(folder, row.number, suffix) for suffix in suffixes]


def stamp(path: Path) -> tuple[int, bytes]:
    """The size of a file and a checksum of its head, which holds the checksums of the rest."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        size = os.fstat(file.fileno()).st_size
    return size, _core.stable_hash(head).to_bytes(8, "little")


def open_codes(folder: Path, row: SegmentRow, recipe: str) -> _core.Index | None:
    """The fingerprints of a segment; None if the file is damaged, gone, or another one."""
    path = path_of(folder, row.number)
    with suppress(OSError, ValueError):
        if stamp(path) == (row.size, row.checksum):
            index = _core.Index.open(str(path))
            if len(index) == row.entries and index.recipe in (None, recipe):
                return index
    return None


def open_sketches(folder: Path, row: SegmentRow, recipe: str) -> _core.SketchIndex | None:
    """The sketches of a segment; None if there are none, or the file is not the one it was."""
    path = path_of(folder, row.number, SKETCHES)
    with suppress(OSError, ValueError):
        if row.sketch_size is not None and stamp(path) == (row.sketch_size, row.sketch_checksum):
            index = _core.SketchIndex.open(str(path))
            if index.entries == row.entries and index.recipe == recipe:
                return index
    return None


def remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def clean(folder: Path, known: Iterable[Path]) -> None:
    """Deletes what an interrupted writer has left: segments nobody knows, unfinished files."""
    names = {path.name for path in known}
    for name in os.listdir(folder):
        ours = name.startswith("segment-") and any(suffix in name for suffix in SUFFIXES)
        if ours and name not in names:
            remove([folder / name])
