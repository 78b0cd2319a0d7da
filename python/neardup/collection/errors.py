"""The errors that a collection raises, and the translation of SQLite's errors into them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


# Part of the message of a failed call. The command line replaces it, because a command makes many
# calls, of which some may have succeeded.
NOTHING_STORED = "nothing of this call was stored"
# A failed write is blamed on the file size limit if a file is this close to it.
NEAR_LIMIT_BYTES = 1 << 16


class CollectionError(ValueError):
    """The collection refuses a call; the message says why, and what to do."""


class CorruptCollectionError(CollectionError):
    """The database of a collection is damaged. Documents whose checksums match can still be
    read."""


class LockedCollectionError(CollectionError):
    """Another process, or another `Collection` object of this process, is the writer."""


class IdExistsError(Exception):
    """An id that should be new is stored already. Internal: `Collection.add` catches it."""


@contextmanager
def translate_sqlite_errors(folder: Path) -> Iterator[None]:
    """Re-raise errors of SQLite as errors that name the collection and the cause."""
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

    # The low byte is SQLite's primary result code; the others give details.
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) and (limit := _file_size_limit(folder)):
        return OSError(
            errno.EFBIG,
            f"a file of the collection would exceed the file size limit of this process, {limit:,} "
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


def _file_size_limit(folder: Path) -> int | None:
    """Return the file size limit of this process if a file in the folder nearly has that size."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY:
        return None
    with suppress(OSError), os.scandir(folder) as files:
        largest = max((file.stat().st_size for file in files), default=0)
        # The size and offset of the failed write are not known here.
        return limit if largest + NEAR_LIMIT_BYTES > limit else None
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
