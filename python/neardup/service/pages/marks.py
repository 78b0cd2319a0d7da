"""Marks: pairs of documents that users judged to be the same or different.

Marks are stored in `notes.sqlite` in the folder of the collection, which works without it: the file
can be deleted or copied elsewhere. `Score` says how well a threshold agrees with the marks. The
routes set a mark and export all of them as CSV or JSON.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from neardup.service import answers
from neardup.service.auth import check_write
from neardup.service.pages import page_input, shell
from neardup.service.pages.page_input import PageError
from neardup.text.comparison import similarity
from neardup.text.fingerprint import distance, fingerprint

if TYPE_CHECKING:
    import sqlite3

    from starlette.requests import Request

    from neardup.service.state import Service

NOTES_NAME = "notes.sqlite"
# How long to wait for another process that writes.
BUSY_SECONDS = 5.0
# SQLite's application_id of the file: "nrdn".
APPLICATION_ID = 0x6E72646E

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
PRAGMA application_id = {APPLICATION_ID};
"""

Verdict = Literal["same", "different"]
VERDICTS = ("same", "different")
MARK_COLUMNS = ("left", "right", "verdict", "similarity", "distance", "time")
# Spreadsheets take a cell that begins so for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class NotesError(PageError):
    """The notes file can be neither read nor written."""

    def __init__(self, reason: str) -> None:
        super().__init__(503, "problem.notes")
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class NotesFile:
    """The SQLite file. It is created by the first write and opened for each transaction."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NOTES_NAME

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection for reading; None if the file does not exist."""
        if not self.path.exists():
            yield None
            return
        with self._open("ro") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction."""
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
                sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            ) as connection:
                yield connection
        except sqlite3.Error as error:
            raise NotesError(f"{self.path.name}: {error}") from error


class Mark(NamedTuple):
    """A pair in the order of its ids, with the similarity and distance it had when marked."""

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
    """The agreement of a threshold with the marks.

    `near` and `far` are pairs at or above the threshold and below it.
    """

    threshold: float
    near_same: int
    near_different: int
    far_same: int
    far_different: int

    @property
    def precision(self) -> float | None:
        """The share of near pairs that are marked as the same."""
        near = self.near_same + self.near_different
        return self.near_same / near if near else None

    @property
    def recall(self) -> float | None:
        """The share of pairs marked as the same that are near."""
        same = self.near_same + self.far_same
        return self.near_same / same if same else None

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "precision": self.precision, "recall": self.recall}


def score(marks: Iterable[Mark], threshold: float) -> Score:
    """Count the marks on both sides of a threshold."""
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


def ordered_pair(left: str, right: str) -> tuple[str, str]:
    """Return a pair of ids in the order in which marks are stored."""
    return (left, right) if left <= right else (right, left)


class Marks:
    """The marks of a collection. A mark is on disk when `put` or `remove` returns."""

    def __init__(self, notes: NotesFile) -> None:
        self._notes = notes

    def put(self, mark: Mark) -> None:
        """Store a mark; it replaces an older mark of the same pair."""
        if mark.verdict not in VERDICTS:
            raise ValueError(f"verdict is {mark.verdict!r}; it must be one of {VERDICTS}")
        if mark.left == mark.right:
            raise ValueError(f"a mark needs two documents; both ids are {mark.left!r}")
        first, second = ordered_pair(mark.left, mark.right)
        with self._notes.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?)",
                (first, second, *mark[2:]),
            )

    def remove(self, left: str, right: str) -> None:
        with self._notes.writing() as connection:
            connection.execute(
                "DELETE FROM marks WHERE first = ? AND second = ?", ordered_pair(left, right)
            )

    def all(self) -> list[Mark]:
        """Return all marks, the newest first."""
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
                "SELECT verdict FROM marks WHERE first = ? AND second = ?",
                ordered_pair(left, right),
            ).fetchone()
        return None if row is None else cast("Verdict", row[0])


def routes(service: Service, marks: Marks) -> list[BaseRoute]:
    @page_input.problem_page(service, "collection")
    async def mark(request: Request) -> Response:
        check_write(request.scope, service.settings)
        async with page_input.read_form(request, service) as form:
            left, right = (page_input.encoded_field(form, side) for side in ("left", "right"))
            verdict = page_input.form_field(form, "verdict")
            back = page_input.local_path(page_input.form_field(form, "back"))
        if verdict not in (*VERDICTS, "none") or left == right:
            raise PageError(422, "problem.no_mark")
        await service.run(_save_mark, service, marks, left, right, verdict)
        return page_input.redirect(request, back)

    @page_input.problem_page(service, "collection")
    async def export(request: Request) -> Response:
        rows = await service.run(marks.all)
        if shell.wants_json(request):
            response = shell.json_page({"marks": [row.as_dict() for row in rows]})
            name = "marks.json"
        else:
            response = Response(marks_csv(rows), media_type="text/csv; charset=utf-8")
            name = "marks.csv"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    return [
        Route("/collection/marks", mark, methods=["POST"], name="marks"),
        Route("/collection/marks.csv", export, name="marks.csv"),
        Route("/collection/marks.json", export, name="marks.json"),
    ]


def _save_mark(service: Service, marks: Marks, left: str, right: str, verdict: str) -> None:
    if verdict == "none":
        marks.remove(left, right)
        return
    text, other = (answers.document(service, id_).text for id_ in (left, right))
    if text is None or other is None:
        raise PageError(409, "problem.no_texts")
    recipe = service.collection.recipe
    codes = fingerprint(text, recipe), fingerprint(other, recipe)
    bits = None if codes[0] is None or codes[1] is None else distance(codes[0], codes[1])
    cosine = similarity(text, other, recipe)
    marks.put(Mark(left, right, cast("Verdict", verdict), cosine, bits, time.time()))


def marks_csv(marks: list[Mark]) -> str:
    """Return the marks as CSV for spreadsheets: with a byte order mark, and without formulas."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(MARK_COLUMNS)
    for mark in marks:
        row = mark.as_dict()
        writer.writerow([_csv_cell(row[name]) for name in MARK_COLUMNS])
    return "\ufeff" + output.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, str):
        # Lone surrogates cannot be encoded as UTF-8.
        text = value.encode(errors="replace").decode()
        return f"'{text}" if text.startswith(FORMULA_STARTS) else text
    return "" if value is None else value
