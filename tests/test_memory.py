"""Memory does not grow with the texts. Each test runs in a process of its own."""

import sys

import pytest

from helpers.processes import run_alone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


# Megabytes in use now, and at most since the last call of `fresh`.
MEMORY = """
import neardup as nd, gc
def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024
def fresh():
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return status("VmRSS")
"""


def run_measured(code: str) -> str:
    """Runs code in a process whose memory nobody else has touched."""
    return run_alone(code, before=MEMORY)


def test_arrow_is_read_in_place() -> None:
    run_measured("""
        import numpy as np, pyarrow as pa
        line = b"the quick brown fox jumps over the lazy dog again " * 20
        rows = 100_000
        data = pa.py_buffer(np.frombuffer(line, np.uint8).repeat(1).tobytes() * rows)
        bounds = pa.py_buffer((np.arange(rows + 1, dtype=np.int32) * len(line)).tobytes())
        column = pa.StringArray.from_buffers(rows, bounds, data)
        nd.fingerprints(column.slice(0, 10))
        before = fresh()
        found = nd.fingerprints(column)
        grown = status("VmHWM") - before
        assert found.signal.all()
        assert grown < 25, f"{grown} MB for {data.size >> 20} MB of text"
    """)


@pytest.mark.parametrize(
    "make", ["list", "lambda texts: pd.Series(texts, dtype=object)", "pl.Series"]
)
def test_memory_does_not_grow_with_the_texts(make: str) -> None:
    run_measured(f"""
        import pandas as pd
        import polars as pl
        texts = ({make})([f"{{n}} naïve café " + "élan vital ωμέγα " * 60 for n in range(40_000)])
        size = sum(map(len, texts)) >> 19
        gc.collect()
        nd.fingerprints(texts[:10])
        before = fresh()
        found = nd.fingerprints(texts)
        peak, after = status("VmHWM") - before, status("VmRSS") - before
        assert found.signal.all() and size > 50
        # The result is one megabyte, a batch of texts and the workers a few more.
        assert peak < 40, f"{{peak}} MB more at the peak for {{size}} MB of text"
        assert after < 30, f"{{after}} MB more in the end"
    """)


def test_a_text_of_a_hundred_megabytes() -> None:
    run_measured(
        """
        import time
        before = status("VmRSS")
        words = " ".join(f"word{n}" for n in range(100_000))
        ascii = (words + " ") * (100_000_000 // len(words) + 1)
        start = time.monotonic()
        assert nd.fingerprint(ascii) is not None
        chinese = "我爱自然语言处理，" * 4_000_000
        assert nd.fingerprint(chinese) is not None
        seconds = time.monotonic() - start
        assert len(ascii) >= 100_000_000 and len(chinese.encode()) >= 100_000_000
        assert seconds < 20, seconds
        del ascii, chinese
        left = status("VmRSS") - before
        assert left < 60, f"{left} MB are kept"
        """
    )
