"""What cannot be read is listed, and the rest lives."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers import corpora
from helpers.batches import pack
from helpers.job_inputs import (
    GOOD,
    JOBS,
    OTHER,
    TEXT,
    Stopper,
    interrupt,
    line,
    names,
    quarantined,
    write,
)
from neardup import cli, jobs
from neardup.files.reading import batch, streams
from neardup.files.reading.batch import Reading

BAD_LINES = [
    (b"[1, 2]\n", "expected an object, got a list"),
    (b'"a text"\n', "expected an object, got a string"),
    (b"{'text': 1}\n", "not JSON (Expecting property name enclosed in double quotes"),
    (b'{"body": "x"}\n', "no column 'text' (columns: 'body')"),
    (b'{"text": 5}\n', "column 'text' is a number, not a string"),
    (b'{"text": "\\ud800 half"}\n', "column 'text' holds a lone surrogate (U+D800 at character 0)"),
    (b'{"text": "caf\xe9"}\n', "not UTF-8 (byte 0xe9 at offset 13)"),
    ('{"text": "道路"}\n'.encode("gb18030"), "not UTF-8"),
    (b"[" * 100_000 + b"\n", "nested too deeply"),
    (b'{"text": "cut', "not JSON (Unterminated string starting"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD_LINES)
def test_a_bad_line_is_quarantined_and_the_others_live(
    tmp_path: Path, bad: bytes, reason: str
) -> None:
    source = write(tmp_path / "in.jsonl", GOOD[0], GOOD[1], b"\n", GOOD[2], bad)
    out = tmp_path / "out.jsonl"
    seen: list[str] = []
    found = jobs.dedup([str(source)], out, jobs.Options(on_problem=lambda p: seen.append(str(p))))
    assert out.read_bytes() == GOOD[0] + GOOD[1]
    assert (found.read, found.unreadable, found.kept, found.removed) == (3, 1, 2, 1)
    ((number, told),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert number == 5
    assert told.startswith(reason)
    assert seen[0].startswith(f"{source}:5: {reason}")
    assert found.files == [str(out), str(tmp_path / "out.quarantine.jsonl")]


@pytest.mark.parametrize("job", ["dedup", "pairs", "cluster"])
def test_the_exit_code_tells_of_bad_lines(
    tmp_path: Path, job: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD, b"bad\n")
    out, quarantine = tmp_path / "out.jsonl", tmp_path / "bad.csv"
    assert cli.run([job, str(source), "-o", str(out), "--quarantine", str(quarantine)]) == 3
    assert names(tmp_path) == ["bad.csv", "in.jsonl", "out.jsonl"]
    with quarantine.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["source"], row["line"]) == (str(source), "4")
    assert "unreadable 1" in capsys.readouterr().err


@pytest.mark.parametrize("job", ["dedup", "pairs", "cluster"])
@pytest.mark.parametrize("work", [False, True])
def test_strict_writes_nothing(
    tmp_path: Path, job: str, work: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD, b"bad\n", b"worse\n")
    later = write(tmp_path / "later.jsonl", *GOOD)
    before = names(tmp_path)
    arguments = [job, str(source), str(later), "-o", str(tmp_path / "out.jsonl"), "--strict"]
    if work:
        arguments += ["--work-dir", str(tmp_path / "work")]
    assert cli.run(arguments) == 3
    assert names(tmp_path) == before
    told = capsys.readouterr().err
    assert "2 records could not be read" in told
    assert f"the first is {source}:4: not JSON" in told
    if work:
        # Half a corpus is nothing to go on from: it is read anew, and refused again.
        assert cli.run([*arguments, "--resume"]) == 3
        assert names(tmp_path) == before


def test_strict_leaves_what_an_earlier_run_has_read(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD, b"bad\n"), tmp_path / "out.jsonl"
    work = tmp_path / "work"
    options = jobs.Options(work_dir=work, progress=Stopper("comparing", interrupt))
    with pytest.raises(KeyboardInterrupt):
        jobs.dedup([str(source)], out, options)
    read = names(work)
    with pytest.raises(jobs.UnreadableError, match="1 record could not be read"):
        jobs.dedup([str(source)], out, jobs.Options(work_dir=work, resume=True, strict=True))
    assert names(work) == read
    jobs.dedup([str(source)], out, jobs.Options(work_dir=work, resume=True))
    assert out.read_bytes() == GOOD[0] + GOOD[1]


def test_strict_does_its_work_when_all_is_well(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    assert cli.run(["dedup", str(source), "-o", str(out), "--strict", "-q"]) == 0
    assert out.read_bytes() == GOOD[0] + GOOD[1]


@pytest.mark.parametrize("how", [".gz", ".zst"])
def test_a_truncated_file_gives_what_is_before_the_cut(tmp_path: Path, how: str) -> None:
    lines = [line(id=str(n), text=f"{TEXT} number {n} {os.urandom(30).hex()}") for n in range(400)]
    packed = pack(b"".join(lines), how)
    source = write(tmp_path / f"in.jsonl{how}", packed[: len(packed) * 2 // 3])
    good = write(tmp_path / "more.jsonl", *GOOD)
    out = tmp_path / "out.jsonl"
    found = jobs.dedup([str(source), str(good)], out, jobs.Options(similarity=1.0))
    kept = out.read_bytes()
    count = kept.count(b"\n") - 2
    assert found.unreadable == 1
    assert count > (0 if how == ".gz" else -1)
    assert kept == b"".join(lines[:count]) + GOOD[0] + GOOD[1]
    ((number, reason),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert number == count + 1
    assert "data is damaged or truncated" in reason


@pytest.mark.parametrize("how", [".gz", ".zst"])
def test_a_bomb_is_stopped(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(streams, "MAX_RATIO", 20)
    source = write(tmp_path / f"in.jsonl{how}", pack(line(text=TEXT) * 400_000, how))
    out = tmp_path / "out.jsonl"
    found = jobs.dedup([str(source)], out)
    assert (found.unreadable, found.kept) == (1, 1)
    ((_, reason),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert reason.endswith("if that is intended, raise --max-bytes")


def test_a_parquet_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(streams, "MAX_RATIO", 20)
    table = pa.table({"text": ["word " * 100_000 + str(n) for n in range(50)]})
    pq.write_table(table, tmp_path / "in.parquet", compression="zstd", use_dictionary=False)
    out = tmp_path / "out.parquet"
    with pytest.raises(
        jobs.NothingReadError, match=r"in\.parquet: [\d,]+ bytes unpack to [\d,]+; "
    ):
        jobs.dedup([str(tmp_path / "in.parquet")], out)
    ((_, reason),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert "unpack to" in reason


@pytest.mark.parametrize("kind", ["jsonl", "csv", "lines", "text", "parquet"])
def test_a_line_beyond_the_limit_is_left_out(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_BYTES", 4096)
    long = "much " * 2000
    out, reading = tmp_path / "out.jsonl", Reading()
    inputs = [tmp_path / f"in.{kind}"]
    if kind == "jsonl":
        write(inputs[0], line(text=TEXT), line(text=long), line(text=OTHER))
    elif kind == "csv":
        out = tmp_path / "out.csv"
        write(inputs[0], f'id,text\n1,{TEXT}\n2,"{long}"\n3,{OTHER}\n'.encode())
    elif kind == "lines":
        out, reading = tmp_path / "out.lines", Reading(lines=True)
        write(inputs[0], f"{TEXT}\n{long}\n{OTHER}\n".encode())
    elif kind == "parquet":
        out = tmp_path / "out.parquet"
        pq.write_table(pa.table({"text": [TEXT, long, OTHER]}), inputs[0])
    else:
        inputs = [tmp_path / f"{name}.txt" for name in "abc"]
        for path, text in zip(inputs, (TEXT, long, OTHER), strict=True):
            path.write_text(text)
    found = jobs.dedup([str(path) for path in inputs], out, jobs.Options(reading=reading))
    assert (found.read, found.unreadable, found.kept) == (2, 1, 2)
    ((_, reason),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert "longer than" in reason


def test_whole_files_that_are_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    write(folder / "bom.txt", b"\xef\xbb\xbf" + TEXT.encode())
    write(folder / "gbk.txt", "第一行\n通知通知".encode("gb18030"))
    write(folder / "nul.txt", b"one\ntwo\0three")
    write(folder / "plain.txt", TEXT.encode())
    write(folder / "utf16.txt", TEXT.encode("utf-16"))
    out = tmp_path / "out.jsonl"
    found = jobs.dedup([str(folder)], out)
    # A byte order mark is obeyed.
    assert (found.read, found.unreadable, found.removed) == (3, 2, 2)
    assert [note.partition(": ")[2] for note in found.notes] == [
        "read as utf-16-le (byte order mark); kept records are written as UTF-8"
    ]
    assert corpora.rows(out) == [{"id": str(folder / "bom.txt"), "text": TEXT}]
    told = {
        Path(row["source"]).name: row for row in corpora.rows(tmp_path / "out.quarantine.jsonl")
    }
    assert told["gbk.txt"]["reason"].startswith("not UTF-8")
    assert (told["nul.txt"]["line"], told["nul.txt"]["reason"]) == (2, "holds a NUL byte")


def test_tables_with_bad_rows(tmp_path: Path) -> None:
    good = f"1,{TEXT}\n".encode()
    bad = [b"2\n", b"3,a,b\n", b"4,caf\xe9\n", b"5,a\0b\n"]
    source = write(tmp_path / "in.csv", b"\xef\xbb\xbfid,text\n", *bad, good)
    other = write(tmp_path / "other.csv", b"id,body\n1,x\n")
    out = tmp_path / "out.csv"
    found = jobs.dedup([str(source)], out)
    assert out.read_bytes() == b"\xef\xbb\xbfid,text\n" + good
    assert found.unreadable == len(bad)
    told = quarantined(tmp_path / "out.quarantine.jsonl")
    assert [number for number, _ in told] == [2, 3, 4, 5]
    with pytest.raises(jobs.NothingReadError, match=r"other\.csv:1: no column 'text'"):
        jobs.cluster([str(other)], tmp_path / "c.jsonl")
    ((_, reason),) = quarantined(tmp_path / "c.quarantine.jsonl")
    assert reason == "no column 'text' (columns: 'id', 'body')"


def test_parquet_that_is_none_or_lacks_the_column(tmp_path: Path) -> None:
    good, lacking = tmp_path / "good.parquet", tmp_path / "lacking.parquet"
    pq.write_table(pa.table({"text": [TEXT, None, TEXT]}), good)
    pq.write_table(pa.table({"body": [TEXT]}), lacking)
    junk = write(tmp_path / "junk.parquet", b"PAR1 and nothing else")
    found = jobs.pairs([str(good), str(lacking), str(junk)], tmp_path / "out.csv")
    assert (found.read, found.unreadable, found.pairs, found.no_signal) == (3, 2, 1, 1)
    told = quarantined(tmp_path / "out.quarantine.jsonl")
    assert told[0] == (None, "no column 'text' (columns: 'body')")
    assert told[1][1].startswith("not Parquet (")


@pytest.mark.parametrize("job", JOBS)
def test_a_quarantine_file_of_before_does_not_stay(tmp_path: Path, job: Any) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD, b"bad\n"), tmp_path / "out.jsonl"
    quarantine = tmp_path / "out.quarantine.jsonl"
    job([str(source)], out)
    assert quarantine.exists()
    write(source, *GOOD)
    found = job([str(source)], out)
    assert found.files == [str(out)]
    assert names(tmp_path) == ["in.jsonl", "out.jsonl"]


def test_a_quarantine_file_stays_when_a_job_fails(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    old = write(tmp_path / "out.quarantine.jsonl", b"of before\n")
    options = jobs.Options(progress=Stopper("writing", interrupt))
    with pytest.raises(KeyboardInterrupt):
        jobs.dedup([str(source)], out, options)
    assert old.read_bytes() == b"of before\n"


@pytest.mark.parametrize("job", JOBS)
def test_a_quarantine_file_that_was_named_is_always_written(tmp_path: Path, job: Any) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    quarantine = write(tmp_path / "bad.csv", b"of before\n")
    found = job([str(source)], out, jobs.Options(quarantine=quarantine))
    assert quarantine.read_bytes() == b"source,line,reason\n"
    assert found.files == [str(out), str(quarantine)]


def test_a_quarantine_file_is_never_another_output(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    removed = tmp_path / "out.quarantine.jsonl"
    with pytest.raises(jobs.RefusedError, match="named for two outputs"):
        jobs.dedup([str(source)], out, jobs.Options(removed=removed))


def test_a_quarantine_file_is_never_an_input(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", *GOOD, b"bad\n")
    out = tmp_path / "out.jsonl.gz"
    jobs.dedup([str(tmp_path / "in.jsonl")], out)
    assert names(tmp_path) == ["in.jsonl", "out.jsonl.gz", "out.quarantine.jsonl"]
    with pytest.raises(ValueError, match=r"out\.quarantine\.jsonl: is also an input"):
        jobs.dedup([str(tmp_path / "*.jsonl")], out)


def test_gzip_under_another_name_is_reported(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", gzip.compress(b"".join(GOOD)))
    with pytest.raises(
        jobs.NothingReadError,
        match=r"in\.jsonl: is gzip; rename it to end in \.gz; nothing was written",
    ):
        jobs.dedup([str(source)], tmp_path / "out.jsonl")
    assert quarantined(tmp_path / "out.quarantine.jsonl") == [(None, "is gzip")]
