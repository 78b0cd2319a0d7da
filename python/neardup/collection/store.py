"""The truth of a collection: an SQLite file in WAL mode, a row a document.

A key is given once. A document that is updated gets a new one, so that a key always means the same
fingerprint, and whoever knows all documents up to a key needs only those after it, and which keys
were removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from neardup.collection.connection import BUSY_TIMEOUT, MANY, Durability, connect, widen
from neardup.collection.errors import (
    CollectionError,
    CorruptCollectionError,
    KnownIdError,
    corrupt,
    translate_sqlite_errors,
)
from neardup.collection.schema import (
    APPLICATION,
    FORMAT,
    OLDEST,
    SCHEMA,
    UPGRADE,
    CollectionSettings,
    DocumentCounts,
    SegmentRow,
    StoredRow,
    checksum,
)

DATABASE = "collection.sqlite"
# Keys asked for in one statement, and how many are asked for one by one.
ASKED, FEW = 500, 8
# Rows written by one statement, after which others get a turn. Fewer than 1,000 values are within
# the limit of every SQLite.
AT_ONCE = 128

SHORT = "key, id, fingerprint, checksum, metadata"
WHOLE = f"{SHORT}, text"


# A version that the store never has.
UNSEEN = -1


class Store:
    """An open SQLite file. Only one thread may use it at a time; callers make sure of that."""

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
        # What `data_version` said when all that it stands for was last taken in.
        self.seen = UNSEEN
        # Called now and then while much is read or written.
        self.breathe: Callable[[], None] = _go_on
        self._is_wide = False
        with translate_sqlite_errors(folder):
            self.connection = connect(self.path, read_only=read_only, durability=durability)
            self._execute = self.connection.execute

    def close(self) -> None:
        with translate_sqlite_errors(self.folder):
            self.connection.close()

    # ------------------------------------------------------------------------------------- the file

    def check_version(self) -> None:
        """Refuses what is no collection, or one of a format that cannot be read."""
        with translate_sqlite_errors(self.folder):
            (application,) = self._execute("PRAGMA application_id").fetchone()
            (version,) = self._execute("PRAGMA user_version").fetchone()
            (tables,) = self._execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            raise corrupt(self.folder, f"{self.path.name} is empty")
        if application != APPLICATION:
            raise CollectionError(f"{self.path}: not the database of a neardup collection")
        if version > FORMAT:
            raise CollectionError(
                f"{self.folder}: written by a newer neardup (format {version}, this one reads "
                f"up to {FORMAT}); update neardup"
            )
        if version < OLDEST:
            raise CollectionError(
                f"{self.folder}: of format {version}, which no neardup has written; this one "
                f"reads {OLDEST} to {FORMAT}"
            )

    def format(self) -> int:
        found: int = self._execute("PRAGMA user_version").fetchone()[0]
        return found

    def upgrade(self) -> None:
        """Makes the tables those of today, all at once."""
        with translate_sqlite_errors(self.folder):
            if self.format() == FORMAT:
                return
            with self.transaction():
                for statement in UPGRADE:
                    self._execute(statement)
                self._execute(f"PRAGMA user_version = {FORMAT}")

    def create(self, settings: CollectionSettings) -> None:
        """Makes the tables, all at once."""
        value = json.dumps(settings.as_dict(), ensure_ascii=False)
        with self.transaction():
            for statement in filter(str.strip, SCHEMA.split(";")):
                self._execute(statement)
            self._execute("INSERT INTO settings VALUES (?, ?)", (value, crc32(value.encode())))
            empty = DocumentCounts()
            self._execute("INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?)", (*empty, _sum(empty)))
            self._execute(f"PRAGMA application_id = {APPLICATION}")
            self._execute(f"PRAGMA user_version = {FORMAT}")

    def settings(self) -> CollectionSettings:
        with translate_sqlite_errors(self.folder):
            found = self._execute("SELECT value, checksum FROM settings").fetchall()
        if len(found) != 1 or crc32(found[0][0].encode()) != found[0][1]:
            raise corrupt(self.folder, "the settings are not what was written")
        return CollectionSettings(**json.loads(found[0][0]))

    def set_settings(self, settings: CollectionSettings) -> None:
        value = json.dumps(settings.as_dict(), ensure_ascii=False)
        with self.transaction():
            self._execute(
                "UPDATE settings SET value = ?, checksum = ?", (value, crc32(value.encode()))
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written in here is stored, or nothing of it."""
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
        """Everything read in here is of one moment."""
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

    def renew(self) -> None:
        """The snapshot becomes one of this moment."""
        self._execute("COMMIT")
        self._execute("BEGIN")

    def data_version(self) -> int:
        """A number that changes whenever another connection has written something."""
        found: int = self._execute("PRAGMA data_version").fetchone()[0]
        return found

    def counts(self) -> DocumentCounts:
        found = self._execute("SELECT * FROM counts").fetchall()
        counts = DocumentCounts(*found[0][:-1]) if len(found) == 1 else None
        if counts is None or _sum(counts) != found[0][-1]:
            raise corrupt(self.folder, "the counts are not what was written")
        return counts

    def set_counts(self, counts: DocumentCounts) -> None:
        self._execute(
            "UPDATE counts SET documents = ?, without_signal = ?, next_key = ?, next_removal = ?, "
            "generation = ?, checksum = ?",
            (*counts, _sum(counts)),
        )

    def vacuum(self) -> None:
        """Gives free pages back, and empties the log."""
        with translate_sqlite_errors(self.folder):
            self._execute("VACUUM")
            # A reader in the middle of something is not waited for: it can be done later.
            self._execute("PRAGMA busy_timeout = 0")
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")

    def problems(self) -> list[str]:
        """What SQLite itself finds wrong."""
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
        """Adds rows, given by columns, whose keys follow each other, and their sketches, one after
        the other, where there are any; digests are those of texts without a signal, by key."""
        import sqlite3

        count, width = len(columns[0]), len(columns)
        if count > MANY and not self._is_wide:
            widen(self.connection)
            self._is_wide = True
        values = [None] * (count * width)
        for at, column in enumerate(columns):
            values[at::width] = column
        try:
            for start in range(0, count, AT_ONCE):
                part = values[start * width : (start + AT_ONCE) * width]
                self._execute(_inserting(len(part) // width), part)
                self.breathe()
        except sqlite3.IntegrityError as error:
            raise KnownIdError from error
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
        """Takes rows out and notes that they are gone."""
        many = self.connection.executemany
        keys = [row.key for row in rows]
        many("DELETE FROM documents WHERE key = ?", [(key,) for key in keys])
        without = [(row.key,) for row in rows if row.fingerprint is None]
        many("DELETE FROM digests WHERE key = ?", without)
        many("INSERT INTO removed VALUES (?, ?)", enumerate(keys, next_removal))

    def by_id(self, id_: str, *, whole: bool = False) -> StoredRow | None:
        found = self._execute(
            f"SELECT {WHOLE if whole else SHORT} FROM documents WHERE id = ?",  # noqa: S608
            (id_,),
        ).fetchone()
        return None if found is None else self._checked(found)

    def check_absent(self, id_: str) -> None:
        """Raises if an id may have been missed. SQLite does not notice all damage to its index
        of ids, so the neighbours of an id that was not found are checked."""
        for which in ("id > ? ORDER BY id", "id < ? ORDER BY id DESC"):
            found = self._execute(
                f"SELECT id, key FROM documents WHERE {which} LIMIT 1",  # noqa: S608
                (id_,),
            ).fetchone()
            if found is not None and self.by_keys([found[1]])[found[1]].id != found[0]:
                raise corrupt(self.folder, f"the order of ids near {id_!r} is not what was written")

    def by_ids(self, ids: Iterable[str]) -> dict[str, StoredRow]:
        rows = (self.by_id(id_) for id_ in ids)
        return {row.id: row for row in rows if row is not None}

    def by_keys(self, keys: Sequence[int], *, whole: bool = False) -> dict[int, StoredRow]:
        """The rows of keys that are known to be there."""
        rows = {found[0]: self._checked(found) for found in self._found(keys, whole=whole)}
        self._check_all(keys, rows)
        return rows

    def ids(self, keys: Sequence[int]) -> dict[int, str]:
        """Only the ids of the same: it is asked for every match."""
        ids: dict[int, str] = {}
        for key, id_, fingerprint, sum_, metadata in self._found(keys, whole=False):
            if fingerprint is None or metadata is not None or type(id_) is not str:
                id_ = self._checked((key, id_, fingerprint, sum_, metadata)).id
            elif crc32(id_.encode() + fingerprint, key) != sum_ & 0xFFFFFFFF:
                raise self._wrong(key)
            ids[key] = id_
        self._check_all(keys, ids)
        return ids

    def _found(self, keys: Sequence[int], *, whole: bool) -> Iterator[tuple[Any, ...]]:
        columns = WHOLE if whole else SHORT
        if len(keys) < FEW:
            statement = f"SELECT {columns} FROM documents WHERE key = ?"  # noqa: S608
            for key in keys:
                yield from self._execute(statement, (key,))
            return
        places = ", ".join("?" * ASKED)
        statement = f"SELECT {columns} FROM documents WHERE key IN ({places})"  # noqa: S608
        for start in range(0, len(keys), ASKED):
            part = [*keys[start : start + ASKED]]
            # Always as many, so that the statement is made ready once.
            part += [-1] * (ASKED - len(part))
            yield from self._execute(statement, part)

    def _check_all(self, keys: Sequence[int], found: Mapping[int, object]) -> None:
        if len(found) != len(keys):
            missing = next(key for key in keys if key not in found)
            raise corrupt(self.folder, f"the document with the key {missing} cannot be found")

    def by_digest(self, digest: bytes, most: int | None = None) -> list[StoredRow]:
        """Documents without a signal whose texts are equal, in order; the first `most` of them."""
        found = self._execute(
            "SELECT key, digest, checksum FROM digests WHERE digest = ? ORDER BY key LIMIT ?",
            (digest, -1 if most is None else most),
        ).fetchall()
        for key, stored, sum_ in found:
            if crc32(stored, key) != sum_:
                raise corrupt(self.folder, f"the digest with the key {key} is not what was written")
        rows = self.by_keys([key for key, _, _ in found])
        return [rows[key] for key, _, _ in found]

    def digests(self) -> Iterator[tuple[int, bytes, int]]:
        """All of them: key, digest, checksum."""
        return iter(self._execute("SELECT key, digest, checksum FROM digests"))

    def scan(
        self, first: int, last: int, most: int = -1, *, whole: bool = True, newest: bool = False
    ) -> Iterator[StoredRow]:
        """Rows with keys in this range, in order, or the newest first."""
        found = self._execute(
            f"SELECT {WHOLE if whole else SHORT} FROM documents "  # noqa: S608
            f"WHERE key BETWEEN ? AND ? ORDER BY key{' DESC' if newest else ''} LIMIT ?",
            (first, last, most),
        )
        return map(self._checked, found)

    def keys(self, last: int) -> Iterator[int]:
        """All keys up to this one, in no order."""
        found = self._execute("SELECT key FROM documents WHERE key <= ?", (last,))
        return (row[0] for row in found)

    def fingerprints(self, first: int, last: int, most: int) -> Iterator[tuple[list[int], bytes]]:
        """Keys in this range that have one, and their fingerprints one after the other; of `most`
        rows at a time. This is what opening waits for."""
        found = self._execute(
            f"SELECT {SHORT} FROM documents WHERE key BETWEEN ? AND ? ORDER BY key",  # noqa: S608
            (first, last),
        )
        while rows := found.fetchmany(most):
            keys: list[int] = []
            codes: list[bytes] = []
            for key, id_, code, sum_, metadata in rows:
                if type(id_) is not str or type(code) is not bytes or metadata is not None:
                    self._checked((key, id_, code, sum_, metadata))
                elif crc32(id_.encode() + code, key) != sum_ & 0xFFFFFFFF:
                    raise self._wrong(key)
                if code is not None:
                    keys.append(key)
                    codes.append(code)
            self.breathe()
            yield keys, b"".join(codes)

    def _checked(self, found: tuple[Any, ...]) -> StoredRow:
        row = StoredRow(*found)
        try:
            sum_ = checksum(row.key, row.id.encode(), row.fingerprint, row.metadata)
            sound = sum_ == row.checksum & 0xFFFFFFFF
            if sound and row.text is not None:
                data = row.text.encode() if isinstance(row.text, str) else row.text
                sound = row.checksum >> 32 == crc32(data) & 0x7FFFFFFF
        except (AttributeError, TypeError, ValueError):
            sound = False
        if not sound:
            raise self._wrong(row.key)
        return row

    def _wrong(self, key: int) -> CorruptCollectionError:
        return corrupt(self.folder, f"the row with the key {key} is not what was written")

    # ----------------------------------------------------------------------------- what was derived

    def removed(self, since: int) -> list[int]:
        """Keys that were removed, from this number of removal on."""
        rows = self._execute("SELECT key FROM removed WHERE number >= ? ORDER BY number", (since,))
        return [row[0] for row in rows]

    def segments(self) -> list[SegmentRow]:
        rows = self._execute("SELECT * FROM segments ORDER BY first")
        return [SegmentRow(*row) for row in rows]

    def sketches(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Sketches of keys in this range, as far as they are there: the first key of some that
        follow each other, and their rows."""
        if self.format() < FORMAT:
            return
        # Those before may reach into the range.
        found = self._execute(
            "SELECT first, rows, checksum FROM sketches WHERE first <= ? AND first >= "
            "coalesce((SELECT max(first) FROM sketches WHERE first <= ?), 0) ORDER BY first",
            (last, first),
        )
        for start, rows, sum_ in found:
            # What is damaged is made from the texts.
            if type(rows) is bytes and crc32(rows, start) == sum_:
                yield start, rows

    def set_segments(
        self, kept: Sequence[SegmentRow], made: SegmentRow, counts: DocumentCounts
    ) -> None:
        """Replaces the list of segments: those given, and a new one without the rows removed
        before."""
        numbers = [row.number for row in kept]
        places = ", ".join("?" * len(numbers))
        with self.transaction():
            self._execute(
                f"DELETE FROM segments WHERE number NOT IN ({places})",  # noqa: S608
                numbers,
            )
            self._execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", made)
            self._execute("DELETE FROM removed WHERE key BETWEEN ? AND ?", (made.first, made.last))
            self._execute("DELETE FROM sketches WHERE first <= ?", (made.last,))
            self.set_counts(counts)


def _go_on() -> None:
    """What `breathe` does unless a session says otherwise: nothing."""


@lru_cache(maxsize=AT_ONCE)
def _inserting(rows: int) -> str:
    """A statement that adds so many. One for many rows takes two thirds of the time of one for
    each, and a reader waits once."""
    values = ", ".join(["(?, ?, ?, ?, ?, ?)"] * rows)
    return f"INSERT INTO documents ({WHOLE}) VALUES {values}"  # noqa: S608


def _sum(counts: DocumentCounts) -> int:
    return crc32(repr(tuple(counts)).encode())
