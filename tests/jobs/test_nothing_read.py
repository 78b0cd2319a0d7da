"""A run that could read nothing leaves what was there."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.job_inputs import GOOD, JOBS, TEXT, names, write
from neardup import cli, jobs
from neardup.files.reading.batch import Reading


def jsonl(folder: Path) -> Path:
    return write(folder / "in.jsonl", b'{"id": "a", "body": "x"}\n' * 3)


def csv(folder: Path) -> Path:
    return write(folder / "in.csv", f"id;text\n1;{TEXT}\n".encode())


def parquet(folder: Path) -> Path:
    pq.write_table(pa.table({"body": [TEXT]}), folder / "in.parquet")
    return folder / "in.parquet"


def junk(folder: Path) -> Path:
    return write(folder / "in.parquet", b"PAR1 and nothing else")


def packed(folder: Path) -> Path:
    return write(folder / "in.jsonl.gz", b"\x1f\x8b junk")


def denied(folder: Path) -> Path:
    path = write(folder / "in.jsonl", *GOOD)
    path.chmod(0)
    return path


def lines(folder: Path) -> Path:
    return write(folder / "in.txt", b"\x80 is no text\n")


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (jsonl, r"in\.jsonl:1: no column 'text' \(columns:"),
        (csv, r"in\.csv:1: no column 'text'"),
        (parquet, r"in\.parquet: no column 'text'"),
        (junk, r"in\.parquet: .*Parquet"),
        (packed, r"in\.jsonl\.gz:1: the gzip data is damaged"),
        (denied, r"in\.jsonl: Permission denied"),
        (lines, r"in\.txt:1: not UTF-8"),
    ],
)
def test_the_old_outputs_stay(
    tmp_path: Path, job: Any, made: Callable[[Path], Path], reason: str
) -> None:
    source = made(tmp_path)
    if made is denied and os.geteuid() == 0:
        pytest.skip("root may read everything")
    suffix = source.suffixes[0] if job is jobs.dedup else ".csv"
    old = {name: tmp_path / name for name in (f"out{suffix}", "removed.csv", "report.html")}
    for path in old.values():
        write(path, b"of before\n")
    options = jobs.Options(
        removed=old["removed.csv"],
        report=old["report.html"],
        reading=Reading(lines=made is lines),
        work_dir=tmp_path / "work",
    )
    with pytest.raises(jobs.NothingReadError, match=f"no record could be read: .*{reason}") as why:
        job([str(source)], old[f"out{suffix}"], options)
    assert "nothing was written" in str(why.value)
    assert {path.read_bytes() for path in old.values()} == {b"of before\n"}
    quarantine = "out.quarantine.jsonl"
    assert quarantine in str(why.value)
    assert sorted([*old, quarantine, source.name]) == names(tmp_path)


@pytest.mark.parametrize("job", ["dedup", "pairs", "cluster"])
@pytest.mark.parametrize("strict", [False, True])
def test_the_command_fails_in_a_sentence(
    tmp_path: Path, job: str, strict: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    assert cli.run([job, str(source), "-o", str(out), "-q"]) == 0
    before = out.read_bytes()
    capsys.readouterr()
    arguments = [job, str(source), "-o", str(out), "--text-column", "body"]
    assert cli.run([*arguments, *(["--strict"] if strict else [])]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert f"{source}:1: no column 'body'" in told
    assert out.read_bytes() == before


@pytest.mark.parametrize("job", JOBS)
def test_an_empty_input_is_no_error(tmp_path: Path, job: Any) -> None:
    source, out = write(tmp_path / "in.jsonl"), write(tmp_path / "out.jsonl", b"of before\n")
    assert job([str(source)], out).read == 0
    assert out.read_bytes() == b""


def test_one_good_record_is_enough(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.jsonl", b"bad\n")
    good, out = write(tmp_path / "good.jsonl", GOOD[0]), tmp_path / "out.jsonl"
    assert jobs.dedup([str(bad), str(good)], out).unreadable == 1
    assert out.read_bytes() == GOOD[0]


def test_a_reference_of_which_nothing_could_be_read(tmp_path: Path) -> None:
    """Without it everything would be kept, as if nothing were known."""
    old = write(tmp_path / "old.jsonl", b'{"body": "x"}\n')
    new, out = write(tmp_path / "new.jsonl", *GOOD), tmp_path / "out.jsonl"
    with pytest.raises(jobs.NothingReadError, match=r"to compare with could be read: .*old\.jsonl"):
        jobs.dedup([str(new)], out, jobs.Options(against=(str(old),)))
    assert not out.exists()


def test_a_bad_input_is_named_and_not_the_reference(tmp_path: Path) -> None:
    old = write(tmp_path / "old.jsonl", *GOOD, b"odd\n")
    new = write(tmp_path / "new.jsonl.gz", gzip.compress(b"bad\n"))
    with pytest.raises(jobs.NothingReadError, match=r"no record could be read: .*new\.jsonl\.gz:1"):
        jobs.dedup([str(new)], tmp_path / "o.jsonl", jobs.Options(against=(str(old),)))


def test_index_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen, out = tmp_path / "seen.neardup", write(tmp_path / "out.csv", b"of before\n")
    source = write(tmp_path / "in.jsonl", *GOOD)
    assert cli.run(["index", "create", str(seen), "-q"]) == 0
    arguments = [str(seen), str(source), "--text-column", "body"]
    for command in (["check", "-o", str(out)], ["add"]):
        assert cli.run(["index", command[0], *arguments, *command[1:]]) == 1
        (told,) = capsys.readouterr().err.splitlines()
        assert "no record could be read" in told
        assert "no column 'body'" in told
    assert out.read_bytes() == b"of before\n"


def test_a_strict_job_stops_after_the_first_file_with_an_unreadable_record(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl", GOOD[0])
    bad, last = write(tmp_path / "b.jsonl", b"bad\n"), write(tmp_path / "c.jsonl", b"bad\n")
    out, strict = tmp_path / "out.jsonl", jobs.Options(strict=True)
    more = write(tmp_path / "d.jsonl", *GOOD)
    assert jobs.dedup([str(good), str(more)], out, strict).read == 1 + len(GOOD)
    with pytest.raises(jobs.UnreadableError, match=r"1 record could not be read, .*b\.jsonl:1"):
        jobs.dedup([str(good), str(bad), str(last)], out, strict)
