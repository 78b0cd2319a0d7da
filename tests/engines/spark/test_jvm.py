"""The same answers on Spark with its JVM: classic, and behind Spark Connect."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent.parent
PYTHON = ROOT / ".venv-spark" / "bin" / "python"


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_the_same_answers(kind: str) -> None:
    if shutil.which("java") is None:
        pytest.skip("Spark with its JVM is not tried: there is no java; install Java 17 or newer")
    if not PYTHON.exists():
        pytest.skip("Spark with its JVM is not tried: make .venv-spark/made sets it up")
    found = subprocess.run(
        [PYTHON, "-W", "ignore", ROOT / "tests" / "spark_on_jvm.py", kind],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT / "tests")]),
        },
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert found.returncode == 0, found.stderr[-3000:]
    assert found.stdout.splitlines()[-1] == f"all of {kind}"
