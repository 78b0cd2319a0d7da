"""Inputs that change while a job runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers import corpora
from helpers.job_inputs import JOBS, Stopper, names
from neardup import jobs


@pytest.mark.parametrize(
    ("job", "stage"),
    [*((job, "comparing") for job in JOBS), (jobs.dedup, "writing"), (jobs.dedup, "reading")],
)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("change", ["cut", "grown", "swapped", "gone"])
def test_an_input_that_changes_is_noticed(
    tmp_path: Path, job: Any, stage: str, kind: str, change: str
) -> None:
    records = corpora.records_of(1, 80)
    source, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        corpora.write_parquet(source, records)
    else:
        corpora.write(source, records, kind)
    data = source.read_bytes()

    def act() -> None:
        if change == "gone":
            source.unlink()
        elif change == "swapped":
            # As many bytes, other records.
            if kind == "parquet":
                corpora.write_parquet(source, records[::-1])
            else:
                corpora.write(source, records[::-1], kind)
        else:
            source.write_bytes(data[: len(data) // 2] if change == "cut" else data + data[-50:])

    removed = tmp_path / "removed.jsonl"
    options = jobs.Options(progress=Stopper(stage, act), removed=removed)
    with pytest.raises((OSError, ValueError), match=r"in\.") as raised:
        job([str(source)], out, options)
    told = str(raised.value)
    assert any(
        word in told for word in ("changed", "shorter", "No such file", "no readable Parquet")
    ), told
    assert [name for name in names(tmp_path) if name != source.name] == []
