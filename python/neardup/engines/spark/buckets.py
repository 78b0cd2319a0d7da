"""Keys as data: rows that share a key come to one task, where the core compares them.

A key is a table of the plan and the registers there, or a block of a fingerprint and its bits, as
the local engine has them. The core tells a pair under its first common key only, so that nothing
has to be made distinct. A row costs one record of 69 bytes for each table, 22 at the defaults.
Where a shuffle lies in memory, some tables are done after others.
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
# Bits of a unit that name the part of a bucket, and blocks whose parts they can name.
PART_BITS, MAX_BLOCKS = 20, 1000
# Of so many rows of a heavy key it is seen whether this share of its pairs agrees.
SAMPLE_ROWS, ALIKE_SHARE = 64, 0.1


def fingerprint_words(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Fingerprints as rows of words."""
    import numpy as np

    width = (codes.shape[1] + 7) // 8 * 8
    padded = np.zeros((len(codes), width), dtype=np.uint8)
    padded[:, : codes.shape[1]] = codes
    return padded.view("<u8").astype(np.uint64, copy=False)


def row_keys(request: SparkRequest, compared: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The keys of registers, or of fingerprints, a row each."""
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
    """Keys of more rows than a task should compare.

    cut    key → blocks its rows are cut into; each two blocks meet in a part
    whole  keys of which nearly all rows agree: their pairs are not told
    """

    cut: dict[int, int] = field(default_factory=dict)
    whole: frozenset[int] = frozenset()


@dataclass(frozen=True)
class CountTask:
    """Rows of a sample under their keys → of keys of more than `least` rows: key, rows, and whether
    nearly all agree, by a few of them."""

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
    """Rows under each of their keys, in slices.

    tables  whose keys; none: of all
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
        is_cut = np.isin(key, np.array(sorted(self.heavy.cut), dtype=np.uint64))
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
        """Rows of heavy keys, once for each two blocks of which one is their own."""
        import numpy as np

        blocks = np.array([self.heavy.cut[each] for each in key.tolist()], dtype=np.int64)
        for part, sides, chosen in block_pairs(row[at], side[at], blocks):
            narrow = part.astype(np.uint32), sides.astype(np.uint8)
            # Only these rows: there may be many blocks, and all of them wait to be packed.
            where, own = np.unique(at[chosen], return_inverse=True)
            yield KeyedRows(key[chosen], *narrow, own, row[where], compared[where])


@dataclass(frozen=True)
class MemberTask:
    """The rows of keys that are not told: row, unit."""

    request: SparkRequest
    heavy: HeavyKeys

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        for batch in batches:
            row, _, _, keys = _rows_and_keys(self.request, batch)
            at, table = np.nonzero(_is_dense(self.heavy, keys))
            unit = part_id(keys[at, table].view("i8"), 0)
            yield make_batch({"row": int64_array(row[at]), "unit": int64_array(unit)})


def _rows_and_keys(
    request: SparkRequest, batch: pa.RecordBatch
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
    """row, side, what is compared, and all keys of each."""
    row, side = array_values(batch.column(0)), array_values(batch.column(1)).astype("u1")
    compared = byte_rows(batch.column(2), _compared_bytes(request))
    return row, side, compared, row_keys(request, compared)


def _is_dense(heavy: HeavyKeys, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    import numpy as np

    return np.isin(keys, np.array(sorted(heavy.whole), dtype=np.uint64))


def block_pairs(
    row: NDArray[np.int64], side: NDArray[np.integer[Any]], blocks: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.integer[Any]], NDArray[np.int64]]]:
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
        # A block of the reference first; of others the lower.
        ahead = np.where(across, sides == REFERENCE, mine <= other)
        part = part_number(np.where(ahead, mine, other), np.where(ahead, other, mine), number)
        which = np.where(mine < other, REFERENCE, np.where(mine > other, INPUT, ALL))
        yield part, np.where(across, sides, which), chosen


def part_number(
    first: NDArray[np.int64], second: NDArray[np.int64], blocks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The part in which two blocks of a bucket meet. 0 is a bucket that is not cut."""
    part: NDArray[np.int64] = first * blocks + second + 1
    return part


def part_id(key: NDArray[np.int64], part: Any) -> NDArray[np.int64]:
    """A bucket, or a part of it, in one number."""
    unit: NDArray[np.int64] = key << PART_BITS | part
    return unit


def pair_part_ids(
    key: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    heavy: HeavyKeys,
    *,
    across: bool,
) -> NDArray[np.int64]:
    """Where two rows meet that have this key as their first; the left one is of the reference."""
    import numpy as np

    cut = np.array(sorted(heavy.cut), dtype=np.int64)
    part = np.zeros(len(key), dtype=np.int64)
    many = np.flatnonzero(np.isin(key, cut))
    if len(many):
        of_keys = np.array([heavy.cut[each] for each in cut.tolist()], dtype=np.int64)
        blocks = of_keys[np.searchsorted(cut, key[many])]
        first, second = left[many] % blocks, right[many] % blocks
        if not across:
            first, second = np.minimum(first, second), np.maximum(first, second)
        part[many] = part_number(first, second, blocks)
    return part_id(key, part)


@dataclass(frozen=True)
class JoinTask:
    """Rows of many buckets → pairs: left, right, distance (by radius), and the rows of buckets that
    are better looked at in another way: their number is left, right is -1, unit says which.

    forest  by radius: no more pairs than connect what is connected
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
    names = ("left", "right", "unit", "distance")
    return make_batch(
        {name: int64_array(column) for name, column in zip(names, columns, strict=True)}
    )


@dataclass(frozen=True)
class BucketPairs:
    """What fell together.

    pairs    left, right: candidates by similarity; by radius pairs, with their distance
    members  row, unit: rows of buckets, or parts of them, too dense for their pairs to be told
    """

    pairs: DataFrame
    members: DataFrame
    heavy: HeavyKeys
    pair_count: int
    member_count: int


def join_buckets(rows: Rows, *, forest: bool = False) -> BucketPairs:
    """Compares what shares a key."""
    from pyspark.sql import functions as F

    request, limits = rows.request, rows.request.limits
    similar = request.question.similarity is not None
    compared = "registers" if similar else "fingerprint"
    units = rows.compared.select("row", "side", F.col(compared).alias("compared"))
    tables = _table_count(request)
    heavy = _find_heavy_keys(units, rows, tables)
    found = None
    sizes = _table_bytes(rows, heavy, tables)
    # A pair is told under its first common key, so it does not matter which keys come together.
    for some in limits.rounds(sizes, in_memory=is_pysail(units.sparkSession)):
        tasks = limits.tasks(sum(sizes[some.start : some.stop]))
        placed = units.mapInArrow(KeyTask(request, slice_count(tasks), heavy, some), PACKED_SCHEMA)
        met = placed.repartition(tasks, "slice").mapInArrow(
            JoinTask(request, forest), "left bigint, right bigint, unit bigint, distance bigint"
        )
        held = rows.storage.pin(met)
        found = held if found is None else found.union(held)
    assert found is not None  # noqa: S101
    members = found.where("right < 0").select(F.col("left").alias("row"), "unit")
    if heavy.whole:
        more = units.mapInArrow(MemberTask(request, heavy), "row bigint, unit bigint")
        members = rows.storage.pin(members.union(more))
    pairs = found.where("right >= 0").select("left", "right", "distance")
    return BucketPairs(pairs, members, heavy, pairs.count(), members.count())


def _table_bytes(rows: Rows, heavy: HeavyKeys, tables: int) -> list[float]:
    """Bytes of the records of each table. A row of a key that is cut meets every block of it."""
    found = [float(rows.units)] * tables
    for key, blocks in heavy.cut.items():
        found[(key >> TABLE_BITS) % tables] += blocks * blocks * rows.request.limits.bucket_rows
    return [records * (RECORD_OVERHEAD_BYTES + _compared_bytes(rows.request)) for records in found]


def _find_heavy_keys(units: DataFrame, rows: Rows, tables: int) -> HeavyKeys:
    """Keys of more rows than a task should compare. Large numbers of rows are counted by a sample:
    what is heavy changes who compares it, and no answer."""
    from pyspark.sql import functions as F

    limits = rows.request.limits
    if rows.units <= limits.bucket_rows:
        return HeavyKeys()
    # A heavy key has some rows in the sample.
    step = max(1, min(rows.units * tables // limits.count_keys, limits.bucket_rows // 8))
    sample = units if step == 1 else units.where(F.pmod(F.xxhash64("row"), F.lit(step)) == 0)
    tasks = limits.tasks(
        rows.units * tables / step * (RECORD_OVERHEAD_BYTES + _compared_bytes(rows.request))
    )
    placed = sample.mapInArrow(KeyTask(rows.request, slice_count(tasks)), PACKED_SCHEMA)
    weighing = CountTask(rows.request, max(1, limits.bucket_rows // step))
    dealt = placed.repartition(tasks, "slice")
    found = dealt.mapInArrow(weighing, "key bigint, rows bigint, alike bigint").toArrow()
    whole = frozenset(each["key"] for each in found.to_pylist() if each["alike"])
    cut = {
        each["key"]: min(MAX_BLOCKS, max(2, -(-each["rows"] * step // limits.bucket_rows)))
        for each in found.to_pylist()
        if not each["alike"]
    }
    return HeavyKeys(cut, whole)
