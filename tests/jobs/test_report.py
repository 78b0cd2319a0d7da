"""What a job's page says of it."""

from __future__ import annotations

from pathlib import Path

from job_faults import GOOD, write
from neardup import jobs


def test_the_reference_is_counted_where_there_is_one(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    out, report = tmp_path / "out.jsonl", tmp_path / "r.html"
    jobs.dedup([str(source)], out, jobs.Options(report=report))
    assert "<dt>reference</dt>" not in report.read_text(encoding="utf-8")
    jobs.dedup([str(source)], out, jobs.Options(report=report, against=(str(source),)))
    assert "<dt>reference</dt>" in report.read_text(encoding="utf-8")


def test_only_a_job_that_removes_counts_what_it_removed(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    report = tmp_path / "r.html"
    for job, count in ((jobs.dedup, 1), (jobs.cluster, 0)):
        job([str(source)], tmp_path / "out.jsonl", jobs.Options(report=report))
        page = report.read_text(encoding="utf-8")
        assert page.count("<dt>kept</dt>") == page.count("<dt>removed</dt>") == count
