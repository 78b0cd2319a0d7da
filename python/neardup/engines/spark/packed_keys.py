"""Records of keys, many to a row: a row costs Spark's JVM more than the bytes in it.

Each record goes to a slice by its key, and a row holds the records of a slice that a task has made.
Spark deals slices to tasks, so all records of a key, and of a part of it, come to one task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import number_array
from neardup.engines.spark.arrow import column_bytes, make_batch

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

PACKED_SCHEMA = "slice int, key binary, part binary, side binary, row binary, compared binary"
# Slices for each task: Spark deals them by hash, and of many the shares are more even.
SLICES_PER_TASK, MIN_SLICES_PER_TASK, MANY_SLICES = 16, 4, 1 << 16
# Records that are packed at once, and how many of each slice that should be.
MIN_PACKED_RECORDS, MAX_PACKED_RECORDS, RECORDS_PER_SLICE = 1 << 18, 1 << 21, 64
# Bytes of a record beside what is compared.
RECORD_OVERHEAD_BYTES = 21


class PackedRecords(NamedTuple):
    """Rows under their keys.

    part      of a bucket that is cut, else 0
    side      of the row there
    compared  registers, or a fingerprint, a row each
    """

    key: NDArray[np.uint64]
    part: NDArray[np.uint32]
    side: NDArray[np.uint8]
    row: NDArray[np.int64]
    compared: NDArray[np.uint8]


class KeyedRows(NamedTuple):
    """The same before what is compared is written once for each key.

    at        for each record the place of its row in `row` and `compared`
    """

    key: NDArray[np.uint64]
    part: NDArray[np.uint32]
    side: NDArray[np.uint8]
    at: NDArray[np.int64]
    row: NDArray[np.int64]
    compared: NDArray[np.uint8]


def slice_count(tasks: int) -> int:
    """Slices to be dealt to so many tasks."""
    if tasks == 1:
        return 1
    return max(MIN_SLICES_PER_TASK * tasks, min(SLICES_PER_TASK * tasks, MANY_SLICES))


@dataclass(frozen=True)
class Packer:
    """Packs records into rows: the number of a slice, and the columns of its records.

    slices  how many there are
    """

    slices: int

    def __call__(self, made: Iterable[KeyedRows]) -> Iterator[pa.RecordBatch]:
        least = min(max(RECORDS_PER_SLICE * self.slices, MIN_PACKED_RECORDS), MAX_PACKED_RECORDS)
        waiting: list[KeyedRows] = []
        for placed in made:
            waiting.append(placed)
            if sum(len(some.key) for some in waiting) >= least:
                yield self._packed(waiting)
                waiting = []
        if waiting:
            yield self._packed(waiting)

    def _packed(self, made: list[KeyedRows]) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa

        key, part, side = (np.concatenate([some[of] for some in made]) for of in range(3))
        starts = np.cumsum([0, *(len(some.row) for some in made)]).tolist()
        at = np.concatenate([some.at + start for some, start in zip(made, starts, strict=False)])
        slices = self._slice(key, part)
        # Numbers of 16 bits are sorted in linear time.
        narrow = slices.astype(np.uint16) if self.slices <= 1 << 16 else slices
        sort = np.argsort(narrow, kind="stable")
        at = at[sort]
        row = np.concatenate([some.row for some in made])[at]
        compared = np.concatenate([some.compared for some in made])
        # Whole rows are moved, not byte by byte.
        compared = compared.view(f"V{compared.shape[1]}").reshape(-1)[at]
        counts = np.bincount(slices, minlength=1)
        filled = np.flatnonzero(counts)
        ends = np.append(0, np.cumsum(counts[filled]))

        def column(values: NDArray[Any]) -> pa.Array:
            offsets = (ends * values.itemsize).astype(np.int32)
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values.view(np.uint8))]
            return pa.Array.from_buffers(pa.binary(), len(filled), buffers)

        columns = PackedRecords(key[sort], part[sort], side[sort], row, compared)
        packed = {name: column(values) for name, values in columns._asdict().items()}
        return make_batch({"slice": number_array(filled.astype("i4")), **packed})

    def _slice(self, key: NDArray[np.uint64], part: NDArray[np.uint32]) -> NDArray[np.uint32]:
        import numpy as np

        mixed = key * np.uint64(0x9E3779B97F4A7C15)
        mixed += part.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0x94D049BB133111EB)
        share = (mixed >> np.uint64(32)) * np.uint64(self.slices)
        found: NDArray[np.uint32] = (share >> np.uint64(32)).astype(np.uint32)
        return found


def unpack_records(table: pa.Table, width: int) -> PackedRecords:
    """All records that came to a task."""
    key, part, side, row, compared = (column_bytes(table[name]) for name in PackedRecords._fields)
    rows = compared.reshape(-1, width)
    return PackedRecords(key.view("<u8"), part.view("<u4"), side, row.view("<i8"), rows)
