"""The `neardup` command: one module per command, or a few that belong together.

`main` runs a command line; `app` lists the commands by name; `command` finds the command, calls it,
and turns errors into messages and exit codes. A command is a function made by `command.command`. It
takes groups of options from `options`, reads documents and opens collections through `inputs`,
recognises HTTP captures with `captures`, calls a job or the library, and prints through `console`;
`streams` handles signals and closed or blocked standard streams, `suggestions` knows the names
people try first.

Nothing here decides what is near or how files are read: that is in the packages below. To start
fast, modules import heavy packages inside functions only.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from neardup.cli import streams

__all__ = ["main", "run"]

# Exit codes. UNREADABLE: done, but some input could not be read. 128 + n: stopped by signal n.
DONE, FAILED, USAGE, UNREADABLE = 0, 1, 2, 3


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough.
        streams.silence()
        return DONE
    except KeyboardInterrupt as error:
        from neardup.cli import console

        console.error(f"{streams.signal_name()}; {str(error) or 'nothing was written'}")
        streams.silence()
        return streams.signal_code()
    except Exception as error:
        from neardup.cli import console

        console.unexpected(error)
        streams.silence()
        return FAILED


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:
        # Scripts ask for it often: answered before anything else is imported.
        from neardup._core import __version__

        print(f"neardup {__version__}")
        return DONE
    # Imported here, so that Ctrl-C during the imports ends in one line too.
    from neardup.cli.app import invoke

    return invoke(arguments)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the `neardup` command and exit."""
    # NumPy would start a thread per core for linear algebra, which nothing here needs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Commands allocate objects by the million and hardly any cycles: collecting took 10 % of a run.
    gc.set_threshold(50_000, 20, 50)
    streams.prepare()
    code = run(arguments)
    if code > streams.SIGNAL_BASE and "pysail" in sys.modules:
        # All is cleaned up; a Spark server in this process would delay the exit until it is idle.
        os._exit(code)
    sys.exit(code)
