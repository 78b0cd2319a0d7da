"""Candidates: pairs of documents that share a run of words, found without comparing texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from operator import le
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup.copying.documents import (
    CheckedDocument,
    RunIndex,
    parse_document,
    parse_documents,
    split_corpus,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Documents whose runs are looked up at once.
BATCH_SIZE = 1000
# Pairs (hash, document) in memory at a time: a hash that all documents have makes a pair for each.
MAX_ENTRIES = 2_000_000


class Runs:
    """Hashes of runs of some documents (winnowing), sorted, each with the row of its document.

    Two documents that share a passage of the minimum length word for word share a hash. Each hash
    is looked up by binary search, O(log n).
    """

    def __init__(
        self,
        texts: Sequence[str],
        minimum: tuple[int, int],
        *,
        threads: int | None = None,
        without: Sequence[str] = (),
    ) -> None:
        """Hash `texts` for passages of `minimum` words or characters.

        without  templates, whose runs are left out. A run is three quarters of a passage, so a
                 passage is missed if at most a quarter of the minimum is outside of a template
                 (of six words, one), and the two documents share nothing else
        """
        import numpy as np

        self._minimum = minimum
        self._threads = threads
        self._texts = len(texts)
        bounds, hashes = _core.winnow(list(texts), *minimum, threads)
        rows = np.repeat(np.arange(len(texts)), _sizes(bounds))
        if without:
            # With `every`, a text shorter than a passage would have runs too: leave it out.
            bounds, _ = _core.winnow(list(without), *minimum, threads)
            long_enough = [text for text, size in zip(without, _sizes(bounds), strict=True) if size]
            _, template_hashes = _core.winnow(long_enough, *minimum, threads, every=True)
            kept = ~np.isin(hashes, template_hashes)
            hashes, rows = hashes[kept], rows[kept]
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._rows = hashes[order], rows[order]

    def per_document(self) -> list[NDArray[np.uint64]]:
        """Return the hashes of each document."""
        import numpy as np

        order = np.argsort(self._rows, kind="stable")
        ends = np.searchsorted(self._rows[order], np.arange(1, self._texts))
        return np.split(self._hashes[order], ends) if self._texts else []

    def shared(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pairs that share a run: positions in `texts` and rows, sorted by both."""
        import numpy as np

        bounds, hashes = _core.winnow(list(texts), *self._minimum, self._threads)
        positions = np.repeat(np.arange(len(texts)), _sizes(bounds))
        first = np.searchsorted(self._hashes, hashes, "left")
        counts = np.searchsorted(self._hashes, hashes, "right") - first
        ends = np.cumsum(counts)
        cuts = np.flatnonzero(np.diff(ends // MAX_ENTRIES, prepend=0)).tolist()
        batches = [np.zeros(0, np.int64)]
        for start, end in pairwise([0, *cuts, len(hashes)]):
            size = counts[start:end]
            # For each hash, the indexes of the equal hashes: first, first + 1, …
            before = np.repeat(np.cumsum(size) - size, size)
            equal = np.repeat(first[start:end], size) + np.arange(int(size.sum())) - before
            # A pair as one number sorts many times faster than a row of two.
            pairs = np.repeat(positions[start:end], size) * self._texts + self._rows[equal]
            batches.append(np.unique(pairs))
        unique = np.unique(np.concatenate(batches))
        return unique // max(self._texts, 1), unique % max(self._texts, 1)


def _sizes(bounds: NDArray[np.uint64]) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (bounds[1:] - bounds[:-1]).astype("int64")
    return counts


class CopyCandidates(NamedTuple):
    """Possible sources of each checked document.

    others     documents that may be sources; all documents if they are compared with each other
    positions  for each checked document the positions of its candidates in `others`, in order
    itself     ids of checked documents that the corpus has too, with the same text; those are not
               sources
    """

    others: Sequence[CheckedDocument]
    positions: list[NDArray[np.int64]]
    itself: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        return sum(map(len, self.positions))


def find_among(
    checked: Sequence[CheckedDocument],
    minimum: tuple[int, int],
    template: Sequence[str],
    threads: int | None,
) -> CopyCandidates:
    """Return the candidates of documents that are compared with each other."""
    import numpy as np

    texts = [document.text for document in checked]
    runs = Runs(texts, minimum, threads=threads, without=template)
    candidates: list[NDArray[np.int64]] = []
    for start in range(0, len(texts), BATCH_SIZE):
        positions, rows = runs.shared(texts[start : start + BATCH_SIZE])
        size = min(BATCH_SIZE, len(texts) - start)
        each = np.split(rows, np.searchsorted(positions, np.arange(1, size)))
        candidates += [part[part != start + at] for at, part in enumerate(each)]
    for row, document in enumerate(checked):
        if document.record is not None:
            # A file that the caller passed twice is not its own source.
            others = [
                x for x in candidates[row].tolist() if not checked[x].is_same_record(document)
            ]
            if len(others) < len(candidates[row]):
                candidates[row] = np.array(others, np.int64)
    return CopyCandidates(checked, candidates)


def find_in_corpus(
    checked: Sequence[CheckedDocument],
    corpus: Iterable[Any],
    minimum: tuple[int, int],
    template: Sequence[str],
    exclude: frozenset[str],
    threads: int | None,
) -> CopyCandidates:
    """Return the candidates of documents compared with a corpus, which is read once."""
    import numpy as np

    texts = [document.text for document in checked]
    hash_runs = partial(Runs, texts, threads=threads, without=template)
    runs = hash_runs(minimum)
    candidates: list[list[int]] = [[] for _ in checked]
    itself: list[str] = []
    others = _UniqueDocuments(texts)
    for part in split_corpus("against", corpus):
        pairs: Iterable[tuple[int, int | None, CheckedDocument]]
        if not isinstance(part, RunIndex):
            pairs = _sharing(runs, part)
        elif all(map(le, part.runs_minimum, minimum)):
            # The index finds shorter passages than needed, and so the longer ones too.
            hashes = hash_runs(part.runs_minimum).per_document()
            pairs = (
                (row, None, parse_document("against", row, document))
                for row, document in part.sharing(hashes)
            )
        else:
            pairs = _sharing(runs, parse_documents("against", part.documents()))
        others.begin_part()
        for row, position, other in pairs:
            document = checked[row]
            if other.id in exclude or other.is_same_record(document):
                continue
            if other.looks_same(document):
                itself.append(document.id)
            else:
                candidates[row].append(others.add(position, other))
    rows = [np.array(each, np.int64) for each in candidates]
    return CopyCandidates(others.documents, rows, tuple(itself))


class _UniqueDocuments:
    """Candidate documents without repetition: a document that many checked documents share text
    with is stored once, and so are equal texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.documents: list[CheckedDocument] = []
        self._texts = {text: text for text in texts}
        self._indexes: dict[object, int] = {}

    def begin_part(self) -> None:
        """Begin a part of the corpus: from now on the same position or id is another document."""
        self._indexes = {}

    def add(self, position: int | None, other: CheckedDocument) -> int:
        """Add a document if it is new; return its index.

        position  its position in this part; None in a collection, where ids are unique
        """
        key: object = other[:2] if position is None else position
        index = self._indexes.get(key)
        if index is None:
            index = len(self.documents)
            text = self._texts.setdefault(other.text, other.text)
            self.documents.append(other._replace(text=text))
            # A key with another copy of the text would keep that copy alive.
            self._indexes[(other.id, text) if position is None else position] = index
        return index


def _sharing(
    runs: Runs, others: Iterable[CheckedDocument]
) -> Iterator[tuple[int, int, CheckedDocument]]:
    """Yield (row of `runs`, position in `others`, document) for each pair that shares a run."""
    source, start = iter(others), 0
    while batch := list(islice(source, BATCH_SIZE)):
        positions, rows = runs.shared([document.text for document in batch])
        for position, row in zip(positions.tolist(), rows.tolist(), strict=True):
            yield row, start + position, batch[position]
        start += len(batch)
