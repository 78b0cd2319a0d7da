"""Files that Spark reads: s3a://, hdfs://, abfss:// and the like, as bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neardup.engines.spark.errors import waited

if TYPE_CHECKING:
    from neardup.engines.spark.session import Session

BINARY = "binaryFile"


def content(session: Session, url: str, number: int) -> Any:
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


def opened(session: Session, url: str) -> Any:
    """The bytes of one file, here."""
    files = session.spark.read.format(BINARY)
    rows = waited(lambda: files.load(url).select("content").collect())
    if not rows:
        raise FileNotFoundError(f"{url}: no such file")
    return io.BytesIO(bytes(rows[0]["content"]))


def expanded(session: Session, url: str) -> Sequence[str]:
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
