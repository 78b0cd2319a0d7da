"""Run a command and report its wall-clock time, CPU time, peak memory and output.

    python benchmarks/launch.py COMMAND …

Prints {"seconds", "core_seconds", "peak", "output"} as JSON and exits with the command's exit code.
Imports nothing large: Linux counts the memory of the parent towards the peak of a forked child.
"""

import json
import os
import subprocess
import sys
import time


def main() -> int:
    started = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdout
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    # Set by hand, since wait4 has reaped the process already.
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = used.ru_maxrss if sys.platform == "darwin" else used.ru_maxrss * 1024
    # Covers all threads, and the children it has waited for.
    core = used.ru_utime + used.ru_stime
    found = {"seconds": seconds, "core_seconds": core, "peak": peak, "output": output}
    print(json.dumps(found))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
