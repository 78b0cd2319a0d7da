"""What documents are filed under in postings: features of a recipe, or hashes of runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from neardup import _core
from neardup.collection.errors import no_texts
from neardup.collection.files import remove
from neardup.collection.schema import CollectionSettings, DocumentCounts, StoredRow, unpacked
from neardup.collection.store import Store
from neardup.text.comparison import MIN_CHARS, MIN_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.collection.view import Snapshot
    from neardup.text.recipe import Recipe


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
    """Hashes of runs, by which documents with a passage in common are found.

    views  texts are views of responses: a passage goes on from line to line of what a person reads,
           and the names of lines, which would cut it, are none of it
    """

    prefix = "runs-"

    def __init__(
        self, minimum: tuple[int, int] = (MIN_WORDS, MIN_CHARS), *, views: bool = False
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


# The postings of a collection, by which it is ranked, or documents with a passage in common are
# found: derived from the texts, and disposable.
#
# Where they are kept (`search=True`, `runs=True`), they lie in files, each with all documents of a
# range of keys as of when it was written. A key never changes its meaning, so a file stays right
# for ever, except for documents removed since. A file is identified by its header:
# the collection, what the terms depend on, the range of keys, and how many removals there had been.
# Documents after the last file are read from their texts. The next writer rebuilds a file that is
# lost or damaged.
#
# A file is written when enough documents have gathered, together with those before it that are not
# much larger: so there are few, and a posting is moved a few times in its life.

T = TypeVar("T")

SUFFIX = ".postings"
# Documents that are read from their texts whenever the collection is opened, at most.
TAIL = 1 << 13
# A file is written anew together with later ones that have this share of its documents.
NOT_MUCH_LARGER = 1.5
# Documents of a file: more take too long to write at once, and four times as many do not fit.
MOST = 1 << 22
# The share of documents in files that may be removed before all is written anew.
REMOVED = 0.25
# Texts in memory at a time.
TEXTS = 2048
# Times a reader looks again for files, where a writer has replaced some meanwhile.
LOOKS = 4


class PostingsFile(NamedTuple):
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
        # No file is tried again before this key, after one could not be written.
        self._patience = 0
        self.forget()

    def forget(self) -> None:
        """Lets go of everything; the next question opens or makes it again."""
        self._index: _core.TermIndex | None = None
        self._files: list[PostingsFile] = []
        self._damaged: list[Path] = []
        self._next_key = self._next_removal = 1
        # The last key that is in a file, as far as that is known.
        self._saved = 0

    # -------------------------------------------------------------------------------------- reading

    def ask(self, store: Store, work: Callable[[_core.TermIndex], T]) -> T:
        """An answer as of a moment of the store; keys that are found can be looked up in it."""
        with self.lock:
            # Whoever has fixed the moment already relies on it.
            free = not store.connection.in_transaction
            with store.snapshot():
                try:
                    return work(self._current(store, renew=free))
                except _core.CorruptIndexError:
                    self.distrust()
                    return work(self._current(store, renew=free))

    def distrust(self) -> None:
        """A file is not what it should be: nothing in files is used any more."""
        damaged = [*self._damaged, *(file.path for file in self._files)]
        self.forget()
        self._damaged = damaged

    def _current(
        self, store: Store, *, last: int | None = None, renew: bool = False
    ) -> _core.TermIndex:
        """All documents that the store has, or those in files and up to a key; to be called in a
        snapshot.

        What is known is true after each step, so that an interruption costs that step only: the
        index is not ours while it changes.
        """
        import numpy as np

        counts = store.counts()
        index, self._index = self._index, None
        if (
            index is None
            or counts.next_key < self._next_key
            or counts.next_removal < self._next_removal
        ):
            index, counts = self._settled(store, renew=renew)
        if counts.next_removal != self._next_removal:
            gone = store.removed(self._next_removal)
            if len(gone) != counts.next_removal - self._next_removal:
                # Segments were written anew since, and what they knew of removals is gone.
                live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
                gone = np.setdiff1d(index.keys(), live).tolist()
            index.remove(np.array(gone, dtype=np.int64))
            self._next_removal = counts.next_removal
        self._read(store, index, counts.next_key - 1 if last is None else last)
        self._index = index
        return index

    def _read(self, store: Store, index: _core.TermIndex, last: int) -> None:
        """Documents that came since, from their texts."""
        import numpy as np

        rows = store.scan(self._next_key, last)
        self._index = index
        while some := list(islice(rows, TEXTS)):
            store.breathe()
            texts = [unpacked(row.text) or "" for row in some]
            keys = np.array([row.key for row in some], dtype=np.int64)
            self._index = None
            self.terms.add(index, texts, keys)
            self._next_key = some[-1].key + 1
            self._index = index
        self._next_key = max(self._next_key, last + 1)

    def _settled(self, store: Store, *, renew: bool) -> tuple[_core.TermIndex, DocumentCounts]:
        """What is in files, and the moment it is to be completed to. A writer may have put files in
        place of others that know more than that moment: then it has to be a later one."""
        for look in range(LOOKS):
            if look and renew:
                store.renew()
            counts = store.counts()
            before = paths(self.folder, self.terms.prefix) if self.kept else []
            index, newer = self._opened(counts)
            if not self.kept or not (newer or before != paths(self.folder, self.terms.prefix)):
                break
        return index, counts

    def _opened(self, counts: DocumentCounts) -> tuple[_core.TermIndex, bool]:
        """What is in files, as far as they go; and whether some know more than these counts."""
        damaged = self._damaged
        self.forget()
        self._damaged = damaged
        index = _core.TermIndex(self._identity)
        there = [*self._there()] if self.kept else []
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

    def _there(self) -> Iterator[PostingsFile]:
        """The files that are of this collection and can be opened."""
        for path in paths(self.folder, self.terms.prefix):
            if path not in self._damaged:
                with suppress(OSError, ValueError):
                    file = self._file(path)
                    if file is not None:
                        yield file

    def _file(self, path: Path) -> PostingsFile | None:
        """What a file says of itself; None if it is of something else."""
        first, last, documents, removals, identity = _core.TermIndex.covered(str(path))
        ours = identity == self._identity and 1 <= first <= last
        return PostingsFile(path, first, last, documents, removals) if ours else None

    # ------------------------------------------------------------------------------------- writing

    def claim(self, store: Store, *, kept: bool) -> None:
        """To be called once by whoever may write, before anything is added: what an interrupted
        writer has left is deleted, and files of keys that are not given yet, as of a database that
        was restored from a copy, so that they are never taken for those of other documents.

        kept  what is decided now; another process may have done so since this one opened
        """
        with self.lock:
            self.kept = kept
            files = [*_chain(self._there(), store.counts())] if kept else []
            known = {file.path for file in files}
            remove(path for path in _ours(self.folder, self.terms.prefix) if path not in known)
            self.forget()
            self._saved = files[-1].last if files else 0

    def tidy(self, store: Store, *, whole: bool = False) -> None:
        """Writes a file if enough has gathered; `whole`: everything anew. What is stored is safe
        already, so that a failure to do so is none: it is tried again later, unless `whole`."""
        if not self.kept:
            return
        with self.lock:
            key = store.counts().next_key
            if not whole and (key - 1 - self._saved < TAIL or key < self._patience):
                return
            try:
                with store.snapshot():
                    try:
                        self._write(store, whole=whole)
                    except _core.CorruptIndexError:
                        # The texts are the truth: all is made of them again.
                        self.distrust()
                        self._write(store, whole=whole)
            except BaseException as error:
                # It may have come between a file and what is known of it.
                self.forget()
                if whole or not isinstance(error, OSError | ValueError):
                    raise
                self._patience = key + TAIL

    def _write(self, store: Store, *, whole: bool) -> None:
        last = store.counts().next_key - 1
        fresh = self._fill(store, last)
        index = self._current(store)
        files = [*self._files]
        size = last - self._last
        stale = self._damaged or len(index) < (1 - REMOVED) * sum(x.documents for x in files)
        if size < TAIL and not (whole or stale):
            return
        merged: list[PostingsFile] = []
        while files and (
            whole
            or stale
            or (
                files[-1].documents <= NOT_MUCH_LARGER * size and size + files[-1].documents <= MOST
            )
        ):
            size += files[-1].documents
            merged.insert(0, files.pop())
        spans = [(file.first, file.last) for file in merged]
        if self._last < last:
            spans.append((self._last + 1, last))
        known = {(file.first, file.last): file for file in fresh}
        for span in _joined(spans, index):
            files.append(known.get(span) or self._save(store, index, *span))
        self._files = files
        self._damaged, self._saved = [], last
        used = {file.path for file in files}
        remove(path for path in _ours(self.folder, self.terms.prefix) if path not in used)

    def _fill(self, store: Store, last: int) -> list[PostingsFile]:
        """Files as large as they may be, until what is in none fits into one. The texts are read
        file by file: what was read at once is in parts that cannot be cut."""
        self._current(store, last=0)
        fresh: list[PostingsFile] = []
        while last - self._last > MOST:
            first, end = self._last + 1, self._last + MOST
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
        """The last key in the files that are open."""
        return self._files[-1].last if self._files else 0

    def delete(self) -> None:
        """Takes all files away."""
        with self.lock:
            self.kept = False
            self.forget()
            remove(_ours(self.folder, self.terms.prefix))

    # ----------------------------------------------------------------------------------- verifying

    def problems(self, store: Store) -> list[str]:
        """What is wrong with the files that are used, or would be if they could be read, in
        words."""
        if not self.kept:
            return []
        import numpy as np

        with store.snapshot():
            counts = store.counts()
            live = np.fromiter(store.keys(counts.next_key - 1), dtype=np.int64)
        found, files = [], []
        for path in paths(self.folder, self.terms.prefix):
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
                found.append(f"postings: {file.path.name}: the key {missing[0]} is missing")
        return found

    @property
    def bytes(self) -> int:
        """On disk."""
        total = 0
        for path in paths(self.folder, self.terms.prefix):
            with suppress(OSError):
                total += path.stat().st_size
        return total


def _is_known(file: PostingsFile, counts: DocumentCounts) -> bool:
    """Whether all that a file knows had happened at a moment."""
    return file.last < counts.next_key and file.removals <= counts.next_removal


def _chain(files: Iterable[PostingsFile], counts: DocumentCounts) -> Iterator[PostingsFile]:
    """Files whose keys follow each other from the first on, the longest where there are several."""
    found: dict[int, PostingsFile] = {}
    for file in sorted(files, key=lambda file: file.last):
        if _is_known(file, counts):
            found[file.first] = file
    first = 1
    while first in found:
        yield found[first]
        first = found[first].last + 1


def _joined(spans: list[tuple[int, int]], index: _core.TermIndex) -> list[tuple[int, int]]:
    """Neighbouring ranges of keys as one, as long as no more documents are in it than a file may
    have."""
    import numpy as np

    joined: list[tuple[int, int]] = []
    keys, size = index.keys(), 0
    for first, last in spans:
        begin, end = np.searchsorted(keys, [first, last + 1]).tolist()
        if joined and size + end - begin <= MOST:
            joined[-1], size = (joined[-1][0], last), size + end - begin
        else:
            joined.append((first, last))
            size = end - begin
    return joined


def paths(folder: Path, prefix: str) -> list[Path]:
    """The files of postings in a folder."""
    return [path for path in _ours(folder, prefix) if path.name.endswith(SUFFIX)]


def _ours(folder: Path, prefix: str) -> list[Path]:
    """The same, and what an interrupted writer has left."""
    names = (name for name in os.listdir(folder) if name.startswith(prefix) and SUFFIX in name)
    return [folder / name for name in sorted(names)]


# The postings a collection keeps in files, or makes when it is asked: those of features, by which
# it is searched, and those of runs, by which documents with a passage in common are found.

Name = Literal["search", "runs"]


class KeptPostings:
    """Both postings of a collection. They are called as what decides whether they are in files."""

    def __init__(self, folder: Path, recipe: Recipe, settings: CollectionSettings) -> None:
        self.folder = folder
        identity = settings.identity
        self.search = Postings(
            folder, FeatureTerms(recipe), identity, kept=_is_kept(settings, "search")
        )
        runs = RunTerms(views=recipe.tokens == "http")
        self.runs = Postings(folder, runs, identity, kept=_is_kept(settings, "runs"))
        self._named: dict[Name, Postings] = {"search": self.search, "runs": self.runs}
        self._claimed = False

    def forget(self) -> None:
        """Lets go of everything; the next question opens or makes it again."""
        for postings in self._named.values():
            postings.forget()

    # To be called by whoever may write, as long as nobody else can:

    def claim(self, store: Store) -> None:
        """Before anything is changed. It is done once: a writer stays the only one."""
        if self._claimed:
            return
        # Not those of when it was opened: another process may have been the writer since.
        settings = store.settings()
        for name, postings in self._named.items():
            postings.claim(store, kept=_is_kept(settings, name))
        self._claimed = True

    def tidy(self, store: Store, *, whole: bool = False) -> None:
        """After something was added; `whole`: writes everything anew."""
        for postings in self._named.values():
            postings.tidy(store, whole=whole)

    def decide(self, store: Store, name: Name, kept: bool) -> None:
        """Keeps postings in files from now on, or no longer. They are kept, as far as anybody
        knows, when the files are complete; what an interruption leaves the next writer deletes."""
        self.claim(store)
        postings = self._named[name]
        if kept == postings.kept:
            return
        settings = store.settings()
        if kept and not settings.texts:
            raise no_texts(self.folder, f"{name} is True")
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

    # Anybody:

    def sharing(self, hashes: NDArray[np.uint64], _: Snapshot, store: Store) -> list[StoredRow]:
        """The documents with one of these runs at least."""

        def rows(index: _core.TermIndex) -> list[StoredRow]:
            keys = index.sharing(hashes).tolist()
            found = store.by_keys(keys, whole=True)
            return [found[key] for key in keys]

        return self.runs.ask(store, rows)

    def problems(self, store: Store) -> list[str]:
        """What is wrong with the files, in words."""
        return [what for postings in self._named.values() for what in postings.problems(store)]

    @property
    def bytes(self) -> int:
        """On disk."""
        return sum(postings.bytes for postings in self._named.values())


def _is_kept(settings: CollectionSettings, name: Name) -> bool:
    return settings.texts and (settings.search if name == "search" else settings.runs)
