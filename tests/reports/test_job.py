"""The page of a job: whole, harmless, honest about what it leaves out."""

from __future__ import annotations

import re
import string
import time
from dataclasses import replace

import pytest

from helpers.html_page import Page, check_harmless
from neardup._util.numbers import percentage
from neardup.reports.charts import Histogram
from neardup.reports.formatting import cosine, percent
from neardup.reports.job import JobReport, ShownCluster, ShownPair, render_job
from neardup.reports.marked_text import ShownRecord
from neardup.reports.page import Sentence, language_of_locale
from neardup.reports.phrases import PHRASES

# Steps of 0.05 of similarity.
COMPARED = Histogram(
    "compared", [0] * 18 + [16, 7000], [0] * 9 + [5, 3] + [0] * 6 + [2, 0, 0], 0.5, similarity=0.9
)
EMPTY = JobReport(job="dedup", clusters=[])


def shown(name: str, text: str, *, first: bool = False, length: int | None = None) -> ShownRecord:
    size = len(text) if length is None else length
    return ShownRecord(name, text, size) if first else ShownRecord(name, text, size, 2, 0.93)


def cluster(left: str, right: str) -> ShownCluster:
    return ShownCluster(2, [shown("a", left, first=True), shown("b", right)], None)


def with_clusters(*clusters: ShownCluster) -> str:
    return render_job(replace(EMPTY, clusters=clusters, cluster_count=len(clusters)))


def pair(similarity: float, *, near: bool, text: str = "one two") -> ShownPair:
    right = ShownRecord(f"right {similarity}", f"{text} three", 13, 9, similarity)
    return ShownPair(ShownRecord(f"left {similarity}", f"{text} four", 12), right, near)


@pytest.fixture
def report() -> JobReport:
    return replace(
        EMPTY,
        counts={"kept": 1234567, "removed": 19, "exact": 3, "near": 16, "unreadable": 40},
        sentences=[Sentence("said.read", {"n": 1234626})],
        settings={"similarity": "0.9", "recipe": "words xxh3 64"},
        histograms=[COMPARED, replace(COMPARED, name="wider")],
        pairs=[pair(0.95, near=True), pair(0.91, near=True), pair(0.7, near=False)],
        pairs_note=Sentence("pairs.note"),
        threshold=Sentence("pairs.line", {"similarity": 0.9}),
        sizes=[(2, 30), (3, 4), (8, 2), (5000, 1)],
        clusters=[
            cluster("The quick brown fox.", "The slow brown fox."),
            cluster("图书馆明天关门。", "图书馆后天关门。"),
        ],
        cluster_count=37,
        problems=[("part.jsonl", 17, "not a JSON object"), ("x.txt", None, "too large")],
        problem_count=40,
    )


def bars(page: str, name: str) -> list[int]:
    (drawing,) = re.findall(f'<svg [^>]*aria-labelledby="{name}".*?</svg>', page, re.DOTALL)
    return [
        int(count.replace(",", ""))
        for count in re.findall(r"<rect [^>]*><title>[^:]*: ([\d,]+)</title>", drawing)
    ]


def test_page_is_whole(report: JobReport) -> None:
    page = render_job(report)
    assert page.startswith("<!DOCTYPE html>")
    tags = check_harmless(page, has_script=False).tags
    assert tags.count("html") == tags.count("main") == tags.count("h1") == 1
    assert tags.count("svg") == 3


def test_empty_report() -> None:
    page = Page(render_job(EMPTY))
    assert "No near-duplicates were found." in page.text()
    assert "svg" not in page.tags
    nothing = replace(COMPARED, near=[0] * 20, far=[0] * 20)
    assert "No pair." in Page(render_job(replace(EMPTY, histograms=[nothing]))).text()
    assert "No near-duplicates were found." in Page(render_job(JobReport(job="pairs"))).text()


def test_foreign_text_is_isolated() -> None:
    page = with_clusters(cluster("שלום one", "שלום two"))
    assert page.count('<div class="text" dir="auto" lang="">') == 2
    assert '<bdi class="id" dir="auto" lang="">b</bdi>' in page
    assert '[dir="auto"] { unicode-bidi: isolate; }' in page


def test_spaces_and_joiners_stay_as_they_are() -> None:
    text = "می\u200cخواهم\u00a0۱\u3000天\tx\ny"
    assert text in Page(with_clusters(cluster(text, text))).text()
    assert "a\\nb" in Page(render_job(replace(EMPTY, settings={"name": "a\nb"}))).text()


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1.000"), (0.9996, "0.999"), (0.85, "0.850"), (0.0, "0.000")]
)
def test_only_equal_texts_have_similarity_one(value: float, shown: str) -> None:
    assert cosine(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0 %"), (0.0004, "< 0.1 %"), (0.125, "12.5 %"), (0.99999, "99.9 %"), (1.0, "100 %")],
)
def test_only_the_whole_is_100_percent(value: float, shown: str) -> None:
    assert percentage(value) == shown
    assert percentage(value, "%") == shown.replace(" %", "%")


def test_numbers_read_well(report: JobReport) -> None:
    text = Page(render_job(report)).text()
    for number in ("1,234,567", "1,234,626 records were read.", "similarity 0.930", "0.950"):
        assert number in text


@pytest.mark.parametrize(
    ("share", "expected"),
    [(1, "100 %"), (0.99999, "99.9 %"), (0.997, "99.7 %"), (0.9, "90 %"), (0.1234, "12.3 %")],
)
def test_shares(share: float, expected: str) -> None:
    assert percent(share) == expected


def test_bars_sum_to_the_input(report: JobReport) -> None:
    page = render_job(report)
    # The five pairs below 0.5 are told of, and not drawn.
    assert bars(page, "compared") == bars(page, "wider") == [3, 2, 16, 7000]
    assert "5 more pairs below 0.5 are not shown." in page
    assert page.count('<rect class="far"') == page.count('<rect class="bar" ') - 4 == 4
    assert bars(page, "sizes") == [30, 4, 2, 1]
    assert ">at least 0.9</text>" in page


def test_the_threshold_is_drawn_where_it_is(report: JobReport) -> None:
    page = render_job(report)
    line = re.search(r'<line class="threshold" x1="([\d.]+)"', page)
    boxes = re.findall(r'<rect class="(\w+)" x="([\d.]+)"', page.split("</svg>")[0])
    assert line
    for css, x in boxes:
        assert (float(x) < float(line[1])) == (css == "far")


def test_distances(report: JobReport) -> None:
    found = Histogram("compared", [7001, 0, 12, 3, 0, 0], [0, 0, 0, 0, 4, 1], radius=3)
    page = render_job(replace(EMPTY, histograms=[found]))
    assert bars(page, "compared") == [7001, 12, 3, 4, 1]
    assert ">radius 3</text>" in page


def test_many_distances_share_bars() -> None:
    counts = [(at * 7919) % 101 for at in range(513)]
    found = Histogram("compared", counts, [0] * 513, radius=300)
    drawn = bars(render_job(replace(EMPTY, histograms=[found])), "compared")
    assert sum(drawn) == sum(counts)
    assert len(drawn) <= 65


@pytest.mark.parametrize("highest", [1, 4, 5, 9, 11, 39, 40, 41, 99, 101, 9021, 15836, 10**9 + 1])
def test_bars_fit_their_axis(highest: int) -> None:
    page = render_job(replace(EMPTY, histograms=[Histogram("compared", [highest], [0], radius=0)]))
    (height,) = re.findall(r'<rect [^>]*height="([\d.]+)"', page)
    assert 40 <= float(height) <= 164


def test_pairs_on_both_sides_of_the_line(report: JobReport) -> None:
    text = Page(render_job(report)).text()
    places = [text.index(part) for part in ("right 0.95", "right 0.91", "Below 0.9", "right 0.7")]
    assert places == sorted(places)
    page = render_job(report)
    # Opened are the two beside the line, and the first clusters.
    assert page.count('<details class="cluster" open>') == 2 + 2
    assert page.count('<span class="value rejected">') == 1


@pytest.mark.parametrize("pairs", [[pair(0.7, near=False)], [pair(0.95, near=True)]])
def test_pairs_on_one_side_only(pairs: list[ShownPair], report: JobReport) -> None:
    page = render_job(replace(report, pairs=pairs))
    assert page.count('<p class="cut">') == (not pairs[0].near)


def test_the_language_of_the_page(report: JobReport) -> None:
    page = render_job(replace(report, language="zh"))
    text = Page(page).text()
    assert '<html lang="zh">' in page
    assert "近似重复去除报告" in text
    assert "共读取 1,234,626 条记录。" in text
    assert "低于 0.9：不算近似" in text
    for english in ("records", "Pairs", "Clusters", "Settings", "characters", "similarity"):
        assert english not in text
    with pytest.raises(ValueError, match="lang is 'de'; it must be one of en, zh"):
        render_job(replace(report, language="de"))


def test_every_language_says_the_same() -> None:
    for name, (english, *others) in PHRASES.items():
        forms = [english] if isinstance(english, str) else list(english)
        fields = [
            {field for _, field, _, _ in string.Formatter().parse(form) if field}
            for form in (*forms, *others)
        ]
        assert all(each == fields[0] for each in fields), name
        assert all(forms), name
        assert all(others), name


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh_TW"}, "zh"),
    ],
)
def test_the_locale(
    environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language_of_locale() == expected


def test_what_does_not_count_is_marked_faintly() -> None:
    page = render_job(
        replace(
            EMPTY,
            clusters=[cluster("The Fox, old", "the fox new"), cluster("A b!", "a b?")],
            cluster_count=2,
            fold=lambda word: word.lower() if word.isalnum() else "",
        )
    )
    assert '<span class="faint">The Fox,</span> <del>old</del>' in page
    assert '<span class="faint">the fox</span> <ins>new</ins>' in page
    assert page.count("The texts differ only in what the recipe ignores.") == 1


def test_caps_are_stated(report: JobReport) -> None:
    big = ShownCluster(9000, [shown("a", "x y", first=True), shown("b", "x z")], 0.612)
    text = Page(render_job(replace(report, clusters=[big]))).text()
    assert "Showing 1 of 37 clusters" in text
    assert "Showing 2 of 9,000 records." in text
    assert "The weakest link has similarity 0.612" in text
    assert "Showing 2 of 40." in text


def test_cut_texts_say_so() -> None:
    left, right = "one two three four", "zero one two three"
    members = [shown("a", left, first=True, length=5000), shown("b", right, length=5005)]
    page = with_clusters(ShownCluster(2, members, None))
    assert "Showing the first 18 of 5,000 characters." in page
    # "four" lies beyond the cut of the other text: it may well be there.
    assert "<ins>zero</ins> one two three" in page
    assert "<del>four" not in page


def test_words_are_marked(report: JobReport) -> None:
    page = render_job(report)
    assert "The <del>quick</del> brown fox." in page
    assert "The <ins>slow</ins> brown fox." in page
    assert "图书馆<del>明</del>天关门。" in page
    assert "图书馆<ins>后</ins>天关门。" in page


def test_equal_texts_are_shown_once() -> None:
    page = with_clusters(cluster("some text", "some text"))
    assert page.count("some text") == 1
    assert "The same text, character by character." in page
    assert "differ in spacing only" in with_clusters(cluster("some text", "some\n text"))


def test_long_stretches_without_differences_are_shortened() -> None:
    same = " ".join(f"word{at}" for at in range(1000))
    page = with_clusters(cluster(f"old {same}", f"new {same}"))
    assert "<del>old</del>" in page
    # Cut between words, on both sides alike.
    found = re.findall(
        r"(word\d+)<[^>]*>… 7,\d{3} characters without differences …</span>(word\d+) ", page
    )
    assert len(found) == 2
    assert {word for pair in found for word in pair} <= set(same.split())
    assert "… 4,400 characters" in with_clusters(cluster("天" * 5000 + "地", "天" * 5000 + "玄"))


def test_empty_and_lone_texts() -> None:
    lone = ShownCluster(1, [shown("only", "alone here", first=True)], None)
    text = Page(with_clusters(lone, cluster("", "x"), ShownCluster(2, [], None))).text()
    assert "alone here" in text
    assert "An empty text." in text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a b " * 2_000_000, "b a c " * 1_500_000),
        ("." * 5_000_000, "!." * 2_500_000),
        ("天地" * 2_000_000, "地玄天" * 1_000_000),
        ("\x00" * 3_000_000, "\x00\x01" * 1_000_000),
    ],
    ids=["words", "signs", "han", "controls"],
)
def test_huge_texts_are_bounded(left: str, right: str) -> None:
    started = time.thread_time()
    page = with_clusters(cluster(left, right))
    assert time.thread_time() - started < 1
    assert len(page) < 2_000_000
    assert "differences are marked coarsely" in page
    assert f"Showing the first 20,000 of {len(left):,} characters." in page


def test_a_page_is_bounded_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.reports.marked_text.PAGE_STEPS", 5)
    one = cluster("one two three", "two one three")
    assert with_clusters(one, one, one).count("differences are marked coarsely") == 2
