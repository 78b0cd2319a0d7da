"""How far clusters agree with kinds, and what httpx would have made of the same responses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..capture_files import head

if TYPE_CHECKING:
    from . import Made


@dataclass(frozen=True)
class Agreement:
    """Clusters compared with kinds.

    ari        the adjusted Rand index: 1 if they are the same
    precision  the share of pairs in one cluster that are of one kind
    recall     the share of pairs of one kind that are in one cluster
    clusters   how many there are
    merged     of every cluster that mixes kinds, those kinds and how many of each
    split      of every kind that is in several clusters, how many of it are in which
    """

    ari: float
    precision: float
    recall: float
    clusters: int
    merged: tuple[dict[str, int], ...]
    split: dict[str, tuple[int, ...]]

    @property
    def hidden(self) -> int:
        """Kinds nobody sees who looks at one response a cluster, at best: false merges."""
        return sum(len(kinds) - 1 for kinds in self.merged)

    def __str__(self) -> str:
        return (
            f"ARI {self.ari:.4f}, precision {self.precision:.4f}, recall {self.recall:.4f}, "
            f"{self.clusters} clusters, {len(self.merged)} of them mix kinds (hiding {self.hidden}), "
            f"{len(self.split)} kinds are split"
        )

    def details(self) -> str:
        lines = [f"mixed: {kinds}" for kinds in self.merged]
        lines += [f"split: {kind} {sizes}" for kind, sizes in self.split.items()]
        return "\n".join(lines)


def agreement(kinds: Sequence[str], clusters: Sequence[Hashable]) -> Agreement:
    """Of the kind and the cluster of each response."""
    cells = Counter(zip(clusters, kinds, strict=True))
    by_cluster: dict[Hashable, dict[str, int]] = {}
    by_kind: dict[str, list[int]] = {}
    for (cluster, kind), count in cells.items():
        by_cluster.setdefault(cluster, {})[kind] = count
        by_kind.setdefault(kind, []).append(count)
    both = _pairs(cells.values())
    together, alike = _pairs(Counter(clusters).values()), _pairs(Counter(kinds).values())
    return Agreement(
        ari=float(adjusted_rand_score(kinds, [list(by_cluster).index(x) for x in clusters])),
        precision=both / together if together else 1.0,
        recall=both / alike if alike else 1.0,
        clusters=len(by_cluster),
        merged=tuple(found for found in by_cluster.values() if len(found) > 1),
        split={
            kind: tuple(sorted(sizes, reverse=True))
            for kind, sizes in by_kind.items()
            if len(sizes) > 1
        },
    )


def _pairs(counts: Iterable[int]) -> int:
    return sum(comb(count, 2) for count in counts)


# httpx -fd: the words of the raw response in the 64-bit SimHash of github.com/mfonda/simhash (FNV-1
# of each word, every one counts once a time it is there, a bit is set where the sum is not below
# zero); a response within three bits of one that was let through is a duplicate of it.
_WORD = re.compile(rb"[0-9a-z_']+(?:://[0-9a-z_./]+)?")
_DISTANCE = 3


@lru_cache(maxsize=1 << 20)
def _fnv1(word: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in word:
        value = value * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF ^ byte
    return value


def httpx_fingerprint(raw: bytes) -> int:
    hashes = np.array([_fnv1(word) for word in _WORD.findall(raw.lower())], dtype="<u8")
    ones = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").sum(0)
    bits = 2 * ones.astype(np.int64) >= len(hashes)
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def httpx_clusters(pages: Sequence[Made]) -> list[int]:
    """Which response stands for each: the first seen within the distance, or itself."""
    seen: dict[int, int] = {}
    found = []
    for at, page in enumerate(pages):
        mine = httpx_fingerprint(
            head(page.response.status, page.response.headers) + page.response.body
        )
        near = (who for other, who in seen.items() if (other ^ mine).bit_count() <= _DISTANCE)
        who = next(near, None)
        if who is None:
            who = seen[mine] = at
        found.append(who)
    return found
