"""Rows of a DataFrame: sketched where their texts are read, numbered, equal ones collapsed.

`sketch_frame` turns texts into sketches and fingerprints in the tasks that read them; `make_rows`
numbers the rows and finds for each the first row with equal features, so that a million copies are
one row from there on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup._util.arrow import string_buffers
from neardup.engines.spark.arrow import (
    SortColumn,
    binary_array,
    bool_array,
    int64_array,
    make_batch,
    single_array,
    sort_keys,
    unsortable_column,
)
from neardup.engines.spark.request import SparkRequest, check_columns, check_frame, check_text
from neardup.engines.spark.storage import Storage
from neardup.near.keep import number_type, strip_strings
from neardup.text.fingerprint import RecipeLike, fingerprints
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame


REGISTERS = 48
DIGEST = _core.SKETCH_BYTES - REGISTERS
NO_TEXT = "no text"
NOT_UTF8 = "not UTF-8"


def fingerprint(
    df: DataFrame,
    text_column: str = "text",
    recipe: RecipeLike = None,
    *,
    column: str = "fingerprint",
) -> DataFrame:
    """Add a column of fingerprints: big-endian bytes; null for a row without a text, with a text
    that is not UTF-8, or with too few features.

    column  name of the new column
    """
    check_frame("df", df)
    check_columns(df, "df", text_column)
    check_text(df, "df", text_column)
    checked_recipe = as_recipe(recipe)
    if column in df.columns:
        raise ValueError(f"df already has a column {column!r}; pass another name as column=")
    from pyspark.sql.types import BinaryType, StructType

    place = df.columns.index(text_column)
    # Our own names: not every engine accepts a name with a dot here.
    names = [*df.columns, column]
    own = [f"c{at}" for at in range(len(names))]
    plain = df.toDF(*own[:-1])
    schema = StructType([*plain.schema.fields]).add(own[-1], BinaryType())

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values, signal = fingerprint_bytes(decode_texts(batch.column(place))[0], checked_recipe)
            found = binary_array(values[:, ::-1], ~signal)
            yield make_batch(dict(zip(own, [*batch.columns, found], strict=True)))

    return plain.mapInArrow(work, schema).toDF(*names)


def decode_texts(column: Any) -> tuple[Any, Any]:
    """Return texts as strings, null where unreadable, and the reasons, null where readable."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = single_array(column)
    missing = array.is_null()
    try:
        texts = array.cast(pa.large_string()) if array.type != pa.large_string() else array
        texts.validate(full=True)
    except pa.ArrowInvalid:
        # Spark does not validate strings. One bad record must not fail a task.
        texts = pa.array(
            [_decode(value) for value in array.cast(pa.large_binary()).to_pylist()],
            pa.large_string(),
        )
    bad = pc.and_not(texts.is_null(), missing)
    why = pc.if_else(missing, NO_TEXT, pc.if_else(bad, NOT_UTF8, pa.scalar(None, pa.string())))
    return texts, why


def _decode(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def text_checksums(texts: Any) -> NDArray[np.int64]:
    """Return a 64-bit hash of each text; 0 for a missing one."""
    import numpy as np

    _, offsets, data = texts.buffers()
    found = np.zeros(len(texts), dtype=np.int64)
    if data is None:
        return found
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset :][: len(texts) + 1].tolist()
    there, view = texts.is_valid().to_pylist(), memoryview(data)
    for at, (start, end) in enumerate(itertools.pairwise(ends)):
        if there[at]:
            digest = blake2b(view[start:end], digest_size=8).digest()
            found[at] = int.from_bytes(digest, "little", signed=True)
    return found


def fingerprint_bytes(texts: Any, recipe: Recipe) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return fingerprints as rows of little-endian bytes, and which texts have one."""
    import numpy as np
    import pyarrow as pa

    found = fingerprints(pa.chunked_array([texts]), recipe, threads=1)
    width = (recipe.bits + 7) // 8
    values = np.ascontiguousarray(found.values.astype("<u8", copy=False)).view(np.uint8)
    return values.reshape(len(found), -1)[:, :width], found.signal


@dataclass(frozen=True)
class SketchTask:
    """Task: sketches rows. `sketch_frame` lists the columns.

    keys   common type of the keys for keep, if the column has strings; else None
    """

    request: SparkRequest
    registers: bool
    fingerprint: bool
    text: bool = False
    keys: str | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield self._sketch(batch)

    def _sketch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        texts, why = decode_texts(columns["text"])
        lengths = pc.binary_length(texts).fill_null(0)
        recipe = self.request.recipe
        found = recipe.pipeline.sketches_arrow(string_buffers(pa.chunked_array([texts])), 1)
        signal, sketches = np.asarray(found[0]), np.asarray(found[1])
        result: dict[str, Any] = {
            "id": columns["id"],
            "order": sort_keys(self._sort_columns(columns, lengths)),
            "bytes": lengths,
            "checksum": int64_array(text_checksums(texts)),
            "signal": bool_array(signal),
            "digest": binary_array(
                sketches[:, REGISTERS:], (sketches[:, REGISTERS:] == 0).all(axis=1)
            ),
            "reason": why,
        }
        if self.registers:
            result["registers"] = binary_array(sketches[:, :REGISTERS], ~signal)
        if self.fingerprint:
            values, coded = fingerprint_bytes(texts, recipe)
            result["fingerprint"] = binary_array(values, ~coded)
        if self.text:
            result["text"] = texts.cast(pa.string())
        return make_batch(result)

    def _sort_columns(self, columns: dict[str, Any], lengths: Any) -> list[SortColumn]:
        """Return the sort columns: keep policy, then order_by, then id."""
        import pyarrow.compute as pc

        keep = self.request.keep
        by = []
        if keep.rule in ("longest", "shortest"):
            by.append(SortColumn(pc.cast(lengths, "int64"), keep.rule == "longest"))
        elif keep.column is not None:
            keys = single_array(columns["key"])
            if self.keys is not None:
                keys = strip_strings(keys)
                keys = keys if self.keys == "string" else keys.cast(self.keys)
            by.append(SortColumn(keys, True))
        by += [
            SortColumn(single_array(columns[f"by{at}"])) for at in range(len(self.request.order_by))
        ]
        return [*by, SortColumn(single_array(columns["id"]))]


def sketch_frame(
    frame: DataFrame,
    request: SparkRequest,
    *,
    fingerprint: bool = False,
    text: bool = False,
) -> DataFrame:
    """Return for each row id, order (sort key), bytes and checksum of the text, signal, digest
    (null without features), reason (null, or why the text is unreadable); registers for a
    similarity, fingerprint for a radius or on request."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    columns = {"id": request.id_column, "text": request.text_column}
    columns |= {f"by{at}": name for at, name in enumerate(request.order_by)}
    if request.keep.column is not None:
        columns["key"] = request.keep.column
    chosen = frame.select(*(F.col(quote_column(name)).alias(own) for own, name in columns.items()))
    for own, name in columns.items():
        if own != "text":
            _check_sortable(chosen, own, name)
    similar = request.question.similarity is not None
    making = SketchTask(
        request,
        registers=similar,
        fingerprint=fingerprint or not similar,
        text=text,
        keys=_key_type(chosen) if "key" in columns else None,
    )
    schema = StructType([chosen.schema["id"]])
    for name, kind in (
        ("order", "binary"),
        ("bytes", "long"),
        ("checksum", "long"),
        ("signal", "boolean"),
        ("digest", "binary"),
        ("reason", "string"),
        *((("registers", "binary"),) if making.registers else ()),
        *((("fingerprint", "binary"),) if making.fingerprint else ()),
        *((("text", "string"),) if text else ()),
    ):
        schema = schema.add(name, kind)
    return chosen.mapInArrow(making, schema)


def quote_column(name: str) -> str:
    """Quote a column name, so that a dot in it does not select a field."""
    return "`" + name.replace("`", "``") + "`"


def _check_sortable(frame: DataFrame, own: str, name: str) -> None:
    """Raise TypeError for a column without an order, before a task fails."""
    kind = frame.schema[own].dataType.simpleString()
    if kind.startswith(("array", "map", "struct", "variant", "interval", "void")):
        raise unsortable_column(name, kind)


def _key_type(frame: DataFrame) -> str | None:
    """Return the common type of keys that are strings, int64, double or string; None for others.

    Every cell of a CSV file is a string.
    """
    if not frame.schema["key"].dataType.simpleString().startswith(("string", "varchar", "char")):
        return None
    found = frame.select("key").mapInArrow(_number_types, "kind string").distinct().toArrow()
    kinds = set(found.column(0).to_pylist())
    return next((kind for kind in ("string", "double", "int64") if kind in kinds), "string")


def _number_types(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            yield make_batch(
                {"kind": pa.array([number_type(single_array(batch.column(0)))], pa.string())}
            )


# Sides: rows of a reference and rows compared with them; or all rows, compared with each other.
REFERENCE, INPUT, ALL = 0, 1, 2


@dataclass(frozen=True)
class Rows:
    """Rows to compare.

    across          whether rows are compared with a reference, not with each other
    table           row (a number), id, order, side, first (the first row with equal features),
                    copied (whether that one has the same text), signal, bytes, checksum, reason;
                    registers or fingerprint
    count           number of all rows
    distinct_count  number of distinct rows, the ones that are compared
    distinct_bytes  bytes of their texts
    variant_count   number of rows with the features of another row, but not its text
    """

    request: SparkRequest
    across: bool
    table: DataFrame
    storage: Storage
    count: int
    distinct_count: int
    distinct_bytes: int
    variant_count: int = 0

    @property
    def distinct(self) -> DataFrame:
        """The rows that are compared: the first of equal ones, with a signal."""
        return self.table.where("first = row AND signal")

    @property
    def mean_bytes(self) -> float:
        """Mean bytes of the text of a distinct row."""
        return self.distinct_bytes / max(1, self.distinct_count)


def number_rows(sketched: DataFrame, storage: Storage) -> DataFrame:
    """Give each row a stable number, in no order. Raise ValueError for missing or duplicate ids."""
    from pyspark.sql import functions as F

    found = storage.pin(sketched.withColumn("row", F.monotonically_increasing_id()))
    counted = found.groupBy("side", "id").agg(F.count(F.lit(1)).alias("times"))
    wrong = counted.where("times > 1 OR id IS NULL").limit(1).toArrow().to_pylist()
    if wrong:
        id_, times = wrong[0]["id"], wrong[0]["times"]
        what = "have no id" if id_ is None else f"have the id {id_!r}"
        raise ValueError(
            f"{times} rows {what}; each row needs a unique id: name another column with "
            "id_column=, or add one"
        )
    return found


def side_order() -> Column:
    """Return bytes that sort as rows do, a reference before its inputs, from side and order."""
    from pyspark.sql import functions as F

    return F.concat(F.unhex(F.lpad(F.hex("side"), 2, "0")), F.col("order"))


def first_row() -> Column:
    """Aggregate side, order, row: the number of the first row, a reference before its inputs.

    It is the minimum of bytes: pysail takes several times as long to compare structs.
    """
    from pyspark.sql import functions as F

    return _hex_number(F.hex(F.min(F.concat(side_order(), F.unhex(_hex_digits("row"))))), -16)


def _hex_digits(column: str) -> Column:
    """Return a bigint as 16 hexadecimal digits."""
    from pyspark.sql import functions as F

    return F.lpad(F.hex(column), 16, "0")


def _hex_number(digits: Column, at: int) -> Column:
    """Return the number at a place among hexadecimal digits."""
    from pyspark.sql import functions as F

    return F.conv(F.substring(digits, at, 16), 16, 10).cast("bigint")


def make_rows(
    sketched: DataFrame, request: SparkRequest, storage: Storage, *, across: bool = False
) -> Rows:
    """Number rows and find for each the first row with equal features, or the equal text without a
    signal; with a radius, the equal fingerprint, if that suffices."""
    from pyspark.sql import functions as F

    rows = number_rows(sketched, storage)
    same, question = F.col("digest"), request.question
    by_fingerprint = question.has_twins_by_fingerprint(request.recipe.bits)
    if question.similarity is None and by_fingerprint:
        same = F.when(F.col("signal"), F.col("fingerprint")).otherwise(same)
        # Digests and fingerprints never mix: they are grouped by signal.
        rows = rows.withColumn("same", same)
    else:
        rows = rows.withColumnRenamed("digest", "same")
    # The first row in order, with its number and checksum behind.
    numbers = F.unhex(F.concat(_hex_digits("row"), _hex_digits("checksum")))
    least = F.hex(F.min(F.concat(side_order(), numbers)))
    firsts = rows.where("same IS NOT NULL").groupBy("same", "signal").agg(least.alias("least"))
    found = F.col("least")
    joined = rows.join(firsts, ["same", "signal"], "left").select(
        *("row", "id", "order", "side"),
        F.coalesce(_hex_number(found, -32), "row").alias("first"),
        F.coalesce(F.substring(found, -16, 16) == _hex_digits("checksum"), F.lit(True)).alias(
            "copied"
        ),
        *("signal", "bytes", "checksum", "reason"),
        "registers" if question.similarity is not None else "fingerprint",
    )
    table = storage.pin(joined)
    distinct = F.expr("first = row AND signal")
    counts = table.agg(
        F.count(F.lit(1)).alias("count"),
        F.count(F.when(distinct, 1)).alias("distinct_count"),
        F.coalesce(F.sum(F.when(distinct, F.col("bytes"))), F.lit(0)).alias("distinct_bytes"),
        F.count(F.when(F.expr("NOT copied"), 1)).alias("variant_count"),
    ).toArrow()
    return Rows(request, across, table, storage, **counts.to_pylist()[0])
