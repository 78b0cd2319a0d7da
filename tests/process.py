"""Code run in a process of its own."""

import shlex
import subprocess
import sys
import textwrap
from pathlib import Path


def run_alone(code: str, *, before: str = "", seconds: float = 60) -> str:
    """What `code` prints, run after `before`; fails with its errors if it does not end well."""
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            before + textwrap.dedent(code),
        ],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    """A command line of the shell, with `neardup` in it."""
    line = command.replace("neardup", f"{shlex.quote(sys.executable)} -m neardup", 1)
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, timeout=60, check=False
    )
