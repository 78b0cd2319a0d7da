"""How many documents there were, hour by hour: the collection does not keep times, so the service
notes the count while it runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from neardup.collection import CollectionError
from neardup.service.notes import Notes, NotesError
from neardup.service.state import Service

log = logging.getLogger("neardup.service")

HOUR, DAY = 3600, 86400
# Seconds between two looks.
EVERY = 60.0
# Hours that are shown one by one; beyond, days are.
MOST_HOURS = 72
MOST_PERIODS = 90


class Period(NamedTuple):
    """An hour or a day, by the second of its beginning, and the documents at its end."""

    start: int
    seconds: int
    documents: int


class Growth:
    """Counts by the hour. The last one of an hour stays."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._last: tuple[int, int] | None = None

    def note(self, documents: int, now: float | None = None) -> None:
        seen = int((time.time() if now is None else now) // HOUR), documents
        if seen == self._last:
            return
        with self._notes.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO growth VALUES (?, ?)", seen)
        self._last = seen

    def periods(self) -> list[Period]:
        """By hours, or by days if there are more than three; hours nobody counted are left out."""
        with self._notes.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT hour, documents FROM growth ORDER BY hour").fetchall()
        return periods_of(rows)


def periods_of(rows: Sequence[tuple[int, int]]) -> list[Period]:
    if not rows:
        return []
    if rows[-1][0] - rows[0][0] < MOST_HOURS:
        return [Period(hour * HOUR, HOUR, documents) for hour, documents in rows]
    days = {hour * HOUR // DAY: documents for hour, documents in rows}
    found = [Period(day * DAY, DAY, documents) for day, documents in days.items()]
    return found[-MOST_PERIODS:]


def keep_counting(service: Service, growth: Growth) -> threading.Thread:
    """Counts now and then, in a thread of its own, until the service is closed."""

    def count() -> None:
        while True:
            try:
                growth.note(len(service.collection))
            except CollectionError:
                return
            except NotesError as error:
                log.warning("growth is not noted: %s", error)
                return
            if service.closing.wait(EVERY):
                return

    thread = threading.Thread(target=count, name="neardup-growth", daemon=True)
    thread.start()
    return thread
