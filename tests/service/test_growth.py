"""Counts are noted by the hour, and shown by hours or by days."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx

from helpers.browser_session import eventually
from neardup.service.growth import DAY, HOUR, Growth, Period, periods_of
from neardup.service.notes import FILE, Notes

NOON = 1_700_000_000 // DAY * DAY + DAY // 2


def test_the_last_count_of_an_hour_stays(tmp_path: Path) -> None:
    growth = Growth(Notes(tmp_path))
    assert growth.periods() == []
    for seconds, documents in ((0, 5), (60, 7), (HOUR, 7), (HOUR + 5, 9), (HOUR + 9, 9)):
        growth.note(documents, NOON + seconds)
    assert growth.periods() == [Period(NOON, HOUR, 7), Period(NOON + HOUR, HOUR, 9)]
    # Another service goes on with it.
    Growth(Notes(tmp_path)).note(10, NOON + 2 * HOUR)
    assert [each.documents for each in growth.periods()] == [7, 9, 10]


def test_beyond_three_days_there_are_days() -> None:
    hour = NOON // HOUR
    rows = [(hour + at, at) for at in range(0, 24 * 10, 2)]
    found = periods_of(rows)
    assert {each.seconds for each in found} == {DAY}
    assert len(found) == 11
    assert found[-1].documents == rows[-1][1]
    assert all(each.start % DAY == 0 for each in found)
    assert len(periods_of([(hour + 24 * at, at) for at in range(400)])) == 90
    assert {each.seconds for each in periods_of(rows[:36])} == {HOUR}


def test_the_service_counts_by_itself(serve: Callable[..., str], tmp_path: Path) -> None:
    url = serve()

    def counted() -> bool:
        found = httpx.get(f"{url}/collection.json").json()["growth"]
        return bool(found) and found[-1]["documents"] == 41

    eventually(counted)
    assert list(tmp_path.glob(f"*/*.neardup/{FILE}"))


def test_a_service_that_only_reads_writes_no_notes(
    serve: Callable[..., str], tmp_path: Path
) -> None:
    url = serve(read_only=True)
    assert httpx.get(f"{url}/collection.json").json()["growth"] == []
    assert not list(tmp_path.glob(f"*/*.neardup/{FILE}"))
