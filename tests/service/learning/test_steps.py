"""The steps: worked examples of lecture notes, and what changes from one text to another."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.service.learning.exercises import EXAMPLES
from neardup.service.learning.lessons import read_lessons
from neardup.service.learning.steps import (
    Steps,
    Word,
    compare_steps,
    parse_words,
    steps_of_text,
    steps_of_words,
    typed_hashes,
)
from reference.fingerprint import lookup3

BY_KEY = {example.key: example.values for example in EXAMPLES}


def worked(key: str) -> Steps:
    found = read_lessons([*BY_KEY[key].items()], "en")
    assert not found.errors
    assert found.steps is not None
    return found.steps.first


def test_five_words_as_in_the_lecture_note() -> None:
    steps = worked("by_hand")
    assert [row.hash for row in steps.rows] == [
        "01011011",
        "11001001",
        "11100010",
        "01111100",
        "00101011",
    ]
    assert steps.running == [
        [-1, 1, -1, 1, 1, -1, 1, 1],
        [1, 3, -3, -1, 3, -3, -1, 3],
        [4, 6, 0, -4, 0, -6, 2, 0],
        [2, 8, 2, -2, 2, -4, 0, -2],
        [1, 7, 3, -3, 3, -5, 1, -1],
    ]
    assert steps.sums == [1, 7, 3, -3, 3, -5, 1, -1]
    assert steps.bits == "11101010"
    assert steps.heat == [1, 4, 2, -2, 2, -3, 1, -1]


def test_teapot_and_dumpling_as_in_the_note() -> None:
    steps = worked("teapot")
    assert steps.width == 6
    assert [row.votes for row in steps.rows] == [(4, -4, -4, 4, -4, 4), (5, -5, 5, -5, 5, 5)]
    assert steps.sums == [9, -9, 1, -1, 1, 9]
    assert steps.bits == "101011"


def test_three_cities_by_the_plain_hash() -> None:
    """The note on a C++ library gives the words and weights; the hash is written out in tests."""
    steps = worked("cities")
    sums = [0.0] * 64
    for token, weight in (("北京", 1.0), ("上海", 2.0), ("成都", 4.3)):
        for at, bit in enumerate(f"{lookup3(token, 64):064b}"):
            sums[at] += weight if bit == "1" else -weight
    assert steps.sums == sums
    assert steps.bits == "".join("1" if value > 0 else "0" for value in sums)
    # 4.3 is more than 1 + 2, as the page says.
    assert steps.bits == f"{lookup3('成都', 64):064b}"


def test_the_other_examples_are_those_of_the_presets() -> None:
    for key in ("characters", "keywords", "spaces"):
        values = BY_KEY[key]
        recipe = nd.Recipe.preset(values["recipe"], bits=int(values["bits"]))
        assert worked(key).explanation == nd.explain(values["a"], recipe)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_every_example_flips_something(example: object) -> None:
    found = read_lessons([*BY_KEY[example.key].items()], "en").steps  # type: ignore[attr-defined]
    assert found is not None
    assert found.comparison is not None
    assert found.comparison.distance


def test_the_word_that_decided_a_column() -> None:
    """What the page says of its example: one bit flips, where the sum was 1."""
    found = read_lessons([*BY_KEY["by_hand"].items()], "zh").steps
    assert found is not None
    assert found.comparison is not None
    assert found.comparison.numbers == [1]
    assert found.first.sums[6] == 1


TEXTS = st.text("abcdefg hij 汉字", max_size=60)


@given(TEXTS, TEXTS, st.sampled_from([8, 16, 64, 128]))
def test_beside_is_distance_and_cosine_of_the_library(a: str, b: str, bits: int) -> None:
    recipe = nd.Recipe(bits=bits)
    first, second = (steps_of_text(text, "default", bits) for text in (a, b))
    found = compare_steps(first, second)
    left, right = nd.fingerprint(a, recipe), nd.fingerprint(b, recipe)
    if left is None or right is None:
        assert found.distance is None
        assert found.numbers == []
    else:
        assert found.distance == (left ^ right).bit_count()
        assert sum(1 << bit for bit in found.numbers) == left ^ right
    if first.explanation.features and second.explanation.features:
        assert found.cosine == pytest.approx(nd.similarity(a, b, recipe))
    q = math.acos(min(found.cosine, 1)) / math.pi
    assert found.expected == pytest.approx(bits * q)
    assert found.deviation == pytest.approx(math.sqrt(bits * q * (1 - q)))


@given(TEXTS, st.sampled_from([8, 16]))
def test_the_last_running_sum_is_the_sum(text: str, bits: int) -> None:
    steps = steps_of_text(text, "weighted-tokens", bits)
    if steps.running:
        assert steps.running[-1] == steps.sums


def test_typed_words_keep_their_weights() -> None:
    """A preset that scales weights and keeps some words only leaves typed ones alone."""
    words = [Word(f"w{at}", 1.5) for at in range(30)]
    steps = steps_of_words(words, "jieba-tfidf", 64, {})
    assert [(row.token, row.weight) for row in steps.explanation.rows()] == [
        (word.token, 1.5) for word in words
    ]


def test_many_words_are_cut_to_the_heaviest() -> None:
    words = [Word(f"w{at}", float(at)) for at in range(100)]
    steps = steps_of_words(words, "default", 128, {})
    assert [row.weight for row in steps.rows] == [float(at) for at in range(99, 83, -1)]
    assert steps_of_words(words, "default", 16, {}).running
    assert not steps_of_words(words, "default", 32, {}).running


def test_hashes_given_by_hand() -> None:
    words = parse_words("a 1 0101\nb 2 1100")
    given = typed_hashes(words, parse_words("a 1"))
    assert steps_of_words(words, "default", 8, given).bits == "1100"
    faint = parse_words("a 100 1100\nb 100 1010\nc 0.1 1111")
    assert steps_of_words(faint, "default", 8, typed_hashes(faint)).heat == [4, 1, 1, -4]
    # The same words in another order are the same recipe, other hashes are another one.
    again = steps_of_words(words, "default", 8, dict(reversed(given.items())))
    other = steps_of_words(words, "default", 8, {**given, "a": "0100"})
    names = [steps_of_words(words, "default", 8, given), again, other]
    assert len({each.explanation.recipe.identity for each in names}) == 2


@pytest.mark.parametrize(
    ("one", "two", "key"),
    [
        ("a 1 0101\nb 1 01010", "", "refused.width"),
        ("a 1 0101", "a 1 0100", "refused.twice"),
        ("a 1 0101\nb 1", "", "refused.missing"),
    ],
)
def test_hashes_that_do_not_fit(one: str, two: str, key: str) -> None:
    found = read_lessons([("as", "words"), ("a", one), ("b", two)], "en")
    assert found.errors["steps"].key == key
