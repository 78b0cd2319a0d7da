"""The command as a whole: help, version, start-up, pipes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMANDS = ["fingerprint", "compare", "explain", "recipes"]
START = "from neardup.cli import main; main()"


def test_help_lists_the_commands(run: Callable[..., Any]) -> None:
    for ran in (run("--help"), run("-h"), run()):
        assert ran.code == 0
        for command in COMMANDS:
            assert f"  {command} " in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run: Callable[..., Any], command: str) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: neardup {command} ")
    assert "--json" in ran.out


def test_version(run: Callable[..., Any]) -> None:
    ran = run("--version")
    assert ran.code == 0
    assert ran.out.startswith("neardup ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fingerprnt"], "No such command 'fingerprnt'"),
        (["compare", "--jsn", "a", "b"], "--json"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_typing_errors_are_one_line(
    run: Callable[..., Any], arguments: list[str], message: str
) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1


def test_help_imports_nothing_heavy() -> None:
    """What keeps `neardup --help` under 0.2 s; times themselves depend on the machine."""
    heavy = "{'numpy', 'pyarrow', 'rich', 'pydantic', 'polars', 'pandas', 'jieba'}"
    script = (
        "import sys, neardup.cli as cli\n"
        "assert cli.run(['--help']) == 0\n"
        f"print(sorted({heavy} & sys.modules.keys()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.splitlines()[-1] == "[]"


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
        process.wait(60)


def test_texts_outside_the_locale_are_printed() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", START, "explain", "--text", "自然语言", "--bits", "8"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
        timeout=60,
        check=True,
    )
    assert rb"\u81ea\u7136" in ran.stdout
