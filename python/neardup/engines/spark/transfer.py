"""Tables of this process, handed over to Spark."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.engines.spark.errors import waited

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.engines.spark.session import SparkConnection


# A file that takes the place of a large table; in the work folder of a job.
SHIPPED = "shipped.parquet"
# Bytes that a plan may hold: servers take messages of 128 MB.
MOST_IN_PLAN = 48 << 20
# Rows of a group in the file: workers share the groups.
GROUP = 1 << 17


def ship(session: SparkConnection, table: pa.Table, schema: str, folder: Path) -> Any:
    """A table as a DataFrame.

    folder  where a large one may lie, if the workers see it. A server elsewhere gets it piece by
            piece, which Spark does from 4.1 on
    """
    if table.nbytes <= MOST_IN_PLAN or not session.is_local:
        return session.spark.createDataFrame(table, schema)
    import pyarrow.parquet as pq

    path = folder.absolute() / SHIPPED
    # Sketches and codes are as good as random.
    pq.write_table(table, path, row_group_size=GROUP, compression="none", use_dictionary=False)
    return session.spark.read.schema(schema).parquet(path.as_uri())


# Files that Spark reads: s3a://, hdfs://, abfss:// and the like, as bytes.

BINARY = "binaryFile"


def content(session: SparkConnection, url: str, number: int) -> Any:
    """A DataFrame of one file: unit, path, start, line, content."""
    from pyspark.sql import functions

    files = session.spark.read.format(BINARY).load(url)
    return files.select(
        functions.lit(number).cast("long").alias("unit"),
        functions.lit(url).cast("binary").alias("path"),
        functions.lit(0).cast("long").alias("start"),
        functions.lit(0).cast("long").alias("line"),
        "content",
    )


def opened(session: SparkConnection, url: str) -> Any:
    """The bytes of one file, here."""
    files = session.spark.read.format(BINARY)
    rows = waited(lambda: files.load(url).select("content").collect())
    if not rows:
        raise FileNotFoundError(f"{url}: no such file")
    return io.BytesIO(bytes(rows[0]["content"]))


def expanded(session: SparkConnection, url: str) -> Sequence[str]:
    """The files that a folder or a pattern of Spark's storage holds, sorted."""
    files = session.spark.read.format(BINARY).option("recursiveFileLookup", "true")
    rows = waited(lambda: files.load(url).select("path").collect())
    scheme = url.partition("://")[0]
    found = []
    for row in rows:
        path = str(row["path"])
        # Some tell the path alone, or one slash after the scheme.
        rest = path.partition(":")[2] if path.startswith(f"{scheme}:") else path
        rest = (
            rest
            if rest.startswith("//")
            else f"//{'/' if scheme == 'file' else ''}{rest.lstrip('/')}"
        )
        found.append(f"{scheme}:{rest}")
    return sorted(found)
