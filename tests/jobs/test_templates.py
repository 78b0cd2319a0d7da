"""Templates in jobs on files: told in summary and report, kept apart with distinguish fields."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from helpers import corpora
from helpers.html_page import check_harmless
from helpers.records import FORMS, edited_copies
from neardup import jobs
from neardup.near import templates

RNG = random.Random(7)
TEXTS = [
    *FORMS["parcel"](RNG, 40),
    *edited_copies(RNG, 8),
    *FORMS["notice"](RNG, 30),
]
TEXTS += TEXTS[:3]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows = ({"id": f"r{row}", "text": text} for row, text in enumerate(TEXTS))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(job: Any, source: Path, **options: Any) -> tuple[jobs.Summary, list[dict[str, Any]]]:
    out = source.with_name("out.jsonl")
    summary = job([str(source)], out, jobs.Options(**options))
    return summary, corpora.rows(out)


@pytest.mark.parametrize("job", [jobs.dedup, jobs.cluster])
def test_templates_are_told(job: Any, source: Path) -> None:
    summary, _ = run(job, source, similarity=0.6)
    assert summary.as_dict()["templates"] == {"clusters": 2, "records": 73}
    assert (
        "2 clusters are templates: 73 records made from one form with other fields; "
        "--distinguish fields keeps them apart"
    ) in summary.as_lines()


def test_fields_keep_records_apart_as_in_memory(source: Path) -> None:
    summary, kept = run(jobs.dedup, source, similarity=0.6, distinguish="fields")
    found = nd.dedup(TEXTS, 0.6, distinguish="fields")
    assert [row["id"] for row in kept] == [f"r{row}" for row in found.kept]
    assert (summary.kept, summary.removed, summary.exact) == (71, 10, 3)
    assert (
        "2 clusters are templates: 73 records made from one form with other fields, which were "
        "kept apart"
    ) in summary.as_lines()
    assert summary.distinguish == ["fields"]


@pytest.mark.parametrize("linkage", ["star", "connected"])
def test_clusters_are_split(source: Path, linkage: Any) -> None:
    options = {"similarity": 0.6, "linkage": linkage, "keep": "longest"}
    _, rows = run(jobs.cluster, source, distinguish=["fields"], **options)
    found = nd.dedup(TEXTS, 0.6, distinguish="fields", linkage=linkage, keep="longest")
    assert [row["representative"] for row in rows] == [f"r{row}" for row in found.clusters]


@pytest.mark.parametrize(("lang", "title"), [("en", "<h2>Templates</h2>"), ("zh", "<h2>模板</h2>")])
@pytest.mark.parametrize("distinguish", [None, "fields"])
def test_the_report_shows_forms_and_fields(
    source: Path, lang: str, title: str, distinguish: str | None
) -> None:
    report = source.with_name("r.html")
    run(jobs.dedup, source, similarity=0.6, report=report, lang=lang, distinguish=distinguish)
    page = report.read_text(encoding="utf-8")
    check_harmless(page, has_script=False)
    _, section = page.split(title)
    section = section.partition("</section>")[0]
    assert section.count("<details") == 2
    assert 'Parcel <span class="field">1</span> was handed to our carrier in <span' in section
    first = TEXTS[0].split()[1]
    assert (
        f'<tr><td><span class="field">1</span></td><td><bdi dir="auto" lang="">{first}' in section
    )


def test_only_the_largest_clusters_are_looked_at_unasked(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templates, "TOLD_MEMBERS", 45)
    report = source.with_name("r.html")
    summary, _ = run(jobs.dedup, source, similarity=0.6, report=report, lang="en")
    assert summary.templates == {"clusters": 1, "records": 43, "of": 1}
    said = "1 of the 1 largest clusters is a template: 43 records made from one form"
    assert any(line.startswith(said) for line in summary.as_lines())
    assert "Only the 1 largest clusters were looked at." in report.read_text(encoding="utf-8")
    summary, _ = run(jobs.dedup, source, similarity=0.6, distinguish="fields")
    assert summary.templates == {"clusters": 2, "records": 73}


def test_pages_without_templates_say_nothing(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    lines = (json.dumps({"text": text}) + "\n" for text in edited_copies(random.Random(1), 9))
    source.write_text("".join(lines))
    summary, _ = run(jobs.dedup, source, report=tmp_path / "r.html", lang="en")
    assert summary.templates == {"clusters": 0, "records": 0}
    assert "Templates" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "templates:" not in " ".join(summary.as_lines())


def test_where_fields_are_refused(source: Path) -> None:
    with pytest.raises(jobs.RefusedError, match="needs the clusters of a whole corpus: use dedup"):
        run(jobs.pairs, source, distinguish="fields")
    with pytest.raises(jobs.RefusedError, match="leave it out, or run without against"):
        run(jobs.dedup, source, distinguish="fields", against=[str(source)])


def test_spark_keeps_the_same_records(source: Path) -> None:
    pytest.importorskip("pysail")
    options = {"similarity": 0.6, "distinguish": "fields", "linkage": "star"}
    summary, kept = run(jobs.dedup, source, **options)
    again, spark = run(jobs.dedup, source, engine="spark", **options)
    assert spark == kept
    assert again.templates == summary.templates


def test_forms_with_fields_of_two_values_are_templates(source: Path) -> None:
    words = (
        "documents were complete and the applicant was informed by letter of the decision within "
        "two weeks after the interview at the branch office"
    )
    choices = [
        (a, b, c) for a in ("yes", "no") for b in ("true", "false") for c in ("open", "shut")
    ]
    texts = [
        f"name {chr(97 + at) * 3} resident {a} guarantor {b} account {c} notes {words}"
        for at, (a, b, c) in enumerate(choices * 3)
    ]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    summary, kept = run(jobs.dedup, source, purpose="templates")
    assert summary.templates == {"clusters": 1, "records": 24}
    assert len(kept) == 24


def test_a_story_revised_place_by_place_is_no_template() -> None:
    words = [f"word{at}" for at in range(16)]
    revised = []
    for step in range(5):
        text = [
            f"new{word}" if at < 3 * step and at % 3 == 0 else word for at, word in enumerate(words)
        ]
        revised += [" ".join([*text, f"source{step}{copy}"]) for copy in range(4)]
    assert not nd.dedup(revised, 0.5).templates(revised)


def test_what_would_keep_less_is_not_advised(source: Path) -> None:
    rows = ({"text": text} for text in edited_copies(random.Random(3), 8))
    lines = [json.dumps({"text": f"{row['text']} {at}"}) for at, row in enumerate(rows)]
    source.write_text("\n".join(lines), encoding="utf-8")
    for distinguish, advice in ((None, 1), ("fields", 0)):
        lines = run(jobs.dedup, source, similarity=0.6, distinguish=distinguish)[0].as_lines()
        assert any("differ in numbers" in line for line in lines)
        assert sum("--distinguish numbers" in line for line in lines) == advice


@pytest.mark.parametrize("job", [jobs.dedup, jobs.pairs])
def test_a_purpose_whose_fields_do_not_count_says_so(job: Any, source: Path) -> None:
    against = [str(source)] if job is jobs.dedup else []
    with pytest.warns(UserWarning, match="here fields do not count"):
        run(job, source, purpose="templates", against=against)
    assert not run(jobs.dedup, source, purpose="templates")[0].warnings
