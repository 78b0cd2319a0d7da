"""Files are split into units without losing or repeating a line."""

from __future__ import annotations

import io
import itertools
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from neardup.engines.spark import read_driver
from neardup.engines.spark.read_driver import DistributedReader, _list_files
from neardup.engines.spark.read_worker import LineRange, ReadSettings
from neardup.files.reading.batch import Reading
from neardup.near.question import check_question
from neardup.text.recipe import as_recipe


@pytest.mark.parametrize(
    "data", [b"one\ntwo\n\nfour five six\nx\n", b"no newline", b"a\nb", b"\n\n"]
)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 100])
@pytest.mark.parametrize("block", [1, 3, 1000])
def test_every_line_belongs_to_one_unit(data: bytes, size: int, block: int) -> None:
    cuts = [*range(0, len(data), size), len(data)]
    found = []
    for start, stop in itertools.pairwise(cuts):
        part = LineRange(io.BytesIO(data), "file", start, stop, Reading())
        lines = b""
        while read := part.read(block):
            lines += read
        # The unit where a line begins reads it whole.
        begins = [at for at in range(start, stop) if at == 0 or data[at - 1 : at] == b"\n"]
        assert len(lines.splitlines()) == len(begins)
        assert part.begin == begins[0] if begins else not lines
        found.append(lines)
    assert b"".join(found) == data


def test_files_of_a_folder_are_sorted_and_have_whole_urls() -> None:
    paths = ["s3a://bucket/b.jsonl", "/bucket/c.jsonl", "s3a:/bucket/a.jsonl"]
    reader: Any = SimpleNamespace(
        option=lambda *_: reader,
        load=lambda _: reader,
        select=lambda _: reader,
        collect=lambda: [{"path": path} for path in paths],
    )
    session: Any = SimpleNamespace(
        spark=SimpleNamespace(read=SimpleNamespace(format=lambda _: reader))
    )
    assert _list_files(session, "s3a://bucket") == [
        "s3a://bucket/a.jsonl",
        "s3a://bucket/b.jsonl",
        "s3a://bucket/c.jsonl",
    ]


def settings_of(folder: Path, **more: Any) -> ReadSettings:
    recipe = as_recipe(None)
    question = check_question(None, None, None, bits=recipe.bits)
    return ReadSettings(Reading(), question, recipe, folder=str(folder), **more)


@pytest.mark.parametrize("driver", [None, ("elsewhere", 1)])
def test_another_process_leaves_the_cores_to_spark_and_finds_relative_paths(
    driver: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Path.cwd()
    monkeypatch.chdir(before)
    monkeypatch.setenv("RAYON_NUM_THREADS", "7")
    monkeypatch.delenv("RAYON_NUM_THREADS")
    settings_of(tmp_path, **({} if driver is None else {"driver": driver})).check_worker()
    assert os.environ.get("RAYON_NUM_THREADS") == (None if driver is None else "1")
    assert Path.cwd() == (before if driver is None else tmp_path)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (9, [(0, -1, 9)]),
        (10, [(0, -1, 10)]),
        (11, [(0, 10, 10), (10, 11, 1)]),
        (25, [(0, 10, 10), (10, 20, 10), (20, 25, 5)]),
    ],
)
def test_only_a_larger_file_is_split(
    size: int, expected: list[tuple[int, int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_driver, "PART_BYTES", 10)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"{}\n".ljust(size, b" "))
    reader = DistributedReader.__new__(DistributedReader)
    reader._settings = settings_of(tmp_path)
    units = reader._split_file(str(path))
    assert [(unit.start, unit.stop, unit.size) for unit in units] == expected
    assert all(unit.in_place for unit in units)
