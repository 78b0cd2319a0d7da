"""The pages of a check: as a folder and as one file, in both languages, harmless, recomputed."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.chromium import answer, needs_browser
from helpers.findings import ONE, TEXT, copying, finding, source
from helpers.html_page import Page, check_harmless
from neardup.copying.findings import Copying, Finding, Ignored, Source
from neardup.reports import charts
from neardup.reports import copying as pages
from neardup.reports.copying import CopyingReport, render_file, render_folder
from neardup.reports.page import Wording
from neardup.text.comparison import Passage

REPORT = CopyingReport(copying())


def one_file(report: CopyingReport = REPORT) -> str:
    return "".join(render_file(report))


def folder(report: CopyingReport = REPORT) -> dict[str, str]:
    return {name: "".join(pieces) for name, pieces in render_folder(report)}


def broken(found: dict[str, str]) -> list[str]:
    """Links of pages that lead nowhere."""
    places = {name: set(Page(page).values("id")) for name, page in found.items()}
    lost = []
    for name, page in found.items():
        for link in Page(page).values("href"):
            target, _, place = link.partition("#")
            there = places.get(target or name)
            if there is None or (place and place not in there):
                lost.append(f"{name}: {link}")
    return lost


def class_of(count: int) -> Copying:
    """So many documents, each with all others as sources."""
    texts = [f"{ONE} number {at}" for at in range(count)]
    return Copying(
        tuple(
            finding(
                f"d{at}",
                text,
                *(
                    source(f"d{other}", text, texts[other], "alpha beta gamma delta")
                    for other in range(count)
                    if other != at
                ),
            )
            for at, text in enumerate(texts)
        ),
        True,
        {},
    )


@pytest.mark.parametrize("placed", [True, False])
def test_two_documents_of_one_id_have_pages_and_ties_of_their_own(placed: bool) -> None:
    found = class_of(3)
    # By hand nobody says the place: then the text tells them apart.
    same = Copying(
        tuple(
            replace(
                each,
                id="same",
                sources=tuple(
                    replace(x, id="same", place=int(x.id[1:]) if placed else None)
                    for x in each.sources
                ),
            )
            for each in found.findings
        ),
        True,
        {},
    )
    pages_of = folder(CopyingReport(same))
    assert broken(pages_of) == []
    for at in (1, 2, 3):
        links = Page(pages_of[f"document-{at}.html"]).values("href")
        others = {f"document-{other}.html" for other in (1, 2, 3) if other != at}
        assert others == {link for link in links if link.startswith("document-")}


def test_both_forms_show_the_same() -> None:
    names = ("index.html", "document-1.html", "pair-1-1.html", "pair-1-2.html", "document-2.html")
    assert tuple(folder()) == names
    assert 'href="pair-1-2.html#l1"' in folder()["document-1.html"]
    assert {"overview", "d1", "d2", "d1s1", "d1s2"} <= set(Page(one_file()).values("id"))
    parts = [Page(page).text() for page in folder().values()]
    whole = " ".join(Page(one_file()).text().split())
    for part in parts:
        assert " ".join(part.split()) in whole


def test_chinese_figures_go_by_their_names() -> None:
    document = Page(folder(replace(REPORT, language="zh"))["document-1.html"]).text()
    for name in ("总文字复制比（重复率）", "去除引用复制比", "单篇最大复制比"):
        assert name in document
    assert document.index("按字符数") < document.index("按字数")
    # They mean characters wherever they stand.
    index = Page(folder(replace(REPORT, language="zh"))["index.html"]).text()
    assert "63.8%" in index
    assert "60.0%" not in index


def test_figures_are_those_of_the_findings() -> None:
    document = folder()["document-1.html"]
    figures = re.findall(
        r'data-figure="(\w+)" data-by="(\w)" data-total="[\d.]+">([^<]+)', document
    )
    assert figures == [
        ("share", "w", "60.0 %"),
        ("share", "c", "63.8 %"),
        ("unquoted", "w", "50.0 %"),
        ("unquoted", "c", "53.2 %"),
        ("largest", "w", "40.0 %"),
        ("largest", "c", "44.7 %"),
    ]


def test_the_overview_ranks_documents() -> None:
    index = folder(CopyingReport(class_of(3)))["index.html"]
    found = Page(index).text()
    assert found.count("33.3 %") >= 3
    rows = re.findall(r'<tr data-share="([\d.]+)"', folder()["index.html"])
    assert rows == ["0.6", "0.0"]
    assert re.search(r"<dd data-above>1</dd>", folder()["index.html"])
    assert re.search(
        r"<dd data-above>0</dd>", folder(replace(REPORT, threshold=0.61))["index.html"]
    )


def test_what_does_not_count_is_grey_and_quotations_are_italic() -> None:
    essay = copying().findings[0]
    ignored = (Ignored(TEXT.index("gamma"), TEXT.index("delta"), "template"),)
    found = Copying((replace(essay, ignored=ignored),), False, {})
    document = folder(CopyingReport(found))["document-1.html"]
    grey = re.findall(
        r'<mark class="c0 ignored" data-k="1 2" title="part of a template">', document
    )
    assert len(grey) == 1
    assert re.search(r'<mark class="c0 quoted" data-k="1" data-w="1" data-c="5" data-q>', document)
    text = Page(document).text()
    assert "Grey, not counted: part of a template." in text
    assert "Italic: quotations and lists of references." in text


def test_changed_words_come_from_the_stretches_that_are_equal() -> None:
    text, other = "one two three four five", "one two 3 four five"
    edited = Source(
        id="other",
        text=other,
        share=0.8,
        own_share=0.8,
        words=4,
        longest=4,
        similarity=0.8,
        passages=(Passage(0, 23, 0, 19, 4, False),),
        equal=((0, 7, 0, 7), (14, 23, 10, 19)),
    )
    found = folder(CopyingReport(Copying((finding("a", text, edited),), False, {})))
    pattern = r'<mark class="c0 edited" [^>]*>([^<]+)</mark>'
    assert re.findall(pattern, found["document-1.html"]) == ["three"]
    assert re.findall(pattern, found["pair-1-1.html"]) == ["three", "3"]


@pytest.mark.parametrize("findings", [(), (finding("", "?"),), (finding("empty", "x"),)])
def test_nothing_found(findings: tuple[Finding, ...]) -> None:
    report = CopyingReport(Copying(findings, True, {}))
    text = check_harmless(one_file(report)).text()
    assert "No two documents share a passage." in text
    assert len(folder(report)) == 1 + len(findings)


def test_documents_that_are_sources_are_linked() -> None:
    found = folder(CopyingReport(class_of(3)))
    assert 'href="document-2.html"' in found["document-1.html"]
    assert broken(found) == []


def test_many_sources_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_SOURCES", 2)
    found = folder(CopyingReport(class_of(6)))
    document = found["document-1.html"]
    assert "3 more sources together" in document
    assert document.count("<tr data-row=") == 3
    assert "pair-1-3.html" not in found
    assert broken(found) == []
    assert "18 pages of pairs were left out" in found["index.html"]


def test_pairs_have_a_page_only_if_their_document_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "FOLDER", pages.ReportLimits(documents=1))
    found = folder(CopyingReport(class_of(3)))
    assert sorted(found) == ["document-1.html", "index.html", "pair-1-1.html", "pair-1-2.html"]
    assert broken(found) == []


def test_the_matrix_groups_documents_that_share_text() -> None:
    def one(at: int, other: int, share: float) -> charts.Tie:
        return charts.Tie(at, other, share, "")

    ties = [one(0, 3, 0.6), one(3, 0, 0.4), one(1, 2, 0.5), one(2, 1, 0.54), one(2, 4, 0.1)]
    names, shares = ["a", "b", "c", "d", "source"], [0.6, 0.5, 0.55, 0.4]
    matrix = charts.matrix_chart(ties, names, shares, ["", "#b", "", ""], 50, Wording("en"))
    assert matrix is not None
    assert [(row.name, row.link) for row in matrix.rows] == [
        *(("a", ""), ("d", ""), ("c", ""), ("b", "#b"))
    ]
    assert matrix.columns == ["a", "d", "c", "b", "source"]
    first, third = matrix.rows[0].cells, matrix.rows[2].cells
    assert first[0] is charts.SELF
    assert first[2:] == [None] * 3
    assert [(x.shown, x.title, x.is_dark, x.above) for x in (first[1], *third[3:]) if x] == [
        ("60", "60.0 % of a is in d", True, True),
        ("54", "54.0 % of c is in b", False, True),
        ("10", "10.0 % of c is in source", False, False),
    ]
    assert charts.matrix_chart([], names, shares, [], 50, Wording("en")) is None


def test_sizes_are_limited_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "FOLDER", pages.ReportLimits(documents=2, pairs=3, each=20))
    monkeypatch.setattr(pages, "TABLE_ROWS", 4)
    monkeypatch.setattr(charts, "MATRIX_ROWS", 3)
    monkeypatch.setattr(charts, "MATRIX_COLUMNS", 3)
    found = folder(CopyingReport(class_of(5)))
    assert sorted(found) == [
        *("document-1.html", "document-2.html", "index.html"),
        *("pair-1-1.html", "pair-1-2.html", "pair-1-3.html"),
    ]
    assert broken(found) == []
    index = Page(found["index.html"]).text()
    assert "Showing the 4 of 5 documents with the highest share." in index
    assert "only 2 of these documents have their own page" in index
    assert "17 pages of pairs were left out" in index
    assert "Showing 3 of 5 documents and 3 of 5 sources" in index
    assert "Showing the first 20" in found["document-1.html"]


def test_numbers_are_the_same_on_both_pages_though_texts_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "one two three xx four five six yy seven eight nine"
    other = "seven eight nine zz one two three " + "w " * 40 + "four five six"
    shared = ("one two three", "four five six", "seven eight nine")
    monkeypatch.setattr(pages, "FOLDER", pages.ReportLimits(each=60))
    found = folder(
        CopyingReport(Copying((finding("a", text, source("b", text, other, *shared)),), False, {}))
    )
    links = re.findall(r'href="(pair[^"]+)" data-n', found["document-1.html"])
    assert links == ["pair-1-1.html#l1", "pair-1-1.html", "pair-1-1.html#l3"]
    assert broken(found) == []


def test_passages_keep_their_numbers_where_pages_were_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "FOLDER", pages.ReportLimits(pairs=0))
    text = folder(CopyingReport(class_of(6)))["document-1.html"].partition("<h2>Text</h2>")[2]
    badges = re.findall(r'<a class="n [^>]*>', text)
    assert [re.search(r'data-n="(\d)"', badge)[1] for badge in badges] == list("12345")  # type: ignore[index]
    assert not any("href" in badge for badge in badges)
    assert 'title="Source 1, 4 words"' in badges[0]
    assert text.count("+2") == 1


def test_one_file_has_room_for_so_much_text(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(f"{ONE} number 0")
    monkeypatch.setattr(pages, "ONE_FILE", pages.ReportLimits(characters=6 * size))
    page = one_file(CopyingReport(class_of(4)))
    assert {"d1", "d2", "d3", "d4", "d1s1"} == {
        name for name in Page(page).values("id") if re.fullmatch(r"d\d(s\d)?", name)
    }
    assert broken({"": page}) == []


def test_a_large_class_takes_little_time_and_room() -> None:
    report = CopyingReport(class_of(45))
    started = time.thread_time()
    page = one_file(report)
    assert time.thread_time() - started < 3
    assert len(page) < 6_000_000
    assert page.count('<td class="self">') == 40
    assert broken({"": page}) == []


def test_anonymous_and_unreadable_are_said() -> None:
    index = one_file(replace(REPORT, anonymous=True, unreadable=3))
    assert "Documents are named by numbers" in index
    assert "3 records could not be read." in index


# ---- in a browser ----

SEEN = (
    "const seen = () => [...document.querySelectorAll('[data-figure]')].map((x) => x.textContent);"
    "const classes = () => [...document.querySelectorAll('mark')].map((x) => x.className);"
)


@needs_browser
def test_a_source_left_out_no_longer_counts(tmp_path: Path) -> None:
    script = """
        const before = seen();
        const box = document.querySelector('input[data-source="1"]');
        box.click();
        await frame();
        const without = [seen(), classes()];
        document.querySelector('button[data-choose="1"]').click();
        await frame();
        const only = [seen(), classes()];
        document.querySelector('button[data-choose=none]').click();
        await frame();
        const none = seen();
        document.querySelector('button[data-choose=all]').click();
        await frame();
        return [before, without, only, none, seen()];
    """
    document = folder()["document-1.html"]
    before, without, only, none, after = answer(document, SEEN + script, tmp_path)
    every = ["60.0 %", "63.8 %", "50.0 %", "53.2 %", "40.0 %", "44.7 %"]
    assert before == after == every
    # The same by hand: the second source alone, and the first alone.
    alone = finding("x", TEXT, copying().findings[0].sources[1], quoted=((0, 5, "quotation"),))
    assert without == [_figures(alone), ["quoted", "", "c1", "c1"]]
    first = finding("x", TEXT, copying().findings[0].sources[0], quoted=((0, 5, "quotation"),))
    assert only == [_figures(first), ["c0 quoted", "c0", "c0", ""]]
    assert none == ["0 %"] * 6


def _figures(found: Finding) -> list[str]:
    from neardup._util.numbers import percentage

    return [
        percentage(getattr(figures, name))
        for name in ("share", "unquoted", "largest")
        for figures in (found.figures, found.by_characters)
    ]


@needs_browser
def test_the_threshold_moves(tmp_path: Path) -> None:
    script = """
        const count = () => [
            document.querySelector('[data-above]').textContent,
            document.querySelectorAll('tr.above').length,
            document.querySelectorAll('td.cell.above').length,
            document.querySelectorAll('svg.shares rect.bar').length,
            document.querySelector('text.threshold').textContent,
        ];
        const slider = document.querySelector('[data-threshold]');
        const found = [count()];
        for (const value of [33, 34, 0]) { await set(slider, value); found.push(count()); }
        return found;
    """
    index = folder(CopyingReport(class_of(3)))["index.html"]
    assert answer(index, script, tmp_path) == [
        ["3", 3, 6, 1, "≥ 30 %"],
        ["3", 3, 6, 1, "≥ 33 %"],
        ["0", 0, 0, 0, "≥ 34 %"],
        ["3", 3, 6, 1, "≥ 0 %"],
    ]


@needs_browser
def test_one_file_shows_a_part_at_a_time(tmp_path: Path) -> None:
    script = """
        const shown = () => [...document.querySelectorAll('.sheet')]
            .filter((x) => getComputedStyle(x).display !== 'none').map((x) => x.id);
        const found = [shown()];
        for (const place of ['d1', 'd1s2', 'd1s2l1', '']) {
            location.hash = place;
            await frame();
            found.push(shown());
        }
        return found;
    """
    assert answer(one_file(), script, tmp_path) == [
        ["overview"],
        ["d1"],
        ["d1s2"],
        ["d1s2"],
        ["overview"],
    ]


@needs_browser
def test_of_many_numbers_the_first_few_are_shown(tmp_path: Path) -> None:
    script = """
        const shown = () => [
            ...[...document.querySelectorAll('.text a.n')]
                .filter((x) => x.getClientRects().length).map((x) => x.textContent),
            document.querySelector('.more').textContent,
        ];
        const found = [shown()];
        for (const source of [1, 2, 3]) {
            document.querySelector(`input[data-source="${source}"]`).click();
            await frame();
            found.push(shown());
        }
        return found;
    """
    document = folder(CopyingReport(class_of(6)))["document-1.html"]
    assert answer(document, script, tmp_path) == [
        ["1", "2", "3", "+2"],
        ["2", "3", "4", "+1"],
        ["3", "4", "5", ""],
        ["4", "5", ""],
    ]


@needs_browser
def test_without_a_script_there_is_nothing_that_does_nothing(tmp_path: Path) -> None:
    script = """
        const seen = (what) => [...document.querySelectorAll(what)]
            .filter((x) => x.getClientRects().length).length;
        return [seen('button, input, output, .script'), seen('mark') > 0, seen('a.n') > 0];
    """
    found = folder()
    for name in ("document-1.html", "pair-1-1.html"):
        page = re.sub(r"<script>.*?</script>", "", found[name], flags=re.DOTALL)
        assert answer(page, script, tmp_path) == [0, True, True]
    page = re.sub(r"<script>.*?</script>", "", found["index.html"], flags=re.DOTALL)
    assert answer(page, script, tmp_path) == [0, False, False]
