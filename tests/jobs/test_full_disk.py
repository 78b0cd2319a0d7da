"""The disk is full."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from helpers import corpora
from helpers.job_inputs import names, write
from neardup import cli, jobs
from neardup.jobs import spool


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_no_room_for_the_output(
    tmp_path: Path,
    corpus: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "copy_file_range", full, raising=False)
    out = tmp_path / name
    arguments = ["--removed", str(tmp_path / "removed.csv"), "--report", str(tmp_path / "r.html")]
    assert cli.run(["dedup", str(corpus), "-o", str(out), *arguments]) == 1
    assert names(tmp_path) == ["in.jsonl"]
    told = capsys.readouterr().err
    assert "No space left on device" in told
    # Which of them is written first does not matter.
    assert any(str(tmp_path / each) in told for each in (name, "removed.csv", "r.html"))


@pytest.mark.parametrize("job", ["dedup", "pairs", "cluster"])
@pytest.mark.parametrize("column", ["texts", "sketches", "ids", "problems"])
def test_no_room_for_what_is_read(
    tmp_path: Path,
    job: str,
    column: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = corpora.write(tmp_path / "in.jsonl.gz", corpora.records_of(1), "jsonl", ".gz")
    bad = write(tmp_path / "bad.jsonl", b"bad\n")

    class Full:
        write = full

    init = spool.Spool.__init__

    def filled(self: spool.Spool, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        if column == "problems":
            self._problems = Full()  # type: ignore[assignment]
        else:
            self._columns[column] = Full()  # type: ignore[assignment]

    monkeypatch.setattr(spool.Spool, "__init__", filled)
    out = tmp_path / "out.jsonl"
    assert cli.run([job, str(source), str(bad), "-o", str(out)]) == 1
    assert names(tmp_path) == ["bad.jsonl", "in.jsonl.gz"]
    told = capsys.readouterr().err
    assert f"/{column}" in told
    assert "No space left on device" in told


def test_a_report_that_fails_leaves_no_output(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.jobs.report.render_job", full)
    options = jobs.Options(report=tmp_path / "r.html", removed=tmp_path / "removed.csv")
    for job in (jobs.dedup, jobs.cluster, jobs.pairs):
        with pytest.raises(OSError, match="No space left"):
            job([str(corpus)], tmp_path / "out.jsonl", options)
        assert names(tmp_path) == ["in.jsonl"]
