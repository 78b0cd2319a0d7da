"""Two texts side by side: figures, fingerprints bit by bit, passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.reports.comparison import Compared, PairView, pair_view
from neardup.text.fingerprint import fingerprint
from neardup.text.similarity import Comparison, compare

if TYPE_CHECKING:
    from neardup.reports.catalogue import Words
    from neardup.service.pages.text_cache import Given
    from neardup.text.recipe import Recipe

# Seconds for the passages: someone waits.
PATIENCE = 5.0
GROUP = 8


@dataclass(frozen=True)
class Bit:
    """A bit of both fingerprints; `place` counts from the highest, as they are written."""

    left: str
    right: str
    place: int

    @property
    def differs(self) -> bool:
        return self.left != self.right


@dataclass(frozen=True)
class Strip:
    """Both fingerprints in groups of eight bits, the highest first."""

    bits: int
    codes: tuple[str, str]
    groups: Sequence[Sequence[Bit]]

    @property
    def differing(self) -> list[int]:
        return [bit.place for group in self.groups for bit in group if bit.differs]


@dataclass(frozen=True)
class Both:
    """Two texts compared; `codes` are their fingerprints, None for one without a signal."""

    texts: tuple[Given, Given]
    found: Comparison
    codes: tuple[int | None, int | None]

    def strip(self) -> Strip | None:
        left, right = self.codes
        if left is None or right is None:
            return None
        bits = self.found.recipe.bits
        rows = [f"{code:0{bits}b}" for code in (left, right)]
        pairs = [Bit(a, b, at) for at, (a, b) in enumerate(zip(*rows, strict=True), 1)]
        groups = [pairs[at : at + GROUP] for at in range(0, bits, GROUP)]
        return Strip(bits, (_hex(left, bits), _hex(right, bits)), groups)

    def view(self, words: Words, names: tuple[str, str]) -> PairView:
        found = self.found
        compared = Compared(
            names=names,
            texts=(self.texts[0].text, self.texts[1].text),
            passages=found.passages,
            coverage=(found.coverage_left, found.coverage_right),
            similarity=found.similarity,
            distance=found.distance,
            bits=found.recipe.bits,
            verdict=found.verdict,
            threshold=found.threshold,
            coarse=found.coarse,
        )
        return pair_view(compared, words)

    def as_dict(self) -> dict[str, Any]:
        found, bits = self.found, self.found.recipe.bits
        strip = self.strip()
        return {
            "names": [text.name or None for text in self.texts],
            "fingerprints": [None if code is None else _hex(code, bits) for code in self.codes],
            "bits": bits,
            "differing_bits": None if strip is None else strip.differing,
            "distance": found.distance,
            "similarity": found.similarity,
            "threshold": found.threshold,
            "verdict": found.verdict,
            "coverage": [found.coverage_left, found.coverage_right],
            "containment": [found.containment_left, found.containment_right],
            "longest": found.longest,
            "coarse": found.coarse,
            "passages": [vars(passage) for passage in found.passages],
        }


def both(left: Given, right: Given, recipe: Recipe, similarity: float) -> Both:
    """Compares two texts; it blocks."""
    found = compare(left.text, right.text, recipe, similarity=similarity, deadline=PATIENCE)
    codes = fingerprint(left.text, recipe), fingerprint(right.text, recipe)
    return Both((left, right), found, codes)


def _hex(code: int, bits: int) -> str:
    return f"{code:0{bits // 4}x}"
