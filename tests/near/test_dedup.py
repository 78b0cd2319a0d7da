from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers.timing import assert_linear
from reference.dedup import labels, near_pairs, order_of

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
WORDS = [
    *("harbour", "street", "closed", "traffic", "water", "main", "notice", "bus", "line"),
    *("Monday", "北京", "上海", "通知", "道路"),
]


def sample() -> list[str]:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


@st.composite
def corpora(draw: st.DrawFn) -> list[str]:
    """Copies and edited copies of a few texts, short ones, empty ones."""
    originals = draw(
        st.lists(st.lists(st.sampled_from(WORDS), min_size=0, max_size=14), min_size=1, max_size=5)
    )
    texts = []
    for _ in range(draw(st.integers(1, 14))):
        words = list(draw(st.sampled_from(originals)))
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(words)))
            words[at : at + draw(st.integers(0, 1))] = [draw(st.sampled_from(WORDS))]
        text = " ".join(words)
        texts.append(draw(st.sampled_from([text, text, text.upper(), f"{text}!", "", "…", "ok"])))
    return texts


@settings(max_examples=150, deadline=None)
@given(
    texts=corpora(),
    similarity=st.sampled_from([0.5, 0.8, 0.85, 0.95, 1.0]),
    keep=st.sampled_from(["first", "longest", "shortest", "best:n"]),
    linkage=st.sampled_from(["connected", "star"]),
    data=st.data(),
)
def test_the_answer_is_that_of_comparing_all_pairs(
    texts: list[str], similarity: float, keep: str, linkage: Any, data: st.DataObject
) -> None:
    numbers = st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts))
    keys = data.draw(numbers) if ":" in keep else None
    # Below 1 by more than rounding: a cosine of features that are alike may miss 1 by a hair.
    similarity = min(similarity, 1 - 1e-9)
    found = nd.dedup(texts, similarity, recall=1.0, keep=keep, linkage=linkage, keys=keys)
    pairs = near_pairs(texts, similarity, nd.Recipe())
    expected = labels(len(texts), pairs, linkage, order_of(texts, keep, keys))
    assert found.clusters.tolist() == expected
    assert found.kept.tolist() == [row for row, label in enumerate(expected) if row == label]
    for removed in found.removed.to_pylist():
        assert removed["dup_of"] == expected[removed["row"]]
        left, right = texts[removed["dup_of"]], texts[removed["row"]]
        assert removed["similarity"] == pytest.approx(nd.similarity(left, right))


@pytest.mark.parametrize("linkage", ["connected", "star"])
@pytest.mark.parametrize("keep", ["first", "longest", "shortest"])
def test_the_sample_is_deduplicated_as_by_comparing_all_pairs(linkage: Any, keep: str) -> None:
    texts = sample()
    found = nd.dedup(texts, linkage=linkage, keep=keep)
    pairs = near_pairs(texts, 0.85, nd.Recipe())
    expected = labels(len(texts), pairs, linkage, order_of(texts, keep))
    assert found.clusters.tolist() == expected


def test_a_radius_decides_by_bits_alone() -> None:
    texts = sample()
    found = nd.dedup(texts, radius=20)
    expected = nd.clusters(nd.fingerprints(texts), 20, linkage="star")
    assert found.clusters.tolist() == expected.tolist()
    assert found.recall is None


def test_many_equal_texts_take_linear_time() -> None:
    def make(size: int) -> list[str]:
        return ["the same text again and again, word for word"] * size + ["another text"]

    assert nd.dedup(make(5000)).kept.tolist() == [0, 5000]
    assert_linear(nd.dedup, make, 5000)


def test_texts_without_words_are_kept() -> None:
    found = nd.dedup(["", "", "…", "…", None, None, "ok", "ok", "Ok"])
    assert found.kept.tolist() == [0, 1, 2, 3, 4, 5, 6, 8]
    assert found.removed.to_pylist() == [
        {"row": 7, "dup_of": 6, "distance": None, "similarity": 1.0}
    ]


@pytest.mark.parametrize("make", [list, tuple, pa.array, pl.Series, pd.Series, iter])
def test_any_column_of_texts_will_do(make: Any) -> None:
    texts = sample()
    assert nd.dedup(make(texts)).kept.tolist() == nd.dedup(texts).kept.tolist()


def test_slices_and_chunks_of_arrow_columns() -> None:
    texts = sample()
    chunked = pa.chunked_array([texts[:10], texts[10:]])
    assert nd.dedup(chunked.slice(5)).kept.tolist() == nd.dedup(texts[5:]).kept.tolist()
    assert nd.dedup(pa.array(texts).slice(7)).kept.tolist() == nd.dedup(texts[7:]).kept.tolist()
    assert nd.dedup([]).kept.tolist() == []
    assert len(nd.dedup(pa.chunked_array([], pa.string())).removed) == 0


def test_frames_keep_their_kind_and_columns() -> None:
    texts = sample()
    kept = nd.dedup(texts, keep="best:n", keys=range(len(texts))).kept.tolist()
    columns: dict[str, list[Any]] = {"body": texts, "n": list(range(len(texts)))}
    frame = pd.DataFrame(columns, index=[f"row {n}" for n in columns["n"]])
    by_pandas = nd.dedup_frame(frame, "body", keep="best:n")
    assert by_pandas["n"].tolist() == kept
    assert by_pandas.index[0] == f"row {kept[0]}"
    assert nd.dedup_frame(pl.DataFrame(columns), "body", keep="best:n")["n"].to_list() == kept
    assert nd.dedup_frame(pa.table(columns), "body", keep="best:n")["n"].to_pylist() == kept
    with pytest.raises(ValueError, match=r"no column 'text' \(there is 'body', 'n'\)"):
        nd.dedup_frame(frame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"similarity": 1.5}, "similarity is 1.5; it must be a number above 0 and at most 1"),
        ({"similarity": 0.9, "radius": 3}, "similarity and radius exclude each other"),
        ({"radius": 129}, "radius is 129; it must be a whole number from 0 to 128"),
        ({"keep": "last"}, "keep is 'last'; it must be one of first, longest"),
        ({"keep": "best"}, "keep is 'best'"),
        ({"keep": "best:n"}, "keep is best:n; pass the values of 'n' as keys"),
        ({"keep": "best:n", "keys": [1]}, "keys has 1 values for 2 texts"),
        ({"keep": "best:n", "keys": [1, 2, 3]}, "keys has 3 values for 2 texts"),
        ({"linkage": "chain"}, "linkage is 'chain'"),
        ({"recall": 0}, "recall is 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        nd.dedup(["a b", "c d"], **arguments)


def test_wrong_types_are_named() -> None:
    with pytest.raises(TypeError, match=r"texts\[1\] is of type int"):
        nd.dedup(["a", 1])
    calls: list[Any] = [nd.dedup, nd.fingerprints, nd.Recipe().fit]
    for call in calls:
        with pytest.raises(TypeError, match=r"texts is one str; pass a list of str: \[text\]"):
            call("text")
        with pytest.raises(TypeError, match=r"texts is a dict; pass its values: list\(texts.val"):
            call({"a": "one two", "b": "three four"})
        assert call({"a": "one two", "b": "three four"}.values())
    with pytest.raises(TypeError, match="keys is a dict; pass its values, one for each text"):
        nd.dedup(["a b", "c d"], keep="best:n", keys={"a": 1, "b": 2})


def test_texts_in_place_of_fingerprints_are_named() -> None:
    calls: list[Any] = [nd.pairs, nd.clusters, nd.pairs_plan, nd.Index().add, nd.Index().search]
    for call in calls:
        with pytest.raises(TypeError, match="fingerprints is a dict; pass its values"):
            call({"a": 1})
        with pytest.raises(TypeError, match="fingerprints is one str; make fingerprints of texts"):
            call("text")
        with pytest.raises(TypeError, match=r"fingerprints\[0\] is of type str; .*first: neardup"):
            call(["text"])


def test_newest_takes_dates_and_missing_ones_last() -> None:
    texts = ["one two three four", "One two three four!", "one, two, three, four"]
    dates = [None, "2026-01-02", "2026-01-03"]
    assert nd.dedup(texts, keep="newest:date", keys=dates).kept.tolist() == [2]
    stamps = np.array(["2026-01-05", "2026-01-02", "2026-01-03"], dtype="datetime64[s]")
    assert nd.dedup(texts, keep="newest:date", keys=stamps).kept.tolist() == [0]


def test_strings_that_are_numbers_are_compared_as_numbers() -> None:
    texts = ["one two three four", "One two three four!", "one, two, three, four"]
    assert nd.dedup(texts, keep="best:n", keys=["9", "10", " "]).kept.tolist() == [1]
    assert nd.dedup(texts, keep="best:n", keys=["9", "10", "x"]).kept.tolist() == [2]
    assert nd.dedup(texts, keep="best:n", keys=[None, "", "-3"]).kept.tolist() == [2]
    # Two numbers that are the same as doubles.
    large = ["9007199254740992", "9007199254740993", "7"]
    assert nd.dedup(texts, keep="best:n", keys=large).kept.tolist() == [1]
    assert nd.dedup(texts, keep="best:n", keys=["0.5", "0.25", "1e0"]).kept.tolist() == [2]


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
@pytest.mark.parametrize("encoded", [False, True])
def test_frames_of_every_string_type(kind: str, encoded: bool) -> None:
    def column(values: list[str | None]) -> pa.Array:
        made = pa.array(values, getattr(pa, kind)())
        if not encoded:
            return made
        indices = pa.array([None if x is None else at for at, x in enumerate(values)], pa.int32())
        return pa.DictionaryArray.from_arrays(
            indices, pa.array(["" if x is None else x for x in values], made.type)
        )

    texts = column(["the quick brown fox", None, "THE quick brown fox", "a lazy dog"])
    table = pa.table({"text": texts, "day": column(["1", "2", "3", "4"])})
    assert nd.dedup(table["text"]).kept.tolist() == [0, 1, 3]
    assert nd.dedup(texts, keep="newest:day", keys=table["day"]).kept.tolist() == [1, 2, 3]
    found = nd.dedup_frame(table, keep="newest:day")
    assert found.schema == table.schema
    assert found["day"].to_pylist() == ["2", "3", "4"]
    none = nd.dedup_frame(table.slice(0, 0))
    assert none.num_rows == 0


def test_distances_with_a_hash_that_only_python_can_call() -> None:
    recipe = nd.Recipe(hash=lambda token: zlib.crc32(token.encode()) * 0x9E3779B97F4A7C15, bits=64)
    text = "the ferry leaves the harbour at nine every morning but on sundays"
    texts = [text, f"{text} it stays", f"{text} and holidays"]
    found = nd.dedup(texts, similarity=0.7, recipe=recipe, pairs=True).pairs
    assert found is not None
    assert found.num_rows == 3
    assert any(found["distance"].to_pylist())
    codes = [nd.fingerprint(text, recipe) for text in texts]
    for pair in found.to_pylist():
        assert pair["distance"] == nd.distance(codes[pair["left"]], codes[pair["right"]])
