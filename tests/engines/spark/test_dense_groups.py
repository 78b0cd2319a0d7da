"""Groups that are cut: who has to meet does, and nobody meets twice."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.spark_cases import (
    Texts,
    check_dedup,
    check_pairs,
    expected_against,
    frame_of,
    listed,
    templates,
)
from neardup.engines import spark as sp
from neardup.engines.spark import buckets, dense_groups
from neardup.engines.spark.buckets import (
    TABLE_BITS,
    HeavyKeys,
    block_pairs,
    pair_part_ids,
    part_id,
)
from neardup.engines.spark.dense_groups import PlaceTask
from neardup.engines.spark.engine import _outside_dense
from neardup.engines.spark.request import Limits
from neardup.engines.spark.rows import ALL, INPUT, REFERENCE, REGISTERS
from neardup.near.question import check_question

# row → (group, side, rest)
Members = dict[int, tuple[int, int, int]]


def members(sides: Any) -> Any:
    numbers = st.integers(0, 500)
    return st.dictionaries(
        numbers, st.tuples(st.integers(0, 2), sides, st.integers(0, 1)), max_size=40
    )


def meetings(placing: PlaceTask, rows: Members) -> Counter[tuple[int, int]]:
    """How often every two rows are compared: those of a part, on different sides if it has two."""
    columns = [[row, *rest] for row, rest in rows.items()]
    arrays = [
        pa.array([each[at] for each in columns], pa.int64() if at < 2 else pa.int32())
        for at in range(4)
    ]
    batch = pa.RecordBatch.from_arrays(arrays, names=["row", "group", "side", "rest"])
    units: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for found in placing(iter([batch.slice(0, 7), batch.slice(7)])):
        for each in found.to_pylist():
            units[each["group"], each["part"]].append((each["row"], each["side"]))
    met: Counter[tuple[int, int]] = Counter()
    for placed in units.values():
        for (one, left), (two, right) in itertools.combinations(placed, 2):
            if one != two and (left == right == ALL or left != right):
                met[min(one, two), max(one, two)] += 1
    return met


@settings(max_examples=40)
@given(members(st.just(ALL)), st.dictionaries(st.integers(0, 2), st.integers(2, 5)))
def test_every_two_of_a_group_meet_once(rows: Members, large: dict[int, int]) -> None:
    met = meetings(PlaceTask(large, "pairs"), rows)
    wanted = {
        (one, two)
        for one, two in itertools.combinations(sorted(rows), 2)
        if rows[one][0] == rows[two][0]
    }
    assert met == Counter(wanted)


@settings(max_examples=40)
@given(
    members(st.sampled_from([REFERENCE, INPUT])),
    st.dictionaries(st.integers(0, 2), st.integers(2, 5)),
)
def test_a_reference_meets_the_others_once(rows: Members, large: dict[int, int]) -> None:
    met = meetings(PlaceTask(large, "pairs"), rows)
    wanted = {
        (one, two)
        for one, two in itertools.combinations(sorted(rows), 2)
        if rows[one][0] == rows[two][0] and rows[one][1] != rows[two][1]
    }
    assert met == Counter(wanted)


@settings(max_examples=40)
@given(
    members(st.just(ALL)),
    st.dictionaries(st.integers(0, 2), st.tuples(st.integers(2, 5), st.integers(1, 3))),
)
def test_the_rest_meets_everyone(rows: Members, large: dict[int, tuple[int, int]]) -> None:
    blocks = {group: sizes[0] for group, sizes in large.items()}
    rests = {group: sizes[1] for group, sizes in large.items()}
    met = meetings(PlaceTask(blocks, "rest", rests), rows)
    for one, two in itertools.combinations(sorted(rows), 2):
        group = rows[one][0]
        if group == rows[two][0] and group in large and (rows[one][2] or rows[two][2]):
            assert met[one, two] >= 1


@pytest.mark.parametrize("across", [False, True])
@settings(max_examples=40)
@given(rows=st.sets(st.integers(0, 500), min_size=2, max_size=20), blocks=st.integers(2, 5))
def test_a_pair_is_emitted_once(rows: set[int], blocks: int, across: bool) -> None:
    """Of a key that is cut and dense, the unit of a pair is one to which both rows go."""
    row = np.array(sorted(rows))
    side = np.where(row % 2, REFERENCE, INPUT) if across else np.full(len(row), ALL)
    key = np.full(len(row), 7)
    units = {
        (int(row[at]), int(unit))
        for part, _, chosen in block_pairs(row, side, np.full(len(row), blocks))
        for at, unit in zip(chosen, part_id(key[chosen], part), strict=True)
    }
    for (one, ours), (two, theirs) in itertools.combinations(zip(row, side, strict=True), 2):
        if across and ours == theirs:
            continue
        left, right = (two, one) if across and theirs == REFERENCE else (one, two)
        heavy = HeavyKeys({7: blocks})
        (unit,) = pair_part_ids(key[:1], left[None], right[None], heavy, across=across)
        assert {(int(one), int(unit)), (int(two), int(unit))} <= units


def test_of_a_template_there_is_no_rest(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks alone connect it: no two blocks meet."""
    lorem = "the order with this number was sent to you today and will arrive within five days"
    texts: list[str | None] = [f"{lorem} {at}" for at in range(90)]
    placed: list[str] = []

    def noted(blocks: Any, mode: Any, *rests: Any) -> PlaceTask:
        placed.append(mode)
        return PlaceTask(blocks, mode, *rests)

    monkeypatch.setattr(dense_groups, "PlaceTask", noted)
    limits = Limits(bucket_rows=16, group_rows=40)
    found = sp.clusters(frame_of(spark, texts), limits=limits)
    assert {row[2:4] for row in listed(found.toArrow())} == {(90, 0)}
    assert placed == ["own"]
    placed.clear()
    # All in one group, of which most are alone: they have to meet all others.
    mixture = templates(45)
    question = {"recall": 1.0, "linkage": "connected"}
    check_dedup(frame_of(spark, mixture), mixture, question, limits=limits)
    assert placed == ["own", "rest"]


def test_a_heavy_key_of_unlike_rows(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows share the words that most registers draw, and little else: parts of the key are told."""
    rng = random.Random(9)
    heavy = "heavyheavyheavyheavy"
    texts: Texts = []
    for _ in range(80):
        own = [f"{rng.randrange(10**6):06}" for _ in range(12)]
        texts.append(" ".join([heavy] * 12 + own))
        if rng.random() < 0.3:
            texts.append(" ".join([heavy] * 12 + own[:-1] + ["other"]))
    seen: list[HeavyKeys] = []
    weigh = buckets._find_heavy_keys

    def noted(*args: Any) -> HeavyKeys:
        seen.append(weigh(*args))
        return seen[-1]

    monkeypatch.setattr(buckets, "_find_heavy_keys", noted)
    limits = Limits(bucket_rows=20, group_rows=60, count_keys=1500)
    frame = frame_of(spark, texts, partitions=3, seed=4)
    check_pairs(frame, texts, {}, limits=limits)
    check_dedup(frame, texts, {"linkage": "connected"}, limits=limits)
    reference, others = texts[::2], texts[1::2]
    found = sp.against(frame_of(spark, others), frame_of(spark, reference), limits=limits)
    assert listed(found.removed.toArrow()) == expected_against(reference, others, {})
    assert all(heavy.blocks for heavy in seen[:3])


@pytest.mark.nightly
def test_dense_parts_of_keys_that_are_cut(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one key some parts are told pair by pair, and others are looked at as groups."""
    # No key counts as one whose rows are all alike.
    monkeypatch.setattr(buckets, "ALIKE_SHARE", 2.0)
    texts = templates(220)
    limits = Limits(bucket_rows=75, group_rows=150)
    frame = frame_of(spark, texts, partitions=3, seed=4)
    check_pairs(frame, texts, {"similarity": 0.8}, limits=limits)
    check_dedup(frame, texts, {}, limits=limits)
    reference, others = frame_of(spark, texts[::2]), frame_of(spark, texts[1::2])
    found = sp.against(others, reference, 0.8, limits=limits)
    whole = sp.against(others, reference, 0.8)
    assert listed(found.removed.toArrow()) == listed(whole.removed.toArrow())


def test_only_pairs_that_met_in_a_dense_bucket_are_left_out() -> None:
    """Two rows of a dense bucket may have met earlier, in the bucket of another table."""
    question = check_question(0.85, None, None, bits=64)
    registers = np.random.default_rng(5).integers(0, 256, (3, REGISTERS), dtype=np.uint8)
    registers[1] = registers[0]
    left, right = np.array([0, 0]), np.array([1, 2])
    # Equal rows meet in table 0; rows 0 and 2 in none.
    for key, rows, expected in (
        (0, [0, 1], [False, True]),
        (1 << TABLE_BITS, [0, 1], [True, True]),
        (0, [1, 2], [True, True]),
    ):
        dense = {key: np.array(rows, dtype=np.uint32)}
        assert _outside_dense(registers, left, right, dense, question).tolist() == expected


def test_two_blocks_fit_into_a_task() -> None:
    limits = Limits(group_rows=10, task_bytes=100)
    rows = [dense_groups._block_count(count, 1, limits) for count in (1, 10, 11, 15, 16)]
    assert rows == [2, 2, 3, 3, 4]
    sizes = [dense_groups._block_count(1, size, limits) for size in (400, 401, 600, 601)]
    assert sizes == [2, 3, 3, 4]
