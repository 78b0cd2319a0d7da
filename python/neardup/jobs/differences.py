"""What differs between the near-duplicates of a job: how many in which aspect, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import array_values
from neardup.text.differences import ASPECTS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# Aspects by suspicion: a reader looks at negations first.
SUSPICION = ("negation", "numbers", "symbols", "order")
LOST = "lost"
# Examples kept of each aspect, and of the most words lost.
EXAMPLES = 5


class Example(NamedTuple):
    """A pair of rows that differ: the one kept, and its near-duplicate.

    order  examples are sorted by it: of an aspect the most similar pair first, for where little
           else has changed the aspect decides; of words lost the most first
    """

    order: float
    left: int
    right: int
    distance: int
    similarity: float


class DifferenceTally:
    """Counts what differs, pair by pair.

    pairs   number of pairs counted
    counts  number of them that differ in each aspect
    """

    def __init__(self) -> None:
        self.pairs = 0
        self.counts: dict[str, int] = dict.fromkeys(ASPECTS, 0)
        self._examples: dict[str, list[Example]] = {name: [] for name in (*SUSPICION, LOST)}

    def add(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
        differs: pa.Array,
        lost: pa.Array,
    ) -> None:
        """Count pairs of rows; `differs` and `lost` as in the tables of jobs."""
        import numpy as np

        words = array_values(lost)
        encoded = differs.dictionary_encode()
        codes = array_values(encoded.indices)
        known = [value.split(",") for value in encoded.dictionary.to_pylist()]
        self.pairs += len(left)
        farness = distance if similarity is None else -similarity
        self._keep(LOST, np.flatnonzero(words), -words, left, right, distance, similarity)
        for aspect in ASPECTS:
            has = np.array([aspect in each for each in known], dtype=bool)
            at = np.flatnonzero(has[codes])
            self.counts[aspect] += len(at)
            self._keep(aspect, at, farness, left, right, distance, similarity)

    def _keep(
        self,
        name: str,
        at: NDArray[np.int64],
        order: NDArray[Any],
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
    ) -> None:
        """Keep the best of the pairs at these places as examples."""
        import numpy as np

        examples = self._examples[name]
        for place in at[np.argsort(order[at], kind="stable")[:EXAMPLES]].tolist():
            cosine = float("nan") if similarity is None else float(similarity[place])
            pair = int(left[place]), int(right[place]), int(distance[place]), cosine
            examples.append(Example(float(order[place]), *pair))
        examples.sort(key=lambda each: each[:3])
        del examples[EXAMPLES:]

    def examples(self) -> Iterator[tuple[str, list[Example]]]:
        """Yield the aspects with examples, then "lost"; a pair is an example of one of them."""
        shown: set[tuple[int, int]] = set()
        for name, examples in self._examples.items():
            new = [each for each in examples if each[1:3] not in shown]
            shown |= {each[1:3] for each in new}
            if new:
                yield name, new
