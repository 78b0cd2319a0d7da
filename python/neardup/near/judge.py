"""The verdict on pairs of texts: exact cosine, and the distance of their fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from neardup.text.fingerprint import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus

    Rows = NDArray[np.int64]

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
