"""What people and the service note about a collection: a small SQLite file in its folder.

The collection itself does not know it: it can be deleted, and copied elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

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
    """NotesFile that can be neither read nor written, and why."""


class NotesFile:
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


# Pairs of documents that people marked as the same or as different, and what they tell of a
# threshold.

Verdict = Literal["same", "different"]
VERDICTS = ("same", "different")
COLUMNS = ("left", "right", "verdict", "similarity", "distance", "time")


class Mark(NamedTuple):
    """A pair, in the order of its ids; similarity and distance are those of the texts as they were
    when it was marked."""

    left: str
    right: str
    verdict: Verdict
    similarity: float
    distance: int | None
    time: float

    def as_dict(self) -> dict[str, Any]:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.time))
        return {**self._asdict(), "time": moment}


class Score(NamedTuple):
    """How well a threshold agrees with marks: those it calls near, and those that are the same."""

    threshold: float
    near_same: int
    near_different: int
    far_same: int
    far_different: int

    @property
    def precision(self) -> float | None:
        """Of what the threshold calls near, the share that people call the same."""
        near = self.near_same + self.near_different
        return self.near_same / near if near else None

    @property
    def recall(self) -> float | None:
        """Of what people call the same, the share that the threshold calls near."""
        same = self.near_same + self.far_same
        return self.near_same / same if same else None

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "precision": self.precision, "recall": self.recall}


def score(marks: Iterable[Mark], threshold: float) -> Score:
    counts = {(near, verdict): 0 for near in (True, False) for verdict in VERDICTS}
    for mark in marks:
        counts[mark.similarity >= threshold, mark.verdict] += 1
    return Score(
        threshold,
        counts[True, "same"],
        counts[True, "different"],
        counts[False, "same"],
        counts[False, "different"],
    )


def ordered(left: str, right: str) -> tuple[str, str]:
    """A pair has no direction."""
    return (left, right) if left <= right else (right, left)


class Marks:
    """The marks of a collection. When a method that writes returns, they are on the disk."""

    def __init__(self, notes: NotesFile) -> None:
        self._notes = notes

    def put(self, mark: Mark) -> None:
        """A pair has one mark; the newest counts."""
        if mark.verdict not in VERDICTS:
            raise ValueError(f"verdict is {mark.verdict!r}; it must be one of {VERDICTS}")
        if mark.left == mark.right:
            raise ValueError("a document is always the same as itself; mark two of them")
        first, second = ordered(mark.left, mark.right)
        with self._notes.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?)",
                (first, second, *mark[2:]),
            )

    def remove(self, left: str, right: str) -> None:
        with self._notes.writing() as connection:
            connection.execute(
                "DELETE FROM marks WHERE first = ? AND second = ?", ordered(left, right)
            )

    def all(self) -> list[Mark]:
        """The newest first."""
        with self._notes.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT * FROM marks ORDER BY time DESC, first, second")
            return [Mark(*row) for row in rows]

    def get(self, left: str, right: str) -> Verdict | None:
        with self._notes.reading() as connection:
            if connection is None:
                return None
            row = connection.execute(
                "SELECT verdict FROM marks WHERE first = ? AND second = ?", ordered(left, right)
            ).fetchone()
        return None if row is None else cast("Verdict", row[0])
