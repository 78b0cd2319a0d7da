"""Temporary tables: one folder a process; it goes with its sessions, at exit, or when stopped."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neardup.engines.spark.storage import TemporaryFolders


class Session:
    """Something that can be held and let go."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TemporaryFolders:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return TemporaryFolders()


def test_one_folder_for_all_runs_of_a_session(temporary: TemporaryFolders, tmp_path: Path) -> None:
    one, two = Session(), Session()
    first = temporary.of(one)
    assert temporary.of(one) == first != temporary.of(two)
    assert len(list(tmp_path.iterdir())) == 1
    del one
    gc.collect()
    assert not Path(first).exists()
    assert Path(temporary.of(two)).is_dir()


def test_a_removed_folder_is_created_again(temporary: TemporaryFolders, tmp_path: Path) -> None:
    session = Session()
    Path(temporary.of(session)).rmdir()
    next(tmp_path.iterdir()).rmdir()
    assert Path(temporary.of(session)).is_dir()


def test_a_forked_process_has_its_own(temporary: TemporaryFolders, monkeypatch: Any) -> None:
    session, pid = Session(), os.getpid()
    first = temporary.of(session)
    monkeypatch.setattr("os.getpid", lambda: pid + 1)
    second = temporary.of(session)
    assert Path(second).parent != Path(first).parent
    del session
    gc.collect()
    assert Path(first).is_dir()
    assert not Path(second).exists()


PROGRAM = """
import signal, sys, time
from neardup.engines.spark.storage import _temporary
class Session: pass
held = Session()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
print(_temporary.of(held), flush=True)
if sys.argv[1] == "wait":
    time.sleep(60)
"""


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("wait", 143)])
def test_all_go_at_exit(tmp_path: Path, how: str, code: int) -> None:
    """Also after a signal that a program handles, as the command line does."""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, how], env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = process.stdout.readline().strip()
        assert folder.startswith(str(tmp_path))
        if how == "wait":
            assert Path(folder).is_dir()
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == code
    assert list(tmp_path.iterdir()) == []
