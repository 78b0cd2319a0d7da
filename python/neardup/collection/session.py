"""A session: the open collection of one process, with the writer's lock, a pool of reading
connections, and the current snapshot of the indexes."""

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
from neardup.collection.segments import TAIL_FINGERPRINTS, Segments
from neardup.collection.snapshot import Snapshot, UnreadyError
from neardup.collection.store import DATABASE, Store
from neardup.text.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.segments import IndexEntries

T = TypeVar("T")

# Idle connections kept for later calls.
MAX_IDLE_CONNECTIONS = 8
# Seconds a writer sleeps to let readers run: long enough for another thread to wake up.
YIELD_SECONDS = 5e-5


class ReaderPool:
    """A pool of read-only connections, one for each call in progress, so that readers never wait
    for the writer. It needs no lock: each change of a list is one atomic operation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._idle: list[Store] = []
        self._open: list[Store] = []
        self._closed = False

    @contextmanager
    def borrow(self) -> Iterator[Store]:
        """Yield a connection, and release it afterwards."""
        store = self.acquire()
        try:
            yield store
        finally:
            self.release(store)

    def acquire(self) -> Store:
        """Return an idle connection or a new one; the caller releases it."""
        if self._idle:
            with suppress(IndexError):
                return self._idle.pop()
        store = Store(self.folder, read_only=True)
        self._open.append(store)
        return store

    def release(self, store: Store) -> None:
        if len(self._idle) < MAX_IDLE_CONNECTIONS and not self._closed:
            self._idle.append(store)
        else:
            self._drop(store)
        if self._closed:
            self.close()

    def _drop(self, store: Store) -> None:
        with suppress(ValueError):
            self._open.remove(store)
        store.close()

    def close(self) -> None:
        """Close the idle connections; connections in use are closed when they are released."""
        self._closed = True
        while self._idle:
            with suppress(IndexError, CollectionError, OSError):
                self._drop(self._idle.pop())

    def yield_turn(self) -> None:
        """Sleep for a moment if a reader is active. The writer calls this regularly: otherwise it
        would acquire the GIL again before a reader wakes up."""
        if len(self._idle) < len(self._open):
            time.sleep(YIELD_SECONDS)

    @property
    def open_stores(self) -> list[Store]:
        """All open connections, in use or idle."""
        return [*self._open]


# How often a search is tried while a writer changes the collection, each time after a longer pause;
# after that it waits for the lock.
MAX_ATTEMPTS, RETRY_PAUSE_SECONDS = 8, 0.001


class CollectionSession:
    """An open collection: one store to write to, a pool of readers, and the indexes in memory.

    A thread that writes holds `lock`. Readers have their own connections and use the current
    snapshot; they take `lock` only to load what another process has written.
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
        self._opened_file = _database_identity(folder)
        self._pid = os.getpid()
        # The indexes in memory may differ from the database.
        self._stale = True
        self._closed = False
        # After a segment could not be written, wait for this key before trying again.
        self._retry_from_key = 0
        self._release = weakref.finalize(
            self, _release_all, store, self.readers, self._writer, self._pid
        )
        _OPEN_SESSIONS.add(self)

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
        """Yield a store inside a read transaction."""
        self.check_open()
        with self.readers.borrow() as store, store.snapshot():
            yield store

    @contextmanager
    def current(self) -> Iterator[tuple[Snapshot, Store]]:
        """Yield the current snapshot of the indexes, and a store at least as new."""
        self.check_open()
        with self.readers.borrow() as store, translate_sqlite_errors(self.folder):
            yield self._current(store), store

    def _current(self, store: Store) -> Snapshot:
        """Return the current snapshot, refreshed if another process may have written."""
        if self._stale or not self._writer.held:
            version = store.data_version()
            if self._stale or version != store.refreshed_version:
                self._refresh(store)
        return self.segments.view

    def _refresh(self, store: Store) -> None:
        with self.lock:
            self.check_open()
            with store.snapshot():
                # Read the version inside the transaction, so that it belongs to the same state.
                version = store.data_version()
                self.segments.refresh(store)
                store.refreshed_version, self._stale = version, False

    def run_search(self, work: Callable[[Snapshot, Store], T]) -> T:
        """Return `work(snapshot, store)`, a search of the current state.

        The search is repeated if a key that it found was removed meanwhile, or if the segments were
        rewritten. Damaged indexes are rebuilt.
        """
        for attempt in range(MAX_ATTEMPTS):
            self.check_open()
            store = self.readers.acquire()
            try:
                with translate_sqlite_errors(self.folder):
                    view = self._current(store)
                    found = work(view, store)
                    if view.tail is self.segments.view.tail:
                        return found
            except UnreadyError as unready:
                self._repair(store, unready)
            except CorruptCollectionError:
                time.sleep(RETRY_PAUSE_SECONDS * attempt)
            finally:
                self.readers.release(store)
        with self.lock, self.readers.borrow() as store, store.snapshot():
            self.check_open()
            self.segments.refresh(store)
            return self.run_with_repairs(lambda view: work(view, store), store)

    def run_with_repairs(self, work: Callable[[Snapshot], T], store: Store | None = None) -> T:
        """Return `work(snapshot)`; rebuild indexes that it cannot search. The caller holds the
        lock."""
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
        """Yield the store to write to, with both locks held. This process keeps the writer's lock
        until it closes the collection."""
        if self.read_only:
            raise CollectionError(f"{self.folder}: opened read-only; open it without read_only")
        self.check_open()
        with self.lock, translate_sqlite_errors(self.folder):
            self.check_open()
            if _database_identity(self.folder) != self._opened_file:
                raise CollectionError(
                    f"{self.folder}: moved, removed or replaced since it was opened; open it again"
                )
            if not self._writer.held:
                self._writer.acquire()
                try:
                    self.store.upgrade()
                    self._refresh(self.store)
                    self.segments.delete_strays()
                except BaseException:
                    self._writer.release()
                    raise
            elif self._stale or self.store.data_version() != self.store.refreshed_version:
                self._refresh(self.store)
            try:
                yield self.store
            except BaseException:
                # The error may have come after the commit, before the indexes were updated.
                self._invalidate()
                raise

    def commit(
        self,
        columns: Sequence[list[Any]],
        digests: Sequence[tuple[int, bytes]],
        deleted: Sequence[StoredRow],
        entries: IndexEntries | None = None,
        sketches: NDArray[np.uint8] | None = None,
    ) -> None:
        """Insert and delete rows in one transaction, then update the indexes in memory.

        columns   rows to insert, as in `Store.insert`; empty for none
        digests   keys and digests of the inserted rows without a signal
        deleted   rows to delete
        entries   keys, fingerprints and sketches of the inserted rows with a signal
        sketches  of all inserted rows; None if texts are not stored
        """
        counts = self.segments.counts
        added = len(columns[0]) if columns else 0
        without_signal = columns[2].count(None) if columns else 0
        without_signal -= sum(row.fingerprint is None for row in deleted)
        after = counts._replace(
            documents=counts.documents + added - len(deleted),
            without_signal=counts.without_signal + without_signal,
            next_key=counts.next_key + added,
            next_removal=counts.next_removal + len(deleted),
        )
        with self.store.transaction():
            if deleted:
                self.store.delete(deleted, counts.next_removal)
            if added:
                data = None if sketches is None else sketches.tobytes()
                self.store.insert(columns, digests, data)
            self.store.set_counts(after)
        self.segments.apply(self.store, entries, [row.key for row in deleted], after)
        self._write_segment_if_due()

    def _invalidate(self) -> None:
        self._stale = True
        self.segments.invalidate()

    def _write_segment_if_due(self) -> None:
        """Write a segment if it is due. The documents are committed already, so a failure here is
        not raised, but retried after more documents."""
        import sqlite3

        key = self.segments.counts.next_key
        if key >= self._retry_from_key and self.segments.is_due:
            try:
                self.segments.write(self.store)
            except (OSError, CollectionError, sqlite3.Error, _core.CorruptIndexError):
                self._retry_from_key = key + TAIL_FINGERPRINTS
                self._invalidate()

    def abandon(self) -> None:
        """Leave the files to the parent, in a forked child. Closing an SQLite connection here could
        release locks of the parent, so a reference keeps each connection open even at exit."""
        import ctypes

        self._writer.abandon()
        for store in (self.store, *self.readers.open_stores):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(store.connection))


def _database_identity(folder: Path) -> tuple[int, int] | None:
    """Return the device and inode of the database, which change if it is replaced."""
    try:
        found = os.stat(folder / DATABASE)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_OPEN_SESSIONS: weakref.WeakSet[CollectionSession] = weakref.WeakSet()


def _release_all(store: Store, readers: ReaderPool, lock: WriterLock, pid: int) -> None:
    if os.getpid() == pid:
        try:
            readers.close()
            store.close()
        finally:
            lock.release()


def _abandon_all() -> None:
    for session in list(_OPEN_SESSIONS):
        session.abandon()


os.register_at_fork(after_in_child=_abandon_all)
