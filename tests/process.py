"""Code run in a process of its own."""

import subprocess
import sys
import textwrap


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
