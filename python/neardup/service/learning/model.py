"""How far an edited copy is: the model of independent bits, and what was measured.

Charikar, "Similarity estimation techniques from rounding algorithms" (2002): a bit of two
fingerprints differs with the chance arccos(s) / π, s the cosine of the two texts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from neardup.service.learning.steps import WIDTHS, angle_share
from neardup.service.learning.words import Refused

# In thousandths of the words, so that the steps are exact.
SHARES = tuple(step / 1000 for step in range(0, 301, 5))
MAX_RADIUS = 32

# Recall on 2,500 English newsgroup posts, words weighted 1 + ln tf, 64 bits: the share of copies
# within the radius, by the share of words edited.
MEASURED: dict[int, dict[float, float]] = {
    3: {0.02: 0.74, 0.05: 0.45, 0.10: 0.19},
    6: {0.02: 0.98, 0.05: 0.89, 0.10: 0.66},
}
MEASURED_BITS = 64


@dataclass(frozen=True, slots=True)
class Point:
    """What the model says of copies with a share of their words edited.

    within  the chance of a distance of at most 0, 1, 2 … bits
    """

    share: float
    cosine: float
    expected: float
    deviation: float
    within: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "share": self.share,
            "cosine": self.cosine,
            "expected": self.expected,
            "deviation": self.deviation,
            "within": list(self.within),
        }


def point(share: float, bits: int) -> Point:
    """The model at one share."""
    cosine = edited_cosine(share)
    chance = angle_share(cosine)
    return Point(
        share=share,
        cosine=cosine,
        expected=bits * chance,
        deviation=math.sqrt(bits * chance * (1 - chance)),
        within=within(bits, chance),
    )


def points(bits: int) -> list[Point]:
    """The model over all shares it is drawn for."""
    if bits not in WIDTHS:
        raise Refused("refused.bits", bits=bits, known=", ".join(map(str, WIDTHS)))
    return [point(share, bits) for share in SHARES]


def edited_cosine(share: float) -> float:
    """The cosine to a copy whose words are all different and weigh the same.

    A third of the edits deletes, a third replaces, a third inserts: two thirds of the edited
    words are gone, and the copy is as long as before.
    """
    return 1 - 2 * share / 3


def within(bits: int, chance: float) -> tuple[float, ...]:
    """The chance that at most k of the bits differ, for k from 0 to the greatest radius drawn."""
    total, found = 0.0, []
    for k in range(min(MAX_RADIUS, bits) + 1):
        total += math.comb(bits, k) * chance**k * (1 - chance) ** (bits - k)
        found.append(min(total, 1.0))
    return tuple(found)


def measured(bits: int, radius: int) -> dict[float, float]:
    """What was measured at these settings; nothing for others."""
    return MEASURED.get(radius, {}) if bits == MEASURED_BITS else {}
