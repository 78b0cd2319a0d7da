"""The pigeonhole table: fingerprints cut into one block more than bits may differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from neardup.service.learning.steps import Refused

MIN_BITS, MAX_BITS = 4, 64
MAX_STORED = 12
MAX_RADIUS = 7


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A stored fingerprint beside the query.

    blocks   its digits, cut into blocks
    differ   how many bits differ in each block
    """

    digits: str
    blocks: tuple[str, ...]
    differ: tuple[int, ...]

    @property
    def distance(self) -> int:
        return sum(self.differ)

    @property
    def equal(self) -> list[int]:
        """The blocks that are equal, counted from 1."""
        return [at for at, count in enumerate(self.differ, 1) if count == 0]


@dataclass(frozen=True, slots=True)
class Table:
    """Stored fingerprints, a query and a radius; one block more than the radius."""

    query: str
    radius: int
    sizes: tuple[int, ...]
    blocks: tuple[str, ...]
    stored: tuple[BlockEntry, ...]

    @property
    def bits(self) -> int:
        return len(self.query)

    def written(self, *, hexadecimal: bool) -> str:
        """The query as `table` reads it."""
        if not hexadecimal:
            return self.query
        return f"0x{int(self.query, 2):0{self.bits // 4}x}"

    @property
    def looked_at(self) -> list[BlockEntry]:
        """Those with an equal block: the only ones whose bits are counted."""
        return [row for row in self.stored if row.equal]

    @property
    def found(self) -> list[BlockEntry]:
        return [row for row in self.looked_at if row.distance <= self.radius]

    @property
    def fewer(self) -> float:
        """How many times less is looked at than all: 2^m / (m · (k + 1)), m bits a block."""
        return self._saved(self.bits / len(self.sizes))

    @property
    def fewer_twice(self) -> float:
        """The same if the bits outside of an equal block are cut into blocks once more."""
        size = self.bits / len(self.sizes)
        return self.fewer * self._saved((self.bits - size) / len(self.sizes))

    def _saved(self, size: float) -> float:
        return float(2**size / (size * len(self.sizes)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "radius": self.radius,
            "blocks": list(self.blocks),
            "fewer": self.fewer,
            "stored": [
                {
                    "fingerprint": row.digits,
                    "blocks": list(row.blocks),
                    "differ": list(row.differ),
                    "distance": row.distance,
                    "equal": row.equal,
                    "found": row in self.found,
                }
                for row in self.stored
            ],
        }


def table(stored: str, query: str, radius: int, flip: int | None = None) -> Table:
    """The table for lines of fingerprints in binary digits, or hexadecimal ones after 0x."""
    asked = _digits(query)
    if not MIN_BITS <= len(asked) <= MAX_BITS:
        raise Refused("refused.query", n=len(asked), least=MIN_BITS, most=MAX_BITS)
    if not 0 <= radius <= min(MAX_RADIUS, len(asked) - 1):
        most = min(MAX_RADIUS, len(asked) - 1)
        raise Refused("refused.radius", radius=radius, most=most)
    if flip is not None:
        asked = _flipped(asked, flip)
    lines = [_digits(line) for line in stored.split()]
    if len(lines) > MAX_STORED:
        raise Refused("refused.stored", n=len(lines), most=MAX_STORED)
    for line in lines:
        if len(line) != len(asked):
            raise Refused("refused.stored_width", line=line, n=len(line), bits=len(asked))
    sizes = _sizes(len(asked), radius + 1)
    blocks = _cut(asked, sizes)
    rows = []
    for line in lines:
        own = _cut(line, sizes)
        differ = (sum(map(str.__ne__, a, b)) for a, b in zip(own, blocks, strict=True))
        rows.append(BlockEntry(line, own, tuple(differ)))
    return Table(asked, radius, sizes, blocks, tuple(rows))


def _digits(text: str) -> str:
    text = text.strip()
    if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text):
        return f"{int(text, 16):0{4 * (len(text) - 2)}b}"
    if not re.fullmatch(r"[01]+", text):
        raise Refused("refused.digits", text=text[:40])
    return text


def _flipped(digits: str, bit: int) -> str:
    at = len(digits) - 1 - bit
    if not 0 <= at < len(digits):
        raise Refused("refused.flip", bit=bit, most=len(digits) - 1)
    return digits[:at] + ("0" if digits[at] == "1" else "1") + digits[at + 1 :]


def _sizes(bits: int, count: int) -> tuple[int, ...]:
    """Blocks of nearly one size, the larger ones first."""
    least, more = divmod(bits, count)
    return tuple(least + (at < more) for at in range(count))


def _cut(digits: str, sizes: tuple[int, ...]) -> tuple[str, ...]:
    found, at = [], 0
    for size in sizes:
        found.append(digits[at : at + size])
        at += size
    return tuple(found)
