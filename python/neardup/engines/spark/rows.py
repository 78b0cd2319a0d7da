"""The rows of a DataFrame under numbers, and who stands for whom: equal ones collapse first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.engines.spark.request import SparkRequest
from neardup.engines.spark.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Sides: a reference, and what is compared with it; all with all.
REFERENCE, INPUT, ALL = 0, 1, 2


@dataclass(frozen=True)
class Rows:
    """Rows to be compared.

    across  whether rows are compared with a reference, and not with each other
    table   row (a number), id, order, side, first (the row that stands for it), signal, bytes,
            checksum, reason; registers or fingerprint
    units   how many rows stand for themselves and have a signal; and their bytes in all
    """

    asked: SparkRequest
    across: bool
    table: DataFrame
    storage: Storage
    count: int
    units: int
    unit_bytes: int

    @property
    def compared(self) -> DataFrame:
        """Those that are compared: the first of its equals, with a signal."""
        return self.table.where("first = row AND signal")

    @property
    def mean_bytes(self) -> float:
        """Bytes of a text that is compared, on average."""
        return self.unit_bytes / max(1, self.units)


def numbered(sketched: DataFrame, storage: Storage) -> DataFrame:
    """The same with a number for each row, in no order, that stays. Ids must be there, and differ
    on each side."""
    from pyspark.sql import functions as F

    found = storage.pin(sketched.withColumn("row", F.monotonically_increasing_id()))
    counted = found.groupBy("side", "id").agg(F.count(F.lit(1)).alias("times"))
    wrong = counted.where("times > 1 OR id IS NULL").limit(1).toArrow().to_pylist()
    if wrong:
        given, times = wrong[0]["id"], wrong[0]["times"]
        what = "have no id" if given is None else f"have the id {given!r}"
        raise ValueError(
            f"{times} rows {what}; ids must be there and differ, since answers name rows by them: "
            "name another column with id_column=, or add one"
        )
    return found


def first_row() -> Column:
    """Of rows (side, order, row) the number of the first; a reference comes before what is compared
    with it. The least of bytes: to compare structures takes pysail some times as long."""
    from pyspark.sql import functions as F

    number = F.unhex(F.lpad(F.hex("row"), 16, "0"))
    least = F.min(F.concat(F.unhex(F.lpad(F.hex("side"), 2, "0")), F.col("order"), number))
    return F.conv(F.substring(F.hex(least), -16, 16), 16, 10).cast("bigint")


def rows_of(
    sketched: DataFrame, asked: SparkRequest, storage: Storage, *, across: bool = False
) -> Rows:
    """Numbers rows and finds for each the first in order that says the same: equal features, or
    equal texts without a signal; by a radius, equal fingerprints."""
    from pyspark.sql import functions as F

    rows = numbered(sketched, storage)
    same = F.col("digest")
    if asked.question.similarity is None:
        same = F.when(F.col("signal"), F.col("fingerprint")).otherwise(same)
        # A digest of a text and a fingerprint never mix: the one has no signal.
        rows = rows.withColumn("same", same)
    else:
        rows = rows.withColumnRenamed("digest", "same")
    firsts = (
        rows.where("same IS NOT NULL").groupBy("same", "signal").agg(first_row().alias("first"))
    )
    joined = rows.join(firsts, ["same", "signal"], "left").withColumn(
        "first", F.coalesce("first", "row")
    )
    names = ["row", "id", "order", "side", "first", "signal", "bytes", "checksum", "reason"]
    names.append("registers" if asked.question.similarity is not None else "fingerprint")
    table = storage.pin(joined.select(*names))
    compared = F.expr("first = row AND signal")
    counts = table.agg(
        F.count(F.lit(1)).alias("count"),
        F.count(F.when(compared, 1)).alias("units"),
        F.coalesce(F.sum(F.when(compared, F.col("bytes"))), F.lit(0)).alias("unit_bytes"),
    ).toArrow()
    return Rows(asked, across, table, storage, **counts.to_pylist()[0])
