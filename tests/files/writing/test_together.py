"""Several files that appear together, or not at all."""

import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from neardup.files import writing


def test_files_appear_at_the_end(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    with writing.together():
        with writing.open_rows(first, {"n": int}) as write:
            write({"n": 1})
        assert not first.exists()
        with writing.open_rows(second, {"n": int}) as write:
            write({"n": 2})
    assert (first.read_text(), second.read_text()) == ('{"n": 1}\n', '{"n": 2}\n')
    with writing.open_rows(first, {"n": int}) as write:
        write({"n": 3})
    assert first.read_text() == '{"n": 3}\n'


def test_one_that_fails_takes_the_others_with_it(tmp_path: Path) -> None:
    first = tmp_path / "a.jsonl"
    first.write_text("of before")
    second = tmp_path / "b.jsonl"

    def write_both() -> None:
        with writing.together():
            with writing.open_rows(first, {"n": int}) as write:
                write({"n": 1})
            with writing.open_rows(second, {"n": int}) as write:
                write({"m": 2})

    with pytest.raises(KeyError):
        write_both()
    assert os.listdir(tmp_path) == ["a.jsonl"]
    assert first.read_text() == "of before"


def write_three(folder: Path) -> None:
    with writing.together():
        for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
            with writing.open_rows(folder / name, {"n": int}) as write:
                write({"n": 1})


@pytest.mark.parametrize("error", [OSError(5, "the disk said no"), KeyboardInterrupt()])
def test_a_rename_that_fails_takes_the_earlier_ones_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    (tmp_path / "a.jsonl").write_text("of before")
    replace = os.replace

    def failing(source: str, target: Path) -> None:
        if Path(target).name == "c.jsonl":
            raise error
        replace(source, target)

    monkeypatch.setattr("os.replace", failing)
    with pytest.raises(type(error)) as told:
        write_three(tmp_path)
    if isinstance(error, OSError):
        assert str(told.value) == f"[Errno 5] the disk said no: '{tmp_path}/c.jsonl'"
    # The first is what it was, the second, which was not there, is not.
    assert os.listdir(tmp_path) == ["a.jsonl"]
    assert (tmp_path / "a.jsonl").read_text() == "of before"


def test_renames_that_cannot_be_taken_back_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text("of before")
    replace = os.replace

    def failing(source: str, target: Path) -> None:
        if Path(target).name == "c.jsonl":
            raise OSError(5, "the disk said no")
        replace(source, target)

    def no_links(source: Path, target: str) -> None:
        raise OSError(1, "no links here")

    monkeypatch.setattr("os.replace", failing)
    monkeypatch.setattr("os.link", no_links)
    with pytest.raises(OSError, match=r"of this run .*a\.jsonl could be written"):
        write_three(tmp_path)
    assert os.listdir(tmp_path) == ["a.jsonl"]
    assert (tmp_path / "a.jsonl").read_text() == '{"n": 1}\n'


def test_a_rename_that_fails_leaves_nothing_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def failing(source: str, target: Path) -> None:
        raise OSError(5, "the disk said no")

    def write_both() -> None:
        with writing.together():
            for path in (Path("-.jsonl"), tmp_path / "a.jsonl"):
                with writing.open_rows(path, {"n": int}) as write:
                    write({"n": 1})

    write_both()
    assert capfdbinary.readouterr().out == b'{"n": 1}\n'
    monkeypatch.setattr("os.replace", failing)
    with pytest.raises(OSError, match="the disk said no"):
        write_both()
    assert capfdbinary.readouterr().out == b""


def test_files_that_appear_together_leave_no_other(tmp_path: Path) -> None:
    for _ in range(2):
        write_three(tmp_path)
        assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl", "c.jsonl"]


@pytest.mark.parametrize("together", [False, True])
def test_a_file_written_anew_keeps_its_mode(tmp_path: Path, together: bool) -> None:
    new, secret, shared = (tmp_path / name for name in ("new.csv", "secret.csv", "shared.csv"))
    for path, mode in ((secret, 0o600), (shared, 0o664)):
        path.write_text("of before")
        path.chmod(mode)
    old = os.umask(0o027)
    try:
        with writing.together() if together else nullcontext():
            for path in (new, secret, shared):
                with writing.open_rows(path, {"n": int}) as write:
                    write({"n": 1})
    finally:
        os.umask(old)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (new, secret, shared)]
    assert modes == [0o640, 0o600, 0o664]
    assert secret.read_text() == "n\n1\n"
