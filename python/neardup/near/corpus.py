"""What a matcher needs to see of the texts it compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from neardup import _core
from neardup._util.arrow import as_column, chunks
from neardup.text.fingerprint import Fingerprints, fingerprints
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.question import Question


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
