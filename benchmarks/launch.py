"""A command in a process of its own: what it took by the clock and of processors, and its output.

    python benchmarks/launch.py COMMAND …

Prints {"seconds", "core_seconds", "peak", "output"} as JSON and ends with the command's exit code.
It imports nothing large: Linux counts the memory of whoever starts a process to that process's own
peak.
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
    # Known already: nobody is to wait for it again.
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = used.ru_maxrss if sys.platform == "darwin" else used.ru_maxrss * 1024
    # Of all threads, and of the processes it has waited for.
    core = used.ru_utime + used.ru_stime
    found = {"seconds": seconds, "core_seconds": core, "peak": peak, "output": output}
    print(json.dumps(found))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
