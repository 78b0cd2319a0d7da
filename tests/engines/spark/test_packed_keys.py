"""Records of keys in slices: none is lost, and all of a key come together."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines.spark import packed_keys
from neardup.engines.spark.packed_keys import (
    KeyedRows,
    PackedRecords,
    Packer,
    slice_count,
    unpack_records,
)

WIDTH = 3
# Keys and parts of a row, of some batches of rows.
ROW = st.lists(st.tuples(st.integers(0, 2**64 - 1) | st.integers(0, 3), st.integers(0, 2)))


def placed(first: int, rows: list[list[tuple[int, int]]]) -> KeyedRows:
    at = [place for place, keys in enumerate(rows) for _ in keys]
    flat = [pair for keys in rows for pair in keys]
    numbers = np.arange(first, first + len(rows))
    return KeyedRows(
        np.array([key for key, _ in flat], dtype=np.uint64),
        np.array([part for _, part in flat], dtype=np.uint32),
        np.array([part % 3 for _, part in flat], dtype=np.uint8),
        np.array(at, dtype=np.int64),
        numbers,
        np.repeat(numbers % 251, WIDTH).astype(np.uint8).reshape(-1, WIDTH),
    )


def listed(records: PackedRecords) -> list[tuple[Any, ...]]:
    rows = [bytes(row) for row in records.compared]
    return list(zip(*(column.tolist() for column in records[:4]), rows, strict=True))


@pytest.mark.parametrize("at_once", [1, 5, 1000])
@given(batches=st.lists(st.lists(ROW, min_size=1, max_size=4), max_size=4), count=st.integers(1, 9))
def test_nothing_is_lost(at_once: int, batches: Any, count: int) -> None:
    made, wanted, first = [], Counter[tuple[Any, ...]](), 0
    for rows in batches:
        made.append(placed(first, rows))
        for place, keys in enumerate(rows, first):
            wanted.update(
                (key, part, part % 3, place, bytes([place % 251] * WIDTH)) for key, part in keys
            )
        first += len(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_keys, "MIN_PACKED_RECORDS", at_once)
        patch.setattr(packed_keys, "RECORDS_PER_SLICE", 1)
        packed = list(Packer(count)(iter(made)))
    seen: Counter[tuple[Any, ...]] = Counter()
    where: dict[tuple[int, int], set[int]] = {}
    for batch in packed:
        for at in range(batch.num_rows):
            number = batch.column(0)[at].as_py()
            assert 0 <= number < count
            found = listed(unpack_records(pa.Table.from_batches([batch.slice(at, 1)]), WIDTH))
            seen.update(found)
            for key, part, *_ in found:
                where.setdefault((key, part), set()).add(number)
    assert seen == wanted
    assert all(len(numbers) == 1 for numbers in where.values())
    if packed:
        together = unpack_records(pa.Table.from_batches(packed), WIDTH)
        assert Counter(listed(together)) == wanted


@given(st.integers(1, 100_000))
def test_every_task_has_slices(tasks: int) -> None:
    assert slice_count(tasks) >= tasks
    assert slice_count(tasks) <= 16 * tasks


def test_shares_are_even() -> None:
    """Keys that differ in few bits, as those of a table do."""
    key = (np.uint64(5) << np.uint64(32)) + np.arange(100_000, dtype=np.uint64)
    found = Packer(64)._slice(key, np.zeros(len(key), dtype=np.uint32))
    counts = np.bincount(found, minlength=64)
    assert counts.min() > 0.8 * len(key) / 64
    assert counts.max() < 1.2 * len(key) / 64
