"""What a job did."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

# A share of pairs that no number of a few digits tells from all.
NEARLY_ALL = 0.9995


@dataclass
class Summary:
    """The numbers at the end of a job.

    read         documents read; `reference` of them only to compare with
    unreadable   records that gave none
    no_signal    documents with too few words for a fingerprint
    candidates   pairs that were looked at; `verified` of them by their exact cosine
    pairs        pairs that count
    clusters     clusters of two or more
    kept, removed  documents of the inputs; None where the job keeps and removes nothing
    exact        what was found and is an exact copy: equal, character by character, to the document
                 that is kept, or that stands for its cluster; pairs: pairs of equal texts
    near         all else that was found: near-duplicates
    clustered    cluster: documents in clusters of two or more
    kinds, alone  cluster, captures: clusters of any size, and how many of them have one response
    similarity, radius, recall   what was asked for
    estimated_recall   the share of pairs just above the similarity that was found, estimated from
                 those found; None if there is none
    plan         how pairs were looked for
    weakest      the least similar member of a cluster that chaining has made, if it is less similar
                 to what is kept than was asked for: id, kept, similarity, size
    peak_memory  bytes
    files        what was written
    notes        what was read in another way than one may expect, a sentence each
    """

    job: str
    read: int = 0
    reference: int = 0
    unreadable: int = 0
    no_signal: int = 0
    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    clusters: int = 0
    kept: int | None = None
    removed: int | None = None
    exact: int = 0
    near: int = 0
    clustered: int | None = None
    kinds: int | None = None
    alone: int | None = None
    similarity: float | None = None
    radius: int | None = None
    recall: float = 1.0
    estimated_recall: float | None = None
    recipe: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    weakest: dict[str, Any] | None = None
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what does not apply is left out."""
        found = {name: value for name, value in asdict(self).items() if value is not None}
        return found if self.notes else {x: y for x, y in found.items() if x != "notes"}


def peak_memory() -> int:
    """The most memory this process has had, in bytes; 0 where that cannot be told."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        # Linux; what getrusage tells there may be of the process that started this one.
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
