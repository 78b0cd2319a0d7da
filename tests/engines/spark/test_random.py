"""DataFrames of random texts and random questions against the local engine.

A case is its number: it says which texts, ids, question and limits are taken. More of them:
SPARK_CASES=500 SPARK_FROM=1000 pytest -m nightly tests/engines/spark/test_random.py
"""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import neardup as nd
from helpers.differing_pairs import TEXTS as DIFFERING
from helpers.spark_cases import (
    EDGES,
    Texts,
    chain,
    expected_against,
    expected_pairs,
    key_of,
    listed,
    mixed,
    templates,
)
from neardup.engines import spark as sp
from neardup.engines.spark import Limits
from neardup.text.differences import ASPECTS

CASES = int(os.environ.get("SPARK_CASES", "200"))
FROM = int(os.environ.get("SPARK_FROM", "0"))
DAY, MOMENT = datetime.date(2024, 2, 1), datetime.datetime(2024, 2, 28, 23, 59)

# Ids that sort as the places do, by the type of the column.
IDS: dict[str, Callable[[int], Any]] = {
    "long": lambda at: at * 3 - 50,
    "int": lambda at: at - 7,
    "string": lambda at: f"{at:05}-é",
    "double": lambda at: at / 4 - 3.5,
    "date": lambda at: DAY + datetime.timedelta(days=at),
    "timestamp_ntz": lambda at: MOMENT + datetime.timedelta(seconds=at * 7),
}


def texts_of(chance: random.Random) -> Texts:
    """Some of everything: families, templates, chains, twins, what has no signal."""
    texts: Texts = mixed(chance.randrange(1 << 30), chance.choice([2, 8, 20]))
    if chance.random() < 0.5:
        texts += templates(chance.choice([10, 30, 60]))
    if chance.random() < 0.4:
        texts += chain(chance.choice([5, 20, 40]))
    if chance.random() < 0.4:
        texts += [chance.choice(texts)] * chance.choice([2, 40])
    if chance.random() < 0.3:
        texts += list(EDGES)
    if chance.random() < 0.3:
        texts += DIFFERING
    if chance.random() < 0.3:
        # One word makes most of each text, so that one key has most of the rows.
        texts += [f"{'same ' * 30}{chance.randrange(9)} {at % 4}" for at in range(40)]
    chance.shuffle(texts)
    return texts[: chance.choice([1, 5, 60, 400])]


def question_of(chance: random.Random) -> dict[str, Any]:
    asked: dict[str, Any] = {"linkage": chance.choice(["star", "connected"])}
    if chance.random() < 0.35:
        asked["radius"] = chance.choice([0, 1, 3, 8, 12, 20, 30])
    else:
        asked["similarity"] = chance.choice([0.4, 0.6, 0.7, 0.85, 0.85, 0.95, 1.0])
        asked["recall"] = chance.choice([None, None, 0.9, 0.99, 1.0])
    recipes = [None, None, nd.Recipe(bits=64), nd.Recipe(tokens="chars", ngram=3), "simhash"]
    if asked.get("radius", 8) < 8:
        recipes += [nd.Recipe(bits=8)]
    asked["recipe"] = chance.choice(recipes)
    asked["keep"] = chance.choice(["first", "first", "longest", "shortest", "newest:key"])
    asked["distinguish"] = chance.choice([None, chance.sample(ASPECTS, chance.randint(1, 4))])
    return asked


def limits_of(chance: random.Random, asked: dict[str, Any], rows: int) -> Limits:
    """Small ones, so that everything is heavy; not so small that there are thousands of tasks,
    each of which is a thread on pysail."""
    if chance.random() < 0.2:
        return Limits()
    is_small = rows <= 60 and asked.get("similarity", 1.0) >= 0.7
    return Limits(
        task_bytes=chance.choice([4 << 10 if is_small else 128 << 10, 256 << 10, 32 << 20]),
        bucket_rows=chance.choice([2 if rows <= 5 else 8, 16, 100, 1 << 13]),
        group_rows=chance.choice([4 if rows <= 5 else 16, 48, 1 << 16]),
        count_keys=chance.choice([50, 700, 1 << 22]),
        few_edges=chance.choice([1 if rows <= 60 else 20, 50, 1 << 21]),
    )


def frame_of(spark: Any, texts: Texts, kind: str, chance: random.Random) -> tuple[Any, Any]:
    """A frame whose rows come in any order, and the place of each id."""
    ids = list(map(IDS[kind], range(len(texts))))
    if ordered := chance.random() < 0.4:
        # Then a column tells the order, and ids do not.
        chance.shuffle(ids)
    rows = [(ids[at], text, key_of(at), at) for at, text in enumerate(texts)]
    chance.shuffle(rows)
    schema = f"name {kind}, text string, key double, place long"
    frame = spark.createDataFrame(rows, schema).repartition(chance.choice([1, 2, 5]))
    options = {"id_column": "name"} | ({"order_by": "place"} if ordered else {})
    return frame, (options, {name: at for at, name in enumerate(ids)})


def check(spark: Any, number: int) -> None:
    chance = random.Random(number)
    texts = texts_of(chance)
    asked = question_of(chance)
    frame, (options, places) = frame_of(spark, texts, chance.choice(sorted(IDS)), chance)
    options["limits"] = limits_of(chance, asked, len(texts))
    keys = None
    if ":" in asked["keep"]:
        keys = pa.array(map(key_of, range(len(texts))), pa.float64())
    local = nd.dedup(texts, pairs=True, threads=1, keys=keys, **asked)

    def placed(table: Any, *names: str) -> list[tuple[Any, ...]]:
        rows = [
            {name: places[value] if name in names else value for name, value in row.items()}
            for row in table.to_pylist()
        ]
        return sorted(tuple(row.values()) for row in rows)

    found = sp.dedup(frame, **asked, **options)
    gone = found.removed.toArrow().drop_columns("cluster")
    assert placed(gone, "id", "dup_of") == listed(local.removed)
    told = found.clusters.select("id", "representative").toArrow()
    assert placed(told, "id", "representative") == list(enumerate(local.clusters.tolist()))
    assert sorted(found.kept.toArrow()["place"].to_pylist()) == local.kept.tolist()
    near = {name: value for name, value in asked.items() if name not in ("linkage", "keep")}
    if chance.random() < 0.5:
        pairs = sp.pairs(frame, **near, **options).toArrow()
        assert placed(pairs, "left", "right") == expected_pairs(texts, near)
    else:
        half = len(texts) // 2
        first = frame.where(f"place < {half}")
        second = frame.where(f"place >= {half}")
        named = {name: value for name, value in options.items() if name != "limits"}
        made_for = {name: near[name] for name in ("recipe", "distinguish")}
        sketches = sp.sketches(first, texts=True, **made_for, **named)
        removed = sp.against(second, sketches, **near, **options).removed.toArrow()
        expected = expected_against(texts[:half], texts[half:], near)
        told_near = placed(removed, "id", "dup_of")
        assert [(at - half, *rest) for at, *rest in told_near] == expected


@pytest.mark.parametrize("number", [3, 11])
def test_a_few_cases(spark: Any, number: int) -> None:
    check(spark, number)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(FROM, FROM + CASES))
def test_many_cases(spark: Any, number: int) -> None:
    check(spark, number)
