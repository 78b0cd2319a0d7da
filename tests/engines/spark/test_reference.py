"""A DataFrame against a reference: the nearest of the local engine, from rows or kept sketches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers.spark_cases import (
    EDGES,
    Question,
    Texts,
    expected_against,
    frame_of,
    listed,
    mixed,
    nightly,
    sample,
    templates,
)
from neardup import jobs
from neardup.engines import spark as sp
from neardup.text.recipe import Recipe, as_recipe

QUESTIONS: list[Any] = [
    {},
    nightly({"radius": 12}),
    nightly({"similarity": 0.6, "recall": 0.9}),
    nightly({"recall": 1.0}),
    nightly({"radius": 0}),
]


def halves(texts: Texts) -> tuple[Texts, Texts]:
    return texts[::2], texts[1::2]


@pytest.mark.parametrize("asked", QUESTIONS, ids=str)
@pytest.mark.parametrize(
    "corpus",
    [EDGES + EDGES[::-1] + mixed(11, 20), nightly(mixed(13, 60)), nightly(templates(150))],
    ids=["mixed", "more", "templates"],
)
def test_removed_rows_are_those_of_the_local_engine(
    spark: Any, corpus: Texts, asked: Question
) -> None:
    reference, texts = halves(corpus)
    frame = frame_of(spark, texts, seed=2)
    found = sp.against(frame, frame_of(spark, reference, partitions=3, seed=3), **asked)
    removed = expected_against(reference, texts, asked)
    assert listed(found.removed.toArrow()) == removed
    gone = {row[0] for row in removed}
    kept = found.kept.toArrow()
    assert sorted(kept["id"].to_pylist()) == [at for at in range(len(texts)) if at not in gone]
    assert kept.column_names == frame.columns
    counts = {"kept": len(texts) - len(gone), "removed": len(gone), "unreadable": texts.count(None)}
    assert found.counts() == counts


def test_the_first_of_two_rows_as_near_by_radius(spark: Any) -> None:
    lorem = "the order with this number was sent to you today and will arrive within five days"
    reference: Texts = [f"{lorem} {at}" for at in (22, 30, 26, 23)]
    frame = frame_of(spark, reference, partitions=1, seed=6)
    found = listed(sp.against(frame_of(spark, [lorem]), frame, radius=30).removed.toArrow())
    # 0 and 2 are 12 bits away, the others more.
    assert [row[:3] for row in found] == [(0, 0, 12)]
    assert found == expected_against(reference, [lorem], {"radius": 30})
    # All are equally similar: the distance decides, then the order.
    reference = [reference[at] for at in (1, 0, 2, 3)]
    found = listed(
        sp.against(frame_of(spark, [lorem]), frame_of(spark, reference)).removed.toArrow()
    )
    assert [row[:3] for row in found] == [(0, 1, 12)]


@pytest.mark.parametrize(
    ("texts_kept", "asked"),
    [(True, {"radius": 3}), (False, {}), nightly(True, {}), nightly(False, {"radius": 3})],
    ids=str,
)
def test_sketches_are_kept_as_parquet(
    spark: Any, tmp_path: Path, asked: Question, texts_kept: bool
) -> None:
    reference, texts = halves(mixed(12, 30))
    old = frame_of(spark, reference, seed=4)
    sp.sketches(old, texts=texts_kept).write.parquet(str(tmp_path / "old"))
    table = spark.read.parquet(str(tmp_path / "old"))
    assert set(table.select("recipe").toArrow()["recipe"].to_pylist()) == {as_recipe(None).identity}
    frame = frame_of(spark, texts, seed=5)
    more = {} if texts_kept else {"reference_texts": old}
    found = sp.against(frame, table, **asked, **more)
    assert listed(found.removed.toArrow()) == expected_against(reference, texts, asked)


def test_other_sketches_are_refused(spark: Any) -> None:
    frame = frame_of(spark, ["one two three four", "one two three five"])
    with pytest.raises(ValueError, match=r"another recipe: neardup3 .*this request has neardup3"):
        sp.against(frame, sp.sketches(frame, texts=True), recipe=Recipe(bits=64))
    with pytest.raises(ValueError, match=r"without texts.*reference_texts=.*texts=True"):
        sp.against(frame, sp.sketches(frame))
    with pytest.raises(ValueError, match="reference has no column 'text'"):
        sp.against(frame, frame.select("id"))
    named = frame.select("text", frame["named"].alias("id"))
    with pytest.raises(TypeError, match=r"of type bigint, ids of the reference of type string"):
        sp.against(frame, named)


def test_sketches_of_version_2(spark: Any) -> None:
    frame = frame_of(spark, ["one two three four", "five six seven eight"])
    old = sp.sketches(frame, texts=True, recipe="default-2")
    with pytest.raises(ValueError, match=r"neardup2 .*this request has neardup3 .*Use the recipe"):
        sp.against(frame, old)
    with pytest.raises(ValueError, match=r"neardup2 .*this request has neardup3 .*Use the recipe"):
        sp.against(frame, old.union(sp.sketches(frame, texts=True)))
    found = sp.against(frame, old, recipe="default-2")
    assert found.counts() == {"kept": 0, "removed": 2, "unreadable": 0}


A = "the quick brown fox jumps over the lazy dog near the river bank today"
B = f"{A} again"
OTHER = "an entirely different sentence about cooking rice with beans and pepper"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(11, B), (12, OTHER)], "reference_texts has no text with the id 10 any more"),
        nightly([], "reference_texts has no text with the id 1[01] any more"),
        nightly([(10, OTHER), (11, B)], "the text with the id 10 in reference_texts has changed"),
        nightly([(10, OTHER), (10, A), (11, B)], "reference_texts has 2 rows with the id 10; ids"),
        ([(10, A), (10, A), (11, B)], "reference_texts has 2 rows with the id 10; ids must"),
    ],
    ids=["missing", "empty", "changed", "repeated", "twice"],
)
def test_texts_that_are_not_those_of_the_sketches(spark: Any, given: Any, message: str) -> None:
    schema = "id long, text string"
    old = spark.createDataFrame([(10, A), (11, f"{B} then later"), (12, OTHER)], schema)
    given = [(at, f"{B} then later" if at == 11 else text) for at, text in given]
    texts = spark.createDataFrame(given, schema)
    frame = spark.createDataFrame([(1, B)], schema)
    with pytest.raises(ValueError, match=message):
        sp.against(frame, sp.sketches(old), 0.8, reference_texts=texts)


def test_ids_of_texts_are_of_the_same_type(spark: Any) -> None:
    frame = frame_of(spark, [A, B])
    texts = frame.selectExpr("string(id) AS id", "text")
    with pytest.raises(TypeError, match=r"reference_texts are of type string.*type bigint"):
        sp.against(frame, sp.sketches(frame), reference_texts=texts)


@pytest.mark.parametrize("asked", [nightly({}), {"radius": 30}], ids=str)
def test_ids_that_change_when_they_are_read_again(spark: Any, asked: Question) -> None:
    named = frame_of(spark, [A]).selectExpr("named AS id", "text")
    frame = frame_of(spark, [A, A]).selectExpr("uuid() AS id", "text")
    with pytest.raises(ValueError, match="df has no text with the id '"):
        sp.against(frame, named, **asked)


def test_nothing_to_compare_with(spark: Any) -> None:
    frame = frame_of(spark, ["one two three four", "one two three four"])
    found = sp.against(frame, frame.limit(0))
    assert found.counts() == {"kept": 2, "removed": 0, "unreadable": 0}


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_job_against_a_table_of_sketches(spark: Any, tmp_path: Path, engine: Any) -> None:
    old, kept = tmp_path / "sketches", tmp_path / "kept.jsonl"
    documents = frame_of(spark, sample())
    sp.sketches(documents, texts=True).write.parquet(str(old))
    lines = [{"id": "new", "text": "words that nobody has ever put together in this order"}]
    lines += [{"id": "old", "text": str(sample()[0]).upper()}]
    given = tmp_path / "in.jsonl"
    given.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    def run(**more: Any) -> jobs.Summary:
        asked = jobs.Options(against=(str(old),), engine=engine, **more)
        return jobs.dedup([str(given)], kept, asked)

    assert (run().kept, run().removed) == (1, 1)
    assert json.loads(kept.read_text(encoding="utf-8"))["id"] == "new"
    expected = r"\.parquet: sketches of another recipe: neardup3.*; use the recipe of the sketches"
    with pytest.raises(ValueError, match=expected):
        run(recipe="simhash")
    expected = r"sketches of another recipe: neardup3.*; this job has neardup2.*; use the recipe of"
    with pytest.raises(ValueError, match=expected):
        run(recipe="default-2")
    shutil.rmtree(old)
    sp.sketches(documents, texts=True, recipe="default-2").write.parquet(str(old))
    second = run(recipe="default-2")
    assert (second.kept, second.removed) == (1, 1)
    shutil.rmtree(old)
    sp.sketches(documents).write.parquet(str(old))
    with pytest.raises(ValueError, match=r"sketches without texts, which a job has to comp"):
        run()
