"""The writer's lock: one writer, and it is free again however the writer ended."""

from __future__ import annotations

import fcntl
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
    LockedCollectionError,
    foreign,
    translate_sqlite_errors,
)
from neardup.collection.schema import StoredRow
from neardup.collection.segments import TAIL, Segments
from neardup.collection.store import DATABASE, Store
from neardup.collection.view import Snapshot, UnreadyError
from neardup.text.recipe import Recipe

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


# Connections that only read: one for each call in progress, so that nobody waits for a writer.

# So many are kept for the next calls.
KEPT = 8
# Seconds for which a writer steps aside: long enough for another thread to wake up.
BREATH = 5e-5


class Readers:
    """A pool. Lists are changed in single steps, so that no thread has to wait for another."""

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
        """A connection for one call, given back afterwards."""
        if self._idle:
            with suppress(IndexError):
                return self._idle.pop()
        store = Store(self.folder, read_only=True)
        self._every.append(store)
        return store

    def give(self, store: Store) -> None:
        if len(self._idle) < KEPT and not self._closed:
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
        """Closes all that are not in use. The others are closed when they are given back."""
        self._closed = True
        while self._idle:
            with suppress(IndexError, CollectionError, OSError):
                self._drop(self._idle.pop())

    def breathe(self) -> None:
        """A writer calls this now and then. Python lets one thread run at a time, and one that has
        much to do gets hold of the interpreter again before a reader wakes up."""
        if len(self._idle) < len(self._every):
            time.sleep(BREATH)

    @property
    def stores(self) -> list[Store]:
        """All that are open, in use or not."""
        return [*self._every]


# One opening of a collection: its files, who may write, and what is in memory of it.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Coded = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None]

T = TypeVar("T")

# Times a reader looks again, each time after a longer pause, where a writer was quicker; after that
# it waits until nobody writes.
LOOKS, PAUSE = 8, 0.001


class OpenCollection:
    """Lets one process write, and keeps what is in memory up to date.

    The writer holds the lock. Readers have connections of their own and take the view as it is:
    they need the lock only to take in what another process has written.
    """

    def __init__(
        self, folder: Path, store: Store, recipe: Recipe, *, texts: bool, read_only: bool
    ) -> None:
        self.folder = folder
        self.store = store
        self.readers = Readers(folder)
        store.breathe = self.readers.breathe
        self.segments = Segments(folder, recipe, texts=texts)
        self.read_only = read_only
        self.lock = threading.RLock()
        self._writer = WriterLock(folder)
        self._file = _identity(folder)
        self._pid = os.getpid()
        # What is in memory may not be what is stored.
        self._stale = True
        self._closed = False
        # No segment is tried again before this key, after one could not be written.
        self._patience = 0
        self._release = weakref.finalize(
            self, _let_go, store, self.readers, self._writer, self._pid
        )
        _OPEN.add(self)

    def close(self) -> None:
        """Closes the files, and lets another process write. Calling it again does nothing."""
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
    def reading(self) -> Iterator[Store]:
        """Everything read in here is of one moment: when it was entered."""
        self.check_open()
        with self.readers.one() as store, store.snapshot():
            yield store

    @contextmanager
    def current(self) -> Iterator[tuple[Snapshot, Store]]:
        """What is in memory, as of now, and a store that is as new or newer."""
        self.check_open()
        with self.readers.one() as store, translate_sqlite_errors(self.folder):
            yield self._current(store), store

    def _current(self, store: Store) -> Snapshot:
        """The view as of now. Nobody else writes while this process may."""
        if self._stale or not self._writer.held:
            version = store.data_version()
            if self._stale or version != store.seen:
                self._refresh(store)
        return self.segments.view

    def _refresh(self, store: Store) -> None:
        with self.lock:
            self.check_open()
            with store.snapshot():
                # Within the snapshot it is the version of what is seen there.
                version = store.data_version()
                self.segments.refresh(store)
                store.seen, self._stale = version, False

    def ask(self, work: Callable[[Snapshot, Store], T]) -> T:
        """An answer as of one moment. A key never changes its meaning, but it can be removed.
        If that happens during the search, or the segments are rewritten, the search is done
        again."""
        for look in range(LOOKS):
            self.check_open()
            store = self.readers.take()
            try:
                with translate_sqlite_errors(self.folder):
                    view = self._current(store)
                    found = work(view, store)
                    if view.tail is self.segments.view.tail:
                        return found
            except UnreadyError as unready:
                self._mend(store, unready)
            except CorruptCollectionError:
                time.sleep(PAUSE * look)
            finally:
                self.readers.give(store)
        with self.lock, self.readers.one() as store, store.snapshot():
            self.check_open()
            self.segments.refresh(store)
            return self.settled(lambda view: work(view, store), store)

    def settled(self, work: Callable[[Snapshot], T], store: Store | None = None) -> T:
        """What `work` returns. The caller makes sure that nothing changes meanwhile."""
        while True:
            try:
                return work(self.segments.view)
            except UnreadyError as unready:
                self.segments.mend(store or self.store, unready.part, codes=unready.codes)

    def _mend(self, store: Store, unready: UnreadyError) -> None:
        with self.lock:
            self.check_open()
            with store.snapshot():
                self.segments.refresh(store)
                self.segments.mend(store, unready.part, codes=unready.codes)

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Nobody else writes in here. The first to write stays the writer until it closes."""
        if self.read_only:
            raise CollectionError(f"{self.folder}: opened to read only; open it without read_only")
        self.check_open()
        with self.lock, translate_sqlite_errors(self.folder):
            self.check_open()
            if _identity(self.folder) != self._file:
                raise CollectionError(
                    f"{self.folder}: was moved, removed or replaced since it was opened; "
                    "open it where it is now"
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
                # It may have come between what was stored and what is known of it.
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
        """Some rows in, some out, in one transaction; what is in memory follows when it is done.

        columns   of the rows, in the order of the store; none if there are no rows
        coded     keys, fingerprints and sketches of the rows that have them
        sketches  of all the rows, where texts are kept
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
        """Writes what has gathered in memory as a segment. The documents are stored already, so
        a failure here is no failure of `add`: it is tried again later."""
        import sqlite3

        key = self.segments.counts.next_key
        if key >= self._patience and self.segments.is_due:
            try:
                self.segments.write(self.store)
            except (OSError, CollectionError, sqlite3.Error, _core.CorruptIndexError):
                self._patience = key + TAIL
                self._forget()

    def abandon(self) -> None:
        """In a forked process: the files are the parent's. SQLite's locks are not the child's, and
        to close them might take the parent's away; so they are never closed, not even at the end.
        """
        import ctypes

        self._writer.abandon()
        for store in (self.store, *self.readers.stores):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(store.connection))


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which file the database is: what is written to another one under that name is lost."""
    try:
        found = os.stat(folder / DATABASE)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_OPEN: weakref.WeakSet[OpenCollection] = weakref.WeakSet()


def _let_go(store: Store, readers: Readers, lock: WriterLock, pid: int) -> None:
    if os.getpid() == pid:
        try:
            readers.close()
            store.close()
        finally:
            lock.release()


def _forked() -> None:
    for session in list(_OPEN):
        session.abandon()


os.register_at_fork(after_in_child=_forked)
