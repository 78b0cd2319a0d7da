"""What counts as near: a similarity to be verified, or a radius in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neardup.codes import share, whole
from neardup.pairs import flip_chance
from neardup.similarity import DEFAULT_SIMILARITY

DEFAULT_RECALL = 0.99
# While so few strangers for each text would be compared, the radius may grow beyond what the recall
# asks for: on a small corpus next to nothing is missed.
FREE_CANDIDATES = 0.25
# Strangers differ in somewhat less than half of their bits: common words pull them the same way.
STRANGER_FLIP = 0.45


# Of the share of pairs that may be lost, what each step may lose: beyond the radius, by sampling.
BEYOND, SAMPLED = 0.5, 0.5


@dataclass(frozen=True)
class Threshold:
    """When two texts are near-duplicates.

    similarity  the cosine they must reach, exactly; None: the radius alone decides
    radius      bits in which their fingerprints may differ
    recall      the share of such pairs a join has to find
    """

    similarity: float | None
    radius: int
    recall: float


def threshold(
    similarity: float | None,
    radius: int | None,
    recall: float | None,
    *,
    bits: int,
    rows: int,
) -> Threshold:
    """What the user asked for, made precise for `rows` fingerprints of so many bits.

    With a similarity the radius is such that the given share of pairs of just that similarity is
    found: some are lost beyond the radius, some may be lost by sampling.
    """
    if similarity is not None and radius is not None:
        raise ValueError("similarity and radius exclude each other; give one of them")
    if radius is not None:
        wanted = share("recall", 1.0 if recall is None else recall)
        return Threshold(None, whole("radius", radius, 0, bits), wanted)
    cosine = share("similarity", DEFAULT_SIMILARITY if similarity is None else similarity)
    loss = 1 - share("recall", DEFAULT_RECALL if recall is None else recall)
    reach = quantile(bits, flip_chance(cosine), 1 - loss * BEYOND)
    free = quantile(bits, STRANGER_FLIP, min(1.0, 2 * FREE_CANDIDATES / max(rows, 1)))
    return Threshold(cosine, max(reach, free), 1 - loss * SAMPLED)


def quantile(bits: int, chance: float, probability: float) -> int:
    """The least number that so many of `bits` trials do not exceed, with this probability."""
    if probability >= 1 or chance >= 1:
        return bits
    if chance <= 0:
        return 0
    total = 0.0
    for count in range(bits + 1):
        log = (
            math.lgamma(bits + 1)
            - math.lgamma(count + 1)
            - math.lgamma(bits - count + 1)
            + count * math.log(chance)
            + (bits - count) * math.log1p(-chance)
        )
        total += math.exp(log)
        if total >= probability:
            return count
    return bits
