"""A folder of report pages that appears only when it is complete."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neardup.files.writing.new_file import PREFIX, naming_file

# Marks a folder that was written by neardup and may be replaced.
MARK = ".neardup-pages"
_MARKED = b"Pages written by neardup; they are replaced as a whole when they are written again.\n"
_PAGE = re.compile(r"(?:index|document-\d+|pair-\d+-\d+)\.html")


def check_folder(path: Path) -> None:
    """Raise ValueError if a folder cannot be written or holds files of others, before any work is
    done."""
    if not path.name:
        raise ValueError(f"the folder of pages is {str(path)!r}; name one, such as report")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{path}: the folder {folder} is not writable")
    if path.is_symlink():
        raise ValueError(f"{path}: is a symbolic link; name the folder itself")
    if not path.exists():
        return
    if not path.is_dir():
        raise ValueError(f"{path}: is a file; name a folder, or a file that ends in .html")
    names = sorted(os.listdir(path))
    if not names:
        return
    for name in names:
        if name != MARK and not _PAGE.fullmatch(name):
            raise ValueError(
                f"{path}: holds {name!r}, which is not a page of a report; name a new folder, "
                "or empty this one"
            )
    if MARK not in names:
        raise ValueError(f"{path}: holds pages that neardup did not write; name a new folder")


@contextmanager
def open_folder(path: Path) -> Iterator[Path]:
    """Open a new folder for pages, which gets its name at the end. A failed or stopped run leaves
    the old folder as it was.
    """
    check_folder(path)
    target = path.absolute()
    _remove_leftovers(target.parent)
    with naming_file(path):
        made = _new(target.parent)
    try:
        with naming_file(path), _locked_folder(made):
            yield made
            _place(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _new(beside: Path) -> Path:
    """Make an empty folder, with the permissions of the umask."""
    folder = beside / f"{PREFIX}{secrets.token_hex(8)}"
    folder.mkdir()
    return folder


def _place(made: Path, target: Path) -> None:
    """Rename the folder to its target; remove the one that was there before."""
    # Other files may have been added meanwhile.
    check_folder(target)
    if not target.exists():
        os.rename(made, target)
        return
    with suppress(OSError):
        # An empty folder is replaced in one step.
        os.rename(made, target)
        return
    old = _new(target.parent)
    os.rename(target, old)
    try:
        os.rename(made, target)
    except BaseException:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Mark a folder as ours and lock it, so that no other process removes it."""
    import fcntl

    with (folder / MARK).open("wb") as file:
        file.write(_MARKED)
        file.flush()
        # Some file systems have no locks; there nothing is removed.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _remove_leftovers(beside: Path) -> None:
    """Remove the folders of killed runs: marked, under temporary names, and not locked."""
    import fcntl

    with suppress(OSError):
        for entry in list(os.scandir(beside)):
            if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            names = os.listdir(entry.path)
            if MARK not in names or not all(
                name == MARK or _PAGE.fullmatch(name) for name in names
            ):
                continue
            with suppress(OSError), open(Path(entry.path) / MARK, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)
