"""On this machine: all cores; texts are read again only when they are judged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from neardup.near.join import SketchJoin
from neardup.near.radius import RadiusJoin

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus
    from neardup.near.matches import Matches
    from neardup.near.question import Question


class Local:
    """The engine that needs nothing but this process."""

    session = None

    def opened(self, note: Callable[[str], object] | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def match(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: NDArray[np.int64] | None = None,
        first: int = 0,
        threads: int | None = None,
        tick: Callable[[int], object] | None = None,
        stage: Callable[[str, int | None, str], object] | None = None,
    ) -> Matches:
        kind = RadiusJoin if question.similarity is None else SketchJoin
        return kind(
            corpus,
            question,
            order=order,
            first=first,
            threads=threads,
            tick=tick,
            stage=stage,
        )
