"""A text cut at its marks: nothing lost, every character under the right marks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.copying.findings import Ignored
from neardup.reports import marked_text
from neardup.reports.marked_text import MarkedPart, MarkedSpan, WordCounter, split_marked_text

TEXTS = st.text(st.sampled_from("ab \n中\u202e<"), max_size=80)
PLACES = st.tuples(st.integers(0, 90), st.integers(0, 90))


def shown(part: MarkedPart) -> str:
    return "".join(piece.text for piece in part.pieces)


def naive(
    text: str, stretches: list[MarkedSpan], ignored: list[Ignored]
) -> list[tuple[object, ...]]:
    """For each character its keys in the order of rank, and whether a rule is on it."""
    found: list[tuple[object, ...]] = []
    for at in range(len(text)):
        on = sorted(
            (each for each in stretches if each.start <= at < each.end),
            key=lambda each: (each.rank, each.start, each.key),
        )
        keys = tuple(dict.fromkeys(each.key for each in on))
        found.append((keys, any(each.start <= at < each.end for each in ignored)))
    return found


@given(TEXTS, st.lists(PLACES, max_size=8), st.lists(PLACES, max_size=3))
def test_every_character_is_under_its_marks(
    text: str, places: list[tuple[int, int]], rules: list[tuple[int, int]]
) -> None:
    stretches = [MarkedSpan(a, b, key, key) for key, (a, b) in enumerate(places, 1)]
    ignored = [Ignored(a, b, "template") for a, b in rules]
    expected = naive(text, stretches, ignored)
    (block,) = split_marked_text(text, stretches, ignored)
    at = 0
    for part in block:
        # Codes for what cannot be seen are longer than what they stand for.
        raw = shown(part).replace("\\u202e", "\u202e")
        assert raw == text[at : at + len(raw)]
        for place in range(at, at + len(raw)):
            assert (part.keys, bool(part.rule)) == expected[place]
        at += len(raw)
    assert at == len(text)


@given(TEXTS, st.lists(PLACES, max_size=8))
def test_long_texts_are_the_same_in_blocks(text: str, places: list[tuple[int, int]]) -> None:
    stretches = [MarkedSpan(a, b, key, key, "#x") for key, (a, b) in enumerate(places, 1)]
    (whole,) = split_marked_text(text, stretches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marked_text, "LONG_TEXT", 0)
        patch.setattr(marked_text, "BLOCK_CHARACTERS", 7)
        blocks = split_marked_text(text, stretches)
    assert "\n".join("".join(map(shown, block)) for block in blocks) == "".join(map(shown, whole))
    assert sum(part.words for block in blocks for part in block) == sum(x.words for x in whole)
    begun = [each for block in blocks for part in block for each in part.begins]
    assert begun == [each for part in whole for each in part.begins]


def test_a_number_stands_where_its_stretch_begins() -> None:
    (block,) = split_marked_text(
        "one two three", [MarkedSpan(4, 13, 1, 0, "#a"), MarkedSpan(8, 13, 2, 1, "#b")]
    )
    assert [(shown(part), [each.key for each in part.begins]) for part in block] == [
        ("one ", []),
        ("two ", [1]),
        ("three", [2]),
    ]


def test_what_one_of_several_has_word_for_word_counts_whole() -> None:
    edited = MarkedSpan(0, 7, 1, 0, equal=0.5)
    (block,) = split_marked_text("one two", [edited, MarkedSpan(0, 3, 2, 1)])
    assert [part.words for part in block] == [1.0, 0.5]
    assert not block[0].exact


def test_changed_words_do_not_count() -> None:
    edited = MarkedSpan(0, 13, 1, 0, changed=((4, 7),))
    (block,) = split_marked_text("one two three", [edited])
    assert [(shown(part), part.words, part.exact) for part in block] == [
        ("one ", 1.0, True),
        ("two", 0.0, False),
        (" three", 1.0, True),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (0, 0)),
        ("Don't stop, it's 3 o'clock!", (5, 21)),
        ("中文 and English", (4, 12)),
        ("ภาษาไทย", (7, 7)),
        ("… — ?", (0, 0)),
    ],
)
def test_words_and_characters_that_count(text: str, expected: tuple[int, int]) -> None:
    assert WordCounter(text).between(0, len(text)) == expected


@pytest.mark.parametrize("nested", [True, False])
def test_many_stretches_on_one_another_take_little_time(nested: bool) -> None:
    n = 20_000
    text = "a" * (2 * n)
    stretches = [MarkedSpan(at, 2 * n - at if nested else at + n, at + 1, -at) for at in range(n)]
    started = time.process_time()
    (block,) = split_marked_text(text, stretches)
    assert time.process_time() - started < 20
    assert max(len(part.keys) for part in block) == marked_text.MAX_KEYS
