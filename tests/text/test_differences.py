"""What differs between two texts: the table of cases, and the core against Python's own counts."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.differing_pairs import PAIRS
from neardup import _core
from neardup.near.corpus import Judge, judging_corpus
from neardup.text.differences import (
    ASPECTS,
    aspect_names,
    check_distinguish,
    differences,
    negation_words,
)
from neardup.text.recipe import as_recipe

PARTS = st.sampled_from(
    [
        *("take", "not", "don't", "don’t", "5", "-5", "+5", "1,000", "3.14", "C", "C++", "C#"),
        *("==", "!=", "a<b", "<b>", "</b>", "😀", "$", "%", "...", "不", "没有", "二十", "第三"),
        *("ก๑๒", "non-toxic", "n'est", "\n> ", "**bold**", "Straße", "ＡＢＣ", "٣"),
    ]
)
TEXTS = st.lists(PARTS, max_size=8).map(" ".join) | st.lists(PARTS, max_size=8).map("".join)


def judge(*texts: str) -> Judge:
    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    return Judge(judging_corpus(column, as_recipe(None), np.ones(len(texts), dtype=np.bool_)))


@pytest.mark.parametrize("name", PAIRS)
def test_known_pairs(name: str) -> None:
    left, right, aspects, lost = PAIRS[name]
    found = differences(left, right)
    assert (found.aspects, len(found.lost)) == (aspects, lost)
    back = differences(right, left)
    assert (back.aspects, back.added, back.lost) == (aspects, found.lost, found.added)


@settings(max_examples=300, deadline=None)
@given(left=TEXTS, right=TEXTS)
def test_the_core_counts_as_python_does(left: str, right: str) -> None:
    expected = differences(left, right)
    differs, lost = judge(left, right).differences(np.array([0]), np.array([1]))
    assert differs.to_pylist() == [",".join(expected.aspects)]
    assert lost.to_pylist() == [len(expected.lost)]


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    found = differences(text, f"  {text.replace(' ', '  ')} ".replace("'", "’"))
    assert found.aspects == ()
    assert not found.lost
    assert not found.added


def test_many_pairs_in_batches_of_texts() -> None:
    texts = [f"the price is {number % 7} dollars {'not' * (number % 2)}" for number in range(300)]
    left, right = np.triu_indices(len(texts), 1)
    differs, lost = judge(*texts).differences(left, right)
    for at in range(0, len(left), 997):
        expected = differences(texts[left[at]], texts[right[at]])
        assert differs[at].as_py() == ",".join(expected.aspects)
        assert lost[at].as_py() == len(expected.lost)


def test_names_of_the_bits() -> None:
    assert [aspect_names(1 << at) for at in range(4)] == list(ASPECTS)
    assert aspect_names(0) == ""
    assert aspect_names(15) == "numbers,negation,symbols,order"


def test_distinguish_is_checked() -> None:
    assert check_distinguish(None) == ()
    assert check_distinguish(" order, numbers ") == check_distinguish(["numbers", "order"])
    with pytest.raises(ValueError, match="distinguish has 'numbres'; it must be one or more of"):
        check_distinguish("numbres")
    with pytest.raises(ValueError, match="distinguish has ''"):
        check_distinguish("")
    with pytest.raises(TypeError, match="distinguish is 5; it must be names of numbers"):
        check_distinguish(5)  # type: ignore[call-overload]


def test_each_word_of_the_lists_negates() -> None:
    languages = tomllib.loads(files("neardup.text").joinpath("negation.toml").read_text("utf-8"))
    assert len(languages) == 9
    for name, lists in languages.items():
        for word in [*lists.get("words", []), *lists.get("phrases", [])]:
            assert len(negation_words().tokens(word)[2]) == 1, f"{name}: {word}"
        for phrase in lists.get("others", []):
            assert not negation_words().tokens(phrase)[2], f"{name}: {phrase}"


def test_the_core_names_a_wrong_aspect() -> None:
    with pytest.raises(ValueError, match='distinguish is "meaning"'):
        as_recipe(None).pipeline.distinguishing(
            ["meaning"],
            _core.Negation(words=[], beginnings=[], endings=[], phrases=[], others=[]),
            0,
        )
