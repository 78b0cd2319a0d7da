"""Parquet in batches."""

import gzip
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.batches import keys, pairs, read
from neardup.files.reading import streams
from neardup.files.reading.batch import Reading
from neardup.files.reading.inputs import read_batches

TEXTS = ["one two", "三 four\nfive", "", 'six, "seven"\t8', "last"]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
)
def test_parquet(tmp_path: Path, kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.files.reading.parquet.BATCH_ROWS", 3)
    path = tmp_path / "a.parquet"
    words = pa.array([*TEXTS[:2], None, *TEXTS[2:]])
    words = words.dictionary_encode() if pa.types.is_dictionary(kind) else words.cast(kind)
    table = pa.table({"n": list(range(6)), "text": words, "id": [5, 6, 7, None, -9, 10]})
    pq.write_table(table, path, row_group_size=4)
    batches, problems = read(path, key_column="n")
    assert problems == []
    texts = [*TEXTS[:2], "", *TEXTS[2:]]
    expected = list(zip(["5", "6", "7", f"{path}:4", "-9", "10"], texts, strict=True))
    assert pairs(batches) == expected
    assert [span for batch in batches for span in batch.spans.tolist()] == [
        [row, row + 1] for row in range(6)
    ]
    assert [line for batch in batches for line in batch.lines.tolist()] == list(range(1, 7))
    assert keys(batches) == list(range(6))
    assert pairs(read(path, id_column="id")[0]) == expected
    named = read(path, id_column="text", key_column="text")[0]
    assert pairs(named)[0] == (texts[0], texts[0])
    assert pairs(named)[2] == (f"{path}:3", "")
    assert keys(named) == [*texts[:2], None, *texts[3:]]


def test_parquet_with_one_text_many_times(tmp_path: Path) -> None:
    """Such a text is stored once, so that the size of the file says nothing."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x" * 20_000] * 3000}), path)
    batches, problems = read(path)
    assert (sum(len(batch.ids) for batch in batches), problems) == (3000, [])
    assert max(batch.texts.nbytes for batch in batches) < 20 << 20


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [[1]], "id": [1.5], "body": ["x"]}), path)
    assert read(path) == ([], [" column 'text' has the type list<element: int64>, not string"])
    assert pairs(read(path, text_columns=("body",))[0]) == [("1.5", "x")]
    assert read(path, text_columns=("t",)) == (
        [],
        [" no column 't' (columns: 'text', 'id', 'body')"],
    )
    path.write_bytes(path.read_bytes()[:-20])
    assert read(path)[1][0].startswith(" not Parquet (")
    path.write_bytes(b"")
    assert read(path)[1][0].startswith(" not Parquet (")
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress(b"x"))
    assert "Parquet inside gzip" in read(packed)[1][0]
    with pytest.raises(ValueError, match="cannot be read from a pipe"):
        read("-", format="parquet")


def test_a_parquet_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "FREE_BYTES", 1 << 19)
    monkeypatch.setattr(streams, "MAX_RATIO", 100)
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["x" * (1 << 22)]})
    pq.write_table(table, path, compression="zstd", write_statistics=False)
    assert "unpack to" in read(path)[1][0]
    assert read(path)[1][0].endswith("raise --max-bytes")
    assert read(path, max_bytes=1 << 23)[1] == []


UUID_ID = "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1.0, 2.5, float("nan"), None], pa.float64(), ["1", "2.5", None, None]),
        ([1.0, 0.5], pa.float32(), ["1", "0.5"]),
        ([UUID(UUID_ID).bytes, None], pa.uuid(), [UUID_ID, None]),
        ([UUID(UUID_ID).bytes], pa.binary(16), [UUID_ID]),
        ([b"ab", b"\xff"], pa.binary(), ["ab", "ff"]),
        ([b"ab"], pa.binary_view(), ["ab"]),
        ([date(2026, 1, 31), None], pa.date32(), ["2026-01-31", None]),
        ([datetime(2026, 1, 31, 5)], pa.timestamp("ms"), ["2026-01-31 05:00:00.000"]),
        ([datetime(2026, 1, 31)], pa.timestamp("ns"), ["2026-01-31 00:00:00.000000000"]),
        ([Decimal("1.50")], pa.decimal128(5, 2), ["1.50"]),
        ([True, False, None], pa.bool_(), ["true", "false", None]),
        ([2**64 - 1], pa.uint64(), [str(2**64 - 1)]),
        ([None], pa.null(), [None]),
        (["x"], pa.string_view(), ["x"]),
        (["x"], pa.dictionary(pa.int8(), pa.large_string()), ["x"]),
    ],
)
def test_any_scalar_is_an_id(
    tmp_path: Path, values: list[Any], kind: pa.DataType, expected: list[str | None]
) -> None:
    path = tmp_path / "a.parquet"
    ids = pa.array(values, kind)
    pq.write_table(pa.table({"id": ids, "text": ["t"] * len(ids)}), path)
    places = [f"{path}:{row}" if id_ is None else id_ for row, id_ in enumerate(expected, 1)]
    for options in ({}, {"id_column": "id"}):
        batches, problems = read(path, **options)
        assert ([id_ for id_, _ in pairs(batches)], problems) == (places, [])


def test_lists_are_no_ids_and_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [None, [1], [2]], "text": ["a", "b", "c"]}), path)
    notes: list[str] = []
    found = list(read_batches(str(path), Reading(), print, note=notes.append))
    assert found[0].ids.to_pylist() == [f"{path}:{row}" for row in (1, 2, 3)]
    assert notes == [
        f"{path}: column 'id' holds list<element: int64> in 2 records, first at line 2; their "
        "ids are file:line"
    ]


def test_dotted_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [{"body": "one", "meta": {"key": 7}}, None, {"body": None, "meta": None}]
    table = pa.table({"doc": rows, "doc.title": ["x", "y", "z"]})
    pq.write_table(table, path)
    batches, problems = read(
        path, text_columns=("doc.body",), id_column="doc.meta.key", key_column="doc.meta.key"
    )
    assert problems == []
    assert pairs(batches) == [("7", "one"), (f"{path}:2", ""), (f"{path}:3", "")]
    assert keys(batches) == [7, None, None]
    assert [text for _, text in pairs(read(path, text_columns=("doc.title",))[0])] == list("xyz")
    assert read(path, text_columns=("doc.none",))[1] == [
        " no column 'doc.none' (columns: 'doc', 'doc.title')"
    ]
    assert read(path, text_columns=("doc",))[1][0].startswith(" column 'doc' has the type")
    others = read(path, text_columns=("doc.body",), others=True)[0][0].others
    assert others is not None
    assert others[0] == {"doc": rows[0], "doc.title": "x"}
