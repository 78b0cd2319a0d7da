"""The question of a search: a similarity or a radius, and a recall; purposes; linkages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from neardup._util.numbers import check_fraction, check_int
from neardup.text.comparison import DEFAULT_SIMILARITY
from neardup.text.differences import Aspect, Distinguished, check_distinguish
from neardup.text.recipe import Recipe

# How pairs become clusters: chains of pairs, or each row directly near its representative.
Linkage = Literal["connected", "star"]

DEFAULT_RECALL = 0.99

# Fingerprints of this width are equal by chance for two of 10⁸ texts with a probability of 1 in
# 3,700.
SAFE_BITS = 64


@dataclass(frozen=True)
class Question:
    """The threshold at which two texts are near-duplicates, whatever other texts there are.

    similarity  minimum exact cosine; None for a question by radius
    radius      maximum number of bits in which fingerprints differ; None for one by similarity
    recall      share of pairs to find, of those at the similarity threshold, or within the radius
    distinguish aspects in which near-duplicates must not differ
    fields      whether clusters are split by the fields of templates
    """

    similarity: float | None
    radius: int | None
    recall: float
    distinguish: tuple[Aspect, ...] = ()
    fields: bool = False

    @property
    def all_distinguished(self) -> tuple[Distinguished, ...]:
        """The aspects as a user names them, with "fields"."""
        return (*self.distinguish, "fields") if self.fields else self.distinguish

    def apply_to(self, recipe: Recipe) -> Recipe:
        """Return the recipe with verdicts that keep apart what this question distinguishes."""
        return recipe.distinguishing(self.distinguish, self.similarity)

    def has_twins_by_fingerprint(self, bits: int) -> bool:
        """Return whether texts with equal fingerprints of this width agree in what is
        distinguished: these say nothing of the order of words, and narrow ones collide."""
        return not self.distinguish or (bits >= SAFE_BITS and "order" not in self.distinguish)


@dataclass(frozen=True)
class Purpose:
    """The settings that suit a kind of texts; docs/purposes.md has the measurements."""

    similarity: float
    distinguish: tuple[Distinguished, ...]


PURPOSES: dict[str, Purpose] = {
    "corpus": Purpose(DEFAULT_SIMILARITY, ()),
    "news": Purpose(0.7, ("fields",)),
    "records": Purpose(0.8, ("numbers", "negation", "symbols", "order")),
    "templates": Purpose(DEFAULT_SIMILARITY, ("fields",)),
}


def check_purpose(purpose: str) -> Purpose:
    """Return the settings of a purpose."""
    if purpose not in PURPOSES:
        raise ValueError(f"purpose is {purpose!r}; it must be one of {', '.join(PURPOSES)}")
    return PURPOSES[purpose]


def check_question(
    similarity: float | None,
    radius: int | None,
    recall: float | None,
    *,
    bits: int,
    distinguish: str | Iterable[str] | None = None,
    fields: bool = False,
    purpose: str | None = None,
) -> Question:
    """Check a user's thresholds and return the question.

    bits     width of the fingerprints
    fields   whether `distinguish` may have "fields": clusters of a whole corpus are asked for
    purpose  settings to use where no other is given; "fields" only if they are allowed
    """
    if purpose is not None:
        settings = check_purpose(purpose)
        if similarity is None and radius is None:
            similarity = settings.similarity
        allowed = [name for name in settings.distinguish if fields or name != "fields"]
        distinguish = distinguish or allowed
    names = check_distinguish(distinguish, fields=fields)
    aspects, fields = tuple(name for name in names if name != "fields"), "fields" in names
    if similarity is not None and radius is not None:
        raise ValueError("similarity and radius exclude each other; give one of them")
    if radius is not None:
        recall = check_fraction("recall", 1.0 if recall is None else recall)
        return Question(None, check_int("radius", radius, 0, bits), recall, aspects, fields)
    cosine = check_fraction("similarity", DEFAULT_SIMILARITY if similarity is None else similarity)
    recall = check_fraction("recall", DEFAULT_RECALL if recall is None else recall)
    return Question(cosine, None, recall, aspects, fields)


def check_linkage(linkage: object) -> None:
    """Raise ValueError for an unknown linkage."""
    if linkage not in get_args(Linkage):
        raise ValueError(f'linkage is {linkage!r}; it must be "connected" or "star"')
