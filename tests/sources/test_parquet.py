"""Parquet in batches."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.sources import stored
from reading import keys, pairs, read

TEXTS = ["one two", "三 four\nfive", "", 'six, "seven"\t8', "last"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
)
def test_parquet(tmp_path: Path, kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.sources.parquet.BATCH_ROWS", 3)
    path = tmp_path / "a.parquet"
    words = pa.array([*TEXTS[:2], None, *TEXTS[2:]])
    words = words.dictionary_encode() if pa.types.is_dictionary(kind) else words.cast(kind)
    table = pa.table({"n": list(range(6)), "text": words, "id": [5, 6, 7, None, -9, 10]})
    pq.write_table(table, path, row_group_size=4)
    batches, problems = read(path, key_column="n")
    assert problems == ["3: column 'text' is not a string but null"]
    assert pairs(batches) == list(zip(["5", "6", f"{path}:4", "-9", "10"], TEXTS, strict=True))
    assert [span for batch in batches for span in batch.spans.tolist()] == [
        [row, row + 1] for row in (0, 1, 3, 4, 5)
    ]
    assert [line for batch in batches for line in batch.lines.tolist()] == [1, 2, 4, 5, 6]
    assert keys(batches) == [0, 1, 3, 4, 5]
    assert read(path, id_column="id")[1][1] == (
        "4: column 'id' is neither a string nor an integer but null"
    )


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
    assert read(path) == ([], [" column 'text' is not of strings but of list<element: int64>"])
    assert read(path, text_columns=("body",)) == (
        [],
        [" column 'id' is of neither strings nor integers but of double"],
    )
    assert read(path, text_columns=("t",)) == (
        [],
        [" no column 't' (there is 'text', 'id', 'body')"],
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
    monkeypatch.setattr(stored, "FREE_BYTES", 1 << 19)
    monkeypatch.setattr(stored, "MOST_RATIO", 100)
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["x" * (1 << 22)]})
    pq.write_table(table, path, compression="zstd", write_statistics=False)
    assert "more than 100 for one" in read(path)[1][0]
