"""One opening of a collection: who may write, who reads meanwhile, and what is in memory."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from neardup import _core
from neardup.collection.errors import (
    CollectionError,
    CorruptCollectionError,
    opened_by_parent,
    translate_sqlite_errors,
)
from neardup.collection.opening import WriterLock
from neardup.collection.schema import StoredRow
from neardup.collection.segments import TAIL, Segments
from neardup.collection.snapshot import Snapshot, UnreadyError
from neardup.collection.store import DATABASE, Store
from neardup.text.recipe import Recipe

# Idle connections kept for later calls.
MAX_IDLE = 8
# Seconds a writer sleeps to let readers run: long enough for another thread to wake up.
YIELD_SECONDS = 5e-5


class ReaderPool:
    """A pool of read-only connections, one for each call in progress, so that readers never wait
    for the writer. Lists are changed by single atomic operations, without a lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._idle: list[Store] = []
        self._every: list[Store] = []
        self._closed = False

    @contextmanager
    def one(self) -> Iterator[Store]:
        store = self.take()
        try:
            yield store
        finally:
            self.give(store)

    def take(self) -> Store:
        """Take a connection for one call; `give` it back afterwards."""
        if self._idle:
            with suppress(IndexError):
                return self._idle.pop()
        store = Store(self.folder, read_only=True)
        self._every.append(store)
        return store

    def give(self, store: Store) -> None:
        if len(self._idle) < MAX_IDLE and not self._closed:
            self._idle.append(store)
        else:
            self._drop(store)
        if self._closed:
            self.close()

    def _drop(self, store: Store) -> None:
        with suppress(ValueError):
            self._every.remove(store)
        store.close()

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        self._closed = True
        while self._idle:
            with suppress(IndexError, CollectionError, OSError):
                self._drop(self._idle.pop())

    def yield_turn(self) -> None:
        """Sleep for a moment if a reader is active. The writer calls this regularly: otherwise it
        would take the GIL again before a reader wakes up."""
        if len(self._idle) < len(self._every):
            time.sleep(YIELD_SECONDS)

    @property
    def stores(self) -> list[Store]:
        """All open connections, in use or idle."""
        return [*self._every]


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Coded = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None]

T = TypeVar("T")

# How often a reader retries when the writer was faster, each time after a longer pause; after that
# it waits for the lock.
MAX_ATTEMPTS, RETRY_PAUSE = 8, 0.001


class OpenCollection:
    """One opening of a collection: lets one process write, and keeps the indexes in memory current.

    The writer holds the lock. Readers have their own connections and use the current snapshot;
    they need the lock only to load what another process has written.
    """

    def __init__(
        self, folder: Path, store: Store, recipe: Recipe, *, texts: bool, read_only: bool
    ) -> None:
        self.folder = folder
        self.store = store
        self.readers = ReaderPool(folder)
        store.yield_turn = self.readers.yield_turn
        self.segments = Segments(folder, recipe, texts=texts)
        self.read_only = read_only
        self.lock = threading.RLock()
        self._writer = WriterLock(folder)
        self._file = _identity(folder)
        self._pid = os.getpid()
        # The indexes in memory may differ from the database.
        self._stale = True
        self._closed = False
        # After a segment could not be written, none is tried before this key.
        self._retry_from_key = 0
        self._release = weakref.finalize(
            self, _release_all, store, self.readers, self._writer, self._pid
        )
        _OPEN.add(self)

    def close(self) -> None:
        """Close the files and release the writer's lock. Calling it again does nothing."""
        if self._pid != os.getpid():
            return
        with self.lock:
            self._closed = True
            self.segments.close()
            self._release()

    def check_open(self) -> None:
        if self._pid != os.getpid():
            raise opened_by_parent(self.folder, self._pid)
        if self._closed:
            raise CollectionError(f"{self.folder}: the collection is closed; open it again")

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Yield a store with a read transaction: everything is read as of one moment."""
        self.check_open()
        with self.readers.one() as store, store.snapshot():
            yield store

    @contextmanager
    def current(self) -> Iterator[tuple[Snapshot, Store]]:
        """Yield the current snapshot of the indexes, and a store that is as new or newer."""
        self.check_open()
        with self.readers.one() as store, translate_sqlite_errors(self.folder):
            yield self._current(store), store

    def _current(self, store: Store) -> Snapshot:
        """Return the current snapshot. While this process is the writer, nobody else changes it."""
        if self._stale or not self._writer.held:
            version = store.data_version()
            if self._stale or version != store.seen:
                self._refresh(store)
        return self.segments.view

    def _refresh(self, store: Store) -> None:
        with self.lock:
            self.check_open()
            with store.snapshot():
                # Read inside the transaction, the version belongs to what the transaction sees.
                version = store.data_version()
                self.segments.refresh(store)
                store.seen, self._stale = version, False

    def ask(self, work: Callable[[Snapshot, Store], T]) -> T:
        """Return `work(snapshot, store)` as of one moment.

        If a key is removed or the segments are rewritten during the search, the search is
        repeated.
        """
        for look in range(MAX_ATTEMPTS):
            self.check_open()
            store = self.readers.take()
            try:
                with translate_sqlite_errors(self.folder):
                    view = self._current(store)
                    found = work(view, store)
                    if view.tail is self.segments.view.tail:
                        return found
            except UnreadyError as unready:
                self._repair(store, unready)
            except CorruptCollectionError:
                time.sleep(RETRY_PAUSE * look)
            finally:
                self.readers.give(store)
        with self.lock, self.readers.one() as store, store.snapshot():
            self.check_open()
            self.segments.refresh(store)
            return self.retry_unready(lambda view: work(view, store), store)

    def retry_unready(self, work: Callable[[Snapshot], T], store: Store | None = None) -> T:
        """Return `work(snapshot)`, after rebuilding what it finds unready. The caller prevents
        changes meanwhile."""
        while True:
            try:
                return work(self.segments.view)
            except UnreadyError as unready:
                self.segments.repair(store or self.store, unready.part, codes=unready.codes)

    def _repair(self, store: Store, unready: UnreadyError) -> None:
        with self.lock:
            self.check_open()
            with store.snapshot():
                self.segments.refresh(store)
                self.segments.repair(store, unready.part, codes=unready.codes)

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Yield the store to write to. The first process to write stays the writer until it closes
        the collection."""
        if self.read_only:
            raise CollectionError(f"{self.folder}: opened read-only; open it without read_only")
        self.check_open()
        with self.lock, translate_sqlite_errors(self.folder):
            self.check_open()
            if _identity(self.folder) != self._file:
                raise CollectionError(
                    f"{self.folder}: moved, removed or replaced since it was opened; open it again"
                )
            if not self._writer.held:
                self._writer.acquire()
                try:
                    self.store.upgrade()
                    self._refresh(self.store)
                    self.segments.clean()
                except BaseException:
                    self._writer.release()
                    raise
            elif self._stale or self.store.data_version() != self.store.seen:
                self._refresh(self.store)
            try:
                yield self.store
            except BaseException:
                # The error may have come after the commit, before the indexes were updated.
                self._forget()
                raise

    def change(
        self,
        columns: Sequence[list[Any]],
        digests: Sequence[tuple[int, bytes]],
        gone: Sequence[StoredRow],
        coded: Coded | None = None,
        sketches: NDArray[np.uint8] | None = None,
    ) -> None:
        """Insert and delete rows in one transaction, then update the indexes in memory.

        columns   the rows to insert, by column, in the order of the table; empty for none
        digests   keys and digests of those without a signal
        gone      the rows to delete
        coded     keys, fingerprints and sketches of those with a signal
        sketches  of all rows to insert, if texts are stored
        """
        counts = self.segments.counts
        added = len(columns[0]) if columns else 0
        without = columns[2].count(None) if columns else 0
        without -= sum(row.fingerprint is None for row in gone)
        after = counts._replace(
            documents=counts.documents + added - len(gone),
            without_signal=counts.without_signal + without,
            next_key=counts.next_key + added,
            next_removal=counts.next_removal + len(gone),
        )
        with self.store.transaction():
            if gone:
                self.store.delete(gone, counts.next_removal)
            if added:
                made = None if sketches is None else sketches.tobytes()
                self.store.insert(columns, digests, made)
            self.store.set_counts(after)
        self.segments.apply(self.store, coded, [row.key for row in gone], after)
        self._tidy()

    def _forget(self) -> None:
        self._stale = True
        self.segments.forget()

    def _tidy(self) -> None:
        """Write a segment if enough is in memory. The documents are committed already, so a failure
        here does not fail `add`: it is retried later."""
        import sqlite3

        key = self.segments.counts.next_key
        if key >= self._retry_from_key and self.segments.is_due:
            try:
                self.segments.write(self.store)
            except (OSError, CollectionError, sqlite3.Error, _core.CorruptIndexError):
                self._retry_from_key = key + TAIL
                self._forget()

    def abandon(self) -> None:
        """Leave the files to the parent, in a forked child. Closing a connection of SQLite here
        could release locks of the parent, so they are never closed, not even at exit.
        """
        import ctypes

        self._writer.abandon()
        for store in (self.store, *self.readers.stores):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(store.connection))


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of the database, to notice that it was replaced."""
    try:
        found = os.stat(folder / DATABASE)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_OPEN: weakref.WeakSet[OpenCollection] = weakref.WeakSet()


def _release_all(store: Store, readers: ReaderPool, lock: WriterLock, pid: int) -> None:
    if os.getpid() == pid:
        try:
            readers.close()
            store.close()
        finally:
            lock.release()


def _abandon_all() -> None:
    for session in list(_OPEN):
        session.abandon()


os.register_at_fork(after_in_child=_abandon_all)
