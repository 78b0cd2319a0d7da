"""What counts as near: a similarity to be verified, or a radius in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neardup import _core
from neardup.codes import share, whole
from neardup.pairs import flip_chance
from neardup.similarity import DEFAULT_SIMILARITY

DEFAULT_RECALL = 0.99
# While so few strangers for each text would be compared, the radius may grow beyond what the recall
# asks for: on a small corpus next to nothing is missed.
FREE_CANDIDATES = 0.25
# Strangers differ in somewhat less than half of their bits: common words pull them the same way.
STRANGER_FLIP = 0.45


# Of the share of pairs that may be lost, what each step may lose: beyond the radius, by sampling,
# by bits that are firm and differ all the same.
BEYOND, SAMPLED, FIRM = 0.45, 0.45, 0.1


@dataclass(frozen=True)
class Threshold:
    """When two texts are near-duplicates.

    similarity  the cosine they must reach, exactly; None: the radius alone decides
    radius      bits in which their fingerprints may differ
    recall      the share of such pairs a join has to find
    firm        firm bits in which they may differ; None: not looked at
    """

    similarity: float | None
    radius: int
    recall: float
    firm: int | None = None


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
    firm = quantile(bits, firm_flip_chance(cosine), 1 - loss * FIRM) if loss else None
    return Threshold(cosine, max(reach, free), 1 - loss * SAMPLED, firm)


def firm_flip_chance(cosine: float, steps: int = 1000) -> float:
    """The chance that a bit is firm in both of two texts of this cosine, and differs.

    The votes on a bit are two normal numbers whose correlation is the cosine; the bit is firm where
    a number is more than `_core.FIRM` away from 0.
    """
    if cosine >= 1:
        return 0.0
    edge, spread = _core.FIRM, math.sqrt(1 - cosine * cosine)
    width = 8.0 / steps
    total = 0.0
    for step in range(steps):
        x = edge + (step + 0.5) * width
        below = math.erfc((edge + cosine * x) / spread / math.sqrt(2)) / 2
        total += math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * below * width
    return 2 * total


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
