"""The join on keys: rows that share a key, a bucket, are compared in one task by the core.

A key is a table of the plan with the registers there, or a block of a fingerprint with its bits, as
in the local engine. The core emits a pair under its first common key only, so no pair is emitted
twice. A row costs one record of 69 bytes per table, 31 tables at the defaults. If the shuffle is
held in memory, the tables are joined in several rounds.

Heavy keys have more rows than a task should compare. Usually their rows are split into blocks, and
each two blocks meet in a part. If nearly all rows agree, as copies of a template do, the key is
dense: its pairs are not emitted here, and `dense_groups` compares its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup._util.arrow import array_values
from neardup.engines.spark.arrow import (
    BATCH_ROWS,
    byte_rows,
    gather_batches,
    int64_array,
    make_batch,
)
from neardup.engines.spark.packed_keys import (
    PACKED_SCHEMA,
    RECORD_OVERHEAD_BYTES,
    KeyedRows,
    Packer,
    slice_count,
    unpack_records,
)
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import ALL, INPUT, REFERENCE, REGISTERS, Rows
from neardup.engines.spark.storage import is_pysail

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

# Bits of a key below the number of its table.
TABLE_BITS = 32
# Bits of a part id for the part of a bucket, and the number of blocks they suffice for.
PART_BITS, MAX_BLOCKS = 20, 1000
# A heavy key is dense if this share of the pairs of so many of its rows agrees.
SAMPLE_ROWS, ALIKE_SHARE = 64, 0.1


def fingerprint_words(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return fingerprints as rows of 64-bit words."""
    import numpy as np

    width = (codes.shape[1] + 7) // 8 * 8
    padded = np.zeros((len(codes), width), dtype=np.uint8)
    padded[:, : codes.shape[1]] = codes
    return padded.view("<u8").astype(np.uint64, copy=False)


def row_keys(request: SparkRequest, compared: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the keys of each row of registers or fingerprints."""
    import numpy as np

    compared = np.ascontiguousarray(compared)
    if request.question.similarity is not None:
        return _core.sketch_keys(compared, request.sketch, 1)
    assert request.question.radius is not None  # noqa: S101
    return _core.code_keys(
        fingerprint_words(compared), request.recipe.bits, request.question.radius
    )


def _compared_bytes(request: SparkRequest) -> int:
    return REGISTERS if request.question.similarity is not None else request.code_bytes


def _table_count(request: SparkRequest) -> int:
    import numpy as np

    return int(row_keys(request, np.zeros((0, _compared_bytes(request)), dtype=np.uint8)).shape[1])


@dataclass(frozen=True)
class HeavyKeys:
    """Keys with more rows than a task should compare.

    blocks  key → number of blocks its rows are split into; each two blocks meet in a part
    dense   keys of which nearly all rows agree: their pairs are not emitted
    """

    blocks: dict[int, int] = field(default_factory=dict)
    dense: frozenset[int] = frozenset()


@dataclass(frozen=True)
class CountTask:
    """Task: counts the rows of each key of a sample. Returns key, rows, alike (whether nearly all
    agree, judged by a few) of keys with more than `least` rows."""

    request: SparkRequest
    least: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gather_batches(batches)
        if table is None:
            return
        records = unpack_records(table, _compared_bytes(self.request))
        key = records.key.view("i8")
        sort = np.argsort(key, kind="stable")
        found, starts, counts = np.unique(key[sort], return_index=True, return_counts=True)
        many = np.flatnonzero(counts > self.least)
        alike = np.zeros(len(many), dtype=bool)
        if self.request.question.similarity is not None:
            compared = records.compared
            least = _core.near_plan(*self.request.sketch)["least"]
            for at, each in enumerate(many.tolist()):
                some = compared[sort[starts[each] : starts[each] + min(counts[each], SAMPLE_ROWS)]]
                same = (some[:, None] == some[None]).sum(axis=2) >= least
                pairs = len(some) * (len(some) - 1)
                alike[at] = same.sum() - len(some) >= ALIKE_SHARE * pairs
        yield make_batch(
            {
                "key": int64_array(found[many]),
                "rows": int64_array(counts[many]),
                "alike": int64_array(alike.astype("i8")),
            }
        )


@dataclass(frozen=True)
class KeyTask:
    """Task: returns a record of each row under each of its keys, packed in slices.

    tables  the tables of the plan to use [default: all]
    """

    request: SparkRequest
    slices: int
    heavy: HeavyKeys = field(default_factory=HeavyKeys)
    tables: range | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from Packer(self.slices)(
            placed
            for batch in batches
            for start in range(0, batch.num_rows, BATCH_ROWS)
            for placed in self._keyed(batch.slice(start, BATCH_ROWS))
        )

    def _keyed(self, batch: pa.RecordBatch) -> Iterator[KeyedRows]:
        import numpy as np

        row, side, compared, keys = _rows_and_keys(self.request, batch)
        if self.tables is not None:
            keys = keys[:, self.tables.start : self.tables.stop]
        at = np.repeat(np.arange(len(row)), keys.shape[1])
        key = np.ascontiguousarray(keys).reshape(-1)
        is_cut = np.isin(key, np.array(sorted(self.heavy.blocks), dtype=np.uint64))
        light = np.flatnonzero(~(is_cut | _is_dense(self.heavy, key)))
        none, where = np.zeros(len(light), dtype=np.uint32), at[light]
        yield KeyedRows(key[light], none, side[where], where, row, compared)
        if is_cut.any():
            yield from self._cut(key[is_cut], at[is_cut], row, side, compared)

    def _cut(
        self,
        key: NDArray[np.uint64],
        at: NDArray[np.int64],
        row: NDArray[np.int64],
        side: NDArray[np.uint8],
        compared: NDArray[np.uint8],
    ) -> Iterator[KeyedRows]:
        """Yield rows of heavy keys, once for each two blocks of which one is their own."""
        import numpy as np

        blocks = np.array([self.heavy.blocks[each] for each in key.tolist()], dtype=np.int64)
        for part, sides, chosen in block_pairs(row[at], side[at], blocks):
            narrow = part.astype(np.uint32), sides.astype(np.uint8)
            # Only these rows: there may be many blocks, all held until they are packed.
            where, own = np.unique(at[chosen], return_inverse=True)
            yield KeyedRows(key[chosen], *narrow, own, row[where], compared[where])


@dataclass(frozen=True)
class MemberTask:
    """Task: returns row, part_id of rows with a dense key."""

    request: SparkRequest
    heavy: HeavyKeys

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        for batch in batches:
            row, _, _, keys = _rows_and_keys(self.request, batch)
            at, table = np.nonzero(_is_dense(self.heavy, keys))
            part_ids = part_id(keys[at, table].view("i8"), 0)
            yield make_batch({"row": int64_array(row[at]), "part_id": int64_array(part_ids)})


def _rows_and_keys(
    request: SparkRequest, batch: pa.RecordBatch
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
    """Return row, side, registers or fingerprint, and all keys of each row."""
    row, side = array_values(batch.column(0)), array_values(batch.column(1)).astype("u1")
    compared = byte_rows(batch.column(2), _compared_bytes(request))
    return row, side, compared, row_keys(request, compared)


def _is_dense(heavy: HeavyKeys, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    import numpy as np

    return np.isin(keys, np.array(sorted(heavy.dense), dtype=np.uint64))


def block_pairs(
    row: NDArray[np.int64], side: NDArray[np.integer[Any]], blocks: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.integer[Any]], NDArray[np.int64]]]:
    """Yield parts, sides and indices of the rows of buckets that are split into blocks.

    Every two rows meet in exactly one part. Blocks of a reference meet blocks of the inputs;
    without a reference, a block also meets itself.
    """
    import numpy as np

    # Row numbers are consecutive within a partition: neighbours go to different blocks.
    own = row % blocks
    for other in range(int(blocks.max(initial=0))):
        chosen = np.flatnonzero(other < blocks)
        mine, number, sides = own[chosen], blocks[chosen], side[chosen]
        across = sides != ALL
        # The block of the reference comes first; without a reference, the lower one.
        ahead = np.where(across, sides == REFERENCE, mine <= other)
        part = part_number(np.where(ahead, mine, other), np.where(ahead, other, mine), number)
        which = np.where(mine < other, REFERENCE, np.where(mine > other, INPUT, ALL))
        yield part, np.where(across, sides, which), chosen


def part_number(
    first: NDArray[np.int64], second: NDArray[np.int64], blocks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the part in which two blocks of a bucket meet. 0 is a bucket that is not split."""
    part: NDArray[np.int64] = first * blocks + second + 1
    return part


def part_id(key: NDArray[np.int64], part: Any) -> NDArray[np.int64]:
    """Return the id of a part of a bucket; part 0 is a whole bucket."""
    found: NDArray[np.int64] = key << PART_BITS | part
    return found


def pair_part_ids(
    key: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    heavy: HeavyKeys,
    *,
    across: bool,
) -> NDArray[np.int64]:
    """Return the part ids in which pairs with this first common key meet.

    With a reference, the left row is of the reference.
    """
    import numpy as np

    cut = np.array(sorted(heavy.blocks), dtype=np.int64)
    part = np.zeros(len(key), dtype=np.int64)
    many = np.flatnonzero(np.isin(key, cut))
    if len(many):
        of_keys = np.array([heavy.blocks[each] for each in cut.tolist()], dtype=np.int64)
        blocks = of_keys[np.searchsorted(cut, key[many])]
        first, second = left[many] % blocks, right[many] % blocks
        if not across:
            first, second = np.minimum(first, second), np.maximum(first, second)
        part[many] = part_number(first, second, blocks)
    return part_id(key, part)


@dataclass(frozen=True)
class JoinTask:
    """Task: compares the rows of many buckets. Returns pairs: left, right, distance (for a radius);
    and the rows of dense buckets: left is the row, right is -1, part_id names the bucket.

    forest  with a radius: emit only enough pairs to connect each component
    """

    request: SparkRequest
    forest: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gather_batches(batches)
        if table is None:
            return
        key, part, side, row, compared = unpack_records(table, _compared_bytes(self.request))
        del table
        places = key, part, side, row
        question = self.request.question
        dense: NDArray[Any] = np.zeros(0, dtype=np.int64)
        if question.similarity is not None:
            later, earlier, dense = _core.fallen_sketches(places, compared, self.request.sketch, 1)
            distance: NDArray[Any] = np.zeros(len(later), dtype=np.int64)
        else:
            assert question.radius is not None  # noqa: S101
            later, earlier, distance = _core.fallen_codes(
                places,
                fingerprint_words(compared),
                self.request.recipe.bits,
                question.radius,
                1,
                forest=self.forest,
            )
        for start in range(0, len(later), 4 * BATCH_ROWS):
            some = slice(start, start + 4 * BATCH_ROWS)
            none = np.full(len(later[some]), -1, dtype=np.int64)
            yield _pair_batch(row[earlier[some]], row[later[some]], none, distance[some])
        none = np.full(len(dense), -1, dtype=np.int64)
        yield _pair_batch(
            row[dense], none, part_id(key[dense].view("i8"), part[dense].astype("i8")), none
        )


def _pair_batch(*columns: NDArray[Any]) -> pa.RecordBatch:
    names = ("left", "right", "part_id", "distance")
    return make_batch(
        {name: int64_array(column) for name, column in zip(names, columns, strict=True)}
    )


@dataclass(frozen=True)
class BucketPairs:
    """Pairs that share a key, and the rows of dense buckets.

    pairs    left, right: candidates; with a radius near pairs, with their distance
    members  row, part_id: rows of dense buckets, or dense parts of buckets
    """

    pairs: DataFrame
    members: DataFrame
    heavy: HeavyKeys
    pair_count: int
    member_count: int


def join_buckets(rows: Rows, *, forest: bool = False) -> BucketPairs:
    """Compare the rows that share a key."""
    from pyspark.sql import functions as F

    request, limits = rows.request, rows.request.limits
    similar = request.question.similarity is not None
    compared = "registers" if similar else "fingerprint"
    distinct = rows.distinct.select("row", "side", F.col(compared).alias("compared"))
    tables = _table_count(request)
    heavy = _find_heavy_keys(distinct, rows, tables)
    found = None
    sizes = _table_bytes(rows, heavy, tables)
    # A pair is emitted under its first common key, so tables can be joined in any rounds.
    for some in limits.rounds(sizes, in_memory=is_pysail(distinct.sparkSession)):
        tasks = limits.tasks(sum(sizes[some.start : some.stop]))
        placed = distinct.mapInArrow(
            KeyTask(request, slice_count(tasks), heavy, some), PACKED_SCHEMA
        )
        met = placed.repartition(tasks, "slice").mapInArrow(
            JoinTask(request, forest), "left bigint, right bigint, part_id bigint, distance bigint"
        )
        held = rows.storage.pin(met)
        found = held if found is None else found.union(held)
    assert found is not None  # noqa: S101
    members = found.where("right < 0").select(F.col("left").alias("row"), "part_id")
    if heavy.dense:
        more = distinct.mapInArrow(MemberTask(request, heavy), "row bigint, part_id bigint")
        members = rows.storage.pin(members.union(more))
    pairs = found.where("right >= 0").select("left", "right", "distance")
    return BucketPairs(pairs, members, heavy, pairs.count(), members.count())


def _table_bytes(rows: Rows, heavy: HeavyKeys, tables: int) -> list[float]:
    """Return the bytes of the records of each table. A row of a split key meets every block."""
    found = [float(rows.distinct_count)] * tables
    for key, blocks in heavy.blocks.items():
        found[(key >> TABLE_BITS) % tables] += blocks * blocks * rows.request.limits.bucket_rows
    return [records * (RECORD_OVERHEAD_BYTES + _compared_bytes(rows.request)) for records in found]


def _find_heavy_keys(distinct: DataFrame, rows: Rows, tables: int) -> HeavyKeys:
    """Find the keys with more rows than a task should compare, from a sample of many rows.

    Which keys are heavy changes where rows are compared, not the answer.
    """
    from pyspark.sql import functions as F

    limits = rows.request.limits
    if rows.distinct_count <= limits.bucket_rows:
        return HeavyKeys()
    # The sample is large enough to have some rows of each heavy key.
    step = max(1, min(rows.distinct_count * tables // limits.count_keys, limits.bucket_rows // 8))
    sample = distinct if step == 1 else distinct.where(F.pmod(F.xxhash64("row"), F.lit(step)) == 0)
    tasks = limits.tasks(
        rows.distinct_count
        * tables
        / step
        * (RECORD_OVERHEAD_BYTES + _compared_bytes(rows.request))
    )
    placed = sample.mapInArrow(KeyTask(rows.request, slice_count(tasks)), PACKED_SCHEMA)
    count = CountTask(rows.request, max(1, limits.bucket_rows // step))
    shuffled = placed.repartition(tasks, "slice")
    found = shuffled.mapInArrow(count, "key bigint, rows bigint, alike bigint").toArrow()
    dense = frozenset(each["key"] for each in found.to_pylist() if each["alike"])
    blocks = {
        each["key"]: min(MAX_BLOCKS, max(2, -(-each["rows"] * step // limits.bucket_rows)))
        for each in found.to_pylist()
        if not each["alike"]
    }
    return HeavyKeys(blocks, dense)
