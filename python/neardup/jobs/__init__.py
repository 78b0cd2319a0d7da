"""Whole jobs on files: read, match, write, and say what was done."""

from neardup.jobs.check import Checked, CheckOptions, check
from neardup.jobs.cluster import cluster
from neardup.jobs.dedup import dedup
from neardup.jobs.options import (
    NothingReadError,
    Options,
    Progress,
    RefusedError,
    Summary,
    UnreadableError,
)
from neardup.jobs.pairs import pairs

__all__ = [
    "CheckOptions",
    "Checked",
    "NothingReadError",
    "Options",
    "Progress",
    "RefusedError",
    "Summary",
    "UnreadableError",
    "check",
    "cluster",
    "dedup",
    "pairs",
]
