"""What takes long is said before it begins, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup import jobs
from neardup.jobs import sample
from neardup.near.join import SketchJoin

RECORDS = 1500


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Texts of common words, as few as a test can wait for."""
    monkeypatch.setattr(sample, "MIN_RECORDS", 1000)
    monkeypatch.setattr(sample, "FORECAST_RECORDS", 500)
    random = np.random.default_rng(3)
    weights = 1 / np.arange(1, 2001)
    words = random.choice(2000, (RECORDS, 40), p=weights / weights.sum())
    path = tmp_path / "in.jsonl"
    texts = (" ".join(f"w{word}" for word in row) for row in words)
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return str(path)


def warnings_of(source: str, **asked: Any) -> list[str]:
    said: list[str] = []
    out = Path(source).with_name("out.jsonl")
    jobs.dedup([source], out, jobs.Options(on_warning=said.append, **asked))
    return said


def test_nothing_is_said_of_the_defaults(source: str) -> None:
    assert warnings_of(source) == []


def test_the_time_of_a_join(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ({"similarity": 0.5}, {"recall": 1.0}):
        assert warnings_of(source, **asked) == []
    monkeypatch.setattr(sample, "LONG_SECONDS", 0.0)
    for asked in ({"similarity": 0.5}, {"similarity": 0.85, "recall": 1.0}):
        (said,) = warnings_of(source, **asked)
        head = f"similarity {asked['similarity']:g} with 1,500 records like these takes about "
        assert said.startswith(head)
        assert said.endswith(" s; a higher --similarity takes less")
    (said,) = warnings_of(source, similarity=0.95)
    assert said.endswith(" s; a higher --similarity, or --recall 0.9, takes less")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows how long another engine takes."""
    monkeypatch.setattr(SketchJoin, "forecast", lambda _: None)


@pytest.mark.usefixtures("elsewhere")
def test_a_low_similarity(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert warnings_of(source, similarity=0.7) == []
    monkeypatch.setattr(sample, "MAX_REJECTED", 20_000)
    (said,) = warnings_of(source, similarity=0.7)
    assert said.startswith("similarity 0.7 is low for 1,500 records like these: about ")
    assert said.endswith("a higher --similarity, or --recall 0.9, compares fewer")
    assert warnings_of(source, similarity=0.95) == []


@pytest.mark.usefixtures("elsewhere")
def test_pairs_that_count_are_not_in_vain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MIN_RECORDS", 1000)
    monkeypatch.setattr(sample, "MAX_REJECTED", 100)
    template = "the order of this customer was sent and will be there in some days with number "
    path = tmp_path / "in.jsonl"
    lines = (json.dumps({"text": f"{template}{at}"}) + "\n" for at in range(1500))
    path.write_text("".join(lines))
    assert warnings_of(str(path), similarity=0.5) == []


@pytest.mark.usefixtures("elsewhere")
def test_only_pairs_with_the_reference_are_foreseen(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "MAX_REJECTED", 500)

    def foreseen(**asked: Any) -> int:
        (said,) = warnings_of(source, similarity=0.78, **asked)
        return int(said.split("about ")[1].split()[0].replace(",", ""))

    # Not so low that many are alike, which are not listed pair by pair.
    among_all = foreseen()
    path, other = Path(source), Path(source).with_name("other.jsonl")
    # Like nothing, and so small that a sample of all records would have none of it.
    other.write_text(json.dumps({"text": "none of these words is in any other text"}) + "\n")
    assert warnings_of(source, similarity=0.78, against=(str(other),)) == []
    # Half of the records against the other half are half of the pairs.
    lines = path.read_text().splitlines(keepends=True)
    other.write_text("".join(lines[: RECORDS // 2]))
    path.write_text("".join(lines[RECORDS // 2 :]))
    assert 0.3 < foreseen(against=(str(other),)) / among_all < 0.7


def test_a_wide_radius(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert warnings_of(source, radius=30) == []
    monkeypatch.setattr(sample, "LONG_SECONDS", 0.0)
    (said,) = warnings_of(source, radius=30)
    assert said.startswith("radius 30 with 1,500 records takes about ")
    assert said.endswith("a smaller --radius, or --recall 0.99, takes less")
