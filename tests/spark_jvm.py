"""Spark with its JVM, in an environment of its own: pyspark and its client do not go together."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from neardup.engines.spark.session import NoSparkError, java_version

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-spark" / "bin" / "python"


def python() -> str:
    """The Python that has it; skips a test where there is none."""
    try:
        java_version()
    except NoSparkError as error:
        pytest.skip(f"Spark with its JVM is not tried: {error}")
    if not PYTHON.exists():
        pytest.skip("Spark with its JVM is not tried: make .venv-spark/made sets it up")
    return str(PYTHON)


def start(
    arguments: Sequence[object], folder: Path, *, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A command line of neardup beside a JVM, begun."""
    return subprocess.Popen(
        [python(), "-m", "neardup", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def children(pid: int) -> list[int]:
    """All processes that a process has begun, and those that they have."""
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
