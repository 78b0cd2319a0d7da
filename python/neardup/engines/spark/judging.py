"""Exact verdicts on candidate pairs, computed from their texts by workers.

For DataFrames, `fetch_texts` joins the texts of candidates back by id and `judge_pairs` brings each
to a task once, however many pairs need it there. Candidates are few compared with rows; features
carried along for all rows would be larger than the texts.

For jobs, the driver has the texts: `judge_packets` sends packets of pairs with their texts. Pairs
that share texts are in one packet, so a text is sent few times and nothing is shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from neardup._util.arrow import array_values, number_array, string_column
from neardup.engines.spark.arrow import gather_batches, int64_array, make_batch, single_array
from neardup.engines.spark.errors import wait_for
from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.rows import (
    Rows,
    decode_texts,
    quote_column,
    side_order,
    text_checksums,
)
from neardup.near.corpus import Judge, Verdicts, judging_corpus
from neardup.text.comparison import DEFAULT_SIMILARITY
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from neardup.engines.spark.session import SparkConnection
    from neardup.near.corpus import Corpus

    RowArray = NDArray[np.uint32]


@dataclass(frozen=True)
class TextSource:
    """The DataFrame with the texts of a side; name is the argument of the user."""

    side: int
    frame: DataFrame
    id_column: str
    text_column: str
    name: str = "df"


TextSources = tuple[TextSource, ...]
MISSING, CHANGED = "missing", "changed"


def fetch_texts(
    rows: Rows, wanted: DataFrame, sources: TextSources, *, present: DataFrame | None = None
) -> DataFrame:
    """Return row, order (a reference before its inputs), text of the wanted rows (a column `row`),
    each once.

    Raise ValueError for a text that is missing, or differs from the one that was sketched.

    present  rows that must still exist unchanged, though their texts are not needed: the result
             names them
    """
    from pyspark.sql import functions as F

    needed = wanted.select("row", F.lit(True).alias("needed"))
    if present is not None:
        needed = needed.union(present.select("row", F.lit(False)))
    needed = needed.groupBy("row").agg(F.max("needed").alias("needed"))
    own = rows.table.select("row", "id", "side", "checksum", side_order().alias("order"))
    named = own.join(needed, "row")
    found = None
    for source in sources:
        texts = source.frame.select(
            F.col(quote_column(source.id_column)).alias("id"),
            F.col(quote_column(source.text_column)).alias("text"),
        )
        mine = named.where(F.col("side") == source.side).join(texts, "id", "left")
        part = mine.select("row", "order", "checksum", "needed", "text").mapInArrow(
            verify_texts, TEXT_SCHEMA
        )
        found = part if found is None else found.union(part)
    assert found is not None  # noqa: S101
    held = rows.storage.pin(found)
    _check_fetched(rows, held, sources)
    return held.where("text IS NOT NULL").select("row", "order", "text")


TEXT_SCHEMA = "row bigint, order binary, text string, wrong string"


def verify_texts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Task: row, order, checksum, needed, text → row, order, text (if needed), wrong (null, or
    why)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        row, order, checksum, needed, column = batch.columns
        texts, _ = decode_texts(column)
        same = pc.equal(int64_array(text_checksums(texts)), checksum)
        none = pa.scalar(None, pa.string())
        wrong = pc.if_else(texts.is_null(), MISSING, pc.if_else(same, none, CHANGED))
        sent = pc.if_else(needed, texts, pa.scalar(None, texts.type))
        yield make_batch(
            {"row": row, "order": order, "text": sent.cast(pa.string()), "wrong": wrong}
        )


def _check_fetched(rows: Rows, held: DataFrame, sources: TextSources) -> None:
    """Raise ValueError if a text is missing, duplicated or changed since it was sketched."""
    from pyspark.sql import functions as F

    counted = held.groupBy("row").agg(
        F.count(F.lit(1)).alias("times"), F.max("wrong").alias("wrong")
    )
    bad = counted.where("times > 1 OR wrong IS NOT NULL").limit(1)
    found = bad.join(rows.table.select("row", "id", "side"), "row").toArrow().to_pylist()
    if not found:
        return
    id_, times, wrong = (found[0][name] for name in ("id", "times", "wrong"))
    name = next(source.name for source in sources if source.side == found[0]["side"])
    if times > 1:
        what = f"{name} has {times} rows with the id {id_!r}; ids must be unique"
    elif wrong == MISSING:
        what = f"{name} has no text with the id {id_!r} any more"
    else:
        what = f"the text with the id {id_!r} in {name} has changed since it was sketched"
    raise ValueError(f"{what}. {WAYS_OUT[name]}")


_AGAIN = (
    "It is read several times and must be the same each time: if it uses rand() or uuid(), or its "
    "files change, write it to a table first"
)
WAYS_OUT = {
    "df": _AGAIN,
    "reference": _AGAIN,
    "reference_texts": "Pass the texts of all rows of the reference unchanged, or make the "
    "sketches again",
}


# What a task finds out about pairs:
#   near         which of them are near; the others are left out
#   verdicts     distance and similarity, where the similarity is null
#   differences  nothing else
# In each case what differs between them as well.
Asked = Literal["near", "verdicts", "differences"]

# The columns of a pair behind its rows. `lost` counts words of the later row that the earlier one
# lacks.
VERDICT_COLUMNS = (
    ("distance", "bigint"),
    ("similarity", "double"),
    ("differs", "string"),
    ("lost", "bigint"),
)
VERDICT_SCHEMA = ", ".join(
    f"{name} {kind}" for name, kind in (("left", "bigint"), ("right", "bigint"), *VERDICT_COLUMNS)
)


@dataclass(frozen=True)
class JudgeTask:
    """Task: judges pairs by the texts beside them. Returns left, right and VERDICT_COLUMNS."""

    request: SparkRequest
    asked: Asked

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        table = gather_batches(batches)
        if table is None:
            return
        left, right = array_values(table["left"]), array_values(table["right"])
        is_text = right < 0
        rows, at = np.unique(left[is_text], return_index=True)
        of_texts = number_array(np.flatnonzero(is_text)[at])
        texts = string_column(single_array(table["text"]).take(of_texts))
        order = single_array(table["order"]).take(of_texts)
        # Pairs that share a text are judged one after the other.
        sort = np.lexsort((right, left))
        sort = sort[~is_text[sort]]
        left, right = left[sort], right[sort]
        pairs = table.select(["distance", "similarity"]).take(number_array(sort))
        distance = array_values(pairs["distance"].fill_null(0)).copy()
        similarity = array_values(pairs["similarity"].fill_null(np.nan)).copy()
        del table, pairs
        corpus = judging_corpus(texts, self.request.recipe, np.ones(len(rows), dtype=bool))
        judge = Judge(corpus, threads=1)
        one, two = _find_rows(rows, left), _find_rows(rows, right)
        question = self.request.question
        by_radius = question.similarity is None
        if self.asked == "verdicts" or (self.asked == "near" and not by_radius):
            unknown = np.flatnonzero(np.isnan(similarity))
            similarity[unknown], distance[unknown] = judge.verdicts(one[unknown], two[unknown])
        if self.asked == "near":
            near = (
                judge.agreement(one, two) >= DEFAULT_SIMILARITY
                if by_radius
                else similarity >= question.similarity
            )
            left, right, distance, similarity, one, two = (
                each[near] for each in (left, right, distance, similarity, one, two)
            )
        differences = judge.differences(*in_order(order, one, two))
        yield verdict_batch(left, right, distance, similarity, differences)


def in_order(order: Any, one: NDArray[Any], two: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return pairs as earlier and later rows; `order` has the sort key of each row."""
    import numpy as np
    import pyarrow.compute as pc

    place = np.empty(len(order), dtype=np.int64)
    place[array_values(pc.array_sort_indices(order))] = np.arange(len(order))
    swap = place[one] > place[two]
    return np.where(swap, two, one), np.where(swap, one, two)


def _find_rows(rows: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the wanted rows in `rows`, which is sorted."""
    import numpy as np

    places = np.searchsorted(rows, wanted)
    there = np.zeros(len(wanted), dtype=bool)
    inside = places < len(rows)
    there[inside] = rows[places[inside]] == wanted[inside]
    if not there.all():
        raise ValueError(f"the text of row {wanted[~there][0]} is not in its task")
    return places


def verdict_batch(
    left: NDArray[Any],
    right: NDArray[Any],
    distance: NDArray[Any],
    similarity: NDArray[np.float64],
    differences: tuple[pa.Array, pa.Array] | None = None,
) -> pa.RecordBatch:
    """Return a batch of VERDICT_SCHEMA; similarity is null for NaN, differences if not given."""
    import numpy as np
    import pyarrow as pa

    differs, lost = differences or (
        pa.nulls(len(left), pa.string()),
        pa.nulls(len(left), pa.int64()),
    )
    return make_batch(
        {
            "left": int64_array(left),
            "right": int64_array(right),
            "distance": int64_array(distance),
            "similarity": number_array(similarity, np.isnan(similarity)),
            "differs": differs,
            "lost": lost,
        }
    )


def judge_pairs(
    rows: Rows, pairs: DataFrame, count: int, texts: DataFrame, asked: Asked
) -> DataFrame:
    """Return left, right and VERDICT_COLUMNS of pairs, given their texts.

    pairs  left, right; distance and similarity, where they are known
    count  number of pairs

    Pairs with the same left row go to one task, so the row with many pairs should be the right one.
    """
    from pyspark.sql import functions as F

    tasks = rows.request.limits.tasks(2 * count * rows.mean_bytes)
    bucket = F.pmod(F.xxhash64("left"), F.lit(tasks)).alias("bucket")
    kinds = {"text": "string", "order": "binary", **dict(VERDICT_COLUMNS[:2])}
    null = {name: F.lit(None).cast(kind).alias(name) for name, kind in kinds.items()}
    placed = pairs.select(
        *(bucket, "left", "right", null["text"], null["order"]),
        *(name if name in pairs.columns else null[name] for name in ("distance", "similarity")),
    )
    sides = (placed.select("bucket", F.col(side).alias("row")) for side in ("left", "right"))
    needed = next(sides).union(next(sides)).distinct()
    sent = needed.join(texts, "row").select(
        *("bucket", F.col("row").alias("left"), F.lit(-1).cast("bigint").alias("right")),
        *("text", "order", null["distance"], null["similarity"]),
    )
    task = JudgeTask(rows.request, asked)
    return sent.union(placed).repartition(tasks, "bucket").mapInArrow(task, VERDICT_SCHEMA)


# Maximum pairs of a packet, and approximate bytes of its texts.
PACKET_PAIRS = 1 << 12
PACKET_BYTES = 2 << 20
# Bytes sent in a round: servers limit messages to 128 MB by default.
ROUND_BYTES = 32 << 20
# A larger packet, of a few long texts, is judged on the driver.
MAX_PACKET_BYTES = 32 << 20

PACKET_SCHEMA = "packet long, left binary, right binary, texts array<string>"
PACKET_VERDICT_SCHEMA = "packet long, similarity binary, distance binary"


@dataclass(frozen=True)
class PacketTask:
    """Task: judges the pairs of each packet.

    agreement  return the agreement of pairs in place of their similarity
    """

    recipe: Recipe
    agreement: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            for packet in batch.to_pylist():
                left, right = (np.frombuffer(packet[x], dtype="<u4") for x in ("left", "right"))
                found = self.judge(packet["texts"], left, right, threads=1)
                yield make_batch(
                    {
                        "packet": pa.array([packet["packet"]], pa.int64()),
                        "similarity": pa.array([found.similarity.astype("<f8").tobytes()]),
                        "distance": pa.array([found.distance.astype("<u2").tobytes()]),
                    }
                )

    def judge(
        self, texts: list[str], left: RowArray, right: RowArray, *, threads: int | None
    ) -> Verdicts:
        """Judge pairs of texts, given by their indices."""
        import numpy as np
        import pyarrow as pa

        column = pa.chunked_array([pa.array(texts, pa.large_string())])
        signal = np.ones(len(texts), dtype=np.bool_)
        judge = Judge(judging_corpus(column, self.recipe, signal), threads=threads)
        if self.agreement:
            return Verdicts(judge.agreement(left, right), np.zeros(len(left), dtype=np.uint16))
        return judge.verdicts(left, right)


class Packet:
    """The pairs from `start` to `stop`, and their texts."""

    def __init__(
        self, start: int, stop: int, left: RowArray, right: RowArray, corpus: Corpus
    ) -> None:
        import numpy as np

        self.start, self.stop = start, stop
        rows, found = np.unique(
            np.concatenate((left[start:stop], right[start:stop])), return_inverse=True
        )
        places: RowArray = found.astype("<u4")
        self.left, self.right = places[: stop - start], places[stop - start :]
        self.texts = [corpus.texts.get(row) for row in rows.tolist()]
        self.bytes = sum(len(text.encode()) for text in self.texts) + len(places) * 4


def judge_packets(
    session: SparkConnection,
    corpus: Corpus,
    left: RowArray,
    right: RowArray,
    tick: Callable[[int], object],
    threads: int | None = None,
    *,
    agreement: bool = False,
) -> Verdicts:
    """Judge pairs on workers; the result is that of `Judge.verdicts`.

    agreement  return the agreement of pairs in place of their similarity, and no distance
    """
    import numpy as np

    task = PacketTask(corpus.recipe, agreement)
    similarity, distance = np.empty(len(left)), np.empty(len(left), dtype=np.uint16)
    waiting: list[Packet] = []

    def judge_waiting() -> None:
        for packet, found in zip(waiting, _send_packets(session, task, waiting), strict=True):
            part = slice(packet.start, packet.stop)
            similarity[part] = np.frombuffer(found["similarity"], dtype="<f8")
            distance[part] = np.frombuffer(found["distance"], dtype="<u2")
            tick(packet.stop - packet.start)
        waiting.clear()

    for start, stop in _packet_bounds(corpus, left, right):
        packet = Packet(start, stop, left, right, corpus)
        if packet.bytes > MAX_PACKET_BYTES:
            found = task.judge(packet.texts, packet.left, packet.right, threads=threads)
            similarity[start:stop], distance[start:stop] = found.similarity, found.distance
            tick(stop - start)
            continue
        waiting.append(packet)
        if sum(packet.bytes for packet in waiting) >= ROUND_BYTES:
            judge_waiting()
    judge_waiting()
    return Verdicts(similarity, distance)


def _packet_bounds(corpus: Corpus, left: RowArray, right: RowArray) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of packets, limited by pairs and, if known, by bytes of texts."""
    import numpy as np

    lengths = getattr(corpus, "lengths", None)
    cost = np.full(len(left), PACKET_BYTES // PACKET_PAIRS, dtype=np.int64)
    if lengths is not None and len(left):
        # The text of the pair before is already in the packet.
        new = np.ones(len(left), dtype=np.bool_)
        new[1:] = left[1:] != left[:-1]
        cost = np.where(new, lengths[left], 0).astype(np.int64) + lengths[right]
    ends = np.cumsum(cost)
    start = 0
    while start < len(left):
        base = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, base + PACKET_BYTES, side="right")))
        stop = min(stop, start + PACKET_PAIRS, len(left))
        yield start, stop
        start = stop


def _send_packets(session: SparkConnection, task: PacketTask, packets: list[Packet]) -> list[Any]:
    import pyarrow as pa

    if not packets:
        return []
    table = pa.table(
        {
            "packet": pa.array(range(len(packets)), pa.int64()),
            "left": pa.array([packet.left.tobytes() for packet in packets], pa.binary()),
            "right": pa.array([packet.right.tobytes() for packet in packets], pa.binary()),
            "texts": pa.array([packet.texts for packet in packets], pa.list_(pa.string())),
        }
    )

    def judge() -> list[Any]:
        frame = session.spark.createDataFrame(table, PACKET_SCHEMA)
        if len(packets) > 1:
            frame = frame.repartition(min(len(packets), 2 * session.cores))
        return list(frame.mapInArrow(task, PACKET_VERDICT_SCHEMA).collect())

    return sorted(wait_for(judge), key=lambda row: int(row["packet"]))
