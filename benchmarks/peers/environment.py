"""The libraries neardup is measured against: an environment of their own, and a process in it."""

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
# simhash-pybind is imported as `simhash`, like PyPI simhash: only who asks for it finds it.
APART = VENV / "apart"
REQUIREMENTS_APART = HERE / "requirements-apart.txt"


def install() -> None:
    """Makes the environment, unless it has been made from these very requirements."""
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
        sys.exit(f"{VENV.name} could not be made: {error}; it needs PyPI once")
    made.write_text(wanted, encoding="utf-8")


def versions() -> list[str]:
    """What is installed, as pinned."""
    files = (REQUIREMENTS, REQUIREMENTS_APART)
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    return [line.replace("==", " ") for line in lines if line and not line.startswith("#")]


class PeerProcess:
    """A process that runs the other libraries and times them from within."""

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
        """Seconds, and the inputs the library could take."""
        answer = self.ask(task, inputs=inputs)
        left_out = set(answer["left_out"])
        return answer["seconds"], [x for at, x in enumerate(inputs) if at not in left_out]

    def ask(self, task: str, **request: Any) -> dict[str, Any]:
        """What the process answers."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps({"task": task, **request}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process in {VENV.name} stopped at task {task!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer
