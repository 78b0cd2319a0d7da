"""Key records, packed many to a Spark row: on the JVM a row costs more than its bytes.

A record belongs to a slice, the hash of its key. A Spark row has the records of one slice from one
task. Spark shuffles by slice, so all records of a key, or of a part of it, arrive in one task.
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
# Slices per task. Spark distributes slices by hash: more slices make more even tasks.
SLICES_PER_TASK, MIN_SLICES_PER_TASK, MANY_SLICES = 16, 4, 1 << 16
# Records packed at a time, and the number of each slice to aim for.
MIN_PACKED_RECORDS, MAX_PACKED_RECORDS, RECORDS_PER_SLICE = 1 << 18, 1 << 21, 64
# Bytes of a record besides the registers or fingerprint.
RECORD_OVERHEAD_BYTES = 21


class PackedRecords(NamedTuple):
    """Records: a row under one of its keys.

    part      part of a bucket that is split into blocks, else 0
    side      side of the row in that part
    compared  registers or fingerprint of each row
    """

    key: NDArray[np.uint64]
    part: NDArray[np.uint32]
    side: NDArray[np.uint8]
    row: NDArray[np.int64]
    compared: NDArray[np.uint8]


class KeyedRows(NamedTuple):
    """Records before packing: rows and what is compared are not repeated for each key.

    at        for each record the index of its row in `row` and `compared`
    """

    key: NDArray[np.uint64]
    part: NDArray[np.uint32]
    side: NDArray[np.uint8]
    at: NDArray[np.int64]
    row: NDArray[np.int64]
    compared: NDArray[np.uint8]


def slice_count(tasks: int) -> int:
    """Return the number of slices for `tasks` tasks."""
    if tasks == 1:
        return 1
    return max(MIN_SLICES_PER_TASK * tasks, min(SLICES_PER_TASK * tasks, MANY_SLICES))


@dataclass(frozen=True)
class Packer:
    """Packs records into Spark rows: the number of a slice, and the columns of its records."""

    slices: int

    def __call__(self, keyed: Iterable[KeyedRows]) -> Iterator[pa.RecordBatch]:
        least = min(max(RECORDS_PER_SLICE * self.slices, MIN_PACKED_RECORDS), MAX_PACKED_RECORDS)
        waiting: list[KeyedRows] = []
        for placed in keyed:
            waiting.append(placed)
            if sum(len(some.key) for some in waiting) >= least:
                yield self._pack(waiting)
                waiting = []
        if waiting:
            yield self._pack(waiting)

    def _pack(self, keyed: list[KeyedRows]) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa

        key, part, side = (np.concatenate([some[of] for some in keyed]) for of in range(3))
        starts = np.cumsum([0, *(len(some.row) for some in keyed)]).tolist()
        at = np.concatenate([some.at + start for some, start in zip(keyed, starts, strict=False)])
        slices = self._slice(key, part)
        # NumPy sorts 16-bit numbers in linear time.
        narrow = slices.astype(np.uint16) if self.slices <= 1 << 16 else slices
        sort = np.argsort(narrow, kind="stable")
        at = at[sort]
        row = np.concatenate([some.row for some in keyed])[at]
        compared = np.concatenate([some.compared for some in keyed])
        # As one void value per row: rows are moved whole, not byte by byte.
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
    """Return all records of a task."""
    key, part, side, row, compared = (column_bytes(table[name]) for name in PackedRecords._fields)
    rows = compared.reshape(-1, width)
    return PackedRecords(key.view("<u8"), part.view("<u4"), side, row.view("<i8"), rows)
