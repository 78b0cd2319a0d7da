"""From the kinds a job has found to their page: what is chosen, counted and shown."""

from __future__ import annotations

import html
import json
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from helpers import httpx_captures
from helpers.html_page import check_harmless
from neardup import jobs
from neardup.files.reading.batch import Reading
from neardup.http.columns import ResponseColumns
from neardup.http.kinds import Kinds, kinds_of_clusters
from neardup.http.labels import Labels
from neardup.jobs import report as module
from neardup.jobs.job import FoundClusters
from neardup.jobs.options import Summary
from neardup.jobs.report import choose_kinds, choose_sampled, spread_evenly, write_report
from neardup.near.keep import Keep
from neardup.near.matches import Clusters
from neardup.text.recipe import Recipe


@dataclass(frozen=True)
class Responses:
    """A corpus as the report sees it."""

    texts: list[str]
    facts: ResponseColumns
    unreadable: int = 0

    def text_of(self, row: int) -> str:
        return self.texts[row]

    def id_of(self, row: int) -> str:
        return f"a.warc:{row + 1}"

    def ids_of(self, rows: Any) -> pa.Array:
        return pa.array([self.id_of(row) for row in rows.tolist()], pa.large_string())

    def problems(self, most: int) -> list[tuple[str, int | None, str]]:
        found: list[tuple[str, int | None, str]] = [("a.warc", 7, "cut short, at byte 99")]
        return found[:most] if self.unreadable else []


def responses(rows: list[tuple[str, int, str, str]], batch: int = 3) -> Responses:
    """Of (host, status, title, server), in batches."""
    batches = []
    for start in range(0, len(rows), batch):
        part = rows[start : start + batch]
        host, status, title, server = zip(*part, strict=True)
        strings = {
            "url": [f"https://{each}/{start + at}" for at, each in enumerate(host)],
            "host": list(host),
            "title": list(title),
            "server": list(server),
            "content_type": ["text/html"] * len(part),
        }
        columns = {name: pa.array(values, pa.large_string()) for name, values in strings.items()}
        columns["status"] = pa.array(status, pa.int32())
        columns["length"] = pa.array([100 + start + at for at in range(len(part))], pa.int64())
        batches.append(pa.record_batch(columns))
    texts = [f"status {status}\ntitle {title}\ntext of {host}" for host, status, title, _ in rows]
    return Responses(texts, ResponseColumns(batches))


def found_of(labels: list[int]) -> tuple[Clusters, pa.Table]:
    own = np.array(labels, dtype=np.int64)
    rows = np.flatnonzero(own != np.arange(len(own)))
    # The later a row, the less it is like the first.
    near = 1 - rows / (2 * max(len(own), 1))
    removed = pa.table({"row": rows, "dup_of": own[rows], "similarity": near})
    return Clusters(own, np.full(len(own), np.nan), np.zeros(len(own), dtype=np.int64)), removed


def job_for(path: Path, **changed: Any) -> Any:
    summary = Summary("cluster", recipe="neardup3 http")
    summary.similarity, summary.plan = 0.85, {"method": "inverted"}
    job = SimpleNamespace(
        name="cluster",
        options=SimpleNamespace(report=path, report_clusters=None, lang="en", purpose=None),
        question=SimpleNamespace(all_distinguished=()),
        stage=lambda *_: None,
        summary=summary,
        viewing=None,
        recipe=Recipe(),
        against=[],
        collections=[],
        inputs=["a.warc"],
        linkage="connected",
        keep=Keep.parse("first"),
    )
    for name, value in changed.items():
        setattr(job, name, value)
    return job


ROWS = [
    ("a.example", 404, "Not Found", "nginx"),
    ("b.example", 404, "Not Found", "nginx"),
    ("b.example", 403, "Not Found", "nginx/2"),
    ("c.example", 200, "Home", "Apache"),
    ("c.example", 200, "Home", "Apache"),
    ("", 0, "", ""),
]
LABELS = [0, 0, 0, 3, 3, 5]


def kinds(rows: list[tuple[str, int, str, str]], labels: list[int]) -> tuple[Kinds, Any, Any]:
    found, removed = found_of(labels)
    corpus: Any = responses(rows)
    return kinds_of_clusters(corpus, found, removed, Labels.load()), found, removed


def written(path: Path, rows: Any = ROWS, labels: Any = LABELS, **changed: Any) -> str:
    of, found, removed = kinds(rows, labels)
    corpus: Any = of.corpus
    if "unreadable" in changed:
        corpus = replace(corpus, unreadable=changed.pop("unreadable"))
    clusters = FoundClusters(cast(Any, None), found, removed)
    write_report(job_for(path, **changed), corpus, clusters, of)
    return path.read_text(encoding="utf-8")


def test_the_page_shows_the_kinds(tmp_path: Path) -> None:
    page = written(tmp_path / "kinds.html", unreadable=2)
    text = check_harmless(page).text()
    assert page.count('<details class="kind"') == 3
    for said in (
        *("2 hosts", "100–102 bytes", "https://a.example/0", "a.warc:3", "similarity ≥ 0.833"),
        *("least similar: 0.833", "Showing 1 of 2.", "cut short, at byte 99"),
        "Every record was looked up in an inverted index",
    ):
        assert said in text
    for unsaid in ("records were read", "exact copy"):
        assert unsaid not in text


def test_facets_are_of_all_responses_of_a_kind(tmp_path: Path) -> None:
    page = written(tmp_path / "kinds.html")
    first = page.split('<details class="kind"')[1].split(">")[0]
    status = page.split('data-facet="status"')[1].split("</fieldset>")[0]
    places = {
        value: at
        for at, value in (
            part.split('" data-value="')
            for part in (each.split('">')[0] for each in status.split('data-at="')[1:])
        )
    }
    # One response of the first kind has another status than its representative.
    assert f'data-status="{" ".join(sorted((places["404"], places["403"])))}"' in first
    assert "no status" in status


def test_the_least_similar_is_beside_the_representative(tmp_path: Path) -> None:
    page = written(tmp_path / "kinds.html")
    sample = page.split('<table class="sample two">')[1].split("</table>")[0]
    assert "https://a.example/0" in sample
    assert "https://b.example/2" in sample
    assert "<del>404</del>" in sample
    assert "<ins>403</ins>" in sample


def test_the_group_is_among_the_settings(tmp_path: Path) -> None:
    page = written(tmp_path / "kinds.html", viewing=SimpleNamespace(within="host"))
    assert check_harmless(page).text().count("within") == 1


def test_the_rule_of_a_label_is_reported(tmp_path: Path) -> None:
    rows = [("a", 302, "", ""), ("b", 200, "Home", "")]
    text = check_harmless(written(tmp_path / "kinds.html", rows, [0, 1])).text()
    assert "redirect" in text
    assert "The status sends the reader elsewhere." in text


def test_nothing_read_is_a_page_too(tmp_path: Path) -> None:
    assert "No response was read." in written(tmp_path / "kinds.html", [], [])


def test_more_kinds_than_a_page_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KINDS", 6)
    monkeypatch.setattr(module, "ALONE_SHARE", 0.35)
    rows = [(f"h{at}", 200, f"t{at}", "s") for at in range(30)]
    # Ten kinds of two responses, and ten alone.
    labels = [at - at % 2 if at < 20 else at for at in range(30)]
    page = written(tmp_path / "kinds.html", rows, labels)
    assert page.count('<details class="kind"') == 6
    sizes = [part.split('"')[0] for part in page.split('data-size="')[1:]]
    assert sizes == ["2"] * 4 + ["1"] * 2
    text = check_harmless(page).text()
    assert "14 more are left" in text
    # Facets are of what is on the page.
    titles = page.split('data-facet="title"')[1].split("</fieldset>")[0]
    assert titles.count("<li>") == 4 * 2 + 2


def test_many_responses_take_little_time(tmp_path: Path) -> None:
    many = 100_000
    rows = [(f"h{at % 5000}", 200 + at % 7, f"title {at % 900}", "s") for at in range(many)]
    found, removed = found_of([at % 300 for at in range(many)])
    corpus: Any = responses(rows, batch=5000)
    of = kinds_of_clusters(corpus, found, removed, Labels.load())
    started = time.process_time()
    job = job_for(tmp_path / "kinds.html")
    write_report(job, corpus, FoundClusters(cast(Any, None), found, removed), of)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ([5, 3, 1, 1], 10, [0, 1, 2, 3]),
        ([5, 4, 3, 2], 2, [0, 1]),
        ([9, 8, 7, 6, 5, 4, 1], 5, [0, 1, 2, 3, 6]),
        ([9, 8, 7, 6, 5, 4, *[1] * 9], 10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 14]),
        ([9, 8, 7, 6, 5, 4, 3, 2, 2, 2, 2, *[1] * 9], 10, [*range(8), 11, 19]),
        ([9, 8, 7, 6, 5, 4, 3, 2, 2, 2, 2], 10, [*range(10)]),
        ([1, 1, 1, 1, 1], 2, [0, 1]),
        ([3, 1], 0, []),
    ],
)
def test_which_kinds_are_shown(sizes: list[int], most: int, expected: list[int]) -> None:
    assert choose_kinds(np.array(sizes), most).tolist() == expected


def test_the_number_of_kinds_can_be_asked_for(tmp_path: Path) -> None:
    page, _ = clustered(tmp_path, httpx_captures.mixed(), report_clusters=2)
    assert page.count('<details class="kind"') == 2
    assert "3 more are left out" in " ".join(check_harmless(page).text().split())
    page, _ = clustered(tmp_path, httpx_captures.mixed(), report_clusters=0)
    text = " ".join(check_harmless(page).text().split())
    assert "The page has 0 kinds" in text
    assert "No response was read." not in text


def test_samples_are_of_the_largest_kinds_and_of_some_singles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SAMPLED_KINDS", 2)
    monkeypatch.setattr(module, "SAMPLED_ALONE", 2)
    assert choose_sampled(np.array([9, 8, 7, 1, 1, 1])).tolist() == [0, 1, 3, 5]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 7, 100])
@pytest.mark.parametrize("most", [1, 2, 6])
def test_spread(count: int, most: int) -> None:
    found = spread_evenly(count, most).tolist()
    assert len(set(found)) == len(found) == min(count, most)
    assert all(0 <= at < count for at in found)
    assert found[:1] == ([0] if count else [])
    assert most == 1 or count < 2 or found[-1] == count - 1


# ---- the whole way, from a capture ----


def clustered(folder: Path, rows: list[dict[str, Any]], **options: Any) -> tuple[str, Summary]:
    """The page of a capture, and the summary; the tables lie beside it."""
    capture = httpx_captures.write(folder / "scan.jsonl", rows)
    asked = jobs.Options(
        reading=Reading(viewing=Recipe.preset("http").viewing()),
        kinds=folder / "kinds.jsonl",
        report=folder / "kinds.html",
        **{"lang": "en", **options},
    )
    summary = jobs.cluster([str(capture)], folder / "rows.jsonl", asked)
    return (folder / "kinds.html").read_text(encoding="utf-8"), summary


def table(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_capture_becomes_a_page(tmp_path: Path, lang: str) -> None:
    page, summary = clustered(tmp_path, httpx_captures.mixed(), lang=lang)
    assert str(tmp_path / "kinds.html") in summary.files
    text = check_harmless(page).text()
    found = table(tmp_path / "kinds.jsonl")
    ids = re.findall(r'<details class="kind" id="k(\d+)" data-size="(\d+)"', page)
    assert [(int(number), int(size)) for number, size in ids] == [
        (kind["cluster"], kind["size"]) for kind in found
    ]
    for kind in found:
        for name in ("title", "url", "server", "rule"):
            assert (kind[name] or "") in text


def test_facets_say_how_many_kinds_have_a_value(tmp_path: Path) -> None:
    page, _ = clustered(tmp_path, httpx_captures.mixed())
    rows = table(tmp_path / "rows.jsonl")
    for facet in ("status", "title", "server"):
        kinds_of_value: dict[str, set[int]] = {}
        for row in rows:
            kinds_of_value.setdefault(str(row[facet] or ""), set()).add(row["cluster"])
        box = page.split(f'data-facet="{facet}"')[1].split("</fieldset>")[0]
        shown = re.findall(r'data-value="([^"]*)".*?<span class="n">(\d+)</span>', box)
        assert {html.unescape(value): int(n) for value, n in shown} == {
            value: len(numbers) for value, numbers in kinds_of_value.items()
        }


def test_unreadable_records_are_listed(tmp_path: Path) -> None:
    path = httpx_captures.write(tmp_path / "scan.jsonl", httpx_captures.mixed())
    with path.open("a", encoding="utf-8") as file:
        file.write('{"url": "https://broken.example/", "status_code"\n')
    asked = jobs.Options(
        reading=Reading(viewing=Recipe.preset("http").viewing()), report=tmp_path / "k.html"
    )
    jobs.cluster([str(path)], tmp_path / "rows.jsonl", asked)
    page = (tmp_path / "k.html").read_text(encoding="utf-8")
    problems = page.split("<h2>Unreadable records</h2>")[1]
    assert "scan.jsonl" in problems
    assert f"<td>{len(httpx_captures.mixed()) + 1}</td>" in problems


def test_texts_have_the_report_they_had(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one two three"}\n' * 3, encoding="utf-8")
    asked = jobs.Options(report=tmp_path / "a.html", lang="en")
    jobs.cluster([str(tmp_path / "a.jsonl")], tmp_path / "out.jsonl", asked)
    assert "Clusters of near-duplicates" in (tmp_path / "a.html").read_text(encoding="utf-8")
