"""Every page of a report is whole, shows hostile text as text, and needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import httpx_captures
from helpers.findings import ONE, TEXT, copying, finding, passage, source
from helpers.html_page import BIDI, NASTY, Page, check_harmless
from helpers.job_inputs import JOBS
from helpers.kinds_report import facets_of, made_up
from neardup import Recipe, jobs
from neardup.copying.findings import Copying, Ignored
from neardup.files.reading.batch import Reading
from neardup.reports.comparison import ComparisonReport, render_comparison
from neardup.reports.copying import CopyingReport, render_file, render_folder
from neardup.reports.job import JobReport, ShownCluster, ShownPair, render_job
from neardup.reports.kinds import KindsReport, Member, SampleResponse, ShownKind, render_kinds
from neardup.reports.marked_text import ShownRecord
from neardup.reports.page import LANGUAGES, Sentence
from neardup.reports.views import ResponseView

BAD = f"{NASTY}{BIDI}</style></script></title><!-- {{{{ 7*7 }}}} {{n}} %s {{0}}"
# What a reader sees of it: all of the markup and templates, controls by their names.
SEEN = ("<script>alert(1)</script>", "{{ 7*7 }} {n} %s {0}", "\\u202e", "\\x00")
ATTRIBUTES = {
    *("autocomplete", "charset", "class", "colspan", "content", "dir", "height", "hidden", "href"),
    *("http-equiv", "id", "lang", "name", "open", "placeholder", "role", "scope", "spellcheck"),
    *("style", "tabindex", "text-anchor", "title", "type", "value", "viewbox", "width"),
    *(
        "cx",
        "cy",
        "d",
        "max",
        "min",
        "r",
        "step",
        "stroke-width",
        "checked",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
        "y2",
    ),
}
Pages = dict[str, str]


def compared(text: str, language: str) -> Pages:
    text = f"{text} {TEXT} " + "x" * 100_000
    found = ComparisonReport(
        names=(text[:200], text[:200]),
        texts=(text, text),
        passages=[passage(text, text, TEXT)],
        coverage=(0.8, 0.8),
        similarity=0.9,
        distance=7,
        bits=128,
        verdict=[Sentence("verdict.near-duplicate.similarity", {"value": 0.85})],
        ignored=([Ignored(0, 20, "template")], []),
    )
    return {"": "".join(render_comparison(found, language))}


def checked(text: str, language: str) -> CopyingReport:
    both = f"{text} {TEXT}"
    found = finding(text, both, source(f"{text} 2", both, f"{both} \x00 {ONE}", TEXT))
    settings: dict[str, object] = {"exclude": (text,), text: text}
    return CopyingReport(Copying((found,), False, settings), language, settings={"inputs": text})


def one_file(text: str, language: str) -> Pages:
    return {"": "".join(render_file(checked(text, language)))}


def folder(text: str, language: str) -> Pages:
    return {name: "".join(parts) for name, parts in render_folder(checked(text, language))}


def job(text: str, language: str) -> Pages:
    left = ShownRecord(text, f"{text} one", 90, is_representative=True)
    right = ShownRecord(text, f"{text} two", 90, None, 0.5)
    report = JobReport(
        job="dedup",
        language=language,
        counts={text: 1},
        settings={text: text},
        pairs=[ShownPair(left, right, True)],
        clusters=[ShownCluster(2, [left, right])],
        cluster_count=1,
        problems=[(text, 1, text)],
        problem_count=1,
    )
    return {"": render_job(report)}


def kinds(text: str, language: str) -> Pages:
    view = ResponseView(
        text, text, f"status {text}\nheader {text}\ntitle {text}\ntext {text}\n{text}", 9
    )
    other = replace(view, text=f"title x{text}\ntext </script><script>{text}", similarity=0.5)
    first = ShownKind(
        number=1,
        size=9,
        status=-7,
        title=text,
        server=text,
        label=text,
        rule=text,
        id=text,
        url=text,
        lowest=0.5,
        members=[Member(text, text), Member(text, f"javascript:{text}", 0.4)],
        sample=SampleResponse(view, other),
    )
    found = [first, replace(first, number=2, status=10**12)]
    report = KindsReport(
        language=language,
        responses=18,
        kind_count=2,
        kinds=found,
        facets=facets_of(found),
        settings={text: text},
        problems=[(text, 3, text)],
        problem_count=1,
    )
    return {"": "".join(render_kinds(report))}


MADE: dict[str, Callable[[str, str], Pages]] = {
    "compared": compared,
    "one-file": one_file,
    "folder": folder,
    "job": job,
    "kinds": kinds,
    "kinds-made-up": lambda text, language: {
        "": "".join(render_kinds(replace(made_up(), language=language)))
    },
    "copying-made-up": lambda text, language: {
        name: "".join(parts) for name, parts in render_folder(CopyingReport(copying(), language))
    },
}


def check_whole(pages: Pages, language: str, *, has_script: bool = True) -> list[Page]:
    """Return the pages taken apart; each is harmless, and no link of theirs leads nowhere."""
    found = {name: check_harmless(page, has_script=has_script) for name, page in pages.items()}
    for name, page in pages.items():
        page.encode()
        assert page.startswith("<!DOCTYPE html>")
        assert f'<html lang="{language}">' in page
        ids = found[name].values("id")
        assert len(ids) == len(set(ids))
        assert found[name].tags.count("main") == 1
        for link in found[name].values("href"):
            target, _, place = link.partition("#")
            assert not place or place in found[target or name].values("id"), link
            assert target in ("", *pages), link
        for _, attribute, value in found[name].attributes:
            assert attribute in ATTRIBUTES or attribute.startswith(("data-", "aria-")), attribute
            if attribute not in ("title", "data-value", "data-name", "aria-label"):
                assert "alert(" not in (value or ""), attribute
    return list(found.values())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MADE)
def test_pages_are_whole_and_harmless(name: str, language: str) -> None:
    for page in check_whole(MADE[name](BAD, language), language, has_script=name != "job"):
        if not name.endswith("made-up"):
            assert [seen for seen in SEEN if seen not in page.text()] == []


@pytest.mark.parametrize("job", JOBS)
def test_a_job_of_hostile_records_writes_a_harmless_page(tmp_path: Path, job: object) -> None:
    bad = BAD.replace("\ud800", "")  # no record may have it
    texts = [f"{bad} {TEXT}", f"{bad} {TEXT} more"]
    source, page = tmp_path / "in.jsonl", tmp_path / "r.html"
    source.write_text("".join(json.dumps({"id": x, "text": x}) + "\n" for x in texts))
    assert callable(job)
    job([str(source)], tmp_path / "out.jsonl", jobs.Options(report=page, lang="en"))
    (found,) = check_whole({"": page.read_text("utf-8")}, "en", has_script=False)
    assert SEEN[0] in found.text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hostile_capture_becomes_a_harmless_page(tmp_path: Path, language: str) -> None:
    rows = httpx_captures.mixed()
    for at, row in enumerate(rows):
        row["url"] = f"https://h{at}.example/</script><img src=x onerror=alert(1)>\u202e{at}"
        server = "Server: </title><script>alert(1)</script>"
        row["raw_header"] = row["raw_header"].replace("Server: ", server)
        row["body"] = f"<title>&lt;script&gt;alert({at % 2})&lt;/script&gt;</title>{row['body']}"
    capture, page = httpx_captures.write(tmp_path / "scan.jsonl", rows), tmp_path / "k.html"
    reading = Reading(viewing=Recipe.preset("http").viewing())
    options = jobs.Options(reading=reading, report=page, lang=language)
    jobs.cluster([str(capture)], tmp_path / "rows.jsonl", options)
    (found,) = check_whole({"": page.read_text("utf-8")}, language)
    assert "</title><script>alert(1)</script>" in found.text()
