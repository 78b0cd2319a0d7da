"""Run Spark with its JVM in .venv-spark: pyspark and pyspark-client exclude each other."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from neardup.engines.spark.session import NoSparkError, java_version

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-spark" / "bin" / "python"


def python() -> str:
    """Return the Python of .venv-spark, or skip the test."""
    try:
        java_version()
    except NoSparkError as error:
        pytest.skip(f"Spark with its JVM is not tried: {error}")
    if not PYTHON.exists():
        pytest.skip("Spark with its JVM is not tried: make .venv-spark/made sets it up")
    return str(PYTHON)


def own_environment() -> dict[str, str]:
    """Return the environment without what Spark's client has set in this process."""
    left = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")
    return {name: value for name, value in os.environ.items() if name not in left}


def start(
    arguments: Sequence[object], folder: Path, *, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a neardup command on Spark with its JVM."""
    return subprocess.Popen(
        [python(), "-m", "neardup", *map(str, arguments)],
        cwd=folder,
        env={**own_environment(), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A session of its own, so that all its children can be killed.
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    """Wait and return both outputs; on timeout kill the process and its children."""
    try:
        return process.communicate(timeout=seconds)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


def run(script: str, *arguments: object, seconds: float = 1800) -> str:
    """Run a script of tests/helpers on Spark with its JVM and return its output."""
    paths = os.pathsep.join([str(ROOT / "python"), str(ROOT / "tests")])
    process = subprocess.Popen(
        [python(), "-W", "ignore", str(ROOT / "tests" / "helpers" / script), *map(str, arguments)],
        env={**own_environment(), "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = ended(process, seconds)
    assert process.returncode == 0, out + err[-3000:]
    return out


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small disk at a folder, or skip the test."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here: it takes root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)
