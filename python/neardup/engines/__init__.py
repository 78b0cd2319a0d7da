"""Engines: where a join runs. All find the same pairs.

`engine(name)` returns an `Engine`, which a job asks for the near-duplicates of a corpus:

    local   `neardup.near.join.LocalEngine`: on this machine, the fastest while the corpus fits
    spark   `spark.engine.SparkEngine`: workers read files, join keys and judge pairs

An engine returns `Matches` (`neardup.near.matches`). It does not read options or write outputs;
that is `neardup.jobs`. For DataFrames, `neardup.engines.spark` has functions of its own.
"""

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

__all__ = ["Engine", "engine", "spark"]

ENGINE_NAMES = ("local", "spark")


class Engine(Protocol):
    """Finds the near-duplicates of a corpus.

    session  the open session of Spark; None without one
    """

    @property
    def session(self) -> SparkConnection | None: ...

    def opened(self, note: Callable[[str], object] | None = None) -> AbstractContextManager[None]:
        """Open the engine for the `with` block; `match` works only there.

        note  called with a message if opening takes long
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
        """Return the near-duplicates of a corpus; they are computed when they are read.

        order           all rows, the ones to keep first [default: as numbered]
        reference_rows  compare the first so many rows with the others only [default: all with all]
        tick            called with the number of pairs judged since the last call
        stage           called at the start of a stage: its name, total if known, unit
        """


def engine(name: str = "local", master: str | None = None) -> Engine:
    """Return the engine of this name.

    master  address of Spark, see `neardup.engines.spark.session.open_session`
    """
    if name not in ENGINE_NAMES:
        raise ValueError(f"engine is {name!r}; use one of {', '.join(ENGINE_NAMES)}")
    if name == "spark":
        from neardup.engines.spark.engine import SparkEngine

        return SparkEngine(master)
    if master is not None:
        raise ValueError(
            f"master is {master!r}, but the engine is {name!r}; use --engine spark, or leave the "
            "master out"
        )
    from neardup.near.join import LocalEngine

    return LocalEngine()
