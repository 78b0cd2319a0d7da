"""Two texts → how alike they are: exact cosine, distance, verdict, what they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from neardup import _core
from neardup._util.numbers import as_float, is_real
from neardup.text.features import TextLike, features
from neardup.text.fingerprint import RecipeLike, fingerprint
from neardup.text.passages import (
    BRIDGE,
    DEADLINE,
    MIN_CHARS,
    MIN_WORDS,
    Passage,
    as_shared,
    sharing,
)
from neardup.text.recipe import Recipe, as_recipe

Verdict = Literal["identical", "near-duplicate", "different"]

# Measured, see docs/default.md: keeps lightly edited copies and lets next to no stranger in.
DEFAULT_SIMILARITY = 0.85


@dataclass(frozen=True)
class Comparison:
    """How alike two texts are.

    distance    bits in which the fingerprints differ; None when a text has no signal
    similarity  exact cosine of the features, 0 to 1
    verdict     "identical": equal texts; "near-duplicate": similarity at least `threshold` and
                features enough for a signal in both; "different"
    passages    what both texts have, word for word or slightly edited, in the order of the left one
    coverage_left, coverage_right        share of the words of a text that are equal in a passage
    containment_left, containment_right  share of its n-grams (three words) that the other has too
    longest     words of the longest passage
    coarse      there was not enough time: passages may be missing or cut short
    """

    distance: int | None
    similarity: float
    verdict: Verdict
    passages: tuple[Passage, ...]
    coverage_left: float
    coverage_right: float
    containment_left: float
    containment_right: float
    longest: int
    coarse: bool
    threshold: float
    recipe: Recipe


def similarity(a: TextLike, b: TextLike, recipe: RecipeLike = None) -> float:
    """The exact cosine of the features of two texts: 1.0 the same features, 0.0 nothing shared.

    Texts without features are alike only if they are equal.

    >>> round(similarity("the cat sat on the mat", "the cat sat on a mat", "weighted-tokens"), 3)
    0.866
    """
    return _cosine(a, b, as_recipe(recipe))


def _cosine(a: TextLike, b: TextLike, recipe: Recipe) -> float:
    if isinstance(a, str) and isinstance(b, str):
        cosine = recipe.pipeline.similarity(a, b)
        return float(a == b) if math.isnan(cosine) else cosine
    left, right = features(a, recipe), features(b, recipe)
    cosine = _core.cosine(
        [feature.token for feature in left],
        [feature.weight for feature in left],
        [feature.token for feature in right],
        [feature.weight for feature in right],
    )
    return float(left == right) if math.isnan(cosine) else cosine


def compare(
    a: str,
    b: str,
    recipe: RecipeLike = None,
    *,
    similarity: float = DEFAULT_SIMILARITY,
    min_words: int = MIN_WORDS,
    min_chars: int = MIN_CHARS,
    bridge: int = BRIDGE,
    deadline: float | None = DEADLINE,
) -> Comparison:
    """Compares two texts.

    similarity  the cosine from which they count as near-duplicates
    min_words, min_chars, bridge, deadline  what counts as a passage, as for `passages.shared`
    """
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}; it must be a str")
    limits = "it must be a number from 0 to 1"
    if not is_real(similarity):
        raise TypeError(f"similarity is {similarity!r}; {limits}")
    if not 0 <= as_float(similarity) <= 1:
        raise ValueError(f"similarity is {similarity}; {limits}")
    similarity = float(similarity)
    question = sharing(min_words, min_chars, bridge, deadline)
    recipe = as_recipe(recipe)
    left, right = fingerprint(a, recipe), fingerprint(b, recipe)
    cosine = _cosine(a, b, recipe)
    verdict: Verdict = "different"
    if a == b:
        verdict = "identical"
    elif cosine >= similarity and left is not None and right is not None:
        verdict = "near-duplicate"
    found = as_shared(_core.shared(a, b, question))
    return Comparison(
        distance=None if left is None or right is None else (left ^ right).bit_count(),
        similarity=cosine,
        verdict=verdict,
        passages=found.passages,
        coverage_left=found.coverage_left,
        coverage_right=found.coverage_right,
        containment_left=found.containment_left,
        containment_right=found.containment_right,
        longest=found.longest,
        coarse=found.coarse,
        threshold=similarity,
        recipe=recipe,
    )
