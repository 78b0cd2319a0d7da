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
from neardup.engines.spark.batches import ROWS, as_batch, gathered, longs, rows_of_bytes
from neardup.engines.spark.packed_keys import BESIDE, SLICED, Placed, Slicing, slices_for, unpacked
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import ALL, INPUT, REFERENCE, Rows
from neardup.engines.spark.sketching import REGISTERS
from neardup.engines.spark.storage import is_sail

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

# Bits of a key below the number of its table.
TABLE_BITS = 32
# Bits of a unit that name the part of a bucket, and blocks whose parts they can name.
PART_BITS, MOST_BLOCKS = 20, 1000
# Of so many rows of a heavy key it is seen whether this share of its pairs agrees.
FEW, ALIKE = 64, 0.1


def words_of(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Fingerprints as rows of words."""
    import numpy as np

    width = (codes.shape[1] + 7) // 8 * 8
    padded = np.zeros((len(codes), width), dtype=np.uint8)
    padded[:, : codes.shape[1]] = codes
    return padded.view("<u8").astype(np.uint64, copy=False)


def keys_of(asked: SparkRequest, compared: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The keys of registers, or of fingerprints, a row each."""
    import numpy as np

    compared = np.ascontiguousarray(compared)
    if asked.question.similarity is not None:
        return _core.sketch_keys(compared, asked.sketch, 1)
    assert asked.question.radius is not None  # noqa: S101
    return _core.code_keys(words_of(compared), asked.recipe.bits, asked.question.radius)


def _width(asked: SparkRequest) -> int:
    return REGISTERS if asked.question.similarity is not None else asked.code_bytes


def _tables(asked: SparkRequest) -> int:
    import numpy as np

    return int(keys_of(asked, np.zeros((0, _width(asked)), dtype=np.uint8)).shape[1])


@dataclass(frozen=True)
class Heavy:
    """Keys of more rows than a task should compare.

    cut    key → blocks its rows are cut into; each two blocks meet in a part
    whole  keys of which nearly all rows agree: their pairs are not told
    """

    cut: dict[int, int] = field(default_factory=dict)
    whole: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Weighing:
    """Rows of a sample under their keys → of keys of more than `least` rows: key, rows, and whether
    nearly all agree, by a few of them."""

    asked: SparkRequest
    least: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gathered(batches)
        if table is None:
            return
        records = unpacked(table, _width(self.asked))
        key = records.key.view("i8")
        sort = np.argsort(key, kind="stable")
        found, starts, counts = np.unique(key[sort], return_index=True, return_counts=True)
        many = np.flatnonzero(counts > self.least)
        alike = np.zeros(len(many), dtype=bool)
        if self.asked.question.similarity is not None:
            compared = records.compared
            least = _core.near_plan(*self.asked.sketch)["least"]
            for at, each in enumerate(many.tolist()):
                some = compared[sort[starts[each] : starts[each] + min(counts[each], FEW)]]
                same = (some[:, None] == some[None]).sum(axis=2) >= least
                pairs = len(some) * (len(some) - 1)
                alike[at] = same.sum() - len(some) >= ALIKE * pairs
        yield as_batch(
            {
                "key": longs(found[many]),
                "rows": longs(counts[many]),
                "alike": longs(alike.astype("i8")),
            }
        )


@dataclass(frozen=True)
class Keying:
    """Rows under each of their keys, in slices.

    tables  whose keys; none: of all
    """

    asked: SparkRequest
    slices: int
    heavy: Heavy = field(default_factory=Heavy)
    tables: range | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from Slicing(self.slices)(
            placed
            for batch in batches
            for start in range(0, batch.num_rows, ROWS)
            for placed in self._keyed(batch.slice(start, ROWS))
        )

    def _keyed(self, batch: pa.RecordBatch) -> Iterator[Placed]:
        import numpy as np

        row, side, compared, keys = _rows_and_keys(self.asked, batch)
        if self.tables is not None:
            keys = keys[:, self.tables.start : self.tables.stop]
        at = np.repeat(np.arange(len(row)), keys.shape[1])
        key = np.ascontiguousarray(keys).reshape(-1)
        is_cut = np.isin(key, np.array(sorted(self.heavy.cut), dtype=np.uint64))
        light = np.flatnonzero(~(is_cut | _is_whole(self.heavy, key)))
        none, where = np.zeros(len(light), dtype=np.uint32), at[light]
        yield Placed(key[light], none, side[where], where, row, compared)
        if is_cut.any():
            yield from self._cut(key[is_cut], at[is_cut], row, side, compared)

    def _cut(
        self,
        key: NDArray[np.uint64],
        at: NDArray[np.int64],
        row: NDArray[np.int64],
        side: NDArray[np.uint8],
        compared: NDArray[np.uint8],
    ) -> Iterator[Placed]:
        """Rows of heavy keys, once for each two blocks of which one is their own."""
        import numpy as np

        blocks = np.array([self.heavy.cut[each] for each in key.tolist()], dtype=np.int64)
        for part, sides, chosen in block_pairs(row[at], side[at], blocks):
            narrow = part.astype(np.uint32), sides.astype(np.uint8)
            # Only these rows: there may be many blocks, and all of them wait to be packed.
            where, own = np.unique(at[chosen], return_inverse=True)
            yield Placed(key[chosen], *narrow, own, row[where], compared[where])


@dataclass(frozen=True)
class Belonging:
    """The rows of keys that are not told: row, unit."""

    asked: SparkRequest
    heavy: Heavy

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        for batch in batches:
            row, _, _, keys = _rows_and_keys(self.asked, batch)
            at, table = np.nonzero(_is_whole(self.heavy, keys))
            unit = unit_of(keys[at, table].view("i8"), 0)
            yield as_batch({"row": longs(row[at]), "unit": longs(unit)})


def _rows_and_keys(
    asked: SparkRequest, batch: pa.RecordBatch
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
    """row, side, what is compared, and all keys of each."""
    row, side = array_values(batch.column(0)), array_values(batch.column(1)).astype("u1")
    compared = rows_of_bytes(batch.column(2), _width(asked))
    return row, side, compared, keys_of(asked, compared)


def _is_whole(heavy: Heavy, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
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
        part = part_of(np.where(ahead, mine, other), np.where(ahead, other, mine), number)
        which = np.where(mine < other, REFERENCE, np.where(mine > other, INPUT, ALL))
        yield part, np.where(across, sides, which), chosen


def part_of(
    first: NDArray[np.int64], second: NDArray[np.int64], blocks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The part in which two blocks of a bucket meet. 0 is a bucket that is not cut."""
    part: NDArray[np.int64] = first * blocks + second + 1
    return part


def unit_of(key: NDArray[np.int64], part: Any) -> NDArray[np.int64]:
    """A bucket, or a part of it, in one number."""
    unit: NDArray[np.int64] = key << PART_BITS | part
    return unit


def units_of_pairs(
    key: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    heavy: Heavy,
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
        part[many] = part_of(first, second, blocks)
    return unit_of(key, part)


@dataclass(frozen=True)
class Falling:
    """Rows of many buckets → pairs: left, right, distance (by radius), and the rows of buckets that
    are better looked at in another way: their number is left, right is -1, unit says which.

    forest  by radius: no more pairs than connect what is connected
    """

    asked: SparkRequest
    forest: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gathered(batches)
        if table is None:
            return
        key, part, side, row, compared = unpacked(table, _width(self.asked))
        del table
        places = key, part, side, row
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
        yield _found(
            row[dense], none, unit_of(key[dense].view("i8"), part[dense].astype("i8")), none
        )


def _found(*columns: NDArray[Any]) -> pa.RecordBatch:
    names = ("left", "right", "unit", "distance")
    return as_batch({name: longs(column) for name, column in zip(names, columns, strict=True)})


@dataclass(frozen=True)
class BucketPairs:
    """What fell together.

    pairs    left, right: candidates by similarity; by radius pairs, with their distance
    members  row, unit: rows of buckets, or parts of them, too dense for their pairs to be told
    """

    pairs: DataFrame
    members: DataFrame
    heavy: Heavy
    pair_count: int
    member_count: int


def fallen(rows: Rows, *, forest: bool = False) -> BucketPairs:
    """Compares what shares a key."""
    from pyspark.sql import functions as F

    asked, limits = rows.asked, rows.asked.limits
    similar = asked.question.similarity is not None
    compared = "registers" if similar else "fingerprint"
    units = rows.compared.select("row", "side", F.col(compared).alias("compared"))
    tables = _tables(asked)
    heavy = _heavy(units, rows, tables)
    found = None
    sizes = _table_bytes(rows, heavy, tables)
    # A pair is told under its first common key, so it does not matter which keys come together.
    for some in limits.rounds(sizes, in_memory=is_sail(units.sparkSession)):
        tasks = limits.tasks(sum(sizes[some.start : some.stop]))
        placed = units.mapInArrow(Keying(asked, slices_for(tasks), heavy, some), SLICED)
        met = placed.repartition(tasks, "slice").mapInArrow(
            Falling(asked, forest), "left bigint, right bigint, unit bigint, distance bigint"
        )
        held = rows.storage.pin(met)
        found = held if found is None else found.union(held)
    assert found is not None  # noqa: S101
    members = found.where("right < 0").select(F.col("left").alias("row"), "unit")
    if heavy.whole:
        more = units.mapInArrow(Belonging(asked, heavy), "row bigint, unit bigint")
        members = rows.storage.pin(members.union(more))
    pairs = found.where("right >= 0").select("left", "right", "distance")
    return BucketPairs(pairs, members, heavy, pairs.count(), members.count())


def _table_bytes(rows: Rows, heavy: Heavy, tables: int) -> list[float]:
    """Bytes of the records of each table. A row of a key that is cut meets every block of it."""
    found = [float(rows.units)] * tables
    for key, blocks in heavy.cut.items():
        found[(key >> TABLE_BITS) % tables] += blocks * blocks * rows.asked.limits.bucket_rows
    return [records * (BESIDE + _width(rows.asked)) for records in found]


def _heavy(units: DataFrame, rows: Rows, tables: int) -> Heavy:
    """Keys of more rows than a task should compare. Large numbers of rows are counted by a sample:
    what is heavy changes who compares it, and no answer."""
    from pyspark.sql import functions as F

    limits = rows.asked.limits
    if rows.units <= limits.bucket_rows:
        return Heavy()
    # A heavy key has some rows in the sample.
    step = max(1, min(rows.units * tables // limits.count_keys, limits.bucket_rows // 8))
    sample = units if step == 1 else units.where(F.pmod(F.xxhash64("row"), F.lit(step)) == 0)
    tasks = limits.tasks(rows.units * tables / step * (BESIDE + _width(rows.asked)))
    placed = sample.mapInArrow(Keying(rows.asked, slices_for(tasks)), SLICED)
    weighing = Weighing(rows.asked, max(1, limits.bucket_rows // step))
    dealt = placed.repartition(tasks, "slice")
    found = dealt.mapInArrow(weighing, "key bigint, rows bigint, alike bigint").toArrow()
    whole = frozenset(each["key"] for each in found.to_pylist() if each["alike"])
    cut = {
        each["key"]: min(MOST_BLOCKS, max(2, -(-each["rows"] * step // limits.bucket_rows)))
        for each in found.to_pylist()
        if not each["alike"]
    }
    return Heavy(cut, whole)
