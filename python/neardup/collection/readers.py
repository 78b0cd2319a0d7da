"""Connections that only read: one for each call in progress, so that nobody waits for a writer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neardup.collection.errors import CollectionError
from neardup.collection.store import Store

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
