"""Documents as they flow through a job: some of one file at a time, in Arrow arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# About how much text a batch holds: enough to keep all cores busy, little enough to forget.
BATCH_BYTES = 8 << 20
BATCH_ROWS = 1 << 16


class Making(NamedTuple):
    """What may be made of texts while they are read: sketches, or else fingerprints."""

    pipeline: _core.Pipeline
    sketches: bool


class Made(NamedTuple):
    """What was made of a batch: signal, fingerprints or sketches, and the bytes of each text."""

    signal: NDArray[np.bool_]
    values: NDArray[np.uint64] | None
    sketches: NDArray[np.uint8] | None
    lengths: NDArray[np.int64]


class Batch(NamedTuple):
    """Some documents of one file, in order.

    `spans` says where each record lies in the unpacked file, [start, end) in bytes with its line
    end; for Parquet it is [row, row + 1). `lines` counts from 1 (rows, for Parquet). `key` holds
    the values of `Reading.key_column`, null where there is none. `others` holds what else is in
    each record, by column, where `Reading.others` asks for it. `in_place` says that each span of
    the file itself is a line of JSON from which the core can read the text again. Of such a batch
    something may have been made while it was read: then it has `made`, and no texts.
    """

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    spans: NDArray[np.int64]
    lines: NDArray[np.int64]
    key: pa.Array | None
    in_place: bool = False
    made: Made | None = None
    others: Sequence[dict[str, Any]] | None = None


@dataclass(frozen=True)
class Reading:
    """How files are read.

    Several text columns are joined by a line break; one of several may be missing, all may not.
    Without `id_column` the id is the column "id" where there is one, else file:line. Without
    `format` ("jsonl", "csv", "tsv", "parquet" or "text") the ending of a file tells it. With
    `others` the columns that are neither text nor id are read as well, which takes longer.
    """

    text_columns: tuple[str, ...] = ("text",)
    id_column: str | None = None
    key_column: str | None = None
    lines: bool = False
    format: str | None = None
    others: bool = False

    def __post_init__(self) -> None:
        if not self.text_columns:
            raise ValueError("text_columns is empty; name at least one column")
        for name in self.text_columns:
            if self.text_columns.count(name) > 1:
                raise ValueError(f"text_columns has {name!r} twice; name each column once")
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(f"format is {self.format!r}; use one of {', '.join(FORMATS)}")


FORMATS = ("jsonl", "csv", "tsv", "parquet", "text")


def make(
    ids: Sequence[str],
    texts: Sequence[str],
    spans: Any,
    lines: Any,
    keys: Sequence[Any] | None,
    others: Sequence[dict[str, Any]] | None = None,
) -> Batch:
    """A batch of Python values."""
    import numpy as np
    import pyarrow as pa

    return Batch(
        pa.array(ids, pa.large_string()),
        pa.array(texts, pa.large_string()),
        np.asarray(spans, dtype=np.int64).reshape(-1, 2),
        np.asarray(lines, dtype=np.int64),
        None if keys is None else _key(keys),
        others=others,
    )


def _key(values: Sequence[Any]) -> pa.Array:
    """Values of any kind as one column: numbers if all are, else strings; other kinds are null."""
    import pyarrow as pa

    kinds = {type(value) for value in values}
    if str in kinds:
        return pa.array([_word(value) for value in values], pa.large_string())
    if not kinds & {int, float}:
        return pa.nulls(len(values))
    numbers = [value if type(value) in (int, float) else None for value in values]
    try:
        return pa.array(numbers, pa.float64() if float in kinds else pa.int64())
    except (OverflowError, pa.ArrowInvalid):  # beyond 64 bits, or no exact float
        return pa.array([_float(number) for number in numbers], pa.float64())


def _float(number: float | None) -> float | None:
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def _word(value: Any) -> str | None:
    if type(value) in (int, float):
        return str(value)
    # Half a surrogate pair is no character and fits in no Arrow array.
    return value.encode(errors="replace").decode() if isinstance(value, str) else None
