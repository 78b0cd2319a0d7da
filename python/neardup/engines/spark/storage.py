"""Storage of intermediate tables, so that each is computed once.

Row numbers must not change when a task is retried, and query plans must not grow with each round of
an iteration. Spark, also over Connect, can hold a table on its executors (`localCheckpoint`), where
it is lost with an executor. pysail can only write files. Parquet in a folder works everywhere.
"""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
import threading
import uuid
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_numbers = itertools.count()


class Storage:
    """The intermediate tables of one run.

    folder  a path that all executors can read and write: s3a://…, hdfs://…, a shared disk. The
            results of a run read the tables, so they are not deleted here.
            [default: on the executors; on pysail a temporary folder, removed with the session]
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = None if folder is None else f"{str(folder).rstrip('/')}/{uuid.uuid4().hex}"
        self._held: list[DataFrame] = []

    def pin(self, frame: DataFrame) -> DataFrame:
        """Compute a table now; return a DataFrame that reads the stored result."""
        if self.folder is None:
            held = _checkpoint(frame)
            if held is not None:
                self._held.append(held)
                return held
            self.folder = f"{_temporary.of(frame.sparkSession)}/{uuid.uuid4().hex}"
        path = f"{self.folder}/{next(_numbers)}"
        frame.write.parquet(path)
        # An empty table may have no file to read a schema from.
        return frame.sparkSession.read.schema(frame.schema).parquet(path)

    def release(self) -> None:
        """Free the tables on the executors; they cannot be read any more.

        Otherwise they stay in memory as long as the session.
        """
        for frame in self._held:
            # The client of Spark Connect frees a table when its DataFrame is collected.
            if hasattr(frame, "_jdf"):
                with suppress(Exception):
                    frame._jdf.queryExecution().analyzed().rdd().unpersist(False)
        self._held.clear()


def _checkpoint(frame: DataFrame) -> DataFrame | None:
    """Hold a table on the executors; return None if the engine does not support it."""
    try:
        return frame.localCheckpoint(eager=True)
    except Exception as error:
        if not _cannot_checkpoint(error):
            raise
        return None


def _cannot_checkpoint(error: Any) -> bool:
    """Return whether this is pysail refusing a checkpoint, not a failed task."""
    return "checkpoint" in str(error) and "not configured" in str(error)


def is_pysail(session: Any) -> bool:
    """Return whether a session is one of pysail, which has no master and shuffles in memory."""
    return session.conf.get("spark.master", None) is None


class TemporaryFolders:
    """Temporary folders, one per session, inside one folder per process.

    A session's folder is removed when the session is garbage-collected, and all at exit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = 0
        self._parent = ""
        self._folders: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def of(self, session: Any) -> str:
        """Return the folder of a session; create it if needed."""
        with self._lock:
            if self._process != os.getpid() or not os.path.isdir(self._parent):
                self._process, self._folders = os.getpid(), weakref.WeakKeyDictionary()
                self._parent = tempfile.mkdtemp(prefix="neardup-spark-")
                atexit.register(_remove_folder, self._parent, self._process)
            folder = self._folders.get(session)
            if folder is None:
                folder = self._folders[session] = tempfile.mkdtemp(dir=self._parent)
                weakref.finalize(session, _remove_folder, folder, self._process)
            return folder


def _remove_folder(folder: str, process: int) -> None:
    # A forked child must not remove the tables of its parent.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


_temporary = TemporaryFolders()
