"""Fingerprints → clusters of near-duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from neardup import _core
from neardup.near.pairs import join_arguments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Linkage = Literal["connected", "star"]


def clusters(
    fingerprints: Any,
    radius: int = 3,
    *,
    linkage: Linkage = "connected",
    recall: float = 1.0,
    threads: int | None = None,
) -> NDArray[np.int64]:
    """For each row the number of the first row of its cluster, without a list of all pairs.

    Rows whose label is their own number are the ones to keep when duplicates are dropped. A row
    without a signal is alone.

    linkage  "connected": rows joined by a chain of pairs, so the ends of a chain may be unlike.
             "star": rows in order; each joins the earliest representative within the radius, or
             becomes one: no row is further than `radius` from its label
    recall   as for `pairs`

    >>> clusters([0b0000, 0b0001, 0b0011, 0b1111000], radius=1).tolist()
    [0, 0, 0, 3]
    >>> clusters([0b0000, 0b0001, 0b0011, 0b1111000], radius=1, linkage="star").tolist()
    [0, 0, 2, 3]
    """
    codes, settings = join_arguments(fingerprints, radius, recall, None, threads)
    check_linkage(linkage)
    return _core.clusters(codes.values, codes.signal, settings, linkage, threads)


def check_linkage(linkage: object) -> None:
    """Refuses an unknown linkage."""
    if linkage not in get_args(Linkage):
        raise ValueError(f'linkage is {linkage!r}; it must be "connected" or "star"')


def numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers the clusters from 0, in the order in which they first occur; the number is at the
    row of the label.

    >>> import numpy as np
    >>> labels = np.array([2, 1, 2, 4, 4])
    >>> numbered(labels)[labels].tolist()
    [0, 1, 0, 2, 2]
    """
    import numpy as np

    firsts = np.full(len(labels), len(labels), dtype=np.int64)
    np.minimum.at(firsts, labels, np.arange(len(labels)))
    roots = np.flatnonzero(firsts < len(labels))
    numbers = np.zeros(len(labels), dtype=np.int64)
    numbers[roots[np.argsort(firsts[roots])]] = np.arange(len(roots))
    return numbers
