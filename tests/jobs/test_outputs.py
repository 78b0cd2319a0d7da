"""Outputs that cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.job_inputs import GOOD, JOBS, names, write
from neardup import jobs
from neardup.jobs import read


@pytest.mark.parametrize("job", JOBS)
def test_outputs_that_cannot_be_are_refused_at_once(
    tmp_path: Path, corpus: Path, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "spooling", None)  # no work is begun
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(corpus)
    refused: list[tuple[Path, dict[str, Any], str]] = [
        (corpus, {}, "is also an input"),
        (link, {}, "is also an input"),
        (folder, {}, "a folder; name a file in it"),
        (tmp_path / "out.docx", {}, r"out\.docx'"),
        (tmp_path / "no" / "out.jsonl", {}, "the folder .*no does not exist"),
        (tmp_path / "o.jsonl", {"quarantine": tmp_path / "o.jsonl"}, "named for two outputs"),
        (tmp_path / "o.jsonl", {"quarantine": corpus}, "is also an input"),
        (
            tmp_path / "o.jsonl",
            {"report": tmp_path / "r.jsonl"},
            "unknown ending; use one of .html",
        ),
        (tmp_path / "o.jsonl", {"removed": tmp_path / "o.jsonl"}, "named for two outputs"),
        (tmp_path / "o.jsonl", {"removed": tmp_path / "r.txt"}, "unknown ending"),
    ]
    for out, options, message in refused:
        with pytest.raises(jobs.RefusedError, match=message):
            job([str(corpus)], out, jobs.Options(**options))
    assert names(tmp_path) == ["folder.jsonl", "in.jsonl", "link.jsonl"]


def test_the_output_is_not_what_is_compared_with(tmp_path: Path, corpus: Path) -> None:
    old = write(tmp_path / "old.jsonl", *GOOD)
    with pytest.raises(jobs.RefusedError, match=r"old\.jsonl: is also an input"):
        jobs.dedup([str(corpus)], old, jobs.Options(against=(str(old),)))
    assert old.read_bytes() == b"".join(GOOD)


def test_formats_are_not_mixed(tmp_path: Path, corpus: Path) -> None:
    other = write(tmp_path / "b.csv", b"text\nx\n")
    with pytest.raises(jobs.RefusedError, match="one file of one format, so run once per format"):
        jobs.dedup([str(corpus), str(other)], tmp_path / "out.jsonl")


def test_tables_of_other_columns_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "spooling", None)  # no work is begun
    first, second = (write(tmp_path / f"{n}.csv", f"text,{n}\nx,1\n".encode()) for n in "ab")
    with pytest.raises(
        jobs.RefusedError, match=r"its columns \('text', 'b'\) differ from those of"
    ):
        jobs.dedup([str(first), str(second)], tmp_path / "out.csv")
    for name in "ab":
        pq.write_table(pa.table({"text": ["x"], name: [1]}), tmp_path / f"{name}.parquet")
    inputs = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    with pytest.raises(jobs.RefusedError, match=r"text: string, b: int64.* differ from those of"):
        jobs.dedup(inputs, tmp_path / "out.parquet")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(jobs.RefusedError, match="is not writable"):
        jobs.dedup([str(corpus)], folder / "out.jsonl")


def test_a_folder_that_says_it_is_not_writable(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(jobs.RefusedError, match="is not writable"):
        jobs.dedup([str(corpus)], tmp_path / "out.jsonl")
