"""Comparison of two texts: exact cosine, distance, the passages they share, and a verdict.

Passages are counted in words; where a script has no spaces, a character counts as a word. Words are
equal in the form `normalize="standard"`; punctuation, spaces and line breaks are ignored.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

from neardup import _core
from neardup._util.numbers import as_float, check_int, is_real
from neardup.text.differences import Differences, differences
from neardup.text.features import TextLike, features
from neardup.text.fingerprint import RecipeLike, fingerprint
from neardup.text.recipe import Recipe, as_recipe

Verdict = Literal["identical", "near-duplicate", "contained", "partly copied", "different"]
Side = Literal["left", "right"]
Unit = Literal["words", "characters", "words and characters"]

# Measured in docs/default.md: finds lightly edited copies and hardly any unrelated texts.
DEFAULT_SIMILARITY = 0.85

DEFAULT_MIN_WORDS = 6
# The usual limit of Chinese plagiarism checkers.
DEFAULT_MIN_CHARS = 13
# Measured in docs/copying.md.
DEFAULT_BRIDGE = 2
# In seconds.
DEFAULT_DEADLINE = 10.0

# A longer minimum, in words or characters, would find only whole copies; a wider bridge would join
# unrelated passages.
MAX_MIN_LENGTH = 1000
MAX_BRIDGE = 16

# The limits of verdicts, measured in docs/copying.md. A text is contained in another if passages
# cover this share of it, and if the other has so many times as many words outside of passages.
CONTAINED_COVERAGE = 0.8
CONTAINER_OWN_WORDS = 4
# Texts are partly copied if passages cover this share of either, or if one passage is so long.
COPIED_COVERAGE = 0.1
COPIED_LENGTH: dict[Unit, int] = {"words": 20, "characters": 40, "words and characters": 40}

# Of other texts than near-duplicates, what differs is told up to this share of words that only one
# of them has.
TOLD_WORDS = 0.25

# From this share of characters of scripts without spaces on, nobody would count words, or of words,
# nobody would count characters.
ONE_UNIT = 0.9
# All characters of scripts without spaces are among these, or written as references of HTML; none
# is usual in Latin, Greek, Cyrillic, Hebrew, Arabic, Indic or Korean text.
_MAYBE_CHARACTERS = re.compile(
    "[\u0e00-\u1cff\u2e80-\uabff\uf900-\ufaff\uff66-\uff9f\U00011000-\U0001efff"
    "\U0001f200-\U0001f2ff\U00020000-\U0003ffff]|&#"
)


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
    """The similarity of two texts, the passages they share, and a verdict.

    distance    number of bits in which the fingerprints differ; None if a text has no signal
    similarity  exact cosine of the features, 0 to 1
    verdict     the first that applies:
                "identical"       the texts are equal
                "near-duplicate"  similarity at least `threshold`, or distance at most `radius`,
                                  and a signal in both: what jobs report as a near-duplicate
                "contained"       passages cover at least four fifths of one text, and the other,
                                  the `container`, has at least four times as many words besides
                "partly copied"   passages cover at least a tenth of either text, or one has at
                                  least 20 words (40 characters of a script without spaces)
                "different"       none of these
    container   the text that contains the other, "left" or "right", also of near-duplicates; None
                if neither does
    passages    passages in both texts, word for word or slightly edited, in the order of the left
    coverage_left, coverage_right        share of a text's words that lie in a passage and are equal
    containment_left, containment_right  share of a text's n-grams (three words) that are in both
    longest     number of words of the longest passage
    words_left, words_right              number of words of each text
    unit        what these numbers count: "words"; "characters" for texts in a script without
                spaces; "words and characters" for mixed ones
    coarse      True if the deadline passed: passages may be missing or cut short
    differences numbers, negation, symbols and words that only one text has, and whether they have
                the same words, or the same numbers, in another order
    threshold   the similarity from which texts are near-duplicates; None with a radius
    radius      the distance up to which texts are near-duplicates; None with a similarity
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
    threshold: float | None
    recipe: Recipe
    radius: int | None
    container: Side | None
    words_left: int
    words_right: int
    unit: Unit
    differences: Differences


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
    similarity: float | None = None,
    radius: int | None = None,
    min_words: int = DEFAULT_MIN_WORDS,
    min_chars: int = DEFAULT_MIN_CHARS,
    bridge: int = DEFAULT_BRIDGE,
    deadline: float | None = DEFAULT_DEADLINE,
) -> Comparison:
    """Compare two texts.

    similarity  threshold: texts of at least this cosine are near-duplicates [default: 0.85]
    radius      instead of a similarity: texts whose fingerprints differ in at most so many bits
                are near-duplicates
    min_words, min_chars, bridge, deadline  limits of passages, as for `neardup.shared`
    """
    _check_texts(a, b)
    recipe = as_recipe(recipe)
    similarity, radius = check_thresholds(similarity, radius, recipe.bits)
    options = passage_options(min_words, min_chars, bridge, deadline)
    left, right = fingerprint(a, recipe), fingerprint(b, recipe)
    found = as_shared(_core.shared(a, b, options))
    comparison = Comparison(
        distance=None if left is None or right is None else (left ^ right).bit_count(),
        similarity=_cosine(a, b, recipe),
        verdict="different",
        passages=found.passages,
        coverage_left=found.coverage_left,
        coverage_right=found.coverage_right,
        containment_left=found.containment_left,
        containment_right=found.containment_right,
        longest=found.longest,
        coarse=found.coarse,
        threshold=similarity,
        recipe=recipe,
        radius=radius,
        container=None,
        words_left=found.words_left,
        words_right=found.words_right,
        unit=unit_of(a, b),
        differences=differences(a, b),
    )
    return judge(comparison, equal=a == b)


def judge(found: Comparison, *, equal: bool) -> Comparison:
    """Return a comparison with the verdict of its figures; `equal` is whether the texts are."""
    container = _container(found)
    verdict: Verdict = "different"
    if equal:
        verdict = "identical"
    elif _is_near(found):
        verdict = "near-duplicate"
    elif container is not None:
        verdict = "contained"
    elif (
        max(found.coverage_left, found.coverage_right) >= COPIED_COVERAGE
        or found.longest >= COPIED_LENGTH[found.unit]
    ):
        verdict = "partly copied"
    return replace(found, verdict=verdict, container=container)


def _is_near(found: Comparison) -> bool:
    """Return whether similarity or distance reaches the threshold."""
    if found.distance is None:
        return False
    if found.radius is not None:
        return found.distance <= found.radius
    return found.threshold is not None and found.similarity >= found.threshold


def _container(found: Comparison) -> Side | None:
    """Return the side that contains the other."""
    left, right = found.coverage_left, found.coverage_right
    # Words of each text outside of passages.
    own_left, own_right = found.words_left * (1 - left), found.words_right * (1 - right)
    # Less than a word would be rounding.
    if left >= CONTAINED_COVERAGE and own_right >= max(CONTAINER_OWN_WORDS * own_left, 0.5):
        return "right"
    if right >= CONTAINED_COVERAGE and own_left >= max(CONTAINER_OWN_WORDS * own_right, 0.5):
        return "left"
    return None


def check_thresholds(
    similarity: object, radius: object, bits: int
) -> tuple[float | None, int | None]:
    """Check the thresholds of near-duplicates; return one of them, by default a similarity."""
    if radius is not None:
        if similarity is not None:
            raise ValueError("similarity and radius exclude each other; give one of them")
        return None, check_int("radius", radius, 0, bits)
    if similarity is None:
        return DEFAULT_SIMILARITY, None
    limits = "it must be a number from 0 to 1"
    if not is_real(similarity):
        raise TypeError(f"similarity is {similarity!r}; {limits}")
    if not 0 <= as_float(similarity) <= 1:
        raise ValueError(f"similarity is {similarity}; {limits}")
    return float(similarity), None


def tells_differences(found: Comparison) -> bool:
    """Return whether what differs is worth telling: strangers differ in everything."""
    if found.verdict in ("identical", "near-duplicate"):
        return found.verdict == "near-duplicate"
    own = len(found.differences.added) + len(found.differences.lost)
    return 0 < own <= TOLD_WORDS * (found.words_left + found.words_right)


def own_tokens(found: Differences) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return what only the left text has, and only the right one, by kind."""
    return {
        "numbers": found.numbers,
        "negation": found.negation,
        "symbols": found.symbols,
        "words": (found.added, found.lost),
    }


def unit_of(*texts: str) -> Unit:
    """Return what the words of texts are: words, characters of scripts without spaces, or both.

    >>> unit_of("red lentil soup"), unit_of("一锅红扁豆汤，约 40 分钟"), unit_of("soup 汤")
    ('words', 'characters', 'words and characters')
    """
    if not any(map(_MAYBE_CHARACTERS.search, texts)):
        # Without NumPy, whose import takes longer than to compare two texts.
        return "words"
    is_character = [_core.units(text)[2] for text in texts]
    characters = sum(int(each.sum()) for each in is_character)
    total = sum(map(len, is_character))
    if characters >= ONE_UNIT * total > 0:
        return "characters"
    return "words" if characters <= (1 - ONE_UNIT) * total else "words and characters"


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
    bridge     maximum number of changed words, on either side, in a gap inside a passage; twice as
               many characters, where a script has no spaces. The longest run without a gap has at
               least half of the minimum, the others a fifth
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
