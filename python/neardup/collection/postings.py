"""Postings (term → keys of documents) of a collection, derived from the texts. There are two kinds:
features, to rank documents by cosine, and runs of words, to find documents that share a passage.
One long file: the terms, their postings and the pair of them only make sense together.

`CollectionPostings` holds one `Postings` of each kind. The first search builds them in memory, or
they are stored in files (`search=True`, `runs=True`).

A file has the postings of a range of keys. The document of a key never changes, so a file stays
valid, except for documents removed after it was written. Its header has the identity of the
collection and of the terms, the range of keys, and the number of removals so far. Documents after
the last file are read from their texts. The next writer rebuilds a lost or damaged file.

Files are merged as segments are (`segments`): there are few of them, and a posting is rewritten a
logarithmic number of times.
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

    prefix    prefix of file names
    identity  names everything that the terms depend on, except the texts
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
    """Hashes of runs of words, to find documents that share a passage.

    minimum  words, and characters, of the shortest passage to find
    views    whether texts are views of HTTP responses: then only the lines that a person reads are
             hashed, without their labels, which would interrupt passages
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
        # Names the form in which words are equal: files of another one are written anew.
        self.identity = "runs of {} words or {} characters, standard".format(*minimum)
        if views:
            self.identity += " of what is read of responses"

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        if self._views:
            from neardup.text.views import view_prose

            texts = [view_prose(text) for text in texts]
        index.add_terms(*_core.winnow(texts, *self.minimum, None), keys)


T = TypeVar("T")

SUFFIX = ".postings"
# A file is written when this many documents are in no file: those are read from their texts by the
# first search of a session.
TAIL_DOCUMENTS = 1 << 13
# A file is merged with later ones if it has at most this many times their documents.
MERGE_RATIO = 1.5
# Documents of a file: writing more would take too long; the format holds less than four times this.
MAX_DOCUMENTS = 1 << 22
# All files are rewritten if more than this share of their documents was removed.
MAX_REMOVED_SHARE = 0.25
# Texts held in memory at a time.
BATCH_TEXTS = 2048
# How often a reader tries to open the files while a writer replaces them.
MAX_ATTEMPTS = 4


class PostingsFile(NamedTuple):
    """The header of a file: its range of keys, the number of its documents, and `next_removal` at
    the time of writing."""

    path: Path
    first: int
    last: int
    documents: int
    removals: int


class Postings:
    """Postings of one kind of term, in memory and, if `in_files`, in files. The public methods take
    `lock`."""

    def __init__(self, folder: Path, terms: Terms, identity: int, *, in_files: bool) -> None:
        self.folder = folder
        self.terms = terms
        self.in_files = in_files
        self.lock = threading.RLock()
        self._identity = f"{identity} {terms.identity}"
        # After a file could not be written, wait for this key before trying again.
        self._retry_from_key = 0
        self.reset()

    def reset(self) -> None:
        """Drop everything in memory; the next call opens or builds it again."""
        self._index: _core.TermIndex | None = None
        self._files: list[PostingsFile] = []
        self._damaged: list[Path] = []
        self._next_key = self._next_removal = 1
        # The last key in the files, whether they are open or not.
        self._last_saved_key = 0

    # -------------------------------------------------------------------------------------- reading

    def run_search(self, store: Store, search: Callable[[_core.TermIndex], T]) -> T:
        """Return `search(index)`, called inside a read transaction of the store, in which all keys
        that it finds exist."""
        with self.lock:
            # The caller may be inside a read transaction, which must not be restarted.
            may_restart = not store.connection.in_transaction
            with store.snapshot():
                try:
                    return search(self._up_to_date(store, may_restart=may_restart))
                except _core.CorruptIndexError:
                    self.mark_damaged()
                    return search(self._up_to_date(store, may_restart=may_restart))

    def mark_damaged(self) -> None:
        """Ignore all current files, because one is damaged."""
        damaged = [*self._damaged, *(file.path for file in self._files)]
        self.reset()
        self._damaged = damaged

    def _up_to_date(
        self, store: Store, *, last: int | None = None, may_restart: bool = False
    ) -> _core.TermIndex:
        """Return the index, updated to the documents in the files and in the store. Call it inside
        a read transaction.

        last         the last key to read from the store [default: all]
        may_restart  whether the read transaction may be restarted, to see newer files

        `self._index` is None while the index changes: after an interruption it is opened again.
        """
        import numpy as np

        counts = store.counts()
        index, self._index = self._index, None
        if (
            index is None
            or counts.next_key < self._next_key
            or counts.next_removal < self._next_removal
        ):
            index, counts = self._open_consistent(store, may_restart=may_restart)
        if counts.next_removal != self._next_removal:
            removed = store.removed(self._next_removal)
            if len(removed) != counts.next_removal - self._next_removal:
                # Segments were rewritten meanwhile, which deletes the list of removed keys.
                live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
                removed = np.setdiff1d(index.keys(), live).tolist()
            index.remove(np.array(removed, dtype=np.int64))
            self._next_removal = counts.next_removal
        self._add_from_texts(store, index, counts.next_key - 1 if last is None else last)
        self._index = index
        return index

    def _add_from_texts(self, store: Store, index: _core.TermIndex, last: int) -> None:
        """Add the documents up to a key that are not in the index, from their texts."""
        import numpy as np

        rows = store.scan(self._next_key, last)
        self._index = index
        while batch := list(islice(rows, BATCH_TEXTS)):
            store.yield_turn()
            texts = [unpack_text(row.text) or "" for row in batch]
            keys = np.array([row.key for row in batch], dtype=np.int64)
            self._index = None
            self.terms.add(index, texts, keys)
            self._next_key = batch[-1].key + 1
            self._index = index
        self._next_key = max(self._next_key, last + 1)

    def _open_consistent(
        self, store: Store, *, may_restart: bool
    ) -> tuple[_core.TermIndex, DocumentCounts]:
        """Open the files; return the index and the counts of documents to update it to. Try again
        if a writer replaced files meanwhile."""
        for attempt in range(MAX_ATTEMPTS):
            if attempt and may_restart:
                store.restart_snapshot()
            counts = store.counts()
            before = postings_paths(self.folder, self.terms.prefix) if self.in_files else []
            index, newer = self._open_files(counts)
            if not self.in_files or not (
                newer or before != postings_paths(self.folder, self.terms.prefix)
            ):
                break
        return index, counts

    def _open_files(self, counts: DocumentCounts) -> tuple[_core.TermIndex, bool]:
        """Open the files; return the index, and whether a file is newer than these counts."""
        damaged = self._damaged
        self.reset()
        self._damaged = damaged
        index = _core.TermIndex(self._identity)
        files = [*self._readable_files()] if self.in_files else []
        next_key, removals = 1, counts.next_removal
        for file in _consecutive_files(files, counts):
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
        self._last_saved_key = next_key - 1
        return index, not all(_is_not_newer(file, counts) for file in files)

    def _readable_files(self) -> Iterator[PostingsFile]:
        """Yield the headers of the files of this collection that can be read."""
        for path in postings_paths(self.folder, self.terms.prefix):
            if path not in self._damaged:
                with suppress(OSError, ValueError):
                    file = self._read_header(path)
                    if file is not None:
                        yield file

    def _read_header(self, path: Path) -> PostingsFile | None:
        """Return the header of a file; None if it belongs to another collection or recipe."""
        first, last, documents, removals, identity = _core.TermIndex.covered(str(path))
        ours = identity == self._identity and 1 <= first <= last
        return PostingsFile(path, first, last, documents, removals) if ours else None

    # ------------------------------------------------------------------------------------- writing

    def begin_writing(self, store: Store, *, in_files: bool) -> None:
        """Delete stray files. The writer calls this once, before its first change.

        Strays are unfinished files, and files of keys that are not assigned yet, as after the
        database was restored from a backup: new documents will get these keys.

        in_files  the current setting, which another process may have changed
        """
        with self.lock:
            self.in_files = in_files
            files = (
                [*_consecutive_files(self._readable_files(), store.counts())] if in_files else []
            )
            known = {file.path for file in files}
            remove_files(
                path for path in _all_paths(self.folder, self.terms.prefix) if path not in known
            )
            self.reset()
            self._last_saved_key = files[-1].last if files else 0

    def write_if_due(self, store: Store, *, rewrite: bool = False) -> None:
        """Write a file if enough documents are in none. They are committed already, so an I/O error
        is not raised, but retried after more documents.

        rewrite  write all files, and raise errors
        """
        if not self.in_files:
            return
        with self.lock:
            key = store.counts().next_key
            if not rewrite and (
                key - 1 - self._last_saved_key < TAIL_DOCUMENTS or key < self._retry_from_key
            ):
                return
            try:
                with store.snapshot():
                    try:
                        self._write(store, rewrite=rewrite)
                    except _core.CorruptIndexError:
                        # Build everything again from the texts.
                        self.mark_damaged()
                        self._write(store, rewrite=rewrite)
            except BaseException as error:
                # A file may have been written but not recorded in memory.
                self.reset()
                if rewrite or not isinstance(error, OSError | ValueError):
                    raise
                self._retry_from_key = key + TAIL_DOCUMENTS

    def _write(self, store: Store, *, rewrite: bool) -> None:
        last = store.counts().next_key - 1
        new_files = self._write_full_files(store, last)
        index = self._up_to_date(store)
        files = [*self._files]
        size = last - self._last_open_key
        must_rewrite = self._damaged or len(index) < (1 - MAX_REMOVED_SHARE) * sum(
            x.documents for x in files
        )
        if size < TAIL_DOCUMENTS and not (rewrite or must_rewrite):
            return
        merged: list[PostingsFile] = []
        while files and (
            rewrite
            or must_rewrite
            or (
                files[-1].documents <= MERGE_RATIO * size
                and size + files[-1].documents <= MAX_DOCUMENTS
            )
        ):
            size += files[-1].documents
            merged.insert(0, files.pop())
        ranges = [(file.first, file.last) for file in merged]
        if self._last_open_key < last:
            ranges.append((self._last_open_key + 1, last))
        reusable = {(file.first, file.last): file for file in new_files}
        for key_range in _merge_ranges(ranges, index):
            files.append(reusable.get(key_range) or self._save(store, index, *key_range))
        self._files = files
        self._damaged, self._last_saved_key = [], last
        used = {file.path for file in files}
        remove_files(
            path for path in _all_paths(self.folder, self.terms.prefix) if path not in used
        )

    def _write_full_files(self, store: Store, last: int) -> list[PostingsFile]:
        """Write and return files of the maximum size until the rest fits into one file. Reads the
        texts of one file at a time, because postings in memory can be saved to one file only."""
        self._up_to_date(store, last=0)
        new_files: list[PostingsFile] = []
        while last - self._last_open_key > MAX_DOCUMENTS:
            first, end = self._last_open_key + 1, self._last_open_key + MAX_DOCUMENTS
            if self._next_key > end + 1:
                self._index = None
                self._up_to_date(store, last=0)
                continue
            index = self._up_to_date(store, last=end)
            new_files.append(self._save(store, index, first, end))
            self._files.append(new_files[-1])
        return new_files

    def _save(self, store: Store, index: _core.TermIndex, first: int, last: int) -> PostingsFile:
        path = self.folder / f"{self.terms.prefix}{first}-{last}{SUFFIX}"
        removals = store.counts().next_removal
        index.save(str(path), first, last, removals)
        self._damaged = [other for other in self._damaged if other != path]
        documents = _core.TermIndex.covered(str(path))[2]
        return PostingsFile(path, first, last, documents, removals)

    @property
    def _last_open_key(self) -> int:
        """The last key in the open files."""
        return self._files[-1].last if self._files else 0

    def delete(self) -> None:
        """Delete all files."""
        with self.lock:
            self.in_files = False
            self.reset()
            remove_files(_all_paths(self.folder, self.terms.prefix))

    # ----------------------------------------------------------------------------------- verifying

    def problems(self, store: Store) -> list[str]:
        """Return a sentence for each problem of the files, unreadable files included."""
        if not self.in_files:
            return []
        import numpy as np

        with store.snapshot():
            counts = store.counts()
            live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
        found, files = [], []
        for path in postings_paths(self.folder, self.terms.prefix):
            try:
                file = self._read_header(path)
            except FileNotFoundError:
                continue  # a writer has just replaced it
            except (OSError, ValueError) as error:
                found.append(f"postings: {error}")
            else:
                files += [] if file is None else [file]
        for file in _consecutive_files(files, counts):
            try:
                index = _core.TermIndex(self._identity)
                index.attach(str(file.path))
                index.verify()
                expected = live[(live >= file.first) & (live <= file.last)]
                missing = np.setdiff1d(expected, index.keys())
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


def _is_not_newer(file: PostingsFile, counts: DocumentCounts) -> bool:
    """Return whether a file is not newer than these counts."""
    return file.last < counts.next_key and file.removals <= counts.next_removal


def _consecutive_files(
    files: Iterable[PostingsFile], counts: DocumentCounts
) -> Iterator[PostingsFile]:
    """Yield files that cover consecutive keys from 1 on; of several that begin at the same key,
    the longest."""
    found: dict[int, PostingsFile] = {}
    for file in sorted(files, key=lambda file: file.last):
        if _is_not_newer(file, counts):
            found[file.first] = file
    first = 1
    while first in found:
        yield found[first]
        first = found[first].last + 1


def _merge_ranges(ranges: list[tuple[int, int]], index: _core.TermIndex) -> list[tuple[int, int]]:
    """Merge adjacent ranges of keys, as long as a file can hold their documents."""
    import numpy as np

    merged: list[tuple[int, int]] = []
    keys, size = index.keys(), 0
    for first, last in ranges:
        begin, end = np.searchsorted(keys, [first, last + 1]).tolist()
        if merged and size + end - begin <= MAX_DOCUMENTS:
            merged[-1], size = (merged[-1][0], last), size + end - begin
        else:
            merged.append((first, last))
            size = end - begin
    return merged


def postings_paths(folder: Path, prefix: str) -> list[Path]:
    """Return the postings files in a folder."""
    return [path for path in _all_paths(folder, prefix) if path.name.endswith(SUFFIX)]


def _all_paths(folder: Path, prefix: str) -> list[Path]:
    """Return the postings files in a folder, unfinished ones included."""
    names = (name for name in os.listdir(folder) if name.startswith(prefix) and SUFFIX in name)
    return [folder / name for name in sorted(names)]


PostingsName = Literal["search", "runs"]


class CollectionPostings:
    """The postings of a collection: `search` of features, `runs` of runs."""

    def __init__(self, folder: Path, recipe: Recipe, settings: CollectionSettings) -> None:
        self.folder = folder
        identity = settings.identity
        self.search = Postings(
            folder, FeatureTerms(recipe), identity, in_files=_is_in_files(settings, "search")
        )
        runs = RunTerms(views=recipe.tokens == "http")
        self.runs = Postings(folder, runs, identity, in_files=_is_in_files(settings, "runs"))
        self._by_name: dict[PostingsName, Postings] = {"search": self.search, "runs": self.runs}
        self._has_begun_writing = False

    def reset(self) -> None:
        """Drop everything in memory; the next call opens or builds it again."""
        for postings in self._by_name.values():
            postings.reset()

    def begin_writing(self, store: Store) -> None:
        """Delete stray files, at the first call only."""
        if self._has_begun_writing:
            return
        # Read again: another process may have been the writer since this one opened.
        settings = store.settings()
        for name, postings in self._by_name.items():
            postings.begin_writing(store, in_files=_is_in_files(settings, name))
        self._has_begun_writing = True

    def write_if_due(self, store: Store, *, rewrite: bool = False) -> None:
        """Write files that are due, after documents were added; see `Postings.write_if_due`."""
        for postings in self._by_name.values():
            postings.write_if_due(store, rewrite=rewrite)

    def set_in_files(self, store: Store, name: PostingsName, in_files: bool) -> None:
        """Start or stop storing postings in files. The setting changes when the files are complete;
        the next writer deletes the files of an interrupted call."""
        self.begin_writing(store)
        postings = self._by_name[name]
        if in_files == postings.in_files:
            return
        settings = store.settings()
        if in_files and not settings.texts:
            raise texts_missing(self.folder, f"{name} is True")
        after = (
            settings._replace(search=in_files)
            if name == "search"
            else settings._replace(runs=in_files)
        )
        if not in_files:
            store.set_settings(after)
            postings.delete()
            return
        try:
            postings.in_files = True
            postings.write_if_due(store, rewrite=True)
            store.set_settings(after)
        except BaseException:
            postings.delete()
            raise

    def sharing(self, hashes: NDArray[np.uint64], _: Snapshot, store: Store) -> list[StoredRow]:
        """Return the documents that have at least one of these hashes of runs."""

        def rows(index: _core.TermIndex) -> list[StoredRow]:
            keys = index.sharing(hashes).tolist()
            found = store.by_keys(keys, with_text=True)
            return [found[key] for key in keys]

        return self.runs.run_search(store, rows)

    def problems(self, store: Store) -> list[str]:
        """Return a sentence for each problem of the files."""
        return [what for postings in self._by_name.values() for what in postings.problems(store)]

    @property
    def bytes(self) -> int:
        """The size on disk."""
        return sum(postings.bytes for postings in self._by_name.values())


def _is_in_files(settings: CollectionSettings, name: PostingsName) -> bool:
    return settings.texts and (settings.search if name == "search" else settings.runs)
