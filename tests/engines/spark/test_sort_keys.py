"""Bytes sort as the values do."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.spark_cases import nightly
from neardup.engines.spark.arrow import SortColumn, sort_keys
from neardup.near.keep import Keep

KINDS: list[tuple[Any, Any]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(max_size=5) | st.text("a\x00\x01", max_size=4)),
    (pa.large_string(), st.text(max_size=5)),
    (pa.binary(), st.binary(max_size=4)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.decimal128(20, 3), st.decimals(-(10**16), 10**16, places=3)),
]


def naive(value: Any, descending: bool) -> tuple[Any, ...]:
    """What Python sorts by: values, then NaN, then nulls."""
    if value is None:
        return (2,)
    if isinstance(value, float) and math.isnan(value):
        return (1,)
    if isinstance(value, str):
        value = value.encode()
    return (0, Reversed(value) if descending else value)


class Reversed:
    """Sorts the other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("kind", "values"), KINDS, ids=lambda x: str(x) if isinstance(x, pa.DataType) else ""
)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("examples", [15, nightly(200)])
def test_every_type(kind: Any, values: Any, descending: bool, examples: int) -> None:
    @settings(max_examples=examples)
    @given(st.lists(st.none() | values, max_size=12), st.integers(0, 3))
    def check(listed: list[Any], skipped: int) -> None:
        array = pa.array(listed, kind).slice(min(skipped, len(listed)))
        listed = array.to_pylist()
        keys = sort_keys([SortColumn(array, descending)]).to_pylist()
        by_bytes = sorted(range(len(listed)), key=lambda at: keys[at])
        by_value = sorted(range(len(listed)), key=lambda at: naive(listed[at], descending))
        assert by_bytes == by_value

    check()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.text("ab\x00", max_size=3), st.none() | st.integers(0, 3)), max_size=15)
)
def test_several_columns(rows: list[tuple[str, int | None]]) -> None:
    names, numbers = (
        pa.array([row[0] for row in rows]),
        pa.array([row[1] for row in rows], pa.int64()),
    )
    keys = sort_keys([SortColumn(names), SortColumn(numbers, True)]).to_pylist()
    by_value = sorted(
        range(len(rows)), key=lambda at: (naive(rows[at][0], False), naive(rows[at][1], True))
    )
    assert sorted(range(len(rows)), key=lambda at: keys[at]) == by_value


@settings(max_examples=40)
@given(st.lists(st.none() | st.floats() | st.just(-0.0), max_size=12))
def test_the_order_is_that_of_the_policies(values: list[float | None]) -> None:
    import numpy as np

    array = pa.array(values, pa.float64())
    local = Keep.parse("best:x").order(np.zeros(len(values)), array)
    assert local is not None
    rows = pa.array(range(len(values)), pa.int64())
    keys = sort_keys([SortColumn(array, True), SortColumn(rows)]).to_pylist()
    assert sorted(range(len(values)), key=lambda at: keys[at]) == local.tolist()


def test_what_has_no_order() -> None:
    with pytest.raises(TypeError, match="values of type list<item: int8> have no order"):
        sort_keys([SortColumn(pa.nulls(1, pa.list_(pa.int8())))])
    for kind in (*(kind for kind, _ in KINDS), pa.null()):
        assert len(sort_keys([SortColumn(pa.nulls(1, kind))])) == 1
    now = [datetime.datetime(2026, 1, 1), decimal.Decimal("1.5")]
    assert all(len(sort_keys([SortColumn(pa.array([value]))])) == 1 for value in now)
