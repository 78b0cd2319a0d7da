"""The engine of jobs on Spark: keys are joined and texts are judged there, the rest is as local.

The driver has a sketch or a fingerprint of each record and the pairs that were found. Candidates
come from the same keys as those of DataFrames (`buckets.py`); what is dense, copies of a template,
is resolved by the core on the driver, as the local engine does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup._util.arrow import array_values
from neardup.engines.spark import session as sessions
from neardup.engines.spark.batches import binaries, longs
from neardup.engines.spark.buckets import PART_BITS, TABLE_BITS, BucketPairs, fallen
from neardup.engines.spark.errors import waited
from neardup.engines.spark.judging import verdicts
from neardup.engines.spark.request import Limits, SparkRequest
from neardup.engines.spark.rows import ALL, INPUT, REFERENCE, Rows
from neardup.engines.spark.sketching import REGISTERS
from neardup.engines.spark.storage import Storage
from neardup.engines.spark.transfer import ship
from neardup.near.clusters import gather_pairs, link_rows
from neardup.near.corpus import Verdicts
from neardup.near.join import RadiusJoin, SketchJoin
from neardup.near.matches import Clusters, Matches, Pairs
from neardup.near.question import Linkage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus
    from neardup.near.question import Question

TABLE = "row long, side int, first long, signal boolean, {} binary"


class Spark:
    """Finds near-duplicates on a cluster.

    master  where it is, as `neardup.engines.spark.session.session` takes it
    """

    def __init__(self, master: str | None = None) -> None:
        sessions.check_master(master)
        self.master = master
        self.session: sessions.SparkConnection | None = None

    @contextmanager
    def opened(self, note: Callable[[str], object] | None = None) -> Iterator[None]:
        with sessions.session(self.master, note) as opened:
            self.session = opened
            try:
                yield
            finally:
                self.session = None

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
        if self.session is None:
            raise ValueError("the session is closed; ask inside of opened()")
        kind = SparkRadiusJoin if question.similarity is None else SparkSketchJoin
        found = kind(
            corpus,
            question,
            order=order,
            reference_rows=reference_rows,
            threads=threads,
            tick=tick,
            stage=stage,
        )
        found.session = self.session
        return found


@contextmanager
def _fallen(
    session: sessions.SparkConnection,
    corpus: Corpus,
    question: Question,
    compared: NDArray[np.uint8],
    first: int,
    *,
    forest: bool = False,
) -> Iterator[BucketPairs]:
    """What shares a key among these registers or fingerprints, which go by their places. It is held
    as long as the `with` statement."""
    import numpy as np
    import pyarrow as pa

    count = len(compared)
    numbers = np.arange(count)
    side = np.full(count, ALL, dtype=np.int32)
    if first:
        side = np.where(numbers < first, REFERENCE, INPUT).astype(np.int32)
    name = "fingerprint" if question.similarity is None else "registers"
    table = pa.table(
        {
            "row": longs(numbers),
            "side": pa.array(side),
            "first": longs(numbers),
            "signal": pa.array(np.ones(count, dtype=np.bool_)),
            name: binaries(np.ascontiguousarray(compared)),
        }
    )
    asked = SparkRequest(corpus.recipe, question, "", "", (), limits=Limits())
    folder = Path(getattr(corpus, "folder", None) or tempfile.gettempdir())
    frame = ship(session, table, TABLE.format(name), folder)
    storage = Storage()
    rows = Rows(
        asked=asked,
        across=bool(first),
        table=frame,
        storage=storage,
        count=count,
        units=count,
        unit_bytes=0,
    )
    try:
        yield fallen(rows, forest=forest)
    finally:
        storage.release()


def _columns(frame: Any, *names: str) -> list[NDArray[Any]]:
    table = frame.select(*names).toArrow()
    return [array_values(table[name]) for name in names]


def _dense(member: NDArray[np.int64], key: NDArray[np.int64]) -> dict[int, NDArray[np.uint32]]:
    """The rows of each key that is dense, wherever they met, in order."""
    import numpy as np

    found = {}
    sort = np.lexsort((member, key))
    member, key = member[sort], key[sort]
    for place in np.split(np.arange(len(key)), np.flatnonzero(np.diff(key)) + 1):
        rows = np.unique(member[place]).astype(np.uint32)
        if len(rows) > 1:
            found[int(key[place[0]])] = rows
    return found


def _untold(
    registers: NDArray[np.uint8],
    earlier: NDArray[np.int64],
    later: NDArray[np.int64],
    dense: dict[int, NDArray[np.uint32]],
    question: Question,
) -> NDArray[np.bool_]:
    """Which pairs are not of a dense bucket: of one that was cut, only some parts are dense, and
    all its rows are looked at once more together."""
    import numpy as np

    assert question.similarity is not None  # noqa: S101
    left, right = earlier.astype(np.uint32), later.astype(np.uint32)
    asked = question.similarity, question.recall
    first = _core.first_tables(np.ascontiguousarray(registers), left, right, asked)
    untold = np.ones(len(left), dtype=np.bool_)
    for key, rows in dense.items():
        inside = np.zeros(len(registers), dtype=np.bool_)
        inside[rows] = True
        # Two rows of a key whose first table is that of the key met there.
        untold &= ~((first == key >> TABLE_BITS) & inside[left] & inside[right])
    return untold


class SparkSketchJoin(SketchJoin):
    """As `SketchJoin`, but candidates are found, and judged, by workers."""

    session: sessions.SparkConnection

    def _candidates(
        self, progress: Callable[[int, int], object]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        import numpy as np

        join, sketches = self._join, self.corpus.sketches
        rows = join.rows
        nothing = len(rows) < 2 or join.first == len(rows)
        # To compare all with all, nothing has to be looked for.
        if nothing or not self.plan["tables"]:
            return join.candidates(self.threads, progress)
        assert sketches is not None  # noqa: S101
        registers = sketches[rows][:, :REGISTERS]

        def find() -> list[NDArray[Any]]:
            asked = self.session, self.corpus, self.question
            with _fallen(*asked, registers, join.first) as found:
                pairs, members = found.pairs, found.members
                return [*_columns(pairs, "left", "right"), *_columns(members, "row", "unit")]

        earlier, later, member, unit = waited(find)
        dense = _dense(member, unit >> PART_BITS)
        if (unit & ((1 << PART_BITS) - 1)).any():
            untold = _untold(registers, earlier, later, dense, self.question)
            earlier, later = earlier[untold], later[untold]
        found = [(key >> TABLE_BITS, members) for key, members in dense.items()]
        return join.put(later.astype(np.uint32), earlier.astype(np.uint32), found, self.threads)

    def _verdicts(self, later: NDArray[np.uint32], earlier: NDArray[np.uint32]) -> Verdicts:
        return verdicts(self.session, self.corpus, later, earlier, self.judge.tick, self.threads)


class SparkRadiusJoin(RadiusJoin):
    """As `RadiusJoin`, but fingerprints are compared by workers. Nothing is missed, whatever
    recall is asked for."""

    session: sessions.SparkConnection

    def pairs(self) -> Iterator[Pairs]:
        yield from self._pairs(forest=False)

    def _pairs(self, *, forest: bool) -> Iterator[Pairs]:
        """forest  no more pairs than connect what is connected"""
        import numpy as np

        self._stage("comparing", None, "pairs")
        alone = self._labels == np.arange(len(self._labels))
        places = np.flatnonzero(alone & self._signal)
        first = 0
        if self.reference_rows:
            # Where pairs across are asked for, rows stand in order.
            first = int(np.searchsorted(places, self.reference_rows))
        if len(places) < 2 or (self.reference_rows and first in (0, len(places))):
            return
        values = np.ascontiguousarray(self._values[places])
        wide = values.astype("<u8", copy=False).view(np.uint8)
        codes = wide.reshape(len(places), -1)[:, : (self.corpus.recipe.bits + 7) // 8]

        def find() -> list[NDArray[Any]]:
            asked = self.session, self.corpus, self.question
            with _fallen(*asked, codes, first, forest=forest) as found:
                return _columns(found.pairs, "left", "right", "distance")

        left, right, distance = waited(find)
        self.plan = {"method": "spark", "rows": len(places), "radius": self.question.radius}
        self.counts.candidates += len(left)
        left, right = self._order[places[left]], self._order[places[right]]
        apart = distance.astype(np.uint16)
        self.counts.add(apart, None)
        if self.sample is not None:
            self.sample.take(left, right, apart, None)
        self.judge.tick(len(left))
        yield Pairs(left, right, apart, None)

    def clusters(self, linkage: Linkage) -> Clusters:
        sample, self.sample = self.sample, None
        found = gather_pairs(self._pairs(forest=linkage == "connected"), judged=False)
        self.sample = sample
        self.counts.candidates = 0
        linked = link_rows(found.left, found.right, len(self.twins), linkage, self._order)
        return self._measure(linked.labels[self.twins])
