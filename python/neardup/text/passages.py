"""Two texts → the passages they share, and how much of each text that is.

A word counts as one, and so does a character where a script has no spaces. Words are equal after
NFKC and case folding; punctuation, spaces and line breaks do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

from neardup import _core
from neardup._util.numbers import as_float, check_int, is_real

MIN_WORDS = 6
# The habit of Chinese checkers.
MIN_CHARS = 13
BRIDGE = 2
DEADLINE = 10.0

# Longer minimums would find nothing but whole copies, wider bridges join strangers.
MOST_MINIMUM = 1000
MOST_BRIDGE = 16


@dataclass(frozen=True)
class Passage:
    """A stretch both texts have, as character positions: left[left_start:left_end] and so on.

    words  how many words are equal
    exact  whether all of them are; else a few were changed, added or left out
    """

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    words: int
    exact: bool


@dataclass(frozen=True)
class Shared:
    """What two texts share.

    passages     in the order of the left text. Where a text repeats itself they overlap
    coverage     share of the words of a text that are equal in a passage; those that were changed
                 within one do not count
    longest      words of the longest passage
    containment  share of the different n-grams of a text that the other has too. An n-gram is half
                 of the shortest passage: three words, or seven characters of a script without
                 spaces
    words        of each text
    coarse       there was not enough time: passages may be missing or cut short
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


def sharing(
    min_words: object, min_chars: object, bridge: object, deadline: object
) -> _core.Sharing:
    """The question as the core takes it, checked."""
    limits = "it must be a number of seconds above 0, or None for no limit"
    if deadline is not None:
        if not is_real(deadline):
            raise TypeError(f"deadline is {deadline!r}; {limits}")
        if not as_float(deadline) > 0:
            raise ValueError(f"deadline is {deadline}; {limits}")
        deadline = as_float(deadline)
    return (
        check_int("min_words", min_words, 1, MOST_MINIMUM),
        check_int("min_chars", min_chars, 1, MOST_MINIMUM),
        check_int("bridge", bridge, 0, MOST_BRIDGE),
        deadline,
    )


def shared(
    a: str,
    b: str,
    *,
    min_words: int = MIN_WORDS,
    min_chars: int = MIN_CHARS,
    bridge: int = BRIDGE,
    deadline: float | None = DEADLINE,
) -> Shared:
    """What two texts share.

    min_words  so many equal words are a passage
    min_chars  so many equal characters are one, where a script has no spaces. In mixed text three
               of six words and seven of thirteen characters are enough, and so on
    bridge     so many changed words, on either side, do not end a passage. A passage has an
               unbroken run of half of the minimum, and of a quarter between two gaps
    deadline   seconds after which the answer may be coarse; None: however long it takes

    >>> found = shared("he said the cat sat on the old mat", "The cat sat on the very old mat")
    >>> [(passage.words, passage.exact) for passage in found.passages], found.longest
    ([(7, False)], 7)
    """
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is of type {type(text).__name__}; it must be a str")
    return as_shared(_core.shared(a, b, sharing(min_words, min_chars, bridge, deadline)))


def as_shared(found: _core.Found) -> Shared:
    """What the core found, as a value."""
    rows, _, left, right, coarse = found
    return Shared(
        passages=tuple(Passage(*row) for row in rows),
        coverage_left=left[1] / left[0] if left[0] else 0.0,
        coverage_right=right[1] / right[0] if right[0] else 0.0,
        longest=max((row[4] for row in rows), default=0),
        containment_left=left[2],
        containment_right=right[2],
        words_left=left[0],
        words_right=right[0],
        coarse=coarse,
    )


def turned(found: _core.Found) -> _core.Found:
    """What the core would have found with the texts the other way round: nothing else, since it
    does not matter which comes first."""
    rows, equal, left, right, coarse = found
    order = sorted(range(len(rows)), key=lambda at: (rows[at][2:4], rows[at][:2]))
    places = {at: place for place, at in enumerate(order)}
    swapped = [(c, d, a, b, words, exact) for a, b, c, d, words, exact in rows]
    return (
        [swapped[at] for at in order],
        sorted((places[at], c, d, a, b) for at, a, b, c, d in equal),
        right,
        left,
        coarse,
    )
