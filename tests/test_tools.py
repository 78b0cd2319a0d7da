"""What the Makefile and the workflow call: it says what is missing instead of failing somewhere."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def stub(folder: Path, name: str, body: str = "") -> None:
    file = folder / name
    file.write_text(f"#!/bin/bash\n{body}\n", "utf-8")
    file.chmod(0o755)


def run(tool: str, *options: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a tool, with nothing but the commands in `path`."""
    environment = os.environ | ({"PATH": str(path)} if path else {})
    command = ["/bin/bash", str(ROOT / ".ci" / tool), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    (tmp_path / "env").symlink_to("/usr/bin/env")
    return tmp_path


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_that_is_there_is_taken(commands: Path, name: str) -> None:
    stub(commands, name)
    stub(commands, "apt-get", "exit 9")
    done = run("browser", path=commands)
    assert (done.returncode, done.stdout) == (0, f"{commands / name}\n")


def test_without_apt_get_it_says_what_to_install(commands: Path) -> None:
    done = run("browser", path=commands)
    assert done.returncode == 1
    assert "install Chromium so that 'chromium' is on the path" in done.stderr


def test_without_root_it_says_what_root_should_do(commands: Path) -> None:
    stub(commands, "apt-get", "exit 9")
    stub(commands, "id", "echo 1000")
    done = run("browser", path=commands)
    assert done.returncode == 1
    assert "needs root: apt-get install chromium" in done.stderr


@pytest.mark.parametrize("user", [0, 1000])
def test_it_is_installed_and_found(commands: Path, user: int) -> None:
    stub(commands, "id", f"echo {user}")
    stub(commands, "sudo", f'echo sudo "$1"; PATH={commands} "$@"')
    wanted = commands / "chromium"
    made = f"printf '#!/bin/bash\\n' >{wanted}; /bin/chmod +x {wanted}"
    stub(commands, "apt-get", f'[ "$1" = update ] || {{ {made}; }}')
    done = run("browser", path=commands)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)
    assert ("sudo" in done.stdout) == (user != 0)


def test_a_tool_that_is_installed_but_not_found_is_reported(commands: Path) -> None:
    stub(commands, "id", "echo 0")
    stub(commands, "apt-get")
    done = run("browser", path=commands)
    assert done.returncode == 1
    assert "there is no such command" in done.stderr


@pytest.mark.parametrize("options", [[], ["no-such.whl"], ["a", "b"]])
def test_try_wants_a_package(options: list[str]) -> None:
    done = run("try", *options)
    assert done.returncode == 2
    assert "usage: .ci/try WHEEL|SDIST" in done.stderr


def test_every_target_of_the_makefile_is_documented() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    # These only see to what the others need.
    targets = set(phony[1].split()) - {"tools", "spark-jvm"}
    assert targets == set(re.findall(r"^make (\w+)", _contributing(), re.MULTILINE))


def _contributing() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text("utf-8")
