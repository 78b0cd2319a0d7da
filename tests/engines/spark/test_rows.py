"""Fingerprints and sketches of DataFrames are those of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import neardup as nd
from helpers.spark_cases import EDGES, frame_of, mixed
from neardup import _core
from neardup.engines import spark as sp
from neardup.engines.spark.storage import Storage
from neardup.text.recipe import Recipe, as_recipe

TEXTS = EDGES + mixed(21, 20)


@pytest.mark.parametrize(
    "recipe", ["default", "simhash", Recipe(bits=40), Recipe(bits=256)], ids=str
)
def test_fingerprints(spark: Any, recipe: Any) -> None:
    frame = frame_of(spark, TEXTS, seed=1)
    found = sp.fingerprint(frame, "text", recipe)
    assert found.columns == [*frame.columns, "fingerprint"]
    rows = found.toArrow().to_pylist()
    assert len(rows) == len(TEXTS)
    for row in rows:
        text = TEXTS[row["id"]]
        value = None if text is None else nd.fingerprint(text, recipe)
        told = row["fingerprint"]
        assert (None if told is None else int.from_bytes(told)) == value
        assert row["text"] == text


def test_fingerprints_of_a_function(spark: Any) -> None:
    """A hash that only Python can call goes to the tasks, too."""
    recipe = Recipe(hash=lambda token: hash(len(token)) * 0x9E3779B97F4A7C15 % 2**64, bits=64)
    rows = sp.fingerprint(frame_of(spark, ["one three fifteen"]), recipe=recipe).toArrow()
    value = nd.fingerprint("one three fifteen", recipe)
    assert value is not None
    assert rows["fingerprint"].to_pylist() == [value.to_bytes(8)]


def test_a_column_of_that_name(spark: Any) -> None:
    frame = frame_of(spark, ["one two"])
    with pytest.raises(
        ValueError, match="already has a column 'key'; pass another name as column="
    ):
        sp.fingerprint(frame, column="key")
    assert sp.fingerprint(frame, column="code").columns[-1] == "code"


def test_any_name_of_a_column(spark: Any) -> None:
    names = ["a.b", "the `text`", "c0"]
    frame = spark.createDataFrame([(5, "one two three", "x")], "a long, b string, c string")
    found = sp.fingerprint(frame.toDF(*names), names[1], column="code.s").toArrow()
    assert found.column_names == [*names, "code.s"]
    value = nd.fingerprint("one two three")
    assert value is not None
    assert [column.to_pylist()[0] for column in found.columns] == [
        *(5, "one two three", "x", value.to_bytes(16))
    ]


def test_bad_bytes_have_no_fingerprint(spark: Any) -> None:
    rows = [(0, b"one two three"), (1, b"\xff one"), (2, None)]
    frame = spark.createDataFrame(rows, "id long, text binary")
    found = {row["id"]: row["fingerprint"] for row in sp.fingerprint(frame).toArrow().to_pylist()}
    value = nd.fingerprint("one two three")
    assert value is not None
    assert found == {0: value.to_bytes(16), 1: None, 2: None}


def test_sketches(spark: Any) -> None:
    table = sp.sketches(frame_of(spark, TEXTS, seed=2), texts=True).toArrow()
    rows = {row["id"]: row for row in table.to_pylist()}
    assert sorted(rows) == [at for at, text in enumerate(TEXTS) if text is not None]
    for at, row in rows.items():
        text = TEXTS[at]
        assert text is not None
        values, signal, sketches = as_recipe(None).pipeline.sketched([text], 1)
        whole = sketches[0].tobytes()
        assert (row["signal"], row["text"], row["bytes"]) == (signal[0], text, len(text.encode()))
        assert row["digest"] == (whole[48:] if any(whole[48:]) else None)
        assert row["registers"] == (whole[:48] if signal[0] else None)
        assert row["fingerprint"] == (values[0].tobytes() if signal[0] else None)
    by_order = sorted(rows, key=lambda at: bytes(rows[at]["order"]))
    assert by_order == sorted(rows)


def test_what_is_pinned_stays(spark: Any, tmp_path: Any) -> None:
    for folder in (None, str(tmp_path)):
        storage = Storage(folder)
        frame = spark.range(10).selectExpr("id", "rand() AS x")
        pinned = storage.pin(frame)
        assert pinned.toArrow().equals(pinned.toArrow())
        assert pinned.schema.simpleString() == frame.schema.simpleString()
        assert storage.pin(frame.where("id < 0")).count() == 0


def test_the_core_refuses_what_does_not_fit() -> None:
    registers, question = np.zeros((3, 48), dtype=np.uint8), (0.85, 0.99)
    places = (
        np.zeros(3, dtype=np.uint64),
        np.zeros(3, dtype=np.uint32),
        np.full(3, 2, dtype=np.uint8),
        np.arange(3),
    )
    assert _core.sketch_keys(registers, question, 1).shape == (3, 31)
    with pytest.raises(ValueError, match="registers are rows of 48 bytes"):
        _core.sketch_keys(np.zeros((3, 64), dtype=np.uint8), question, 1)
    with pytest.raises(ValueError, match="similarity is 2"):
        _core.sketch_keys(registers, (2.0, 0.9), 1)
    with pytest.raises(ValueError, match="are of the same places"):
        _core.fallen_sketches(places, registers[:2], question, 1)
    with pytest.raises(ValueError, match="128 bits are not in 1 words"):
        _core.code_keys(np.zeros((3, 1), dtype=np.uint64), 128, 3)
    few = np.array([7], dtype=np.uint32)
    with pytest.raises(ValueError, match="row 7 of 3 registers"):
        _core.first_tables(registers, few, few, question)
    later, earlier, dense = _core.fallen_sketches(places, registers, question, 1)
    assert (later.tolist(), earlier.tolist(), dense.tolist()) == ([1, 2, 2], [0, 0, 1], [])
