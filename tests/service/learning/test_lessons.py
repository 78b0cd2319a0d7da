"""The later lessons: blocks, the model of edits, edited texts, exercises."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.service.learning import exercises
from neardup.service.learning import radius as edits
from neardup.service.learning import radius as model
from neardup.service.learning.exercises import (
    BLOCKS_EXAMPLE,
    BLOCKS_EXAMPLE_64,
    BLOCKS_EXAMPLE_LEVELS,
)
from neardup.service.learning.radius import block_table
from neardup.service.learning.steps import LessonError


def test_the_table_of_the_note_on_a_library() -> None:
    """h2 = 0x70 finds both, h1 = 0 only itself: 0x78 is four bits away."""
    stored = BLOCKS_EXAMPLE_64["stored"]
    found = block_table(stored, "0x0000000000000070", 3)
    assert [row.distance for row in found.near] == [3, 1]
    assert found.sizes == (16, 16, 16, 16)
    assert found.fewer == 1024
    assert round(found.fewer_twice, 2) == 87381.33
    assert found.key_twice == 28
    alone = block_table(stored, "0x0000000000000000", 3)
    assert [row.distance for row in alone.near] == [0]
    assert [row.distance for row in alone.candidates] == [0, 4]


def test_the_small_table_shows_all_that_can_happen() -> None:
    found = block_table(BLOCKS_EXAMPLE["stored"], BLOCKS_EXAMPLE["query"], 3)
    assert [(row.distance, row.equal) for row in found.stored] == [
        (2, [1, 3]),
        (4, [3]),
        (3, [1, 2]),
        (14, []),
    ]
    assert len(found.near) == 2


def test_the_second_level_leaves_candidates_out() -> None:
    stored, query = BLOCKS_EXAMPLE_LEVELS["stored"], BLOCKS_EXAMPLE_LEVELS["query"]
    one, two = (block_table(stored, query, 3, levels=levels) for levels in (1, 2))
    assert [(row.distance, row.keys) for row in one.stored] == [
        (3, ["1"]),
        (5, ["2"]),
        (4, ["4"]),
        (5, []),
    ]
    assert [row.keys for row in two.stored] == [["1.3"], ["2.3"], [], []]
    assert (len(one.candidates), len(two.candidates)) == (3, 2)
    assert [row.digits for row in one.near] == [row.digits for row in two.near]
    (inner,) = two.stored[0].inner or ()
    assert (inner.within, sum(map(len, inner.blocks)), sum(inner.differ)) == (1, 18, 3)


CODES = st.integers(4, 64).flatmap(
    lambda bits: st.lists(
        st.integers(0, 2**bits - 1).map(lambda code: f"{code:0{bits}b}"), min_size=2, max_size=8
    )
)


@given(CODES, st.integers(0, 7), st.integers(1, 2))
def test_blocks_find_all_within_the_radius(codes: list[str], radius: int, levels: int) -> None:
    """The naive reference counts all bits."""
    radius = min(radius, len(codes[0]) - 1)
    query, *stored = codes
    found = block_table("\n".join(stored), query, radius, levels=levels)
    near = [
        code for code in stored if sum(a != b for a, b in zip(code, query, strict=True)) <= radius
    ]
    assert [row.digits for row in found.near] == near
    assert sum(found.sizes) == len(query)
    assert len(found.sizes) == radius + 1
    assert ["".join(row.blocks) for row in found.stored] == stored


@given(st.lists(st.integers(0, 2**12), min_size=2, max_size=8), st.integers(0, 7))
def test_the_index_finds_what_two_levels_find(codes: list[int], radius: int) -> None:
    query, *stored = (code * 0x10001 for code in codes)
    lines = "\n".join(f"{code:032b}" for code in stored)
    found = block_table(lines, f"{query:032b}", radius, levels=2)
    index = nd.Index(32, levels=2)
    index.add(stored)
    assert sorted((match.distance, match.id) for match in index.search(query, radius)) == sorted(
        (row.distance, at) for at, row in enumerate(found.stored) if row in found.near
    )


@pytest.mark.parametrize("query", ["0101", "0x5"])
def test_a_bit_is_flipped_by_its_number(query: str) -> None:
    found = block_table("", query, 1, flip=3)
    assert found.query == "1101"
    assert found.format_query(hexadecimal=True) == "0xd"


@pytest.mark.parametrize(
    ("stored", "query", "radius", "flip", "key"),
    [
        ("", "010", 1, None, "refused.query"),
        ("", "0" * 65, 1, None, "refused.query"),
        ("", "012", 1, None, "refused.digits"),
        ("", "", 1, None, "refused.digits"),
        ("", "٠١٠١", 1, None, "refused.digits"),
        ("", "0101", 4, None, "refused.radius"),
        ("", "0101", 1, 4, "refused.flip"),
        ("010", "0101", 1, None, "refused.stored_width"),
        ("0101 " * 13, "0101", 1, None, "refused.stored"),
    ],
)
def test_blocks_refused(stored: str, query: str, radius: int, flip: int | None, key: str) -> None:
    with pytest.raises(LessonError) as caught:
        block_table(stored, query, radius, flip)
    assert caught.value.key == key


def test_the_model_gives_the_figures_of_the_literature() -> None:
    """s = .99: 2.9 ± 1.7 of 64 bits; s = .95: 12.9 ± 3.4 of 128."""
    share = (1 - 0.99) * 3 / 2
    point = model.model_point(share, 64)
    assert (round(point.expected, 1), round(point.deviation, 1)) == (2.9, 1.7)
    point = model.model_point((1 - 0.95) * 3 / 2, 128)
    assert (round(point.expected, 1), round(point.deviation, 1)) == (12.9, 3.4)


@pytest.mark.parametrize("bits", [8, 16, 32, 64, 128])
def test_the_model_against_sums_of_single_chances(bits: int) -> None:
    for point in model.model_points(bits)[::12]:
        q = point.expected / bits
        # The distribution of a sum, made by adding one bit at a time.
        chances = [1.0]
        for _ in range(bits):
            longer = [0.0] * (len(chances) + 1)
            for at, chance in enumerate(chances):
                longer[at] += chance * (1 - q)
                longer[at + 1] += chance * q
            chances = longer
        for radius, value in enumerate(point.within):
            assert value == pytest.approx(sum(chances[: radius + 1]))
    assert model.model_points(bits)[0].within[0] == 1


def test_measured_figures_only_where_they_were_measured() -> None:
    assert model.measured_recall(64, 3) == {0.02: 0.74, 0.05: 0.45, 0.10: 0.19}
    assert model.measured_recall(64, 4) == {}
    assert model.measured_recall(128, 3) == {}


ENGLISH = " ".join(f"word{at}" for at in range(300))
CHINESE = "".join(chr(0x4E00 + at) for at in range(300))


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_a_share_of_the_words_is_edited(text: str) -> None:
    assert edits.edit_text(text, 0.0, 1) == text
    copy = edits.edit_text(text, 0.1, 1)
    assert copy == edits.edit_text(text, 0.1, 1)
    assert copy != edits.edit_text(text, 0.1, 2)
    before = {*edits.UNIT.findall(text)}
    after = {*edits.UNIT.findall(copy)}
    # Thirty are chosen: each is deleted or replaced, or has a foreign one before it.
    gone, foreign = len(before - after), len(after - before)
    assert 10 <= gone <= 28
    assert 1 <= foreign <= 30


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
@pytest.mark.parametrize("bits", [64, 128])
def test_copies_are_where_the_cosine_says(text: str, bits: int) -> None:
    for found in edits.edit_curve(text, "default", bits, 7):
        assert sum(found.distances.values()) == found.copies == edits.COPIES
        mean = sum(k * n for k, n in found.distances.items()) / found.copies
        assert found.mean == pytest.approx(mean)
        # Forty draws: the mean is within four of its own deviations.
        q = found.expected / bits
        spread = math.sqrt(bits * q * (1 - q) / found.copies)
        assert abs(found.mean - found.expected) <= 4 * spread + 1.5
        assert found.within(bits) == 1
    first = edits.edit_curve(text, "default", bits, 7)[0]
    assert first.cosine == pytest.approx(1.0)
    assert (first.mean, first.within(0)) == (0, 1)


@pytest.mark.parametrize(
    ("text", "recipe", "bits", "key"),
    [
        ("x" * 10_001, "default", 64, "refused.own"),
        ("only a few words", "default", 64, "refused.few"),
        (ENGLISH, "nothing", 64, "refused.recipe"),
        (ENGLISH, "default", 24, "refused.bits"),
        (ENGLISH, "lookup3", 128, "refused.hash"),
        ("a " * 20, "default", 64, "refused.signal"),
    ],
)
def test_edits_refused(text: str, recipe: str, bits: int, key: str) -> None:
    with pytest.raises(LessonError) as caught:
        edits.edit_curve(text, recipe, bits, 1)
    assert caught.value.key == key


@pytest.mark.parametrize("language", ["en", "zh"])
def test_exercises_have_one_answer(language: str) -> None:
    for number in range(1, 60):
        found = exercises.make_exercise(number, language)
        sums = [0] * 8
        for word in found.words:
            code = nd.explain([word.token], nd.Recipe.preset("characters", bits=8)).hashes[0]
            for at, bit in enumerate(f"{code:08b}"):
                sums[at] += int(word.weight) if bit == "1" else -int(word.weight)
        assert found.sums == sums
        assert 0 not in sums
        assert found.steps.bits == "".join("1" if value > 0 else "0" for value in sums)
        assert 1 <= found.distance <= 4
        right = exercises.grade(
            found, [str(value) for value in sums], [*found.steps.bits], str(found.distance)
        )
        assert right.right == len(right.all) == 17


def test_answers_are_marked_one_by_one() -> None:
    found = exercises.make_exercise(1, "en")
    first = found.sums[0]
    said = [f"+{first}" if first > 0 else f"\u2212{-first}", "99", "x", "", "٣", "1_0", "9" * 500]
    marks = exercises.grade(found, said, [], " ")
    assert marks.sums == ("right", "wrong", "wrong", "empty", "wrong", "wrong", "wrong", "empty")
    assert set(marks.bits) == {"empty"}
    assert marks.distance == "empty"


@pytest.mark.parametrize("number", [0, 1000])
def test_exercises_have_an_end(number: int) -> None:
    with pytest.raises(LessonError) as caught:
        exercises.make_exercise(number, "en")
    assert caught.value.key == "refused.exercise"
