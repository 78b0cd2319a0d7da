"""What counts as near: a similarity to be verified, or a radius in bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from neardup._util.numbers import check_fraction, check_int
from neardup.text.comparison import DEFAULT_SIMILARITY

Linkage = Literal["connected", "star"]

DEFAULT_RECALL = 0.99


@dataclass(frozen=True)
class Question:
    """When two texts are near-duplicates. The answer depends on nothing else: not on the other
    texts, not on the machine.

    similarity  the cosine they must reach, exactly; None: the radius decides
    radius      the bits in which their fingerprints may differ; None: the similarity decides
    recall      the share of pairs of just that similarity, or within the radius, to be found
    """

    similarity: float | None
    radius: int | None
    recall: float


def question(
    similarity: float | None, radius: int | None, recall: float | None, *, bits: int
) -> Question:
    """What the user asked for, checked; `bits` is the width of a fingerprint."""
    if similarity is not None and radius is not None:
        raise ValueError("similarity and radius exclude each other; give one of them")
    if radius is not None:
        wanted = check_fraction("recall", 1.0 if recall is None else recall)
        return Question(None, check_int("radius", radius, 0, bits), wanted)
    cosine = check_fraction("similarity", DEFAULT_SIMILARITY if similarity is None else similarity)
    return Question(
        cosine, None, check_fraction("recall", DEFAULT_RECALL if recall is None else recall)
    )


def check_linkage(linkage: object) -> None:
    """Refuses an unknown linkage."""
    if linkage not in get_args(Linkage):
        raise ValueError(f'linkage is {linkage!r}; it must be "connected" or "star"')
