"""Pieces of documents become paragraphs, lines and rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.documents.prose import MAX_NESTED_TABLES, Prose, collapse_space
from neardup.files.reading.formats import UnreadableDocumentError

MOST = 1 << 20


def test_paragraphs_are_separated_by_a_blank_line_and_lines_are_not() -> None:
    prose = Prose(MOST)
    for text in ("one", " two\n", "three"):
        prose.add(text)
    prose.paragraph()
    prose.paragraph()
    prose.add("four")
    prose.line()
    prose.line()
    prose.add("five")
    prose.break_line()
    prose.add("six")
    prose.break_line()
    prose.break_line()
    prose.add("seven")
    assert prose.text() == "one two three\n\nfour\nfive\nsix\n\nseven"


def row(prose: Prose, *cells: str) -> None:
    prose.begin_row()
    for cell in cells:
        for paragraph in cell.split("|"):
            prose.add(paragraph)
            prose.paragraph()
        prose.end_cell()
    prose.end_row()


def test_cells_are_separated_by_tabs() -> None:
    prose = Prose(MOST)
    prose.add("before")
    prose.begin_table()
    row(prose, "a", "", "b")
    prose.add("\n")
    row(prose, "c", "d")
    row(prose, "", "")
    prose.end_table()
    prose.add("after")
    assert prose.text() == "before\n\na\t\tb\nc\td\n\nafter"


def test_cells_of_several_paragraphs_are_paragraphs() -> None:
    prose = Prose(MOST)
    row(prose, "menu", "one|two")
    row(prose, "c", "d")
    assert prose.text() == "menu\n\none\n\ntwo\n\nc\td"


def test_lines_in_a_cell_are_one() -> None:
    prose = Prose(MOST)
    prose.begin_row()
    for line in ("a", "b"):
        prose.add(line)
        prose.break_line()
    prose.end_cell()
    prose.add("c")
    prose.end_row()
    assert prose.text() == "a b\tc"


def test_tables_in_tables() -> None:
    prose = Prose(MOST)
    for _ in range(3 * MAX_NESTED_TABLES):
        prose.begin_row()
    prose.add("in")
    prose.end_cell()
    prose.end_row()
    prose.add("out")
    assert prose.text().split() == ["in", "out"]


def test_rows_that_never_end_or_never_began() -> None:
    prose = Prose(MOST)
    prose.end_cell()
    prose.end_row()
    prose.add("a")
    prose.begin_row()
    prose.add("b")
    prose.end_cell()
    prose.add("c")
    assert prose.text() == "a\nb\tc"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a \u00a0\t b\r\n c ", "a b c"),
        ("soft\u00adhyphen", "softhyphen"),
        ("今天\n  天气", "今天天气"),
        ("今天 天气", "今天 天气"),
        ("日本\nEnglish\n中文", "日本 English 中文"),
        ("句。\n“引", "句。 “引"),
        ("a\0b", "ab"),
    ],
)
def test_space(text: str, expected: str) -> None:
    assert collapse_space(text) == expected


def test_halves_of_characters_are_put_together() -> None:
    prose = Prose(MOST)
    for half in "\ud83d\ude00 \ud83d":
        prose.add(half)
    assert prose.text() == "😀 �"


@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("char", ["x", "é", "中"])
def test_texts_of_just_the_limit(over: int, char: str) -> None:
    most = 12 * len(char.encode())
    prose = Prose(most)
    text = char * 12 + "x" * over if over >= 0 else char * 11
    if over > 0 and char == "x":
        with pytest.raises(
            UnreadableDocumentError, match=r"its text is longer than 12 bytes; raise"
        ):
            prose.add(text)
        return
    prose.add(text)
    if over > 0:
        with pytest.raises(
            UnreadableDocumentError, match=r"its text is longer than \d+ bytes; raise"
        ):
            prose.text()
    else:
        assert prose.text() == text


STEPS = st.sampled_from(
    ["line", "paragraph", "break_line", "begin_row", "end_cell", "end_row", "end_table"]
)


@given(st.lists(st.one_of(STEPS, st.text("ab c\n中文\t", max_size=5).map(lambda x: f"+{x}"))))
def test_nothing_is_lost_and_order_is_kept(steps: list[str]) -> None:
    prose = Prose(MOST)
    added = ""
    for step in steps:
        if step.startswith("+"):
            prose.add(step[1:])
            added += step[1:]
        else:
            getattr(prose, step)()
    text = prose.text()
    assert "".join(text.split()) == "".join(added.split())
    assert "\n\n\n" not in text
    assert text == text.strip("\n")
