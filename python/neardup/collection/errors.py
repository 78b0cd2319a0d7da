"""The errors of a collection, and the translation of SQLite's errors into them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


# For the message of a failed call; a command of many calls says how much of its input is stored.
NOTHING_STORED = "nothing of this call was stored"
# A failed write is blamed on the limit of file sizes if the file is this close to it, in bytes.
NEAR_LIMIT = 1 << 16


class CollectionError(ValueError):
    """The collection refuses a call; the message says why and what helps."""


class CorruptCollectionError(CollectionError):
    """The database of a collection is damaged. What can be read safely still is."""


class LockedCollectionError(CollectionError):
    """Another process, or another `Collection` object of this process, is the writer."""


class IdExistsError(Exception):
    """An id expected to be new is stored already. Internal: callers look ids up and retry."""


@contextmanager
def translate_sqlite_errors(folder: Path) -> Iterator[None]:
    """Re-raise errors of SQLite as errors that name the collection and say what happened."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, folder) from error
    except UnicodeDecodeError as error:
        # Raised when a message of SQLite quotes damaged text.
        raise corrupt(folder, f"invalid text ({error})") from error


def translated(error: sqlite3.Error, folder: Path) -> Exception:
    """Return the error to raise instead, a built-in exception where one fits."""
    import sqlite3

    # The low byte is the primary result code; the rest are details.
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) and (most := _file_limit(folder)):
        return OSError(
            errno.EFBIG,
            f"a file of the collection would exceed the file size limit of this process, {most:,} "
            f"bytes (ulimit -f); {NOTHING_STORED}; raise the limit",
            str(folder),
        )
    if code == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, f"disk full; {NOTHING_STORED}", str(folder))
    if code == sqlite3.SQLITE_IOERR:
        return OSError(errno.EIO, f"disk error ({error}); {NOTHING_STORED}", str(folder))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LockedCollectionError(f"{folder}: in use by another program ({error}); try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return PermissionError(errno.EACCES, f"cannot be opened or written ({error})", str(folder))
    return corrupt(folder, str(error))


def _file_limit(folder: Path) -> int | None:
    """Return the limit of file sizes if a file in the folder is about to reach it."""
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most == resource.RLIM_INFINITY:
        return None
    with suppress(OSError), os.scandir(folder) as found:
        largest = max((file.stat().st_size for file in found), default=0)
        # A write is one page with its header or several, at an offset unknown here.
        return most if largest + NEAR_LIMIT > most else None
    return None


def corrupt(folder: Path, what: str) -> CorruptCollectionError:
    return CorruptCollectionError(
        f"{folder}: damaged: {what}; restore it from a backup, "
        "or save what can be read with `export`"
    )


def texts_missing(folder: Path, why: str) -> CollectionError:
    return CollectionError(
        f'{folder}: stores no texts, and {why}; search by "simhash", or create a collection that '
        "stores them"
    )


def write_access_needed(folder: Path) -> PermissionError:
    return PermissionError(
        errno.EACCES,
        "reading needs write access to the folder, because SQLite keeps its log there; grant this "
        "user write access, or remove it for everybody (chmod -R a-w), so that the collection "
        "cannot change",
        str(folder),
    )


def opened_by_parent(folder: Path, pid: int) -> RuntimeError:
    return RuntimeError(
        f"{folder}: opened by process {pid} before it forked this one ({os.getpid()}); open the "
        "collection again in this process"
    )
