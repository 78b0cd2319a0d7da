"""Postings of a collection: of features, to rank documents by cosine, and of runs, to find
documents with a passage in common. Derived from the texts; they can be rebuilt. One long file,
because terms, their postings and the pair that a collection has only make sense together.

If they are stored (`search=True`, `runs=True`), they are in files, each with all documents of a
range of keys as of when it was written. A key never changes its meaning, so a file stays right,
except for documents removed since. Its header identifies it: the collection, what the terms depend
on, the range of keys, and how many removals there had been. Documents after the last file are read
from their texts. The next writer rebuilds a file that is lost or damaged.

A file is written when enough documents have gathered, merged with those before it that are not much
larger: so there are few, and a posting is rewritten a logarithmic number of times.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from neardup import _core
from neardup.collection.errors import texts_missing
from neardup.collection.schema import CollectionSettings, DocumentCounts, StoredRow, unpack_text
from neardup.collection.segments import remove_files
from neardup.collection.store import Store
from neardup.text.comparison import DEFAULT_MIN_CHARS, DEFAULT_MIN_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.collection.snapshot import Snapshot
    from neardup.text.recipe import Recipe


class Terms(Protocol):
    """The terms that documents are indexed by.

    prefix    of file names
    identity  everything that the terms depend on, except the texts
    """

    @property
    def prefix(self) -> str: ...
    @property
    def identity(self) -> str: ...
    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None: ...


class FeatureTerms:
    """The features of a recipe, to rank documents."""

    prefix = "terms-"

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.identity = recipe.identity

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        index.add(self._recipe.pipeline, texts, keys, None)


class RunTerms:
    """Hashes of runs, to find documents with a passage in common.

    views  texts are views of HTTP responses: only the lines a person reads count, without the
           names of the lines, which would interrupt passages
    """

    prefix = "runs-"

    def __init__(
        self,
        minimum: tuple[int, int] = (DEFAULT_MIN_WORDS, DEFAULT_MIN_CHARS),
        *,
        views: bool = False,
    ) -> None:
        self.minimum = minimum
        self._views = views
        self.identity = "runs of {} words or {} characters".format(*minimum)
        if views:
            self.identity += " of what is read of responses"

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        if self._views:
            from neardup.text.views import view_prose

            texts = [view_prose(text) for text in texts]
        index.add_terms(*_core.winnow(texts, *self.minimum, None), keys)


T = TypeVar("T")

SUFFIX = ".postings"
# At most this many documents are read from their texts whenever the collection is opened.
TAIL = 1 << 13
# A file is merged with later ones if it has at most this many times their documents.
MERGE_RATIO = 1.5
# Documents of a file: more take too long to write at once; four times as many do not fit.
MAX_DOCUMENTS = 1 << 22
# Share of removed documents at which all files are rewritten.
MAX_REMOVED_SHARE = 0.25
# Texts in memory at a time.
BATCH_TEXTS = 2048
# How often a reader looks for files again when a writer has replaced some.
MAX_ATTEMPTS = 4


class PostingsFile(NamedTuple):
    """A file of postings. `removals` is `next_removal` as of when it was written."""

    path: Path
    first: int
    last: int
    documents: int
    removals: int


class Postings:
    """Postings of one kind of term, in memory and in files. Hold `lock` to use them."""

    def __init__(self, folder: Path, terms: Terms, identity: int, *, kept: bool) -> None:
        self.folder = folder
        self.terms = terms
        self.kept = kept
        self.lock = threading.RLock()
        self._identity = f"{identity} {terms.identity}"
        # After a file could not be written, none is tried before this key.
        self._retry_from_key = 0
        self.forget()

    def forget(self) -> None:
        """Drop everything in memory; the next call opens or builds it again."""
        self._index: _core.TermIndex | None = None
        self._files: list[PostingsFile] = []
        self._damaged: list[Path] = []
        self._next_key = self._next_removal = 1
        # The last key in a file, as far as known.
        self._saved = 0

    # -------------------------------------------------------------------------------------- reading

    def ask(self, store: Store, work: Callable[[_core.TermIndex], T]) -> T:
        """Return `work(index)` as of a read transaction of the store, in which keys that it finds
        exist."""
        with self.lock:
            # A transaction of the caller must not be restarted.
            free = not store.connection.in_transaction
            with store.snapshot():
                try:
                    return work(self._current(store, renew=free))
                except _core.CorruptIndexError:
                    self.mark_damaged()
                    return work(self._current(store, renew=free))

    def mark_damaged(self) -> None:
        """Use no file any more, because one is damaged."""
        damaged = [*self._damaged, *(file.path for file in self._files)]
        self.forget()
        self._damaged = damaged

    def _current(
        self, store: Store, *, last: int | None = None, renew: bool = False
    ) -> _core.TermIndex:
        """Return the index of all documents of the store, or of those in files and up to a key.
        Call it inside a read transaction.

        `self._index` is None while the index changes, so that an interruption costs only that
        step.
        """
        import numpy as np

        counts = store.counts()
        index, self._index = self._index, None
        if (
            index is None
            or counts.next_key < self._next_key
            or counts.next_removal < self._next_removal
        ):
            index, counts = self._open_consistent(store, renew=renew)
        if counts.next_removal != self._next_removal:
            gone = store.removed(self._next_removal)
            if len(gone) != counts.next_removal - self._next_removal:
                # Segments were rewritten since, which dropped the list of removals.
                live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
                gone = np.setdiff1d(index.keys(), live).tolist()
            index.remove(np.array(gone, dtype=np.int64))
            self._next_removal = counts.next_removal
        self._read(store, index, counts.next_key - 1 if last is None else last)
        self._index = index
        return index

    def _read(self, store: Store, index: _core.TermIndex, last: int) -> None:
        """Add the documents since, from their texts."""
        import numpy as np

        rows = store.scan(self._next_key, last)
        self._index = index
        while some := list(islice(rows, BATCH_TEXTS)):
            store.yield_turn()
            texts = [unpack_text(row.text) or "" for row in some]
            keys = np.array([row.key for row in some], dtype=np.int64)
            self._index = None
            self.terms.add(index, texts, keys)
            self._next_key = some[-1].key + 1
            self._index = index
        self._next_key = max(self._next_key, last + 1)

    def _open_consistent(
        self, store: Store, *, renew: bool
    ) -> tuple[_core.TermIndex, DocumentCounts]:
        """Open the files, and return the index and the counts to complete it to. If a writer has
        replaced files by newer ones meanwhile, the counts are read again."""
        for look in range(MAX_ATTEMPTS):
            if look and renew:
                store.renew()
            counts = store.counts()
            before = postings_paths(self.folder, self.terms.prefix) if self.kept else []
            index, newer = self._open_files(counts)
            if not self.kept or not (
                newer or before != postings_paths(self.folder, self.terms.prefix)
            ):
                break
        return index, counts

    def _open_files(self, counts: DocumentCounts) -> tuple[_core.TermIndex, bool]:
        """Open the files; return the index, and whether some file is newer than these counts."""
        damaged = self._damaged
        self.forget()
        self._damaged = damaged
        index = _core.TermIndex(self._identity)
        there = [*self._own_files()] if self.kept else []
        next_key, removals = 1, counts.next_removal
        for file in _chain(there, counts):
            try:
                index.attach(str(file.path))
            except FileNotFoundError:
                break  # a writer has just replaced it
            except (OSError, ValueError):
                self._damaged.append(file.path)
                break
            self._files.append(file)
            next_key, removals = file.last + 1, min(removals, file.removals)
        self._next_key, self._next_removal = next_key, removals
        self._saved = next_key - 1
        return index, not all(_is_known(file, counts) for file in there)

    def _own_files(self) -> Iterator[PostingsFile]:
        """Yield the files of this collection that can be opened."""
        for path in postings_paths(self.folder, self.terms.prefix):
            if path not in self._damaged:
                with suppress(OSError, ValueError):
                    file = self._file(path)
                    if file is not None:
                        yield file

    def _file(self, path: Path) -> PostingsFile | None:
        """Return the header of a file; None if it belongs to something else."""
        first, last, documents, removals, identity = _core.TermIndex.covered(str(path))
        ours = identity == self._identity and 1 <= first <= last
        return PostingsFile(path, first, last, documents, removals) if ours else None

    # ------------------------------------------------------------------------------------- writing

    def claim(self, store: Store, *, kept: bool) -> None:
        """Delete stray files. The writer calls this once, before it adds anything.

        Strays are unfinished files, and files of keys not given yet, as after a database was
        restored from a backup: otherwise they would be taken for those of other documents.

        kept  the current setting; another process may have changed it since this one opened
        """
        with self.lock:
            self.kept = kept
            files = [*_chain(self._own_files(), store.counts())] if kept else []
            known = {file.path for file in files}
            remove_files(
                path for path in _ours(self.folder, self.terms.prefix) if path not in known
            )
            self.forget()
            self._saved = files[-1].last if files else 0

    def tidy(self, store: Store, *, whole: bool = False) -> None:
        """Write a file if enough documents have gathered; `whole`: rewrite everything. The
        documents are committed already, so a failure is retried later, unless `whole`."""
        if not self.kept:
            return
        with self.lock:
            key = store.counts().next_key
            if not whole and (key - 1 - self._saved < TAIL or key < self._retry_from_key):
                return
            try:
                with store.snapshot():
                    try:
                        self._write(store, whole=whole)
                    except _core.CorruptIndexError:
                        # Build everything again from the texts.
                        self.mark_damaged()
                        self._write(store, whole=whole)
            except BaseException as error:
                # The error may have come between writing a file and recording it.
                self.forget()
                if whole or not isinstance(error, OSError | ValueError):
                    raise
                self._retry_from_key = key + TAIL

    def _write(self, store: Store, *, whole: bool) -> None:
        last = store.counts().next_key - 1
        fresh = self._fill(store, last)
        index = self._current(store)
        files = [*self._files]
        size = last - self._last
        stale = self._damaged or len(index) < (1 - MAX_REMOVED_SHARE) * sum(
            x.documents for x in files
        )
        if size < TAIL and not (whole or stale):
            return
        merged: list[PostingsFile] = []
        while files and (
            whole
            or stale
            or (
                files[-1].documents <= MERGE_RATIO * size
                and size + files[-1].documents <= MAX_DOCUMENTS
            )
        ):
            size += files[-1].documents
            merged.insert(0, files.pop())
        spans = [(file.first, file.last) for file in merged]
        if self._last < last:
            spans.append((self._last + 1, last))
        known = {(file.first, file.last): file for file in fresh}
        for span in _merge_spans(spans, index):
            files.append(known.get(span) or self._save(store, index, *span))
        self._files = files
        self._damaged, self._saved = [], last
        used = {file.path for file in files}
        remove_files(path for path in _ours(self.folder, self.terms.prefix) if path not in used)

    def _fill(self, store: Store, last: int) -> list[PostingsFile]:
        """Write files of the maximum size until the rest fits into one. Texts are read file by
        file, because what is read at once cannot be split."""
        self._current(store, last=0)
        fresh: list[PostingsFile] = []
        while last - self._last > MAX_DOCUMENTS:
            first, end = self._last + 1, self._last + MAX_DOCUMENTS
            if self._next_key > end + 1:
                self._index = None
                self._current(store, last=0)
                continue
            index = self._current(store, last=end)
            fresh.append(self._save(store, index, first, end))
            self._files.append(fresh[-1])
        return fresh

    def _save(self, store: Store, index: _core.TermIndex, first: int, last: int) -> PostingsFile:
        path = self.folder / f"{self.terms.prefix}{first}-{last}{SUFFIX}"
        removals = store.counts().next_removal
        index.save(str(path), first, last, removals)
        self._damaged = [other for other in self._damaged if other != path]
        documents = _core.TermIndex.covered(str(path))[2]
        return PostingsFile(path, first, last, documents, removals)

    @property
    def _last(self) -> int:
        """The last key in the open files."""
        return self._files[-1].last if self._files else 0

    def delete(self) -> None:
        """Delete all files."""
        with self.lock:
            self.kept = False
            self.forget()
            remove_files(_ours(self.folder, self.terms.prefix))

    # ----------------------------------------------------------------------------------- verifying

    def problems(self, store: Store) -> list[str]:
        """Return a sentence for each problem of the files in use, unreadable ones included."""
        if not self.kept:
            return []
        import numpy as np

        with store.snapshot():
            counts = store.counts()
            live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
        found, files = [], []
        for path in postings_paths(self.folder, self.terms.prefix):
            try:
                file = self._file(path)
            except FileNotFoundError:
                continue  # a writer has just replaced it
            except (OSError, ValueError) as error:
                found.append(f"postings: {error}")
            else:
                files += [] if file is None else [file]
        for file in _chain(files, counts):
            try:
                index = _core.TermIndex(self._identity)
                index.attach(str(file.path))
                index.verify()
                own = live[(live >= file.first) & (live <= file.last)]
                missing = np.setdiff1d(own, index.keys())
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                found.append(f"postings: {error}")
                continue
            if len(missing):
                found.append(f"postings: {file.path.name}: key {missing[0]} is missing")
        return found

    @property
    def bytes(self) -> int:
        """The size on disk."""
        total = 0
        for path in postings_paths(self.folder, self.terms.prefix):
            with suppress(OSError):
                total += path.stat().st_size
        return total


def _is_known(file: PostingsFile, counts: DocumentCounts) -> bool:
    """Return whether a file is not newer than these counts."""
    return file.last < counts.next_key and file.removals <= counts.next_removal


def _chain(files: Iterable[PostingsFile], counts: DocumentCounts) -> Iterator[PostingsFile]:
    """Yield files that cover consecutive keys from 1 on, the longest where there are several."""
    found: dict[int, PostingsFile] = {}
    for file in sorted(files, key=lambda file: file.last):
        if _is_known(file, counts):
            found[file.first] = file
    first = 1
    while first in found:
        yield found[first]
        first = found[first].last + 1


def _merge_spans(spans: list[tuple[int, int]], index: _core.TermIndex) -> list[tuple[int, int]]:
    """Return neighbouring ranges of keys merged, as long as a file can hold their documents."""
    import numpy as np

    joined: list[tuple[int, int]] = []
    keys, size = index.keys(), 0
    for first, last in spans:
        begin, end = np.searchsorted(keys, [first, last + 1]).tolist()
        if joined and size + end - begin <= MAX_DOCUMENTS:
            joined[-1], size = (joined[-1][0], last), size + end - begin
        else:
            joined.append((first, last))
            size = end - begin
    return joined


def postings_paths(folder: Path, prefix: str) -> list[Path]:
    """Return the postings files in a folder."""
    return [path for path in _ours(folder, prefix) if path.name.endswith(SUFFIX)]


def _ours(folder: Path, prefix: str) -> list[Path]:
    """Return the postings files in a folder, unfinished ones included."""
    names = (name for name in os.listdir(folder) if name.startswith(prefix) and SUFFIX in name)
    return [folder / name for name in sorted(names)]


PostingsName = Literal["search", "runs"]


class CollectionPostings:
    """Both postings of a collection, named after the settings that store them."""

    def __init__(self, folder: Path, recipe: Recipe, settings: CollectionSettings) -> None:
        self.folder = folder
        identity = settings.identity
        self.search = Postings(
            folder, FeatureTerms(recipe), identity, kept=_is_kept(settings, "search")
        )
        runs = RunTerms(views=recipe.tokens == "http")
        self.runs = Postings(folder, runs, identity, kept=_is_kept(settings, "runs"))
        self._named: dict[PostingsName, Postings] = {"search": self.search, "runs": self.runs}
        self._claimed = False

    def forget(self) -> None:
        """Drop everything in memory; the next call opens or builds it again."""
        for postings in self._named.values():
            postings.forget()

    def claim(self, store: Store) -> None:
        """Delete stray files, once, before the writer changes anything."""
        if self._claimed:
            return
        # Read again: another process may have been the writer since this one opened.
        settings = store.settings()
        for name, postings in self._named.items():
            postings.claim(store, kept=_is_kept(settings, name))
        self._claimed = True

    def tidy(self, store: Store, *, whole: bool = False) -> None:
        """Write files after documents were added; `whole`: rewrite everything."""
        for postings in self._named.values():
            postings.tidy(store, whole=whole)

    def set_kept(self, store: Store, name: PostingsName, kept: bool) -> None:
        """Store postings in files from now on, or no longer. The setting changes when the files are
        complete; the next writer deletes what an interruption leaves."""
        self.claim(store)
        postings = self._named[name]
        if kept == postings.kept:
            return
        settings = store.settings()
        if kept and not settings.texts:
            raise texts_missing(self.folder, f"{name} is True")
        after = settings._replace(search=kept) if name == "search" else settings._replace(runs=kept)
        if not kept:
            store.set_settings(after)
            postings.delete()
            return
        try:
            postings.kept = True
            postings.tidy(store, whole=True)
            store.set_settings(after)
        except BaseException:
            postings.delete()
            raise

    def sharing(self, hashes: NDArray[np.uint64], _: Snapshot, store: Store) -> list[StoredRow]:
        """Return the documents with at least one of these runs."""

        def rows(index: _core.TermIndex) -> list[StoredRow]:
            keys = index.sharing(hashes).tolist()
            found = store.by_keys(keys, whole=True)
            return [found[key] for key in keys]

        return self.runs.ask(store, rows)

    def problems(self, store: Store) -> list[str]:
        """Return a sentence for each problem of the files."""
        return [what for postings in self._named.values() for what in postings.problems(store)]

    @property
    def bytes(self) -> int:
        """The size on disk."""
        return sum(postings.bytes for postings in self._named.values())


def _is_kept(settings: CollectionSettings, name: PostingsName) -> bool:
    return settings.texts and (settings.search if name == "search" else settings.runs)
