"""Spark answers as the local engine does, pair for pair and representative for representative."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers.spark_cases import (
    CORPORA,
    KEEPS,
    QUESTIONS,
    Texts,
    chain,
    check_dedup,
    check_pairs,
    frame_of,
    listed,
    mixed,
    nightly,
    sample,
    templates,
)
from neardup.engines import spark as sp
from neardup.engines.spark import Limits
from neardup.engines.spark.rows import _key_type

# These show what others do not; the rest is nightly.
DAILY_CORPORA = ("nothing", "edges")
DAILY_QUESTIONS = (
    {"linkage": "connected"},
    {"recall": 1.0},
    {"radius": 12, "linkage": "connected"},
)
DAILY_KEEPS = ("shortest", "best:key")


@pytest.mark.parametrize(
    "corpus", [each if each in DAILY_CORPORA else nightly(each) for each in CORPORA]
)
@pytest.mark.parametrize("question", [{}, nightly({"linkage": "connected"})], ids=str)
def test_the_defaults_on_every_corpus(spark: Any, corpus: str, question: dict[str, Any]) -> None:
    texts = CORPORA[corpus]()
    frame = frame_of(spark, texts, partitions=3, seed=1)
    check_dedup(frame, texts, question)
    if question == {}:
        check_pairs(frame, texts, question)


FOX = "the quick brown fox jumps over the lazy dog near the river bank today"
# Everything is heavy, every group is cut, every table goes through many tasks.
TIGHT = Limits(task_bytes=4 << 10, bucket_rows=16, group_rows=48, count_keys=2000, few_edges=50)
# The same of fewer texts, and tables one after the other in three rounds.
SMALL = Limits(
    task_bytes=4 << 10,
    bucket_rows=8,
    group_rows=16,
    count_keys=700,
    few_edges=20,
    moved_bytes=40 << 10,
)
# Heavy keys, but groups that one task holds.
HEAVY = Limits(task_bytes=64 << 10, bucket_rows=8)


@pytest.mark.parametrize(
    "question", [each if each in DAILY_QUESTIONS else nightly(each) for each in QUESTIONS], ids=str
)
def test_every_question(spark: Any, question: dict[str, Any]) -> None:
    texts = mixed(2, 20) + chain(20)
    frame = frame_of(spark, texts, partitions=1, seed=2)
    check_dedup(frame, texts, question)
    if "linkage" not in question:
        check_pairs(frame, texts, question)


@pytest.mark.parametrize(
    ("limits", "question", "size", "checks"),
    [
        (SMALL, {}, 24, [check_dedup, check_pairs]),
        (SMALL, {"radius": 6}, 24, [check_dedup]),
        (HEAVY, {}, 24, [check_pairs]),
        *(
            nightly(limits, question, 70, [check_dedup, check_pairs])
            for limits in (TIGHT, HEAVY)
            for question in ({}, {"linkage": "connected"}, {"recall": 1.0}, {"radius": 6})
        ),
    ],
)
def test_limits_change_no_answer(
    spark: Any, limits: Limits, question: dict[str, Any], size: int, checks: list[Any]
) -> None:
    texts = templates(size)
    frame = frame_of(spark, texts, partitions=4, seed=3)
    for check in checks:
        check(frame, texts, question, limits=limits)


@pytest.mark.parametrize("linkage", ["star", nightly("connected")])
def test_more_edges_than_a_task_contracts(spark: Any, linkage: Any) -> None:
    """No row is told twice, and counts are those of the rows."""
    lorem = "the order with this number was sent to you today and will arrive within five days"
    texts: Texts = [f"{lorem} {at}" for at in range(60)]
    limits = Limits(bucket_rows=20, group_rows=30, few_edges=20)
    found = sp.dedup(frame_of(spark, texts), 0.7, linkage=linkage, limits=limits)
    assert found.counts() == {"rows": 60, "kept": 1, "removed": 59, "unreadable": 0}


@pytest.mark.parametrize("keep", [each if each in DAILY_KEEPS else nightly(each) for each in KEEPS])
def test_every_policy(spark: Any, keep: str) -> None:
    texts = mixed(4, 20)
    frame = frame_of(spark, texts, partitions=3, seed=5)
    check_dedup(frame, texts, {"keep": keep})
    if keep == "longest":
        check_dedup(frame, texts, {"keep": keep, "linkage": "connected", "radius": 8})


def test_keys_that_are_strings_of_numbers(spark: Any) -> None:
    texts: Texts = ["one two three four five"] * 4
    keys = ["9", " 10 ", "", None]
    frame = spark.createDataFrame(
        list(zip(range(4), texts, keys, strict=True)), "id long, text string, key string"
    )
    local = nd.dedup(texts, keep="best:key", keys=keys)
    assert local.kept.tolist() == [1]
    assert sp.dedup(frame, keep="best:key").kept.toArrow()["id"].to_pylist() == [1]
    assert _key_type(frame) == "int64"
    assert _key_type(frame.replace(" 10 ", "ten", subset=["key"])) == "string"
    assert _key_type(frame.replace(" 10 ", "8.5", subset=["key"])) == "double"


@pytest.mark.nightly
@pytest.mark.parametrize(("key", "kept"), [("ten", 1), ("8.5", 0)])
def test_keys_that_are_words_or_fractions(spark: Any, key: str, kept: int) -> None:
    rows = list(zip(range(4), ["one two three four five"] * 4, ["9", key, "", None], strict=True))
    frame = spark.createDataFrame(rows, "id long, text string, key string")
    assert sp.dedup(frame, keep="best:key").kept.toArrow()["id"].to_pylist() == [kept]


def test_rows_in_the_order_of_a_column(spark: Any) -> None:
    rows = [
        ("b", 2, "one two three four"),
        ("a", 2, "one two three four"),
        ("c", 1, "Three four, one two"),
    ]
    frame = spark.createDataFrame(rows, "name string, at int, text string")
    by: dict[str, Any] = {"id_column": "name", "order_by": ["at"]}
    removed = sp.dedup(frame, **by).removed
    told = (0, 1.0, "order", 0)
    assert listed(removed.drop("cluster").toArrow()) == [("a", "c", *told), ("b", "c", *told)]
    found = listed(sp.pairs(frame, **by).toArrow())
    assert found == [("c", "a", *told), ("c", "b", *told)]


@pytest.mark.nightly
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.none() | st.text("ab c.天地", max_size=40) | st.sampled_from(["a b c d", "a b c d e"]),
        max_size=25,
    ),
    question=st.sampled_from(QUESTIONS),
    partitions=st.integers(1, 5),
    seed=st.integers(0, 9),
)
def test_any_texts(
    spark: Any, texts: Texts, question: dict[str, Any], partitions: int, seed: int
) -> None:
    frame = frame_of(spark, texts, partitions=partitions, seed=seed)
    check_dedup(frame, texts, question)
    check_pairs(frame, texts, question)


def test_other_names_and_recipes(spark: Any) -> None:
    texts = sample()
    frame = frame_of(spark, texts).withColumnsRenamed({"text": "the.text", "named": "a `name`"})
    names: dict[str, Any] = {"text_column": "the.text", "id_column": "a `name`"}
    found = sp.dedup(frame, 0.7, recipe="simhash", **names)
    assert found.kept.columns == frame.columns
    local = nd.dedup(texts, 0.7, recipe="simhash")
    assert sorted(found.kept.toArrow()["id"].to_pylist()) == local.kept.tolist()


@pytest.mark.parametrize("asked", [{"similarity": 0.8}, nightly({"radius": 40})], ids=str)
def test_bytes_and_bad_records(spark: Any, asked: dict[str, Any]) -> None:
    whole = b"one two three four five"
    rows = [
        (0, whole),
        (1, b"\xff\xfe bad"),
        (2, None),
        (3, whole),
        (4, "eins zwei drei über".encode()),
        (5, f"{FOX} gestern".encode()),
        (6, f"{FOX} heute".encode()),
    ]
    frame = spark.createDataFrame(rows, "id long, text binary")
    found = sp.dedup(frame, **asked)
    assert listed(found.unreadable.toArrow()) == [(1, "not UTF-8"), (2, "no text")]
    assert [row[:2] for row in listed(found.removed.toArrow())] == [(3, 0), (6, 5)]
    assert found.counts() == {"rows": 7, "kept": 5, "removed": 2, "unreadable": 2}
    kept = found.kept.toArrow()
    assert sorted(zip(kept["id"].to_pylist(), kept["text"].to_pylist(), strict=True)) == [
        row for row in rows if row[0] not in (3, 6)
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "a"), (1, "b")], "2 rows have the id 1; each row needs a unique id"),
        ([(None, "a"), (2, "b")], "1 rows have no id"),
    ],
)
def test_ids_must_differ(spark: Any, rows: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sp.dedup(spark.createDataFrame(rows, "id long, text string"))


@pytest.mark.parametrize(
    ("texts", "asked"),
    [
        nightly([FOX, f"{FOX} again", "something else that is not like it"], {"similarity": 0.8}),
        ([FOX, FOX], {}),
        ([FOX, f"{FOX} again"], {"radius": 30}),
    ],
    ids=["near", "equal", "radius"],
)
def test_ids_that_change_when_they_are_read_again(spark: Any, texts: Texts, asked: Any) -> None:
    frame = frame_of(spark, texts).selectExpr("uuid() AS id", "text")
    with pytest.raises(ValueError, match=r"df has no text with the id '[0-9a-f-]{36}'.*uuid\(\)"):
        sp.dedup(frame, **asked)


def test_texts_that_change_when_they_are_read_again(spark: Any) -> None:
    frame = frame_of(spark, [FOX, f"{FOX} again"])
    other = frame.selectExpr("id", "concat(text, ' ', uuid()) AS text")
    with pytest.raises(
        ValueError, match=r"text with the id [01] in df has changed since it was sketched"
    ):
        sp.dedup(other, 0.5)


def test_wrong_arguments_are_named(spark: Any) -> None:
    frame = frame_of(spark, ["a"])
    wrong: Any = ["a"]
    chained: Any = "chain"
    third: Any = 3
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: sp.dedup(wrong), TypeError, "df is of type list; pass a Spark DataFrame"),
        (lambda: sp.pairs(frame, text_column="body"), ValueError, "no column 'body'.*text_column="),
        (lambda: sp.dedup(frame, text_column="key"), TypeError, "'key' of df is of type double"),
        (lambda: sp.dedup(frame, keep="best"), ValueError, "keep is 'best'"),
        (lambda: sp.dedup(frame, keep="best:x"), ValueError, "no column 'x'"),
        (lambda: sp.clusters(frame, linkage=chained), ValueError, "linkage is 'chain'"),
        (lambda: sp.dedup(frame, 1.5), ValueError, "similarity is 1.5"),
        (lambda: sp.dedup(frame, 0.5, radius=3), ValueError, "exclude each other"),
        (lambda: sp.dedup(frame, text_column=third), TypeError, "a column name of df is 3; pass a"),
        (lambda: sp.dedup(frame, order_by=third), TypeError, "order_by is 3"),
        (lambda: Limits(task_bytes=0), ValueError, "task_bytes is 0"),
        (lambda: Limits(moved_bytes=0), ValueError, "moved_bytes is 0"),
        (
            lambda: sp.dedup(frame.selectExpr("array(id) AS id", "text")),
            TypeError,
            "the column 'id' is of type array<bigint>; rows can be sorted by numbers",
        ),
        (
            lambda: sp.dedup(frame.selectExpr("id", "text", "NULL AS k"), keep="best:k"),
            TypeError,
            "the column 'k' is of type void; rows can",
        ),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_intermediate_tables_in_a_folder(spark: Any, tmp_path: Path) -> None:
    found = sp.clusters(frame_of(spark, ["one two three four"] * 2), work=str(tmp_path))
    assert [row[2:] for row in listed(found.toArrow())] == [(2, 0, "", 0)] * 2
    # They stay: what was returned reads them.
    assert len(list(tmp_path.iterdir())) == 1
