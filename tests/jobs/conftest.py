"""Inputs of the tests of jobs."""

from pathlib import Path

import pytest

from helpers import corpora


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    records = [*corpora.records_of(1, 80), *corpora.records_of(2, 80)]
    return corpora.write(tmp_path / "in.jsonl", records, "jsonl")
