"""How the database of a collection is opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from neardup.collection.errors import unwritable

if TYPE_CHECKING:
    import sqlite3

Durability = Literal["full", "normal"]

# Milliseconds to wait while another process tidies up.
BUSY_TIMEOUT = 10_000
WAL_BYTES = 64 << 20
WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
# Ids come in any order, and each has its place among all of them: a batch of many touches as many
# pages, which are to be in memory until it is stored. A few at a time need no more than the system
# keeps anyway; nor do those who only read, of which there may be many.
MANY, MANY_KILOBYTES = 2000, 16 << 10
CACHE_KILOBYTES, READER_KILOBYTES = 4 << 10, 2 << 10


def connect(path: Path, *, read_only: bool, durability: Durability) -> sqlite3.Connection:
    """Opens the database. A read-only one may be in a folder nobody can write to."""
    connection = _reading(path) if read_only else _writing(path)
    connection.execute(f"PRAGMA synchronous = {durability}")
    if durability == "full":
        # On macOS the disk is told to empty its own cache as well.
        connection.execute("PRAGMA fullfsync = ON")
    # Pages whose cells cannot be are told before they are read.
    connection.execute("PRAGMA cell_size_check = ON")
    cache = READER_KILOBYTES if read_only else CACHE_KILOBYTES
    connection.execute(f"PRAGMA cache_size = {-cache}")
    return connection


def widen(connection: sqlite3.Connection) -> None:
    """Makes room for a batch of many."""
    connection.execute(f"PRAGMA cache_size = {-MANY_KILOBYTES}")


def _opened(path: Path, options: str) -> sqlite3.Connection:
    import sqlite3

    settings: dict[str, Any] = {
        "uri": True,
        "isolation_level": None,
        "check_same_thread": False,
        "timeout": BUSY_TIMEOUT / 1000,
    }
    name = f"file:{quote(str(path.absolute()))}?{options}"
    connection: sqlite3.Connection = sqlite3.connect(name, **settings)
    return connection


def _writing(path: Path) -> sqlite3.Connection:
    import sqlite3

    connection = _opened(path, "mode=rwc")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _reading(path: Path) -> sqlite3.Connection:
    import sqlite3

    connection = _opened(path, "mode=ro")
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        log = Path(f"{path}-wal")
        if not _is_frozen(path) or (log.exists() and log.stat().st_size):
            kind = error.sqlite_errorcode & 0xFF
            needs = kind in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if needs and os.access(path, os.R_OK) and not os.access(path.parent, os.W_OK):
                raise unwritable(path.parent) from error
            raise
        # Nobody can write here, so nothing can change: SQLite need not write either.
        connection = _opened(path, "mode=ro&immutable=1")
    return connection


def _is_frozen(path: Path) -> bool:
    """Whether nobody may write to it, not even another user."""
    if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        return True
    return not any(place.stat().st_mode & WRITABLE for place in (path.parent, path))
