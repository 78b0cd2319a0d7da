"""Look-ups against a comparison of every text with every other."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import neardup as nd
from neardup import _core
from neardup.near import lookup
from neardup.near.lookup import (
    Candidates,
    CorpusDocument,
    Queries,
    differences,
    look_up,
    look_up_one,
)
from neardup.near.question import Question, check_question
from neardup.text.differences import ASPECTS, aspect_names
from neardup.text.differences import differences as differences_of
from reference.differences import agreement

WORDS = ["red", "green", "blue", "black", "white", "yellow", "a"]
# The same features, and other numbers or symbols.
VARIANTS = [*WORDS, "5", "-5", "C", "C++", "not"]
texts = st.lists(st.sampled_from(VARIANTS), min_size=2, max_size=7).map(" ".join)
RECIPE = nd.Recipe(bits=72)


class Listed:
    """Texts by their place, in an index of each kind."""

    def __init__(self, listed: Sequence[str]) -> None:
        self.values, self.signal, self.sketches = RECIPE.pipeline.sketched(listed, None)
        self.texts = listed
        self.codes = _core.Index(RECIPE.bits, None)
        self.index = _core.SketchIndex(0.85, 0.99, None)
        keys = np.flatnonzero(self.signal)
        self.codes.add(self.values[keys], keys, None, len(keys), None, None)
        self.index.add(self.sketches[keys], keys)

    def within(
        self, values: NDArray[np.uint64], radius: int, recall: float, limit: int | None
    ) -> Candidates:
        found = self.codes.nearest(values, limit or len(self.texts), radius, None, None)
        assert recall == 1
        return Candidates(*(np.asarray(column, dtype=np.int64) for column in found))

    def candidates(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, limit: int | None
    ) -> Candidates:
        found = _core.search_sketches([self.index], sketches, (similarity, recall), limit, None)
        return Candidates(*(np.asarray(column, dtype=np.int64) for column in found))

    def candidates_of_one(
        self, sketch: bytes, similarity: float, recall: float, limit: int | None
    ) -> list[tuple[int, int]]:
        return _core.search_sketch([self.index], sketch, (similarity, recall), limit)

    def documents(self, keys: Sequence[int]) -> dict[int, CorpusDocument]:
        rows = self.values.astype("<u8", copy=False).view(np.uint8)[:, : RECIPE.bits // 8]
        return {key: CorpusDocument(self.texts[key], rows[key].tobytes(), str(key)) for key in keys}


def naive(asked: str, listed: Sequence[str], wanted: Question) -> list[tuple[int, int, float]]:
    """Key, distance and similarity of all that are near, best first."""
    code = nd.fingerprint(asked, RECIPE)
    found = []
    for key, text in enumerate(listed):
        other = nd.fingerprint(text, RECIPE)
        if code is None or other is None:
            continue
        distance, similarity = nd.distance(code, other), nd.similarity(asked, text, RECIPE)
        share = agreement(asked, text, wanted.distinguish)
        similarity = min(similarity, share)
        if wanted.radius is not None:
            if distance <= wanted.radius and share >= 0.85:
                found.append((0.0, distance, key))
        elif wanted.similarity is not None and similarity >= wanted.similarity:
            found.append((-similarity, distance, key))
    return [(key, distance, -value) for value, distance, key in sorted(found)]


@settings(deadline=None)
@given(
    listed=st.lists(texts, min_size=1, max_size=30),
    asked=st.lists(texts, min_size=1, max_size=4),
    limit=st.one_of(
        st.sampled_from([0.3, 0.6, 0.85, 1.0]).map(lambda value: (value, None)),
        st.integers(0, 72).map(lambda value: (None, value)),
    ),
    most=st.none() | st.integers(1, 4),
    few=st.sampled_from([0, 1, lookup.MAX_UNBATCHED]),
    at_once=st.sampled_from([1, 3, lookup.BATCH_PAIRS]),
    asked_first=st.sampled_from([1, lookup.FIRST_ASKED]),
    distinguish=st.lists(st.sampled_from(ASPECTS), unique=True),
)
def test_look_ups_find_what_is_near(
    listed: list[str],
    asked: list[str],
    limit: tuple[float | None, int | None],
    most: int | None,
    few: int,
    at_once: int,
    asked_first: int,
    distinguish: list[str],
) -> None:
    values: Any = {"MAX_UNBATCHED": few, "BATCH_PAIRS": at_once, "FIRST_ASKED": asked_first}
    with patch.multiple(lookup, **values):
        check(listed, asked, limit, most, distinguish)


def check(
    listed: list[str],
    asked: list[str],
    limit: tuple[float | None, int | None],
    most: int | None,
    distinguish: Sequence[str] = (),
) -> None:
    wanted = check_question(*limit, 1.0, bits=RECIPE.bits, distinguish=distinguish)
    corpus = Listed(listed)
    values, signal, sketches = RECIPE.pipeline.sketched(asked, None)
    asked = [text for text, there in zip(asked, signal, strict=True) if there]
    queries = Queries(asked, values[signal], sketches[signal])
    pairs = look_up(queries, corpus, wanted, RECIPE, most)
    for row, text in enumerate(asked):
        expected = naive(text, listed, wanted)[:most]
        mine = pairs.queries == row
        found = list(zip(pairs.keys[mine].tolist(), pairs.distances[mine].tolist(), strict=True))
        assert found == [(key, distance) for key, distance, _ in expected]
        if pairs.similarities is not None:
            assert pairs.similarities[mine].tolist() == [value for _, _, value in expected]
            sketch = queries.sketches[row].tobytes()
            single = look_up_one(text, sketch, corpus, wanted, RECIPE, most)
            assert [(x.key, x.distance, x.similarity) for x in single] == expected
            assert {x.document.id for x in single if x.document} <= {str(x.key) for x in single}
        else:
            assert limit[1] is not None
    differs, lost = differences(asked, corpus.documents, pairs.queries, pairs.keys)
    for row, key, bits, words in zip(pairs.queries, pairs.keys, differs, lost, strict=True):
        between = differences_of(listed[key], asked[row])
        assert (aspect_names(int(bits)), words) == (",".join(between.aspects), len(between.lost))


@pytest.mark.parametrize("by", [(0.85, None), (None, 3)], ids=str)
@pytest.mark.parametrize("most", [1, 2, 70, None])
def test_a_limit_hides_no_document_behind_those_that_differ(
    by: tuple[float | None, int | None], most: int | None
) -> None:
    # All but one are twins of the first query; two of them have its number.
    listed = ["at -5 degrees the water is open"] * 600 + ["at 5 degrees the water is open"]
    listed.insert(300, "At 5 degrees, the water is open!")
    listed.insert(20, "at 5 degrees the water is frozen and open")
    check(listed, [listed[-1], "at 5 degrees the water is frozen"], by, most, ["numbers"])


@pytest.mark.parametrize("few", [0, lookup.MAX_UNBATCHED])
@pytest.mark.parametrize("most", [None, 1, 2, 3, 9])
def test_the_best_of_many(few: int, most: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MAX_UNBATCHED", few)
    listed = [" ".join(WORDS[:size]) for size in (6, 3, 5, 4, 3, 2)] * 2
    check(listed, [" ".join(WORDS[:size]) for size in (4, 3)], (0.6, None), most)


class Backwards(Listed):
    """As many registers may agree in texts of any similarity: no order of theirs is the last."""

    def candidates(
        self, sketches: NDArray[np.uint8], similarity: float, recall: float, limit: int | None
    ) -> Candidates:
        found = super().candidates(sketches, similarity, recall, limit)
        order = np.lexsort((-found.keys, found.measure, found.queries))
        return Candidates(*(column[order] for column in found))

    def candidates_of_one(
        self, sketch: bytes, similarity: float, recall: float, limit: int | None
    ) -> list[tuple[int, int]]:
        found = super().candidates_of_one(sketch, similarity, recall, limit)
        return sorted(found, key=lambda pair: (pair[1], -pair[0]))


@pytest.mark.parametrize("few", [0, lookup.MAX_UNBATCHED])
def test_the_most_similar_are_first(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MAX_UNBATCHED", few)
    listed = [" ".join(WORDS[:size]) for size in (6, 3, 5, 4, 3, 2)] * 2
    asked = " ".join(WORDS[:4])
    wanted = check_question(0.6, None, 1.0, bits=RECIPE.bits)
    values, _, sketches = RECIPE.pipeline.sketched([asked], None)
    queries, corpus = Queries([asked], values, sketches), Backwards(listed)
    expected = [key for key, _, _ in naive(asked, listed, wanted)]
    assert len(expected) > 6
    single = look_up_one(asked, sketches[0].tobytes(), corpus, wanted, RECIPE, None)
    assert [found.key for found in single] == expected
    assert look_up(queries, corpus, wanted, RECIPE, None).keys.tolist() == expected


@pytest.mark.parametrize("few", [0, lookup.MAX_UNBATCHED])
def test_a_cosine_of_exactly_the_similarity_is_found(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "MAX_UNBATCHED", few)
    left, right = "alpha bravo charlie delta", "alpha bravo charlie xenon"
    corpus = Listed([right])
    values, _, sketches = RECIPE.pipeline.sketched([left], None)
    queries = Queries([left], values, sketches)
    for similarity, expected in ((0.75, [0]), (0.75 + 1e-12, [])):
        wanted = check_question(similarity, None, 1.0, bits=RECIPE.bits)
        single = look_up_one(left, sketches[0].tobytes(), corpus, wanted, RECIPE, None)
        assert [found.key for found in single] == expected
        assert look_up(queries, corpus, wanted, RECIPE, None).keys.tolist() == expected
