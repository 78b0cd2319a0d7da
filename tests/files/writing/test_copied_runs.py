"""Stretches of a file are copied as they are, by whichever road, at all limits of the roads."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from neardup.files.writing import new_file

DATA = bytes(random.Random(0).randrange(256) for _ in range(4000))


def copied(tmp_path: Path, runs: list[tuple[int, int]]) -> bytes:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(DATA)
    target.write_bytes(b"head")
    with source.open("rb") as read, target.open("r+b") as write:
        names = (str(source), target)
        end = new_file.copy_runs(read.fileno(), write.fileno(), runs, 4, names)
    assert end == len(target.read_bytes())
    return target.read_bytes()


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("length", [1, 99, 100, 101, 299, 300, 301, 1000])
@pytest.mark.parametrize("gap", [1, 99, 100, 101])
def test_runs_of_just_the_limits(
    tmp_path: Path, length: int, gap: int, kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_file, "COPY_BYTES", 100)
    monkeypatch.setattr(new_file, "LONG_RUN", 300)
    if not kernel:
        monkeypatch.delattr("os.copy_file_range", raising=False)
    runs = [(at, at + length) for at in range(0, len(DATA) - length, length + gap)]
    expected = b"head" + b"".join(DATA[start:end] for start, end in runs)
    assert copied(tmp_path, runs) == expected


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9])
def test_just_so_many_pieces_at_a_time(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_file, "MAX_BUFFERS", 4)
    taken: list[int] = []
    write = new_file._write_all

    def noted(target: int, views: list[memoryview], to: int, path: Path) -> int:
        taken.append(len(views))
        return write(target, views, to, path)

    monkeypatch.setattr(new_file, "_write_all", noted)
    runs = [(at * 10, at * 10 + 5) for at in range(count)]
    assert copied(tmp_path, runs) == b"head" + b"".join(DATA[x:y] for x, y in runs)
    assert taken == [4] * (count // 4) + [count % 4] * (count % 4 > 0)
