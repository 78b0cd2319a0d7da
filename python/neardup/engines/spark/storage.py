"""Where intermediate tables lie, so that what was computed once is not computed again.

Row numbers and rounds of components must not change when a task runs again, and a plan must not
grow with each round. What can hold a table differs: Spark, also over Connect, keeps it on its
executors (`localCheckpoint`), which a lost executor takes along; pysail can only write files.
Parquet in a folder works everywhere and outlives an executor.
"""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_numbers = itertools.count()


class Storage:
    """Holds tables of one run.

    folder  where all executors can write and read: s3a://…, hdfs://…, a shared disk. Tables stay
            there until somebody deletes them: what a run returns reads them.
            [default: the executors themselves, or where they cannot, a temporary folder]
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = None if folder is None else f"{str(folder).rstrip('/')}/{uuid.uuid4().hex}"

    def pin(self, frame: DataFrame) -> DataFrame:
        """The same table, computed now and once."""
        if self.folder is None:
            held = _checkpointed(frame)
            if held is not None:
                return held
            self.folder = _temporary()
        path = f"{self.folder}/{next(_numbers)}"
        frame.write.parquet(path)
        # By its own schema: of an empty table there may be no file to tell it.
        return frame.sparkSession.read.schema(frame.schema).parquet(path)


def _checkpointed(frame: DataFrame) -> DataFrame | None:
    """Kept by the executors; None where that cannot be."""
    try:
        return frame.localCheckpoint(eager=True)
    except Exception as error:
        if not _has_none(error):
            raise
        return None


def _has_none(error: Any) -> bool:
    """Whether it is pysail that says it keeps nothing, and no failed task."""
    return "checkpoint" in str(error) and "not configured" in str(error)


def _temporary() -> str:
    folder = tempfile.mkdtemp(prefix="neardup-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
