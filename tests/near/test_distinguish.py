"""distinguish=: texts that differ so are no near-duplicates; every join against the definition."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers.differing_pairs import PAIRS, TEXTS
from neardup.near.question import Question
from neardup.text.differences import ASPECTS, differences
from neardup.text.recipe import as_recipe
from reference.differences import share_in_order, similarity

CHOICES = [aspects for size in range(1, 5) for aspects in itertools.combinations(ASPECTS, size)]
LINES = st.lists(
    st.tuples(
        st.sampled_from(["harbour street closed for traffic", "street harbour for closed traffic"]),
        st.sampled_from(["", "not", "never"]),
        st.sampled_from(["", "5", "6", "-5"]),
        st.sampled_from(["", "😀", "C++"]),
        st.sampled_from(["", "on Monday", "until the main is mended"]),
    ).map(" ".join),
    min_size=2,
    max_size=12,
)


def stars(texts: list[str], near: Any) -> list[int]:
    """Return the first representative that is near each text, by the definition of a star."""
    labels: list[int] = []
    for row in range(len(texts)):
        kept = [to for to in range(row) if labels[to] == to and near(texts[row], texts[to])]
        labels.append(kept[0] if kept else row)
    return labels


@pytest.mark.parametrize("by", [{}, {"recall": 1.0}, {"radius": 40}], ids=str)
@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_of_the_table_is_kept_if_it_differs_so(name: str, by: dict[str, Any]) -> None:
    left, right, aspects, _ = PAIRS[name]
    for aspect in ASPECTS:
        kept = nd.dedup([left, right], distinguish=aspect, **by).kept.tolist()
        differs = aspect in aspects or (aspect == "order" and share_in_order(left, right) < 0.85)
        assert kept == ([0, 1] if differs else [0]), aspect
    assert nd.dedup([left, right], **by).kept.tolist() == [0]


@pytest.mark.parametrize("distinguish", CHOICES, ids=",".join)
def test_the_table_as_one_corpus(distinguish: tuple[str, ...]) -> None:
    found = nd.dedup(TEXTS, distinguish=distinguish, recall=1.0)
    near = lambda left, right: similarity(left, right, distinguish) >= 0.85  # noqa: E731
    assert found.clusters.tolist() == stars(TEXTS, near)
    for row in found.removed.to_pylist():
        texts = TEXTS[row["dup_of"]], TEXTS[row["row"]]
        assert row["similarity"] == pytest.approx(similarity(*texts, distinguish), abs=1e-12)
        assert not set(row["differs"].split(",")) & set(distinguish)


@settings(max_examples=60, deadline=None)
@given(texts=LINES, distinguish=st.sampled_from(CHOICES), threshold=st.sampled_from([0.5, 0.85]))
def test_equals_the_definition(
    texts: list[str], distinguish: tuple[str, ...], threshold: float
) -> None:
    near = lambda left, right: similarity(left, right, distinguish) >= threshold  # noqa: E731
    found = nd.dedup(texts, threshold, distinguish=distinguish, recall=1.0)
    assert found.clusters.tolist() == stars(texts, near)
    graph = nd.dedup(texts, threshold, distinguish=distinguish, recall=1.0, pairs=True)
    assert graph.clusters.tolist() == found.clusters.tolist()
    stricter = nd.dedup(texts, 0.9, distinguish=distinguish, recall=1.0)
    assert graph.at(0.9).clusters.tolist() == stricter.clusters.tolist()


@settings(max_examples=60, deadline=None)
@given(
    texts=LINES,
    distinguish=st.sampled_from(CHOICES),
    linkage=st.sampled_from(["star", "connected"]),
)
def test_a_radius_is_verified(texts: list[str], distinguish: tuple[str, ...], linkage: Any) -> None:
    def near(left: str, right: str) -> bool:
        if set(differences(left, right).aspects) & (set(distinguish) - {"order"}):
            return False
        if "order" in distinguish and share_in_order(left, right) < 0.85:
            return False
        return bool(nd.distance(*map(nd.fingerprint, (left, right))) <= 20)

    found = nd.dedup(texts, radius=20, distinguish=distinguish, linkage=linkage)
    if linkage == "star":
        assert found.clusters.tolist() == stars(texts, near)
        return
    labels = list(range(len(texts)))
    for left, right in itertools.combinations(range(len(texts)), 2):
        if near(texts[left], texts[right]):
            one, two = sorted((labels[left], labels[right]))
            labels = [one if label == two else label for label in labels]
    assert found.clusters.tolist() == labels


@pytest.mark.parametrize("bits", [8, 16, 64])
def test_narrow_fingerprints_that_collide_are_verified(bits: int) -> None:
    texts = [f"the harbour street is closed until day {n // 2}" for n in range(800)]
    found = nd.dedup(texts, radius=0, recipe=nd.Recipe(bits=bits), distinguish="numbers")
    assert found.clusters.tolist() == [n // 2 * 2 for n in range(800)]


def test_many_lines_of_one_template_are_told_apart_quickly() -> None:
    # A dense bucket without `distinguish`; here each number is a class of its own.
    texts = [
        f"the harbour street is closed for traffic until day {n % 5000}" for n in range(10_000)
    ]
    found = nd.dedup(texts, 0.7, distinguish="numbers")
    assert len(found.kept) == 5000
    assert np.array_equal(found.clusters, np.arange(10_000) % 5000)


def test_order_counts_at_the_threshold_too() -> None:
    texts = [
        "the red harbour street is closed for all traffic",
        "is closed the red harbour street for much traffic",
    ]
    threshold = nd.similarity(*texts)
    assert nd.dedup(texts, threshold, recall=1.0).kept.tolist() == [0]
    assert nd.dedup(texts, threshold, recall=1.0, distinguish="order").kept.tolist() == [0, 1]


@pytest.mark.parametrize("by", [{}, {"recall": 1.0}, {"radius": 20}], ids=str)
def test_signs_exchanged_are_another_order(by: dict[str, Any]) -> None:
    texts = [f"between {a} and {b} degrees in the harbour" for a, b in ((-5, 5), (5, -5))]
    assert nd.dedup(texts, distinguish="numbers", **by).kept.tolist() == [0]
    assert nd.dedup(texts, distinguish="order", **by).kept.tolist() == [0, 1]


def test_a_wrong_aspect_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="distinguish has 'tone'; it must be one or more of"):
        nd.dedup(["a b"], distinguish="tone")


@pytest.mark.parametrize("recipe", [nd.Recipe(tokens="regex", pattern=r"\w+"), "http"], ids=str)
def test_a_recipe_that_builds_its_pipeline_at_once_distinguishes_too(recipe: Any) -> None:
    texts = ["status 200\n\ntake 5 mg of it every day", "status 200\n\ntake 50 mg of it every day"]
    chosen = as_recipe(recipe).distinguishing(("numbers",), 0.85)
    assert chosen.pipeline.judge_one(texts[0], texts)[0] == [1.0, 0.0]
    assert chosen.distinguishing((), 0.85) is chosen
    copied = pickle.loads(pickle.dumps(chosen))  # noqa: S301
    assert copied.pipeline.judge_one(texts[0], texts)[0] == [1.0, 0.0]
    assert as_recipe(recipe).pipeline.judge_one(texts[0], texts)[0][1] > 0.5


def test_order_is_compared_from_the_threshold_on() -> None:
    text, other = "a man bites a small dog today", "today a small dog bites a man"
    plain, low, high = (
        question.apply_to(as_recipe(None)).pipeline.judge_one(text, [other])[0][0]
        for question in (
            Question(0.9, None, 1.0),
            Question(0.9, None, 1.0, ("order",)),
            Question(1.1, None, 1.0, ("order",)),
        )
    )
    assert plain == high > 0.9 > low
