"""What can be wrong with a collection, told to its user."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


# What a call says that failed; a command of many calls says how much of it is stored.
NOTHING_STORED = "nothing of this call was stored"
# Bytes below a limit on file sizes from which a failed write is put down to it.
NEAR_LIMIT = 1 << 16


class CollectionError(ValueError):
    """A collection cannot do what it is asked for; the message says why and what helps."""


class CorruptCollectionError(CollectionError):
    """The truth of a collection is damaged. What can be read safely still is."""


class LockedCollectionError(CollectionError):
    """Another process, or another object of this one, is writing to the collection."""


class KnownIdError(Exception):
    """Between the parts of a collection: an id that was thought to be new is there already."""


@contextmanager
def translate_sqlite_errors(folder: Path) -> Iterator[None]:
    """Errors of SQLite become errors that name the collection and say what happened."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, folder) from error
    except UnicodeDecodeError as error:
        # Of a name or a message of SQLite's, where it quotes what it found.
        raise corrupt(folder, f"what should be text is not ({error})") from error


def translated(error: sqlite3.Error, folder: Path) -> Exception:
    """The same error in plain words, as a built-in exception where one fits."""
    import sqlite3

    # The low byte is the kind, what is above it the circumstances.
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) and (most := _file_limit(folder)):
        return OSError(
            errno.EFBIG,
            f"this process may write files of {most:,} bytes at most (ulimit -f), and one of the "
            f"collection would be larger; {NOTHING_STORED}; raise that limit",
            str(folder),
        )
    if code == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, f"disk full; {NOTHING_STORED}", str(folder))
    if code == sqlite3.SQLITE_IOERR:
        return OSError(errno.EIO, f"the disk refused ({error}); {NOTHING_STORED}", str(folder))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LockedCollectionError(f"{folder}: in use by another program ({error}); try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return PermissionError(
            errno.EACCES, f"cannot be opened or written to ({error})", str(folder)
        )
    return corrupt(folder, str(error))


def _file_limit(folder: Path) -> int | None:
    """The limit on the size of files, if one of the folder is about to reach it."""
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most == resource.RLIM_INFINITY:
        return None
    with suppress(OSError), os.scandir(folder) as found:
        largest = max((file.stat().st_size for file in found), default=0)
        # A write is of a page and its header, or of some; where it begins depends.
        return most if largest + NEAR_LIMIT > most else None
    return None


def corrupt(folder: Path, what: str) -> CorruptCollectionError:
    return CorruptCollectionError(
        f"{folder}: damaged: {what}; restore it from a backup, "
        "or save what can be read with `export`"
    )


def no_texts(folder: Path, why: str) -> CollectionError:
    return CollectionError(
        f'{folder}: keeps no texts, and {why}; search by "simhash", or make another collection '
        "that keeps them"
    )


def unwritable(folder: Path) -> PermissionError:
    return PermissionError(
        errno.EACCES,
        "others may write to it and this user may not, who can read it only while it is open "
        "there; let this user write to the folder, or take everybody's right to do so away "
        "(chmod a-w, the folder and what is in it)",
        str(folder),
    )


def foreign(folder: Path, pid: int) -> RuntimeError:
    return RuntimeError(
        f"{folder}: opened by process {pid}, and this is process {os.getpid()}, forked from it; "
        "open the collection again in this process"
    )
