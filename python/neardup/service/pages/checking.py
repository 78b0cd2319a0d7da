"""A text against the collection: who is near it, and what of it is there already."""

from __future__ import annotations

import secrets
from collections.abc import Collection as Ids
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.copying.check import check_copying
from neardup.copying.findings import Figures, Finding, Source
from neardup.text.passages import shared

if TYPE_CHECKING:
    from neardup.collection import Collection
    from neardup.service.pages.page_input import Asked
    from neardup.service.state import Service

# Below this similarity nobody is looked for; the larger the collection, the dearer it would be.
FLOORS = ((5_000, 0.3), (50_000, 0.5))
HIGHEST_FLOOR = 0.7
NEAREST = 10
# As many as the API gives at most.
COUNTED = 1_000
# Seconds for a pair of texts: someone waits.
PATIENCE = 2.0
# Without postings of runs on disk all texts are read for the first check; of more than these a
# text is compared with the nearest only.
READ_THROUGH = 200_000
# Where there are no texts: the share of bits in which fingerprints may differ.
BITS_APART = 8


@dataclass(frozen=True)
class Near:
    """A document near the text; `coverage` is the share of the text that is in it, and the share
    of it that is in the text; None where there are no texts."""

    id: str
    similarity: float | None
    distance: int | None
    is_near: bool
    coverage: tuple[float, float] | None

    def as_dict(self) -> dict[str, Any]:
        coverage = self.coverage or (None, None)
        return {
            "id": self.id,
            "similarity": self.similarity,
            "distance": self.distance,
            "near": self.is_near,
            "coverage": coverage[0],
            "coverage_of_document": coverage[1],
        }


@dataclass(frozen=True)
class Checked:
    """What was found.

    nearest   the nearest documents, near or not
    near      how many are near, listed or not; they are counted up to `COUNTED`
    finding   what was copied; None where the collection keeps no texts
    whole     whether passages were looked for in all documents, and not in the nearest only
    off       ids of sources that are left out
    """

    asked: Asked
    similarity: float
    nearest: list[Near]
    near: int
    finding: Finding | None
    whole: bool
    off: frozenset[str]

    @property
    def counted(self) -> Finding | None:
        """The finding without the sources that are left out."""
        return self.finding and self.finding.without(self.off) if self.off else self.finding

    def as_dict(self) -> dict[str, Any]:
        given = self.asked.given
        return {
            "name": given.name or None,
            "characters": len(given.text),
            "similarity": self.similarity,
            "near": self.near,
            "nearest": [each.as_dict() for each in self.nearest],
            "copied": self._copied(),
        }

    def _copied(self) -> dict[str, Any] | None:
        if self.finding is None or self.counted is None:
            return None
        return {
            "compared_with": "all documents" if self.whole else "the nearest documents",
            "words": self.finding.words,
            **_figures(self.counted.figures),
            "by_characters": _figures(self.counted.by_characters),
            "sources": [self._source(each) for each in self.finding.sources],
        }

    def _source(self, source: Source) -> dict[str, Any]:
        return {
            "id": source.id,
            "counts": source.id not in self.off,
            "share": source.share,
            "share_of_source": source.own_share,
            "words": source.words,
            "longest": source.longest,
            "similarity": source.similarity,
            "passages": len(source.passages),
        }


def floor_of(documents: int) -> float:
    """Where the search for the nearest ends, whatever the threshold is."""
    return next((floor for most, floor in FLOORS if documents <= most), HIGHEST_FLOOR)


def check(service: Service, asked: Asked, similarity: float, off: Ids[str]) -> Checked:
    """Everything the page shows; it blocks."""
    collection, text = service.collection, asked.given.text
    if not collection.stores_text:
        return _by_bits(collection, asked, similarity)
    found = collection.check(text, min(floor_of(len(collection)), similarity), n=NEAREST + 1)
    matches = [match for match in found if match.id != asked.id][:NEAREST]
    texts = {match.id: _text(collection, match.id) for match in matches}
    whole = collection.stats().runs or len(collection) <= READ_THROUGH
    against: Any = collection if whole else [*texts.items()]
    # An equal text under an equal id would be taken for the text itself.
    name = asked.id or f"checked-{secrets.token_hex(8)}"
    copying = check_copying([(name, text)], against, deadline=PATIENCE, recipe=collection.recipe)
    finding = copying.findings[0]
    shares = {source.id: (source.share, source.own_share) for source in finding.sources}
    nearest = [
        Near(
            match.id,
            match.similarity,
            match.distance,
            (match.similarity or 0.0) >= similarity,
            shares.get(match.id) or _coverage(text, texts[match.id]),
        )
        for match in matches
    ]
    near = _counted(collection, asked, similarity, nearest)
    return Checked(asked, similarity, nearest, near, finding, whole, frozenset(off))


def _counted(
    collection: Collection, asked: Asked, similarity: float, nearest: Sequence[Near]
) -> int:
    """How many documents are near, as a check of that similarity has it."""
    listed = {each.id for each in nearest if each.is_near}
    if len(listed) < NEAREST:
        return len(listed)
    found = collection.check(asked.given.text, similarity, n=COUNTED + 1)
    return min(COUNTED, len(listed.union(match.id for match in found) - {asked.id}))


def _by_bits(collection: Collection, asked: Asked, similarity: float) -> Checked:
    """Where no texts are kept only fingerprints can be compared."""
    radius = collection.recipe.bits // BITS_APART
    found = collection.check(asked.given.text, radius=radius, n=COUNTED)
    nearest = [Near(match.id, None, match.distance, True, None) for match in found[:NEAREST]]
    return Checked(asked, similarity, nearest, len(found), None, False, frozenset())


def _text(collection: Collection, id_: str) -> str:
    # It may have been removed meanwhile.
    found = collection.get(id_)
    return (found.text if found else None) or ""


def _coverage(text: str, other: str) -> tuple[float, float]:
    found = shared(text, other, deadline=PATIENCE)
    return found.coverage_left, found.coverage_right


def _figures(figures: Figures) -> dict[str, float]:
    return {
        "share": figures.share,
        "unquoted": figures.unquoted,
        "largest": figures.largest,
    }
