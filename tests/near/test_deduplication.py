"""A result asked again: what it says is what a new run says."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers import borderline_pairs
from helpers.timing import assert_linear
from near.test_dedup import corpora, sample
from neardup.near.clusters import connected, star
from reference.dedup import labels, near_pairs, order_of

STEPS = [0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1 - 1e-9]
KEEPS = ["first", "longest", "shortest", "best:n"]


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


@settings(max_examples=150, deadline=None)
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
    texts=corpora(),
    similarity=st.sampled_from([0.5, 0.8, 0.9]),
    keep=st.sampled_from(KEEPS[:3]),
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


chains = st.integers(1, 30).flatmap(
    lambda rows: st.tuples(
        st.just(rows), st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)))
    )
)


@given(chains)
def test_linking_is_that_of_the_reference(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    rows, drawn_pairs = drawn
    pairs = sorted({(min(pair), max(pair)) for pair in drawn_pairs if pair[0] != pair[1]})
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    for link, name in ((star, "star"), (connected, "connected")):
        found = link(ends[:, 0], ends[:, 1], rows)
        assert found.tolist() == labels(rows, pairs, name, range(rows))


@pytest.mark.parametrize(("link", "expected"), [(connected, [0] * 5), (star, [0, 0, 2, 2, 4])])
def test_a_long_chain_is_linked_in_linear_time(link: Any, expected: list[int]) -> None:
    def run(earlier: Any) -> Any:
        return link(earlier, earlier + 1, len(earlier) + 1)

    assert run(np.arange(4)).tolist() == expected
    assert_linear(run, np.arange, 20_000)


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
