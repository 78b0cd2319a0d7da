"""Verdicts on pairs of texts, by workers: each gets some pairs and the texts in them.

The driver cuts the pairs into packets, those that share texts together, so that a text goes along
with few of them and nothing is joined or shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.engines.spark.batches import as_batch
from neardup.engines.spark.errors import waited
from neardup.near.corpus import Judge, Verdicts, judging_corpus
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.engines.spark.session import SparkConnection
    from neardup.near.corpus import Corpus

    Rows = NDArray[np.uint32]

# Pairs of a packet, and about the bytes of its texts.
PAIRS = 1 << 12
BYTES = 2 << 20
# Bytes sent at a time: messages of servers are limited, to 128 MB by default, and so is memory.
ROUND = 32 << 20
# A packet of more, of a few long texts, is judged here, where they are.
MOST_SENT = 32 << 20

PACKETS = "packet long, left binary, right binary, texts array<string>"
VERDICTS = "packet long, similarity binary, distance binary"


@dataclass(frozen=True)
class Judging:
    """For `mapInArrow`: the verdicts on the pairs of each packet."""

    recipe: Recipe

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            for packet in batch.to_pylist():
                left, right = (np.frombuffer(packet[x], dtype="<u4") for x in ("left", "right"))
                found = _judged(self.recipe, packet["texts"], left, right, threads=1)
                yield as_batch(
                    {
                        "packet": pa.array([packet["packet"]], pa.int64()),
                        "similarity": pa.array([found.similarity.astype("<f8").tobytes()]),
                        "distance": pa.array([found.distance.astype("<u2").tobytes()]),
                    }
                )


def _judged(
    recipe: Recipe, texts: list[str], left: Rows, right: Rows, *, threads: int | None
) -> Verdicts:
    """The verdicts on pairs of these texts, by their places."""
    import numpy as np
    import pyarrow as pa

    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    signal = np.ones(len(texts), dtype=np.bool_)
    return Judge(judging_corpus(column, recipe, signal), threads=threads).verdicts(left, right)


class Packet:
    """Some pairs, from `start` to `stop`, and the texts in them."""

    def __init__(self, start: int, stop: int, left: Rows, right: Rows, corpus: Corpus) -> None:
        import numpy as np

        self.start, self.stop = start, stop
        rows, found = np.unique(
            np.concatenate((left[start:stop], right[start:stop])), return_inverse=True
        )
        places: Rows = found.astype("<u4")
        self.left, self.right = places[: stop - start], places[stop - start :]
        self.texts = [corpus.texts.get(row) for row in rows.tolist()]
        self.bytes = sum(len(text.encode()) for text in self.texts) + len(places) * 4


def verdicts(
    session: SparkConnection,
    corpus: Corpus,
    left: Rows,
    right: Rows,
    tick: Callable[[int], object],
    threads: int | None = None,
) -> Verdicts:
    """As `Judge.verdicts`, found by workers."""
    import numpy as np

    similarity, distance = np.empty(len(left)), np.empty(len(left), dtype=np.uint16)
    waiting: list[Packet] = []

    def judged() -> None:
        for packet, found in zip(waiting, _sent(session, corpus.recipe, waiting), strict=True):
            part = slice(packet.start, packet.stop)
            similarity[part] = np.frombuffer(found["similarity"], dtype="<f8")
            distance[part] = np.frombuffer(found["distance"], dtype="<u2")
            tick(packet.stop - packet.start)
        waiting.clear()

    for start, stop in _cuts(corpus, left, right):
        packet = Packet(start, stop, left, right, corpus)
        if packet.bytes > MOST_SENT:
            found = _judged(corpus.recipe, packet.texts, packet.left, packet.right, threads=threads)
            similarity[start:stop], distance[start:stop] = found.similarity, found.distance
            tick(stop - start)
            continue
        waiting.append(packet)
        if sum(packet.bytes for packet in waiting) >= ROUND:
            judged()
    judged()
    return Verdicts(similarity, distance)


def _cuts(corpus: Corpus, left: Rows, right: Rows) -> Iterator[tuple[int, int]]:
    """Where packets begin and end: at so many pairs, or so many bytes of texts, each at least one.

    Where lengths are not known, pairs alone decide.
    """
    import numpy as np

    lengths = getattr(corpus, "lengths", None)
    cost = np.full(len(left), BYTES // PAIRS, dtype=np.int64)
    if lengths is not None and len(left):
        # A text beside the pair before it is there already.
        new = np.ones(len(left), dtype=np.bool_)
        new[1:] = left[1:] != left[:-1]
        cost = np.where(new, lengths[left], 0).astype(np.int64) + lengths[right]
    ends = np.cumsum(cost)
    start = 0
    while start < len(left):
        base = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, base + BYTES, side="right")))
        stop = min(stop, start + PAIRS, len(left))
        yield start, stop
        start = stop


def _sent(session: SparkConnection, recipe: Recipe, packets: list[Packet]) -> list[Any]:
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

    def judged() -> list[Any]:
        frame = session.spark.createDataFrame(table, PACKETS)
        if len(packets) > 1:
            frame = frame.repartition(min(len(packets), 2 * session.cores))
        return list(frame.mapInArrow(Judging(recipe), VERDICTS).collect())

    return sorted(waited(judged), key=lambda row: int(row["packet"]))
