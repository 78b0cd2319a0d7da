"""Comparison of two texts: exact cosine, distance, verdict, and the passages they share.

Passages are counted in words; where a script has no spaces, a character counts as a word. Words are
equal after NFKC normalization and case folding; punctuation, spaces and line breaks are ignored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from neardup import _core
from neardup._util.numbers import as_float, check_int, is_real
from neardup.text.features import TextLike, features
from neardup.text.fingerprint import RecipeLike, fingerprint
from neardup.text.recipe import Recipe, as_recipe

Verdict = Literal["identical", "near-duplicate", "different"]

# Measured in docs/default.md: finds lightly edited copies and hardly any unrelated texts.
DEFAULT_SIMILARITY = 0.85

DEFAULT_MIN_WORDS = 6
# The usual limit of Chinese plagiarism checkers.
DEFAULT_MIN_CHARS = 13
DEFAULT_BRIDGE = 2
# In seconds.
DEFAULT_DEADLINE = 10.0

# A longer minimum, in words or characters, would find only whole copies; a wider bridge would join
# unrelated passages.
MAX_MIN_LENGTH = 1000
MAX_BRIDGE = 16


@dataclass(frozen=True)
class Passage:
    """A run of words that both texts have, as character positions: left[left_start:left_end] etc.

    words  number of equal words
    exact  False if a few words were changed, added or left out
    """

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    words: int
    exact: bool


@dataclass(frozen=True)
class Shared:
    """The passages that two texts share.

    passages     in the order of the left text; they overlap where a text repeats itself
    coverage     share of a text's words that lie in a passage and are equal
    longest      number of words of the longest passage
    containment  share of a text's distinct n-grams that occur in the other text. An n-gram is half
                 of the shortest passage: three words, or seven characters of a script without
                 spaces
    words        number of words of each text
    coarse       True if the deadline passed: passages may be missing or cut short
    """

    passages: tuple[Passage, ...]
    coverage_left: float
    coverage_right: float
    longest: int
    containment_left: float
    containment_right: float
    words_left: int
    words_right: int
    coarse: bool


@dataclass(frozen=True)
class Comparison:
    """The similarity of two texts, and the passages they share.

    distance    number of bits in which the fingerprints differ; None if a text has no signal
    similarity  exact cosine of the features, 0 to 1
    verdict     "identical": equal texts; "near-duplicate": similarity at least `threshold`, and a
                signal in both; "different"
    passages    passages in both texts, word for word or slightly edited, in the order of the left
    coverage_left, coverage_right        share of a text's words that lie in a passage and are equal
    containment_left, containment_right  share of a text's n-grams (three words) that are in both
    longest     number of words of the longest passage
    coarse      True if the deadline passed: passages may be missing or cut short
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
    """Return the exact cosine of the features of two texts: 1.0 for equal features, 0.0 for none
    in common.

    Two texts without features have similarity 1.0 if they are equal, else 0.0.

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
    min_words: int = DEFAULT_MIN_WORDS,
    min_chars: int = DEFAULT_MIN_CHARS,
    bridge: int = DEFAULT_BRIDGE,
    deadline: float | None = DEFAULT_DEADLINE,
) -> Comparison:
    """Compare two texts.

    similarity  threshold: texts of at least this cosine are near-duplicates
    min_words, min_chars, bridge, deadline  limits of passages, as for `neardup.shared`
    """
    _check_texts(a, b)
    limits = "it must be a number from 0 to 1"
    if not is_real(similarity):
        raise TypeError(f"similarity is {similarity!r}; {limits}")
    if not 0 <= as_float(similarity) <= 1:
        raise ValueError(f"similarity is {similarity}; {limits}")
    similarity = float(similarity)
    options = passage_options(min_words, min_chars, bridge, deadline)
    recipe = as_recipe(recipe)
    left, right = fingerprint(a, recipe), fingerprint(b, recipe)
    cosine = _cosine(a, b, recipe)
    verdict: Verdict = "different"
    if a == b:
        verdict = "identical"
    elif cosine >= similarity and left is not None and right is not None:
        verdict = "near-duplicate"
    found = as_shared(_core.shared(a, b, options))
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


def shared(
    a: str,
    b: str,
    *,
    min_words: int = DEFAULT_MIN_WORDS,
    min_chars: int = DEFAULT_MIN_CHARS,
    bridge: int = DEFAULT_BRIDGE,
    deadline: float | None = DEFAULT_DEADLINE,
) -> Shared:
    """Return the passages that two texts share.

    min_words  minimum number of equal words of a passage
    min_chars  minimum number of equal characters, where a script has no spaces. In mixed text the
               two add up: three of six words and seven of thirteen characters are enough
    bridge     maximum number of changed words, on either side, in a gap inside a passage. The
               longest run without a gap has at least half of the minimum, the others a quarter
    deadline   seconds after which the result may be coarse; None for no limit

    >>> found = shared("he said the cat sat on the old mat", "The cat sat on the very old mat")
    >>> [(passage.words, passage.exact) for passage in found.passages], found.longest
    ([(7, False)], 7)
    """
    _check_texts(a, b)
    return as_shared(_core.shared(a, b, passage_options(min_words, min_chars, bridge, deadline)))


def _check_texts(a: object, b: object) -> None:
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}; it must be a str")


def passage_options(
    min_words: object, min_chars: object, bridge: object, deadline: object
) -> _core.PassageOptions:
    """Check the limits of passages and return them for the core."""
    limits = "it must be a number of seconds above 0, or None for no limit"
    if deadline is not None:
        if not is_real(deadline):
            raise TypeError(f"deadline is {deadline!r}; {limits}")
        if not as_float(deadline) > 0:
            raise ValueError(f"deadline is {deadline}; {limits}")
        deadline = as_float(deadline)
    return (
        check_int("min_words", min_words, 1, MAX_MIN_LENGTH),
        check_int("min_chars", min_chars, 1, MAX_MIN_LENGTH),
        check_int("bridge", bridge, 0, MAX_BRIDGE),
        deadline,
    )


def as_shared(result: _core.SharedPassages) -> Shared:
    """Return the core's result as a `Shared`."""
    rows, _, left, right, coarse = result
    passages = tuple(Passage(*row) for row in rows)
    words_left, covered_left, containment_left = left
    words_right, covered_right, containment_right = right
    return Shared(
        passages=passages,
        coverage_left=covered_left / words_left if words_left else 0.0,
        coverage_right=covered_right / words_right if words_right else 0.0,
        longest=max((passage.words for passage in passages), default=0),
        containment_left=containment_left,
        containment_right=containment_right,
        words_left=words_left,
        words_right=words_right,
        coarse=coarse,
    )


def swap_sides(result: _core.SharedPassages) -> _core.SharedPassages:
    """Return the core's result for the same texts in the opposite order.

    The core finds the same passages in both orders, so this saves a second call.
    """
    rows, runs, left, right, coarse = result
    # Passages are sorted by the left text, which is now the right one.
    order = sorted(range(len(rows)), key=lambda index: (rows[index][2:4], rows[index][:2]))
    new_index = {index: new for new, index in enumerate(order)}
    swapped = [(c, d, a, b, words, exact) for a, b, c, d, words, exact in rows]
    return (
        [swapped[index] for index in order],
        sorted((new_index[index], c, d, a, b) for index, a, b, c, d in runs),
        right,
        left,
        coarse,
    )
