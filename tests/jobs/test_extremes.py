"""Very little, and very many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import corpora
from helpers.job_inputs import GOOD, JOBS, OTHER, TEXT, line, names, write
from neardup import jobs
from neardup.jobs import sample


@pytest.mark.parametrize("job", JOBS)
def test_an_empty_file_and_one_record(tmp_path: Path, job: Any) -> None:
    empty, one = write(tmp_path / "empty.jsonl"), write(tmp_path / "one.jsonl", GOOD[0])
    out, report = tmp_path / "out.jsonl", tmp_path / "r.html"
    found = job([str(empty)], out, jobs.Options(report=report, keep="best:n"))
    assert (found.read, found.unreadable) == (0, 0)
    assert out.read_bytes() == b""
    found = job([str(empty), str(one)], out, jobs.Options(report=report))
    assert found.read == 1
    expected = {"dedup": GOOD[0], "pairs": b""}
    if found.job in expected:
        assert out.read_bytes() == expected[found.job]
    else:
        assert corpora.rows(out) == [
            {"id": "a", "cluster": 0, "size": 1, "representative": "a", "differs": "", "lost": 0}
        ]


def test_empty_tables(tmp_path: Path) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    corpora.write_parquet(source, [])
    assert jobs.dedup([str(source)], out).kept == 0
    assert pq.read_schema(out).equals(pq.read_schema(source), check_metadata=True)
    header = write(tmp_path / "in.csv", b"id,text\n")
    assert jobs.dedup([str(header)], tmp_path / "out.csv").unreadable == 0
    assert (tmp_path / "out.csv").read_bytes() == b"id,text\n"
    nothing = write(tmp_path / "none.csv")
    with pytest.raises(jobs.NothingReadError, match=r"none\.csv:1: empty; a line with the names"):
        jobs.dedup([str(nothing)], tmp_path / "o.csv")


def test_everything_is_near_the_reference(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    out = tmp_path / "out.jsonl"
    found = jobs.dedup([str(source)], out, jobs.Options(against=(str(source),)))
    assert (found.kept, found.removed) == (0, 3)
    assert out.read_bytes() == b""
    empty = write(tmp_path / "empty.jsonl")
    found = jobs.dedup([str(source)], out, jobs.Options(against=(str(empty),)))
    # Only what is near the reference is removed, and it is empty.
    assert (found.kept, found.removed) == (3, 0)
    assert out.read_bytes() == b"".join(GOOD)


@pytest.mark.parametrize("job", JOBS)
def test_a_join_that_takes_long_is_warned_of(
    tmp_path: Path, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "MIN_RECORDS", 2)
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    # Warnings are errors here.
    job([str(source)], out, jobs.Options(recall=1))
    monkeypatch.setattr(sample, "LONG_SECONDS", 0.0)
    with pytest.warns(UserWarning, match="with 3 records like these takes about 0 s"):
        job([str(source)], out, jobs.Options(recall=1))


def test_records_may_share_an_id(tmp_path: Path) -> None:
    lines = [line(id="x", text=TEXT), line(id="x", text=OTHER), line(id="x", text=TEXT + "!")]
    source, out = write(tmp_path / "in.jsonl", *lines), tmp_path / "out.jsonl"
    removed = tmp_path / "removed.jsonl"
    jobs.dedup([str(source)], out, jobs.Options(removed=removed))
    assert out.read_bytes() == lines[0] + lines[1]
    assert [(row["id"], row["dup_of"], row["cluster"]) for row in corpora.rows(removed)] == [
        ("x", "x", 0)
    ]


def test_a_keep_policy_by_a_column_that_is_nowhere(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match="best:scroe, but no record has a value in the column"):
        jobs.dedup([str(source)], out, jobs.Options(keep="best:scroe"))
    assert names(tmp_path) == ["in.jsonl"]


def test_a_keep_policy_by_values_without_an_order(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [TEXT, TEXT], "n": [[1], [2]]}), tmp_path / "in.parquet")
    options = jobs.Options(keep="best:n")
    with pytest.raises(ValueError, match=r"best:n, but values of type list<.*> have no order"):
        jobs.dedup([str(tmp_path / "in.parquet")], tmp_path / "out.parquet", options)


def test_more_files_than_a_process_may_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        write(folder / f"{number:03}.jsonl", line(text=f"{TEXT} {number % 7} {number % 7}"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (250, hard))
    try:
        found = jobs.dedup([str(folder)], tmp_path / "out.jsonl", jobs.Options(similarity=1.0))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (found.read, found.kept) == (300, 7)
