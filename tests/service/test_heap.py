"""A process that serves gives memory back."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Blocks of megabytes come and go among small ones that stay, as when segments are written. The
# first tells glibc by its size which ones to keep.
PROGRAM = """
import ctypes, sys
from neardup.service import server

def own():
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) / 1024

if sys.argv[1] == "small":
    server.tune_malloc()
malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
malloc.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
free(malloc(24 << 20))
before = own()
blocks = []
for _ in range(20):
    blocks.append(malloc(8 << 20))
    ctypes.memset(blocks[-1], 1, 8 << 20)
    malloc(200_000)
for block in blocks:
    free(block)
print(own() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_large_blocks_go_back_to_the_system() -> None:
    grown = {}
    for how in ("plain", "small"):
        command = [sys.executable, "-c", PROGRAM, how]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        grown[how] = float(done.stdout)
    assert grown["small"] < 5 < 50 < grown["plain"]
