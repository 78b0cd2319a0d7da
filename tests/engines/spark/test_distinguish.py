"""What differs between near-duplicates, and distinguish=: the shared table on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.differing_pairs import PAIRS, TEXTS
from helpers.spark_cases import (
    Question,
    Texts,
    check_dedup,
    check_pairs,
    expected_against,
    frame_of,
    listed,
    nightly,
)
from neardup.engines import spark as sp
from neardup.engines.spark import Limits
from neardup.text.differences import ASPECTS, Aspect

# The table, and copies: of a row that is removed, and of one that only equals it in its features.
CORPUS: Texts = [*TEXTS, *TEXTS[3:18:4], None, "", "5", "-5", "5"]


def test_the_table_pair_by_pair(spark: Any) -> None:
    """A pair of the table is all that one cluster has: each ends with words of its own."""
    texts: Texts = []
    for at, (left, right, *_) in enumerate(PAIRS.values()):
        family = " ".join(f"{chr(97 + at)}{chr(97 + word)}family" for word in range(8))
        texts += [f"{left}\n{family}", f"{right}\n{family}"]
    removed = sp.dedup(frame_of(spark, texts), recall=1.0).removed.toArrow().to_pylist()
    told = {row["dup_of"]: (row["id"], row["differs"], row["lost"]) for row in removed}
    assert told == {
        2 * at: (2 * at + 1, ",".join(aspects), lost)
        for at, (_, _, aspects, lost) in enumerate(PAIRS.values())
    }


# Each aspect alone by default; all questions, linkages and the dense path with some of them.
DAILY: list[Any] = [
    {},
    *({"distinguish": aspect} for aspect in ASPECTS),
    {"distinguish": ASPECTS, "linkage": "connected", "keep": "longest"},
    {"distinguish": "order,numbers", "radius": 30},
    {"distinguish": "symbols", "radius": 30, "linkage": "connected"},
]
NIGHTLY = [
    nightly({"distinguish": aspects, "linkage": linkage, **by})
    for aspects in (None, *ASPECTS, ASPECTS)
    for linkage in ("star", "connected")
    for by in ({}, {"recall": 1.0}, {"similarity": 0.6}, {"radius": 3}, {"radius": 40})
]


@pytest.mark.parametrize("question", [*DAILY, *NIGHTLY], ids=str)
def test_the_table_as_one_corpus(spark: Any, question: Question) -> None:
    frame = frame_of(spark, CORPUS, partitions=2, seed=3)
    check_dedup(frame, CORPUS, question)
    check_pairs(frame, CORPUS, question)


@pytest.mark.parametrize(
    "aspects", [nightly(None), "numbers", nightly("symbols"), nightly("order")], ids=str
)
def test_dense_groups(spark: Any, aspects: Aspect | None) -> None:
    lorem = "the order with this number was sent to you today and will arrive within five days"
    ends = ("", " 😀", " not", " C++", " 5", " 6")
    texts: Texts = [f"{lorem} {chr(97 + at % 26)}{ends[at % 6]}" for at in range(120)]
    limits = Limits(bucket_rows=8, group_rows=24)
    frame = frame_of(spark, texts, seed=4)
    check_dedup(frame, texts, {"distinguish": aspects}, limits=limits)
    check_pairs(frame, texts, {"distinguish": aspects}, limits=limits)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"distinguish": "numbers,negation"},
        {"distinguish": "order", "radius": 30},
        nightly({"radius": 30}),
        *(nightly({"distinguish": aspect}) for aspect in ASPECTS),
        *(nightly({"distinguish": aspect, "radius": 30}) for aspect in ASPECTS),
    ],
    ids=str,
)
def test_against_a_reference_and_its_sketches(spark: Any, tmp_path: Path, asked: Question) -> None:
    reference, texts = CORPUS[::2], [*CORPUS[1::2], *CORPUS[4:9]]
    old, frame = frame_of(spark, reference, seed=1), frame_of(spark, texts, seed=2)
    expected = expected_against(reference, texts, asked)
    assert {row[4] for row in expected} > {""}
    assert listed(sp.against(frame, old, **asked).removed.toArrow()) == expected
    made = sp.sketches(old, texts=True, distinguish=asked.get("distinguish"))
    made.write.parquet(str(tmp_path / "old"))
    stored = spark.read.parquet(str(tmp_path / "old"))
    assert listed(sp.against(frame, stored, **asked).removed.toArrow()) == expected


def test_sketches_that_keep_other_aspects_apart_are_refused(spark: Any) -> None:
    frame = frame_of(spark, CORPUS[:4])
    plain = sp.sketches(frame, texts=True)
    expected = (
        r"sketches of the reference were made with distinguish=None; this request has "
        r"'numbers,order'. Make them again with sketches\(df, distinguish='numbers,order'\), or "
        r"pass distinguish=None"
    )
    # Tables made before there was a choice have no such column.
    for table in (plain, plain.drop("distinguish")):
        with pytest.raises(ValueError, match=expected):
            sp.against(frame, table, distinguish="order,numbers")
    assert sp.against(frame, plain.drop("distinguish")).counts()["removed"] == 4
    apart = sp.sketches(frame, texts=True, distinguish="numbers")
    with pytest.raises(ValueError, match="made with distinguish='numbers'; this request has None"):
        sp.against(frame, apart)


def test_a_wrong_aspect_is_refused(spark: Any) -> None:
    frame = frame_of(spark, CORPUS[:2])
    calls = (
        sp.dedup,
        sp.pairs,
        sp.clusters,
        sp.sketches,
        lambda df, **asked: sp.against(df, df, **asked),
    )
    for call in calls:
        with pytest.raises(ValueError, match="distinguish has 'tone'; it must be one or more of"):
            call(frame, distinguish="tone")
        with pytest.raises(ValueError, match="distinguish has 'fields', which functions on DataFr"):
            call(frame, distinguish=["numbers", "fields"])
