"""Texts, lines, batches and blocks of exactly their limit, one less, and one more."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.batches import read as read_file
from neardup.files.reading import batch as batch_module
from neardup.files.reading import batch as document
from neardup.files.reading import csv, streams
from neardup.files.reading import parquet as parquet_module
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.inputs import read_batches, read_text

MOST = 64


@pytest.fixture(autouse=True)
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", MOST)


def no_problem(problem: Unreadable) -> None:
    raise AssertionError(problem)


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_file_of_just_the_limit_is_read_and_one_byte_more_is_not(
    tmp_path: Path, over: int
) -> None:
    path = put(tmp_path / "a.txt", b"x" * (MOST + over))
    batches, problems = read_file(path)
    if over > 0:
        assert batches == []
        assert ["longer than" in problem for problem in problems] == [True]
        with pytest.raises(ValueError, match="longer than"):
            read_text(str(path))
        return
    assert problems == []
    assert batches[0].texts.to_pylist() == ["x" * (MOST + over)]
    assert read_text(str(path)) == "x" * (MOST + over)


@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("block", [1, 7, MOST, MOST + 1, 1000])
def test_a_line_of_just_the_limit_is_read_and_one_byte_more_is_not(
    tmp_path: Path, over: int, end: bytes, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", block)
    path = put(tmp_path / "a.txt", b"a\n" + b"x" * (MOST + over) + end)
    batches, problems = read_file(path, lines=True)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    good = ["x" * (MOST + over)] if over <= 0 else []
    assert texts == ["a", *good]
    assert len(problems) == (over > 0)


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_json_lines_of_just_the_limit(tmp_path: Path, over: int) -> None:
    empty = len(json.dumps({"text": ""}))
    text = "x" * (MOST + over - empty)
    path = put(tmp_path / "a.jsonl", json.dumps({"text": text}).encode() + b"\n")
    batches, problems = read_file(path)
    assert [text for batch in batches for text in batch.texts.to_pylist()] == [text] * (over <= 0)
    assert len(problems) == (over > 0)


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_record_of_several_lines_of_just_the_limit(tmp_path: Path, over: int) -> None:
    # With its line end: so many bytes and one are the most.
    start, rest = b'1,"' + b"a" * 20 + b"\n", b'"\n'
    inner = b"b" * (MOST + 1 + over - len(start) - len(rest))
    path = put(tmp_path / "a.csv", b"id,text\n" + start + inner + rest + b"2,after\n")
    batches, problems = read_file(path)
    ids = [id_ for batch in batches for id_ in batch.ids.to_pylist()]
    assert ids == (["1", "2"] if over <= 0 else ["2"])
    assert len(problems) == (over > 0)
    if problems:
        assert "the record is longer than" in problems[0]


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_rows_of_parquet_of_just_the_limit(tmp_path: Path, over: int) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x" * (MOST + over), "after"]}), path)
    batches, problems = read_file(path)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    assert texts == ["x" * (MOST + over)] * (over <= 0) + ["after"]
    assert len(problems) == (over > 0)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("rows", "sizes"), [(4, [4]), (5, [5]), (6, [5, 1]), (10, [5, 5]), (11, [5, 5, 1])]
)
def test_batches_of_just_so_many_rows(
    tmp_path: Path, kind: str, rows: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (csv, parquet_module):
        monkeypatch.setattr(module, "BATCH_ROWS", 5)
    monkeypatch.setattr(parquet_module, "STEP_ROWS", 1)
    assert batch_module.BATCH_ROWS > 5
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        put(path, b"text\n" + b"ab\n" * rows)
    else:
        pq.write_table(pa.table({"text": ["ab"] * rows}), path)
    found = list(read_batches(str(path), Reading(), no_problem))
    assert [len(batch.ids) for batch in found] == sizes


@pytest.mark.parametrize(("length", "sizes"), [(3, [4, 1]), (4, [3, 2]), (5, [2, 2, 1])])
def test_batches_of_just_so_many_characters(
    tmp_path: Path, length: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A batch is closed by the text that reaches the limit: 3 × 4 = 12 do, and 4 × 3 = 12 do.
    monkeypatch.setattr(csv, "BATCH_BYTES", {3: 12, 4: 12, 5: 10}[length])
    path = put(tmp_path / "a.csv", b"text\n" + (b"x" * length + b"\n") * 5)
    found = list(read_batches(str(path), Reading(), no_problem))
    assert [len(batch.ids) for batch in found] == sizes


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9])
def test_documents_in_lists_of_just_so_many(count: int) -> None:
    documents = [document.Document(str(n), "ab") for n in range(count)]
    lists = list(document.group_documents(documents, most=4))
    assert [len(some) for some in lists] == [4] * (count // 4) + [count % 4] * (count % 4 > 0)
    by_size = list(document.group_documents(documents, characters=8))
    assert [len(some) for some in by_size] == [len(some) for some in lists]
    assert [each for some in lists for each in some] == documents


@pytest.mark.parametrize("size", [5, 6, 7, 12, 13, 100])
def test_blocks_that_end_just_where_lines_end(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", size)
    path = put(tmp_path / "a.txt", b"".join(b"line%d\n" % n for n in range(7)))
    batches, problems = read_file(path, lines=True)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    assert (texts, problems) == ([f"line{n}" for n in range(7)], [])
    numbers = [number for batch in batches for number in batch.lines.tolist()]
    assert numbers == list(range(1, 8))
    spans = [tuple(span) for batch in batches for span in batch.spans.tolist()]
    assert spans == [(6 * n, 6 * n + 6) for n in range(7)]
