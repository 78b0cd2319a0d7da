"""dedup, and its result asked again for a stricter threshold, which equals a new run."""

from __future__ import annotations

import copy
import json
import pickle
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers import borderline_pairs
from helpers.timing import assert_linear
from reference.dedup import labels, near_pairs, order_of

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
WORDS = [
    *("harbour", "street", "closed", "traffic", "water", "main", "notice", "bus", "line"),
    *("Monday", "北京", "上海", "通知", "道路"),
]
STEPS = [0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1 - 1e-9]
KEEPS = ["first", "longest", "shortest", "best:n"]


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
        {"row": 7, "dup_of": 6, "distance": None, "similarity": 1.0, "differs": "", "lost": 0}
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


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def same(found: nd.Deduplication, expected: nd.Deduplication) -> None:
    assert found.clusters.tolist() == expected.clusters.tolist()
    assert found.kept.tolist() == expected.kept.tolist()
    for name in ("row", "dup_of", "distance"):
        assert found.removed[name].to_pylist() == expected.removed[name].to_pylist()
    assert found.removed["similarity"].to_pylist() == pytest.approx(
        expected.removed["similarity"].to_pylist(), abs=1e-12
    )
    assert found.removed.schema == expected.removed.schema
    assert (found.similarity, found.radius) == (expected.similarity, expected.radius)


@settings(max_examples=60, deadline=None)
@given(
    texts=corpora(),
    steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=3).map(sorted),
    keep=st.sampled_from(KEEPS),
    linkage=st.sampled_from(["connected", "star"]),
    data=st.data(),
)
def test_at_a_higher_similarity_it_is_a_new_run(
    texts: list[str], steps: list[float], keep: str, linkage: Any, data: st.DataObject
) -> None:
    numbers = st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts))
    options: dict[str, Any] = {
        "recall": 1.0,
        "keep": keep,
        "linkage": linkage,
        "keys": data.draw(numbers) if ":" in keep else None,
    }
    found = nd.dedup(texts, steps[0], pairs=True, **options)
    for step in steps:
        same(found.at(step), nd.dedup(texts, step, **options))
    # And again from an answer: the pairs are those of the run.
    same(found.at(steps[-1]).at(steps[0]), found)
    same(found, nd.dedup(texts, steps[0], **options))


@settings(max_examples=80, deadline=None)
@given(
    texts=corpora(),
    radii=st.lists(st.sampled_from([0, 3, 10, 20, 33, 50]), min_size=2, max_size=3),
    linkage=st.sampled_from(["connected", "star"]),
    keep=st.sampled_from(KEEPS[:3]),
)
def test_at_a_smaller_radius_it_is_a_new_run(
    texts: list[str], radii: list[int], linkage: Any, keep: str
) -> None:
    found = nd.dedup(texts, radius=max(radii), linkage=linkage, keep=keep, pairs=True)
    for radius in radii:
        same(found.at(radius=radius), nd.dedup(texts, radius=radius, linkage=linkage, keep=keep))


@pytest.mark.parametrize("linkage", ["connected", "star"])
def test_at_the_defaults_on_the_sample(linkage: Any) -> None:
    found = nd.dedup(sample(), linkage=linkage, pairs=True)
    for step in (0.85, 0.88, 0.9, 0.95, 0.99):
        same(found.at(step), nd.dedup(sample(), step, linkage=linkage))


def test_at_the_default_recall_as_many_are_removed_as_by_a_new_run() -> None:
    """Each misses a few pairs of its own, so answers are compared by how many of the pairs made for
    the purpose they tell."""
    rng = random.Random(12)
    kind = borderline_pairs.Kind(
        lambda rng: [borderline_pairs.word(rng) for _ in range(rng.randint(8, 30))], []
    )
    made = [
        (text := kind.draw(rng), [*text[: -rng.randint(1, 3)], borderline_pairs.word(rng)])
        for _ in range(600)
    ]
    texts = [" ".join(words) for pair in made for words in pair]
    found = nd.dedup(texts, 0.7, pairs=True)
    for step in (0.8, 0.9):
        new, again = nd.dedup(texts, step), found.at(step)
        near = sum(
            nd.similarity(texts[at], texts[at + 1]) >= step for at in range(0, len(texts), 2)
        )
        assert near > 50
        assert len(again.removed) >= 0.99 * near
        assert abs(len(again.removed) - len(new.removed)) <= 0.01 * near + 1
        assert min(again.removed["similarity"].to_pylist()) >= step


def test_texts_that_are_nearly_all_alike() -> None:
    """Dense buckets, of which a run without pairs looks only at those that link something."""
    rng = random.Random(3)
    base = [borderline_pairs.word(rng) for _ in range(20)]
    texts = []
    for _ in range(700):
        words = list(base)
        for at in rng.sample(range(20), rng.randint(0, 3)):
            words[at] = borderline_pairs.word(rng)
        texts.append(" ".join(words))
    found = nd.dedup(texts, 0.6, recall=1.0, pairs=True)
    assert len(found.pairs) > 100_000
    for step in (0.6, 0.8, 0.9):
        same(found.at(step), nd.dedup(texts, step, recall=1.0))


@settings(max_examples=60, deadline=None)
@given(
    texts=corpora(), similarity=st.sampled_from([0.5, 0.8, 0.9]), keep=st.sampled_from(KEEPS[:3])
)
# The first of equal texts in the order of keeping may be the later row.
@example(texts=["one two three", "one, two, three!"], similarity=0.9, keep="longest")
def test_the_table_of_pairs_holds_what_comparing_all_finds(
    texts: list[str], similarity: float, keep: str
) -> None:
    found = nd.dedup(texts, 0.5, recall=1.0, keep=keep, pairs=True).at(similarity)
    table = found.pairs.to_pylist()
    listed = [(row["left"], row["right"]) for row in table]
    rows = set(listed)
    assert listed == sorted(rows)
    every = set(near_pairs(texts, similarity, nd.Recipe()))
    assert rows <= every
    # What is not listed follows from twins: clusters are the same.
    expected = labels(len(texts), sorted(every), "connected", order_of(texts, "first"))
    assert labels(len(texts), sorted(rows), "connected", order_of(texts, "first")) == expected
    for row in table:
        left, right = texts[row["left"]], texts[row["right"]]
        assert row["similarity"] == pytest.approx(nd.similarity(left, right))
        a, b = nd.fingerprint(left), nd.fingerprint(right)
        assert row["distance"] == (None if a is None or b is None else nd.distance(a, b))


def test_ratios_and_the_least_similar() -> None:
    texts = ["one two three four five six", "One two three four five six!", "a b c", "seven eight"]
    texts.append("one two three four five seven")
    found = nd.dedup(texts, 0.5)
    assert (found.ratio, found.exact_ratio) == (2 / 5, 1 / 5)
    assert found.least_similar(1)["row"].to_pylist() == [4]
    assert found.least_similar()["row"].to_pylist() == [4, 1]
    assert found.least_similar(5).schema == found.removed.schema
    on_sample = nd.dedup(sample())
    lowest = on_sample.least_similar(5)["similarity"].to_pylist()
    assert lowest == sorted(on_sample.removed["similarity"].to_pylist())[:5]
    none = nd.dedup([])
    assert (none.ratio, none.exact_ratio, len(none.least_similar())) == (0.0, 0.0, 0)
    with pytest.raises(ValueError, match="n is 0; it must be a whole number from 1"):
        found.least_similar(0)


def test_nothing_and_missing_texts_can_be_asked_again() -> None:
    for texts in ([], [None], ["", None, "…"], pa.array([None, None])):
        found = nd.dedup(texts, pairs=True)
        assert found.at(0.9).kept.tolist() == found.kept.tolist() == list(range(len(texts)))
        assert found.pairs.num_rows == 0
        assert nd.dedup(texts, radius=3, pairs=True).at(radius=1).removed.num_rows == 0


@pytest.mark.parametrize(
    ("run", "again", "message"),
    [
        ({}, {"similarity": 0.9}, r"at needs all pairs.*run dedup\(texts, pairs=True\)"),
        ({"pairs": True}, {}, "at takes a similarity or a radius; give one of them"),
        ({"pairs": True}, {"similarity": 0.9, "radius": 1}, "give one of them"),
        (
            {"pairs": True},
            {"similarity": 0.8},
            "similarity is 0.8; pairs were found from 0.85 on, so at takes no less: run dedup",
        ),
        ({"pairs": True}, {"similarity": 1.5}, "similarity is 1.5; it must be a number above 0"),
        (
            {"pairs": True},
            {"radius": 3},
            "found by similarity, so at takes no radius; run dedup with radius=3",
        ),
        (
            {"pairs": True, "radius": 3},
            {"similarity": 0.9},
            "found by radius, so at takes no similarity; run dedup with similarity=0.9",
        ),
        ({"pairs": True, "radius": 3}, {"radius": 4}, "radius is 4; pairs were found up to 3, so"),
    ],
)
def test_what_a_result_cannot_say_is_refused(
    run: dict[str, Any], again: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        nd.dedup(["a b", "c d"], **run).at(**again)


def test_pairs_that_were_not_kept_are_refused() -> None:
    with pytest.raises(ValueError, match="pairs needs all pairs, which this run has not kept"):
        _ = nd.dedup(["a b", "c d"]).pairs


@pytest.mark.parametrize("options", [{}, {"pairs": True}, {"pairs": True, "radius": 20}])
@pytest.mark.parametrize("send", [copy.copy, copy.deepcopy, pickled])
def test_a_result_is_plain_data(options: dict[str, Any], send: Any) -> None:
    found = nd.dedup(sample(), **options)
    sent = send(found)
    same(sent, found)
    assert sent.recall == found.recall
    if "pairs" in options:
        assert sent.pairs == found.pairs
        stricter = {"radius": 9} if "radius" in options else {"similarity": 0.9}
        same(sent.at(**stricter), found.at(**stricter))
