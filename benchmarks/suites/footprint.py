"""Peak memory of fingerprints, and start-up of the command, each in a fresh process.

The task "grow TEXTS" prints the growth of memory for that many texts as JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import neardup as nd
from measure import Row, alone, seconds

# A column repeats one chunk, so that its length costs no memory.
CHUNK = 100_000
WORDS, LETTERS = 12, 8
FEW, MANY = 10 * CHUNK, 40 * CHUNK
ROOM = 32 << 20
START_SECONDS = 0.2


def memory() -> Iterator[Row]:
    """Measure memory beyond the result, for short texts: by far the hardest case."""
    for texts in (FEW, MANY):
        found = alone(__name__, "grow", str(texts))
        growth, result = found["growth"], found["result"]
        yield Row(
            f"peak memory for {texts:,} short texts",
            f"{growth / 1e6:.0f} MB",
            f"the result: {result / 1e6:.0f} MB",
            growth / result,
            f"≤ result + {ROOM >> 20} MiB",
            growth <= result + ROOM,
        )


def startup() -> Iterator[Row]:
    neardup = _best_of_ten([Path(sys.executable).parent / "neardup", "--help"])
    python = _best_of_ten([sys.executable, "-c", "pass"])
    yield Row(
        "start-up: neardup --help",
        f"{neardup * 1e3:.0f} ms",
        f"python -c pass: {python * 1e3:.0f} ms",
        neardup / python,
        f"≤ {START_SECONDS * 1e3:.0f} ms",
        neardup <= START_SECONDS,
    )


def _best_of_ten(command: list[str | Path]) -> float:
    run = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
    return min(seconds(run) for _ in range(10))


def peak() -> int:
    """Return the peak resident bytes of this process."""
    # getrusage would include the parent of this process.
    return _status("VmHWM") or _peak_of_all()


def resident() -> int:
    """Return the resident bytes of this process, or the peak where there is no /proc."""
    return _status("VmRSS") or _peak_of_all()


def _status(field: str) -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    line = next(x for x in status.read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) * 1024


def _peak_of_all() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _column(texts: int) -> pa.ChunkedArray:
    """Build a column in place: memory freed before the measurement would hide growth.

    Every word of the chunk is new, so that a table of words that only grows would show.
    """
    width = WORDS * (LETTERS + 1)
    characters = np.random.default_rng(3).integers(97, 123, CHUNK * width, dtype=np.uint8)
    characters[LETTERS :: LETTERS + 1] = ord(" ")
    offsets = np.arange(0, CHUNK * width + 1, width, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(characters)]
    chunk = pa.Array.from_buffers(pa.string(), CHUNK, buffers)
    return pa.chunked_array([chunk] * (texts // CHUNK))


def _grow(texts: int) -> dict[str, int]:
    column = _column(texts)
    nd.fingerprints(["some text to warm up with", "and another one"])
    before = peak()
    found = nd.fingerprints(column)
    growth, result = peak() - before, found.values.nbytes + found.signal.nbytes
    if growth < result / 2:
        raise RuntimeError(f"memory grew by {growth} bytes, but the result alone has {result}")
    return {"growth": growth, "result": result}


if __name__ == "__main__":
    assert sys.argv[1] == "grow"
    print(json.dumps(_grow(int(sys.argv[2]))))
