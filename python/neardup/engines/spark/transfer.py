"""Tables of this process, handed over to Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.engines.spark.session import Session

# A file that takes the place of a large table; in the work folder of a job.
SHIPPED = "shipped.parquet"
# Bytes that a plan may hold: servers take messages of 128 MB.
MOST_IN_PLAN = 48 << 20
# Rows of a group in the file: workers share the groups.
GROUP = 1 << 17


def ship(session: Session, table: pa.Table, schema: str, folder: Path) -> Any:
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
