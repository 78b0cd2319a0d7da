"""By what a job notices that an input has changed."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from neardup.files.writing.new_file import PREFIX
from neardup.jobs import reference
from neardup.jobs.sorter import PAIRS
from neardup.jobs.spool import FILES

# Nothing for what is no file.
Stamp = tuple[int | None, ...]


def stamp(path: str) -> Stamp:
    """Size, time and number of a file. A URL and a pipe have nothing of the kind."""
    if reference.is_collection(path):
        return reference.stamp(path)
    with suppress(OSError):
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev
    return (None,)


def size(path: str) -> int | None:
    """The bytes of a file, where they are known before it is read."""
    return None if reference.is_collection(path) else stamp(path)[0]


# The folder a job works in: who is in it, what may be in it, and what killed jobs have left.

STATE = "state.json"
LOCK = "lock"
# What `neardup.engines.spark.transfer` hands over by a file.
SHIPPED = "shipped.parquet"
# What a work folder holds, and nothing else.
OWN = (*FILES, STATE, LOCK, SHIPPED, PAIRS)
# Times a new folder is tried that another job has taken for one left behind.
TRIES = 10
# Seconds after which half a file that nobody holds is taken for one left behind.
OLD = 3600


def check(folder: Path) -> None:
    """Files of the same names would be overwritten, and all are gone when the job is done."""
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(folder)):
            if name not in OWN:
                raise ValueError(
                    f"{folder}: holds {name!r}, which is not of a stopped job; "
                    "name a new or empty folder as work_dir"
                )


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Two jobs in one folder would write over each other. The lock is gone with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    with path.open("ab") as file:
        if not is_locked(file, path):
            raise ValueError(
                f"{folder}: another job is at work here; wait for it, or name another work_dir"
            )
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
                folder.rmdir()


@contextmanager
def unnamed(beside: Path) -> Iterator[Path]:
    """A folder of this job alone, gone afterwards, whatever happens."""
    for _ in range(TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        path = folder / LOCK
        try:
            file = path.open("ab")
        except FileNotFoundError:
            continue
        with file:
            # Between making and locking it, a job that tidies up may have taken it away.
            if not is_locked(file, path):
                continue
            _sign(file)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return
    raise OSError(f"{beside}: a work folder vanishes as soon as it is made; name one as work_dir")


def is_locked(file: BinaryIO, path: Path) -> bool:
    """Locks a file, unless another has done so."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # some file systems of clusters know no locks
    # A job that was done just now may have removed the file opened here.
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


def _sign(file: BinaryIO) -> None:
    """Says that the folder may be removed when it is left, and by whom: on some shared file systems
    other machines cannot see the lock. A folder that was named is not signed, and stays."""
    with suppress(OSError):
        file.truncate(0)
        file.write(_host())
        file.flush()


def _host() -> bytes:
    return platform.node().encode(errors="replace") + b"\n"


def empty(folder: Path) -> None:
    """Removes what an earlier stage or run has left."""
    for name in OWN:
        if name != LOCK:
            with suppress(FileNotFoundError):
                (folder / name).unlink()


def tidy(folder: Path) -> None:
    """Removes what killed jobs have left in a folder: their work folders, and halves of files."""
    with suppress(OSError), os.scandir(folder) as found:
        left = [entry for entry in found if entry.name.startswith(PREFIX)]
        for entry in left:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    _remove_folder(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    _remove_file(Path(entry.path))


def _remove_folder(folder: Path) -> None:
    """Removes a work folder, if a job of this machine made it and none is in it."""
    names = os.listdir(folder)
    if LOCK not in names or not set(names) <= set(OWN):
        return
    path = folder / LOCK
    with path.open("r+b") as file:
        if file.read(1 << 10) != _host() or not _is_free(file):
            return
        empty(folder)
        path.unlink()
        folder.rmdir()


def _remove_file(path: Path) -> None:
    """Removes half a file. Whoever writes one holds a lock on it until it has its name."""
    with path.open("r+b") as file:
        if time.time() - os.fstat(file.fileno()).st_mtime > OLD and _is_free(file):
            path.unlink()


def _is_free(file: BinaryIO) -> bool:
    """Whether nobody holds a lock on a file; where that cannot be known, somebody may."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
