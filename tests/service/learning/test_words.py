"""Words typed by hand: what is read, what is written, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.service.learning.steps import MAX_WORDS, LessonError, Word, format_words, parse_words

TOKENS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64)
WEIGHTS = st.one_of(st.integers(0, 10**6).map(float), st.floats(0, 1e6))


@given(st.lists(st.builds(Word, TOKENS, WEIGHTS, st.sampled_from(["", "0101", "11001001"]))))
def test_what_is_written_is_read_again(words: list[Word]) -> None:
    assert parse_words(format_words(words[:MAX_WORDS])) == words[:MAX_WORDS]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("成都 4.3", Word("成都", 4.3)),
        ("爱 2 11001001", Word("爱", 2.0, "11001001")),
        ("  New York\t2 ", Word("New York", 2.0)),
        ("word", Word("word", 1.0)),
        ("2", Word("2", 1.0)),
        ("1000 1000", Word("1000", 1000.0)),
        ("x 1 1000", Word("x", 1.0, "1000")),
        ("x 1 101", Word("x 1", 101.0)),
        ('" " 0.5', Word(" ", 0.5)),
        ('"a b" 2 0101', Word("a b", 2.0, "0101")),
        ('"half 3', Word('"half', 3.0)),
        ("x 1e3", Word("x", 1000.0)),
        ("two words", Word("two words", 1.0)),
    ],
)
def test_a_line(line: str, word: Word) -> None:
    assert parse_words(f"\n{line}\r\n\n") == [word]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("x -1", "refused.weight"),
        ("x 1e999", "refused.weight"),
        ("x 1000001", "refused.weight"),
        ("y" * 65, "refused.token"),
        ('"x" y', "refused.line"),
        ('"x" 1 012', "refused.line"),
        ('"x" 1 0101 1', "refused.line"),
        ("a\n" * 201, "refused.words"),
    ],
)
def test_what_is_refused(line: str, key: str) -> None:
    with pytest.raises(LessonError) as caught:
        parse_words(line)
    assert caught.value.key == key


def test_what_is_refused_can_be_read() -> None:
    with pytest.raises(LessonError) as caught:
        parse_words("\u202ea\u200b\x1b -1")
    assert "\\u202ea\\u200b\\x1b" in caught.value.values.values()
