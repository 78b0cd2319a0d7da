"""The writer's lock: one writer, and it is free again however the writer ended."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from neardup.collection.errors import LockedCollectionError

NAME = "lock"


class WriterLock:
    """Held with flock, which ends with its process: a lock file left behind locks nothing.

    The file holds the process number of the writer, only to name it in a message.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        return self._handle is not None

    def acquire(self) -> None:
        """Takes the lock or raises; it does not wait."""
        while not self._take():
            pass

    def _take(self) -> bool:
        """Whether what was locked is the file of that name, and not one that was just removed:
        another process could lock its successor."""
        path = self.folder / NAME
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(handle, path):
                os.close(handle)
                return False
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
            os.close(handle)
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise LockedCollectionError(
                f"{self.folder}: {who} is writing to it, and there can be one writer; "
                "wait until it is done, or read only"
            ) from None
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        # A full disk takes the name away, not the lock.
        with suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, b"%d\n" % os.getpid(), 0)
        return True

    def release(self) -> None:
        """Gives the lock back. Calling it again does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(OSError):
                os.ftruncate(handle, 0)
            os.close(handle)

    def abandon(self) -> None:
        """In a forked process: the lock is the parent's, which keeps it."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
