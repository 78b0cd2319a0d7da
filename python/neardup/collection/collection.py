"""Collection: documents under ids, found again by what they say; in a folder, for years."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from neardup import _core
from neardup.codes import whole
from neardup.collection.batch import Batch
from neardup.collection.documents import as_documents
from neardup.collection.errors import (
    CollectionError,
    CorruptCollectionError,
    corrupt,
    foreign,
    told,
)
from neardup.collection.lock import WriterLock
from neardup.collection.matching import digest_of, limits, near
from neardup.collection.results import Near, Outcome, Stats, Stored
from neardup.collection.segments import TAIL, Segments
from neardup.collection.store import (
    DATABASE,
    FORMAT,
    Counts,
    Durability,
    Row,
    Settings,
    Store,
    unpacked,
)
from neardup.fingerprint import RecipeLike
from neardup.recipe import Recipe, as_recipe
from neardup.threshold import Threshold
from neardup.unicode import check_unicode

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
R = TypeVar("R")
SUFFIX = ".neardup"
MOST = 2**31


class Collection:
    """Documents (id, text, metadata) in a folder, and which of them a text is near to.

    Open one with `Collection.open`; close it, or use it in a `with` statement. There is one writer
    at a time, which is whoever has called `add`, `remove` or `compact` and not yet `close`; anyone
    may read meanwhile, and sees at each call what was committed before it. All methods may be
    called from many threads. After a fork the child has to open it again.

    >>> import tempfile, neardup as nd
    >>> folder = tempfile.TemporaryDirectory()
    >>> with nd.Collection.open(f"{folder.name}/seen.neardup") as seen:
    ...     added = seen.add([("a", "the cat sat on the mat"), ("b", "we all scream")])
    ...     found = seen.check("The cat sat on the mat!")
    >>> found
    [Near(id='a', distance=0, similarity=1.0)]
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, store: Store, *, read_only: bool) -> None:
        """Use `Collection.open`."""
        settings = store.settings()
        self.path = folder
        self.read_only = read_only
        self.stores_text = settings.texts
        self.recipe = _recorded(folder, settings)
        self._store = store
        self._segments = Segments(store, self.recipe)
        self._writer = WriterLock(folder)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._version = -1
        self._closed = False
        # What was added last were updates: then it is quicker to look ids up before.
        self._updates = False
        # No segment is tried again before this key, after one could not be written.
        self._patience = 0
        self._release = weakref.finalize(self, _let_go, store, self._writer, self._pid)
        _OPEN.add(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        recipe: RecipeLike = None,
        *,
        store_text: bool | None = None,
        read_only: bool = False,
        durability: Durability = "full",
    ) -> Self:
        """Opens a collection, or makes one where there is none.

        path        a folder whose name ends in .neardup
        recipe      how texts become fingerprints, decided when the collection is made [default:
                    the default recipe]; later it may be left out, and another one is refused
        store_text  whether texts are kept, decided when it is made [default: yes]. Without them
                    documents can be found by radius only.
        read_only   never write, nor make anything; works in a folder that cannot be written to
        durability  "full": what `add` has stored survives a power cut; "normal": it survives the
                    end of the process, and a power cut may take the last calls back, whole ones.
                    Nothing is ever half stored.
        """
        folder = Path(path)
        if not folder.name.endswith(SUFFIX):
            raise CollectionError(
                f"{folder}: the name of a collection ends in {SUFFIX}; use {folder}{SUFFIX}"
            )
        if durability not in ("full", "normal"):
            raise ValueError(f'durability is {durability!r}; it must be "full" or "normal"')
        if folder.exists() and not folder.is_dir():
            raise CollectionError(f"{folder}: a file; a collection is a folder")
        chosen = None if recipe is None else as_recipe(recipe)
        there = (folder / DATABASE).exists()
        if read_only and not there:
            raise FileNotFoundError(f"{folder}: no such collection")
        if not there:
            _check_empty(folder)
        store = _opened(folder, chosen, store_text, read_only=read_only, durability=durability)
        try:
            found = cls(folder, store, read_only=read_only)
            found._check_same(chosen, store_text)
            with found._reading():
                pass
        except BaseException:
            store.close()
            raise
        return found

    def _check_same(self, recipe: Recipe | None, store_text: bool | None) -> None:
        if recipe is not None and recipe.identity != self.recipe.identity:
            raise CollectionError(
                f"{self.path}: made with the recipe {self.recipe.identity}, and asked for with "
                f"{recipe.identity}; open it without a recipe, or make another collection"
            )
        if store_text is not None and store_text != self.stores_text:
            keeps = "keeps" if self.stores_text else "does not keep"
            raise CollectionError(
                f"{self.path}: {keeps} texts, and store_text is {store_text}; leave it out, or "
                "make another collection"
            )

    def close(self) -> None:
        """Lets go of the files, and of the writer's place. A second time does nothing."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._closed = True
            self._segments.close()
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Collection({str(self.path)!r}, {self.recipe.bits} bits)"

    # -------------------------------------------------------------------------------- what comes in

    def add(
        self,
        documents: Any,
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
    ) -> list[Outcome]:
        """Stores documents: all of them, or none if something is refused or fails.

        documents         (id, text) or (id, text, metadata); dicts with "id" and "text", whose
                          other values are metadata; or an Arrow table with such columns. An id that
                          is there already gets the new text. An id given twice is refused.
        unless_duplicate  leave out what is near a document that is there, or that comes before it
                          in the batch. If its id was there, the old text stays.
        similarity, radius, recall   what is near, as in `check`

        When this returns, the documents are on the disk. Returns an `Outcome` for each.
        """
        if not unless_duplicate and not similarity is radius is recall is None:
            raise ValueError(
                "similarity, radius and recall say what a duplicate is; "
                "they need unless_duplicate=True"
            )
        given = as_documents(documents)
        if unless_duplicate:
            self._limits(similarity, radius, recall, 1)
        if not given.ids:
            return []
        batch = Batch(given, self.recipe)
        with self._writing():
            if unless_duplicate:
                known = self._known(given.ids)
                wanted = self._limits(similarity, radius, recall, self._segments.counts.documents)
                outcomes = batch.judge(self._segments, known, wanted)
                chosen = [at for at, x in enumerate(outcomes) if x.status != "duplicate"]
                replaced = [known[x.id] for x in outcomes if x.status == "updated"]
                if chosen:
                    self._put(batch, chosen, replaced)
                return outcomes
            every = range(len(batch))
            if not self._updates:
                try:
                    self._put(batch, every, [])
                    return [*map(Outcome._make, zip(given.ids, *ADDED, strict=False))]
                except _KnownError:
                    pass
            known = self._known(given.ids)
            self._updates = bool(known)
            self._put(batch, every, list(known.values()))
            return [Outcome(id_, "updated" if id_ in known else "added") for id_ in given.ids]

    def _known(self, ids: Sequence[str]) -> dict[str, Row]:
        with told(self.path):
            return self._store.by_ids(ids)

    def _put(self, batch: Batch, chosen: list[int] | range, replaced: list[Row]) -> None:
        """One transaction; what is in memory follows when it is done."""
        import sqlite3

        import numpy as np

        counts = self._segments.counts
        first = counts.next_key
        rows = batch.rows(chosen, first, texts=self.stores_text)
        digests = (
            [
                (key, batch.digests[at])
                for key, at in enumerate(chosen, first)
                if at in batch.digests
            ]
            if batch.digests
            else []
        )
        gone = [row.key for row in replaced]
        after = Counts(
            documents=counts.documents + len(rows) - len(gone),
            without_signal=counts.without_signal
            + sum(row[2] is None for row in rows)
            - sum(row.fingerprint is None for row in replaced),
            next_key=first + len(rows),
            next_removal=counts.next_removal + len(gone),
            generation=counts.generation,
        )
        with self._store.transaction():
            if gone:
                self._store.delete(replaced, counts.next_removal)
            try:
                self._store.insert(rows, digests)
            except sqlite3.IntegrityError as error:
                raise _KnownError from error
            self._store.set_counts(after)
        places = np.asarray(chosen, dtype=np.int64)
        coded = batch.signal[places]
        keys = first + np.flatnonzero(coded)
        self._segments.apply(keys, batch.values[places[coded]], gone, after)
        self._tidy()

    def remove(self, ids: str | Iterable[str]) -> int:
        """Takes documents out, all at once; returns how many were there."""
        names = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"an id is {name!r}; ids are strings")
        with self._writing():
            known = self._known([name for name in names if _is_text(name)])
            if not known:
                return 0
            counts = self._segments.counts
            keys = [row.key for row in known.values()]
            after = counts._replace(
                documents=counts.documents - len(keys),
                without_signal=counts.without_signal
                - sum(row.fingerprint is None for row in known.values()),
                next_removal=counts.next_removal + len(keys),
            )
            with self._store.transaction():
                self._store.delete(list(known.values()), counts.next_removal)
                self._store.set_counts(after)
            import numpy as np

            none = np.zeros(0, dtype=np.int64)
            self._segments.apply(none, np.zeros((0, 1), dtype=np.uint64), keys, after)
            self._tidy()
            return len(keys)

    def compact(self) -> None:
        """Writes all fingerprints anew, from the truth, in one segment, and gives free space back.

        Readers go on meanwhile. It needs as much free space as the collection takes.
        """
        with self._writing():
            self._segments.write(whole=True)
            self._store.vacuum()

    # ------------------------------------------------------------------------------- what comes out

    @overload
    def check(
        self,
        texts: str,
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[Near]: ...
    @overload
    def check(
        self,
        texts: Iterable[str | None],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> pa.Table: ...
    def check(
        self,
        texts: str | Iterable[str | None],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[Near] | pa.Table:
        """The documents that are near a text, or each of many, the best first.

        similarity  the cosine from which a document is near [default: 0.85]; each is verified with
                    the text that is stored
        radius      instead: the bits in which fingerprints may differ, not verified
        recall      the share of documents of just that similarity to be found [default: 0.99]
        n           at most so many for a text

        One text gives a list of `Near`. Many give an Arrow table: query (the row of the text), id,
        distance, similarity. A text with too few words for a fingerprint is near only to its
        equals, without a letter or digit to none; such a match has no distance.
        """
        most = None if n is None else whole("n", n, 1, MOST)
        asked = (similarity, radius, recall)
        if isinstance(texts, str):
            return self._looked(self._check_one, texts, asked, most)
        return self._looked(self._check_many, _texts(texts), asked, most)

    def _looked(
        self,
        check: Callable[[T, Threshold, int | None], R],
        texts: T,
        asked: tuple[float | None, int | None, float | None],
        most: int | None,
    ) -> R:
        """An answer as of one moment. What a key stands for never changes, it can only go; so it is
        looked up outside of a snapshot, which takes longer, and within one if something has gone.
        """
        with self._lock:
            self._sync()
            try:
                with told(self.path):
                    wanted = self._limits(*asked, self._segments.counts.documents)
                    return check(texts, wanted, most)
            except CorruptCollectionError:
                with self._reading():
                    wanted = self._limits(*asked, self._segments.counts.documents)
                    return check(texts, wanted, most)

    def _check_one(self, text: str, wanted: Threshold, most: int | None) -> list[Near]:
        import numpy as np

        code = self.recipe.pipeline.fingerprint(text)
        if code is None:
            return self._equals(text, most)
        values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
        if wanted.similarity is None:
            pairs = self._segments.search_one(values, wanted.radius, most)
            rows = self._store.by_keys([key for _, key in pairs]) if pairs else {}
            return [Near(rows[key].id, distance, None) for distance, key in pairs]
        found = near(values, [text], self._segments, wanted, most)
        keys = found.keys.tolist()
        rows = self._store.by_keys(keys) if keys else {}
        assert found.similarities is not None  # noqa: S101
        return [
            Near(rows[key].id, distance, similarity)
            for key, distance, similarity in zip(
                keys, found.distances.tolist(), found.similarities.tolist(), strict=True
            )
        ]

    def _equals(self, text: str, most: int | None) -> list[Near]:
        digest = digest_of(text, check_unicode(text, "the text").encode())
        rows = [] if digest is None else self._store.by_digest(digest)
        return [Near(row.id, None, 1.0) for row in rows[:most]]

    def _check_many(self, texts: list[str], wanted: Threshold, most: int | None) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        from neardup.columns import numbers

        values, signal = self.recipe.pipeline.fingerprints(texts, None, None)
        coded = np.flatnonzero(signal)
        found = near(
            np.ascontiguousarray(values[coded]),
            [texts[at] for at in coded.tolist()],
            self._segments,
            wanted,
            most,
        )
        rows = self._store.by_keys(np.unique(found.keys).tolist())
        ids = [rows[key].id for key in found.keys.tolist()]
        queries, distances = coded[found.queries], found.distances
        similarities = (
            np.full(len(ids), np.nan) if found.similarities is None else found.similarities
        )
        equals = [
            (at, match.id)
            for at in np.flatnonzero(~signal).tolist()
            for match in self._equals(texts[at], most)
        ]
        if equals:
            ids += [id_ for _, id_ in equals]
            queries = np.concatenate((queries, [at for at, _ in equals]))
            distances = np.concatenate((distances, np.full(len(equals), -1)))
            similarities = np.concatenate((similarities, np.ones(len(equals))))
            order = np.argsort(queries, kind="stable")
            ids = [ids[at] for at in order.tolist()]
            queries, distances = queries[order], distances[order]
            similarities = similarities[order]
        return pa.table(
            {
                "query": numbers(queries.astype(np.int64)),
                "id": pa.array(ids, pa.string()),
                "distance": numbers(distances.astype(np.int64), distances < 0),
                "similarity": numbers(similarities, np.isnan(similarities)),
            }
        )

    def _limits(
        self, similarity: float | None, radius: int | None, recall: float | None, rows: int
    ) -> Threshold:
        if radius is None and not self.stores_text:
            raise CollectionError(
                f"{self.path}: keeps no texts, so that no similarity can be computed; "
                "give a radius in bits"
            )
        return limits(similarity, radius, recall, self.recipe.bits, rows.bit_length())

    def get(self, id: str) -> Stored | None:  # noqa: A002
        """The document of this id, or None."""
        if not isinstance(id, str) or not _is_text(id):
            return None
        with self._reading():
            row = self._store.by_id(id, whole=True)
            if row is None:
                self._store.check_absent(id)
                return None
            return self._as_stored(row)

    def _as_stored(self, row: Row) -> Stored:
        code = None if row.fingerprint is None else int.from_bytes(row.fingerprint, "little")
        metadata = {} if row.metadata is None else json.loads(row.metadata)
        return Stored(row.id, unpacked(row.text), metadata, code)

    def __contains__(self, id_: object) -> bool:
        if not isinstance(id_, str) or not _is_text(id_):
            return False
        with self._reading():
            found = self._store.by_id(id_) is not None
            if not found:
                self._store.check_absent(id_)
            return found

    def __len__(self) -> int:
        with self._lock:
            self._sync()
            return self._segments.counts.documents

    def __iter__(self) -> Iterator[str]:
        """All ids as of this moment, in the order in which they were last added."""
        return (row.id for row in self._scan(whole=False))

    def documents(self) -> Iterator[Stored]:
        """All documents as of this moment, in the order in which they were last added."""
        return (self._as_stored(row) for row in self._scan(whole=True))

    def _scan(self, *, whole: bool) -> Iterator[Row]:
        self._check_open()
        # A connection of its own: nobody has to wait for a long read, nor does it see changes.
        store = Store(self.path, read_only=True)
        try:
            with store.snapshot():
                yield from store.scan(1, store.counts().next_key - 1, whole=whole)
        finally:
            store.close()

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes all documents to a file, by its ending .jsonl, .csv, .tsv or .parquet (the first
        three also with .gz or .zst): id, text, metadata, fingerprint in hexadecimal digits.

        Metadata is an object in JSON lines and JSON elsewhere. Returns the number of documents.
        """
        from neardup import sinks
        from neardup.sources.formats import ENDINGS, ending

        target = Path(path)
        sinks.check(target)
        names = [name for name in EXPORTED if name != "text" or self.stores_text]
        as_object = ENDINGS[ending(target.name)] == "jsonl"
        count, digits = 0, self.recipe.bits // 4
        with sinks.open_rows(target, names) as write:
            for found in self.documents():
                code = None if found.fingerprint is None else f"{found.fingerprint:0{digits}x}"
                metadata = json.dumps(found.metadata, ensure_ascii=False)
                write(
                    {
                        "id": found.id,
                        "text": found.text,
                        "metadata": found.metadata if as_object else metadata,
                        "fingerprint": code,
                    }
                )
                count += 1
        return count

    def stats(self) -> Stats:
        """Numbers: how many documents, and how they lie."""
        with self._reading():
            segments, counts = self._segments, self._segments.counts
            return Stats(
                path=str(self.path),
                documents=counts.documents,
                without_signal=counts.without_signal,
                texts=self.stores_text,
                recipe=self.recipe.identity,
                bits=self.recipe.bits,
                format=FORMAT,
                segments=len(segments.parts),
                segment_entries=sum(len(part.index) for part in segments.parts),
                tail=len(segments.tail),
                removed=segments.removed,
                database_bytes=sum(
                    file.stat().st_size for file in self.path.glob(f"{DATABASE}*") if file.exists()
                ),
                segment_bytes=segments.bytes(),
            )

    def verify(self) -> list[str]:
        """Reads everything and compares it: what is wrong, in words; nothing if all is well.

        What is wrong with a segment `compact` mends. What is wrong with the database it cannot:
        restore a backup.
        """
        from neardup.collection.verification import problems

        self._check_open()
        store = Store(self.path, read_only=True)
        try:
            return problems(store, self.recipe)
        finally:
            store.close()

    # --------------------------------------------------------------------------------- who may what

    def _check_open(self) -> None:
        if self._pid != os.getpid():
            raise foreign(self.path, self._pid)
        if self._closed:
            raise CollectionError(f"{self.path}: is closed; open it again")

    def _sync(self) -> None:
        """What is in memory is as of now. Nobody else writes while this process may."""
        self._check_open()
        if not self._writer.held:
            with told(self.path):
                version = self._store.data_version()
            if version != self._version:
                with self._reading():
                    pass

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """In here all is as of one moment, which is now."""
        self._check_open()
        with self._lock:
            self._check_open()
            with self._store.snapshot():
                version = self._store.data_version()
                if version != self._version:
                    self._segments.refresh()
                    self._version = version
                yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """In here nobody else writes."""
        if self.read_only:
            raise CollectionError(f"{self.path}: opened to read only; open it without read_only")
        self._check_open()
        with self._lock:
            self._check_open()
            if not self._writer.held:
                self._writer.acquire()
                try:
                    with self._reading():
                        self._segments.clean()
                except BaseException:
                    self._writer.release()
                    raise
            elif self._store.data_version() != self._version:
                with self._reading():
                    pass
            yield

    def _tidy(self) -> None:
        """A segment of its own for what has gathered in memory. What is stored is stored, so that
        no trouble with it is an error of whoever has added something: it is tried again later."""
        key = self._segments.counts.next_key
        if key >= self._patience and self._segments.is_due:
            try:
                self._segments.write()
            except (OSError, CollectionError, _core.CorruptIndexError):
                self._patience = key + TAIL


class _KnownError(Exception):
    """An id of the batch is there already."""


# The rest of an outcome, for as many as there are.
ADDED = (repeat("added"), repeat(None), repeat(None), repeat(None))
EXPORTED = ("id", "text", "metadata", "fingerprint")
_OPEN: weakref.WeakSet[Collection] = weakref.WeakSet()


def _opened(
    folder: Path,
    recipe: Recipe | None,
    store_text: bool | None,
    *,
    read_only: bool,
    durability: Durability,
) -> Store:
    """The store, made if there is none. Whoever makes it is its writer meanwhile."""
    if (folder / DATABASE).exists():
        store = Store(folder, read_only=read_only, durability=durability)
        try:
            if store.check_version():
                return store
            if read_only:
                raise FileNotFoundError(f"{folder}: no such collection")
        except BaseException:
            store.close()
            raise
        store.close()
    chosen = as_recipe(recipe)
    settings = Settings(chosen.identity, chosen.to_toml(), store_text is not False)
    folder.mkdir(exist_ok=True)
    lock = WriterLock(folder)
    lock.acquire()
    try:
        store = Store(folder, durability=durability)
        try:
            # Someone else may have been quicker.
            if not store.check_version():
                store.create(settings)
        except BaseException:
            store.close()
            raise
        return store
    finally:
        lock.release()


def _recorded(folder: Path, settings: Settings) -> Recipe:
    try:
        recipe = Recipe.from_toml(settings.recipe_toml, folder)
    except (ValueError, TypeError) as error:
        raise corrupt(folder, f"its recipe cannot be read: {error}") from error
    if recipe.identity != settings.recipe:
        raise CollectionError(
            f"{folder}: made with the recipe {settings.recipe}, which is {recipe.identity} "
            "in this version of neardup; use the version it was made with"
        )
    return recipe


def _check_empty(folder: Path) -> None:
    """A folder of something else is no place for a collection."""
    if not folder.exists():
        return
    for name in sorted(os.listdir(folder)):
        if name != "lock":
            raise CollectionError(
                f"{folder}: holds {name!r} and no {DATABASE}, so it is no collection; "
                "name another folder"
            )


def _texts(texts: Any) -> list[str]:
    from neardup.columns import as_column, is_arrow

    column = as_column(texts)
    listed = column.to_pylist() if is_arrow(column) else column
    for at, text in enumerate(listed):
        if not isinstance(text, str | None):
            raise TypeError(f"texts[{at}] is of type {type(text).__name__}; it must be a str")
    # A missing text is near nothing, as is an empty one.
    return [text or "" for text in listed]


def _is_text(name: str) -> bool:
    """What is no Unicode text is no id of anything."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _let_go(store: Store, lock: WriterLock, pid: int) -> None:
    if os.getpid() == pid:
        try:
            store.close()
        finally:
            lock.release()


def _forked() -> None:
    """A child leaves the files of its parent alone: SQLite's locks are not its own, and to close
    them might take the parent's away. So the connection is never closed, not even at the end."""
    import ctypes

    for collection in list(_OPEN):
        collection._writer.abandon()
        connection = collection._store.connection
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


os.register_at_fork(after_in_child=_forked)
