"""What an engine finds and counts, against a comparison of every text with every other."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.engines import engine
from neardup.near import corpus
from neardup.near.corpus import memory_corpus
from neardup.near.join import DIGEST_BYTES, RadiusJoin, SketchJoin
from neardup.near.matches import SIMILARITY_BINS, MatchCounts, Matches
from neardup.near.question import Question, check_question
from reference.dedup import labels

RECIPE = nd.Recipe()
SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
WORDS = ["red", "green", "blue", "black", "white", "yellow", "violet", "brown"]
some_texts = st.lists(
    st.one_of(
        st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(" ".join),
        st.sampled_from(["", "…", "ok", "Ok", "yes"]),
    ),
    min_size=1,
    max_size=14,
)
questions = st.one_of(
    st.sampled_from([0.3, 0.5, 0.75, 0.85]).map(
        lambda value: check_question(value, None, 1.0, bits=128)
    ),
    st.sampled_from([0, 10, 40, 60]).map(lambda value: check_question(None, value, None, bits=128)),
)
# All near one another, so many that the core keeps them as one dense bucket.
FORMS = [f"dear customer your order {name} was shipped" for name in map(str, range(1000, 1150))]


def matched(texts: Sequence[str | None], asked: Question, **options: Any) -> Matches:
    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    return engine().match(memory_corpus(column, RECIPE, asked), asked, **options)


@dataclass
class Naive:
    """Every text compared with every other."""

    texts: Sequence[str]
    asked: Question

    def __post_init__(self) -> None:
        self.codes = [nd.fingerprint(text, RECIPE) for text in self.texts]

    def distance(self, a: int, b: int) -> int:
        left, right = self.codes[a], self.codes[b]
        return 0 if left is None or right is None else (left ^ right).bit_count()

    def similarity(self, a: int, b: int) -> float:
        return nd.similarity(self.texts[a], self.texts[b], RECIPE)

    def twins(self, a: int, b: int) -> bool:
        if self.codes[a] is None or self.codes[b] is None:
            return self.texts[a] == self.texts[b] and any(map(str.isalnum, self.texts[a]))
        if self.asked.similarity is None:
            return self.distance(a, b) == 0
        return sorted(self.texts[a].split()) == sorted(self.texts[b].split())

    def near(self, a: int, b: int) -> bool:
        if self.twins(a, b):
            return True
        if self.codes[a] is None or self.codes[b] is None:
            return False
        if self.asked.radius is not None:
            return self.distance(a, b) <= self.asked.radius
        return self.similarity(a, b) >= (self.asked.similarity or 0)

    def first(self, row: int, order: Sequence[int]) -> int:
        return next(other for other in order if other == row or self.twins(row, other))

    def pairs(self) -> list[tuple[int, int]]:
        """Those of rows that are nobody's twin."""
        rows = range(len(self.texts))
        alone = [row for row in rows if self.first(row, rows) == row]
        return [(a, b) for a in alone for b in alone if a < b and self.near(a, b)]


def histogram(values: Sequence[int]) -> list[int]:
    return [values.count(value) for value in range(max(values, default=-1) + 1)]


def bins(values: Sequence[float]) -> list[int]:
    places = [min(int(value * SIMILARITY_BINS), SIMILARITY_BINS - 1) for value in values]
    return [places.count(place) for place in range(SIMILARITY_BINS)]


def check_counts(counts: MatchCounts, naive: Naive, pairs: Sequence[tuple[int, int]]) -> None:
    assert counts.pairs == len(pairs)
    assert counts.distances == histogram([naive.distance(*pair) for pair in pairs])
    similarities = [naive.similarity(*pair) for pair in pairs]
    if naive.asked.similarity is None:
        assert counts.verified == 0
        assert sum(counts.similarities) == 0
    else:
        assert counts.similarities == bins(similarities)
        assert counts.candidates >= counts.verified >= len(pairs)


@settings(max_examples=60)
@given(texts=some_texts, asked=questions)
def test_pairs_and_what_is_counted(texts: list[str], asked: Question) -> None:
    naive = Naive(texts, asked)
    matches = matched(texts, asked)
    rows = range(len(texts))
    assert matches.twins.tolist() == [naive.first(row, rows) for row in rows]
    found = []
    for part in matches.pairs():
        ends = list(zip(part.left.tolist(), part.right.tolist(), strict=True))
        assert part.distance.tolist() == [naive.distance(*pair) for pair in ends]
        if asked.similarity is None:
            assert part.similarity is None
        else:
            assert part.similarity is not None
            assert part.similarity.tolist() == [naive.similarity(*pair) for pair in ends]
        found += ends
    assert sorted(found) == naive.pairs()
    check_counts(matches.counts, naive, found)


@settings(max_examples=60)
@given(
    texts=some_texts,
    asked=questions,
    linkage=st.sampled_from(["star", "connected"]),
    data=st.data(),
)
def test_clusters_in_any_order(
    texts: list[str], asked: Question, linkage: Any, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(texts))))
    naive = Naive(texts, asked)
    matches = matched(texts, asked, order=np.array(order, dtype=np.int64))
    found = matches.clusters(linkage)
    near = [(a, b) for a in order for b in order if a < b and naive.near(a, b)]
    expected = labels(len(texts), near, linkage, order)
    assert found.labels.tolist() == expected
    assert matches.twins.tolist() == [naive.first(row, order) for row in range(len(texts))]
    for row, kept in enumerate(expected):
        if row == kept:
            continue
        signal = naive.codes[row] is not None
        value = found.similarity[row]
        if asked.similarity is None:
            assert math.isnan(value)
            assert found.distance[row] == naive.distance(row, kept)
        elif not math.isnan(value):
            assert value == pytest.approx(naive.similarity(row, kept) if signal else 1)
            assert found.distance[row] == naive.distance(row, kept)
        else:
            assert linkage == "connected"
    if asked.similarity is None:
        linked = [row for row, kept in enumerate(expected) if row != kept]
        assert matches.counts.pairs == len(linked)
        told = [
            naive.distance(row, expected[row]) for row in linked if naive.codes[row] is not None
        ]
        assert matches.counts.distances == histogram(told)
    else:
        # Very many pairs are not listed: those are judged that link.
        heads = {naive.first(row, order) for row in range(len(texts))}
        linked = [row for row in heads if expected[row] != row]
        counts, all_pairs = matches.counts, len(naive.pairs())
        assert len(linked) <= counts.pairs <= all_pairs
        assert sum(counts.distances) == sum(counts.similarities) <= counts.verified
        assert counts.candidates >= counts.verified
        if linkage == "star":
            # The link of each is told with its verdict.
            assert counts.verified >= counts.pairs == sum(counts.distances)


@settings(max_examples=80)
@given(texts=some_texts, asked=questions, data=st.data())
def test_the_nearest_of_those_before(
    texts: list[str], asked: Question, data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(texts)))
    naive = Naive(texts, asked)
    matches = matched(texts, asked, reference_rows=first)
    found = matches.nearest(first)
    assert found.match[:first].tolist() == [-1] * first
    for row in range(first, len(texts)):
        near = []
        for other in range(first):
            if naive.near(row, other):
                twins = naive.twins(row, other)
                # Features that are alike have a cosine of 1, and may miss it by a hair.
                value = 1.0 if twins else naive.similarity(row, other)
                rank = value if asked.radius is None or twins else 0.0
                near.append((-rank, naive.distance(row, other), other, value, twins))
        if not near:
            assert found.match[row] == -1
            continue
        _, distance, other, value, _ = min(near)
        assert (found.match[row], found.distance[row]) == (other, distance)
        if asked.radius is None:
            assert found.similarity[row] == value
        else:
            assert math.isnan(found.similarity[row])


@pytest.mark.parametrize("reverse", [False, True])
def test_of_equally_near_rows_the_first_is_the_match(reverse: bool) -> None:
    before = ["red green blue black", "red green grey cyan"][:: -1 if reverse else 1]
    texts = [*before, "red green grey blue"]
    asked = check_question(None, 40, None, bits=128)
    assert {Naive(texts, asked).distance(row, 2) for row in (0, 1)} == {26}
    found = matched(texts, asked, reference_rows=2).nearest(2)
    assert (found.match[2], found.distance[2]) == (0, 26)


@pytest.mark.parametrize("linkage", [None, "star", "connected"])
def test_counts_at_the_defaults(linkage: Any) -> None:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    asked = check_question(0.7, None, None, bits=RECIPE.bits)
    naive = Naive(texts, asked)
    matches = matched(texts, asked)
    twins = set(np.flatnonzero(matches.twins != np.arange(len(texts))).tolist())
    pairs = [pair for pair in naive.pairs() if not twins & set(pair)]
    assert len(pairs) > 3
    if linkage is None:
        list(matches.pairs())
    else:
        matches.clusters(linkage)
    assert not matches.plan["dense"]
    check_counts(matches.counts, naive, pairs)
    edge = [pair for pair in pairs if naive.similarity(*pair) < 0.72]
    assert matches.counts.edge[0] == len(edge)


def _forget(ticks: list[int], *_: object) -> None:
    ticks.clear()


def test_more_pairs_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(WORDS[:size]) for size in range(2, 9)]
    asked = check_question(0.7, None, None, bits=RECIPE.bits)
    (whole,) = matched(texts, asked).pairs()
    assert len(whole.left) > 6
    for size in (1, 3):
        monkeypatch.setattr(corpus, "BATCH_PAIRS", size)
        ticks: list[int] = []
        # Each stage counts for itself: first tables, then pairs.
        begun = partial(_forget, ticks)
        matches = matched(texts, asked, tick=ticks.append, stage=begun)
        (found,) = matches.pairs()
        for name in ("left", "right", "distance", "similarity"):
            assert getattr(found, name).tolist() == getattr(whole, name).tolist()
        assert sum(ticks) == matches.counts.verified
        assert set(ticks[:-1]) <= {size}


@pytest.mark.parametrize("linkage", [None, "star", "connected"])
def test_dense_buckets(linkage: Any) -> None:
    asked = check_question(0.7, None, 1.0, bits=RECIPE.bits)
    texts = [*FORMS, "we all scream for ice cream", FORMS[3].upper()]
    naive = Naive(FORMS, asked)
    expected = naive.pairs()
    assert len(expected) == len(FORMS) * (len(FORMS) - 1) // 2
    matches = matched(texts, asked)
    if linkage is None:
        found = [
            pair
            for part in matches.pairs()
            for pair in zip(part.left.tolist(), part.right.tolist(), strict=True)
        ]
        assert sorted(found) == expected
        check_counts(matches.counts, naive, expected)
        assert matches.counts.candidates == matches.counts.verified
    else:
        found_labels = matches.clusters(linkage).labels.tolist()
        assert found_labels == [0] * len(FORMS) + [len(FORMS), 0]
        # Each is linked by a pair at least; not all pairs are looked at.
        assert len(FORMS) - 1 <= matches.counts.pairs <= len(expected)
        if linkage == "star":
            assert len(FORMS) - 1 <= sum(matches.counts.distances) <= len(expected)
            assert sum(matches.counts.similarities) == sum(matches.counts.distances)
    assert matches.plan["method"] == "inverted"


def test_more_pairs_of_a_dense_bucket_than_are_held_at_a_time() -> None:
    forms = [f"dear customer your order {number} was shipped" for number in range(1000, 1900)]
    matches = matched(forms, check_question(0.7, None, 1.0, bits=RECIPE.bits))
    parts = list(matches.pairs())
    # Four parts wait for their reader at most.
    assert len(parts) > 6
    left, right = (
        np.concatenate([getattr(part, side) for part in parts]) for side in ("left", "right")
    )
    assert (left < right).all()
    assert len(np.unique(left * len(forms) + right)) == len(left) == matches.counts.pairs
    assert len(left) == len(forms) * (len(forms) - 1) // 2


def test_what_goes_wrong_while_pairs_are_looked_for_is_raised() -> None:
    class Broken:
        dense = (1,)

        def dense_pairs(self, *_: Any) -> None:
            raise MemoryError("no room")

    matches: Any = matched(FORMS, check_question(0.7, None, 1.0, bits=RECIPE.bits))
    matches._join = Broken()
    with pytest.raises(MemoryError, match="no room"):
        list(matches._dense_pairs())


@pytest.mark.parametrize("kind", [SketchJoin, RadiusJoin])
def test_all_are_compared_with_all_unless_told(kind: Any) -> None:
    similarity, radius = (0.6, None) if kind is SketchJoin else (None, 60)
    asked = check_question(similarity, radius, 1.0, bits=RECIPE.bits)
    texts = ["red green blue black", "red green blue black white", "red green blue black yellow"]
    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    matches = kind(memory_corpus(column, RECIPE, asked), asked)
    if kind is RadiusJoin:
        # The kernel says it when it is asked.
        assert matches.plan == {}
    found = [pair for part in matches.pairs() for pair in zip(part.left, part.right, strict=True)]
    assert sorted(found) == Naive(texts, asked).pairs() == [(0, 1), (0, 2), (1, 2)]
    assert matches.plan


def test_what_is_not_asked_for_is_not_waited_for() -> None:
    """A reader that leaves early ends the thread that looks for pairs."""
    import threading

    asked = check_question(0.7, None, 1.0, bits=RECIPE.bits)
    parts = matched(FORMS, asked).pairs()
    sizes = [len(next(parts).left), len(next(parts).left)]
    assert sizes[1] > 0
    parts.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "neardup-dense"]


def test_recall_is_estimated_from_pairs_at_the_edge() -> None:
    counts = MatchCounts()
    assert counts.estimated_recall is None
    counts.edge = (9, 10.0)
    assert counts.estimated_recall == 0.9


def test_counts_add_up() -> None:
    counts = MatchCounts()
    counts.add(np.array([3, 1, 3]), np.array([0.0, 0.05, 1.0]))
    counts.add(np.array([5]), np.array([0.999]))
    counts.add(np.array([], dtype=np.int64), None)
    assert counts.pairs == 4
    assert counts.distances == [0, 1, 0, 2, 0, 1]
    assert counts.similarities == [1, 1, *[0] * (SIMILARITY_BINS - 3), 2]


def test_more_short_texts_than_are_looked_at_together() -> None:
    """Texts without a signal are known by their equals, across parts of 16,384."""
    count = 1 << 14
    texts = [f"t{row}" for row in range(count + 1)] + ["t0", f"t{count}", "", "…"]
    matches = matched(texts, check_question(None, 3, None, bits=RECIPE.bits))
    expected = [*range(count + 1), 0, count, count + 3, count + 4]
    assert matches.twins.tolist() == expected
    assert matches.clusters("star").labels.tolist() == expected
    assert DIGEST_BYTES == 16


@pytest.mark.parametrize("texts", [[], [None], [None, "one two three", None, "one two three"]])
def test_missing_texts(texts: list[str | None]) -> None:
    expected = [texts.index(text) if text else row for row, text in enumerate(texts)]
    for asked in (
        check_question(0.8, None, None, bits=128),
        check_question(None, 3, None, bits=128),
    ):
        assert matched(texts, asked).clusters("star").labels.tolist() == expected
        assert [
            part.left.tolist() for part in matched(texts, asked).pairs() if len(part.left)
        ] == []


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^engine is 'sparks'; use one of local"):
        engine("sparks")
