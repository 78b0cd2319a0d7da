"""Differences put together are the two texts, whatever they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.differences import WorkBudget, differences

WORDS = st.lists(st.sampled_from(["a", "b", "天", "地", ".", "。", " ", "\n", "é", "ก็", "👍🏽"]))


def changes(left: str, right: str) -> list[tuple[str, str]]:
    found = differences(left, right)
    return [(each.left, each.right) for each in found.parts if not each.same]


@given(WORDS.map("".join), WORDS.map("".join), st.integers(0, 200))
def test_nothing_is_lost(left: str, right: str, steps: int) -> None:
    found = differences(left, right, WorkBudget(steps))
    assert "".join(each.left for each in found.parts) == left
    assert "".join(each.right for each in found.parts) == right
    for each in found.parts:
        if each.same:
            assert "".join(each.left.split()) == "".join(each.right.split())


@given(st.text(), st.text())
def test_any_text(left: str, right: str) -> None:
    found = differences(left, right)
    assert "".join(each.left for each in found.parts) == left
    assert "".join(each.right for each in found.parts) == right
    assert all(each.same for each in differences(left, left).parts)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("from 4 May on", "from 18 May on", [("4 ", "18 ")]),
        ("spaces  only", "spaces\nonly", []),
        ("don't go", "do go", [("don't ", "do ")]),
        ("हिन्दी भाषा", "हिन्दू भाषा", [("हिन्दी ", "हिन्दू ")]),
        ("xx น้ำ", "xx นำ", [("น้", "น")]),
        # The sign between two changes is no island.
        ("5月12日到", "6月13日到", [("5月12", "6月13")]),
        # A sentence is marked with its own full stop.
        ("甲乙。丙丁。戊", "甲乙。戊", [("丙丁。", "")]),
        ("One. Two. Three", "One. Three", [("Two. ", "")]),
    ],
)
def test_what_is_marked(left: str, right: str, expected: list[tuple[str, str]]) -> None:
    assert changes(left, right) == expected


def test_long_texts_are_compared_by_sentences_then_words() -> None:
    sentences = [f"Sentence {at} says that {at * 7} is a number." for at in range(400)]
    edited = list(sentences)
    edited[123] = edited[123].replace("number", "figure")
    edited[300] = ""
    found = differences(" ".join(sentences), " ".join(edited))
    assert not found.coarse
    marked = [(each.left.strip(), each.right.strip()) for each in found.parts if not each.same]
    assert marked == [("number", "figure"), (sentences[300], "")]


def test_spent_steps_are_shared() -> None:
    steps = WorkBudget(1000)
    assert not differences("a b c d", "b a d c", steps).coarse
    assert steps.left < 1000
    steps.left = 0
    assert differences("a b c d", "b a d c", steps).coarse


def lower(word: str) -> str:
    return word.lower() if any(map(str.isalnum, word)) else ""


@given(WORDS.map("".join), WORDS.map(lambda words: "".join(words).upper()), st.integers(0, 200))
def test_nothing_is_lost_when_words_are_folded(left: str, right: str, steps: int) -> None:
    found = differences(left, right, WorkBudget(steps), fold=lower)
    assert "".join(each.left for each in found.parts) == left
    assert "".join(each.right for each in found.parts) == right
    for each in found.parts:
        if each.same:
            assert "".join(each.left.split()) == "".join(each.right.split())
        elif not each.counts:
            # What does not count is the same once it is folded.
            sides = ("".join(map(lower, side)) for side in (each.left, each.right))
            assert len(set(sides)) == 1


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Hello, World", "hello world", []),
        ("Hello, old World", "hello new world!", [("old ", "new ")]),
        ("a. b", "a! b", []),
    ],
)
def test_what_does_not_count(left: str, right: str, expected: list[tuple[str, str]]) -> None:
    found = differences(left, right, fold=lower).parts
    assert [(each.left, each.right) for each in found if each.counts and not each.same] == expected
    assert not all(each.same for each in found)
