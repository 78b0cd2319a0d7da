"""Jobs on files give the answers of a program that compares every text with every other."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from helpers import corpora
from helpers.batches import pack, unpack
from helpers.corpora import Record
from neardup import jobs
from neardup.files.reading.batch import Reading
from neardup.text.differences import differences
from reference.dedup import is_near, labels, near_pairs, nearest, order_of, twins

RECIPE = nd.Recipe()
KEEPS = ["first", "longest", "shortest", "newest:day", "best:n"]


@pytest.fixture(autouse=True, params=["whole", "in pieces"])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers do not depend on how many rows are handled at a time."""
    if request.param == "in pieces":
        monkeypatch.setattr("neardup.near.corpus.BATCH_PAIRS", 5)
        # By name: the functions of the same names hide the modules.
        monkeypatch.setattr(sys.modules["neardup.jobs.pairs"], "BATCH_PAIRS", 5)
        for name in ("neardup.jobs.dedup", "neardup.jobs.cluster"):
            monkeypatch.setattr(sys.modules[name], "BATCH_ROWS", 5)


def keys_of(records: Sequence[Record], keep: str) -> list[float] | None:
    if keep == "newest:day":
        return [float(record.day[5:7]) for record in records]
    return [record.n for record in records] if keep == "best:n" else None


def naive(records: Sequence[Record], keep: str, linkage: str, similarity: float) -> list[int]:
    """For each record the one kept in its place."""
    texts = [record.text for record in records]
    pairs = near_pairs(texts, similarity, RECIPE)
    return labels(len(texts), pairs, linkage, order_of(texts, keep, keys_of(records, keep)))


def options(similarity: float, **more: Any) -> jobs.Options:
    # With a recall of 1 every pair is compared: nothing is left to chance.
    return jobs.Options(similarity=similarity, recall=1.0, **more)


def numbers_of(label: Sequence[int]) -> dict[int, int]:
    """Clusters are numbered as they come."""
    return {one: number for number, one in enumerate(dict.fromkeys(label))}


def told_differences(left: str, right: str) -> dict[str, Any]:
    """What a table tells of a record kept and a near-duplicate of it."""
    found = differences(left, right)
    return {"differs": ",".join(found.aspects), "lost": len(found.lost)}


def check_removed(
    found: list[dict[str, Any]], records: Sequence[Record], ids: Sequence[str], label: list[int]
) -> None:
    removed = [row for row, kept in enumerate(label) if row != kept]
    numbers = numbers_of(label)
    assert [row["id"] for row in found] == [ids[row] for row in removed]
    for row, told in zip(removed, found, strict=True):
        kept = label[row]
        left, right = records[kept].text, records[row].text
        assert (told["dup_of"], told["cluster"]) == (ids[kept], numbers[kept])
        assert told["similarity"] == pytest.approx(
            1.0 if left == right else nd.similarity(left, right, RECIPE)
        )
        codes = nd.fingerprint(left, RECIPE), nd.fingerprint(right, RECIPE)
        expected = None if None in codes else nd.distance(*codes)
        assert told["distance"] == expected
        assert told.items() >= told_differences(left, right).items()


@pytest.mark.parametrize("linkage", ["connected", "star"])
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_dedup_by_every_policy(tmp_path: Path, kind: str, keep: str, linkage: Any) -> None:
    for seed, similarity in ((1, 0.85), (2, 0.7)):
        records = corpora.records_of(seed)
        source, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
        if kind == "parquet":
            corpora.write_parquet(source, records)
        else:
            corpora.write(source, records, kind)
        removed = tmp_path / "removed.jsonl"
        asked = options(similarity, keep=keep, linkage=linkage, removed=removed)
        summary = jobs.dedup([str(source)], out, asked)
        label = naive(records, keep, linkage, similarity)
        kept = [row for row, one in enumerate(label) if row == one]
        assert len(kept) < len(records)  # or the test says nothing
        if kind == "parquet":
            table = pq.read_table(out)
            assert table.schema.equals(pq.read_schema(source), check_metadata=True)
            assert table.to_pylist() == pq.read_table(source).take(kept).to_pylist()
        else:
            header, pieces = corpora.pieces_of(records, kind)
            assert out.read_bytes() == header + b"".join(pieces[row] for row in kept)
        told = corpora.rows(removed)
        check_removed(told, records, [record.id for record in records], label)
        assert {row["source"] for row in told} == {str(source)}
        assert (summary.read, summary.kept) == (len(records), len(kept))
        assert summary.removed == len(told)
        assert summary.clusters == len({one for row, one in enumerate(label) if row != one})


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "lines"])
def test_dedup_of_every_format_and_packing(tmp_path: Path, kind: str, packing: str) -> None:
    records = corpora.records_of(3)
    if kind == "lines":
        records = corpora.single_lines(records)
    ending = {"lines": "txt"}.get(kind, kind)
    # Two files, of which the second has records near those of the first.
    first, second = (tmp_path / f"{name}.{ending}{packing}" for name in ("a", "b"))
    corpora.write(first, records[:20], kind, packing)
    corpora.write(second, records[20:], kind, packing)
    out, removed = tmp_path / f"out.{ending}{packing}", tmp_path / "removed.parquet"
    quoting = "all" if kind == "tsv" else None  # as it was written
    asked = options(0.8, removed=removed, reading=Reading(lines=kind == "lines", quoting=quoting))
    jobs.dedup([str(tmp_path / f"[ab].{ending}{packing}")], out, asked)
    label = naive(records, "first", "star", 0.8)
    header, pieces = corpora.pieces_of(records[:20], kind)
    pieces += corpora.pieces_of(records[20:], kind)[1]
    kept = [row for row, one in enumerate(label) if row == one]
    assert unpack(out) == header + b"".join(pieces[row] for row in kept)
    ids = [record.id for record in records]
    if kind == "lines":
        ids = [f"{first}:{row + 1}" for row in range(20)]
        ids += [f"{second}:{row + 1}" for row in range(len(records) - 20)]
    told = corpora.rows(removed)
    check_removed(told, records, ids, label)
    sources = {row["id"]: row["source"] for row in told}
    assert all(
        sources[ids[row]] == str(first if row < 20 else second)
        for row, one in enumerate(label)
        if row != one
    )


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_dedup_of_whole_files(tmp_path: Path, packing: str) -> None:
    texts = corpora.texts_of(4, 24)
    folder = tmp_path / "texts"
    folder.mkdir()
    names = [f"{row:02}.txt{packing}" for row in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_bytes(pack(text.encode(), packing))
    out = tmp_path / "kept.jsonl"
    jobs.dedup([str(folder)], out, options(0.85))
    records = [
        Record(str(folder / name), text, 0, "") for name, text in zip(names, texts, strict=True)
    ]
    label = naive(records, "first", "star", 0.85)
    expected = [
        {"id": record.id, "text": record.text}
        for row, record in enumerate(records)
        if label[row] == row
    ]
    assert corpora.rows(out) == expected


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("linkage", ["connected", "star"])
def test_cluster(tmp_path: Path, seed: int, linkage: Any) -> None:
    records = corpora.records_of(seed, 60)
    source, out = corpora.write(tmp_path / "in.jsonl", records, "jsonl"), tmp_path / "out.parquet"
    keep = KEEPS[seed]
    jobs.cluster([str(source)], out, options(0.75, keep=keep, linkage=linkage))
    label = naive(records, keep, linkage, 0.75)
    numbers = numbers_of(label)
    assert corpora.rows(out) == [
        {
            "id": record.id,
            "cluster": numbers[one],
            "size": label.count(one),
            "representative": records[one].id,
            **told_differences(records[one].text, record.text),
        }
        for record, one in zip(records, label, strict=True)
    ]


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_clusters_have_the_same_numbers_in_dedup(tmp_path: Path, keep: str) -> None:
    source = corpora.write(tmp_path / "in.jsonl", corpora.records_of(7, 60), "jsonl")
    out, removed = tmp_path / "out.jsonl", tmp_path / "removed.jsonl"
    jobs.dedup([str(source)], out, options(0.75, keep=keep, removed=removed))
    told = {row["id"]: (row["cluster"], row["dup_of"]) for row in corpora.rows(removed)}
    jobs.cluster([str(source)], out, options(0.75, keep=keep, linkage="star"))
    clusters = {row["id"]: (row["cluster"], row["representative"]) for row in corpora.rows(out)}
    assert told
    assert told.items() <= clusters.items()


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("seed", range(3))
def test_pairs(tmp_path: Path, seed: int, ending: str) -> None:
    records = corpora.records_of(seed)
    texts = [record.text for record in records]
    source, out = corpora.write(tmp_path / "in.csv", records, "csv"), tmp_path / f"out{ending}"
    expected = set(near_pairs(texts, 0.75, RECIPE))
    summary = jobs.pairs([str(source)], out, options(0.75))
    found = corpora.rows(out)
    assert summary.pairs == len(found) == len(expected)
    seen = {(int(row["left"][1:]), int(row["right"][1:])): row for row in found}
    assert set(seen) == expected
    for (left, right), row in seen.items():
        a, b = texts[left], texts[right]
        cosine = 1.0 if a == b else nd.similarity(a, b, RECIPE)
        assert float(row["similarity"]) == pytest.approx(cosine)
        codes = nd.fingerprint(a, RECIPE), nd.fingerprint(b, RECIPE)
        told = row["distance"]
        assert (None if told in (None, "") else int(told)) == (
            None if None in codes else nd.distance(*codes)
        )
        expect = told_differences(a, b)
        assert (row["differs"], int(row["lost"])) == tuple(expect.values())


@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_repeats_with_the_first_only(tmp_path: Path, seed: int) -> None:
    records = corpora.records_of(seed, 50)
    texts = [record.text for record in records]
    source, out = corpora.write(tmp_path / "in.jsonl", records, "jsonl"), tmp_path / "out.jsonl"
    jobs.pairs([str(source)], out, options(0.75, equal="first"))
    rows = range(len(texts))
    first = [next((a for a in rows[:b] if twins(texts[a], texts[b], RECIPE)), b) for b in rows]
    expected = {(first[row], row) for row in rows if first[row] != row}
    units = [row for row in rows if first[row] == row]
    expected |= {
        (a, b) for a, b in combinations(units, 2) if is_near(texts[a], texts[b], 0.75, RECIPE)
    }
    found = [(int(row["left"][1:]), int(row["right"][1:])) for row in corpora.rows(out)]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_against_removes_what_is_near_the_reference_and_nothing_else(
    tmp_path: Path, seed: int, kind: str
) -> None:
    records = corpora.records_of(seed, 60)
    old, new = records[::2], records[1::2]
    reference = corpora.write(tmp_path / "old.csv", old, "csv")
    source, out = tmp_path / f"new.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        corpora.write_parquet(source, new)
    else:
        corpora.write(source, new, kind)
    removed = tmp_path / "removed.jsonl"
    asked = options(0.7, against=(str(reference),), removed=removed, keep="best:n")
    summary = jobs.dedup([str(source)], out, asked)
    match = nearest([r.text for r in new], [r.text for r in old], 0.7, RECIPE)
    kept = [record.id for record, near in zip(new, match, strict=True) if near is None]
    assert 0 < len(kept) < len(new)
    assert [row["id"] for row in corpora.rows(out)] == kept
    told = {row["id"]: row for row in corpora.rows(removed)}
    assert list(told) == [r.id for r, near in zip(new, match, strict=True) if near is not None]
    for record, near in zip(new, match, strict=True):
        if near is not None:
            row = told[record.id]
            # Each record of the reference is a cluster, and they come first.
            assert (row["dup_of"], row["cluster"]) == (old[near].id, near)
            assert row["source"] == str(source)
    assert (summary.read, summary.reference) == (len(records), len(old))
    assert (summary.kept, summary.removed) == (len(kept), len(new) - len(kept))


def test_a_radius_decides_by_bits_alone(tmp_path: Path) -> None:
    records = corpora.records_of(6)
    source, out = corpora.write(tmp_path / "in.jsonl", records, "jsonl"), tmp_path / "out.csv"
    jobs.pairs([str(source)], out, jobs.Options(radius=12))
    codes = [nd.fingerprint(record.text) for record in records]
    expected = {
        (a, b)
        for a, b in combinations(range(len(codes)), 2)
        if is_within(codes[a], codes[b], records[a].text, records[b].text)
    }
    found = corpora.rows(out)
    assert {(int(row["left"][1:]), int(row["right"][1:])) for row in found} == expected
    assert {row["similarity"] for row in found} == {""}


def is_within(a: int | None, b: int | None, left: str, right: str) -> bool:
    if a is None or b is None:
        return left == right and any(char.isalnum() for char in left)
    return bool(nd.distance(a, b) <= 12)


def test_several_text_columns_are_joined_and_ids_are_of_the_column_named(tmp_path: Path) -> None:
    rows = [
        {"key": 7, "title": "harbour street closed", "body": "from Monday to Friday"},
        {"key": 8, "title": "harbour street closed", "body": "from Monday to Friday"},
        {"key": 9, "title": "harbour street closed", "body": "water main notice bus line"},
        {"key": 10, "title": "harbour street closed\nfrom Monday to Friday", "body": ""},
    ]
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    removed = tmp_path / "removed.jsonl"
    reading = Reading(("title", "body"), "key")
    jobs.dedup([str(source)], out, options(0.99, reading=reading, removed=removed))
    assert corpora.rows(out) == [rows[0], rows[2]]
    assert [(row["id"], row["dup_of"]) for row in corpora.rows(removed)] == [
        ("8", "7"),
        ("10", "7"),
    ]


def test_keys_of_several_kinds_are_compared_as_numbers(tmp_path: Path) -> None:
    text = "the same words in every one of these records"
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(json.dumps({"id": "a", "text": text, "n": 9}) + "\n")
    second.write_text(
        "".join(
            json.dumps({"id": name, "text": text, "n": n}) + "\n"
            for name, n in (("b", 10.5), ("c", None), ("d", 1e1))
        )
    )
    out = tmp_path / "out.jsonl"
    jobs.dedup([str(first), str(second)], out, options(0.9, keep="best:n"))
    assert [row["id"] for row in corpora.rows(out)] == ["b"]


def test_dates_of_parquet_are_compared_as_dates(tmp_path: Path) -> None:
    text = "the same words in every one of these records"
    days = pa.array([10, 2000, None, 300], pa.date32())
    table = pa.table({"id": ["a", "b", "c", "d"], "text": [text] * 4, "day": days})
    pq.write_table(table, tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    jobs.dedup([str(tmp_path / "in.parquet")], out, options(0.9, keep="newest:day"))
    assert [row["id"] for row in corpora.rows(out)] == ["b"]


@pytest.mark.parametrize(
    "limit", [{"similarity": 0.7}, {"similarity": 0.7, "recall": 1.0}, {"radius": 60}]
)
def test_a_reference_of_which_nothing_can_be_compared_removes_nothing(
    limit: dict[str, Any], tmp_path: Path
) -> None:
    texts = ["the cat sat on the mat today", "the cat sat on the mat today again"]
    assert nd.similarity(*texts) > 0.7
    source, reference = tmp_path / "in.jsonl", tmp_path / "reference.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    reference.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("", "ok")))
    asked = jobs.Options(against=(str(reference),), **limit)
    assert jobs.dedup([str(source)], tmp_path / "out.jsonl", asked).removed == 0
