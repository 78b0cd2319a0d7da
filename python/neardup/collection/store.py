"""The SQLite database of a collection: one row per document. Everything else is derived from it.

Keys are assigned in ascending order and never reused. An update deletes the old row and inserts one
with a new key, so the document of a key never changes: a reader that has loaded all documents up to
a key needs only the later ones and the list of removed keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from neardup.collection.connection import (
    BUSY_MILLISECONDS,
    LARGE_BATCH_ROWS,
    Durability,
    connect,
    enlarge_cache,
)
from neardup.collection.errors import (
    CollectionError,
    CorruptCollectionError,
    IdExistsError,
    corrupt,
    translate_sqlite_errors,
)
from neardup.collection.schema import (
    APPLICATION_ID,
    FORMAT,
    OLDEST_FORMAT,
    SCHEMA,
    UPGRADE,
    CollectionSettings,
    DocumentCounts,
    SegmentRow,
    StoredRow,
    row_checksum,
)

DATABASE = "collection.sqlite"
# Keys selected by one statement; fewer than MIN_KEYS_AT_ONCE are selected one by one.
KEYS_PER_STATEMENT, MIN_KEYS_AT_ONCE = 500, 8
# Rows inserted by one statement, after which readers get a turn. Their values must stay below
# 1,000, the limit of old SQLite versions.
ROWS_PER_STATEMENT = 128

COLUMNS_WITHOUT_TEXT = "key, id, fingerprint, checksum, metadata"
ALL_COLUMNS = f"{COLUMNS_WITHOUT_TEXT}, text"


# A data_version that SQLite never returns.
NEVER_REFRESHED = -1


class Store:
    """A connection to the database. Not thread-safe."""

    def __init__(
        self,
        folder: Path,
        name: str = DATABASE,
        *,
        read_only: bool = False,
        durability: Durability = "full",
    ) -> None:
        self.folder = folder
        self.path = folder / name
        # `data_version` at the last refresh of the indexes through this connection.
        self.refreshed_version = NEVER_REFRESHED
        # Called regularly during long reads and writes, so that other threads can run.
        self.yield_turn: Callable[[], None] = _no_op
        self._has_large_cache = False
        with translate_sqlite_errors(folder):
            self.connection = connect(self.path, read_only=read_only, durability=durability)
            self._execute = self.connection.execute

    def close(self) -> None:
        with translate_sqlite_errors(self.folder):
            self.connection.close()

    # ------------------------------------------------------------------------------------- database

    def check_version(self) -> None:
        """Raise if the database is not a collection, or has a format this version cannot read."""
        with translate_sqlite_errors(self.folder):
            (application,) = self._execute("PRAGMA application_id").fetchone()
            (version,) = self._execute("PRAGMA user_version").fetchone()
            (tables,) = self._execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            raise corrupt(self.folder, f"{self.path.name} is empty")
        if application != APPLICATION_ID:
            raise CollectionError(f"{self.path}: not the database of a neardup collection")
        if version > FORMAT:
            raise CollectionError(
                f"{self.folder}: written by a newer neardup (format {version}, this one reads "
                f"up to {FORMAT}); update neardup"
            )
        if version < OLDEST_FORMAT:
            raise CollectionError(
                f"{self.folder}: unknown format {version}; this neardup reads {OLDEST_FORMAT} to "
                f"{FORMAT}"
            )

    def format(self) -> int:
        found: int = self._execute("PRAGMA user_version").fetchone()[0]
        return found

    def upgrade(self) -> None:
        """Upgrade the tables to the current format, in one transaction."""
        with translate_sqlite_errors(self.folder):
            if self.format() == FORMAT:
                return
            with self.transaction():
                for statement in UPGRADE:
                    self._execute(statement)
                self._execute(f"PRAGMA user_version = {FORMAT}")

    def create(self, settings: CollectionSettings) -> None:
        """Create the tables, in one transaction."""
        value = json.dumps(settings.as_dict(), ensure_ascii=False)
        with self.transaction():
            for statement in filter(str.strip, SCHEMA.split(";")):
                self._execute(statement)
            self._execute("INSERT INTO settings VALUES (?, ?)", (value, crc32(value.encode())))
            empty = DocumentCounts()
            self._execute(
                "INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?)", (*empty, _counts_checksum(empty))
            )
            self._execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._execute(f"PRAGMA user_version = {FORMAT}")

    def settings(self) -> CollectionSettings:
        with translate_sqlite_errors(self.folder):
            found = self._execute("SELECT value, checksum FROM settings").fetchall()
        if len(found) != 1 or crc32(found[0][0].encode()) != found[0][1]:
            raise corrupt(self.folder, "the checksum of the settings does not match")
        return CollectionSettings(**json.loads(found[0][0]))

    def set_settings(self, settings: CollectionSettings) -> None:
        value = json.dumps(settings.as_dict(), ensure_ascii=False)
        with self.transaction():
            self._execute(
                "UPDATE settings SET value = ?, checksum = ?", (value, crc32(value.encode()))
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin a write transaction; commit it at the end, or roll it back on an error."""
        with translate_sqlite_errors(self.folder):
            self._execute("BEGIN IMMEDIATE")
            try:
                yield
                self._execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self._execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Begin a read transaction, in which the database does not change; nested calls join it."""
        with translate_sqlite_errors(self.folder):
            if self.connection.in_transaction:
                yield
                return
            self._execute("BEGIN")
            try:
                yield
            finally:
                if self.connection.in_transaction:
                    self._execute("COMMIT")

    def restart_snapshot(self) -> None:
        """Restart the read transaction, to see the newest commits."""
        self._execute("COMMIT")
        self._execute("BEGIN")

    def data_version(self) -> int:
        """Return a number that changes whenever another connection commits."""
        found: int = self._execute("PRAGMA data_version").fetchone()[0]
        return found

    def counts(self) -> DocumentCounts:
        found = self._execute("SELECT * FROM counts").fetchall()
        counts = DocumentCounts(*found[0][:-1]) if len(found) == 1 else None
        if counts is None or _counts_checksum(counts) != found[0][-1]:
            raise corrupt(self.folder, "the checksum of the counts does not match")
        return counts

    def set_counts(self, counts: DocumentCounts) -> None:
        self._execute(
            "UPDATE counts SET documents = ?, without_signal = ?, next_key = ?, next_removal = ?, "
            "generation = ?, checksum = ?",
            (*counts, _counts_checksum(counts)),
        )

    def vacuum(self) -> None:
        """Free unused pages and empty the log."""
        with translate_sqlite_errors(self.folder):
            self._execute("VACUUM")
            # Do not wait for active readers: the log can be emptied later.
            self._execute("PRAGMA busy_timeout = 0")
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")

    def problems(self) -> list[str]:
        """Return what SQLite's integrity check finds."""
        with translate_sqlite_errors(self.folder):
            found = [row[0] for row in self._execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    # ------------------------------------------------------------------------------------ documents

    def insert(
        self,
        columns: Sequence[list[Any]],
        digests: Sequence[tuple[int, bytes]],
        sketches: bytes | None,
    ) -> None:
        """Insert rows with consecutive keys; raise IdExistsError if an id or key exists.

        columns   values by column, in the order of ALL_COLUMNS
        digests   keys and digests of texts without a signal
        sketches  of all rows, concatenated; None if texts are not stored
        """
        import sqlite3

        count, width = len(columns[0]), len(columns)
        if count > LARGE_BATCH_ROWS and not self._has_large_cache:
            enlarge_cache(self.connection)
            self._has_large_cache = True
        values = [None] * (count * width)
        for at, column in enumerate(columns):
            values[at::width] = column
        try:
            for start in range(0, count, ROWS_PER_STATEMENT):
                batch = values[start * width : (start + ROWS_PER_STATEMENT) * width]
                self._execute(_insert_statement(len(batch) // width), batch)
                self.yield_turn()
        except sqlite3.IntegrityError as error:
            raise IdExistsError from error
        if digests:
            self.connection.executemany(
                "INSERT INTO digests VALUES (?, ?, ?)",
                [(key, digest, crc32(digest, key)) for key, digest in digests],
            )
        if sketches is not None:
            first = columns[0][0]
            self._execute(
                "INSERT INTO sketches VALUES (?, ?, ?)", (first, sketches, crc32(sketches, first))
            )

    def delete(self, rows: Sequence[StoredRow], next_removal: int) -> None:
        """Delete rows and list their keys as removed, with numbers from `next_removal` on."""
        many = self.connection.executemany
        keys = [row.key for row in rows]
        many("DELETE FROM documents WHERE key = ?", [(key,) for key in keys])
        without = [(row.key,) for row in rows if row.fingerprint is None]
        many("DELETE FROM digests WHERE key = ?", without)
        many("INSERT INTO removed VALUES (?, ?)", enumerate(keys, next_removal))

    def by_id(self, id_: str, *, with_text: bool = False) -> StoredRow | None:
        found = self._execute(
            f"SELECT {_columns(with_text=with_text)} FROM documents WHERE id = ?",  # noqa: S608
            (id_,),
        ).fetchone()
        return None if found is None else self._check_row(found)

    def check_absent(self, id_: str) -> None:
        """Raise if damage may have hidden an id that was not found. SQLite does not notice all
        damage to its index of ids, so this checks the neighbours of the id."""
        for which in ("id > ? ORDER BY id", "id < ? ORDER BY id DESC"):
            found = self._execute(
                f"SELECT id, key FROM documents WHERE {which} LIMIT 1",  # noqa: S608
                (id_,),
            ).fetchone()
            if found is not None and self.by_keys([found[1]])[found[1]].id != found[0]:
                raise corrupt(self.folder, f"the index of ids is wrong near {id_!r}")

    def by_ids(self, ids: Iterable[str]) -> dict[str, StoredRow]:
        """Return the rows of the ids that exist, without texts."""
        rows = (self.by_id(id_) for id_ in ids)
        return {row.id: row for row in rows if row is not None}

    def by_keys(self, keys: Sequence[int], *, with_text: bool = False) -> dict[int, StoredRow]:
        """Return the rows of these keys; raise CorruptCollectionError if one is missing."""
        rows = {
            found[0]: self._check_row(found) for found in self._select(keys, with_text=with_text)
        }
        self._check_all(keys, rows)
        return rows

    def ids(self, keys: Sequence[int]) -> dict[int, str]:
        """Return the ids of these keys, as `by_keys` does but faster: it is called for every
        match."""
        ids: dict[int, str] = {}
        for key, id_, fingerprint, checksum, metadata in self._select(keys, with_text=False):
            if fingerprint is None or metadata is not None or type(id_) is not str:
                id_ = self._check_row((key, id_, fingerprint, checksum, metadata)).id
            elif crc32(id_.encode() + fingerprint, key) != checksum & 0xFFFFFFFF:
                raise self._corrupt_row(key)
            ids[key] = id_
        self._check_all(keys, ids)
        return ids

    def _select(self, keys: Sequence[int], *, with_text: bool) -> Iterator[tuple[Any, ...]]:
        columns = _columns(with_text=with_text)
        if len(keys) < MIN_KEYS_AT_ONCE:
            statement = f"SELECT {columns} FROM documents WHERE key = ?"  # noqa: S608
            for key in keys:
                yield from self._execute(statement, (key,))
            return
        places = ", ".join("?" * KEYS_PER_STATEMENT)
        statement = f"SELECT {columns} FROM documents WHERE key IN ({places})"  # noqa: S608
        for start in range(0, len(keys), KEYS_PER_STATEMENT):
            batch = [*keys[start : start + KEYS_PER_STATEMENT]]
            # Padded to the same number of parameters, so that the statement is compiled once.
            batch += [-1] * (KEYS_PER_STATEMENT - len(batch))
            yield from self._execute(statement, batch)

    def _check_all(self, keys: Sequence[int], found: Mapping[int, object]) -> None:
        if len(found) != len(keys):
            missing = next(key for key in keys if key not in found)
            raise corrupt(self.folder, f"the document with key {missing} is missing")

    def by_digest(self, digest: bytes, limit: int | None = None) -> list[StoredRow]:
        """Return the first `limit` documents without a signal whose text has this digest."""
        found = self._execute(
            "SELECT key, digest, checksum FROM digests WHERE digest = ? ORDER BY key LIMIT ?",
            (digest, -1 if limit is None else limit),
        ).fetchall()
        for key, stored, checksum in found:
            if crc32(stored, key) != checksum:
                raise corrupt(
                    self.folder, f"the checksum of the digest with key {key} does not match"
                )
        rows = self.by_keys([key for key, _, _ in found])
        return [rows[key] for key, _, _ in found]

    def digests(self) -> Iterator[tuple[int, bytes, int]]:
        """Yield key, digest and checksum of all digests."""
        return iter(self._execute("SELECT key, digest, checksum FROM digests"))

    def scan(
        self,
        first: int,
        last: int,
        limit: int = -1,
        *,
        with_text: bool = True,
        newest: bool = False,
    ) -> Iterator[StoredRow]:
        """Yield the rows with keys from `first` to `last`, in ascending order; with `newest`, in
        descending order. A negative limit means all."""
        found = self._execute(
            f"SELECT {_columns(with_text=with_text)} FROM documents "  # noqa: S608
            f"WHERE key BETWEEN ? AND ? ORDER BY key{' DESC' if newest else ''} LIMIT ?",
            (first, last, limit),
        )
        return map(self._check_row, found)

    def keys(self, last: int) -> Iterator[int]:
        """Yield all keys up to `last`, in no particular order."""
        found = self._execute("SELECT key FROM documents WHERE key <= ?", (last,))
        return (row[0] for row in found)

    def fingerprints(
        self, first: int, last: int, batch_rows: int
    ) -> Iterator[tuple[list[int], bytes]]:
        """Yield batches of keys with a fingerprint, and their fingerprints concatenated. Checks
        rows without `_check_row` where possible, because opening a collection waits for this."""
        found = self._execute(
            f"SELECT {COLUMNS_WITHOUT_TEXT} FROM documents WHERE key BETWEEN ? AND ? ORDER BY key",  # noqa: S608
            (first, last),
        )
        while rows := found.fetchmany(batch_rows):
            keys: list[int] = []
            codes: list[bytes] = []
            for key, id_, code, checksum, metadata in rows:
                if type(id_) is not str or type(code) is not bytes or metadata is not None:
                    self._check_row((key, id_, code, checksum, metadata))
                elif crc32(id_.encode() + code, key) != checksum & 0xFFFFFFFF:
                    raise self._corrupt_row(key)
                if code is not None:
                    keys.append(key)
                    codes.append(code)
            self.yield_turn()
            yield keys, b"".join(codes)

    def _check_row(self, found: tuple[Any, ...]) -> StoredRow:
        """Return a selected row; raise CorruptCollectionError if a checksum does not match."""
        row = StoredRow(*found)
        try:
            checksum = row_checksum(row.key, row.id.encode(), row.fingerprint, row.metadata)
            matches = checksum == row.checksum & 0xFFFFFFFF
            if matches and row.text is not None:
                data = row.text.encode() if isinstance(row.text, str) else row.text
                matches = row.checksum >> 32 == crc32(data) & 0x7FFFFFFF
        except (AttributeError, TypeError, ValueError):
            matches = False
        if not matches:
            raise self._corrupt_row(row.key)
        return row

    def _corrupt_row(self, key: int) -> CorruptCollectionError:
        return corrupt(self.folder, f"the checksum of the row with key {key} does not match")

    # --------------------------------------------------------------------------------- derived data

    def removed(self, since: int) -> list[int]:
        """Return the removed keys with this number or a higher one."""
        rows = self._execute("SELECT key FROM removed WHERE number >= ? ORDER BY number", (since,))
        return [row[0] for row in rows]

    def segments(self) -> list[SegmentRow]:
        rows = self._execute("SELECT * FROM segments ORDER BY first")
        return [SegmentRow(*row) for row in rows]

    def sketches(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Yield stored sketches that overlap a range of keys, in blocks: the first key of
        consecutive keys, and their sketches concatenated. Damaged blocks are left out."""
        if self.format() < FORMAT:
            return
        # The last block that begins before the range may reach into it.
        found = self._execute(
            "SELECT first, rows, checksum FROM sketches WHERE first <= ? AND first >= "
            "coalesce((SELECT max(first) FROM sketches WHERE first <= ?), 0) ORDER BY first",
            (last, first),
        )
        for start, rows, checksum in found:
            # Callers rebuild damaged sketches from the texts.
            if type(rows) is bytes and crc32(rows, start) == checksum:
                yield start, rows

    def set_segments(
        self, unmerged: Sequence[SegmentRow], new: SegmentRow, counts: DocumentCounts
    ) -> None:
        """Record a new segment, keep the unmerged ones, and delete all others. Removals and
        sketches that the new segment includes are deleted too."""
        numbers = [row.number for row in unmerged]
        places = ", ".join("?" * len(numbers))
        with self.transaction():
            self._execute(
                f"DELETE FROM segments WHERE number NOT IN ({places})",  # noqa: S608
                numbers,
            )
            self._execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)
            self._execute("DELETE FROM removed WHERE key BETWEEN ? AND ?", (new.first, new.last))
            self._execute("DELETE FROM sketches WHERE first <= ?", (new.last,))
            self.set_counts(counts)


def _columns(*, with_text: bool) -> str:
    return ALL_COLUMNS if with_text else COLUMNS_WITHOUT_TEXT


def _no_op() -> None:
    """Do nothing: the default of `Store.yield_turn`."""


@lru_cache(maxsize=ROWS_PER_STATEMENT)
def _insert_statement(rows: int) -> str:
    """Return the statement that inserts this many rows, which takes two thirds of the time of one
    statement for each row."""
    values = ", ".join(["(?, ?, ?, ?, ?, ?)"] * rows)
    return f"INSERT INTO documents ({ALL_COLUMNS}) VALUES {values}"  # noqa: S608


def _counts_checksum(counts: DocumentCounts) -> int:
    return crc32(repr(tuple(counts)).encode())
