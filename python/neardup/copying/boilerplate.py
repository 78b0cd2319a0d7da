"""Two texts compared without what both have from a template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from neardup import _core
from neardup.copying.cover import WordSpans
from neardup.copying.findings import Ignored
from neardup.text.passages import BRIDGE, DEADLINE, MIN_CHARS, MIN_WORDS, sharing
from neardup.text.similarity import Comparison

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Stripped:
    """A comparison in which boilerplate does not count.

    comparison  passages that are boilerplate on one side are left out; coverage and the longest
                passage are of the rest. Similarity, distance and containment are of the whole texts
    left, right   what does not count
    """

    comparison: Comparison
    left: tuple[Ignored, ...]
    right: tuple[Ignored, ...]


def without_boilerplate(
    found: Comparison,
    a: str,
    b: str,
    templates: Sequence[str],
    *,
    min_words: int = MIN_WORDS,
    min_chars: int = MIN_CHARS,
    bridge: int = BRIDGE,
    deadline: float | None = DEADLINE,
) -> Stripped:
    """What two texts share beyond the templates.

    found  what `neardup.compare` found in them with the same settings

    >>> from neardup import compare
    >>> form, own = "Name and class of the pupil who hands this in: ", "we went to the sea by train"
    >>> texts = form + "Li. " + own, form + "Wang. It rained all day"
    >>> round(compare(*texts).coverage_left, 2)
    0.56
    >>> without_boilerplate(compare(*texts), *texts, [form]).comparison.coverage_left
    0.0
    """
    question = sharing(min_words, min_chars, bridge, deadline)
    equal = _core.shared(a, b, question)[1]
    sides = []
    for text, at in ((a, 1), (b, 3)):
        words = WordSpans(text)
        stretches = [
            (row[1], row[2])
            for template in templates
            for row in _core.shared(text, template, question)[1]
        ]
        ignored = words.within(stretches)
        sides.append((words, ignored, words.within((row[at], row[at + 1]) for row in equal)))
    counts = [words.starts[~ignored] for words, ignored, _ in sides]
    kept = tuple(
        passage
        for passage in found.passages
        if _any(counts[0], passage.left_start, passage.left_end)
        and _any(counts[1], passage.right_start, passage.right_end)
    )
    left, right = (
        words.count(covered & ~ignored) / max(words.count(~ignored), 1)
        for words, ignored, covered in sides
    )
    stripped = [
        tuple(Ignored(start, end, "template") for start, end in words.stretches(ignored))
        for words, ignored, _ in sides
    ]
    comparison = replace(
        found,
        passages=kept,
        coverage_left=left,
        coverage_right=right,
        longest=max((passage.words for passage in kept), default=0),
    )
    return Stripped(comparison, *stripped)


def _any(starts: NDArray[np.int64], begin: int, end: int) -> bool:
    """Whether a word that counts begins there."""
    first, last = starts.searchsorted((begin, end))
    return bool(last > first)
