"""Hostile names and texts are only text."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import corpora
from helpers.job_inputs import JOBS, TEXT, line, write
from neardup import jobs

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">\u202etxt.exe'


def test_hostile_ids_and_texts_are_only_text(tmp_path: Path) -> None:
    text = f"{HOSTILE} {TEXT}"
    ids = [HOSTILE, f"</style>{HOSTILE}", "javascript:alert(1)", "=cmd|' /C calc'!A0"]
    source = tmp_path / "<b>in&.jsonl"
    write(source, *(line(id=name, text=text) for name in ids), b"<script>bad</script>\n")
    out, removed, report = (tmp_path / name for name in ("out.jsonl", "removed.csv", "r.html"))
    found = jobs.dedup([str(source)], out, jobs.Options(removed=removed, report=report))
    assert (found.kept, found.removed, found.unreadable) == (1, 3, 1)
    page = report.read_text(encoding="utf-8")
    for raw in ("<script>alert", "<img", "<b>in", "</style><script", 'onerror="', "\u202e"):
        assert raw not in page.lower()
    assert page.lower().count("<script") == 0
    with removed.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["id"] == "'=cmd|' /C calc'!A0"
    assert [row["id"] for row in rows[:-1]] == ids[1:3]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
@pytest.mark.parametrize("job", JOBS)
def test_ids_are_no_formulas(tmp_path: Path, job: Any, start: str) -> None:
    source = write(tmp_path / "in.jsonl", *(line(id=f"{start}{n}", text=TEXT) for n in range(3)))
    out = tmp_path / "removed.csv"
    if job is jobs.dedup:
        jobs.dedup([str(source)], tmp_path / "out.jsonl", jobs.Options(removed=out))
    else:
        job([str(source)], out)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shown = {row[name] for row in rows for name in row if name in ("id", "dup_of", "left", "right")}
    assert shown
    assert all(cell.startswith(f"'{start}") for cell in shown)


@pytest.mark.parametrize(
    "name",
    ["with space.jsonl", "línea-北京.jsonl", "a\nb.jsonl", "[x]*?.jsonl", "-n.jsonl", "'\".jsonl"],
)
def test_odd_file_names(tmp_path: Path, name: str) -> None:
    source, out = write(tmp_path / name, line(text=TEXT) * 2), tmp_path / f"out {name}"
    removed = tmp_path / "removed.jsonl"
    report = tmp_path / "r.html"
    jobs.dedup([str(source)], out, jobs.Options(removed=removed, report=report))
    assert out.read_bytes() == line(text=TEXT)
    (row,) = corpora.rows(removed)
    assert (row["id"], row["dup_of"]) == (f"{source}:2", f"{source}:1")
    assert row["source"] == str(source)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes only there")
@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".txt"])
def test_names_that_are_not_utf8(tmp_path: Path, ending: str) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9" + ending.encode())
    data = {".jsonl": line(text=TEXT) * 2, ".csv": f"text\n{TEXT}\n{TEXT}\n".encode()}
    write(Path(name), data.get(ending, TEXT.encode()))
    out, clusters = tmp_path / f"out{ending.replace('txt', 'jsonl')}", tmp_path / "c.jsonl"
    jobs.dedup([name], out, jobs.Options(report=tmp_path / "r.html", work_dir=tmp_path / "w"))
    jobs.cluster([name], clusters)
    assert "caf\\udce9" in corpora.rows(clusters)[0]["id"]
    assert out.read_bytes().count(TEXT.encode()) == 1
