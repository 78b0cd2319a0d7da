"""Texts of a DataFrame → fingerprints and sketches, made by the core in tasks that read them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup._util.arrow import string_buffers
from neardup.engines.spark.batches import as_batch, binaries, booleans, longs, one
from neardup.engines.spark.request import SparkRequest, check_columns, check_frame, check_text
from neardup.engines.spark.sort_keys import By, sort_keys, without_order
from neardup.near.keep import number_type, strip_strings
from neardup.text.fingerprint import RecipeLike, fingerprints
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

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
    """The same rows with a column of fingerprints: bytes, the highest first; null for a text with
    too few features, without a text, or one that is not UTF-8.

    column  what it is called
    """
    check_frame("df", df)
    check_columns(df, "df", text_column)
    check_text(df, "df", text_column)
    made = as_recipe(recipe)
    if column in df.columns:
        raise ValueError(f"df has a column {column!r} already; name another with column=")
    from pyspark.sql.types import BinaryType, StructType

    place = df.columns.index(text_column)
    # Under names of our own: not every engine takes a name with a dot here.
    names = [*df.columns, column]
    own = [f"c{at}" for at in range(len(names))]
    plain = df.toDF(*own[:-1])
    schema = StructType([*plain.schema.fields]).add(own[-1], BinaryType())

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values, signal = codes(readable(batch.column(place))[0], made)
            found = binaries(values[:, ::-1], ~signal)
            yield as_batch(dict(zip(own, [*batch.columns, found], strict=True)))

    return plain.mapInArrow(work, schema).toDF(*names)


def readable(column: Any) -> tuple[Any, Any]:
    """The texts as strings, null where there is none to read; and why, null where there is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = one(column)
    missing = array.is_null()
    try:
        texts = array.cast(pa.large_string()) if array.type != pa.large_string() else array
        texts.validate(full=True)
    except pa.ArrowInvalid:
        # Spark does not look into its strings. One bad record is not to stop a task.
        texts = pa.array(
            [_decoded(value) for value in array.cast(pa.large_binary()).to_pylist()],
            pa.large_string(),
        )
    bad = pc.and_not(texts.is_null(), missing)
    why = pc.if_else(missing, NO_TEXT, pc.if_else(bad, NOT_UTF8, pa.scalar(None, pa.string())))
    return texts, why


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def checksums(texts: Any) -> NDArray[np.int64]:
    """Of each text a number that another text hardly has; 0 where there is none."""
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


def codes(texts: Any, recipe: Recipe) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Fingerprints as rows of bytes, the lowest first, and which of them there are."""
    import numpy as np
    import pyarrow as pa

    made = fingerprints(pa.chunked_array([texts]), recipe, threads=1)
    width = (recipe.bits + 7) // 8
    values = np.ascontiguousarray(made.values.astype("<u8", copy=False)).view(np.uint8)
    return values.reshape(len(made), -1)[:, :width], made.signal


@dataclass(frozen=True)
class SketchTask:
    """What a task makes of rows: id, order, length, checksum, signal, digest, registers,
    fingerprint.

    keys   the type that keys for keep, where they are strings, all can be cast to; or None
    """

    asked: SparkRequest
    registers: bool
    fingerprint: bool
    text: bool = False
    keys: str | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield self.made(batch)

    def made(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        texts, why = readable(columns["text"])
        lengths = pc.binary_length(texts).fill_null(0)
        recipe = self.asked.recipe
        found = recipe.pipeline.sketches_arrow(string_buffers(pa.chunked_array([texts])), 1)
        signal, sketches = np.asarray(found[0]), np.asarray(found[1])
        made: dict[str, Any] = {
            "id": columns["id"],
            "order": sort_keys(self._by(columns, lengths)),
            "bytes": lengths,
            "checksum": longs(checksums(texts)),
            "signal": booleans(signal),
            "digest": binaries(sketches[:, REGISTERS:], (sketches[:, REGISTERS:] == 0).all(axis=1)),
            "reason": why,
        }
        if self.registers:
            made["registers"] = binaries(sketches[:, :REGISTERS], ~signal)
        if self.fingerprint:
            values, coded = codes(texts, recipe)
            made["fingerprint"] = binaries(values, ~coded)
        if self.text:
            made["text"] = texts.cast(pa.string())
        return as_batch(made)

    def _by(self, columns: dict[str, Any], lengths: Any) -> list[By]:
        """Those to be kept first: by the policy, then as rows are ordered, then by id."""
        import pyarrow.compute as pc

        keep = self.asked.keep
        by = []
        if keep.rule in ("longest", "shortest"):
            by.append(By(pc.cast(lengths, "int64"), keep.rule == "longest"))
        elif keep.column is not None:
            keys = one(columns["key"])
            if self.keys is not None:
                keys = strip_strings(keys)
                keys = keys if self.keys == "string" else keys.cast(self.keys)
            by.append(By(keys, True))
        by += [By(one(columns[f"by{at}"])) for at in range(len(self.asked.order_by))]
        return [*by, By(one(columns["id"]))]


def sketched(
    frame: DataFrame,
    asked: SparkRequest,
    *,
    fingerprint: bool = False,
    text: bool = False,
) -> DataFrame:
    """For each row id, order (bytes that sort as rows do), bytes (of the text), checksum (of the
    text), signal, digest (null if nothing can be like it), reason (null, or why the text could not
    be read); registers where a similarity is asked for, fingerprint where a radius is, or on
    request."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    columns = {"id": asked.id_column, "text": asked.text_column}
    columns |= {f"by{at}": name for at, name in enumerate(asked.order_by)}
    if asked.keep.column is not None:
        columns["key"] = asked.keep.column
    chosen = frame.select(*(F.col(quoted(name)).alias(own) for own, name in columns.items()))
    for own, name in columns.items():
        if own != "text":
            _check_order(chosen, own, name)
    similar = asked.question.similarity is not None
    making = SketchTask(
        asked,
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


def quoted(name: str) -> str:
    """A column's name as an expression: a dot in it is a dot."""
    return "`" + name.replace("`", "``") + "`"


def _check_order(frame: DataFrame, own: str, name: str) -> None:
    """Refuses columns that have no order before a task does."""
    kind = frame.schema[own].dataType.simpleString()
    if kind.startswith(("array", "map", "struct", "variant", "interval", "void")):
        raise without_order(name, kind)


def _key_type(frame: DataFrame) -> str | None:
    """For keys that are strings, what all of them are: int64, double, or string. Every cell of a
    CSV file is a string. None for other keys."""
    if not frame.schema["key"].dataType.simpleString().startswith(("string", "varchar", "char")):
        return None
    found = frame.select("key").mapInArrow(_number_types, "kind string").distinct().toArrow()
    kinds = set(found.column(0).to_pylist())
    return next((kind for kind in ("string", "double", "int64") if kind in kinds), "string")


def _number_types(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            yield as_batch({"kind": pa.array([number_type(one(batch.column(0)))], pa.string())})
