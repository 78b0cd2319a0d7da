"""Rows to files of every form."""

import csv
import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from helpers.batches import unpack
from neardup.files import writing

ROWS = [
    {"id": "a", "n": 1, "ok": True, "f": None},
    {"id": '=b,"\n', "n": -2, "ok": False, "f": "é"},
]
COLUMNS = {"id": str, "n": int, "ok": bool, "f": str}


def write(path: Path) -> None:
    with writing.open_rows(path, COLUMNS) as put:
        for row in ROWS:
            put(row)


@pytest.mark.parametrize("packing", ["", ".gz", ".zst", ".GZ"])
@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_json_lines(tmp_path: Path, suffix: str, packing: str) -> None:
    path = tmp_path / f"a{suffix}{packing}"
    write(path)
    data = gzip.decompress(path.read_bytes()) if packing == ".GZ" else unpack(path)
    assert [json.loads(line) for line in data.decode().splitlines()] == ROWS
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_separated(tmp_path: Path, suffix: str, delimiter: str, packing: str) -> None:
    path = tmp_path / f"a{suffix}{packing}"
    write(path)
    data = unpack(path).decode()
    assert list(csv.reader(data.splitlines(keepends=True), delimiter=delimiter)) == [
        list(COLUMNS),
        ["a", "1", "true", ""],
        ["'=b,\"\n", "'-2", "false", "é"],
    ]


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    write(path)
    assert pq.read_table(path).to_pylist() == ROWS
    monkeypatch.setattr("neardup.files.writing.tables.PARQUET_ROWS", 1)
    write(path)
    assert pq.read_table(path).to_pylist() == ROWS
    with writing.open_rows(path, COLUMNS):
        pass
    assert (pq.read_table(path).num_rows, pq.read_schema(path).names) == (0, list(COLUMNS))


@pytest.mark.parametrize("first", [0, 3])
def test_a_schema_is_declared_and_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    # As many rows without a value as a row group has, and then one with it.
    monkeypatch.setattr("neardup.files.writing.tables.PARQUET_ROWS", 3)
    columns = {"id": str, "n": int, "x": float, "ok": bool}
    path = tmp_path / "a.parquet"
    rows: list[dict[str, Any]] = [dict.fromkeys(columns)] * first
    rows += [{"id": "b", "n": 1, "x": 1, "ok": False}] if first else []
    with writing.open_rows(path, columns) as put:
        for row in rows:
            put(row)
    kinds = [str(kind) for kind in pq.read_schema(path).types]
    assert kinds == ["string", "int64", "double", "bool"]
    assert pq.ParquetFile(path).num_row_groups == (2 if first else 0)
    assert pq.read_table(path).to_pylist() == rows


def test_a_row_group_is_of_so_many_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.files.writing.tables.PARQUET_CHARACTERS", 10)
    path = tmp_path / "a.parquet"
    with writing.open_rows(path, {"id": str, "n": int}) as put:
        for text in ("123456789", "0", "1234567890", "1"):
            put({"id": text, "n": 1})
    found = pq.ParquetFile(path).metadata
    groups = [found.row_group(at).num_rows for at in range(found.num_row_groups)]
    assert groups == [2, 1, 1]


def test_equal_rows_give_equal_files(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "a.jsonl.zst", "a.parquet"):
        first, second = tmp_path / f"1{name}", tmp_path / f"2{name}"
        write(first)
        write(second)
        assert first.read_bytes() == second.read_bytes()


NAMES = pytest.mark.parametrize("name", ["a.jsonl", "a.csv.gz", "a.tsv.zst", "a.parquet"])


@NAMES
def test_a_failed_run_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")

    def run(error: BaseException) -> None:
        with writing.open_rows(path, COLUMNS) as put:
            for _ in range(100):
                put(ROWS[0])
            raise error

    for error in (RuntimeError("oops"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            run(error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@NAMES
def test_a_full_disk_names_the_file(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("old")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.write", full)
        with pytest.raises(OSError, match="No space left on device") as caught:
            write(path)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_is_that_of_any_new_file(tmp_path: Path) -> None:
    path, other = tmp_path / "a.csv", tmp_path / "other"
    write(path)
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.xyz", r"'a\.xyz': unknown ending; use one of \.jsonl, \.csv, .* with \.gz or \.zst"),
        ("a.gz", r"'a\.gz': unknown ending"),
        ("a.parquet.gz", r"'a\.parquet\.gz': Parquet compresses its own pages; leave \.gz out"),
        ("no/a.csv", r"no/a\.csv: the folder no does not exist"),
        ("folder.csv", r"folder\.csv: is a folder; name a file in it"),
        ("in.csv", r"in\.csv: is also an input and would be overwritten"),
    ],
)
def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    Path("in.csv").write_text("x")
    for inputs in (["in.csv"], [Path("in.csv").resolve().as_uri(), "s3://a/b", "-"]):
        with pytest.raises(ValueError, match=message):
            writing.check_output(Path(name), inputs)


def test_a_limit_on_the_size_of_files_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, data: object) -> int:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr("os.write", refuse)
    with pytest.raises(
        OSError, match=r"exceeds the file size limit of this process \(ulimit -f\).*a\.csv"
    ):
        write(tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
