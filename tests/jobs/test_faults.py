"""Bad input, faults and attacks: what becomes of jobs on files."""

from __future__ import annotations

import csv
import errno
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import job_corpora as corpora
from neardup import cli, jobs
from neardup.jobs import job as job_module
from neardup.jobs import spool
from neardup.sources import Reading, document, stored
from reading import pack

TEXT = "Harbour Street will be closed to all motor traffic from Monday until Friday"
OTHER = "A letter from the seaside tells of gulls and rain and of a broken umbrella"


def line(**columns: Any) -> bytes:
    return json.dumps(columns, ensure_ascii=False).encode() + b"\n"


def write(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def quarantined(path: Path) -> list[tuple[int | None, str]]:
    return [(row["line"], row["reason"]) for row in corpora.rows(path)]


GOOD = (line(id="a", text=TEXT), line(id="b", text=OTHER), line(id="c", text=TEXT))


# ---- what cannot be read ----


BAD_LINES = [
    (b"[1, 2]\n", "not an object but a list"),
    (b'"a text"\n', "not an object but a string"),
    (b"{'text': 1}\n", "not JSON (Expecting property name enclosed in double quotes"),
    (b'{"body": "x"}\n', "no column 'text' (there is 'body')"),
    (b'{"text": null}\n', "column 'text' is not a string but null"),
    (b'{"text": "\\ud800 half"}\n', "column 'text' holds a lone surrogate (U+D800 at character 0)"),
    (b'{"text": "caf\xe9"}\n', "not UTF-8 (byte 0xe9 at offset 13)"),
    ('{"text": "道路"}\n'.encode("gb18030"), "not UTF-8"),
    (b'{"text": "a", "id": [1]}\n', "column 'id' is neither a string nor an integer but a list"),
    (b"[" * 100_000 + b"\n", "not JSON (nested too deeply)"),
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
    assert names(tmp_path) == sorted([*before, *(["work"] if work else [])])
    told = capsys.readouterr().err
    assert "2 records could not be read" in told
    assert f"first {source}:4: not JSON" in told
    if work:
        # Half a corpus is nothing to go on from: it is read anew, and refused again.
        assert cli.run([*arguments, "--resume"]) == 3
        assert not (tmp_path / "out.jsonl").exists()


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
    assert "data is damaged or cut short" in reason


@pytest.mark.parametrize("how", [".gz", ".zst"])
def test_a_bomb_is_stopped(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(stored, "MOST_RATIO", 20)
    source = write(tmp_path / f"in.jsonl{how}", pack(line(text=TEXT) * 400_000, how))
    out = tmp_path / "out.jsonl"
    found = jobs.dedup([str(source)], out)
    assert (found.unreadable, found.kept) == (1, 1)
    ((_, reason),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert "more than 20 for one; if that is meant, unpack the file first" in reason


def test_a_parquet_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(stored, "MOST_RATIO", 20)
    table = pa.table({"text": ["word " * 100_000 + str(n) for n in range(50)]})
    pq.write_table(table, tmp_path / "in.parquet", compression="zstd", use_dictionary=False)
    out = tmp_path / "out.parquet"
    found = jobs.dedup([str(tmp_path / "in.parquet")], out)
    assert (found.read, found.unreadable) == (0, 1)
    ((_, reason),) = quarantined(tmp_path / "out.quarantine.jsonl")
    assert reason.startswith("stopped: ")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "lines", "text", "parquet"])
def test_a_line_beyond_the_limit_is_left_out(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 4096)
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
    assert (found.read, found.unreadable, found.removed) == (2, 3, 1)
    assert corpora.rows(out) == [{"id": str(folder / "bom.txt"), "text": TEXT}]
    told = {
        Path(row["source"]).name: row for row in corpora.rows(tmp_path / "out.quarantine.jsonl")
    }
    assert told["gbk.txt"]["reason"].startswith("not UTF-8")
    assert (told["nul.txt"]["line"], told["nul.txt"]["reason"]) == (2, "holds a NUL byte")
    assert told["utf16.txt"]["reason"].startswith("not UTF-8")


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
    jobs.cluster([str(other)], tmp_path / "c.jsonl")
    ((_, reason),) = quarantined(tmp_path / "c.quarantine.jsonl")
    assert reason == "no column 'text' (there is 'id', 'body')"


def test_parquet_that_is_none_or_lacks_the_column(tmp_path: Path) -> None:
    good, lacking = tmp_path / "good.parquet", tmp_path / "lacking.parquet"
    pq.write_table(pa.table({"text": [TEXT, None, TEXT]}), good)
    pq.write_table(pa.table({"body": [TEXT]}), lacking)
    junk = write(tmp_path / "junk.parquet", b"PAR1 and nothing else")
    found = jobs.pairs([str(good), str(lacking), str(junk)], tmp_path / "out.csv")
    assert (found.read, found.unreadable, found.pairs) == (2, 3, 1)
    told = quarantined(tmp_path / "out.quarantine.jsonl")
    assert told[0] == (2, "column 'text' is not a string but null")
    assert told[1] == (None, "no column 'text' (there is 'body')")
    assert told[2][1].startswith("not Parquet (")


def test_a_quarantine_file_is_never_an_input(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", *GOOD, b"bad\n")
    out = tmp_path / "out.jsonl.gz"
    jobs.dedup([str(tmp_path / "in.jsonl")], out)
    assert names(tmp_path) == ["in.jsonl", "out.jsonl.gz", "out.quarantine.jsonl"]
    with pytest.raises(ValueError, match=r"out\.quarantine\.jsonl: is also an input"):
        jobs.dedup([str(tmp_path / "*.jsonl")], out)


# ---- texts that say nothing, texts that say the same ----


def test_texts_without_words_are_no_cluster(tmp_path: Path) -> None:
    texts = ["", "", " ", "…", "…", "?!?!", "?!?!", "ok", "ok", "yes"] * 50
    source = write(tmp_path / "in.jsonl", *(line(text=text) for text in texts))
    out, clusters = tmp_path / "out.jsonl", tmp_path / "clusters.jsonl"
    for linkage in ("connected", "star"):
        found = jobs.dedup([str(source)], out, jobs.Options(linkage=linkage))
        assert found.no_signal == len(texts)
        kept = [row["text"] for row in corpora.rows(out)]
        # Only texts with a word, and equal to another, are removed.
        assert kept == [*texts[:8], "yes", *(texts[:7] * 49)]
    jobs.cluster([str(source)], clusters)
    sizes = {row["size"] for row in corpora.rows(clusters)}
    assert sizes == {1, 50, 100}


def test_the_same_text_200_000_times_takes_linear_time_and_memory(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", line(text=TEXT) * 200_000, line(text=OTHER))
    out, removed = tmp_path / "out.jsonl", tmp_path / "removed.parquet"
    started = time.perf_counter()
    found = jobs.dedup([str(source)], out, jobs.Options(removed=removed))
    assert time.perf_counter() - started < 30
    assert (found.kept, found.removed) == (2, 199_999)
    assert found.candidates <= 1
    assert found.verified <= 200_001
    assert out.read_bytes() == line(text=TEXT) + line(text=OTHER)
    pairs = tmp_path / "pairs.parquet"
    assert jobs.pairs([str(source)], pairs, jobs.Options(equal="first")).pairs == 199_999


# ---- stopped in the middle ----


class Stopper:
    """Stops a job at the first sign of a stage."""

    def __init__(self, stage: str, act: Callable[[], object], *, begun: bool = False) -> None:
        self._wanted, self._act, self._begun = stage, act, begun
        self._stage = ""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        self._stage = name
        if name == self._wanted and not self._begun:
            self._act()

    def advance(self, count: int) -> None:
        if self._begun and self._stage == self._wanted:
            self._begun = False
            self._act()


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    records = [*corpora.records_of(1, 80), *corpora.records_of(2, 80)]
    return corpora.write(tmp_path / "in.jsonl", records, "jsonl")


JOBS: Sequence[Any] = (jobs.dedup, jobs.pairs, jobs.cluster)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("stage", ["reading", "comparing"])
def test_an_interrupted_job_leaves_nothing(
    tmp_path: Path, corpus: Path, job: Any, stage: str
) -> None:
    out = write(tmp_path / "out.jsonl", b"of before\n")
    for begun in (False, True):
        stopper = Stopper(stage, interrupt, begun=begun)
        with pytest.raises(KeyboardInterrupt):
            job([str(corpus)], out, jobs.Options(progress=stopper))
        assert names(tmp_path) == ["in.jsonl", "out.jsonl"]
        assert out.read_bytes() == b"of before\n"


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("stage", ["reading", "comparing"])
@pytest.mark.parametrize("begun", [False, True])
def test_a_job_goes_on_from_where_it_was_stopped(
    tmp_path: Path, corpus: Path, job: Any, stage: str, begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, work, plain = tmp_path / "out.jsonl", tmp_path / "work", tmp_path / "plain.jsonl"
    job([str(corpus)], plain, jobs.Options(keep="best:n"))
    stopper = Stopper(stage, interrupt, begun=begun)
    options = jobs.Options(work_dir=work, progress=stopper, keep="best:n")
    with pytest.raises(KeyboardInterrupt):
        job([str(corpus)], out, options)
    assert names(tmp_path) == ["in.jsonl", "plain.jsonl", "work"]
    if stage == "comparing":
        # What was read is not read again.
        monkeypatch.setattr(job_module, "Spool", None)
    job([str(corpus)], out, jobs.Options(work_dir=work, resume=True, keep="best:n"))
    assert out.read_bytes() == plain.read_bytes()
    assert names(tmp_path) == ["in.jsonl", "out.jsonl", "plain.jsonl"]


def start(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    code = "from neardup.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)


def end(process: subprocess.Popen[bytes]) -> str:
    """What a process says when Ctrl-C is pressed."""
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130, told
    assert time.monotonic() - began < 10
    return told.decode()


def wait_for(is_so: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
@pytest.mark.parametrize("job", ["pairs", "cluster"])
def test_ctrl_c_while_reading_a_pipe_that_gives_nothing_more(tmp_path: Path, job: str) -> None:
    pipe = tmp_path / "in.jsonl"
    os.mkfifo(pipe)
    process = start(job, pipe, "-o", tmp_path / "out.csv")
    with pipe.open("wb") as file:
        file.write(GOOD[0] * 10)
        file.flush()
        wait_for(lambda: len(names(tmp_path)) > 1)
        told = end(process)
    assert told == "neardup: interrupted; nothing was written\n"
    assert names(tmp_path) == ["in.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    process = start("pairs", pipe, "-o", out, "-q")
    with pipe.open("wb") as file:
        file.write(GOOD[0])
        file.flush()
        wait_for(lambda: len(names(tmp_path)) > 1)
        file.write(GOOD[2])
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (0, b"")
    assert [(row["left"], row["right"]) for row in corpora.rows(out)] == [("a", "c")]
    with pytest.raises(jobs.RefusedError, match="cannot be read twice; save it to a file first"):
        jobs.dedup([str(pipe)], tmp_path / "kept.jsonl")


def test_ctrl_c_while_standard_input_is_read(tmp_path: Path) -> None:
    arguments = ("dedup", "-", "--format", "jsonl", "-o", tmp_path / "out.jsonl")
    process = start(*arguments, stdin=subprocess.PIPE)
    assert process.stdin is not None
    # More than a pipe holds: when all is written, some has been read.
    process.stdin.write(GOOD[0] * 5000)
    process.stdin.flush()
    assert "interrupted; nothing was written" in end(process)
    assert names(tmp_path) == []


def test_ctrl_c_while_comparing_and_going_on(tmp_path: Path) -> None:
    chance = random.Random(0)
    vocabulary = [f"word{n}" for n in range(40)]
    lines = [line(text=" ".join(chance.choices(vocabulary, k=60))) for _ in range(500)]
    source = write(tmp_path / "in.jsonl", *lines)
    out, plain, work = (tmp_path / name for name in ("out.jsonl", "plain.jsonl", "work"))
    # Everything is somewhat like everything: each is compared with each.
    limits = ("--similarity", 0.95, "--recall", 1, "--linkage", "star", "--threads", 1)
    arguments = ("dedup", source, "-o", out, "--work-dir", work, *limits)
    process = start(*arguments)
    wait_for((work / "state.json").exists)
    interrupted = end(process)
    assert "nothing was written; go on with the same command and --resume" in interrupted
    assert str(work) in interrupted
    assert names(tmp_path) == ["in.jsonl", "work"]
    again = start(*arguments, "--resume")
    _, told = again.communicate(timeout=60)
    assert again.returncode == 0, told
    assert names(tmp_path) == ["in.jsonl", "out.jsonl"]
    jobs.dedup([str(source)], plain, jobs.Options(0.95, recall=1.0, linkage="star"))
    assert out.read_bytes() == plain.read_bytes()


def stopped(corpus: Path, out: Path, work: Path, **options: Any) -> None:
    stopper = Stopper("comparing", interrupt)
    with pytest.raises(KeyboardInterrupt):
        jobs.dedup([str(corpus)], out, jobs.Options(work_dir=work, progress=stopper, **options))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"recipe": "chars"}, "recipe"),
        ({"keep": "best:n"}, "reading"),
        ({"reading": Reading(("text", "day"))}, "reading"),
        ({"reading": Reading(format="jsonl")}, "lines"),
        ({"against": True}, "against"),
    ],
)
def test_resuming_with_other_settings_is_refused(
    tmp_path: Path, corpus: Path, change: dict[str, Any], what: str
) -> None:
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    stopped(corpus, out, work)
    if "recipe" in change:
        from neardup import Recipe

        change = {"recipe": Recipe(ngram=3)}
    if "against" in change:
        change = {"against": (str(write(tmp_path / "old.jsonl", *GOOD)),)}
    with pytest.raises(ValueError, match=f"the earlier run differs in {what}: .*without --resume"):
        jobs.dedup([str(corpus)], out, jobs.Options(work_dir=work, resume=True, **change))
    assert not out.exists()
    # Without resume it begins anew.
    jobs.dedup([str(corpus)], out, jobs.Options(work_dir=work, **change))
    assert out.exists()
    assert not work.exists()


def test_resuming_with_a_changed_input_is_refused(tmp_path: Path, corpus: Path) -> None:
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    stopped(corpus, out, work)
    with corpus.open("ab") as file:
        file.write(GOOD[0])
    with pytest.raises(ValueError, match="the earlier run differs in inputs"):
        jobs.dedup([str(corpus)], out, jobs.Options(work_dir=work, resume=True))


def test_other_thresholds_may_be_tried_on_what_was_read(tmp_path: Path, corpus: Path) -> None:
    out, work, plain = tmp_path / "out.jsonl", tmp_path / "work", tmp_path / "plain.jsonl"
    stopped(corpus, out, work)
    jobs.dedup([str(corpus)], out, jobs.Options(0.6, work_dir=work, resume=True, linkage="star"))
    jobs.dedup([str(corpus)], plain, jobs.Options(0.6, linkage="star"))
    assert out.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("junk", [b"", b"{", b'{"version": 0}', b"[]"])
def test_resuming_from_junk(tmp_path: Path, corpus: Path, junk: bytes) -> None:
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    work.mkdir()
    write(work / "state.json", junk)
    options = jobs.Options(work_dir=work, resume=True)
    if b"version" in junk:
        with pytest.raises(ValueError, match="the earlier run differs in version: 0"):
            jobs.dedup([str(corpus)], out, options)
        return
    jobs.dedup([str(corpus)], out, options)
    assert out.exists()


def test_resume_needs_a_folder_and_files(tmp_path: Path, corpus: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match="resume needs a work_dir"):
        jobs.dedup([str(corpus)], out, jobs.Options(resume=True))
    options = jobs.Options(resume=True, work_dir=tmp_path / "w")
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        jobs.dedup(["-"], out, options)


def test_a_work_folder_with_other_files_is_left_alone(tmp_path: Path, corpus: Path) -> None:
    mine = write(tmp_path / "notes.txt", b"mine")
    out = tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match=r"holds 'in\.jsonl', which is not of a stopped job"):
        jobs.dedup([str(corpus)], out, jobs.Options(work_dir=tmp_path))
    assert mine.read_bytes() == b"mine"
    work = tmp_path / "work"
    work.mkdir()
    # The output may be written there: it stays.
    jobs.dedup([str(corpus)], work / "out.jsonl", jobs.Options(work_dir=work))
    assert names(work) == ["out.jsonl"]


# ---- outputs that cannot be ----


@pytest.mark.parametrize("job", JOBS)
def test_outputs_that_cannot_be_are_refused_at_once(
    tmp_path: Path, corpus: Path, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "Spool", None)  # no work is begun
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(corpus)
    refused: list[tuple[Path, dict[str, Any], str]] = [
        (corpus, {}, "is also an input"),
        (link, {}, "is also an input"),
        (folder, {}, "a folder; name a file in it"),
        (tmp_path / "out.docx", {}, r"out\.docx'"),
        (tmp_path / "no" / "out.jsonl", {}, "the folder .*no does not exist"),
        (tmp_path / "o.jsonl", {"quarantine": tmp_path / "o.jsonl"}, "named for two outputs"),
        (tmp_path / "o.jsonl", {"quarantine": corpus}, "is also an input"),
        (
            tmp_path / "o.jsonl",
            {"report": tmp_path / "r.jsonl"},
            "unknown ending; use one of .html",
        ),
        (tmp_path / "o.jsonl", {"removed": tmp_path / "o.jsonl"}, "named for two outputs"),
        (tmp_path / "o.jsonl", {"removed": tmp_path / "r.txt"}, "unknown ending"),
    ]
    for out, options, message in refused:
        with pytest.raises(jobs.RefusedError, match=message):
            job([str(corpus)], out, jobs.Options(**options))
    assert names(tmp_path) == ["folder.jsonl", "in.jsonl", "link.jsonl"]


def test_the_output_is_not_what_is_compared_with(tmp_path: Path, corpus: Path) -> None:
    old = write(tmp_path / "old.jsonl", *GOOD)
    with pytest.raises(jobs.RefusedError, match=r"old\.jsonl: is also an input"):
        jobs.dedup([str(corpus)], old, jobs.Options(against=(str(old),)))
    assert old.read_bytes() == b"".join(GOOD)


def test_formats_are_not_mixed(tmp_path: Path, corpus: Path) -> None:
    other = write(tmp_path / "b.csv", b"text\nx\n")
    with pytest.raises(jobs.RefusedError, match="a file holds one format; run once for each"):
        jobs.dedup([str(corpus), str(other)], tmp_path / "out.jsonl")


def test_tables_of_other_columns_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "Spool", None)  # no work is begun
    first, second = (write(tmp_path / f"{n}.csv", f"text,{n}\nx,1\n".encode()) for n in "ab")
    with pytest.raises(jobs.RefusedError, match=r"its columns \['text', 'b'\] are not those of"):
        jobs.dedup([str(first), str(second)], tmp_path / "out.csv")
    for name in "ab":
        pq.write_table(pa.table({"text": ["x"], name: [1]}), tmp_path / f"{name}.parquet")
    inputs = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    with pytest.raises(jobs.RefusedError, match=r"text: string, b: int64.* are not those of"):
        jobs.dedup(inputs, tmp_path / "out.parquet")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(jobs.RefusedError, match="is not writable"):
        jobs.dedup([str(corpus)], folder / "out.jsonl")


def test_a_folder_that_says_it_is_not_writable(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(jobs.RefusedError, match="is not writable"):
        jobs.dedup([str(corpus)], tmp_path / "out.jsonl")


# ---- the disk is full ----


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_no_room_for_the_output(
    tmp_path: Path,
    corpus: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "copy_file_range", full, raising=False)
    out = tmp_path / name
    arguments = ["--removed", str(tmp_path / "removed.csv"), "--report", str(tmp_path / "r.html")]
    assert cli.run(["dedup", str(corpus), "-o", str(out), *arguments]) == 1
    assert names(tmp_path) == ["in.jsonl"]
    told = capsys.readouterr().err
    assert "No space left on device" in told
    # Which of them is written first does not matter.
    assert any(str(tmp_path / each) in told for each in (name, "removed.csv", "r.html"))


@pytest.mark.parametrize("job", ["dedup", "pairs", "cluster"])
@pytest.mark.parametrize("column", ["texts", "values", "ids", "problems"])
def test_no_room_for_what_is_read(
    tmp_path: Path,
    job: str,
    column: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = corpora.write(tmp_path / "in.jsonl.gz", corpora.records_of(1), "jsonl", ".gz")
    bad = write(tmp_path / "bad.jsonl", b"bad\n")

    class Full:
        write = full

    init = spool.Spool.__init__

    def filled(self: spool.Spool, *arguments: Any) -> None:
        init(self, *arguments)
        if column == "problems":
            self._problems = Full()  # type: ignore[assignment]
        else:
            self._columns[column] = Full()  # type: ignore[assignment]

    monkeypatch.setattr(spool.Spool, "__init__", filled)
    out = tmp_path / "out.jsonl"
    assert cli.run([job, str(source), str(bad), "-o", str(out)]) == 1
    assert names(tmp_path) == ["bad.jsonl", "in.jsonl.gz"]
    told = capsys.readouterr().err
    assert f"/{column}" in told
    assert "No space left on device" in told


def test_a_report_that_fails_leaves_no_output(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neardup.jobs import reporting

    monkeypatch.setattr(reporting, "render", full)
    options = jobs.Options(report=tmp_path / "r.html", removed=tmp_path / "removed.csv")
    for job in (jobs.dedup, jobs.cluster):
        with pytest.raises(OSError, match="No space left"):
            job([str(corpus)], tmp_path / "out.jsonl", options)
        assert names(tmp_path) == ["in.jsonl"]


# ---- inputs that change ----


@pytest.mark.parametrize(
    ("job", "stage"),
    [*((job, "comparing") for job in JOBS), (jobs.dedup, "writing"), (jobs.dedup, "reading")],
)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("change", ["cut", "grown", "swapped", "gone"])
def test_an_input_that_changes_is_noticed(
    tmp_path: Path, job: Any, stage: str, kind: str, change: str
) -> None:
    records = corpora.records_of(1, 80)
    source, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        corpora.write_parquet(source, records)
    else:
        corpora.write(source, records, kind)
    data = source.read_bytes()

    def act() -> None:
        if change == "gone":
            source.unlink()
        elif change == "swapped":
            # As many bytes, other records.
            if kind == "parquet":
                corpora.write_parquet(source, records[::-1])
            else:
                corpora.write(source, records[::-1], kind)
        else:
            source.write_bytes(data[: len(data) // 2] if change == "cut" else data + data[-50:])

    removed = tmp_path / "removed.jsonl"
    options = jobs.Options(progress=Stopper(stage, act), removed=removed)
    with pytest.raises((OSError, ValueError), match=r"in\.") as raised:
        job([str(source)], out, options)
    told = str(raised.value)
    assert any(word in told for word in ("changed", "shorter", "No such file", "no Parquet")), told
    assert [name for name in names(tmp_path) if name != source.name] == []


# ---- hostile names and texts ----

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">\u202etxt.exe'


def test_hostile_ids_and_texts_are_only_text(tmp_path: Path) -> None:
    text = f"{HOSTILE} {TEXT}"
    ids = [HOSTILE, f"</style>{HOSTILE}", "javascript:alert(1)", "=cmd|' /C calc'!A0"]
    source = tmp_path / "<b>in&.jsonl"
    write(source, *(line(id=name, text=text) for name in ids), b"<script>bad</script>\n")
    out, removed, report = (tmp_path / name for name in ("out.jsonl", "removed.csv", "r.html"))
    found = jobs.dedup([str(source)], out, jobs.Options(removed=removed, report=report))
    assert (found.kept, found.removed, found.unreadable) == (1, 3, 1)
    page = report.read_text(encoding="utf-8")
    for raw in ("<script>alert", "<img", "<b>in", "</style><script", 'onerror="', "\u202e"):
        assert raw not in page.lower()
    assert page.lower().count("<script") == 0
    with removed.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["id"] == "'=cmd|' /C calc'!A0"
    assert [row["id"] for row in rows[:-1]] == ids[1:3]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
@pytest.mark.parametrize("job", JOBS)
def test_ids_are_no_formulas(tmp_path: Path, job: Any, start: str) -> None:
    source = write(tmp_path / "in.jsonl", *(line(id=f"{start}{n}", text=TEXT) for n in range(3)))
    out = tmp_path / "removed.csv"
    if job is jobs.dedup:
        jobs.dedup([str(source)], tmp_path / "out.jsonl", jobs.Options(removed=out))
    else:
        job([str(source)], out)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shown = {row[name] for row in rows for name in row if name in ("id", "dup_of", "left", "right")}
    assert shown
    assert all(cell.startswith(f"'{start}") for cell in shown)


@pytest.mark.parametrize(
    "name",
    ["with space.jsonl", "línea-北京.jsonl", "a\nb.jsonl", "[x]*?.jsonl", "-n.jsonl", "'\".jsonl"],
)
def test_odd_file_names(tmp_path: Path, name: str) -> None:
    source, out = write(tmp_path / name, line(text=TEXT) * 2), tmp_path / f"out {name}"
    removed = tmp_path / "removed.jsonl"
    report = tmp_path / "r.html"
    jobs.dedup([str(source)], out, jobs.Options(removed=removed, report=report))
    assert out.read_bytes() == line(text=TEXT)
    (row,) = corpora.rows(removed)
    assert (row["id"], row["dup_of"]) == (f"{source}:2", f"{source}:1")
    assert row["source"] == str(source)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes only there")
@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".txt"])
def test_names_that_are_not_utf8(tmp_path: Path, ending: str) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9" + ending.encode())
    data = {".jsonl": line(text=TEXT) * 2, ".csv": f"text\n{TEXT}\n{TEXT}\n".encode()}
    write(Path(name), data.get(ending, TEXT.encode()))
    out, clusters = tmp_path / f"out{ending.replace('txt', 'jsonl')}", tmp_path / "c.jsonl"
    jobs.dedup([name], out, jobs.Options(report=tmp_path / "r.html", work_dir=tmp_path / "w"))
    jobs.cluster([name], clusters)
    assert "caf\\udce9" in corpora.rows(clusters)[0]["id"]
    assert out.read_bytes().count(TEXT.encode()) == 1


# ---- very little, and very many ----


@pytest.mark.parametrize("job", JOBS)
def test_an_empty_file_and_one_record(tmp_path: Path, job: Any) -> None:
    empty, one = write(tmp_path / "empty.jsonl"), write(tmp_path / "one.jsonl", GOOD[0])
    out, report = tmp_path / "out.jsonl", tmp_path / "r.html"
    found = job([str(empty)], out, jobs.Options(report=report, keep="best:n"))
    assert (found.read, found.unreadable) == (0, 0)
    assert out.read_bytes() == b""
    found = job([str(empty), str(one)], out, jobs.Options(report=report))
    assert found.read == 1
    expected = {"dedup": GOOD[0], "pairs": b""}
    if found.job in expected:
        assert out.read_bytes() == expected[found.job]
    else:
        assert corpora.rows(out) == [{"id": "a", "cluster": 0, "size": 1, "representative": "a"}]


def test_empty_tables(tmp_path: Path) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    corpora.write_parquet(source, [])
    assert jobs.dedup([str(source)], out).kept == 0
    assert pq.read_schema(out).equals(pq.read_schema(source), check_metadata=True)
    header = write(tmp_path / "in.csv", b"id,text\n")
    assert jobs.dedup([str(header)], tmp_path / "out.csv").unreadable == 0
    assert (tmp_path / "out.csv").read_bytes() == b"id,text\n"
    nothing = write(tmp_path / "none.csv")
    assert jobs.dedup([str(nothing)], tmp_path / "o.csv").unreadable == 1


def test_everything_is_near_the_reference(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)
    out = tmp_path / "out.jsonl"
    found = jobs.dedup([str(source)], out, jobs.Options(against=(str(source),)))
    assert (found.kept, found.removed) == (0, 3)
    assert out.read_bytes() == b""
    empty = write(tmp_path / "empty.jsonl")
    found = jobs.dedup([str(source)], out, jobs.Options(against=(str(empty),)))
    # Only what is near the reference is removed, and it is empty.
    assert (found.kept, found.removed) == (3, 0)
    assert out.read_bytes() == b"".join(GOOD)


def test_records_may_share_an_id(tmp_path: Path) -> None:
    lines = [line(id="x", text=TEXT), line(id="x", text=OTHER), line(id="x", text=TEXT + "!")]
    source, out = write(tmp_path / "in.jsonl", *lines), tmp_path / "out.jsonl"
    removed = tmp_path / "removed.jsonl"
    jobs.dedup([str(source)], out, jobs.Options(removed=removed))
    assert out.read_bytes() == lines[0] + lines[1]
    assert [(row["id"], row["dup_of"], row["cluster"]) for row in corpora.rows(removed)] == [
        ("x", "x", 0)
    ]


def test_a_keep_policy_by_a_column_that_is_nowhere(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match="best:scroe, but no record has a value in the column"):
        jobs.dedup([str(source)], out, jobs.Options(keep="best:scroe"))
    assert names(tmp_path) == ["in.jsonl"]


def test_a_keep_policy_by_values_without_an_order(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [TEXT, TEXT], "n": [[1], [2]]}), tmp_path / "in.parquet")
    options = jobs.Options(keep="best:n")
    with pytest.raises(ValueError, match=r"best:n, but values of type list<.*> have no order"):
        jobs.dedup([str(tmp_path / "in.parquet")], tmp_path / "out.parquet", options)


def test_more_files_than_a_process_may_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        write(folder / f"{number:03}.jsonl", line(text=f"{TEXT} {number % 7} {number % 7}"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (250, hard))
    try:
        found = jobs.dedup([str(folder)], tmp_path / "out.jsonl", jobs.Options(similarity=1.0))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (found.read, found.kept) == (300, 7)


def test_gzip_under_another_name_is_told(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", gzip.compress(b"".join(GOOD)))
    found = jobs.dedup([str(source)], tmp_path / "out.jsonl")
    assert (found.read, found.unreadable) == (0, 1)
    assert quarantined(tmp_path / "out.quarantine.jsonl") == [(None, "is gzip")]
