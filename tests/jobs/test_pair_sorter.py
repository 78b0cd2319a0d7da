"""Pairs come in the order of records, however they were found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import corpora
from neardup import jobs
from neardup.jobs.pairs import PairSorter
from neardup.near.matches import Pairs


def found(rows: list[tuple[int, int]], *, judged: bool) -> Pairs:
    left, right = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 1))
    distance = (left % 7 + right % 5).astype(np.uint16)
    return Pairs(left, right, distance, (left + right) / 1e6 if judged else None)


def listed(some: list[Pairs]) -> list[tuple[int, int, int, float | None]]:
    return [
        (*row[:3], None if each.similarity is None else float(each.similarity[at]))
        for each in some
        for at, row in enumerate(
            zip(each.left.tolist(), each.right.tolist(), each.distance.tolist(), strict=True)
        )
    ]


@pytest.mark.parametrize("most", [3, 10, 1 << 21])
@given(
    parts=st.lists(st.sets(st.tuples(st.integers(0, 99), st.integers(100, 199))), max_size=6),
    judged=st.booleans(),
    rows=st.sampled_from([200, 1000, 1 << 20, 4_294_967_294]),
)
@settings(max_examples=60, deadline=None)
def test_as_if_all_were_sorted_at_once(
    most: int,
    parts: list[set[tuple[int, int]]],
    judged: bool,
    rows: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder: Path = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["neardup.jobs.pairs"], "SORTED_PAIRS", most)
        made = PairSorter(folder, rows)
        for part in parts:
            made.add(found(sorted(part, key=hash), judged=judged))
        every = sorted(row for part in parts for row in part)
        assert listed(list(made.pairs())) == listed([found(every, judged=judged)])
    assert not list(folder.iterdir())


def test_large_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["neardup.jobs.pairs"], "SORTED_PAIRS", 2)
    # Left by a run that was stopped: the pairs of this one take its place.
    (tmp_path / "pairs.bin").write_bytes(b"\1" * 240)
    top = 4_294_967_293
    made = PairSorter(tmp_path, top + 1)
    rows = [(top - 1, top), (0, top), (top - 2, top - 1), (5, 6), (0, 1)]
    made.add(found(rows, judged=True))
    assert listed(list(made.pairs())) == listed([found(sorted(rows), judged=True)])


def test_a_hub_is_one_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["neardup.jobs.pairs"], "SORTED_PAIRS", 4)
    made = PairSorter(tmp_path, 100)
    rows = [(3, at) for at in range(99, 3, -1)]
    made.add(found(rows, judged=False))
    assert listed(list(made.pairs())) == listed([found(sorted(rows), judged=False)])


@pytest.mark.parametrize("asked", [{}, {"radius": 12}, {"equal": "first"}], ids=str)
def test_a_job_writes_pairs_in_the_order_of_records(asked: dict[str, Any], tmp_path: Path) -> None:
    records = [*corpora.records_of(3, 60), *corpora.records_of(4, 60), *corpora.records_of(3, 30)]
    numbered = [record._replace(id=str(at)) for at, record in enumerate(records)]
    path = corpora.write(tmp_path / "in.jsonl", numbered, "jsonl")
    written = []
    for most in (1 << 21, 5):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys.modules["neardup.jobs.pairs"], "SORTED_PAIRS", most)
            jobs.pairs([str(path)], tmp_path / "out.jsonl", jobs.Options(**asked))
        written.append((tmp_path / "out.jsonl").read_bytes())
    assert written[0] == written[1]
    rows = [json.loads(line) for line in written[0].splitlines()]
    places = [(int(row["left"]), int(row["right"])) for row in rows]
    differ = [place for place, row in zip(places, rows, strict=True) if row["distance"]]
    assert len(differ) > 5
    assert differ == sorted(differ)
    assert all(left < right for left, right in places)
