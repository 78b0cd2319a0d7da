"""A record (a JSON object) → its id, text and other columns; records without ids, and duplicate
ids."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup.files.reading.batch import Batch, Reading, Task
from neardup.files.reading.formats import all_families, name_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


DEFAULT_ID = "id"
SHOWN_COLUMNS = 8
SHOWN_NAME = 40
# Floats beyond it skip integers.
EXACT = 1 << 53
MISSING = object()


class BadRecordError(Exception):
    """A record that gives no document; `kind` is the reason without the place in the record, and
    `hint` advice.
    """

    def __init__(self, reason: str, kind: str = "", hint: str = "") -> None:
        super().__init__(reason)
        self.kind = kind
        self.hint = hint


class Fields(NamedTuple):
    """The columns of a record that `Reading` selects.

    id   None if it has none: file:line is used
    odd  type of the id if it is a list or an object: "a list"
    """

    id: str | None
    odd: str | None
    text: str
    key: Any
    others: dict[str, Any] | None


def fields_of(record: Mapping[str, Any], reading: Reading) -> Fields:
    """Return the columns of a record that `reading` selects; raise BadRecordError if it has no
    text."""
    text = _texts(record, reading.text_columns)
    name, odd = _id(record, reading.id_column)
    key = others = None
    if reading.key_column is not None:
        key = _present(value_of(record, reading.key_column))
    if reading.others:
        taken = {*reading.text_columns, reading.id_column or DEFAULT_ID}
        others = {x: y for x, y in record.items() if x not in taken}
    return Fields(name, odd, text, key, others)


def value_of(record: Any, column: str) -> Any:
    """Return the value of a column, or MISSING. A column a.b is the b in a, unless there is one
    a.b."""
    if not isinstance(record, Mapping):
        return MISSING
    if column in record:
        return record[column]
    at = column.find(".")
    while at >= 0:
        head = column[:at]
        if head in record and (found := value_of(record[head], column[at + 1 :])) is not MISSING:
            return found
        at = column.find(".", at + 1)
    return MISSING


def _present(value: Any) -> Any:
    return None if value is MISSING else value


def parse_record(text: str) -> dict[str, Any]:
    """Parse a JSON object; raise BadRecordError."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise not_json(error) from None
    except RecursionError:
        raise BadRecordError("nested too deeply") from None
    except ValueError:
        raise too_many_digits() from None
    return as_record(record)


def too_many_digits() -> BadRecordError:
    """Return the error for an integer with more digits than Python converts."""
    most = sys.get_int_max_str_digits()
    return BadRecordError(f"holds a whole number of more than {most:,} digits")


def not_json(error: json.JSONDecodeError, offset: int = 0) -> BadRecordError:
    # Some of Python's messages end in "at" already.
    what = f"not JSON ({error.msg.removesuffix(' at')}"
    return BadRecordError(f"{what} at character {error.pos - offset})", f"{what})")


def as_record(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRecordError(f"expected an object, got {json_type(value)}")
    return value


def _texts(record: Mapping[str, Any], columns: Sequence[str]) -> str:
    values = [value_of(record, name) for name in columns]
    if all(value is MISSING for value in values):
        names = ", ".join(map(repr, columns))
        what = "no column" if len(columns) == 1 else "none of the columns"
        reason = f"{what} {names} (columns: {list_columns(record)})"
        raise BadRecordError(reason, hint=_hint(record))
    return "\n".join(_text(value, name) for value, name in zip(values, columns, strict=True))


def _hint(record: Mapping[str, Any]) -> str:
    """Return advice for a record that belongs to another family of formats, or ""."""
    return next(filter(None, (each.record_hint(record) for each in all_families().values())), "")


def _text(value: Any, column: str) -> str:
    # A null text is empty: it has no signal, and its record is kept.
    if value is None or value is MISSING:
        return ""
    if not isinstance(value, str):
        raise BadRecordError(f"column {column!r} is {json_type(value)}, not a string")
    return _encodable(value, column)


def _id(record: Mapping[str, Any], column: str | None) -> tuple[str | None, str | None]:
    name = DEFAULT_ID if column is None else column
    value = value_of(record, name)
    if value is MISSING:
        if column is None:
            return None, None
        raise BadRecordError(f"no column {name!r} (columns: {list_columns(record)})")
    if isinstance(value, str):
        return _encodable(value, name), None
    if isinstance(value, list | dict):
        return None, json_type(value)
    return scalar_id(value), None


def scalar_id(value: Any) -> str | None:
    """Return a value as an id; None if it is null or not a finite number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return None
        return str(int(value)) if value.is_integer() and abs(value) <= EXACT else repr(value)
    return None if value is None else str(value)


def _encodable(value: str, column: str) -> str:
    # JSON can spell half a surrogate pair, which UTF-8 cannot encode.
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        kind = f"column {column!r} holds a lone surrogate"
        raise BadRecordError(f"{kind} (U+{code:04X} at character {error.start})", kind) from None
    return value


def list_columns(names: Iterable[str]) -> str:
    """Return column names for a message: the first few, long ones cut."""
    shown = [repr(name if len(name) <= SHOWN_NAME else name[:SHOWN_NAME] + "…") for name in names]
    if len(shown) > SHOWN_COLUMNS:
        shown[SHOWN_COLUMNS:] = [f"{len(shown) - SHOWN_COLUMNS} more"]
    return ", ".join(shown) or "none"


def json_type(value: object) -> str:
    """Return the type of a JSON value for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {list: "a list", dict: "an object", str: "a string", int: "a number"}
    return names.get(type(value), "a number")


# ---- missing and duplicate ids ----


class MissingIds:
    """Counts the records of a file without an id, for one note per file. If no record has an id and
    no id column was named, nothing is noted.
    """

    def __init__(self, task: Task, unit: str = "line") -> None:
        """unit  what `Batch.lines` counts"""
        self._task = task
        self._unit = unit
        self._source = name_of(task.path)
        self._records = 0
        self._count = 0
        self._first = 0

    def see(self, batch: Batch) -> None:
        """Count the records of a batch."""
        import pyarrow.compute as pc

        unnamed = pc.starts_with(batch.ids, f"{self._source}:")
        if count := unnamed.true_count:
            if not self._count:
                # Not by Arrow's `index`, which imports pandas where it is installed.
                self._first = int(batch.lines[unnamed.to_pylist().index(True)])
            self._count += count
        self._records += len(batch.ids)

    def tell(self) -> None:
        """Note the records without a usable id, if ids could be expected."""
        name, odd = self._task.reading.id_column or DEFAULT_ID, self._task.odd_ids
        if odd.count:
            self._task.note(
                f"{self._source}: column {name!r} holds {odd.kind} in {_records(odd.count)}, first "
                f"at {self._unit} {odd.first}; their ids are file:{self._unit}"
            )
        elif 0 < self._count < self._records:
            self._task.note(
                f"{self._source}: {self._count:,} of {_records(self._records)} have no id in "
                f"column {name!r}, first at {self._unit} {self._first}; their ids are "
                f"file:{self._unit}"
            )


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


def note_missing_ids(batches: Iterable[Batch], task: Task, unit: str) -> Iterator[Batch]:
    """Yield batches of a file, then note the records without an id."""
    missing = MissingIds(task, unit)
    try:
        for batch in batches:
            missing.see(batch)
            yield batch
    except OSError:
        missing.tell()
        raise
    missing.tell()


REMEMBERED = 10_000_000


@dataclass
class DuplicateIds:
    """Counts ids that occur again. Keeps 8 bytes for each of the first ten million ids."""

    count: int = 0
    first: str | None = None
    _kept: int = 0
    # Sorted runs, each less than half as long as the one before: few to search, cheap to merge.
    _runs: list[NDArray[np.uint64]] = field(default_factory=list)

    def see(self, ids: pa.LargeStringArray) -> None:
        """Count the duplicates among some more ids."""
        import numpy as np

        if not len(ids):
            return
        _, offsets, data = ids.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        hashes, places = np.unique(
            _core.stable_hashes(memoryview(data or b"").cast("B"), bounds), return_index=True
        )
        known = np.zeros(len(hashes), np.bool_)
        for run in self._runs:
            known |= run[np.searchsorted(run, hashes).clip(max=len(run) - 1)] == hashes
        repeated = np.ones(len(ids), np.bool_)
        repeated[places[~known]] = False
        self.count += int(repeated.sum())
        if self.first is None and self.count:
            self.first = ids[int(repeated.argmax())].as_py()
        self._keep(hashes[~known][: REMEMBERED - self._kept])

    def _keep(self, run: NDArray[np.uint64]) -> None:
        import numpy as np

        if not len(run):
            return
        self._kept += len(run)
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")
        self._runs.append(run)
