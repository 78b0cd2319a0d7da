"""Two texts side by side: whole, harmless, in both languages, and computed again by its script."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.chromium import answer, dom, needs_browser
from helpers.findings import passage
from helpers.html_page import check_harmless
from neardup.copying.findings import Ignored
from neardup.reports import comparison
from neardup.reports.comparison import (
    ComparisonReport,
    comparison_report,
    render_comparison,
)
from neardup.reports.page import LANGUAGES, Sentence, Wording
from neardup.text.comparison import Passage, compare

LEFT = "one two three four five six seven eight nine ten"
RIGHT = "eight nine ten and then one two three four five"
LONG, SHORT = "one two three four five", "eight nine ten"
FOUND = ComparisonReport(
    names=("a.txt", "b.txt"),
    texts=(LEFT, RIGHT),
    passages=[passage(LEFT, RIGHT, LONG), passage(LEFT, RIGHT, SHORT)],
    coverage=(0.8, 0.8),
    similarity=0.9,
    distance=7,
    bits=128,
    verdict=[Sentence("verdict.near-duplicate.similarity", {"value": 0.85})],
)


def rendered(found: ComparisonReport, language: str = "en") -> str:
    return "".join(render_comparison(found, language))


def anchors(page: str, side: str) -> list[str]:
    return re.findall(rf'id="({side}\d+)"', page)


@pytest.mark.parametrize("language", LANGUAGES)
def test_passages_are_marked_and_figures_told(language: str) -> None:
    found = check_harmless(rendered(FOUND, language))
    assert found.tags.count("mark") == 4
    assert "".join(data for tag, data in found.data if tag == "mark") == (LONG + SHORT) + (
        SHORT + LONG
    )
    assert ("相似度" in found.text()) == (language == "zh")
    for figure in ("0.900", "7 / 128", "80.0%" if language == "zh" else "80.0 %"):
        assert figure in found.text()


REST = "of the medicine with a glass of water every morning before breakfast"


@pytest.mark.parametrize(
    ("left", "right", "english", "chinese"),
    [
        (REST, REST, "The texts are identical.", "两篇文本完全相同。"),
        (
            f"Do not take 5 mg {REST}",
            f"Do take 50 mg {REST}",
            "The texts are near-duplicates: their similarity is at least 0.85. Numbers differ. "
            "Negation differs.",
            "两篇文本近似重复：相似度不低于 0.85。数字不同。否定词不同。",
        ),
        (
            "man bites dog",
            "dog bites man",
            "near-duplicates: their similarity is at least 0.85. They have the same words, or the "
            "same numbers, in another order.",
            "相似度不低于 0.85。字词或数字相同，但顺序不同。",
        ),
        (
            REST,
            f"{REST} {' '.join(f'word{n}' for n in range(12))}",
            "The right text contains the left one. Their similarity is below 0.85.",
            "右侧文本包含左侧文本的内容。相似度低于 0.85。",
        ),
        (
            f"{REST} one two three four five six",
            f"seven eight nine {REST} ten eleven twelve",
            "The texts are partly copied: they share passages. Their similarity is below 0.85.",
            "两篇文本部分复制：有成段相同的内容。相似度低于 0.85。",
        ),
        (
            "word",
            "Word",
            "hardly any passage. One has too few words for a fingerprint.",
            "几乎没有成段相同的内容。有一篇字数太少，没有指纹。",
        ),
        (
            REST,
            f"{REST.upper()}!",
            "at least 0.85. They differ only in case, punctuation, other signs or spaces.",
            "仅大小写、标点、其他符号或空格不同。",
        ),
    ],
)
def test_verdicts_in_both_languages(left: str, right: str, english: str, chinese: str) -> None:
    report = comparison_report(("a", "b"), (left, right), compare(left, right))
    for language, sentence in (("en", english), ("zh", chinese)):
        text = check_harmless(rendered(report, language)).text()
        assert sentence in text
        assert {"en": "hardly their order", "zh": "几乎不看顺序"}[language] in text


def test_verdicts_by_radius() -> None:
    def shown(radius: int, language: str) -> str:
        texts = REST, f"{REST} and more"
        report = comparison_report(("a", "b"), texts, compare(*texts, radius=radius))
        return check_harmless(rendered(report, language)).text()

    assert "near-duplicates: their fingerprints differ in at most 99 bits." in shown(99, "en")
    assert "近似重复：指纹相差不超过 99 位。" in shown(99, "zh")
    assert "Their fingerprints differ in more than 0 bits." in shown(0, "en")
    assert "指纹相差超过 0 位。" in shown(0, "zh")


def test_what_differs_is_a_table() -> None:
    left = f"Do not take 5 mg {REST}"
    right = f"Do take 50 mg {REST} {' '.join(f'<b>{n}' for n in range(60, 90))}"
    near = compare(left, right, similarity=0.3)
    page = rendered(comparison_report(("a", "b"), (left, right), near))
    check_harmless(page)
    rows = dict(re.findall(r'<tr><th scope="row">(\w+)</th>(.*?)</tr>', page))
    assert list(rows) == ["Numbers", "Negation", "Words"]
    cells = re.findall(r"<td>(?:<bdi[^>]*>)?(.*?)(?:</bdi>)?</td>", rows["Numbers"])
    assert cells[0] == "5"
    assert cells[1].endswith("77, 78, … (31)")
    assert re.findall(r"<td>(.*?)</td>", rows["Negation"])[1] == ""
    for other, is_told in ((left.replace("not ", ""), True), (f"{REST} {LEFT}", False)):
        report = comparison_report(("a", "b"), (left, other), compare(left, other, similarity=1))
        assert ("Only in one text" in rendered(report)) == is_told


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="lang is 'fr'; it must be one of en, zh"):
        rendered(FOUND, "fr")


def test_numbers_lead_to_the_other_side_and_back() -> None:
    page = rendered(FOUND)
    assert anchors(page, "l") == ["l1", "l2"]
    assert anchors(page, "r") == ["r2", "r1"]
    for n in (1, 2):
        assert re.search(rf'href="#r{n}" data-n="{n}" id="l{n}"', page)
        assert re.search(rf'href="#l{n}" data-n="{n}" id="r{n}"', page)
    # A passage has its colour on both sides.
    assert re.findall(r'<mark class="(c\d)" data-k="(\d)"', page) == [
        ("c0", "1"),
        ("c1", "2"),
        ("c1", "2"),
        ("c0", "1"),
    ]


def test_edited_and_ignored_are_distinguished() -> None:
    right = RIGHT.replace("three", "thirty")
    edited = Passage(0, 23, right.index("one"), len(right), 4, False)
    page = rendered(
        replace(
            FOUND,
            texts=(LEFT, right),
            passages=[edited],
            ignored=([Ignored(24, 30, "template")], [Ignored(0, 3, "common")]),
        )
    )
    changed = re.findall(r'<mark class="c0 edited" data-k="1" data-w="0" data-e>(\w+)</mark>', page)
    assert changed == ["three", "thirty"]
    assert '<span class="ignored" title="part of a template">six se</span>' in page
    assert '<span class="ignored" title="common to many documents">eig</span>' in page


@pytest.mark.parametrize("texts", [("", ""), ("", LEFT), ("?", "!"), ("中", "中")])
def test_texts_without_a_passage(texts: tuple[str, str]) -> None:
    page = check_harmless(rendered(replace(FOUND, texts=texts, passages=[], coverage=(0.0, 0.0))))
    assert "The texts share no passage." in page.text()
    assert "mark" not in page.tags
    assert "input" not in page.tags
    assert page.text().count("An empty text.") == texts.count("")


def test_an_empty_text_is_said_and_has_no_box() -> None:
    empty = replace(FOUND, texts=("", RIGHT), passages=[])
    page = rendered(empty)
    assert "An empty text." in page
    assert page.count('<div class="text"') == 1


@pytest.mark.parametrize(("count", "label"), [(0, "passages"), (1, "passage"), (2, "passages")])
def test_one_passage_is_not_many(count: int, label: str) -> None:
    page = rendered(replace(FOUND, passages=FOUND.passages[:count]))
    assert f'data-many="passages">{label}</dt>' in page


def test_lengths_are_in_words_or_characters() -> None:
    assert "5 个单词" in rendered(FOUND, "zh")
    assert "5 words" in rendered(FOUND, "en")
    han = replace(FOUND, texts=("我们今天讨论自然语言处理的问题", "语言"), passages=[])
    assert "15 字" in rendered(han, "zh")
    assert "15 characters" in rendered(han, "en")
    mixed = replace(FOUND, texts=("我们今天讨论 natural language", "语言"), passages=[])
    assert "8 字" in rendered(mixed, "zh")
    assert "8 words and characters" in rendered(mixed, "en")


def test_none_is_said_where_there_is_no_fingerprint() -> None:
    page = check_harmless(rendered(replace(FOUND, similarity=None, distance=None)))
    assert page.text().count("none") == 2


def test_a_search_that_was_cut_short_is_reported() -> None:
    assert "there may be more" in rendered(replace(FOUND, coarse=True))


def test_passages_on_one_another_are_all_numbered() -> None:
    twice = [Passage(0, 13, 0, 9, 3, True), Passage(4, 23, 10, 20, 4, True)]
    page = rendered(replace(FOUND, passages=twice))
    assert re.findall(r'<mark class="c(\d)" data-k="([\d ]+)"', page)[:3] == [
        ("0", "1"),
        ("1", "2 1"),
        ("1", "2"),
    ]


def test_texts_of_a_megabyte() -> None:
    lines = [f"line {at:05} " + "of many words " * 3 for at in range(22_000)]
    left, right = "\n".join(lines), "\n".join(reversed(lines))
    assert len(left) > 1_000_000
    size = len(lines[0])
    starts = range(0, len(left) + 1, size + 1)
    found = [
        Passage(a, a + size, b, b + size, 11, True)
        for a, b in list(zip(starts, reversed(starts), strict=True))[::5]
    ]
    assert left[found[3].left_start : found[3].left_end] == lines[15]
    assert right[found[3].right_start : found[3].right_end] == lines[15]
    started = time.process_time()
    page = rendered(replace(FOUND, texts=(left, right), passages=found))
    assert time.process_time() - started < 30
    assert len(page) < 3 * (len(left) + len(right))
    # A browser lays out the blocks that are seen.
    assert page.count('<div class="block"') > 100
    assert len(anchors(page, "l")) == len(anchors(page, "r")) == len(found)


def test_what_is_too_much_is_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MAX_PASSAGES", 1)
    page = rendered(FOUND)
    assert "Showing the longest 1 of 2 passages." in page
    assert anchors(page, "l") == ["l1"]
    words = Wording("en")
    view = comparison.pair_view(FOUND, words, most=30)
    assert view.columns[0].notes == ["Showing the first 30 of 48 characters."]
    assert view.lengths == [5]


# ---- in a browser ----

FIGURES = (
    "const seen = () => [...document.querySelectorAll('[data-figure]')].map((x) => x.textContent);"
)


def asked(script: str, folder: Path, found: ComparisonReport = FOUND) -> Any:
    return answer(rendered(found), FIGURES + script, folder)


@needs_browser
def test_the_policy_lets_the_script_run(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(rendered(FOUND), encoding="utf-8")
    assert '<html lang="en" class="scripted">' in dom(path)


@needs_browser
def test_the_slider_hides_what_is_shorter_and_counts_again(tmp_path: Path) -> None:
    script = """
        const slider = document.querySelector('[data-slider]');
        const before = seen();
        await set(slider, 4);
        const hidden = [...document.querySelectorAll('a.n[hidden]')].map((x) => x.id);
        const label = document.querySelector('dt[data-one]');
        const middle = [seen(), document.querySelector('output').textContent, label.textContent];
        await set(slider, 3);
        return [before, middle, hidden, seen(), label.textContent];
    """
    whole = ["80.0 %", "80.0 %", "2"]
    assert asked(script, tmp_path) == [
        whole,
        [["50.0 %", "50.0 %", "1"], "4 words", "passage"],
        ["l2", "r2"],
        whole,
        "passages",
    ]


@needs_browser
def test_a_click_leads_to_the_other_side(tmp_path: Path) -> None:
    script = """
        document.getElementById('l2').click();
        await frame();
        const first = document.activeElement.id;
        document.querySelector('[data-side=right] mark[data-k="1"]').click();
        await frame();
        return [first, document.activeElement.id, document.querySelectorAll('.flash').length];
    """
    assert asked(script, tmp_path) == ["r2", "l1", 2]
