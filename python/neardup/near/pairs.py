"""All pairs of fingerprints within a radius, and the plan of the join that finds them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from neardup import _core
from neardup._util.arrow import number_array
from neardup._util.numbers import check_fraction, check_int, check_threads
from neardup.text.fingerprint import Codes, Fingerprints, as_codes

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Equal = Literal["all", "first"]
Method = Literal["equal", "all-pairs", "blocks", "sampled"]


@dataclass(frozen=True)
class JoinPlan:
    """The plan of `pairs` and `clusters`, with its expected recall and time.

    method            "equal": only equal fingerprints, radius 0; "all-pairs": each with each;
                      "blocks": exact, by sorting; "sampled": by random bits, misses some pairs
    rows, codes       number of fingerprints with a signal, and of distinct ones
    bits              number of bits that differ between any of them
    tables, key_bits  number of sorts, and of bits in a sort key
    recall            expected share of pairs found, for texts so similar that 99 in 100 pairs lie
                      within the radius
    recall_at_radius  expected share of pairs found at exactly the radius, the hardest to find
    seconds           rough estimate of the time on one thread
    """

    method: Method
    rows: int
    codes: int
    bits: int
    radius: int
    tables: int
    key_bits: int
    recall: float
    recall_at_radius: float
    seconds: float

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} fingerprints, {self.codes:,} different, "
            f"{self.bits} bits, radius {self.radius}",
            {
                "equal": "equal fingerprints only, exact",
                "all-pairs": "each with each, exact",
                "blocks": f"{self.tables} sorts by blocks of {self.key_bits} bits, exact",
                "sampled": f"{self.tables} sorts by {self.key_bits} random bits each, "
                f"finds {self.recall:.1%} of pairs, "
                f"{self.recall_at_radius:.1%} of those at the radius",
            }[self.method],
            f"about {self.seconds:.2g} seconds on one thread",
        ]
        return "\n".join(lines)


@overload
def pairs(
    fingerprints: Any,
    radius: int = 3,
    recall: float = 1.0,
    *,
    similarity: float | None = None,
    equal: Equal = "all",
    stream: Literal[False] = False,
    threads: int | None = None,
) -> pa.Table: ...
@overload
def pairs(
    fingerprints: Any,
    radius: int = 3,
    recall: float = 1.0,
    *,
    similarity: float | None = None,
    equal: Equal = "all",
    stream: Literal[True],
    threads: int | None = None,
) -> pa.RecordBatchReader: ...
def pairs(
    fingerprints: Any,
    radius: int = 3,
    recall: float = 1.0,
    *,
    similarity: float | None = None,
    equal: Equal = "all",
    stream: bool = False,
    threads: int | None = None,
) -> pa.Table | pa.RecordBatchReader:
    """Return all pairs of rows whose fingerprints differ in at most `radius` bits.

    The result is a sorted table: left < right (row numbers), distance. The metadata of its schema
    has the plan as JSON under "neardup". Rows without a signal are in no pair.

    fingerprints  Fingerprints, an array of uint64 (one row each), or an iterable of ints and None
    recall        1.0 finds all pairs; below, the join may sample if that is faster: see
                  `pairs_plan`
    similarity    cosine of the pairs to find, if known; `recall` then refers to the pairs of this
                  cosine within the radius
    equal         "all": every pair of equal fingerprints; "first": pair a repeated fingerprint only
                  with its first row, so that the time is linear in the repeats
    stream        True returns a reader of unsorted batches and joins while it is read: for more
                  pairs than fit in memory. Dropping the reader stops the join

    >>> pairs([0b1111, 0b1110, 0b0000, 0b1111], radius=1).to_pylist()
    [{'left': 0, 'right': 1, 'distance': 1}, {'left': 0, 'right': 3, 'distance': 0}, \
{'left': 1, 'right': 3, 'distance': 1}]
    """
    import pyarrow as pa

    codes, reach = join_arguments(fingerprints, radius, recall, similarity, threads)
    check_equal(equal)
    if stream:
        pair_stream = _core.PairStream(codes.values, codes.signal, reach, equal, threads)
        schema = _schema(pair_stream.plan)
        return pa.RecordBatchReader.from_batches(schema, _batches(pair_stream, schema))
    *columns, plan = _core.pairs(codes.values, codes.signal, reach, equal, threads)
    return pa.Table.from_arrays([number_array(column) for column in columns], schema=_schema(plan))


def check_equal(equal: object) -> None:
    """Raise ValueError for an unknown value of `equal`."""
    if equal not in ("all", "first"):
        raise ValueError(f'equal is {equal!r}; it must be "all" or "first"')


def pairs_plan(
    fingerprints: Any, radius: int = 3, recall: float = 1.0, *, similarity: float | None = None
) -> JoinPlan:
    """Return the plan of `pairs` and `clusters` for these fingerprints, without joining them."""
    codes, reach = join_arguments(fingerprints, radius, recall, similarity, None)
    return JoinPlan(**_core.join_plan(codes.values, codes.signal, reach))


def join_arguments(
    fingerprints: Any,
    radius: Any,
    recall: float,
    similarity: float | None,
    threads: int | None,
) -> tuple[Codes, _core.Reach]:
    """Check the arguments of a join and return them for the core."""
    codes = as_codes(fingerprints)
    stored_bits = codes.values.shape[1] * 64
    bits = stored_bits if hasattr(fingerprints, "dtype") else 512  # the width of ints is unknown
    if isinstance(fingerprints, Fingerprints):
        bits = fingerprints.recipe.bits
    radius = check_int("radius", radius, 0, bits)
    recall = check_fraction("recall", recall)
    flip = (
        None if similarity is None else flip_probability(check_fraction("similarity", similarity))
    )
    check_threads(threads)
    return codes, (min(radius, stored_bits), recall, flip)


def flip_probability(similarity: float) -> float:
    """Return the probability that a bit differs between fingerprints of texts of this cosine."""
    return math.acos(similarity) / math.pi


def _schema(plan: dict[str, Any]) -> pa.Schema:
    import pyarrow as pa

    fields = [("left", pa.int64()), ("right", pa.int64()), ("distance", pa.uint16())]
    return pa.schema(fields, metadata={"neardup": json.dumps(asdict(JoinPlan(**plan)))})


def _batches(pair_stream: _core.PairStream, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    columns: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]] | None
    while (columns := pair_stream.next()) is not None:
        yield pa.RecordBatch.from_arrays(
            [number_array(column) for column in columns], schema=schema
        )
