"""Processes that a process has begun."""

from __future__ import annotations

import os
from pathlib import Path


def children(pid: int) -> list[int]:
    """All processes that a process has begun, and those that they have."""
    of: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            of.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(entry))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        some = of.get(waiting.pop(), [])
        found += some
        waiting += some
    return found


def command_of(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return ""
