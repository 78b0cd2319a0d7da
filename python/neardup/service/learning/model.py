"""How far an edited copy is: the model of independent bits, and what was measured.

Charikar, "Similarity estimation techniques from rounding algorithms" (2002): a bit of two
fingerprints differs with the chance arccos(s) / π, s the cosine of the two texts.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from neardup.service.learning.steps import WIDTHS, Refused, angle_share, recipe_for
from neardup.text.comparison import similarity
from neardup.text.fingerprint import fingerprint, fingerprints

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


# A text of the user's, edited at random, and how far its copies are.

MAX_TEXT = 10_000
LEAST_UNITS = 10
EDITED_SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3)
COPIES = 40

_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
# A word, or a single character where a script has no spaces.
UNIT = re.compile(rf"{_HAN}|(?:(?!{_HAN})\w)+")
_IS_HAN = re.compile(_HAN)
WORDS = (
    *("amber", "basket", "candle", "dragon", "engine", "fabric", "garlic", "hammer", "insect"),
    *("jungle", "kettle", "ladder", "magnet", "napkin", "orchid", "pepper", "quartz", "rocket"),
    *("saddle", "tunnel", "umpire", "velvet", "walnut", "yogurt", "zipper", "anchor", "bottle"),
    *("cactus", "dinner", "eleven", "fossil", "guitar", "helmet", "island", "jacket", "kitten"),
)
CHARACTERS = "琴棋书画酒花茶竹松鹤鹿鱼舟桥塔钟鼓笛剑弓盾灯烛炉镜梳扇伞帆锚砚墨毫笺帘席枕毯瓶盏"


@dataclass(frozen=True, slots=True)
class Edited:
    """Copies of a text with a share of it edited.

    cosine     the mean of the exact cosines with the text
    expected   the mean of what the cosines let expect, bits · arccos(s) / π
    distances  how many copies are at each distance that occurs
    """

    share: float
    copies: int
    cosine: float
    expected: float
    mean: float
    deviation: float
    distances: dict[int, int]

    def within(self, radius: int) -> float:
        """The share of copies within a radius."""
        near = sum(count for distance, count in self.distances.items() if distance <= radius)
        return near / self.copies

    def to_dict(self) -> dict[str, Any]:
        return {
            "share": self.share,
            "copies": self.copies,
            "cosine": self.cosine,
            "expected": self.expected,
            "mean": self.mean,
            "deviation": self.deviation,
            "distances": [[k, self.distances[k]] for k in sorted(self.distances)],
        }


def edited(text: str, share: float, seed: object) -> str:
    """The text with a share of its words deleted, replaced or preceded by another one."""
    dice = random.Random(f"{seed}")
    units = [(found.start(), found.end()) for found in UNIT.finditer(text)]
    chosen = set(dice.sample(range(len(units)), round(share * len(units))))
    parts, last = [], 0
    for at, (start, end) in enumerate(units):
        if at not in chosen:
            continue
        word, han = text[start:end], bool(_IS_HAN.match(text[start:end]))
        foreign = dice.choice(CHARACTERS) if han else dice.choice(WORDS)
        how = dice.randrange(3)
        new = "" if how == 0 else foreign if how == 1 else foreign + ("" if han else " ") + word
        parts += [text[last:start], new]
        last = end
    return "".join([*parts, text[last:]])


def curve(text: str, recipe: str, bits: int, seed: int) -> list[Edited]:
    """How far copies of a text are, for more and more of it edited."""
    if len(text) > MAX_TEXT:
        raise Refused("refused.own", n=len(text), most=MAX_TEXT)
    units = sum(1 for _ in UNIT.finditer(text))
    if units < LEAST_UNITS:
        raise Refused("refused.few", n=units, least=LEAST_UNITS)
    chosen = recipe_for(recipe, bits, by_hand=False)
    original = fingerprint(text, chosen)
    if original is None:
        raise Refused("refused.signal", recipe=recipe)
    found = []
    for share in EDITED_SHARES:
        copies = [edited(text, share, f"{seed} {share} {at}") for at in range(COPIES)]
        # A copy without a signal has no fingerprint and is found by nobody.
        codes = list(fingerprints(copies, chosen, threads=1))
        distances = [bits if code is None else (code ^ original).bit_count() for code in codes]
        cosines = [similarity(text, copy, chosen) for copy in copies]
        mean = sum(distances) / COPIES
        found.append(
            Edited(
                share=share,
                copies=COPIES,
                cosine=sum(cosines) / COPIES,
                expected=sum(bits * angle_share(cosine) for cosine in cosines) / COPIES,
                mean=mean,
                deviation=math.sqrt(sum((d - mean) ** 2 for d in distances) / COPIES),
                distances=dict(Counter(distances)),
            )
        )
    return found
