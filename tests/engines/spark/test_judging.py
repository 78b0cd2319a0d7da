"""Texts that are read again: what is not as it was sketched is noticed, in the task."""

from __future__ import annotations

import itertools
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.spark_cases import EDGES
from neardup.engines.spark.judging import (
    PACKET_BYTES,
    PACKET_PAIRS,
    Asked,
    JudgeTask,
    _find_rows,
    _packet_bounds,
    verify_texts,
)
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import text_checksums
from neardup.near.question import check_question
from neardup.text.differences import ASPECTS, differences
from neardup.text.recipe import as_recipe
from reference.differences import share_in_order

# Lines that differ in each aspect, or in a word.
LINES = st.tuples(
    st.sampled_from(["harbour street closed for traffic", "street harbour for closed traffic"]),
    st.sampled_from(["", "not", "5", "-5", "C++", "on Monday"]),
).map(" ".join)


def naive(text: str | None) -> int:
    if text is None:
        return 0
    digest = blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@settings(max_examples=40)
@given(st.lists(st.none() | st.text(max_size=8), max_size=12), st.integers(0, 4), st.integers(0, 9))
def test_checksums_of_any_slice(texts: list[str | None], start: int, length: int) -> None:
    array = pa.array(texts, pa.large_string()).slice(start, length)
    assert text_checksums(array).tolist() == [naive(text) for text in array.to_pylist()]


def test_checksums_tell_texts_apart() -> None:
    texts = sorted({text for text in EDGES if text is not None})
    assert len(set(text_checksums(pa.array(texts, pa.large_string())).tolist())) == len(texts)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()], ids=str)
def test_what_is_wrong_with_a_text(kind: pa.DataType) -> None:
    given = [b"as it was", b"changed", None, b"only looked at", b"", b"\xff bad"]
    if kind != pa.binary():
        given[5] = None
    sketched = ["as it was", "other", "gone", "only looked at", "", "was text"]
    columns = {
        "row": pa.array(range(6), pa.int64()),
        "order": pa.array([b"%d" % at for at in range(6)], pa.binary()),
        "checksum": pa.array([naive(text) for text in sketched], pa.int64()),
        "needed": pa.array([True, True, True, False, True, True]),
        "text": pa.array(given, pa.binary()).cast(kind),
    }
    (found,) = verify_texts(iter([pa.RecordBatch.from_pydict(columns)]))
    assert found.schema.field("text").type == pa.string()
    assert found["order"] == columns["order"]
    assert found["text"].to_pylist() == ["as it was", "changed", None, None, "", None]
    assert found["wrong"].to_pylist() == [None, "changed", "missing", None, None, "missing"]


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(LINES, min_size=2, max_size=8),
    order=st.permutations(range(8)),
    asked=st.sampled_from(get_args(Asked)),
    question=st.sampled_from([(0.85, None, None), (None, 20, None)]),
    aspects=st.sampled_from([(), ("numbers",), ("symbols", "order"), ASPECTS]),
    data=st.data(),
)
def test_a_task_judges_each_pair_by_its_texts(
    texts: list[str], order: list[int], asked: Any, question: Any, aspects: Any, data: Any
) -> None:
    names = [7 + 3 * at for at in range(len(texts))]
    pairs = data.draw(
        st.lists(st.sampled_from(list(itertools.permutations(range(len(texts)), 2))), unique=True)
    )
    checked = check_question(*question, bits=128, distinguish=aspects)
    recipe = checked.apply_to(as_recipe(None))
    known = {pair: data.draw(st.sampled_from([None, 0.5])) for pair in pairs}
    records = [
        {"left": names[at], "right": -1, "text": text, "order": bytes([order[at]])}
        for at, text in enumerate(texts)
    ]
    records += [
        {"left": names[one], "right": names[two], "distance": 77, "similarity": known[one, two]}
        for one, two in pairs
    ]
    data.draw(st.randoms()).shuffle(records)
    schema = {
        **dict.fromkeys(("left", "right", "distance"), pa.int64()),
        "text": pa.string(),
        "order": pa.binary(),
        "similarity": pa.float64(),
    }
    columns = {
        name: pa.array([row.get(name) for row in records], kind) for name, kind in schema.items()
    }
    task = JudgeTask(SparkRequest(recipe, checked, "", "", ()), asked)
    found = [
        tuple(row.values())
        for batch in task(iter([pa.RecordBatch.from_pydict(columns)]))
        for row in batch.to_pylist()
    ]
    expected = []
    for pair in sorted(pairs):
        (one, two), cosine, bits = pair, known[pair], 77
        ((fresh,), (apart,)) = recipe.pipeline.judge_one(texts[one], [texts[two]])
        if asked != "differences" and cosine is None and not (asked == "near" and question[1]):
            cosine, bits = fresh, apart
        if asked == "near":
            if question[1] is None:
                assert cosine is not None
                near = cosine >= 0.85
            else:
                agreement = 0.0 if differ(texts[one], texts[two], checked.distinguish) else 1.0
                if agreement and "order" in checked.distinguish:
                    agreement = share_in_order(texts[one], texts[two])
                near = agreement >= 0.85
            if not near:
                continue
        earlier, later = sorted(pair, key=lambda at: order[at])
        told = differences(texts[earlier], texts[later])
        row = (names[one], names[two], bits, cosine, ",".join(told.aspects), len(told.lost))
        expected.append(row)
    assert found == expected


def differ(left: str, right: str, distinguish: tuple[str, ...]) -> bool:
    """Return whether texts differ in one of these aspects, order aside."""
    return bool(set(differences(left, right).aspects) & (set(distinguish) - {"order"}))


def test_a_text_that_has_not_come_is_not_taken_for_another() -> None:
    rows = np.array([2, 5, 9])
    assert _find_rows(rows, np.array([9, 2, 5, 5])).tolist() == [2, 0, 1, 1]
    for missing in (0, 3, 10):
        with pytest.raises(ValueError, match=f"the text of row {missing} is not in its task"):
            _find_rows(rows, np.array([2, missing]))
    with pytest.raises(ValueError, match="the text of row 2 is not in its task"):
        _find_rows(rows[:0], rows)


@pytest.mark.parametrize(
    ("length", "sizes"),
    [
        (None, [PACKET_PAIRS, PACKET_PAIRS, 5]),
        (1, [PACKET_PAIRS, PACKET_PAIRS, 5]),
        # The left text, which all pairs share, counts in the first packet only.
        (PACKET_BYTES // 4, [3, 4, 4]),
        (2 * PACKET_BYTES, [1, 1, 1]),
    ],
)
def test_packets_are_limited_by_pairs_and_bytes(length: int | None, sizes: list[int]) -> None:
    count = 2 * PACKET_PAIRS + 5
    left, right = np.zeros(count, dtype=np.uint32), np.arange(1, count + 1, dtype=np.uint32)
    corpus: Any = SimpleNamespace()
    if length is not None:
        corpus.lengths = np.full(count + 1, length)
    found = list(_packet_bounds(corpus, left, right))
    assert [stop - start for start, stop in found[:3]] == sizes
    assert [start for start, _ in found] == [0, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == count
