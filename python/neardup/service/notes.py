"""What people and the service note about a collection: a small SQLite file in its folder.

The collection itself does not know it: it can be deleted, and copied elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

FILE = "notes.sqlite"
# Seconds to wait for another process that writes.
PATIENCE = 5.0
# In the header of the file: "nrdn".
APPLICATION = 0x6E72646E

TABLES = f"""
CREATE TABLE IF NOT EXISTS marks (
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    verdict TEXT NOT NULL,
    similarity REAL NOT NULL,
    distance INTEGER,
    time REAL NOT NULL,
    PRIMARY KEY (first, second)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
"""


class NotesError(Exception):
    """Notes that can be neither read nor written, and why."""


class Notes:
    """The file. It is opened for each question, so that nothing has to be closed, and made when
    something is written for the first time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """None while nothing was ever noted."""
        if not self.path.exists():
            yield None
            return
        with self._open("ro") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written in here is stored, or nothing of it."""
        with self._open("rwc") as connection:
            connection.executescript(TABLES)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _open(self, mode: str) -> Iterator[sqlite3.Connection]:
        import sqlite3

        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(
                sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
            ) as connection:
                yield connection
        except sqlite3.Error as error:
            raise NotesError(f"{self.path.name}: {error}") from error
