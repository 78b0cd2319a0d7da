"""Dense groups: rows of dense buckets, such as copies of a template, compared by the local engine.

A dense bucket of c rows has c² / 2 candidates, too many to emit. Dense buckets that share rows form
a group. Its rows come to one task with their texts, each once; the local engine finds the near
pairs, in nearly linear time for templates (core/src/near/inverted.rs). A group with more rows
than a task should hold is split into blocks, and each two blocks meet in a task. No pair is lost:
all rows of a bucket are in one group, and every two rows of a group meet.

For clusters alone, each block first meets a sample of the group. Then only rows outside the largest
component meet all others; a template has few of these, or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from neardup import _core
from neardup._util.arrow import array_values, number_array, string_column
from neardup.engines.spark.arrow import gather_batches, int64_array, make_batch, single_array
from neardup.engines.spark.buckets import BucketPairs, HeavyKeys, block_pairs, pair_part_ids
from neardup.engines.spark.components import connected_components
from neardup.engines.spark.judging import VERDICT_SCHEMA, in_order, verdict_batch
from neardup.engines.spark.request import Limits, SparkRequest
from neardup.engines.spark.rows import ALL, REFERENCE, REGISTERS, Rows
from neardup.near.corpus import memory_corpus
from neardup.near.join import LocalEngine

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

PLACED_SCHEMA = "row bigint, group bigint, part int, side int"


@dataclass(frozen=True)
class PlaceTask:
    """Task: assigns rows of groups (row, group, side, rest) to parts, small groups to part 0.

    blocks       large group → number of blocks it is split into
    mode         "pairs": every two blocks meet. "own": each block meets a sample of the group.
                 "rest": rows marked as rest meet all blocks
    rest_blocks  group → number of blocks its rest is split into
    """

    blocks: dict[int, int]
    mode: Literal["pairs", "own", "rest"]
    rest_blocks: dict[int, int] = field(default_factory=dict)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        for batch in batches:
            row, group, side, rest = (array_values(batch.column(at)) for at in range(4))
            many = np.isin(group, np.array(sorted(self.blocks), dtype=np.int64))
            if self.mode != "rest":
                alone = np.flatnonzero(~many)
                yield _placed_batch(row[alone], group[alone], np.zeros(len(alone)), side[alone])
            cut = np.flatnonzero(many)
            blocks = np.array([self.blocks[each] for each in group[cut].tolist()], dtype=np.int64)
            for part, sides, chosen in self._parts(
                row[cut], group[cut], side[cut], rest[cut], blocks
            ):
                where = cut[chosen]
                yield _placed_batch(row[where], group[where], part, sides)

    def _parts(
        self,
        row: NDArray[np.int64],
        group: NDArray[np.int64],
        side: NDArray[np.integer],
        rest: NDArray[np.integer],
        blocks: NDArray[np.int64],
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.integer], NDArray[np.int64]]]:
        import numpy as np

        if self.mode == "pairs":
            yield from block_pairs(row, side, blocks)
        elif self.mode == "own":
            # A sample, a quarter of the size of a block, is in every block. It connects similar
            # rows of different blocks.
            shared = (row * 0x9E3779B1 >> 20) % (4 * blocks) == 0
            alone = np.flatnonzero(~shared)
            yield row[alone] % blocks[alone] + 1, side[alone], alone
            shared = np.flatnonzero(shared)
            for other in range(int(blocks[shared].max(initial=0))):
                chosen = shared[other < blocks[shared]]
                yield np.full(len(chosen), other + 1), side[chosen], chosen
        else:
            rests = np.array(
                [self.rest_blocks.get(each, 0) for each in group.tolist()], dtype=np.int64
            )
            for other in range(int(rests.max(initial=0))):
                chosen = np.flatnonzero(other < rests)
                yield (
                    other * blocks[chosen] + row[chosen] % blocks[chosen] + 1,
                    side[chosen],
                    chosen,
                )
            mine = np.flatnonzero((rest != 0) & (rests > 0))
            own = row[mine] % np.maximum(rests[mine], 1)
            for other in range(int(blocks[mine].max(initial=0))):
                of_these = np.flatnonzero(other < blocks[mine])
                chosen = mine[of_these]
                yield own[of_these] * blocks[chosen] + other + 1, side[chosen], chosen


def _placed_batch(
    row: NDArray[Any], group: NDArray[Any], part: NDArray[Any], side: NDArray[Any]
) -> pa.RecordBatch:
    return make_batch(
        {
            "row": int64_array(row),
            "group": int64_array(group),
            "part": number_array(part.astype("i4")),
            "side": number_array(side.astype("i4")),
        }
    )


@dataclass(frozen=True)
class GroupTask:
    """Task: compares rows of groups by their texts. Returns near pairs: left, right and
    VERDICT_COLUMNS.

    forest  only enough pairs to connect each component; their verdicts are not set
    heavy   keys that were split: `buckets` has emitted the pairs of parts that are not dense
    """

    request: SparkRequest
    forest: bool
    heavy: HeavyKeys
    across: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gather_batches(batches)
        if table is None:
            return
        group, part = array_values(table["group"]), array_values(table["part"])
        sort = np.lexsort((array_values(table["row"]), array_values(table["side"]), part, group))
        # Small groups share part 0: a pair across two is emitted elsewhere, or not a candidate.
        unit = np.stack([np.where(part[sort] == 0, 0, group[sort]), part[sort]], axis=1)
        by_unit = np.lexsort((unit[:, 1], unit[:, 0]))
        sort, unit = sort[by_unit], unit[by_unit]
        starts = np.flatnonzero(np.append(True, (unit[1:] != unit[:-1]).any(axis=1)))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(sort)], strict=True):
            some = table.take(number_array(sort[start:end]))
            yield from self._compare(some)

    def _compare(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        import numpy as np

        row, side = array_values(table["row"]), array_values(table["side"])
        # The rows of the reference first.
        sort = np.lexsort((row, side))
        table, row, side = table.take(number_array(sort)), row[sort], side[sort]
        first = 0
        if side[0] != ALL or side[-1] != ALL:
            first = int(np.count_nonzero(side == REFERENCE))
            if first == 0 or first == len(side):
                return
        request = self.request
        corpus = memory_corpus(
            string_column(table["text"]), request.recipe, request.question, threads=1
        )
        if self.forest:
            found = LocalEngine().match(corpus, request.question, threads=1).clusters("connected")
            linked = np.flatnonzero(found.labels != np.arange(len(row)))
            none = np.zeros(len(linked))
            yield verdict_batch(row[linked], row[found.labels[linked]], none, none)
            return
        part_ids = np.unique(array_values(single_array(table["part_ids"]).flatten()))
        assert corpus.sketches is not None  # noqa: S101
        registers = np.ascontiguousarray(corpus.sketches[:, :REGISTERS])
        tables = _core.sketch_keys(registers, request.sketch, 1)
        matches = LocalEngine().match(corpus, request.question, reference_rows=first, threads=1)
        order = single_array(table["order"])
        for pairs in matches.pairs():
            left, right = pairs.left.astype("u4"), pairs.right.astype("u4")
            table_of = _core.first_tables(registers, left, right, request.sketch)
            key = tables[left, np.minimum(table_of, tables.shape[1] - 1)].view("i8")
            where = pair_part_ids(key, row[left], row[right], self.heavy, across=self.across)
            here = np.isin(where, part_ids)
            assert pairs.similarity is not None  # noqa: S101
            left, right = left[here], right[here]
            differences = matches.judge.differences(*in_order(order, left, right))
            yield verdict_batch(
                row[left], row[right], pairs.distance[here], pairs.similarity[here], differences
            )


def dense_pairs(rows: Rows, found: BucketPairs, texts: DataFrame, *, forest: bool) -> DataFrame:
    """Return the near pairs whose first common key is dense, each once: left, right and
    VERDICT_COLUMNS; with `forest` only enough pairs to connect each component."""
    from pyspark.sql import functions as F

    storage, limits = rows.storage, rows.request.limits
    # Buckets are nodes as well, with negative numbers.
    edges = found.members.select("row", (-F.col("part_id") - 1).alias("part_id"))
    labelled = connected_components(edges, storage, limits, count=found.member_count)
    members = labelled.where("node >= 0").select(
        F.col("node").alias("row"), F.col("root").alias("group")
    )
    members = members.join(rows.table.select("row", "side", "bytes"), "row")
    members = storage.pin(members.withColumn("rest", F.lit(0)))
    sizes = members.groupBy("group").agg(
        F.count(F.lit(1)).alias("rows"), F.sum("bytes").alias("bytes")
    )
    total = sizes.agg(F.sum("bytes")).toArrow().column(0)[0].as_py() or 0
    # A task with a whole group may have a few times as many bytes as others.
    large = sizes.where(
        (F.col("rows") > limits.group_rows) | (F.col("bytes") > 4 * limits.task_bytes)
    )
    blocks = {
        each["group"]: _block_count(each["rows"], each["bytes"], limits)
        for each in large.toArrow().to_pylist()
    }

    task = GroupTask(rows.request, forest, found.heavy, rows.across)

    def compare(placing: PlaceTask, chosen: DataFrame, times: int) -> DataFrame:
        columns = chosen.select("row", "group", "side", "rest")
        placed = columns.mapInArrow(placing, PLACED_SCHEMA)
        if not forest:
            part_ids = found.members.groupBy("row").agg(F.collect_list("part_id").alias("part_ids"))
            placed = placed.join(part_ids, "row")
        together = placed.join(texts, "row").repartition(limits.tasks(total * times), *GROUP_PART)
        return storage.pin(together.mapInArrow(task, VERDICT_SCHEMA))

    if not blocks:
        return compare(PlaceTask({}, "pairs"), members, 1)
    if not forest:
        return compare(PlaceTask(blocks, "pairs"), members, max(blocks.values()))
    first = compare(PlaceTask(blocks, "own"), members, 1)
    rest = _mark_rest(rows, members, first, blocks)
    counts = (
        rest.where("rest = 1")
        .groupBy("group")
        .agg(F.count(F.lit(1)).alias("rows"), F.sum("bytes").alias("bytes"))
    )
    rests = {
        each["group"]: -(-_block_count(each["rows"], each["bytes"], limits) // 2)
        for each in counts.toArrow().to_pylist()
    }
    if not rests:
        return first
    again = {group: blocks[group] for group in rests}
    placing = PlaceTask(again, "rest", rests)
    return first.union(compare(placing, rest, max(rests.values()) + max(again.values())))


GROUP_PART = ("group", "part")


def _block_count(rows: int, size: int, limits: Limits) -> int:
    """Return the number of blocks, so that a task can hold two of them."""
    return max(2, -(-2 * rows // limits.group_rows), -(-size // (2 * limits.task_bytes)))


def _mark_rest(
    rows: Rows, members: DataFrame, found: DataFrame, blocks: dict[int, int]
) -> DataFrame:
    """Mark the rows of large groups that are outside the largest component found so far.

    Rows of that component are already connected, so they need not meet each other again. A template
    has few other rows, or none: each of its rows is compared in two tasks.
    """
    from pyspark.sql import functions as F

    storage = rows.storage
    roots = connected_components(found.select("left", "right"), storage, rows.request.limits)
    large = members.where(F.col("group").isin(list(blocks)))
    joined = large.join(roots.withColumnRenamed("node", "row"), "row", "left")
    joined = joined.withColumn("root", F.coalesce("root", "row"))
    sizes = joined.groupBy("group", "root").agg(F.count(F.lit(1)).alias("rows"))
    best = sizes.groupBy("group").agg(F.max(F.struct("rows", "root")).alias("best"))
    marked = joined.join(best.select("group", F.col("best.root").alias("largest")), "group")
    mark = F.when(F.col("root") == F.col("largest"), F.lit(0)).otherwise(F.lit(1)).alias("rest")
    return storage.pin(marked.select("row", "group", "side", "bytes", mark))
