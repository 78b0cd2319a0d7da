"""The postings of a collection, by which it is ranked, or documents with a passage in common are
found: derived from the texts, and disposable.

Where they are kept (`search=True`, `runs=True`), they lie in files, each with all documents of a
range of keys as of when it was written. A key is given once and never changes its meaning, so a
file stays right for ever, but for documents that were removed since. Files are known by what is in
their headers: the collection, what the terms depend on, the range of keys, and how many removals
there had been. Documents after the last file are read from their texts. Where a file is lost or
damaged, so are those in it, and the next writer writes it anew.

A file is written when enough documents have gathered, together with those before it that are not
much larger: so there are few, and a posting is moved a few times in its life.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from neardup import _core
from neardup.collection.files import remove
from neardup.collection.rows import Counts, unpacked
from neardup.collection.store import Store
from neardup.passages import MIN_CHARS, MIN_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.recipe import Recipe

T = TypeVar("T")

SUFFIX = ".postings"
# Documents that are read from their texts whenever the collection is opened, at most.
TAIL = 1 << 13
# A file is written anew together with later ones that have this share of its documents.
NOT_MUCH_LARGER = 1.5
# Documents of a file: more take too long to write at once.
MOST = 1 << 22
# The share of documents in files that may be removed before all is written anew.
REMOVED = 0.25
# Texts in memory at a time.
TEXTS = 2048


class Terms(Protocol):
    """What documents are filed under.

    prefix    what names of files begin with
    identity  all that terms depend on but the texts
    """

    @property
    def prefix(self) -> str: ...
    @property
    def identity(self) -> str: ...
    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None: ...


class FeatureTerms:
    """The features of a recipe, by which documents are ranked."""

    prefix = "terms-"

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.identity = recipe.identity

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        index.add(self._recipe.pipeline, texts, keys, None)


class RunTerms:
    """Hashes of runs, by which documents with a passage in common are found."""

    prefix = "runs-"

    def __init__(self, minimum: tuple[int, int] = (MIN_WORDS, MIN_CHARS)) -> None:
        self.minimum = minimum
        self.identity = "runs of {} words or {} characters".format(*minimum)

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        index.add_terms(*_core.winnow(texts, *self.minimum, None), keys)


class File(NamedTuple):
    """A file of postings. `removals` is the number of the next removal when it was written."""

    path: Path
    first: int
    last: int
    documents: int
    removals: int


class Postings:
    """Makes and keeps what is searched. One thread at a time may use it: hold `lock`."""

    def __init__(self, folder: Path, terms: Terms, identity: int, *, kept: bool) -> None:
        self.folder = folder
        self.terms = terms
        self.kept = kept
        self.lock = threading.RLock()
        self._identity = f"{identity} {terms.identity}"
        self._claimed = False
        # No file is tried again before this key, after one could not be written.
        self._patience = 0
        self.forget()

    def forget(self) -> None:
        """Lets go of everything; the next question opens or makes it again."""
        self._index: _core.TermIndex | None = None
        self._files: list[File] = []
        self._damaged: list[Path] = []
        self._next_key = self._next_removal = 1
        # The last key that is in a file, as far as that is known.
        self._saved = 0

    # -------------------------------------------------------------------------------------- reading

    def current(self, store: Store) -> _core.TermIndex:
        """All documents that the store has; to be called in a snapshot."""
        counts = store.counts()
        try:
            return self._current(store, counts)
        except _core.CorruptIndexError:
            self.distrust()
            return self._current(store, counts)

    def ask(self, store: Store, work: Callable[[_core.TermIndex], T]) -> T:
        """An answer as of the moment of the store; keys that are found can be looked up in it."""
        with self.lock, store.snapshot():
            try:
                return work(self.current(store))
            except _core.CorruptIndexError:
                self.distrust()
                return work(self.current(store))

    def distrust(self) -> None:
        """A file is not what it should be: nothing in files is used any more."""
        damaged = [*self._damaged, *(file.path for file in self._files)]
        self.forget()
        self._damaged = damaged

    def _current(self, store: Store, counts: Counts) -> _core.TermIndex:
        import numpy as np

        index = self._index
        if index is None or counts.next_key < self._next_key:
            index = self._opened(counts)
        self._read(store, index, counts)
        if counts.next_removal != self._next_removal:
            gone = store.removed(self._next_removal)
            if len(gone) != counts.next_removal - self._next_removal:
                # Segments were written anew since, and what they knew of removals is gone.
                live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
                gone = np.setdiff1d(index.keys(), live).tolist()
            index.remove(np.array(gone, dtype=np.int64))
        self._index = index
        self._next_key, self._next_removal = counts.next_key, counts.next_removal
        return index

    def _opened(self, counts: Counts) -> _core.TermIndex:
        """What is in files, as far as they go."""
        damaged = self._damaged
        self.forget()
        self._damaged = damaged
        index = _core.TermIndex(self._identity)
        next_key, removals = 1, counts.next_removal
        for file in self._chain(counts) if self.kept else ():
            try:
                index.attach(str(file.path))
            except (OSError, ValueError):
                self._damaged.append(file.path)
                break
            self._files.append(file)
            next_key, removals = file.last + 1, min(removals, file.removals)
        self._next_key, self._next_removal = next_key, removals
        self._saved = next_key - 1
        return index

    def _chain(self, counts: Counts) -> Iterator[File]:
        """Files whose keys follow each other from the first on, the longest where there are
        several."""
        found: dict[int, File] = {}
        for file in sorted(self._there(), key=lambda file: file.last):
            if file.last < counts.next_key and file.removals <= counts.next_removal:
                found[file.first] = file
        first = 1
        while first in found:
            yield found[first]
            first = found[first].last + 1

    def _there(self) -> Iterator[File]:
        """The files that are of this collection and can be opened."""
        for path in paths(self.folder, self.terms.prefix):
            if path in self._damaged:
                continue
            with suppress(OSError, ValueError):
                first, last, documents, removals, identity = _core.TermIndex.covered(str(path))
                if identity == self._identity and 1 <= first <= last:
                    yield File(path, first, last, documents, removals)

    def _read(self, store: Store, index: _core.TermIndex, counts: Counts) -> None:
        """Documents that came since, from their texts."""
        import numpy as np

        rows = store.scan(self._next_key, counts.next_key - 1)
        while some := list(islice(rows, TEXTS)):
            store.breathe()
            texts = [unpacked(row.text) or "" for row in some]
            keys = np.array([row.key for row in some], dtype=np.int64)
            self.terms.add(index, texts, keys)

    # ------------------------------------------------------------------------------------- writing

    def claim(self, store: Store) -> None:
        """To be called by whoever may write, before anything is added: what an interrupted writer
        has left is deleted, and files of keys that are not given yet, as of a database that was
        restored from a copy, so that they are never taken for those of other documents."""
        with self.lock:
            if self._claimed:
                return
            files = [*self._chain(store.counts())] if self.kept else []
            known = {file.path for file in files}
            remove(path for path in _ours(self.folder, self.terms.prefix) if path not in known)
            self.forget()
            self._saved = files[-1].last if files else 0
            self._claimed = True

    def tidy(self, store: Store, *, whole: bool = False) -> None:
        """Writes a file if enough has gathered; `whole`: one of everything. What is stored is safe
        already, so that a failure to do so is none: it is tried again later, unless `whole`."""
        if not self.kept:
            return
        with self.lock:
            key = store.counts().next_key
            if not whole and (key - 1 - self._saved < TAIL or key < self._patience):
                return
            try:
                with store.snapshot():
                    self._write(store, whole=whole)
            except (OSError, ValueError):
                self._patience = key + TAIL
                self.forget()
                if whole:
                    raise

    def _write(self, store: Store, *, whole: bool) -> None:
        index = self.current(store)
        counts = store.counts()
        last, files = counts.next_key - 1, [*self._files]
        stale = self._damaged or len(index) < (1 - REMOVED) * sum(x.documents for x in files)
        size = last - (files[-1].last if files else 0)
        if size < TAIL and not (whole or stale):
            return
        while files and (whole or stale or files[-1].documents <= NOT_MUCH_LARGER * size):
            if size + files[-1].documents > MOST:
                break
            size += files.pop().documents
        first = files[-1].last + 1 if files else 1
        if first > last:
            return
        path = self.folder / f"{self.terms.prefix}{first}-{last}{SUFFIX}"
        index.save(str(path), first, last, counts.next_removal)
        documents = _core.TermIndex.covered(str(path))[2]
        self._files = [*files, File(path, first, last, documents, counts.next_removal)]
        self._damaged, self._saved = [], last
        known = {file.path for file in self._files}
        remove(path for path in _ours(self.folder, self.terms.prefix) if path not in known)

    def delete(self) -> None:
        """Takes all files away."""
        with self.lock:
            self.kept = False
            self.forget()
            remove(_ours(self.folder, self.terms.prefix))

    # ----------------------------------------------------------------------------------- verifying

    def problems(self, store: Store) -> list[str]:
        """What is wrong with the files, in words."""
        if not self.kept:
            return []
        import numpy as np

        found = []
        with store.snapshot():
            counts = store.counts()
            live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
        for path in paths(self.folder, self.terms.prefix):
            try:
                index = _core.TermIndex(self._identity)
                first, last, *_ = index.attach(str(path))
                index.verify()
                missing = np.setdiff1d(live[(live >= first) & (live <= last)], index.keys())
            except FileNotFoundError:
                continue  # a writer has just replaced it
            except (OSError, ValueError) as error:
                found.append(f"postings: {error}")
                continue
            if len(missing):
                found.append(f"postings: {path.name}: the key {missing[0]} is missing")
        return found

    @property
    def bytes(self) -> int:
        """On disk."""
        total = 0
        for path in paths(self.folder, self.terms.prefix):
            with suppress(OSError):
                total += path.stat().st_size
        return total


def paths(folder: Path, prefix: str) -> list[Path]:
    """The files of postings in a folder."""
    return [path for path in _ours(folder, prefix) if path.name.endswith(SUFFIX)]


def _ours(folder: Path, prefix: str) -> list[Path]:
    """The same, and what an interrupted writer has left."""
    names = (name for name in os.listdir(folder) if name.startswith(prefix) and SUFFIX in name)
    return [folder / name for name in sorted(names)]
