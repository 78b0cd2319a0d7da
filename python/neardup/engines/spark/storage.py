"""Where intermediate tables lie, so that what was computed once is not computed again.

Row numbers and rounds of components must not change when a task runs again, and a plan must not
grow with each round. What can hold a table differs: Spark, also over Connect, keeps it on its
executors (`localCheckpoint`), which a lost executor takes along; pysail can only write files.
Parquet in a folder works everywhere and outlives an executor.
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
    """Holds tables of one run.

    folder  where all executors can write and read: s3a://…, hdfs://…, a shared disk. Tables stay
            there until somebody deletes them: what a run returns reads them.
            [default: the executors themselves, or where they cannot, a temporary folder that goes
            with the session, or at exit]
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = None if folder is None else f"{str(folder).rstrip('/')}/{uuid.uuid4().hex}"
        self._held: list[DataFrame] = []

    def pin(self, frame: DataFrame) -> DataFrame:
        """The same table, computed now and once."""
        if self.folder is None:
            held = _checkpoint(frame)
            if held is not None:
                self._held.append(held)
                return held
            self.folder = f"{_temporary.of(frame.sparkSession)}/{uuid.uuid4().hex}"
        path = f"{self.folder}/{next(_numbers)}"
        frame.write.parquet(path)
        # By its own schema: of an empty table there may be no file to tell it.
        return frame.sparkSession.read.schema(frame.schema).parquet(path)

    def release(self) -> None:
        """Lets go of what executors hold; nothing that was pinned can be read any more. Nobody else
        would: a table that was read once stays in their memory as long as the session."""
        for frame in self._held:
            # Of Spark Connect the client tells the server when a DataFrame is gone.
            if hasattr(frame, "_jdf"):
                with suppress(Exception):
                    frame._jdf.queryExecution().analyzed().rdd().unpersist(False)
        self._held.clear()


def _checkpoint(frame: DataFrame) -> DataFrame | None:
    """Kept by the executors; None where that cannot be."""
    try:
        return frame.localCheckpoint(eager=True)
    except Exception as error:
        if not _cannot_checkpoint(error):
            raise
        return None


def _cannot_checkpoint(error: Any) -> bool:
    """Whether it is pysail that says it keeps nothing, and no failed task."""
    return "checkpoint" in str(error) and "not configured" in str(error)


def is_pysail(session: Any) -> bool:
    """Whether a session is of pysail, whose shuffles lie in memory: it has no master."""
    return session.conf.get("spark.master", None) is None


class TemporaryFolders:
    """One folder of this process, made when it is needed, with one in it for each session. A
    session's goes when nobody holds that session any more; all go at exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = 0
        self._parent = ""
        self._folders: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def of(self, session: Any) -> str:
        """The folder of a session."""
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
    # A process that was forked has no say about its parent's tables.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


_temporary = TemporaryFolders()
