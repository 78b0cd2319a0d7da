"""Run code and commands in a process, and list the descendants of one."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path


def run_alone(code: str, *, before: str = "", seconds: float = 60) -> str:
    """Run `before` and `code` in a new interpreter; return what they print."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", before + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash; `neardup` in it is the package under test."""
    line = command.replace("neardup", f"{shlex.quote(sys.executable)} -m neardup", 1)
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, timeout=60, check=False
    )


def children(pid: int) -> list[int]:
    """Return the ids of all descendants of a process."""
    of: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            of.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(entry))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        some = of.get(waiting.pop(), [])
        found += some
        waiting += some
    return found


def command_of(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return ""
