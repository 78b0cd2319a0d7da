"""What a matcher needs to see of the texts it compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from neardup import _core
from neardup._util.arrow import as_column, chunks
from neardup.text.fingerprint import Fingerprints, fingerprint, fingerprints
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.question import Question

    Rows = NDArray[np.int64]


class Corpus(Protocol):
    """Texts by row.

    signal    which have enough features to be compared; others are near their equals only
    sketches  `_core.SKETCH_BYTES` bytes a row, where a similarity is asked for
    values    fingerprints, where a radius is asked for
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
class TextsInMemory:
    """A corpus of an Arrow column. `lengths` are in bytes."""

    recipe: Recipe
    texts: _core.Texts
    lengths: NDArray[np.int64]
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8] | None
    values: NDArray[np.uint64] | None


def texts_in_memory(
    column: pa.ChunkedArray, recipe: Recipe, asked: Question, *, threads: int | None = None
) -> TextsInMemory:
    """What is needed of these texts to answer the question."""
    texts, lengths = _stored(column)
    made = made_for(asked, column, recipe, threads)
    return TextsInMemory(recipe, texts, lengths, *made)


def judged_only(
    column: pa.ChunkedArray, recipe: Recipe, signal: NDArray[np.bool_]
) -> TextsInMemory:
    """Texts whose pairs are known already: nothing is made of them but verdicts."""
    return TextsInMemory(recipe, *_stored(column), signal, None, None)


def made_for(
    asked: Question, column: Any, recipe: Recipe, threads: int | None
) -> tuple[NDArray[np.bool_], NDArray[np.uint8] | None, NDArray[np.uint64] | None]:
    """Signal, and sketches or fingerprints, of an Arrow column of strings."""
    if asked.similarity is None:
        made: Fingerprints = fingerprints(column, recipe, threads=threads)
        return made.signal, None, made.values
    signal, sketches = recipe.pipeline.sketches_arrow(chunks(as_column(column)), threads)
    return signal, sketches, None


def _stored(column: pa.ChunkedArray) -> tuple[_core.Texts, NDArray[np.int64]]:
    """The texts by row, and the bytes of each."""
    import numpy as np
    import pyarrow as pa

    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    array = array.fill_null("") if array.null_count else array
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    _, offsets, data = array.buffers()
    if offsets is None:
        none = np.zeros(0, dtype=np.int64)
        return _core.Texts.in_memory(b"", none), none
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    view = memoryview(data or b"").cast("B")
    texts = _core.Texts.in_memory(view[ends[0] : ends[-1]], ends[1:] - ends[0])
    return texts, np.diff(ends)


# The verdict on pairs of texts: exact cosine, and the distance of their fingerprints.

Tick = Callable[[int], object]
# Told of a new stage: its name, how much there is to do if that is known, and of what.
Stage = Callable[[str, int | None, str], object]

# Pairs judged at a time: their texts are in memory meanwhile.
BATCH = 1 << 13


class Verdicts(NamedTuple):
    """For each pair the exact cosine, and the bits in which the fingerprints differ.

    Where a text has no features, the similarity is 1 for equal texts with a letter or digit, and 0
    for others.
    """

    similarity: NDArray[np.float64]
    distance: NDArray[np.uint16]


class Judge:
    """Judges pairs of rows of a corpus. Pairs that share texts should lie side by side."""

    def __init__(
        self, corpus: Corpus, *, threads: int | None = None, tick: Tick | None = None
    ) -> None:
        self.corpus = corpus
        self.threads = threads
        self.tick: Tick = tick or (lambda _: None)

    def verdicts(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Verdicts:
        import numpy as np

        similarity = np.empty(len(left))
        distance = np.empty(len(left), dtype=np.uint16)
        pipeline = self.corpus.recipe.pipeline
        for start in range(0, len(left), BATCH):
            part = slice(start, start + BATCH)
            similarity[part], distance[part] = pipeline.judge(
                self.corpus.texts,
                left[part].astype(np.uint32, copy=False),
                right[part].astype(np.uint32, copy=False),
                self.threads,
            )
            self.tick(len(similarity[part]))
        if callable(self.corpus.recipe.hash) and self.corpus.values is None:
            distance[:] = self._python_distances(left, right)
        elif self.corpus.values is not None:
            distance[:] = self.distances(left, right)
        return Verdicts(similarity, distance)

    def distances(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Rows:
        """The distances of rows whose fingerprints are there."""
        import numpy as np

        values = self.corpus.values
        assert values is not None  # noqa: S101
        found: Rows = np.bitwise_count(values[left] ^ values[right]).sum(axis=-1, dtype=np.int64)
        return found

    def _python_distances(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> list[int]:
        """With a hash that only Python can call."""
        known: dict[int, int] = {}
        for row in {*left.tolist(), *right.tolist()}:
            known[row] = fingerprint(self.corpus.texts.get(row), self.corpus.recipe) or 0
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return [(known[a] ^ known[b]).bit_count() for a, b in pairs]
