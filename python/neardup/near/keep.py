"""Keep policies: which record of a cluster to keep."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import number_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PLAIN_RULES = ("first", "longest", "shortest")
COLUMN_RULES = ("newest", "best")


@dataclass(frozen=True)
class Keep:
    """A keep policy.

    rule    "first", "longest", "shortest"; "newest" and "best" keep the largest value of `column`
    column  name of the column, for "newest" and "best" only
    """

    rule: str
    column: str | None = None

    @classmethod
    def parse(cls, text: str) -> Keep:
        """Parse first, longest, shortest, newest:COLUMN or best:COLUMN."""
        if not isinstance(text, str):
            raise TypeError(f"keep is of type {type(text).__name__}; it must be a str")
        rule, colon, column = text.partition(":")
        if (rule in PLAIN_RULES and not colon) or (rule in COLUMN_RULES and column):
            return cls(rule, column or None)
        raise ValueError(
            f"keep is {text!r}; it must be one of {', '.join(PLAIN_RULES)}, "
            f"{', '.join(f'{name}:COLUMN' for name in COLUMN_RULES)}"
        )

    def __str__(self) -> str:
        return self.rule if self.column is None else f"{self.rule}:{self.column}"

    def order(self, lengths: NDArray[Any], keys: Any | None) -> NDArray[np.int64] | None:
        """Return all rows, the ones to keep first, ties in row order; None for plain row order.

        lengths  of the texts
        keys     Arrow array of the column's values; records without a value come last
        """
        import numpy as np

        if self.rule == "first":
            return None
        if self.rule == "longest":
            return np.argsort(-lengths, kind="stable")
        if self.rule == "shortest":
            return np.argsort(lengths, kind="stable")
        import pyarrow as pa
        import pyarrow.compute as pc

        if keys is None:
            raise ValueError(f"keep is {self}, but there is no column {self.column!r}")
        # Arrow's sort is not stable: the row number decides between equal values. Nulls come last.
        table = pa.table({"key": _parse_numbers(keys), "row": number_array(np.arange(len(keys)))})
        sort_keys = [("key", "descending"), ("row", "ascending")]
        return np.asarray(pc.sort_indices(table, sort_keys=sort_keys), dtype=np.int64)


def _parse_numbers(keys: Any) -> Any:
    """Convert strings to numbers if all of them are numbers, since CSV cells are strings."""
    import pyarrow as pa

    if not (pa.types.is_string(keys.type) or pa.types.is_large_string(keys.type)):
        return keys
    kind = number_type(keys)
    return strip_strings(keys) if kind == "string" else strip_strings(keys).cast(kind)


def strip_strings(keys: Any) -> Any:
    """Return strings without surrounding whitespace, null where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(keys)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, keys.type), trimmed)


def number_type(keys: Any) -> str:
    """Return the type that all of these strings can be cast to: int64, double, or string."""
    import pyarrow as pa

    filled = strip_strings(keys)
    for kind in ("int64", "double"):
        with suppress(pa.ArrowInvalid):
            filled.cast(kind)
            return kind
    return "string"
