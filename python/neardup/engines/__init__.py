"""Engines: where near-duplicates are looked for. All give the same pairs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.engines.spark.session import SparkConnection
    from neardup.near.corpus import Corpus
    from neardup.near.matches import Matches
    from neardup.near.question import Question

NAMES = ("local", "spark")


class Engine(Protocol):
    """Finds the near-duplicates of a corpus.

    session  of Spark, while it is open; None where there is none
    """

    @property
    def session(self) -> SparkConnection | None: ...

    def opened(self, note: Callable[[str], object] | None = None) -> AbstractContextManager[None]:
        """In here the engine can be asked.

        note  is told why it takes long to open it
        """

    def match(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: NDArray[np.int64] | None = None,
        reference_rows: int = 0,
        threads: int | None = None,
        tick: Callable[[int], object] | None = None,
        stage: Callable[[str, int | None, str], object] | None = None,
    ) -> Matches:
        """The near-duplicates, ready to be asked for.

        order  rows, those that are to stand for others first [default: as they come]
        reference_rows  compare these first rows only with the others [default: all with all]
        tick   is called with the number of pairs judged since its last call
        stage  is told what is begun: its name, how much there is to do if that is known, of what
        """


def engine(name: str = "local", master: str | None = None) -> Engine:
    """The engine of this name.

    master  where Spark runs, as `neardup.engines.spark.session.session` takes it
    """
    if name not in NAMES:
        raise ValueError(f"engine is {name!r}; use one of {', '.join(NAMES)}")
    if name == "spark":
        from neardup.engines.spark.engine import SparkEngine

        return SparkEngine(master)
    if master is not None:
        raise ValueError(
            f"master is {master!r}, which is for Spark, and the engine is {name!r}; add --engine "
            "spark, or leave it out"
        )
    from neardup.near.join import LocalEngine

    return LocalEngine()
