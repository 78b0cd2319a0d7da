"""Comparisons: the passages that each document shares with its candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.copying.candidates import Runs
from neardup.copying.findings import EqualSpans, covered_spans
from neardup.copying.spans import Span, WordSpans
from neardup.text.comparison import Passage, swap_sides

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.copying.candidates import CopyCandidates
    from neardup.copying.documents import CheckedDocument
    from neardup.copying.rules import Rules
    from neardup.copying.spans import Mask

# Candidates compared in one call of the core.
BATCH_SIZE = 1000
MAX_CACHED_OVERLAPS = 100_000


class Overlap:
    """Passages and equal words of a pair of texts. Pairs with equal positions share one object, as
    many pairs of essays under one cover text do."""

    __slots__ = ("equal", "passages")

    def __init__(self, found: _core.SharedPassages) -> None:
        self.passages: tuple[Passage, ...] = tuple(Passage(*row) for row in found[0])
        self.equal: EqualSpans = tuple(row[1:] for row in found[1])

    @property
    def spans(self) -> list[Span]:
        return covered_spans(self.passages, self.equal)


class DocumentComparison(NamedTuple):
    """A document compared with another.

    other      position of the other document in `CopyCandidates.others`
    own_share  share of the other's words that is in the overlap
    coarse     whether the deadline passed
    """

    other: int
    overlap: Overlap
    own_share: float
    coarse: bool
    similarity: float


class Comparisons:
    """Compares documents with their candidates, in order, no pair twice."""

    def __init__(
        self,
        checked: Sequence[CheckedDocument],
        candidates: CopyCandidates,
        rules: Rules,
        *,
        among: bool,
        threads: int | None,
    ) -> None:
        self._checked = checked
        self._candidates = candidates
        self._rules = rules
        self._among = among
        self._threads = threads
        # For documents compared with each other: comparisons of each with an earlier document.
        self._earlier: list[list[DocumentComparison]] = [[] for _ in checked]
        self._overlaps: dict[object, tuple[Overlap, Overlap]] = {}
        self._runs: Runs | None = None

    def __iter__(self) -> Iterator[list[DocumentComparison]]:
        """Yield for each document its comparisons, in the order of its candidates."""
        others, exclude, common = self._candidates.others, self._rules.exclude, self._rules.common
        for row in range(len(self._checked)):
            wanted: list[int] = self._candidates.positions[row].tolist()
            if exclude:
                wanted = [at for at in wanted if others[at].id not in exclude]
            known = {x.other: x for x in self._earlier[row]}
            self._earlier[row] = []
            rest = [at for at in wanted if at not in known]
            if common is None or len(wanted) < common:
                new: Iterable[DocumentComparison] = self._compare(row, rest)
            else:
                new = self._compare_beyond_common(row, list(known.values()), rest, common)
            known.update((x.other, x) for x in new)
            yield [known[at] for at in wanted if at in known]

    def _compare(self, row: int, positions: Sequence[int]) -> Iterator[DocumentComparison]:
        """Compare the document with others, given by their positions."""
        document, others = self._checked[row], self._candidates.others
        is_source = self._among and document.id not in self._rules.exclude
        for start in range(0, len(positions), BATCH_SIZE):
            part = positions[start : start + BATCH_SIZE]
            texts = [others[at].text for at in part]
            limits = self._rules.limits
            results = _core.shared_with_each(document.text, texts, limits, self._threads)
            cosines, _ = self._rules.recipe.pipeline.judge_one(document.text, texts)
            for at, result, cosine in zip(part, results, cosines, strict=True):
                _, _, (words, covered, _), (their_words, their_covered, _), coarse = result
                overlap, swapped = self._overlap(result)
                if is_source and at > row:
                    own_share = covered / words if words else 0.0
                    self._earlier[at].append(
                        DocumentComparison(row, swapped, own_share, coarse, cosine)
                    )
                own_share = their_covered / their_words if their_words else 0.0
                yield DocumentComparison(at, overlap, own_share, coarse, cosine)

    def _overlap(self, result: _core.SharedPassages) -> tuple[Overlap, Overlap]:
        """Return the overlap, and the same with the two texts swapped."""
        key = (tuple(result[0]), tuple(result[1]))
        overlaps = self._overlaps.get(key)
        if overlaps is None:
            if len(self._overlaps) >= MAX_CACHED_OVERLAPS:
                self._overlaps.clear()
            overlap = swapped = Overlap(result)
            if self._among:
                other = swap_sides(result)
                if other[:2] != result[:2]:
                    swapped = Overlap(other)
                    self._overlaps[tuple(other[0]), tuple(other[1])] = swapped, overlap
            overlaps = self._overlaps[key] = overlap, swapped
        return overlaps

    def _compare_beyond_common(
        self, row: int, known: Sequence[DocumentComparison], rest: list[int], common: int
    ) -> Iterator[DocumentComparison]:
        """Compare as `_compare` does, but skip candidates that share only common text.

        Compares some candidates, marks words that more than `common` documents have, and drops all
        candidates that share no run with the other words; then compares twice as many, and so on.
        """
        text = self._checked[row].text
        words = WordSpans(text)
        documents, marked = documents_per_word(words, known), 0
        size = common
        while rest:
            mask = documents > common
            if words.count(mask) > marked:
                marked = words.count(mask)
                sharing = self._sharing(_fragments(text, words, mask, self._rules.limits))
                rest = [at for at in rest if at in sharing]
            new = list(self._compare(row, rest[:size]))
            documents += documents_per_word(words, new) - 1
            yield from new
            rest, size = rest[size:], 2 * size

    def _sharing(self, fragments: Sequence[str]) -> set[int]:
        """Return the positions of documents that share a run with one of these texts."""
        if self._runs is None:
            texts = [other.text for other in self._candidates.others]
            self._runs = Runs(texts, self._rules.limits[:2], threads=self._threads)
        return set(self._runs.shared(fragments)[1].tolist())


def documents_per_word(
    words: WordSpans, comparisons: Iterable[DocumentComparison]
) -> NDArray[np.int64]:
    """Return for each word of a document how many documents have it, including its own."""
    import numpy as np

    documents = np.ones(len(words), np.int64)
    for overlap, count in Counter(x.overlap for x in comparisons).items():
        documents += count * words.within(overlap.spans)
    return documents


def _fragments(
    text: str, words: WordSpans, common: Mask, limits: _core.PassageOptions
) -> list[str]:
    """Return the parts of the text that are not common, each with common text around it that is
    shorter than a run: so every run of a fragment has a word that is not common."""
    import numpy as np

    min_words, min_chars = limits[:2]
    # The weights of the core: a word weighs `min_chars`, a character `min_words`.
    weights = np.where(words.is_character, min_words, min_chars)
    before = np.concatenate([[0], np.cumsum(weights)])
    run = -(-3 * min_words * min_chars // 4)
    edges = np.flatnonzero(np.diff(np.concatenate([[True], common, [True]]).astype(np.int8)))
    fragments = []
    for first, end in edges.reshape(-1, 2).tolist():
        start = int(np.searchsorted(before, before[first] - run, "right"))
        stop = int(np.searchsorted(before, before[end] + run, "left")) - 1
        fragments.append(text[int(words.starts[start]) : int(words.ends[stop - 1])])
    return fragments
