"""What killed jobs leave behind, and who takes it away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.job_inputs import GOOD, Stopper, interrupt, names, write
from neardup import jobs
from neardup.jobs import work_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks")


def killed(source: Path, out: Path) -> None:
    """A job that ends by SIGKILL when it has read its input."""
    code = (
        "import os, signal, sys; from neardup import jobs; from helpers.job_inputs import Stopper\n"
        "end = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
        "jobs.dedup([sys.argv[1]], sys.argv[2], jobs.Options(progress=Stopper('comparing', end)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-c", code, str(source), str(out)]
    assert subprocess.run(command, env=environment, timeout=60).returncode == -signal.SIGKILL


@pytest.mark.parametrize("named", [False, True])
def test_the_next_job_removes_what_a_killed_one_left(tmp_path: Path, named: bool) -> None:
    source, out = write(tmp_path / "in.jsonl", *GOOD), tmp_path / "out.jsonl"
    killed(source, out)
    left = [name for name in names(tmp_path) if name.startswith(".neardup-")]
    assert len(left) == 1
    work = tmp_path / "work" if named else None
    jobs.cluster([str(source)], tmp_path / "other.csv", jobs.Options(work_dir=work))
    assert names(tmp_path) == ["in.jsonl", "other.csv"]


def test_a_folder_in_which_a_job_is_at_work_stays(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *GOOD)

    def second() -> None:
        before = names(tmp_path)
        assert len(before) == 2
        jobs.cluster([str(source)], tmp_path / "other.csv")
        assert names(tmp_path) == [*before, "other.csv"]

    options = jobs.Options(progress=Stopper("comparing", second))
    assert jobs.dedup([str(source)], tmp_path / "out.jsonl", options).kept == 2


def test_a_named_folder_of_a_stopped_job_stays_whatever_its_name(tmp_path: Path) -> None:
    source, work = write(tmp_path / "in.jsonl", *GOOD), tmp_path / ".neardup-work"
    stopped = jobs.Options(work_dir=work, progress=Stopper("comparing", interrupt))
    with pytest.raises(KeyboardInterrupt):
        jobs.dedup([str(source)], tmp_path / "out.jsonl", stopped)
    # As if it had been killed.
    write(work / "lock")
    jobs.cluster([str(source)], tmp_path / "other.csv")
    assert (work / "state.json").exists()
    resumed = jobs.Options(work_dir=work, resume=True, progress=Stopper("reading", pytest.fail))
    assert jobs.dedup([str(source)], tmp_path / "out.jsonl", resumed).kept == 2
    assert names(tmp_path) == ["in.jsonl", "other.csv", "out.jsonl"]


def test_only_folders_of_jobs_of_this_machine_are_removed(tmp_path: Path) -> None:
    host = work_folder._host()
    for name, files in {
        "mine": {"lock": host, "texts": b"x"},
        "of-another-machine": {"lock": b"elsewhere\n", "texts": b"x"},
        "with-something-else": {"lock": host, "notes.txt": b"x"},
        "without-a-lock": {"texts": b"x"},
    }.items():
        (tmp_path / f".neardup-{name}").mkdir()
        for file, data in files.items():
            write(tmp_path / f".neardup-{name}" / file, data)
    (tmp_path / "not-hidden").mkdir()
    write(tmp_path / "not-hidden" / "lock", host)
    work_folder.remove_leftovers(tmp_path)
    assert names(tmp_path) == [
        ".neardup-of-another-machine",
        ".neardup-with-something-else",
        ".neardup-without-a-lock",
        "not-hidden",
    ]
    assert names(tmp_path / ".neardup-with-something-else") == ["lock", "notes.txt"]


def test_old_partial_files_without_a_writer_are_removed(tmp_path: Path) -> None:
    from neardup.files import writing

    old, new = write(tmp_path / ".neardup-old"), write(tmp_path / ".neardup-new")
    long_ago = time.time() - work_folder.LEFTOVER_SECONDS - 1
    os.utime(old, (long_ago, long_ago))
    with writing.together():
        with writing.open_rows(tmp_path / "out.csv", {"n": int}):
            pass
        # Complete, and it waits for the others.
        (waiting,) = (path for path in tmp_path.iterdir() if path not in (old, new))
        os.utime(waiting, (long_ago, long_ago))
        work_folder.remove_leftovers(tmp_path)
        assert waiting.exists()
    assert names(tmp_path) == [".neardup-new", "out.csv"]


def test_a_lock_file_that_is_unlinked_before_it_is_locked_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    lock, flock = tmp_path / "lock", fcntl.flock
    removals = iter([True])

    def late(file: object, how: int) -> None:
        if next(removals, False):
            lock.unlink()
        flock(file, how)  # type: ignore[arg-type]

    monkeypatch.setattr("fcntl.flock", late)
    with lock.open("ab") as file:
        assert not work_folder.try_lock(file, lock)
    with lock.open("ab") as file:
        assert work_folder.try_lock(file, lock)
        # Another file of that name is not the one that is locked.
        lock.unlink()
        lock.touch()
        assert not work_folder.try_lock(file, lock)


def test_a_folder_that_is_taken_away_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked, times = work_folder.try_lock, iter([False, False])
    monkeypatch.setattr(
        work_folder, "try_lock", lambda *x: next(times, None) is None and locked(*x)
    )
    with work_folder.temporary_folder(tmp_path) as folder:
        assert (folder / "lock").read_bytes() == work_folder._host()
        monkeypatch.undo()
        work_folder.remove_leftovers(tmp_path)
        assert folder.exists()
    assert not folder.exists()
