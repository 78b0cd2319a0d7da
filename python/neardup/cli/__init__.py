"""The command line: one file a command. Imports wait until the command runs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from neardup.cli import streams
from neardup.cli import streams as signals


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    0 done, 1 failed, 2 wrong usage, 3 done in part, 128 + n stopped by signal n (130: Ctrl-C).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough.
        streams.silence()
        return 0
    except KeyboardInterrupt as error:
        from neardup.cli import console

        console.error(f"{signals.name()}; {str(error) or 'nothing was written'}")
        streams.silence()
        return signals.code()
    except Exception as error:
        from neardup.cli import console

        console.unexpected(error)
        streams.silence()
        return 1


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:
        # Scripts ask for it often: it is answered before anything else is loaded.
        from neardup._core import __version__

        print(f"neardup {__version__}")
        return 0
    # Here, so that Ctrl-C is answered while modules are still being loaded.
    from neardup.cli.app import invoke

    return invoke(arguments)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The `neardup` command."""
    # NumPy starts a thread a core for algebra, which nothing here needs and which spin for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What commands make by the million has no cycles: to look for some took a tenth of the time.
    gc.set_threshold(50_000, 20, 50)
    streams.mend()
    signals.listen()
    code = run(arguments)
    if code > signals.BASE and "pysail" in sys.modules:
        # All is tidied up; a server in this process would hold the exit until its tasks are done.
        os._exit(code)
    sys.exit(code)
