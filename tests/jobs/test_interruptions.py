"""Jobs that are stopped in the middle, and go on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import corpora, httpx_captures
from helpers.job_inputs import GOOD, JOBS, Stopper, interrupt, line, names, write
from neardup import jobs
from neardup.files.reading.batch import Reading
from neardup.jobs import read


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
    is_begun = begun or stage == "comparing"
    assert names(tmp_path) == ["in.jsonl", "plain.jsonl", *(["work"] if is_begun else [])]
    if stage == "comparing":
        # What was read is not read again.
        monkeypatch.setattr(read, "spooling", None)
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
    lines = [line(text=" ".join(chance.choices(vocabulary, k=60))) for _ in range(4000)]
    source = write(tmp_path / "in.jsonl", *lines)
    out, plain, work = (tmp_path / name for name in ("out.jsonl", "plain.jsonl", "work"))
    # Everything is somewhat like everything: each is compared with each.
    limits = ("--similarity", 0.95, "--recall", 1, "--linkage", "star", "--threads", 1)
    arguments = ("dedup", source, "-o", out, "--work-dir", work, *limits)
    process = start(*arguments)
    wait_for((work / "state.json").exists)
    # A module that is being imported may lose a signal.
    time.sleep(0.2)
    interrupted = end(process)
    assert "to continue, run the same command with --resume" in interrupted
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
        ({"reading": Reading(lines=True)}, "lines"),
        ({"reading": Reading(encoding="latin-1")}, "encoding"),
        ({"reading": Reading(max_bytes=10**9)}, "limits"),
        ({"reading": Reading(max_document=10**6)}, "limits"),
        ({"radius": 3}, "compared by"),
        ({"distinguish": "numbers"}, "distinguish"),
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


@pytest.mark.parametrize("change", [{"delimiter": ";"}, {"quoting": "none"}, {"header": False}])
def test_resuming_with_other_cells_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    out, work = tmp_path / "out.csv", tmp_path / "work"
    # Columns have the same names with and without a header.
    source = write(tmp_path / "in.csv", b"1;2,2\n", b'one;two,"three four"\n')
    stopped(source, out, work, reading=Reading(("2",)))
    options = jobs.Options(work_dir=work, resume=True, reading=Reading(("2",), **change))
    with pytest.raises(ValueError, match=r"the earlier run differs in cells: .*without --resume"):
        jobs.dedup([str(source)], out, options)


@pytest.mark.parametrize(("job", "within"), [(jobs.dedup, "host"), (jobs.cluster, None)])
def test_resuming_with_other_views_is_refused(
    tmp_path: Path, job: Callable[..., object], within: str | None
) -> None:
    """Facts of responses are kept for some jobs only, and groups for what they share."""
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    capture = httpx_captures.write(tmp_path / "scan.jsonl", httpx_captures.mixed())
    stopped(capture, out, work, recipe="http")
    options = jobs.Options(work_dir=work, resume=True, recipe="http", within=within)
    with pytest.raises(ValueError, match=r"the earlier run differs in views: .*without --resume"):
        job([str(capture)], out, options)


def test_resuming_with_a_changed_input_is_refused(tmp_path: Path, corpus: Path) -> None:
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    stopped(corpus, out, work)
    with corpus.open("ab") as file:
        file.write(GOOD[0])
    with pytest.raises(ValueError, match="the earlier run differs in inputs"):
        jobs.dedup([str(corpus)], out, jobs.Options(work_dir=work, resume=True))


def test_other_thresholds_reuse_the_records_read(tmp_path: Path, corpus: Path) -> None:
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
    with pytest.raises(ValueError, match="resume needs the work_dir of the earlier run"):
        jobs.dedup([str(corpus)], out, jobs.Options(resume=True))
    options = jobs.Options(resume=True, work_dir=tmp_path / "w")
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        jobs.dedup(["-"], out, options)


def test_unreadable_records_are_reported_again(tmp_path: Path, corpus: Path) -> None:
    bad = write(tmp_path / "bad.jsonl", b"bad\n", b"[1]\n")
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    inputs = [str(corpus), str(bad)]
    first, again = list[str](), list[str]()
    options = jobs.Options(work_dir=work, on_problem=lambda told: first.append(str(told)))
    stopper = Stopper("comparing", interrupt)
    with pytest.raises(KeyboardInterrupt):
        jobs.dedup(inputs, out, replace(options, progress=stopper))
    resumed = replace(options, resume=True, on_problem=lambda told: again.append(str(told)))
    assert jobs.dedup(inputs, out, resumed).unreadable == 2
    assert len(first) == 2
    assert again == first


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_two_jobs_in_one_work_folder(tmp_path: Path, corpus: Path) -> None:
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    options = jobs.Options(work_dir=work)
    refused: list[str] = []

    def second() -> None:
        with pytest.raises(ValueError, match="another job uses this folder") as caught:
            jobs.cluster([str(corpus)], tmp_path / "other.csv", options)
        refused.append(str(caught.value))

    jobs.dedup([str(corpus)], out, replace(options, progress=Stopper("comparing", second)))
    assert refused == [
        f"{work}: another job uses this folder; wait for it, or name another work_dir"
    ]
    assert names(tmp_path) == ["in.jsonl", "out.jsonl"]
    # The lock of a killed process is none.
    work.mkdir()
    write(work / "lock")
    jobs.cluster([str(corpus)], tmp_path / "other.csv", options)
    assert names(tmp_path) == ["in.jsonl", "other.csv", "out.jsonl"]


def test_a_work_folder_with_other_files_is_left_alone(tmp_path: Path, corpus: Path) -> None:
    mine = write(tmp_path / "notes.txt", b"mine")
    out = tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match=r"contains 'in\.jsonl', which no job has written"):
        jobs.dedup([str(corpus)], out, jobs.Options(work_dir=tmp_path))
    assert mine.read_bytes() == b"mine"
    work = tmp_path / "work"
    work.mkdir()
    # The output may be written there: it stays.
    jobs.dedup([str(corpus)], work / "out.jsonl", jobs.Options(work_dir=work))
    assert names(work) == ["out.jsonl"]
