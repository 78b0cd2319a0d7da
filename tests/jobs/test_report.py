"""What a job's page says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from helpers.job_inputs import GOOD, JOBS, OTHER, TEXT, line, write
from neardup import jobs
from neardup.jobs import report as reporting
from neardup.jobs import sample
from neardup.jobs.report import fold_of
from neardup.near.matches import MIN_SIDE_SHARE, PAIRS_PER_STEP, PairSample, sample_order
from neardup.near.question import check_question

WORDS = TEXT.split()
# Less and less of the same text.
STEPS = [
    " ".join([*WORDS[:kept], *(f"x{kept}y{n}" for n in range(13 - kept))]) for kept in range(14)
]


def counts_of(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))


def page_of(job: Any, source: Path, **asked: Any) -> str:
    report = source.with_name("r.html")
    options = jobs.Options(report=report, **{"lang": "en", **asked})
    job([str(source)], source.with_name("out.jsonl"), options)
    return report.read_text(encoding="utf-8")


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    lines = [line(id=f"kept-{at}", text=text) for at, text in enumerate(STEPS)]
    return write(tmp_path / "in.jsonl", *lines)


def test_every_job_leads_with_what_it_found(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD, b"no json\n")
    kinds = {"exact copies": "1", "near-duplicates": "0", "unreadable": "1"}
    assert counts_of(page_of(jobs.dedup, source)) == {"kept": "2", "removed": "1", **kinds}
    assert counts_of(page_of(jobs.pairs, source)) == {"pairs": "1", **kinds}
    found = {"clusters of two or more": "1", "records in clusters": "2", "records alone": "1"}
    assert counts_of(page_of(jobs.cluster, source)) == {**found, **kinds}


DIFFERING = [
    f"{TEXT} by order of the council on day 5",
    f"{TEXT} by order of the council on day 50",
    f"{TEXT} by order of the council on day 5".replace("will be", "will not be"),
    f"{OTHER} if a == b",
    f"{OTHER} if a != b",
    f"{OTHER} on paper if a == b of gulls",
]


def differing_section(page: str) -> str:
    return page.split("<h2>What differs</h2>")[1].split("</section>")[0]


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("by", [{}, {"radius": 40}], ids=str)
def test_what_differs_is_shown_the_most_suspicious_first(
    job: Any, by: dict[str, Any], tmp_path: Path
) -> None:
    lines = [line(id=f"d{at}", text=text) for at, text in enumerate(DIFFERING)]
    page = page_of(job, write(tmp_path / "in.jsonl", *lines), **by)
    found = differing_section(page)
    rows = re.findall(r'<tr><th scope="row">(\w+)</th><td>(\d+)</td></tr>', found)
    pairs = job is jobs.pairs
    expected = {"numbers": "2" if pairs else "1", "negation": "2" if pairs else "1"}
    assert dict(rows) == {**expected, "symbols": "2" if pairs else "1"}
    assert "To keep such records apart: --distinguish numbers,negation,symbols" in found
    heads = re.findall(r"<summary>.*?<h3>(?:<[^>]*>)*(d\d)  ·  (d\d)<.*?</summary>", found)
    assert heads[0] == ("d0", "d2")
    assert found.count(" open>") == 1
    # What the recipe ignores is marked where it is a token that differs.
    assert "if a <del>=</del>= b" in found
    assert "if a <ins>!</ins>= b" in found
    assert '<tr><th scope="row">Symbols</th><td><bdi dir="auto" lang="">==</bdi>' in found
    links = re.findall('href="#(cluster[0-9])"', found)
    assert bool(links) != pairs
    assert all(f'<div id="{link}"></div>' in page for link in links)


def test_a_cluster_that_is_not_shown_has_no_link(tmp_path: Path) -> None:
    lines = [line(text=text) for text in DIFFERING]
    page = page_of(jobs.dedup, write(tmp_path / "in.jsonl", *lines), report_clusters=1)
    found = differing_section(page)
    assert "href" in found
    assert found.count("href") < found.count("<summary>")
    assert "What differs" not in page_of(
        jobs.dedup, tmp_path / "in.jsonl", distinguish="numbers,negation,symbols"
    )


def test_the_reference_is_counted_where_there_is_one(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    said = "3 records were only compared with."
    assert said not in page_of(jobs.dedup, source)
    assert said in page_of(jobs.dedup, source, against=(str(source),))


@pytest.mark.parametrize("job", JOBS)
def test_rejected_pairs_are_shown(job: Any, steps: Path) -> None:
    page = page_of(job, steps)
    above, below = page.split('<p class="cut">Below 0.85: rejected</p>')
    values = [
        [float(found) for found in re.findall(r'<span class="value[^>]*>([\d.]+)<', part)]
        for part in (above, below)
    ]
    assert values[0] + values[1] == sorted(values[0] + values[1], reverse=True)
    assert min(values[0]) >= 0.85 > max(values[1])
    assert 0.5 <= min(values[1]) < 0.65
    # All pairs of these few texts are in the random sample, by their exact cosine.
    exact = [nd.similarity(a, b) for at, a in enumerate(STEPS) for b in STEPS[:at]]
    table = page.split("<h2>Random sample</h2>")[1].split("</figure>")[0]
    rows = re.findall(r"<tr><td>([\d.]+)–[\d.]+</td><td>(\d+)</td><td>(\d+)</td></tr>", table)
    near, far = sum(int(row[1]) for row in rows), sum(int(row[2]) for row in rows)
    assert (near, far) == (sum(x >= 0.85 for x in exact), sum(0.5 <= x < 0.85 for x in exact))
    assert f"All pairs among {len(STEPS)} records." in table


def test_the_threshold_may_be_low(steps: Path) -> None:
    page = page_of(jobs.dedup, steps, similarity=0.3)
    assert "Below 0.3: rejected" in page
    assert re.search(r'<span class="value rejected">0\.[12]', page)


def test_a_radius(steps: Path) -> None:
    page = page_of(jobs.pairs, steps, radius=15)
    assert "Beyond 15 bits: rejected" in page
    assert ">radius 15</text>" in page
    assert "The similarities were computed for this page only." in page
    assert "at most 15 of 128 bits; the texts were not compared" in page
    page = page_of(jobs.pairs, steps, radius=15, distinguish="negation")
    assert "of the texts only what keeps them apart was compared" in page
    assert "not compared" not in page


def test_how_many_clusters_are_shown(tmp_path: Path) -> None:
    words = (
        f"group {n} tells of the {n * 7} sheep and {n * 3} goats of hill {n}" for n in range(5)
    )
    lines = [line(id=f"{n}-{m}", text=text) for n, text in enumerate(words) for m in range(2)]
    source = write(tmp_path / "in.jsonl", *lines)
    asked = {"similarity": 0.99}
    assert "Showing 2 of 5 clusters" in page_of(jobs.dedup, source, report_clusters=2, **asked)
    assert "5 clusters, the largest first." in page_of(jobs.cluster, source, **asked)
    assert "Showing 0 of 5 clusters" in page_of(jobs.cluster, source, report_clusters=0, **asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"report_clusters": 3}, "report_clusters is 3, but no report is written"),
        ({"lang": "zh"}, "lang is 'zh', but no report is written; name its file: --report"),
        ({"report": Path("r.html"), "lang": "fr"}, "lang is 'fr'; it must be one of en, zh"),
        ({"report": Path("r.html"), "report_clusters": -1}, "from 0 to 10000"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], message: str, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    with pytest.raises(jobs.RefusedError, match=message):
        jobs.dedup([str(source)], tmp_path / "out.jsonl", jobs.Options(**asked))


def test_the_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "近似重复去除报告" in page_of(jobs.dedup, source, lang=None)
    assert "Near-duplicates removed" in page_of(jobs.dedup, source, lang="en")


def test_many_records_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "ALL_PAIRS_RECORDS", 20)
    monkeypatch.setattr(sample, "JOIN_RECORDS", 100)
    random = np.random.default_rng(5)
    texts = (" ".join(f"w{w}" for w in random.choice(900, 30)) for _ in range(200))
    source = write(tmp_path / "in.jsonl", *(line(text=text) for text in texts))
    page = page_of(jobs.dedup, source)
    assert "Pairs from 0.5 up in a random sample of 100 of 200 records." in page
    # Where nearly all are alike, all pairs of a few are compared.
    texts = (f"{TEXT} {OTHER} {at}" for at in range(200))
    source = write(tmp_path / "in.jsonl", *(line(text=text) for text in texts))
    page = page_of(jobs.dedup, source)
    assert "All pairs in a random sample of 20 of 200 records." in page


@pytest.mark.parametrize("asked", [{}, {"radius": 10}])
def test_a_small_reference_is_drawn_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    """A look at some records shows no pair among the inputs."""
    monkeypatch.setattr(sample, "ALL_PAIRS_RECORDS", 20)
    monkeypatch.setattr(sample, "JOIN_RECORDS", 100)
    monkeypatch.setattr(sample, "FINGERPRINTS", 20)
    random = np.random.default_rng(5)
    texts = [" ".join(f"w{w}" for w in random.choice(900, 30)) for _ in range(200)]
    source = write(
        tmp_path / "in.jsonl",
        *(line(id=f"i{at}-{n}", text=f"{text} {n}") for at, text in enumerate(texts) for n in "ab"),
    )
    against = write(tmp_path / "old.jsonl", line(id="old", text="z1 z2 z3 z4 z5 z6 z7 z8 z9"))
    looks: list[Any] = []

    def look(*given: Any, **named: Any) -> Any:
        looks.append(sample.sample_threshold(*given, **named))
        return looks[-1]

    monkeypatch.setattr(reporting, "sample_threshold", look)
    page_of(jobs.dedup, source, against=(str(against),), **asked)
    # Nothing is like the one record of the reference, and the inputs are not compared.
    (found,) = looks
    assert found.records > 1
    assert {pair.left for pairs in found.sample.drawn().values() for pair in pairs} <= {0}
    assert found.sample.near.sum() == 0
    # Where the reference has nothing to compare, there is no look.
    for nothing in ((line(id="old", text="z"),), ()):
        write(against, *nothing)
        page_of(jobs.dedup, source, against=(str(against),), **asked)
        assert looks.pop() is None


def test_with_a_reference_all_pairs_are_those_with_an_input() -> None:
    rows = np.array([0, 1, 5, 6])
    left, right = sample._all_pairs(rows, 5)
    assert list(zip(left, right, strict=True)) == [(0, 5), (0, 6), (1, 5), (1, 6)]
    assert len(sample._all_pairs(rows, 0)[0]) == 6


@pytest.mark.parametrize("reference", [0, 1, 30, 500, 999, 1000])
def test_what_is_drawn_has_both_sides(reference: int) -> None:
    rows = np.arange(1000)
    drawn = sample_order(rows, reference)
    if reference == 1000:
        assert len(drawn) == 0
        return
    assert sorted(drawn) == rows.tolist()
    assert np.array_equal(drawn, sample_order(rows, reference))
    if not reference:
        return
    share = min(max(reference / 1000, MIN_SIDE_SHARE), 1 - MIN_SIDE_SHARE)
    for count in (2, 3, 50, 400, 1000):
        before = int((drawn[:count] < reference).sum())
        # In proportion, but for a small side until there is no more of it.
        expected = min(share * count, reference)
        expected = max(expected, count - (1000 - reference))
        assert 0 < before < count
        assert abs(before - expected) <= 1


@pytest.mark.parametrize(
    ("recipe", "same", "other"),
    [
        (nd.Recipe(), [("Fox", "fox"), ("Straße", "STRASSE"), ("ﬁ", "fi")], [("fox", "box")]),
        (nd.Recipe(normalize="none"), [("fox", "fox")], [("Fox", "fox")]),
        (nd.Recipe(tokens="chars", ngram=3), [("A", "a")], [(",", "."), ("a", "b")]),
        (nd.Recipe(tokens="jieba"), [("天", "天")], [("天", "地")]),
    ],
)
def test_words_count_as_the_recipe_says(
    recipe: nd.Recipe, same: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    fold = fold_of(recipe)
    assert fold is not None
    assert all(fold(a) == fold(b) for a, b in same)
    assert all(fold(a) != fold(b) for a, b in other)


def test_punctuation_counts_where_it_does() -> None:
    words, chars = fold_of(nd.Recipe()), fold_of(nd.Recipe(tokens="chars"))
    assert words is not None
    assert chars is not None
    assert words(",") == words("。") == ""
    assert chars(",") == ","
    assert fold_of(nd.Recipe(tokens="lines")) is None


def test_a_sample_counts_all_and_keeps_some() -> None:
    random = np.random.default_rng(1)
    similarity = random.random(5000)
    rows = np.arange(5000)
    sample = PairSample(check_question(0.85, None, None, bits=128), 128)
    for part in np.array_split(rows, 7):
        sample.take(part, part + 1, part % 9, similarity[part])
    steps = np.minimum((similarity * 50 + 1e-9).astype(int), 49)
    assert (sample.near + sample.far).tolist() == np.bincount(steps, minlength=50).tolist()
    assert sample.near.sum() == (similarity >= 0.85).sum()
    for step, pairs in sample.drawn().items():
        for near in (True, False):
            some = [pair for pair in pairs if pair.near == near]
            there = ((steps == step) & ((similarity >= 0.85) == near)).sum()
            assert len(some) == min(PAIRS_PER_STEP, there)
        for pair in pairs:
            assert similarity[pair.left] == pair.similarity
            assert pair.right == pair.left + 1
            assert pair.near == (pair.similarity >= 0.85)
