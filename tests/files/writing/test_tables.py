"""Arrow tables to files of every form."""

import csv
import errno
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.batches import unpack
from neardup.files import writing

TABLE = pa.table(
    {
        "left": pa.array(["a", "=1+1", 'b,"c', None, "-x\ny", "\t", "", "\rz", "@é", "+"]),
        "right": pa.array([*"0123456789"], pa.large_string()),
        "distance": pa.array([0, -1, 2, None, 4, 5, 6, 7, 8, 9], pa.int32()),
        "similarity": [0.5, 1.0, float("nan"), None, float("inf"), 0.1, 0.2, 0.3, 0.4, 0.25],
    }
)


def write(path: Path) -> None:
    with writing.open_tables(path, TABLE.schema) as put:
        put(TABLE.slice(0, 3))
        for batch in TABLE.slice(3).to_batches():
            put(batch)


PACKINGS = pytest.mark.parametrize("packing", ["", ".gz", ".zst"])


@PACKINGS
def test_json_lines(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.jsonl{packing}"
    write(path)
    found = [json.loads(line) for line in unpack(path).decode().removesuffix("\n").split("\n")]
    expected = TABLE.to_pylist()
    expected[2]["similarity"] = expected[4]["similarity"] = None
    assert found == expected


@PACKINGS
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_separated(tmp_path: Path, suffix: str, delimiter: str, packing: str) -> None:
    path = tmp_path / f"a{suffix}{packing}"
    write(path)
    lines = unpack(path).decode().split("\n")
    rows = list(csv.reader([line + "\n" for line in lines[:-1]], delimiter=delimiter))
    assert rows[0] == TABLE.schema.names
    assert [row[0] for row in rows[1:]] == [
        *("a", "'=1+1", 'b,"c', "", "'-x\ny", "'\t", "", "'\rz", "'@é", "'+")
    ]
    assert [row[2] for row in rows[1:]] == ["0", "-1", "2", "", "4", "5", "6", "7", "8", "9"]
    assert rows[1] == ["a", "0", "0", "0.5"]


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    write(path)
    found = pq.read_table(path)
    assert found.schema == TABLE.schema
    assert found.drop_columns("similarity") == TABLE.drop_columns("similarity")
    assert pq.ParquetFile(path).num_row_groups == 1
    monkeypatch.setattr("neardup.files.writing.tables.GROUP_ROWS", 3)
    write(path)
    assert pq.ParquetFile(path).num_row_groups == 2


NAMES = pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.csv.gz", "a.tsv.zst", "a.parquet"])


@NAMES
def test_no_tables_at_all(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with writing.open_tables(path, TABLE.schema):
        pass
    if name == "a.parquet":
        assert pq.read_table(path).num_rows == 0
    elif name == "a.jsonl":
        assert path.read_bytes() == b""
    else:
        assert (
            unpack(path).decode().rstrip("\n").replace("\t", ",")
            == "left,right,distance,similarity"
        )


@NAMES
def test_a_failed_run_leaves_the_old_file(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("old")

    def stopped() -> None:
        with writing.open_tables(path, TABLE.schema) as put:
            put(TABLE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.write", full)
        with pytest.raises(OSError, match="No space left on device") as caught:
            write(path)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
