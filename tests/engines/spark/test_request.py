"""Sizes of tasks and rounds: every table in one round, and no round larger than the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.spark_cases import frame_of, sample
from neardup import _core
from neardup.engines import spark as sp
from neardup.engines.spark import Limits, buckets
from neardup.engines.spark.arrow import binary_array, int64_array, make_batch
from neardup.engines.spark.buckets import HeavyKeys
from neardup.engines.spark.request import SHUFFLE_MEMORY_BYTES, SparkRequest
from neardup.engines.spark.rows import ALL, Rows
from neardup.near.question import check_question
from neardup.text.recipe import as_recipe

# Of the default question.
TABLES = len(_core.near_plan(0.85, 0.99)["tables"])


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60), st.integers(1, 10**7))
def test_tables_in_rounds(sizes: list[int], most: int) -> None:
    rounds = Limits(moved_bytes=most).rounds(sizes, in_memory=False)
    assert [table for some in rounds for table in some] == list(range(len(sizes)))
    moved = [sum(sizes[table] for table in some) for some in rounds]
    assert all(size <= most or len(some) == 1 for some, size in zip(rounds, moved, strict=True))
    # Not many more of them than it takes.
    assert len(rounds) <= 2 * -(-sum(sizes) // most) + 1


def test_tasks_have_no_more_bytes_than_the_limit() -> None:
    limits = Limits(task_bytes=10)
    assert [limits.tasks(count) for count in (0, 1, 10, 11, 20, 25.5)] == [1, 1, 1, 2, 2, 3]
    assert limits.tasks(10**9) == 100_000


def test_a_key_with_more_rows_than_the_limit_is_heavy() -> None:
    recipe = as_recipe(None)
    request = SparkRequest(recipe, check_question(None, None, None, bits=recipe.bits), "", "", ())
    registers = np.zeros((3, 48), dtype=np.uint8)
    batch = make_batch(
        {
            "row": int64_array(np.arange(3)),
            "side": int64_array(np.full(3, ALL)),
            "compared": binary_array(registers),
        }
    )
    for least, keys in ((2, TABLES), (3, 0)):
        records = buckets.KeyTask(request, 1)(iter([batch]))
        (counted,) = buckets.CountTask(request, least)(records)
        assert counted.num_rows == keys
        assert set(counted.column("rows").to_pylist()) <= {3}
        assert set(counted.column("alike").to_pylist()) <= {1}


def test_rounds_by_default() -> None:
    """Where a shuffle is on disks all keys are moved at once."""
    large = [SHUFFLE_MEMORY_BYTES / 2] * 22
    assert Limits().rounds(large, in_memory=False) == [range(22)]
    assert len(Limits().rounds(large, in_memory=True)) == 11
    assert len(Limits().rounds([1000] * 22, in_memory=True)) == 1
    even = [SHUFFLE_MEMORY_BYTES / 15] * 22
    assert Limits().rounds(even, in_memory=True) == [range(11), range(11, 22)]


def test_a_heavy_key_counts_in_its_own_table() -> None:
    recipe = as_recipe(None)
    asked = SparkRequest(recipe, check_question(None, None, None, bits=recipe.bits), "", "", ())
    rows = Rows(asked, False, None, None, 10, 10, 0)  # type: ignore[arg-type]
    heavy = HeavyKeys({5 << buckets.TABLE_BITS | 77: 3})
    sizes = buckets._table_bytes(rows, heavy, TABLES)
    assert sizes[5] == (10 + 9 * asked.limits.bucket_rows) * 69
    assert {*sizes[:5], *sizes[6:]} == {690.0}
    registers = np.zeros((1, 48), dtype=np.uint8)
    keys = buckets.row_keys(asked, registers)[0].tolist()
    assert [key >> buckets.TABLE_BITS for key in keys] == list(range(TABLES))


def test_pysail_moves_some_at_once(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = Limits.rounds

    def noted(self: Limits, *args: Any, in_memory: bool) -> list[range]:
        seen.append(in_memory)
        return real(self, *args, in_memory=in_memory)

    monkeypatch.setattr(Limits, "rounds", noted)
    sp.pairs(frame_of(spark, sample())).count()
    assert seen == [True]
