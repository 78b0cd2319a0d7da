"""Lessons on the radius: how blocks find all fingerprints within it, and which copies it misses.

`block_table` cuts fingerprints into radius + 1 blocks: fingerprints within the radius agree in at
least one of them (pigeonhole principle), and within it in a block of the other bits. `model_point`
gives the distance of edited copies if bits are independent: by Charikar, "Similarity estimation
techniques from rounding algorithms" (2002), a bit of two fingerprints differs with probability
arccos(s) / π, s the cosine of the two texts.
`edit_curve` edits a text at random and measures its copies.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from neardup.service.learning.steps import WIDTHS, LessonError, angle_share, recipe_for
from neardup.text.comparison import similarity
from neardup.text.fingerprint import fingerprint, fingerprints

MIN_BLOCK_BITS, MAX_BLOCK_BITS = 4, 64
MAX_STORED = 12
MAX_BLOCK_RADIUS = 7
MAX_LEVELS = 2


@dataclass(frozen=True, slots=True)
class InnerBlocks:
    """The bits outside an equal block, cut into blocks again.

    within  the number of the equal block, from 1
    blocks  the binary digits of the other bits
    differ  the number of differing bits of each
    """

    within: int
    blocks: tuple[str, ...]
    differ: tuple[int, ...]

    @property
    def keys(self) -> list[str]:
        """The numbers of the equal block and of the equal blocks within it."""
        return [f"{self.within}.{at}" for at, count in enumerate(self.differ, 1) if count == 0]


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A stored fingerprint compared with the query.

    blocks   its binary digits, cut into blocks
    differ   the number of differing bits of each block
    inner    the second level of each equal block; None if there is one level
    """

    digits: str
    blocks: tuple[str, ...]
    differ: tuple[int, ...]
    inner: tuple[InnerBlocks, ...] | None = None

    @property
    def distance(self) -> int:
        return sum(self.differ)

    @property
    def equal(self) -> list[int]:
        """The numbers of the equal blocks, from 1."""
        return [at for at, count in enumerate(self.differ, 1) if count == 0]

    @property
    def keys(self) -> list[str]:
        """The tables that find it, by number; "2.3" is the third table within block 2."""
        if self.inner is None:
            return [str(at) for at in self.equal]
        return [key for inner in self.inner for key in inner.keys]


@dataclass(frozen=True, slots=True)
class BlockTable:
    """Stored fingerprints and a query, cut into radius + 1 blocks; with two levels, twice."""

    query: str
    radius: int
    sizes: tuple[int, ...]
    blocks: tuple[str, ...]
    stored: tuple[BlockEntry, ...]
    levels: int = 1

    @property
    def bits(self) -> int:
        return len(self.query)

    def format_query(self, *, hexadecimal: bool) -> str:
        """Return the query as `block_table` reads it."""
        if not hexadecimal:
            return self.query
        return f"0x{int(self.query, 2):0{self.bits // 4}x}"

    @property
    def candidates(self) -> list[BlockEntry]:
        """The candidates: fingerprints with an equal block in each level."""
        return [row for row in self.stored if row.keys]

    @property
    def near(self) -> list[BlockEntry]:
        """The candidates within the radius."""
        return [row for row in self.candidates if row.distance <= self.radius]

    @property
    def fewer(self) -> float:
        """The factor by which a search is shorter: 2^m / (m · (k + 1)), m bits a block."""
        return self._saved(self.bits / len(self.sizes))

    @property
    def fewer_twice(self) -> float:
        """The factor if the other bits are cut into blocks once more."""
        size = self.bits / len(self.sizes)
        return self.fewer * self._saved((self.bits - size) / len(self.sizes))

    @property
    def key_twice(self) -> float:
        """The bits of a key of two levels."""
        size = self.bits / len(self.sizes)
        return size + (self.bits - size) / len(self.sizes)

    def _saved(self, size: float) -> float:
        return float(2**size / (size * len(self.sizes)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "radius": self.radius,
            "levels": self.levels,
            "blocks": list(self.blocks),
            "fewer": self.fewer,
            "stored": [
                {
                    "fingerprint": row.digits,
                    "blocks": list(row.blocks),
                    "differ": list(row.differ),
                    "distance": row.distance,
                    "equal": row.equal,
                    "keys": row.keys,
                    "found": row in self.near,
                }
                for row in self.stored
            ],
        }


def block_table(
    stored: str, query: str, radius: int, flip: int | None = None, levels: int = 1
) -> BlockTable:
    """Return the table of fingerprints in binary digits, or in hexadecimal digits after 0x.

    `stored` has one a line; `flip` is a bit of the query to flip. With two `levels` the bits
    outside an equal block are cut into radius + 1 blocks again.
    """
    digits = _parse_digits(query)
    if not MIN_BLOCK_BITS <= len(digits) <= MAX_BLOCK_BITS:
        raise LessonError("refused.query", n=len(digits), least=MIN_BLOCK_BITS, most=MAX_BLOCK_BITS)
    if not 0 <= radius <= min(MAX_BLOCK_RADIUS, len(digits) - 1):
        most = min(MAX_BLOCK_RADIUS, len(digits) - 1)
        raise LessonError("refused.radius", radius=radius, most=most)
    if flip is not None:
        digits = _flip_bit(digits, flip)
    lines = [_parse_digits(line) for line in stored.split()]
    if len(lines) > MAX_STORED:
        raise LessonError("refused.stored", n=len(lines), most=MAX_STORED)
    for line in lines:
        if len(line) != len(digits):
            raise LessonError("refused.stored_width", line=line, n=len(line), bits=len(digits))
    sizes = _block_sizes(len(digits), radius + 1)
    blocks = _cut_blocks(digits, sizes)
    rows = []
    for line in lines:
        own = _cut_blocks(line, sizes)
        row = BlockEntry(line, own, _count_differing(own, blocks))
        if levels == MAX_LEVELS:
            row = replace(row, inner=tuple(_inner_blocks(own, blocks, at) for at in row.equal))
        rows.append(row)
    return BlockTable(digits, radius, sizes, blocks, tuple(rows), levels)


def _inner_blocks(own: tuple[str, ...], query: tuple[str, ...], within: int) -> InnerBlocks:
    rest, other = ("".join(x[: within - 1] + x[within:]) for x in (own, query))
    sizes = _block_sizes(len(rest), len(own))
    blocks = _cut_blocks(rest, sizes)
    return InnerBlocks(within, blocks, _count_differing(blocks, _cut_blocks(other, sizes)))


def _count_differing(own: tuple[str, ...], other: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(sum(map(str.__ne__, a, b)) for a, b in zip(own, other, strict=True))


def _parse_digits(text: str) -> str:
    text = text.strip()
    if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text):
        return f"{int(text, 16):0{4 * (len(text) - 2)}b}"
    if not re.fullmatch(r"[01]+", text):
        raise LessonError("refused.digits", text=text[:40])
    return text


def _flip_bit(digits: str, bit: int) -> str:
    at = len(digits) - 1 - bit
    if not 0 <= at < len(digits):
        raise LessonError("refused.flip", bit=bit, most=len(digits) - 1)
    return digits[:at] + ("0" if digits[at] == "1" else "1") + digits[at + 1 :]


def _block_sizes(bits: int, count: int) -> tuple[int, ...]:
    """Return sizes of nearly equal blocks, the larger ones first."""
    least, more = divmod(bits, count)
    return tuple(least + (at < more) for at in range(count))


def _cut_blocks(digits: str, sizes: tuple[int, ...]) -> tuple[str, ...]:
    found, at = [], 0
    for size in sizes:
        found.append(digits[at : at + size])
        at += size
    return tuple(found)


# Shares of edited words, from exact thousandths.
SHARES = tuple(step / 1000 for step in range(0, 301, 5))
MAX_PLOT_RADIUS = 32

# Recall on 2,500 English newsgroup posts, words weighted 1 + ln tf, 64 bits: the share of copies
# within the radius, by the share of words edited.
MEASURED: dict[int, dict[float, float]] = {
    3: {0.02: 0.74, 0.05: 0.45, 0.10: 0.19},
    6: {0.02: 0.98, 0.05: 0.89, 0.10: 0.66},
}
MEASURED_BITS = 64


@dataclass(frozen=True, slots=True)
class ModelPoint:
    """The model for copies with a share of their words edited.

    within  the probability of a distance of at most 0, 1, 2 … bits
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


def model_point(share: float, bits: int) -> ModelPoint:
    """Return the model at one share."""
    cosine = edited_cosine(share)
    chance = angle_share(cosine)
    return ModelPoint(
        share=share,
        cosine=cosine,
        expected=bits * chance,
        deviation=math.sqrt(bits * chance * (1 - chance)),
        within=chance_within(bits, chance),
    )


def model_points(bits: int) -> list[ModelPoint]:
    """Return the model at all shares of the chart."""
    if bits not in WIDTHS:
        raise LessonError("refused.bits", bits=bits, known=", ".join(map(str, WIDTHS)))
    return [model_point(share, bits) for share in SHARES]


def edited_cosine(share: float) -> float:
    """Return the cosine to an edited copy of a text of different words of equal weight.

    A third of the edits deletes, a third replaces, a third inserts: two thirds of the edited
    words are gone, and the copy is as long as before.
    """
    return 1 - 2 * share / 3


def chance_within(bits: int, chance: float) -> tuple[float, ...]:
    """Return the probability that at most k bits differ, for k from 0 to `MAX_PLOT_RADIUS`."""
    total, found = 0.0, []
    for k in range(min(MAX_PLOT_RADIUS, bits) + 1):
        total += math.comb(bits, k) * chance**k * (1 - chance) ** (bits - k)
        found.append(min(total, 1.0))
    return tuple(found)


def measured_recall(bits: int, radius: int) -> dict[float, float]:
    """Return the recall measured at these settings, by share; empty if it was not measured."""
    return MEASURED.get(radius, {}) if bits == MEASURED_BITS else {}


MAX_EDITED_TEXT = 10_000
MIN_UNITS = 10
EDITED_SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3)
COPIES = 40

_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
# What is edited: a word, or a single Han character.
UNIT = re.compile(rf"{_HAN}|(?:(?!{_HAN})\w)+")
_IS_HAN = re.compile(_HAN)
OTHER_WORDS = (
    *("amber", "basket", "candle", "dragon", "engine", "fabric", "garlic", "hammer", "insect"),
    *("jungle", "kettle", "ladder", "magnet", "napkin", "orchid", "pepper", "quartz", "rocket"),
    *("saddle", "tunnel", "umpire", "velvet", "walnut", "yogurt", "zipper", "anchor", "bottle"),
    *("cactus", "dinner", "eleven", "fossil", "guitar", "helmet", "island", "jacket", "kitten"),
)
OTHER_CHARACTERS = (
    "琴棋书画酒花茶竹松鹤鹿鱼舟桥塔钟鼓笛剑弓盾灯烛炉镜梳扇伞帆锚砚墨毫笺帘席枕毯瓶盏"
)


@dataclass(frozen=True, slots=True)
class EditedCopies:
    """Measured copies of a text with a share of it edited.

    cosine     mean cosine with the text
    expected   mean distance expected by the cosines, bits · arccos(s) / π
    distances  number of copies by distance
    """

    share: float
    copies: int
    cosine: float
    expected: float
    mean: float
    deviation: float
    distances: dict[int, int]

    def within(self, radius: int) -> float:
        """Return the share of copies within a radius."""
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


def edit_text(text: str, share: float, seed: object) -> str:
    """Return the text with a share of its words deleted, replaced or preceded by another one."""
    dice = random.Random(f"{seed}")
    units = [(found.start(), found.end()) for found in UNIT.finditer(text)]
    chosen = set(dice.sample(range(len(units)), round(share * len(units))))
    parts, last = [], 0
    for at, (start, end) in enumerate(units):
        if at not in chosen:
            continue
        word, han = text[start:end], bool(_IS_HAN.match(text[start:end]))
        other = dice.choice(OTHER_CHARACTERS) if han else dice.choice(OTHER_WORDS)
        how = dice.randrange(3)
        new = "" if how == 0 else other if how == 1 else other + ("" if han else " ") + word
        parts += [text[last:start], new]
        last = end
    return "".join([*parts, text[last:]])


def edit_curve(text: str, recipe: str, bits: int, seed: int) -> list[EditedCopies]:
    """Edit a text at random at each share, `COPIES` times, and measure the copies."""
    if len(text) > MAX_EDITED_TEXT:
        raise LessonError("refused.own", n=len(text), most=MAX_EDITED_TEXT)
    units = sum(1 for _ in UNIT.finditer(text))
    if units < MIN_UNITS:
        raise LessonError("refused.few", n=units, least=MIN_UNITS)
    chosen = recipe_for(recipe, bits, by_hand=False)
    original = fingerprint(text, chosen)
    if original is None:
        raise LessonError("refused.signal", recipe=recipe)
    found = []
    for share in EDITED_SHARES:
        copies = [edit_text(text, share, f"{seed} {share} {at}") for at in range(COPIES)]
        # A copy without a fingerprint is found at no radius.
        codes = list(fingerprints(copies, chosen, threads=1))
        distances = [bits if code is None else (code ^ original).bit_count() for code in codes]
        cosines = [similarity(text, copy, chosen) for copy in copies]
        mean = sum(distances) / COPIES
        found.append(
            EditedCopies(
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
