"""The command as a whole: help, version, start-up, pipes."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

MODULES = [
    "fingerprint",
    "explain",
    "recipes",
    "jobs",
    "filter",
    "check",
    "index",
    "search",
    "serve",
]
HEAVY = ["numpy", "pyarrow", "rich", "pydantic", "polars", "pandas", "jieba"]
START = "from neardup.cli import main; main()"


def test_version(run: Callable[..., Any]) -> None:
    ran = run("--version")
    assert ran.code == 0
    assert ran.out.startswith("neardup ")


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules a command line has loaded when it is done."""
    script = (
        "import sys, neardup.cli as cli\n"
        f"assert cli.run({list(arguments)!r}) == 0\n"
        "print(*sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(ran.stdout.splitlines()[-1].split())


def test_what_is_not_loaded(tmp_path: Path) -> None:
    """What keeps the start short; times themselves depend on the machine."""
    for name in "ab":
        (tmp_path / name).write_text("the cat sat on the mat\n")
    found = loaded(tmp_path, "--version")
    assert not found & {*HEAVY, "click", "json", "dataclasses", "neardup.text.recipe"}
    for arguments in (["--help"], ["dedup", "--help"], ["index", "--help"]):
        found = loaded(tmp_path, *arguments)
        assert not found & {
            *HEAVY,
            "neardup.text.recipe",
            "neardup.files.reading",
            "neardup.collection",
        }
    found = loaded(tmp_path, "compare", "a", "b")
    assert "neardup.text.comparison" in found
    others = {f"neardup.cli.{name}" for name in MODULES}
    assert not found & {
        *HEAVY,
        *others,
        "neardup.jobs",
        "neardup.collection",
        "neardup.files.writing",
    }


def test_jobs_do_without_pandas(tmp_path: Path) -> None:
    """Arrow loads it unasked where it is installed, which takes as long as all else."""
    answer = b"HTTP/1.1 404 Not Found\r\nServer: nginx\r\nContent-Length: 9\r\n\r\nnot found"
    (tmp_path / "answers.http").write_bytes(answer)
    (tmp_path / "lines.txt").write_text("the cat sat on the mat\na dog lay on the rug\n")
    (tmp_path / "table.csv").write_text("id,text\n1,the cat sat on the mat\n")
    captures = [
        "cluster",
        "answers.http",
        "--as",
        "http",
        "-o",
        "out.jsonl",
        "--kinds",
        "kinds.csv",
    ]
    for arguments in (
        [*captures, "--report", "page.html"],
        ["dedup", "lines.txt", "--lines", "--out", "kept.txt"],
        ["cluster", "table.csv", "-o", "table.jsonl"],
    ):
        assert "pandas" not in loaded(tmp_path, *arguments), arguments[0]


def test_the_package_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "neardup", "--version"], capture_output=True, timeout=60, check=True
    )
    assert ran.stdout.startswith(b"neardup ")


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("alpha beta\n" * 20_000)
    with subprocess.Popen(
        [sys.executable, "-c", START, "fingerprint", "--lines", "--quiet", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.parametrize("arguments", [["--help"], ["recipes"], ["compare", "--text", "a", "b"]])
def test_a_pipe_closed_before_the_first_line(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-c", START, *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, b"")


def waiting(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A run that has begun to write its output and waits for more input."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, "fingerprint", "--lines", "-", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    until = time.monotonic() + 60
    while not list(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    assert len(list(folder.iterdir())) == 1
    # Between the name of the temporary file and the code that removes it are a few instructions.
    time.sleep(0.2)
    return process


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, 130, b"neardup: interrupted; nothing was written\n"),
        (signal.SIGTERM, 143, b"neardup: stopped by SIGTERM; nothing was written\n"),
        (signal.SIGHUP, 129, b"neardup: stopped by SIGHUP; nothing was written\n"),
    ],
)
def test_a_stopped_run_leaves_nothing(
    tmp_path: Path, sent: signal.Signals, code: int, message: bytes
) -> None:
    with waiting(tmp_path, "-o", "out.csv") as process:
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", message)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_after_rows_were_printed(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(*_: object) -> Iterator[dict[str, object]]:
        yield {"id": "a", "fingerprint": None, "signal": False}
        raise KeyboardInterrupt

    monkeypatch.setattr("neardup.cli.fingerprint._rows", rows)
    ran = run("fingerprint", "-")
    assert (ran.code, ran.out) == (130, "a\t-\n")
    assert ran.err == "neardup: interrupted; the printed rows are not all\n"


def test_an_interrupt_while_modules_are_loaded() -> None:
    script = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "from neardup.cli import main\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "main(['--help'])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == 130
    assert ran.stderr == b"neardup: interrupted; nothing was written\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_on_a_terminal(tmp_path: Path, quiet: bool) -> None:
    (tmp_path / "a.txt").write_text("alpha beta\n" * 1234)
    leader, follower = pty.openpty()
    options = ["--quiet"] if quiet else []
    process = subprocess.run(
        [sys.executable, "-c", START, "fingerprint", "--lines", "a.txt", "-o", "o.csv", *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        timeout=60,
        check=True,
    )
    os.set_blocking(leader, False)
    shown = b""
    with suppress(BlockingIOError):
        while part := os.read(leader, 65536):
            shown += part
    os.close(follower)
    os.close(leader)
    assert process.stdout == b""
    if quiet:
        assert shown == b""
    else:
        assert re.search(rb"1,234 documents, [0-9,]+/s", shown)
        assert b"neardup: documents 1,234, without signal 0" in shown


def test_texts_outside_the_locale_are_printed() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", START, "explain", "--text", "自然语言", "--bits", "8"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
        timeout=60,
        check=True,
    )
    assert rb"\u81ea\u7136" in ran.stdout
