"""Connections to the SQLite database of a collection, to read or to write."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from neardup.collection.errors import write_access_needed

if TYPE_CHECKING:
    import sqlite3

Durability = Literal["full", "normal"]

# How long SQLite waits for a lock.
BUSY_MILLISECONDS = 10_000
# A longer write-ahead log is cut to this size after a checkpoint.
WAL_BYTES = 64 << 20
WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
# Ids come in any order, so each row of a large batch touches another page of the index of ids; the
# cache should hold these pages until the commit. For small batches and for readers, of which there
# may be many, the file cache of the system is enough.
LARGE_BATCH_ROWS, LARGE_BATCH_CACHE_KILOBYTES = 2000, 16 << 10
CACHE_KILOBYTES, READER_CACHE_KILOBYTES = 4 << 10, 2 << 10


def connect(path: Path, *, read_only: bool, durability: Durability) -> sqlite3.Connection:
    """Open the database. To read only, it may be in a folder that nobody can write to."""
    connection = _connect_to_read(path) if read_only else _connect_to_write(path)
    connection.execute(f"PRAGMA synchronous = {durability}")
    if durability == "full":
        # On macOS fsync does not flush the disk's own cache.
        connection.execute("PRAGMA fullfsync = ON")
    # Damaged pages raise an error before their cells are read.
    connection.execute("PRAGMA cell_size_check = ON")
    cache = READER_CACHE_KILOBYTES if read_only else CACHE_KILOBYTES
    connection.execute(f"PRAGMA cache_size = {-cache}")
    return connection


def enlarge_cache(connection: sqlite3.Connection) -> None:
    """Enlarge the page cache for a large batch."""
    connection.execute(f"PRAGMA cache_size = {-LARGE_BATCH_CACHE_KILOBYTES}")


def _connect(path: Path, options: str) -> sqlite3.Connection:
    import sqlite3

    settings: dict[str, Any] = {
        "uri": True,
        "isolation_level": None,
        "check_same_thread": False,
        "timeout": BUSY_MILLISECONDS / 1000,
    }
    name = f"file:{quote(str(path.absolute()))}?{options}"
    connection: sqlite3.Connection = sqlite3.connect(name, **settings)
    return connection


def _connect_to_write(path: Path) -> sqlite3.Connection:
    import sqlite3

    connection = _connect(path, "mode=rwc")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    import sqlite3

    connection = _connect(path, "mode=ro")
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        wal = Path(f"{path}-wal")
        if not _is_frozen(path) or (wal.exists() and wal.stat().st_size):
            kind = error.sqlite_errorcode & 0xFF
            needs = kind in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if needs and os.access(path, os.R_OK) and not os.access(path.parent, os.W_OK):
                raise write_access_needed(path.parent) from error
            raise
        # Nobody can write here, so the file cannot change and SQLite needs no write-ahead log.
        connection = _connect(path, "mode=ro&immutable=1")
    return connection


def _is_frozen(path: Path) -> bool:
    """Return whether no user may write to the database."""
    if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        return True
    return not any(place.stat().st_mode & WRITABLE for place in (path.parent, path))
