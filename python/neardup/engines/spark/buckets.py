"""Keys as data: rows that share a key come to one task, where the core compares them.

A key is a table of the plan and the registers there, or a block of a fingerprint and its bits, as
the local engine has them. The core tells a pair under its first common key only, so that nothing
has to be made distinct. A row costs one record of 64 bytes for each table, 22 at the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup.columns import values_of
from neardup.engines.spark.asked import Asked
from neardup.engines.spark.batches import ROWS, as_batch, binaries, gathered, longs, rows_of_bytes
from neardup.engines.spark.rows import ALL, INPUT, REFERENCE, Rows
from neardup.engines.spark.sketching import REGISTERS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

# Bytes of a record beside what is compared: key, part, side, row.
BESIDE = 24


def words_of(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Fingerprints as rows of words."""
    import numpy as np

    width = (codes.shape[1] + 7) // 8 * 8
    padded = np.zeros((len(codes), width), dtype=np.uint8)
    padded[:, : codes.shape[1]] = codes
    return padded.view("<u8").astype(np.uint64, copy=False)


def keys_of(asked: Asked, compared: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The keys of registers, or of fingerprints, a row each."""
    import numpy as np

    compared = np.ascontiguousarray(compared)
    if asked.question.similarity is not None:
        return _core.sketch_keys(compared, asked.sketch, 1)
    assert asked.question.radius is not None  # noqa: S101
    return _core.code_keys(words_of(compared), asked.recipe.bits, asked.question.radius)


def _width(asked: Asked) -> int:
    return REGISTERS if asked.question.similarity is not None else asked.code_bytes


def _tables(asked: Asked) -> int:
    import numpy as np

    return int(keys_of(asked, np.zeros((0, _width(asked)), dtype=np.uint8)).shape[1])


@dataclass(frozen=True)
class Counting:
    """Only the keys of rows, to be counted."""

    asked: Asked

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = keys_of(self.asked, rows_of_bytes(batch.column(0), _width(self.asked)))
            yield as_batch({"key": longs(keys.reshape(-1).view("i8"))})


@dataclass(frozen=True)
class Keying:
    """Rows under each of their keys.

    heavy    keys of many rows → blocks their rows are cut into
    members  only the rows of heavy keys, as row and key, without what is compared
    """

    asked: Asked
    heavy: dict[int, int]
    members: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                yield from self._keyed(batch.slice(start, ROWS))

    def _keyed(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        import numpy as np

        row, side = values_of(batch.column(0)), values_of(batch.column(1))
        compared = rows_of_bytes(batch.column(2), _width(self.asked))
        keys = keys_of(self.asked, compared)
        at = np.repeat(np.arange(len(row)), keys.shape[1])
        key = keys.reshape(-1)
        many = np.array(sorted(self.heavy), dtype=np.uint64)
        is_heavy = np.isin(key, many)
        if self.members:
            yield as_batch(
                {"row": longs(row[at[is_heavy]]), "key": longs(key[is_heavy].view("i8"))}
            )
            return
        light = ~is_heavy
        none = np.zeros(int(light.sum()), dtype=np.int32)
        yield self._placed(key[light], none, side[at[light]], at[light], row, compared)
        if self.asked.question.similarity is None and is_heavy.any():
            yield from self._cut(key[is_heavy], at[is_heavy], row, side, compared)

    def _cut(
        self,
        key: NDArray[np.uint64],
        at: NDArray[np.int64],
        row: NDArray[np.int64],
        side: NDArray[np.integer],
        compared: NDArray[np.uint8],
    ) -> Iterator[pa.RecordBatch]:
        """Rows of heavy keys, once for each two blocks of which one is their own."""
        import numpy as np

        blocks = np.array([self.heavy[int(one)] for one in key.tolist()], dtype=np.int64)
        for part, sides, chosen in block_pairs(row[at], side[at], blocks):
            where = at[chosen]
            yield self._placed(key[chosen], part.astype(np.int32), sides, where, row, compared)

    def _placed(
        self,
        key: NDArray[np.uint64],
        part: NDArray[np.int32],
        side: NDArray[np.integer],
        at: NDArray[np.int64],
        row: NDArray[np.int64],
        compared: NDArray[np.uint8],
    ) -> pa.RecordBatch:
        from neardup.columns import numbers

        return as_batch(
            {
                "key": longs(key.view("i8")),
                "part": numbers(part),
                "side": numbers(side.astype("i4")),
                "row": longs(row[at]),
                "compared": binaries(compared[at]),
            }
        )


def block_pairs(
    row: NDArray[np.int64], side: NDArray[np.integer], blocks: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Rows of a bucket that is cut into so many blocks: parts, sides and numbers of rows. Every two
    rows meet in one part. With a reference its blocks meet those of the others; else a block meets
    itself, too."""
    import numpy as np

    # Row numbers run on within a partition: neighbours go to different blocks.
    own = row % blocks
    for other in range(int(blocks.max(initial=0))):
        chosen = np.flatnonzero(other < blocks)
        mine, number, sides = own[chosen], blocks[chosen], side[chosen]
        across = sides != ALL
        low, high = np.minimum(mine, other), np.maximum(mine, other)
        part = np.where(
            across,
            np.where(sides == REFERENCE, mine * number + other, other * number + mine),
            low * number + high,
        )
        which = np.where(mine < other, REFERENCE, np.where(mine > other, INPUT, ALL))
        yield part + 1, np.where(across, sides, which), chosen


@dataclass(frozen=True)
class Falling:
    """Rows of many buckets → pairs: left, right, distance (by radius), and the rows of buckets that
    are better looked at in another way: their number is left, right is -1, key says which.

    forest  by radius: no more pairs than connect what is connected
    """

    asked: Asked
    forest: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gathered(batches)
        if table is None:
            return
        key, part, side, row = (values_of(table[name]) for name in ("key", "part", "side", "row"))
        compared = np.ascontiguousarray(rows_of_bytes(table["compared"], _width(self.asked)))
        del table
        places = key.view("u8"), part.astype("u4"), side.astype("u1"), row
        question = self.asked.question
        dense: NDArray[Any] = np.zeros(0, dtype=np.int64)
        if question.similarity is not None:
            later, earlier, dense = _core.fallen_sketches(places, compared, self.asked.sketch, 1)
            distance: NDArray[Any] = np.zeros(len(later), dtype=np.int64)
        else:
            assert question.radius is not None  # noqa: S101
            later, earlier, distance = _core.fallen_codes(
                places,
                words_of(compared),
                self.asked.recipe.bits,
                question.radius,
                1,
                forest=self.forest,
            )
        for start in range(0, len(later), 4 * ROWS):
            some = slice(start, start + 4 * ROWS)
            none = np.full(len(later[some]), -1, dtype=np.int64)
            yield _found(row[earlier[some]], row[later[some]], none, distance[some])
        none = np.full(len(dense), -1, dtype=np.int64)
        yield _found(row[dense], none, key[dense], none)


def _found(*columns: NDArray[Any]) -> pa.RecordBatch:
    names = ("left", "right", "key", "distance")
    return as_batch({name: longs(column) for name, column in zip(names, columns, strict=True)})


@dataclass(frozen=True)
class Found:
    """What fell together.

    pairs    left, right: candidates by similarity; by radius pairs, with their distance
    members  row, key: rows of keys that are too heavy, or too dense, for their pairs to be told
    """

    pairs: DataFrame
    members: DataFrame
    pair_count: int
    member_count: int


def fallen(rows: Rows, *, forest: bool = False) -> Found:
    """Compares what shares a key."""
    from pyspark.sql import functions as F

    asked, limits = rows.asked, rows.asked.limits
    similar = asked.question.similarity is not None
    compared = "registers" if similar else "fingerprint"
    units = rows.compared.select("row", "side", F.col(compared).alias("compared"))
    tables = _tables(asked)
    heavy = _heavy(units, rows, tables)
    placed = units.mapInArrow(
        Keying(asked, heavy), "key bigint, part int, side int, row bigint, compared binary"
    )
    # Each row of a heavy key meets every block.
    cut = sum(blocks * blocks for blocks in heavy.values()) * limits.bucket_rows
    records = rows.units * tables + cut
    tasks = limits.tasks(records * (BESIDE + _width(asked)))
    met = placed.repartition(tasks, "key", "part").mapInArrow(
        Falling(asked, forest), "left bigint, right bigint, key bigint, distance bigint"
    )
    found = rows.storage.pin(met)
    members = found.where("right < 0").select(F.col("left").alias("row"), "key")
    if heavy and similar:
        more = units.mapInArrow(Keying(asked, heavy, members=True), "row bigint, key bigint")
        members = rows.storage.pin(members.union(more))
    pairs = found.where("right >= 0").select("left", "right", "distance")
    return Found(pairs, members, pairs.count(), members.count())


def _heavy(units: DataFrame, rows: Rows, tables: int) -> dict[int, int]:
    """Keys of more rows than a task should compare, and how many blocks they are cut into. Large
    numbers of rows are counted by a sample: what is heavy changes who compares it, and no answer.
    """
    from pyspark.sql import functions as F

    limits = rows.asked.limits
    if rows.units <= limits.bucket_rows:
        return {}
    step = max(1, rows.units * tables // limits.count_keys)
    sample = units if step == 1 else units.where(F.pmod(F.xxhash64("row"), F.lit(step)) == 0)
    counted = sample.select("compared").mapInArrow(Counting(rows.asked), "key bigint")
    least = max(1, limits.bucket_rows // step)
    found = counted.groupBy("key").agg(F.count(F.lit(1)).alias("rows")).where(F.col("rows") > least)
    listed = found.toArrow().to_pylist()
    return {
        each["key"] % (1 << 64): -(-each["rows"] * step // limits.bucket_rows) for each in listed
    }
