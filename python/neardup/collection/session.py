"""One opening of a collection: its files, who may write, and what is in memory of it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup import _core
from neardup.collection.errors import CollectionError, foreign, told
from neardup.collection.lock import WriterLock
from neardup.collection.rows import Row
from neardup.collection.segments import TAIL, Segments
from neardup.collection.store import DATABASE, Store
from neardup.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# A version that the store never has.
UNKNOWN = -1


class Session:
    """Sees to it that one thread at a time uses the store, one process writes, and what is in
    memory is as of now."""

    def __init__(self, folder: Path, store: Store, recipe: Recipe, *, read_only: bool) -> None:
        self.folder = folder
        self.store = store
        self.segments = Segments(store, recipe)
        self.read_only = read_only
        self.lock = threading.RLock()
        self._writer = WriterLock(folder)
        self._file = _identity(folder)
        self._pid = os.getpid()
        self._version = UNKNOWN
        self._closed = False
        # No segment is tried again before this key, after one could not be written.
        self._patience = 0
        self._release = weakref.finalize(self, _let_go, store, self._writer, self._pid)
        _OPEN.add(self)

    def close(self) -> None:
        """Lets go of the files, and of the writer's place. A second time does nothing."""
        if self._pid != os.getpid():
            return
        with self.lock:
            self._closed = True
            self.segments.close()
            self._release()

    def check_open(self) -> None:
        if self._pid != os.getpid():
            raise foreign(self.folder, self._pid)
        if self._closed:
            raise CollectionError(f"{self.folder}: is closed; open it again")

    @contextmanager
    def current(self) -> Iterator[Segments]:
        """In here what is in memory is as of now. Nobody else writes while this process may."""
        self.check_open()
        with self.lock:
            self.check_open()
            if not self._writer.held or self._version == UNKNOWN:
                with told(self.folder):
                    version = self.store.data_version()
                if version != self._version:
                    with self.reading():
                        pass
            yield self.segments

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """In here all is as of one moment, which is now."""
        self.check_open()
        with self.lock:
            self.check_open()
            with self.store.snapshot():
                version = self.store.data_version()
                if version != self._version:
                    self.segments.refresh()
                    self._version = version
                yield self.store

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """In here nobody else writes. Whoever has begun to is the writer until it closes."""
        if self.read_only:
            raise CollectionError(f"{self.folder}: opened to read only; open it without read_only")
        self.check_open()
        with self.lock, told(self.folder):
            self.check_open()
            if _identity(self.folder) != self._file:
                raise CollectionError(
                    f"{self.folder}: was moved, removed or replaced since it was opened; "
                    "open it where it is now"
                )
            if not self._writer.held:
                self._writer.acquire()
                try:
                    with self.reading():
                        self.segments.clean()
                except BaseException:
                    self._writer.release()
                    raise
            elif self.store.data_version() != self._version:
                with self.reading():
                    pass
            try:
                yield self.store
            except BaseException:
                # It may have come between what was stored and what is known of it.
                self._forget()
                raise

    def change(
        self,
        rows: Sequence[tuple[Any, ...]],
        digests: Sequence[tuple[int, bytes]],
        gone: Sequence[Row],
        keys: NDArray[np.int64] | None = None,
        values: NDArray[np.uint64] | None = None,
    ) -> None:
        """Some rows in, some out, in one transaction; what is in memory follows when it is done.

        keys, values   of the rows that have a fingerprint
        """
        counts = self.segments.counts
        without = sum(row[2] is None for row in rows) - sum(row.fingerprint is None for row in gone)
        after = counts._replace(
            documents=counts.documents + len(rows) - len(gone),
            without_signal=counts.without_signal + without,
            next_key=counts.next_key + len(rows),
            next_removal=counts.next_removal + len(gone),
        )
        with self.store.transaction():
            if gone:
                self.store.delete(gone, counts.next_removal)
            if rows:
                self.store.insert(rows, digests)
            self.store.set_counts(after)
        self.segments.apply(keys, values, [row.key for row in gone], after)
        self._tidy()

    def _forget(self) -> None:
        self._version = UNKNOWN
        self.segments.forget()

    def _tidy(self) -> None:
        """A segment of its own for what has gathered in memory. What is stored is stored, so that
        no trouble with it is an error of whoever has added something: it is tried again later."""
        import sqlite3

        key = self.segments.counts.next_key
        if key >= self._patience and self.segments.is_due:
            try:
                self.segments.write()
            except (OSError, CollectionError, sqlite3.Error, _core.CorruptIndexError):
                self._patience = key + TAIL
                self._forget()

    def abandon(self) -> None:
        """In a forked process: the files are the parent's. SQLite's locks are not the child's, and
        to close them might take the parent's away; so they are never closed, not even at the end.
        """
        import ctypes

        self._writer.abandon()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.store.connection))


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which file the database is: what is written to another one under that name is lost."""
    try:
        found = os.stat(folder / DATABASE)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


def _let_go(store: Store, lock: WriterLock, pid: int) -> None:
    if os.getpid() == pid:
        try:
            store.close()
        finally:
            lock.release()


def _forked() -> None:
    for session in list(_OPEN):
        session.abandon()


os.register_at_fork(after_in_child=_forked)
