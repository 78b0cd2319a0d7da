"""Several files that appear together, or not at all."""

import os
from pathlib import Path

import pytest

from neardup import sinks


def test_files_appear_at_the_end(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    with sinks.together():
        with sinks.open_rows(first, ["n"]) as write:
            write({"n": 1})
        assert not first.exists()
        with sinks.open_rows(second, ["n"]) as write:
            write({"n": 2})
    assert (first.read_text(), second.read_text()) == ('{"n": 1}\n', '{"n": 2}\n')
    with sinks.open_rows(first, ["n"]) as write:
        write({"n": 3})
    assert first.read_text() == '{"n": 3}\n'


def test_one_that_fails_takes_the_others_with_it(tmp_path: Path) -> None:
    first = tmp_path / "a.jsonl"
    first.write_text("of before")
    second = tmp_path / "b.jsonl"

    def write_both() -> None:
        with sinks.together():
            with sinks.open_rows(first, ["n"]) as write:
                write({"n": 1})
            with sinks.open_rows(second, ["n"]) as write:
                write({"m": 2})

    with pytest.raises(KeyError):
        write_both()
    assert os.listdir(tmp_path) == ["a.jsonl"]
    assert first.read_text() == "of before"
