"""What differs, and distinguish=, in jobs on files: the table of cases against its definition."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from helpers import corpora
from helpers.differing_pairs import PAIRS, TEXTS
from neardup import jobs
from neardup.text.differences import ASPECTS, differences
from reference.differences import similarity

CHOICES = ["", *ASPECTS, "numbers,order", ",".join(ASPECTS)]


def write(path: Path, texts: list[str]) -> str:
    rows = ({"id": str(row), "text": text} for row, text in enumerate(texts))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def near(left: str, right: str, distinguish: str) -> bool:
    return similarity(left, right, tuple(filter(None, distinguish.split(",")))) >= 0.85


def options(distinguish: str, **more: Any) -> jobs.Options:
    return jobs.Options(recall=1.0, distinguish=distinguish or None, **more)


def check_differences(row: dict[str, Any], left: str, right: str) -> None:
    found = differences(left, right)
    assert (row["differs"], row["lost"]) == (",".join(found.aspects), len(found.lost))


@pytest.mark.parametrize("distinguish", CHOICES)
def test_dedup(tmp_path: Path, distinguish: str) -> None:
    source, removed = write(tmp_path / "in.jsonl", TEXTS), tmp_path / "removed.parquet"
    jobs.dedup([source], tmp_path / "out.jsonl", options(distinguish, removed=removed))
    found = nd.dedup(TEXTS, recall=1.0, distinguish=distinguish or None)
    told = corpora.rows(removed)
    columns = ("id", "dup_of", "distance", "similarity", "differs", "lost")
    expected = [
        (str(row["row"]), str(row["dup_of"]), *(row[name] for name in columns[2:]))
        for row in found.removed.to_pylist()
    ]
    assert [tuple(row[name] for name in columns) for row in told] == expected
    for row in told:
        check_differences(row, TEXTS[int(row["dup_of"])], TEXTS[int(row["id"])])


@pytest.mark.parametrize("distinguish", CHOICES)
def test_pairs(tmp_path: Path, distinguish: str) -> None:
    source, out = write(tmp_path / "in.jsonl", TEXTS), tmp_path / "pairs.parquet"
    jobs.pairs([source], out, options(distinguish))
    told = {(int(row["left"]), int(row["right"])): row for row in corpora.rows(out)}
    rows = combinations(range(len(TEXTS)), 2)
    assert set(told) == {(a, b) for a, b in rows if near(TEXTS[a], TEXTS[b], distinguish)}
    for (left, right), row in told.items():
        check_differences(row, TEXTS[left], TEXTS[right])


@pytest.mark.parametrize("distinguish", CHOICES)
def test_cluster(tmp_path: Path, distinguish: str) -> None:
    source, out = write(tmp_path / "in.jsonl", TEXTS), tmp_path / "clusters.parquet"
    jobs.cluster([source], out, options(distinguish, linkage="star"))
    found = nd.dedup(TEXTS, recall=1.0, distinguish=distinguish or None)
    told = corpora.rows(out)
    assert [int(row["representative"]) for row in told] == found.clusters.tolist()
    for row in told:
        check_differences(row, TEXTS[int(row["representative"])], TEXTS[int(row["id"])])


@pytest.mark.parametrize("distinguish", CHOICES)
@pytest.mark.parametrize("by", [{}, {"radius": 40}], ids=str)
@pytest.mark.parametrize("kind", ["file", "collection"])
def test_against(tmp_path: Path, kind: str, by: dict[str, Any], distinguish: str) -> None:
    olds, news = zip(*((left, right) for left, right, *_ in PAIRS.values()), strict=True)
    source, removed = write(tmp_path / "new.jsonl", list(news)), tmp_path / "removed.jsonl"
    against = write(tmp_path / "old.jsonl", list(olds))
    if kind == "collection":
        against = str(tmp_path / "old.neardup")
        with nd.Collection.open(against) as collection:
            collection.add([(str(row), text) for row, text in enumerate(olds)])
    jobs.dedup(
        [source],
        tmp_path / "out.jsonl",
        options(distinguish, against=[against], removed=removed, **by),
    )
    told = {int(row["id"]): row for row in corpora.rows(removed)}
    if not by:
        expected = {
            row for row, new in enumerate(news) if any(near(old, new, distinguish) for old in olds)
        }
        assert set(told) == expected
    for row, found in told.items():
        old = olds[int(found["dup_of"])]
        check_differences(found, old, news[row])
        assert not {*found["differs"].split(",")} & {*distinguish.split(",")} - {"", "order"}
    assert told


def test_a_text_and_its_twin_may_differ(tmp_path: Path) -> None:
    # Equal features, so the pair is found without a comparison; --equal first too.
    texts = ["man bites dog in the harbour", "dog bites man in the harbour -5", "man bites dog"]
    texts += [texts[0].upper(), texts[1].replace("-5", "+5")]
    source, out = write(tmp_path / "in.jsonl", texts), tmp_path / "pairs.jsonl"
    for equal in ("all", "first"):
        jobs.pairs([source], out, jobs.Options(equal=equal))
        told = {(row["left"], row["right"]): row["differs"] for row in corpora.rows(out)}
        assert (told["0", "3"], told["1", "4"]) == ("", "numbers")


def test_a_wrong_name_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", TEXTS)
    with pytest.raises(jobs.RefusedError, match=r"distinguish has 'tone'; .*numbers, negation"):
        jobs.dedup([source], tmp_path / "out.jsonl", jobs.Options(distinguish=["tone"]))
