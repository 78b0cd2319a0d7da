"""Closed streams, full ones, odd arguments: one line, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.processes import shell

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
COMMANDS = [
    *("dedup", "pairs", "cluster", "filter", "index", "fingerprint", "compare", "explain"),
    *("recipes", "--version", "--help"),
]


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("neardup --version >&-", 1, "neardup: standard output: is closed"),
        ("neardup --help >&-", 1, "neardup: standard output: is closed"),
        ("neardup dedup in.jsonl -o - -q >&-", 1, "neardup: standard output: is closed"),
        ("neardup dedup in.jsonl -o out.jsonl -q >&-", 0, ""),
        ("neardup dedup in.jsonl -o out.jsonl 2>&-", 0, ""),
        ("neardup dedup in.jsonl -o out.jsonl -q <&- >&-", 0, ""),
        ("neardup dedup no.jsonl -o out.jsonl >&- 2>&-", 1, ""),
        ("neardup dedup - --format jsonl -o out.jsonl <&-", 1, "stdin: is closed"),
        ("neardup filter <&-", 1, "neardup: standard input: is closed"),
        ("neardup compare - in.jsonl <&-", 1, "is closed"),
        ("neardup --help > /dev/full", 1, "No space left on device"),
        ("neardup recipes > /dev/full", 1, "No space left on device"),
        ("neardup pairs in.jsonl -o - -q > /dev/full", 1, "standard output: No space left"),
        ("neardup dedup no.jsonl -o out.jsonl 2> /dev/full", 1, ""),
        ("neardup dedup in.jsonl -o ''", 2, "name a file, or - for standard output"),
        ("neardup pairs in.jsonl -o ''", 2, "name a file, or - for standard output"),
        ("neardup index export seen.neardup -o ''", 2, "the name of a file is empty"),
        ("neardup fingerprint in.jsonl -o ''", 2, "the name of a file is empty"),
    ],
)
def test_streams_that_are_not_there(tmp_path: Path, command: str, code: int, told: str) -> None:
    (tmp_path / "in.jsonl").write_bytes(SAMPLE.read_bytes())
    ran = shell(tmp_path, command)
    assert ran.returncode == code, ran.stderr
    assert told.encode() in ran.stderr
    assert b"Traceback" not in ran.stderr + ran.stdout
    assert b"Exception ignored" not in ran.stderr
    assert len(ran.stderr.splitlines()) == (1 if told else 0)


ODD = st.sampled_from(
    [
        *(
            "",
            "-",
            "--",
            ".",
            "/dev/null",
            "..",
            "nowhere.jsonl",
            "a\0b",
            "\ud800",
            "x" * 5000,
            "in.jsonl",
        ),
        *("-o", "--out", "--text-column", "--similarity", "nan", "-1", "1e999", "--radius", "k"),
        *("--recipe", "--config", "--keep", "newest:", "--bits", "7", "--json", "--lines", "-q"),
        *("--removed", "--report", "--in", "seen.neardup", "--seen", "out.csv", "-.csv", "stats"),
        *("add", "check", "create", "export", "--text", "--threads", "0", "--no-guard", "--strict"),
    ]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(COMMANDS), st.lists(ODD, max_size=6))
def test_invalid_arguments_are_reported_in_one_line(
    tmp_path: Path, run: Callable[..., Any], command: str, odd: list[str]
) -> None:
    before = Path.cwd()
    # Above this folder are only files of this test, none of others.
    folder = tmp_path / "here"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    try:
        (folder / "in.jsonl").write_text('{"id": "a", "text": "one two three"}\n')
        ran = run(command, *odd)
    finally:
        os.chdir(before)
    assert ran.code in (0, 1, 2, 3)
    for sign in ("Traceback", "unexpected ", "NoneType", "PosixPath", "object has no"):
        assert sign not in ran.err.replace("unexpected extra", ""), (command, odd, ran.err)
    # A group of commands without one shows which there are.
    if ran.code == 2 and not ran.err.startswith("Usage: "):
        assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("kept", [False, True])
def test_a_stopped_job_tidies_up(tmp_path: Path, sent: signal.Signals, kept: bool) -> None:
    pipe = tmp_path / "in.jsonl"
    os.mkfifo(pipe)
    out = tmp_path / "out.csv"
    out.write_bytes(b"of before\n")
    arguments = ["cluster", pipe, "-o", out, *(["--work-dir", tmp_path / "work"] if kept else [])]
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", *map(str, arguments)], stderr=subprocess.PIPE
    )
    with pipe.open("wb") as file:
        file.write(SAMPLE.read_bytes())
        file.flush()
        limit = time.monotonic() + 60
        # Its work folder has more than the lock; a folder with nothing to go on from is removed.
        while not any(len(os.listdir(each)) > 1 for each in tmp_path.iterdir() if each.is_dir()):
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.send_signal(sent)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + sent, told
    assert len(told.splitlines()) == 1
    assert b"nothing was written" in told
    assert (b"--resume" in told) == kept
    left = ["in.jsonl", "out.csv", *(["work"] if kept else [])]
    assert sorted(os.listdir(tmp_path)) == left
    assert out.read_bytes() == b"of before\n"


def test_nohup_is_heeded(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from neardup.cli import streams\n"
        "streams.handle_signals()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('alive')"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert ran.stdout == b"alive\n"
