"""What a job says while it runs: stages with their ends, and counts that reach them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from helpers.job_inputs import GOOD, JOBS, write
from neardup import jobs


class Heard:
    """Stages, and what was done of each."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None, str]] = []
        self.done: list[int] = []

    def stage(self, name: str, total: int | None, unit: str) -> None:
        if self.stages and total is not None and self.stages[-1][1:] == (total, unit):
            self.stages[-1] = (name, total, unit)
            return
        self.stages.append((name, total, unit))
        self.done.append(0)

    def advance(self, count: int) -> None:
        assert count >= 0
        self.done[-1] += count


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("job", JOBS)
def test_stages_reach_their_ends(job: Any, packed: bool, corpus: Path, tmp_path: Path) -> None:
    source, heard = corpus, Heard()
    if packed:
        source = tmp_path / "in.jsonl.gz"
        source.write_bytes(gzip.compress(corpus.read_bytes()))
    job([str(source)], tmp_path / "out.jsonl", jobs.Options(progress=heard))
    names = [name for name, _, _ in heard.stages]
    assert names[0] == "reading"
    assert "comparing" in names
    assert any(name.startswith("finding candidates ") for name in names)
    for (name, total, _), done in zip(heard.stages, heard.done, strict=True):
        if total is not None:
            assert done == total, name
    if job is not jobs.pairs:
        assert heard.stages[-1] == ("writing", 160, "records")


def test_removed_records_are_counted(corpus: Path, tmp_path: Path) -> None:
    heard = Heard()
    options = jobs.Options(progress=heard, removed=tmp_path / "removed.jsonl")
    found = jobs.dedup([str(corpus)], tmp_path / "out.jsonl", options)
    assert heard.stages[-1] == ("writing removed records", found.removed, "records")
    assert heard.done[-1] == found.removed


def test_parquet_is_counted(corpus: Path, tmp_path: Path) -> None:
    import pyarrow.json as pj
    import pyarrow.parquet as pq

    source, heard = tmp_path / "in.parquet", Heard()
    pq.write_table(pj.read_json(corpus), source, row_group_size=50)
    jobs.dedup([str(source)], tmp_path / "out.parquet", jobs.Options(progress=heard))
    assert (heard.stages[-1], heard.done[-1]) == (("writing", 160, "records"), 160)


def test_a_report_is_a_stage(tmp_path: Path) -> None:
    source, heard = write(tmp_path / "in.jsonl", *GOOD), Heard()
    options = jobs.Options(progress=heard, report=tmp_path / "r.html")
    jobs.dedup([str(source)], tmp_path / "out.jsonl", options)
    assert heard.stages[-1][0] == "writing the report"
