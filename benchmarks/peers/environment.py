"""The virtual environment of the peers, and a process in it that runs and times them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
VENV = HERE.parents[1] / ".venv-peers"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = HERE / "requirements.txt"
# Apart, since simhash-pybind and PyPI simhash are both imported as `simhash`.
APART = VENV / "apart"
REQUIREMENTS_APART = HERE / "requirements-apart.txt"


def install() -> None:
    """Create the environment unless it matches the requirements already."""
    made = VENV / "made"
    files = (REQUIREMENTS, REQUIREMENTS_APART)
    wanted = "".join(path.read_text(encoding="utf-8") for path in files)
    if made.exists() and made.read_text(encoding="utf-8") == wanted:
        return
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([PYTHON, *pip, "-r", REQUIREMENTS], check=True)
        apart: list[str | Path] = ["--no-deps", "--upgrade", "--target", APART]
        subprocess.run([PYTHON, *pip, *apart, "-r", REQUIREMENTS_APART], check=True)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{VENV.name} could not be created: {error}; check the connection to PyPI")
    made.write_text(wanted, encoding="utf-8")


def versions() -> list[str]:
    """Return the pinned names and versions."""
    files = (REQUIREMENTS, REQUIREMENTS_APART)
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    return [line.replace("==", " ") for line in lines if line and not line.startswith("#")]


class PeerProcess:
    """A process of the peers' Python, fed with requests in lines of JSON."""

    def __init__(self, script: str = "fingerprint_libraries.py") -> None:
        self.script = script

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [PYTHON, "-W", "ignore", HERE / self.script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def run(self, task: str, inputs: list[Any]) -> tuple[float, list[Any]]:
        """Return the CPU seconds of a task and the inputs it could process."""
        answer = self.ask(task, inputs=inputs)
        left_out = set(answer["left_out"])
        return answer["seconds"], [x for at, x in enumerate(inputs) if at not in left_out]

    def ask(self, task: str, **request: Any) -> dict[str, Any]:
        """Send a request and return the response."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps({"task": task, **request}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process in {VENV.name} stopped at task {task!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer
