"""What differs, and distinguish=, in jobs on files: the table of cases against its definition."""

from __future__ import annotations

import json
import random
import statistics
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from helpers import corpora
from helpers.differing_pairs import PAIRS, TEXTS
from neardup import jobs
from neardup.jobs.differences import DifferenceTally
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


SAID = {
    "dedup": "5 of 9 removed records differ in numbers from the record kept, 2 in order",
    "pairs": "1 of 9 pairs differs in numbers",
    "cluster": "12 of 1,009 members differ in numbers from their representative, 1 in negation",
}


@pytest.mark.parametrize("job", SAID)
def test_the_summary_says_what_differs(job: str) -> None:
    counts = {"numbers": 5, "negation": 0, "symbols": 0, "order": 2}
    found = jobs.Summary(job, similarity=0.85, removed=9, kept=1, differs=counts)
    if job == "pairs":
        counts |= {"numbers": 1, "order": 0}
        found.pairs = 9
    if job == "cluster":
        counts |= {"numbers": 12, "negation": 1, "order": 0}
        found.clustered, found.clusters = 1010, 1
    names = ",".join(name for name, count in counts.items() if count)
    keeps = "keeps them" if job == "dedup" else "keeps them apart"
    assert found.as_lines()[1] == f"{SAID[job]}; --distinguish {names} {keeps}"
    # What is insisted on already is not offered alone.
    found.distinguish = ["order"]
    assert f"--distinguish {names}".removesuffix(",order") in found.as_lines()[1]
    assert found.as_lines()[1].count("order") <= 2
    found.distinguish = list(ASPECTS)
    assert found.as_lines()[1] == SAID[job]
    assert "; texts that differ in numbers or negation or symbols or order were kept apart" in (
        "".join(found.as_lines())
    )
    found.differs = dict.fromkeys(ASPECTS, 0)
    assert "differ in numbers from" not in "".join(found.as_lines()[:2])


@pytest.mark.parametrize("job", SAID)
def test_the_summary_counts_the_rows(tmp_path: Path, job: str) -> None:
    source, out = write(tmp_path / "in.jsonl", [*TEXTS, TEXTS[0]]), tmp_path / "out.jsonl"
    removed = tmp_path / "removed.jsonl" if job == "dedup" else None
    found = getattr(jobs, job)([source], out, options("", removed=removed))
    rows = corpora.rows(removed or out)
    assert found.differs == {
        name: sum(name in row["differs"].split(",") for row in rows) for name in ASPECTS
    }
    assert all(found.differs.values())
    if job == "dedup":
        lost = [row["lost"] for row in rows]
        assert found.lost == {"words": sum(lost), "median": statistics.median(lost)}
    else:
        assert found.lost is None


@pytest.mark.parametrize("by_radius", [False, True])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_examples_are_the_most_suspicious_ones(size: int, by_radius: bool) -> None:
    """However the pairs come in parts."""
    chance = random.Random(7)
    values = ["", "numbers", "negation", "numbers,negation", "symbols", "order"]
    pairs = [(n, n + 500, chance.choice(values), chance.randint(0, 40)) for n in range(200)]
    tally = DifferenceTally()
    for start in range(0, len(pairs), size):
        left, right, differs, lost = zip(*pairs[start : start + size], strict=True)
        rows = np.array(left), np.array(right)
        bits = rows[0] * 7 % 64
        cosine = None if by_radius else 1 - bits / 100
        tally.add(*rows, bits, cosine, pa.array(differs), pa.array(lost))
    assert tally.counts == {name: sum(name in each[2] for each in pairs) for name in ASPECTS}
    assert tally.pairs == len(pairs)
    found, shown = dict(tally.examples()), set[tuple[int, int]]()
    assert list(found) == ["negation", "numbers", "symbols", "order", "lost"]
    for name, examples in found.items():
        best = sorted((x for x in pairs if name in x[2]), key=lambda x: (x[0] * 7 % 64, x[0]))[:5]
        if name == "lost":
            best = sorted(pairs, key=lambda each: -each[3])[:5]
        expected = [each[:2] for each in best if each[:2] not in shown]
        assert [(each.left, each.right) for each in examples] == expected
        shown |= set(expected)


def test_a_wrong_name_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", TEXTS)
    with pytest.raises(jobs.RefusedError, match=r"distinguish has 'tone'; .*numbers, negation"):
        jobs.dedup([source], tmp_path / "out.jsonl", jobs.Options(distinguish=["tone"]))


def test_a_copy_of_a_reference_is_told_with_its_original(tmp_path: Path) -> None:
    out, removed = tmp_path / "out.jsonl", tmp_path / "removed.jsonl"
    words = "cable {} to {} of two metres, white, for charging and data"
    path = write(tmp_path / "in.jsonl", [words.format("a", "c"), words.format("c", "a")])
    summary = jobs.dedup([path], out, jobs.Options(against=[path], removed=removed))
    rows = [(row["id"], row["dup_of"], row["differs"]) for row in corpora.rows(removed)]
    assert rows == [("0", "0", ""), ("1", "1", "")]
    assert summary.exact == 2
