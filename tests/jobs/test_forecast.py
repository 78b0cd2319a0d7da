"""What takes long is said before it begins, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
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


@pytest.fixture(autouse=True)
def no_doubts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether strangers reach the threshold is told beside the time, and tested below."""
    if "doubt" not in request.node.name:
        monkeypatch.setattr(sample, "DOUBT_RECORDS", RECORDS + 1)


def warnings_of(source: str, **asked: Any) -> list[str]:
    said: list[str] = []
    out = Path(source).with_name("out.jsonl")
    found = jobs.dedup([source], out, jobs.Options(on_warning=said.append, **asked))
    assert found.warnings == said
    assert found.as_dict().get("warnings", []) == said
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


def texts_of(*paths: str) -> list[str]:
    lines = (line for path in paths for line in Path(path).read_text().splitlines())
    return [json.loads(line)["text"] for line in lines]


def told(said: str) -> int:
    return int(said.split("about ")[1].split()[0].replace(",", ""))


@pytest.mark.parametrize("across", [False, True])
def test_doubts_about_a_radius(source: str, across: bool) -> None:
    texts, asked = texts_of(source), {}
    if across:
        other = Path(source).with_name("other.jsonl")
        lines = Path(source).read_text().splitlines(keepends=True)
        other.write_text("".join(lines[: RECORDS // 2]))
        Path(source).write_text("".join(lines[RECORDS // 2 :]))
        asked = {"against": (str(other),)}
    assert warnings_of(source, radius=6, **asked) == []
    (said,) = warnings_of(source, radius=30, **asked)
    assert said.startswith("radius 30 of 128 bits is wide for 1,500 records like these: about ")
    assert "over 99 % of all pairs to be found; a smaller --radius has fewer" in said
    pairs = nd.pairs(nd.fingerprints(texts), 30)
    left, right = (pairs[name].to_numpy() for name in ("left", "right"))
    if across:
        inside = (left < RECORDS // 2) & (right >= RECORDS // 2)
        left, right = left[inside], right[inside]
    cosines = [nd.similarity(texts[a], texts[b]) for a, b in zip(left, right, strict=True)]
    assert told(said) == pytest.approx(sum(x < 0.7 for x in cosines), rel=0.1)


@pytest.mark.parametrize("across", [False, True])
def test_doubts_about_a_similarity(
    source: str, across: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "RANDOM_PAIRS", 20_000)
    texts, asked, half = texts_of(source), {}, RECORDS // 2
    if across:
        other = Path(source).with_name("other.jsonl")
        lines = Path(source).read_text().splitlines(keepends=True)
        other.write_text("".join(lines[:half]))
        Path(source).write_text("".join(lines[half:]))
        asked = {"against": (str(other),)}
    assert warnings_of(source, similarity=0.69, **asked) == []
    (said,) = warnings_of(source, similarity=0.5, **asked)
    assert said.startswith("similarity 0.5 is low for 1,500 records like these: ")
    assert " pairs will count as near-duplicates, related or not; finding them takes " in said
    pairs = nd.dedup(texts, 0.5, recall=1, pairs=True).pairs
    left, right = (pairs[name].to_numpy() for name in ("left", "right"))
    near = int(((left < half) & (right >= half)).sum()) if across else len(left)
    assert told(said) == pytest.approx(near, rel=0.25)


def test_a_few_strangers_among_many_records_are_no_doubt(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (said,) = warnings_of(source, radius=30)
    for share, doubts in ((told(said) / RECORDS * 0.98, 1), (told(said) / RECORDS * 1.02, 0)):
        monkeypatch.setattr(sample, "CHANCE_PAIRS", share)
        assert len(warnings_of(source, radius=30)) == doubts


def test_doubts_need_strangers(source: str) -> None:
    """Pairs of related texts within a radius are what one looks for."""
    texts = [text + " and more" for text in texts_of(source)[: RECORDS // 2]]
    lines = (json.dumps({"text": text}) + "\n" for text in (*texts, *(f"{x} too" for x in texts)))
    Path(source).write_text("".join(lines))
    assert warnings_of(source, radius=8) == []


def test_inputs_far_shorter_than_the_reference(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    words = [f"word{at}" for at in range(400)]
    texts = [" ".join(words[at : at + 100]) for at in range(0, 400, 100)]
    whole.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    part = tmp_path / "part.jsonl"
    part.write_text("".join(json.dumps({"text": text[:150]}) + "\n" for text in texts))
    with nd.Collection.open(tmp_path / "whole.neardup") as collection:
        collection.add([(str(at), text) for at, text in enumerate(texts)])
    for name in ("whole.jsonl", "whole.neardup"):
        against = (str(tmp_path / name),)
        (said,) = warnings_of(str(part), against=against)
        assert said.startswith("records of the inputs are much shorter than those to compare with")
        assert "at most 150 bytes, and those 7" in said
        assert said.endswith("To find parts that were copied, use neardup check")
        assert warnings_of(str(whole), against=against) == []
    assert warnings_of(str(whole), against=(str(part),)) == []


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "the inputs hold no record, so the output holds none"),
        ([{"text": ""}, {"text": None}], "all texts of the inputs are empty: 2 of 2"),
        ([{"text": "one two three"}], None),
    ],
)
def test_empty_inputs_are_told(
    tmp_path: Path, lines: list[dict[str, str | None]], told: str | None
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = jobs.dedup([str(source)], tmp_path / "out.jsonl")
    assert found.notes == ([told] if told else [])
    assert found.as_lines()[2] == "no pair had to be compared"
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    found = jobs.dedup([str(source)], tmp_path / "out.jsonl", jobs.Options(against=[str(empty)]))
    assert found.notes == [told or "--against holds no record, so nothing is removed"]
