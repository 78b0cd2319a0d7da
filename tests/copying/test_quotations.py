"""Where a text quotes others, and where it lists them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.timing import assert_linear
from neardup.copying.rules import find_quotations, find_references
from neardup.copying.spans import merge_spans


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('He said "it is late" and "go home".', ['"it is late"', '"go home"']),
        ("He said “it is late”, and left.", ["“it is late”"]),
        ("Er sagte: „Es ist spät“, und ging.", ["„Es ist spät“"]),
        ("Powiedział: „Jest późno”, i „idź”.", ["„Jest późno”", "„idź”"]),
        ("Il dit «il est tard».", ["«il est tard»"]),
        # A quotation within a quoted line does not end it.
        ('> it is "late" now\nso we went', ['> it is "late" now']),
        ("他说「已经晚了」，又说『走吧』。", ["「已经晚了」", "『走吧』"]),
        ("他说「她说『走吧』就走了」。", ["「她说『走吧』就走了」"]),
        ("他说“已经晚了”。", ["“已经晚了”"]),
        ("they wrote:\n> it is late\n> go home\nso we went", ["> it is late", "> go home"]),
        # A title, an inch, an apostrophe and a forgotten mark are no quotations.
        ("读《红楼梦》", []),
        ('a 12" pipe and a 14" pipe', []),
        ("it isn't the dog's", []),
        ("“never closed\n\nand so on”", []),
        ('" spaced "', []),
        ("", []),
    ],
)
def test_quotations(text: str, quoted: list[str]) -> None:
    assert [text[start:end] for start, end in find_quotations(text)] == quoted


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Body.\nReferences\n[1] A. Author.\n", "References\n[1] A. Author.\n"),
        ("Body.\n5. REFERENCES:\nOne.", "5. REFERENCES:\nOne."),
        ("Body.\n## Works Cited\nOne.\n# Next\nMore.", "## Works Cited\nOne.\n"),
        ("正文。\n参考文献\n[1] 某人.\n致谢\n感谢大家", "参考文献\n[1] 某人.\n"),
        ("正文。\n【参考文献】\n[1] 某人.", "【参考文献】\n[1] 某人."),
        ("正文。\n六、參考文獻：\n[1] 某人.", "六、參考文獻：\n[1] 某人."),
        ("Body.\nBibliography\nOne.\nAppendix A\nTables.", "Bibliography\nOne.\n"),
        # A word in a sentence is no heading.
        ("References are good.\nSo is 参考文献的格式。", ""),
        ("", ""),
    ],
)
def test_references(text: str, listed: str) -> None:
    assert "".join(text[start:end] for start, end in find_references(text)) == listed


@given(st.text('a b"“”「」\n>«»„#', max_size=40))
def test_stretches_are_in_order_and_within_the_text(text: str) -> None:
    for found in (find_quotations(text), find_references(text)):
        flat = [place for stretch in found for place in stretch]
        assert flat == sorted(flat)
        assert all(0 <= place <= len(text) for place in flat)


@pytest.mark.parametrize("unit", ['"', "“", '" a', "“a\n\n", "参考文献\n", "#", " ", ">"])
@pytest.mark.parametrize("find", [find_quotations, find_references])
def test_many_marks_take_linear_time(find: Any, unit: str) -> None:
    assert_linear(find, unit.__mul__, 10_000)


def test_merged() -> None:
    assert merge_spans([(5, 7), (0, 3), (2, 4), (7, 9)]) == [(0, 4), (5, 9)]
    assert merge_spans([(1, 3), (0, 9), (4, 6)]) == [(0, 9)]
