"""Corpora to join, and the `Judge`, which computes exact cosines and distances of their pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from neardup import _core
from neardup._util.arrow import as_column, number_array, string_array, string_buffers
from neardup.text.differences import ASPECTS, aspect_names, negation_words
from neardup.text.fingerprint import Fingerprints, fingerprint, fingerprints
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.question import Question

    Rows = NDArray[np.int64]

# Called with the number of pairs judged since the last call.
Tick = Callable[[int], object]
# Called when a stage begins: its name, the amount of work if it is known, and the unit.
Stage = Callable[[str, int | None, str], object]

# Pairs judged at a time; the texts of a batch are all in memory.
BATCH_PAIRS = 1 << 13


class Corpus(Protocol):
    """Texts by row.

    signal    whether a text has enough features; a text without a signal matches only equal texts
    sketches  `_core.SKETCH_BYTES` bytes a row, for a question with a similarity
    values    fingerprints, for a question with a radius
    """

    @property
    def recipe(self) -> Recipe: ...
    @property
    def texts(self) -> _core.Texts: ...
    @property
    def signal(self) -> NDArray[np.bool_]: ...
    @property
    def sketches(self) -> NDArray[np.uint8] | None: ...
    @property
    def values(self) -> NDArray[np.uint64] | None: ...


@dataclass(frozen=True, eq=False)
class MemoryCorpus:
    """A corpus over an Arrow column of strings. `lengths` are in bytes."""

    recipe: Recipe
    texts: _core.Texts
    lengths: NDArray[np.int64]
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8] | None
    values: NDArray[np.uint64] | None


def memory_corpus(
    column: pa.ChunkedArray, recipe: Recipe, question: Question, *, threads: int | None = None
) -> MemoryCorpus:
    """Return a corpus of these texts that can answer the question."""
    texts, lengths = texts_and_lengths(column)
    return MemoryCorpus(recipe, texts, lengths, *precompute(question, column, recipe, threads))


def judging_corpus(
    column: pa.ChunkedArray, recipe: Recipe, signal: NDArray[np.bool_]
) -> MemoryCorpus:
    """Return a corpus for a `Judge` only: it has no sketches or fingerprints to find pairs by."""
    return MemoryCorpus(recipe, *texts_and_lengths(column), signal, None, None)


def precompute(
    question: Question, column: Any, recipe: Recipe, threads: int | None
) -> tuple[NDArray[np.bool_], NDArray[np.uint8] | None, NDArray[np.uint64] | None]:
    """Return the signal, and the sketches or the fingerprints, of an Arrow column of strings."""
    if question.similarity is None:
        computed: Fingerprints = fingerprints(column, recipe, threads=threads)
        return computed.signal, None, computed.values
    signal, sketches = recipe.pipeline.sketches_arrow(string_buffers(as_column(column)), threads)
    return signal, sketches, None


def texts_and_lengths(column: pa.ChunkedArray) -> tuple[_core.Texts, NDArray[np.int64]]:
    """Return the texts by row, without a copy if the column has one chunk, and their lengths."""
    import numpy as np
    import pyarrow as pa

    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    array = array.fill_null("") if array.null_count else array
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    _, offsets, data = array.buffers()
    if offsets is None:
        empty = np.zeros(0, dtype=np.int64)
        return _core.Texts.in_memory(b"", empty), empty
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    view = memoryview(data or b"").cast("B")
    texts = _core.Texts.in_memory(view[ends[0] : ends[-1]], ends[1:] - ends[0])
    return texts, np.diff(ends)


class Verdicts(NamedTuple):
    """Exact cosine and distance in bits of each pair.

    Texts without features have similarity 1 if they are equal and have a letter or digit, else 0.
    """

    similarity: NDArray[np.float64]
    distance: NDArray[np.uint16]


class Judge:
    """Computes the verdicts on pairs of rows of a corpus.

    It is fastest when pairs with a common row are neighbours: a batch reads each text once.
    """

    def __init__(
        self, corpus: Corpus, *, threads: int | None = None, tick: Tick | None = None
    ) -> None:
        self.corpus = corpus
        self.threads = threads
        self.tick: Tick = tick or (lambda _: None)

    def verdicts(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Verdicts:
        """Return the verdicts on pairs of rows, in their order."""
        import numpy as np

        similarity = np.empty(len(left))
        distance = np.empty(len(left), dtype=np.uint16)
        pipeline = self.corpus.recipe.pipeline
        for start in range(0, len(left), BATCH_PAIRS):
            part = slice(start, start + BATCH_PAIRS)
            similarity[part], distance[part] = pipeline.judge(
                self.corpus.texts,
                left[part].astype(np.uint32, copy=False),
                right[part].astype(np.uint32, copy=False),
                self.threads,
            )
            self.tick(len(similarity[part]))
        if self.corpus.values is not None:
            distance[:] = self.distances(left, right)
            return Verdicts(similarity, distance)
        return Verdicts(similarity, self.distances_by_recipe(left, right, distance))

    def distances_by_recipe(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.uint16],
    ) -> NDArray[np.uint16]:
        """Return the distances that the core computed of pairs of rows, or those under a hash
        function that only Python can call."""
        if callable(self.corpus.recipe.hash):
            distance[:] = self._python_distances(left, right)
        return distance

    def differences(
        self, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> tuple[pa.Array, pa.Array]:
        """Return for pairs of rows the names of the aspects in which they differ, and the number of
        words of the right text that the left one lacks."""
        import numpy as np

        differs, lost = np.empty(len(left), np.uint8), np.empty(len(left), np.int64)
        negation = negation_words()
        for start in range(0, len(left), BATCH_PAIRS):
            part = slice(start, start + BATCH_PAIRS)
            one, two = (side[part].astype(np.uint32, copy=False) for side in (left, right))
            differs[part], lost[part] = negation.differences(
                self.corpus.texts, one, two, self.threads
            )
        names = string_array([aspect_names(bits) for bits in range(1 << len(ASPECTS))])
        return names.take(number_array(differs)), number_array(lost)

    def agreement(
        self, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Return how far pairs agree under the recipe's `distinguishing`: 0 if they differ so; with
        "order" the share of words in the same order; else 1."""
        import numpy as np

        pipeline, agreement = self.corpus.recipe.pipeline, np.empty(len(left))
        for start in range(0, len(left), BATCH_PAIRS):
            part = slice(start, start + BATCH_PAIRS)
            one, two = (side[part].astype(np.uint32, copy=False) for side in (left, right))
            agreement[part] = pipeline.agreement(self.corpus.texts, one, two, self.threads)
        return agreement

    def distances(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Rows:
        """Return the distances of pairs of rows of a corpus that has fingerprints."""
        import numpy as np

        values = self.corpus.values
        assert values is not None  # noqa: S101
        differing = np.bitwise_count(values[left] ^ values[right])
        distances: Rows = differing.sum(axis=-1, dtype=np.int64)
        return distances

    def _python_distances(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> list[int]:
        """Return distances under a hash function that only Python can call."""
        codes: dict[int, int] = {}
        for row in {*left.tolist(), *right.tolist()}:
            codes[row] = fingerprint(self.corpus.texts.get(row), self.corpus.recipe) or 0
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return [(codes[a] ^ codes[b]).bit_count() for a, b in pairs]
