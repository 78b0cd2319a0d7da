"""The Spark engine of jobs: workers join keys and judge pairs, the driver does the rest.

The driver holds a sketch or fingerprint of each record and the pairs found. Candidates come
from the same join as those of DataFrames (`buckets`). The core resolves dense buckets, such as
copies of a template, on the driver, as in the local engine.
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
from neardup.engines.spark.arrow import binary_array, int64_array
from neardup.engines.spark.buckets import PART_BITS, TABLE_BITS, BucketPairs, join_buckets
from neardup.engines.spark.errors import wait_for
from neardup.engines.spark.judging import judge_packets
from neardup.engines.spark.request import Limits, SparkRequest
from neardup.engines.spark.rows import ALL, INPUT, REFERENCE, REGISTERS, Rows
from neardup.engines.spark.storage import Storage
from neardup.near.clusters import gather_pairs, link_rows
from neardup.near.corpus import Verdicts
from neardup.near.join import RadiusJoin, SketchJoin
from neardup.near.matches import Clusters, Forecast, Matches, Pairs
from neardup.near.question import Linkage
from neardup.text.comparison import DEFAULT_SIMILARITY

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus
    from neardup.near.question import Question

TABLE_SCHEMA = "row long, side int, first long, signal boolean, {} binary"
# A large table is handed over in this file, in the work folder of a job.
TABLE_FILE = "shipped.parquet"
# Maximum bytes of a table inside a query plan: servers accept messages of 128 MB.
MAX_PLAN_BYTES = 48 << 20
# Rows of a row group in the file: each worker reads some groups.
ROW_GROUP_ROWS = 1 << 17


class SparkEngine:
    """Finds near-duplicates on a cluster.

    master  address of Spark, see `neardup.engines.spark.session.open_session`
    """

    def __init__(self, master: str | None = None) -> None:
        sessions.check_master(master)
        self.master = master
        self.session: sessions.SparkConnection | None = None

    @contextmanager
    def opened(self, note: Callable[[str], object] | None = None) -> Iterator[None]:
        with sessions.open_session(self.master, note) as opened:
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
            raise ValueError("the session is closed; call match() inside `with engine.opened():`")
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


def create_frame(
    session: sessions.SparkConnection, table: pa.Table, schema: str, folder: Path
) -> Any:
    """Return a DataFrame of a table.

    folder  for the file of a large table, if the workers are on this machine. Other servers receive
            it in chunks, which Spark supports from 4.1 on
    """
    if table.nbytes <= MAX_PLAN_BYTES or not session.is_local:
        return session.spark.createDataFrame(table, schema)
    import pyarrow.parquet as pq

    path = folder.absolute() / TABLE_FILE
    # Sketches and fingerprints do not compress.
    pq.write_table(
        table, path, row_group_size=ROW_GROUP_ROWS, compression="none", use_dictionary=False
    )
    return session.spark.read.schema(schema).parquet(path.as_uri())


@contextmanager
def _join_on_spark(
    session: sessions.SparkConnection,
    corpus: Corpus,
    question: Question,
    compared: NDArray[np.uint8],
    first: int,
    *,
    forest: bool = False,
) -> Iterator[BucketPairs]:
    """Join registers or fingerprints on their keys; rows are named by their indices. The tables are
    freed at the end of the `with` block."""
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
            "row": int64_array(numbers),
            "side": pa.array(side),
            "first": int64_array(numbers),
            "signal": pa.array(np.ones(count, dtype=np.bool_)),
            name: binary_array(np.ascontiguousarray(compared)),
        }
    )
    request = SparkRequest(corpus.recipe, question, "", "", (), limits=Limits())
    folder = Path(getattr(corpus, "folder", None) or tempfile.gettempdir())
    frame = create_frame(session, table, TABLE_SCHEMA.format(name), folder)
    storage = Storage()
    rows = Rows(
        request=request,
        across=bool(first),
        table=frame,
        storage=storage,
        count=count,
        distinct_count=count,
        distinct_bytes=0,
    )
    try:
        yield join_buckets(rows, forest=forest)
    finally:
        storage.release()


def _collect_columns(frame: Any, *names: str) -> list[NDArray[Any]]:
    table = frame.select(*names).toArrow()
    return [array_values(table[name]) for name in names]


def _dense_rows(member: NDArray[np.int64], key: NDArray[np.int64]) -> dict[int, NDArray[np.uint32]]:
    """Return for each dense key its rows, sorted, whatever part they are in."""
    import numpy as np

    found = {}
    sort = np.lexsort((member, key))
    member, key = member[sort], key[sort]
    for place in np.split(np.arange(len(key)), np.flatnonzero(np.diff(key)) + 1):
        rows = np.unique(member[place]).astype(np.uint32)
        if len(rows) > 1:
            found[int(key[place[0]])] = rows
    return found


def _outside_dense(
    registers: NDArray[np.uint8],
    earlier: NDArray[np.int64],
    later: NDArray[np.int64],
    dense: dict[int, NDArray[np.uint32]],
    question: Question,
) -> NDArray[np.bool_]:
    """Return which pairs are not of a dense bucket.

    A bucket that was split may be dense in some parts only; all its rows are then compared again,
    together.
    """
    import numpy as np

    assert question.similarity is not None  # noqa: S101
    left, right = earlier.astype(np.uint32), later.astype(np.uint32)
    plan = question.similarity, question.recall
    first = _core.first_tables(np.ascontiguousarray(registers), left, right, plan)
    outside = np.ones(len(left), dtype=np.bool_)
    for key, rows in dense.items():
        inside = np.zeros(len(registers), dtype=np.bool_)
        inside[rows] = True
        # Two rows of a key whose first common table is that of the key met there.
        outside &= ~((first == key >> TABLE_BITS) & inside[left] & inside[right])
    return outside


class SparkSketchJoin(SketchJoin):
    """A `SketchJoin` whose candidates are found and judged by workers. At a recall of 1 it runs
    here."""

    session: sessions.SparkConnection

    def forecast(self) -> Forecast | None:
        return None if self.plan["tables"] else super().forecast()

    def _candidates(
        self, progress: Callable[[int, int], object]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        import numpy as np

        join, sketches = self._join, self.corpus.sketches
        rows = join.rows
        nothing = len(rows) < 2 or join.first == len(rows)
        if nothing:
            return join.candidates(self.threads, progress)
        assert sketches is not None  # noqa: S101
        registers = sketches[rows][:, :REGISTERS]

        def find() -> list[NDArray[Any]]:
            with _join_on_spark(
                self.session, self.corpus, self.question, registers, join.first
            ) as found:
                pairs, members = found.pairs, found.members
                return [
                    *_collect_columns(pairs, "left", "right"),
                    *_collect_columns(members, "row", "part_id"),
                ]

        earlier, later, member, part_ids = wait_for(find)
        dense = _dense_rows(member, part_ids >> PART_BITS)
        if (part_ids & ((1 << PART_BITS) - 1)).any():
            outside = _outside_dense(registers, earlier, later, dense, self.question)
            earlier, later = earlier[outside], later[outside]
        found = [(key >> TABLE_BITS, members) for key, members in dense.items()]
        return join.put(later.astype(np.uint32), earlier.astype(np.uint32), found, self.threads)

    def _verdicts(self, later: NDArray[np.uint32], earlier: NDArray[np.uint32]) -> Verdicts:
        return judge_packets(
            self.session, self.corpus, later, earlier, self.judge.tick, self.threads
        )


class SparkRadiusJoin(RadiusJoin):
    """A `RadiusJoin` whose fingerprints are compared by workers. It finds all pairs, whatever the
    recall."""

    session: sessions.SparkConnection

    def pairs(self) -> Iterator[Pairs]:
        yield from self._pairs(forest=False)

    def _pairs(self, *, forest: bool) -> Iterator[Pairs]:
        """Yield pairs; with `forest` only enough to connect each component."""
        import numpy as np

        self._stage("comparing", None, "pairs")
        alone = self._twin_places == np.arange(len(self._twin_places))
        places = np.flatnonzero(alone & self._signal)
        first = 0
        if self.reference_rows:
            # With a reference, rows are in order.
            first = int(np.searchsorted(places, self.reference_rows))
        if len(places) < 2 or (self.reference_rows and first in (0, len(places))):
            return
        values = np.ascontiguousarray(self._values[places])
        wide = values.astype("<u8", copy=False).view(np.uint8)
        codes = wide.reshape(len(places), -1)[:, : (self.corpus.recipe.bits + 7) // 8]

        def find() -> list[NDArray[Any]]:
            with _join_on_spark(
                self.session, self.corpus, self.question, codes, first, forest=forest
            ) as found:
                return _collect_columns(found.pairs, "left", "right", "distance")

        left, right, distance = wait_for(find)
        self.plan = {"method": "spark", "rows": len(places), "radius": self.question.radius}
        self.counts.candidates += len(left)
        left, right = self._order[places[left]], self._order[places[right]]
        if self.question.distinguish:
            agree = self._agreement(left, right) >= DEFAULT_SIMILARITY
            left, right, distance = left[agree], right[agree], distance[agree]
        apart = distance.astype(np.uint16)
        self.counts.add(apart, None)
        if self.sample is not None:
            self.sample.take(left, right, apart, None)
        self.judge.tick(len(left))
        yield Pairs(left, right, apart, None)

    def _agreement(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the agreement of pairs, as `Judge.agreement` does; workers compute it."""
        import numpy as np

        # Pairs with a common text become neighbours.
        sort = np.lexsort((right, left))
        found = np.empty(len(left))
        pairs = left[sort].astype(np.uint32), right[sort].astype(np.uint32)
        found[sort] = judge_packets(
            self.session, self.corpus, *pairs, self.judge.tick, self.threads, agreement=True
        ).similarity
        return found

    def clusters(self, linkage: Linkage) -> Clusters:
        if self.question.distinguish:
            return self._verified_clusters(linkage)
        sample, self.sample = self.sample, None
        found = gather_pairs(self._pairs(forest=linkage == "connected"), judged=False)
        self.sample = sample
        self.counts.candidates = 0
        linked = link_rows(found.left, found.right, len(self.twins), linkage, self._order)
        return self._with_distances(linked.labels[self.twins])
