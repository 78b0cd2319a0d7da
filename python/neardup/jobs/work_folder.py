"""The work folder of a job: its lock, the files it may hold, and leftovers of killed jobs."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from neardup.files.writing.new_file import PREFIX
from neardup.jobs.options import NothingReadError, UnreadableError
from neardup.jobs.spool import FILES

STATE = "state.json"
LOCK = "lock"
# Sorted runs of pairs; see `neardup.jobs.pairs.PairSorter`.
PAIRS = "pairs.bin"
# Written by `neardup.engines.spark.engine`.
SHIPPED = "shipped.parquet"
# All names a work folder may hold.
KNOWN_FILES = (*FILES, STATE, LOCK, SHIPPED, PAIRS)
# A job that removes leftovers may delete a folder between its creation and its lock.
MAX_TRIES = 10
# Age from which a partly written file without a lock is a leftover.
LEFTOVER_SECONDS = 3600


def check_work_dir(folder: Path) -> None:
    """Raise ValueError if a folder holds other files: a job removes all it finds."""
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(folder)):
            if name not in KNOWN_FILES:
                raise ValueError(
                    f"{folder}: contains {name!r}, which no job has written; "
                    "name a new or empty folder as work_dir"
                )


@contextmanager
def open_work_folder(named: Path | None, parent: Path) -> Iterator[Path]:
    """Lock a work folder: `named`, or a temporary one in `parent`.

    A temporary folder is always removed, a named one only after success, so that a stopped job can
    be resumed.
    """
    remove_leftovers(parent)
    if named is None:
        with temporary_folder(parent) as folder:
            yield folder
        return
    with _locked(named):
        try:
            yield named
        except (UnreadableError, NothingReadError):
            # An incomplete corpus cannot be resumed; a complete one of an earlier run stays.
            if not (named / STATE).exists():
                clear(named)
            raise
        with suppress(OSError):
            clear(named)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a named folder; the operating system releases the lock if the process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    with path.open("ab") as file:
        if not try_lock(file, path):
            raise ValueError(
                f"{folder}: another job uses this folder; wait for it, or name another work_dir"
            )
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
                folder.rmdir()


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Create and lock a folder that is removed on leaving."""
    for _ in range(MAX_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        path = folder / LOCK
        try:
            file = path.open("ab")
        except FileNotFoundError:
            continue
        with file:
            if not try_lock(file, path):
                continue
            _sign(file)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return
    raise OSError(f"{parent}: another job removes each new work folder; name one as work_dir")


def try_lock(file: BinaryIO, path: Path) -> bool:
    """Lock a file; return False if another process holds the lock or has removed the file."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # some network file systems have no locks
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


def _sign(file: BinaryIO) -> None:
    """Write the host name into the lock file: only jobs of this host may remove the folder.

    On some shared file systems other hosts do not see the lock. A named folder is not signed, so
    it is never removed as a leftover.
    """
    with suppress(OSError):
        file.truncate(0)
        file.write(_host())
        file.flush()


def _host() -> bytes:
    return platform.node().encode(errors="replace") + b"\n"


def clear(folder: Path) -> None:
    """Remove all files of a work folder except its lock."""
    for name in KNOWN_FILES:
        if name != LOCK:
            with suppress(FileNotFoundError):
                (folder / name).unlink()


def remove_leftovers(parent: Path) -> None:
    """Remove work folders and partly written files of killed jobs."""
    with suppress(OSError), os.scandir(parent) as found:
        left = [entry for entry in found if entry.name.startswith(PREFIX)]
        for entry in left:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    _remove_folder(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    _remove_file(Path(entry.path))


def _remove_folder(folder: Path) -> None:
    """Remove a work folder that a job of this host created, unless a job uses it."""
    names = os.listdir(folder)
    if LOCK not in names or not set(names) <= set(KNOWN_FILES):
        return
    path = folder / LOCK
    with path.open("r+b") as file:
        if file.read(1 << 10) != _host() or not _is_unlocked(file):
            return
        clear(folder)
        path.unlink()
        folder.rmdir()


def _remove_file(path: Path) -> None:
    """Remove a partly written file that is old and not locked by its writer."""
    with path.open("r+b") as file:
        age = time.time() - os.fstat(file.fileno()).st_mtime
        if age > LEFTOVER_SECONDS and _is_unlocked(file):
            path.unlink()


def _is_unlocked(file: BinaryIO) -> bool:
    """Return whether no process holds a lock on a file; False where that cannot be known."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
