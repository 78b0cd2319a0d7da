"""Which words of an edited passage differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.differences import Changes, WorkBudget, changes
from neardup.text.comparison import Passage


def changed(left: str, right: str, steps: int = 10_000) -> tuple[list[str], list[str]] | None:
    passage = Passage(0, len(left), 0, len(right), 1, False)
    found = changes(passage, left, right, WorkBudget(steps))
    if not found.is_known:
        return None
    return [left[a:b] for a, b in found.left], [right[a:b] for a, b in found.right]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("one two three", "one 2 three", (["two"], ["2"])),
        ("one two three", "one three", (["two"], [])),
        ("one three", "one two three", ([], ["two"])),
        # Capitals, punctuation and width do not count.
        ("One, two: ＡＢＣ", "one two abc!", ([], [])),
        ("it's here now", "it’s there now", (["here"], ["there"])),
        ("图书馆明天关门", "图书馆后天关门", (["明"], ["后"])),
    ],
)
def test_changed_words(left: str, right: str, expected: tuple[list[str], list[str]]) -> None:
    assert changed(left, right) == expected


def test_an_exact_passage_has_none() -> None:
    passage = Passage(0, 3, 0, 3, 1, True)
    assert changes(passage, "one", "two", WorkBudget(0)) == Changes()


def test_without_steps_nothing_is_known() -> None:
    assert changed("one two three four", "one three two four", steps=1) is None
    assert changed("one two", "one 2", steps=0) is None


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "中"]), max_size=12)


@given(WORDS, WORDS)
def test_what_is_left_is_equal(left: list[str], right: list[str]) -> None:
    texts = " ".join(left), " ".join(right)
    passage = Passage(0, len(texts[0]), 0, len(texts[1]), 1, False)
    found = changes(passage, *texts, WorkBudget(100_000))
    rest = []
    for side, text in enumerate(texts):
        kept = list(text)
        for start, end in found.on(side):
            kept[start:end] = " " * (end - start)
        rest.append("".join(kept).split())
    assert rest[0] == rest[1]
