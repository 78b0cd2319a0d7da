"""The command line: one file a command. Imports wait until the command runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    0 done, 1 failed, 2 wrong usage, 3 done in part, 130 interrupted.
    """
    try:
        # Here, so that Ctrl-C is answered while modules are still being loaded.
        from neardup.cli.app import invoke

        code = invoke(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough.
        _silence()
        return 0
    except KeyboardInterrupt as error:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
            print(f"neardup: interrupted; {str(error) or 'nothing was written'}", file=sys.stderr)
            return 130
        _silence()
        return 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The `neardup` command."""
    # As an exception, so that temporary files are removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(run(arguments))


def _silence() -> None:
    """Keep the interpreter from complaining about closed pipes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
