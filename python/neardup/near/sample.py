"""Some of the pairs that were judged, and how many there were: what a threshold is chosen by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.question import Question

# Steps of similarity from 0 to 1.
STEPS = 50
# Pairs kept of each step and side of the threshold.
OF_EACH = 6
# Pairs sorted at a time.
BATCH = 1 << 18
# The same pairs are drawn from the same corpus.
SEED = 20
# The share of a side that is much smaller than the other, in what is drawn from both.
LEAST_SHARE = 0.1


def shuffled(rows: NDArray[np.int64], reference: int, seed: int = 0) -> NDArray[np.int64]:
    """Rows in an order of which every beginning is a sample.

    With a reference (rows before this number) only pairs across are of interest: each beginning
    has rows of both sides, in proportion, but at least a tenth of the smaller one while it lasts.
    No rows, if one side has none.
    """
    import numpy as np

    mixed = np.random.default_rng(seed).permutation(rows)
    if not reference:
        return mixed
    sides = [mixed[mixed < reference], mixed[mixed >= reference]]
    if not all(map(len, sides)):
        return mixed[:0]
    share = min(max(len(sides[0]) / len(mixed), LEAST_SHARE), 1 - LEAST_SHARE)
    places = [np.arange(len(sides[0])) / share, np.arange(len(sides[1])) / (1 - share)]
    return np.concatenate(sides)[np.argsort(np.concatenate(places), kind="stable")]


class SampledPair(NamedTuple):
    """Two rows; `similarity` is NaN where a radius decided."""

    left: int
    right: int
    distance: int
    similarity: float
    near: bool


class PairSample:
    """Pairs drawn at random, so many of each step of similarity, or of each distance.

    near, far  how many pairs of each step count, and how many were rejected
    """

    def __init__(self, question: Question, bits: int) -> None:
        import numpy as np

        self.question = question
        steps = STEPS if question.similarity is not None else bits + 1
        self.near, self.far = np.zeros(steps, dtype=np.int64), np.zeros(steps, dtype=np.int64)
        self._random = np.random.default_rng(SEED)
        # Step and side → pairs with the smallest of the random numbers that all pairs get.
        self._drawn: dict[int, list[tuple[float, SampledPair]]] = {}

    def take(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
    ) -> None:
        """These pairs were judged."""
        for start in range(0, len(left), BATCH):
            part = slice(start, start + BATCH)
            some = None if similarity is None else similarity[part]
            self._take(left[part], right[part], distance[part], some)

    def _take(
        self,
        left: NDArray[np.integer],
        right: NDArray[np.integer],
        distance: NDArray[np.integer],
        similarity: NDArray[np.float64] | None,
    ) -> None:
        import numpy as np

        step, near = self._steps(distance, similarity)
        for counts, side in ((self.near, near), (self.far, ~near)):
            counts += np.bincount(step[side], minlength=len(counts))
        group, key = step * 2 + near, self._random.random(len(step))
        order = np.lexsort((key, group))
        found, first = np.unique(group[order], return_index=True)
        ends = [*first[1:].tolist(), len(order)]
        for number, begin, end in zip(found.tolist(), first.tolist(), ends, strict=True):
            drawn = self._drawn.setdefault(number, [])
            for at in order[begin : min(end, begin + OF_EACH)].tolist():
                cosine = float("nan") if similarity is None else float(similarity[at])
                pair = SampledPair(
                    int(left[at]), int(right[at]), int(distance[at]), cosine, near[at]
                )
                drawn.append((float(key[at]), pair))
            drawn.sort(key=lambda each: each[0])
            del drawn[OF_EACH:]

    def _steps(
        self, distance: NDArray[np.integer], similarity: NDArray[np.float64] | None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The step of each pair, and whether it counts."""
        import numpy as np

        if self.question.similarity is None:
            return distance.astype(np.int64), distance <= (self.question.radius or 0)
        assert similarity is not None  # noqa: S101
        # A similarity of 0.86 is in the step that begins there, whatever its last digit.
        step = np.clip((similarity * STEPS + 1e-9).astype(np.int64), 0, STEPS - 1)
        return step, similarity >= self.question.similarity

    def drawn(self) -> dict[int, list[SampledPair]]:
        """Pairs by step: both sides of it."""
        found: dict[int, list[SampledPair]] = {}
        for group, pairs in sorted(self._drawn.items()):
            found.setdefault(group // 2, []).extend(pair for _, pair in pairs)
        return found
