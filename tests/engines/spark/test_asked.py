"""How the work is cut: every table in one round, and rounds no larger than asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines import spark as sp
from neardup.engines.spark import Limits
from neardup.engines.spark.asked import IN_MEMORY
from spark_cases import frame_of, sample


@given(st.integers(1, 60), st.integers(1, 10**6), st.integers(1, 10**7))
def test_tables_in_rounds(tables: int, each: int, most: int) -> None:
    rounds = Limits(moved_bytes=most).rounds(tables, each, in_memory=False)
    assert [table for some in rounds for table in some] == list(range(tables))
    assert all(len(some) == 1 or len(some) * each <= most + each for some in rounds)
    # Not more of them than it takes.
    assert len(rounds) == min(tables, max(1, -(-tables * each // most)))


def test_rounds_by_default() -> None:
    """Where a shuffle is on disks all keys are moved at once."""
    large = IN_MEMORY / 2
    assert Limits().rounds(22, large, in_memory=False) == [range(22)]
    assert len(Limits().rounds(22, large, in_memory=True)) == 11
    assert len(Limits().rounds(22, 1000, in_memory=True)) == 1


def test_pysail_moves_some_at_once(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = Limits.rounds

    def noted(self: Limits, *args: Any, in_memory: bool) -> list[range]:
        seen.append(in_memory)
        return real(self, *args, in_memory=in_memory)

    monkeypatch.setattr(Limits, "rounds", noted)
    sp.pairs(frame_of(spark, sample())).count()
    assert seen == [True]
