"""Candidates → what each document has in common with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup import _core
from neardup.copying.cover import WordSpans
from neardup.copying.findings import Equal, places_of
from neardup.copying.runs import Runs
from neardup.text.passages import Passage, turned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.copying.candidates import CopyCandidates
    from neardup.copying.cover import Mask
    from neardup.copying.documents import CheckedDocument

# So many candidates are compared in one call.
AT_ONCE = 1000
# So many different shapes are remembered.
SHAPES = 100_000


class Shape:
    """Passages and stretches of equal words of a pair. One object serves all pairs that have the
    same, as those of a class with the same cover text do."""

    __slots__ = ("equal", "passages")

    def __init__(self, found: _core.Found) -> None:
        self.passages: tuple[Passage, ...] = tuple(Passage(*row) for row in found[0])
        self.equal: Equal = tuple(row[1:] for row in found[1])

    @property
    def places(self) -> list[tuple[int, int]]:
        return places_of(self.passages, self.equal)


class DocumentComparison(NamedTuple):
    """What a document has in common with another, which is the one at this place of `others`.

    own_share  of the other's words
    """

    at: int
    shape: Shape
    own_share: float
    coarse: bool
    similarity: float


class Comparisons:
    """Compares documents with their candidates, in order, no pair twice."""

    def __init__(
        self,
        checked: Sequence[CheckedDocument],
        candidates: CopyCandidates,
        question: _core.Sharing,
        pipeline: _core.Pipeline,
        *,
        among: bool,
        exclude: frozenset[str],
        common: int | None,
        threads: int | None,
    ) -> None:
        self._checked = checked
        self._candidates = candidates
        self._question = question
        self._pipeline = pipeline
        self._among = among
        self._exclude = exclude
        self._common = common
        self._threads = threads
        # Of documents among themselves: what those before have found in this one.
        self._found: list[list[DocumentComparison]] = [[] for _ in checked]
        self._shapes: dict[object, tuple[Shape, Shape]] = {}
        self._runs: Runs | None = None

    def __iter__(self) -> Iterator[list[DocumentComparison]]:
        """For each document what it has in common with its candidates, in their order."""
        others, exclude = self._candidates.others, self._exclude
        for row in range(len(self._checked)):
            wanted: list[int] = self._candidates.rows[row].tolist()
            if exclude:
                wanted = [at for at in wanted if others[at].id not in exclude]
            known = {x.at: x for x in self._found[row]}
            self._found[row] = []
            rest = [at for at in wanted if at not in known]
            if self._common is None or len(wanted) < self._common:
                found: Iterable[DocumentComparison] = self._compared(row, rest)
            else:
                found = self._beyond_common(row, list(known.values()), rest, self._common)
            known.update((x.at, x) for x in found)
            yield [known[at] for at in wanted if at in known]

    def _compared(self, row: int, places: Sequence[int]) -> Iterator[DocumentComparison]:
        document, others = self._checked[row], self._candidates.others
        for start in range(0, len(places), AT_ONCE):
            part = places[start : start + AT_ONCE]
            texts = [others[at].text for at in part]
            every = _core.shared_with_each(document.text, texts, self._question, self._threads)
            cosines, _ = self._pipeline.judge_one(document.text, texts)
            # The document will want to know what those after it have found.
            told = self._among and document.id not in self._exclude
            for at, found, cosine in zip(part, every, cosines, strict=True):
                _, _, (words, covered, _), (their_words, their_covered, _), coarse = found
                shape, turned_shape = self._shape(found)
                if told and at > row:
                    own_share = covered / words if words else 0.0
                    self._found[at].append(
                        DocumentComparison(row, turned_shape, own_share, coarse, cosine)
                    )
                own_share = their_covered / their_words if their_words else 0.0
                yield DocumentComparison(at, shape, own_share, coarse, cosine)

    def _shape(self, found: _core.Found) -> tuple[Shape, Shape]:
        """The shape, and that of the pair the other way round."""
        key = (tuple(found[0]), tuple(found[1]))
        shapes = self._shapes.get(key)
        if shapes is None:
            if len(self._shapes) >= SHAPES:
                self._shapes.clear()
            shape = back = Shape(found)
            if self._among:
                other = turned(found)
                if other[:2] != found[:2]:
                    back = Shape(other)
                    self._shapes[tuple(other[0]), tuple(other[1])] = back, shape
            shapes = self._shapes[key] = shape, back
        return shapes

    def _beyond_common(
        self, row: int, known: Sequence[DocumentComparison], rest: list[int], common: int
    ) -> Iterator[DocumentComparison]:
        """As `_compared`, without those that have nothing but what is common.

        A few are compared. What more than `common` of them have is common whoever else has it, so
        that of the others only those matter that share a run with the rest of the document.
        """
        text = self._checked[row].text
        words = WordSpans(text)
        documents, marked = documents_with(words, known), 0
        size = common
        while rest:
            mask = documents > common
            if words.count(mask) > marked:
                marked = words.count(mask)
                sharing = self._sharing(_fragments(text, words, mask, self._question))
                rest = [at for at in rest if at in sharing]
            found = list(self._compared(row, rest[:size]))
            documents += documents_with(words, found) - 1
            yield from found
            rest, size = rest[size:], 2 * size

    def _sharing(self, fragments: Sequence[str]) -> set[int]:
        """Who shares a run with one of some texts."""
        if self._runs is None:
            texts = [other.text for other in self._candidates.others]
            self._runs = Runs(texts, self._question[:2], threads=self._threads)
        return set(self._runs.shared(fragments)[1].tolist())


def documents_with(words: WordSpans, compared: Iterable[DocumentComparison]) -> NDArray[np.int64]:
    """For each word how many documents have it: the document itself, and those compared."""
    import numpy as np

    documents = np.ones(len(words), np.int64)
    for shape, count in Counter(x.shape for x in compared).items():
        documents += count * words.within(shape.places)
    return documents


def _fragments(text: str, words: WordSpans, common: Mask, question: _core.Sharing) -> list[str]:
    """The stretches that are not common, each with as much of what is around it as makes no run
    of what is common alone."""
    import numpy as np

    min_words, min_chars = question[:2]
    # As the core weighs passages: a word as much as `min_chars`, a character as `min_words`.
    weights = np.where(words.alone, min_words, min_chars)
    before = np.concatenate([[0], np.cumsum(weights)])
    run = -(-3 * min_words * min_chars // 4)
    edges = np.flatnonzero(np.diff(np.concatenate([[True], common, [True]]).astype(np.int8)))
    found = []
    for first, end in edges.reshape(-1, 2).tolist():
        start = int(np.searchsorted(before, before[first] - run, "right"))
        stop = int(np.searchsorted(before, before[end] + run, "left")) - 1
        found.append(text[int(words.starts[start]) : int(words.ends[stop - 1])])
    return found
