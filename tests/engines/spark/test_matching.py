"""Stars by pairs: each row under the first that it is near to and that is under none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.spark_cases import chain, check_dedup, frame_of, mixed, templates
from neardup.engines.spark import Limits, matching

# Rows by their place in order, and pairs of them.
Pairs = list[tuple[int, int]]


def linked_slowly(rows: int, pairs: Pairs) -> dict[int, int]:
    """row → the one it is under, by what a star is."""
    under: dict[int, int] = {}
    for row in range(rows):
        for other in range(row):
            if other not in under and ((other, row) in pairs or (row, other) in pairs):
                under[row] = other
                break
    return under


@given(
    st.integers(1, 12).flatmap(
        lambda rows: st.tuples(
            st.just(rows), st.sets(st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)))
        )
    ),
    st.randoms(),
    st.integers(1, 9),
)
def test_as_the_definition_says(
    case: tuple[int, set[tuple[int, int]]], rng: random.Random, cut: int
) -> None:
    count, given_pairs = case
    pairs = sorted({(min(pair), max(pair)) for pair in given_pairs if pair[0] != pair[1]})
    # Numbers of rows say nothing of their order, and nor does the side of a pair.
    names = rng.sample(range(1000), count)
    records: list[tuple[Any, ...]] = [
        (names[place], -1, place.to_bytes(2, "big"), *[None] * 4) for place in range(count)
    ]
    for at, (one, two) in enumerate(pairs):
        ends = [names[one], names[two]]
        rng.shuffle(ends)
        records.append((*ends, None, at, at / 100, f"pair {at}", -at))
    rng.shuffle(records)
    found = {
        row["left"]: tuple(row.values())[1:]
        for batch in matching.link_pairs(batches(records, cut))
        for row in batch.to_pylist()
    }
    expected = {}
    for row, other in linked_slowly(count, pairs).items():
        at = pairs.index((other, row))
        expected[names[row]] = (names[other], at, at / 100, f"pair {at}", -at)
    assert found == expected


def batches(records: list[tuple[Any, ...]], cut: int) -> Iterator[pa.RecordBatch]:
    names = ("left", "right", "order", "distance", "similarity", "differs", "lost")
    kinds = (
        *(pa.int64(), pa.int64(), pa.binary()),
        *(pa.int64(), pa.float64(), pa.string(), pa.int64()),
    )
    for start in range(0, len(records), cut):
        some = zip(*records[start : start + cut], strict=True)
        arrays = [pa.array(values, kind) for values, kind in zip(some, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=names)


def failing(*arguments: Any) -> Iterator[Any]:
    raise RuntimeError("texts were asked for")
    yield


def test_texts_come_to_a_task_only_for_dense_keys(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching.LinkTask, "__call__", failing)
    texts = mixed(3, 12) + chain(12)
    check_dedup(frame_of(spark, texts, partitions=2, seed=6), texts, {})
    alike = templates(60)
    with pytest.raises(Exception, match="texts were asked for"):
        check_dedup(frame_of(spark, alike), alike, {}, limits=Limits(bucket_rows=8))
