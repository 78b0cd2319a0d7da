"""Collection: documents under ids, found again by what they say; in a folder, for years."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import repeat
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast, overload

from neardup._util.numbers import check_int
from neardup.collection.connection import Durability
from neardup.collection.documents import PreparedBatch, as_documents
from neardup.collection.errors import (
    CollectionError,
    KnownIdError,
    corrupt,
    no_texts,
    translate_sqlite_errors,
)
from neardup.collection.judging import judge
from neardup.collection.lookup import Checking, CheckingOne, Searching
from neardup.collection.opening import check_folder, make_store, recorded
from neardup.collection.postings import KeptPostings, Name, RunTerms
from neardup.collection.results import Outcome, Stats, Stored
from neardup.collection.schema import StoredRow, unpacked
from neardup.collection.session import OpenCollection
from neardup.collection.store import DATABASE, Store
from neardup.files import writing
from neardup.files.reading.formats import all_endings, ending
from neardup.near.lookup import Match
from neardup.near.question import Question, check_question
from neardup.near.ranking import DEFAULT_COUNT, By, Idf, Searchable, check_queries, check_ranking
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


MOST = 2**31


class Collection(Searchable):
    """Documents (id, text, metadata) in a folder, and which of them a text is near to.

    Open one with `Collection.open`; close it, or use it in a `with` statement. There is one writer
    at a time: the first to call `add`, `remove` or `compact`, until it calls `close`. Others may
    read meanwhile; each call sees what was committed before it. All methods may be
    called from many threads. After a fork the child has to open it again.

    >>> import tempfile, neardup as nd
    >>> folder = tempfile.TemporaryDirectory()
    >>> with nd.Collection.open(f"{folder.name}/seen.neardup") as seen:
    ...     added = seen.add([("a", "the cat sat on the mat"), ("b", "we all scream")])
    ...     found = seen.check("The cat sat on the mat!")
    >>> found
    [Match(id='a', distance=0, similarity=1.0)]
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, store: Store, *, read_only: bool) -> None:
        """Use `Collection.open`."""
        settings = store.settings()
        self.path = folder
        self.stores_text = settings.texts
        self._identity = settings.identity
        self.recipe = recorded(folder, settings)
        self._session = OpenCollection(
            folder, store, self.recipe, texts=self.stores_text, read_only=read_only
        )
        self._postings = KeptPostings(folder, self.recipe, settings)
        # What was added last were updates: then it is quicker to look ids up before.
        self._updates = False

    def __reduce__(self) -> NoReturn:
        # It holds a lock, connections and mapped files, which belong to this process.
        raise TypeError(
            "a Collection can be neither pickled nor copied; it is saved already: pass its path, "
            f"and use neardup.Collection.open({str(self.path)!r}) where it is needed"
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        recipe: RecipeLike = None,
        *,
        store_text: bool | None = None,
        search: bool | None = None,
        runs: bool | None = None,
        read_only: bool = False,
        durability: Durability = "full",
    ) -> Self:
        """Opens a collection, or makes one where there is none.

        path        a folder whose name ends in .neardup
        recipe      how texts become fingerprints, decided when the collection is made [default:
                    the default recipe]; later it may be left out, and another one is refused
        store_text  whether texts are kept, decided when it is made [default: yes]. Without them
                    documents can be found by radius only.
        search      whether what `search` by cosine needs is kept in files, so that it need not be
                    made of the texts when the collection is opened [default: as it was decided
                    before; when it is made, no]. It may be decided otherwise later
        runs        the same of what a check for copying needs to find documents with a passage in
                    common
        read_only   never write documents, nor make a collection; SQLite may leave its -wal and -shm
                    files behind. Works in a folder that nobody may write to.
        durability  "full": what `add` has stored survives a power cut; "normal": it survives the
                    end of the process, and a power cut may take the last calls back, whole ones.
                    Nothing is ever half stored.
        """
        given = Path(path)
        if durability not in ("full", "normal"):
            raise ValueError(f'durability is {durability!r}; it must be "full" or "normal"')
        kept = {"search": search, "runs": runs}
        for name, value in kept.items():
            if value is not None and not isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}; it must be True, False or None")
        check_folder(given, read_only=read_only)
        # The path must mean this folder even if the working directory changes later.
        folder = given.absolute()
        chosen = None if recipe is None else as_recipe(recipe)
        if not (folder / DATABASE).exists():
            texts = store_text is not False
            for name, value in kept.items():
                if value and not texts:
                    raise no_texts(folder, f"{name} is True")
            wanted = {name: bool(value) for name, value in kept.items()}
            make_store(folder, chosen or as_recipe(None), texts=texts, **wanted)
        store = Store(folder, read_only=read_only, durability=durability)
        try:
            store.check_version()
            found = cls(folder, store, read_only=read_only)
        except BaseException:
            store.close()
            raise
        try:
            found._check_same(chosen, store_text)
            with found._session.current():
                pass
            if search is not None and search != found.keeps_search:
                found._decide("search", search)
            if runs is not None and runs != found.keeps_runs:
                found._decide("runs", runs)
        except BaseException:
            # It may be the writer already.
            found.close()
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

    @property
    def keeps_search(self) -> bool:
        """Whether what `search` by cosine needs is kept in files."""
        return self._postings.search.kept

    @property
    def keeps_runs(self) -> bool:
        """Whether what finds documents with a passage in common is kept in files."""
        return self._postings.runs.kept

    def _decide(self, name: Name, kept: bool) -> None:
        with self._session.writing() as store:
            self._postings.decide(store, name, kept)

    def close(self) -> None:
        """Closes the files, and lets another process write. Calling it again does nothing."""
        self._session.close()
        self._postings.forget()

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
                          other values are metadata; or an Arrow table with such columns; also what
                          `export` has written. An id that is there already gets the new text. An
                          id given twice is refused.
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
        asked = (
            self.check_limits(similarity, radius=radius, recall=recall)
            if unless_duplicate
            else None
        )
        if not given.ids:
            return []
        batch = PreparedBatch(given, self.recipe, texts=self.stores_text)
        with self._session.writing() as store:
            self._postings.claim(store)
            if asked is not None:
                known = self._known(given.ids)
                outcomes = self._session.settled(
                    lambda view: judge(batch, view, store, known, asked)
                )
                chosen = [at for at, x in enumerate(outcomes) if x.status != "duplicate"]
                replaced = [known[x.id] for x in outcomes if x.status == "updated"]
                if chosen:
                    self._exchange(batch, chosen, replaced)
                return outcomes
            every = range(len(batch))
            if not self._updates:
                try:
                    self._put(batch, every, [])
                    return [*map(AS_OUTCOME, zip(given.ids, *ADDED, strict=False))]
                except KnownIdError:
                    pass
            known = self._known(given.ids)
            self._updates = bool(known)
            self._exchange(batch, every, list(known.values()))
            return [Outcome(id_, "updated" if id_ in known else "added") for id_ in given.ids]

    def _known(self, ids: Sequence[str]) -> dict[str, StoredRow]:
        with translate_sqlite_errors(self.path):
            return self._session.store.by_ids(ids)

    def _put(
        self, batch: PreparedBatch, chosen: list[int] | range, replaced: list[StoredRow]
    ) -> None:
        first = self._session.segments.counts.next_key
        self._session.change(
            batch.rows(chosen, first, self._session.readers.breathe),
            batch.digests_of(chosen, first),
            replaced,
            batch.coded(chosen, first),
            batch.sketches(chosen),
        )
        self._postings.tidy(self._session.store)

    def _exchange(
        self, batch: PreparedBatch, chosen: list[int] | range, replaced: list[StoredRow]
    ) -> None:
        """As `_put`, where all ids were looked up before."""
        try:
            self._put(batch, chosen, replaced)
        except KnownIdError as error:
            raise corrupt(self.path, "an id or a key is there that was not found") from error

    def remove(self, ids: str | Iterable[str]) -> int:
        """Takes documents out, all at once; returns how many were there."""
        names = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"an id is {name!r}; ids are strings")
        with self._session.writing() as store:
            self._postings.claim(store)
            known = self._known([name for name in names if _is_text(name)])
            if not known:
                return 0
            self._session.change([], [], list(known.values()))
            return len(known)

    def compact(self) -> None:
        """Writes all fingerprints anew, from the database, in one segment, and gives free space
        back.

        Readers go on meanwhile. It needs as much free space as the collection takes, and as much
        again in the folder SQLite has for temporary files.
        """
        with self._session.writing() as store:
            self._postings.claim(store)
            self._session.segments.write(store, whole=True)
            self._postings.tidy(store, whole=True)
            store.vacuum()

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
    ) -> list[Match[str]]: ...
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
    ) -> list[Match[str]] | pa.Table:
        """The documents that are near a text, or each of many, the best first.

        similarity  the cosine from which a document is near [default: 0.85]; each is verified with
                    the text that is stored
        radius      instead: the bits in which fingerprints may differ, not verified
        recall      the share of documents of just that similarity to be found [default: 0.99]
        n           at most so many for a text

        One text gives a list of `Match`. Many give an Arrow table: query (the row of the text), id,
        distance, similarity. A text with too few words for a fingerprint is near only to its
        equals, without a letter or digit to none; such a match has no distance.
        """
        most = None if n is None else check_int("n", n, 1, MOST)
        asked = self.check_limits(similarity, radius=radius, recall=recall)
        self._session.check_open()
        if isinstance(texts, str):
            return self._session.ask(CheckingOne(texts, self.recipe, asked, most).matches)
        return self._session.ask(Checking(_texts(texts), self.recipe, asked, most).matches)

    def check_limits(
        self,
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
    ) -> Question:
        """Return the question; raise if the values are wrong or need texts that are not kept."""
        if radius is None and not self.stores_text:
            raise CollectionError(
                f"{self.path}: keeps no texts, so that no similarity can be computed; "
                "give a radius in bits"
            )
        try:
            return _question(similarity, radius, recall, self.recipe.bits)
        except TypeError:
            # What cannot be remembered is told by its name.
            return check_question(similarity, radius, recall, bits=self.recipe.bits)

    def search(
        self,
        query: str | Iterable[str],
        n: int = DEFAULT_COUNT,
        by: By = "cosine",
        *,
        idf: Idf = "smooth",
        least: float = 0.0,
        threads: int | None = None,
    ) -> pa.Table:
        """The `n` documents that resemble a text, or each of several, most; as `neardup.search`.

        By cosine, a collection that was opened with `search=True` has what it needs in files. Any
        other reads all of its texts for the first such question, and keeps what it needs in memory
        until it is closed.
        """
        asked = check_ranking(n, by, idf, least)
        texts, one = check_queries(query, threads)
        if asked.by == "cosine" and not self.stores_text:
            raise no_texts(self.path, 'by is "cosine"')
        self._session.check_open()
        postings = self._postings.search
        searching = Searching(texts, self.recipe, asked, postings, one=one, threads=threads)
        return self._session.ask(searching.found)

    def check_recipe(self, recipe: Recipe) -> None:
        """Refuses to be searched by another recipe than its own."""
        self._check_same(recipe, None)

    @property
    def runs_minimum(self) -> tuple[int, int]:
        """The words, or characters, of the shortest passages that `sharing` finds."""
        return RunTerms().minimum

    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, Stored]]:
        """The documents with a passage in common with each of some texts, in order: the place of
        the text, and the document. It is what `check_copying` asks.

        runs  for each text the hashes of its runs, made for `runs_minimum`

        A collection that was opened with `runs=True` has what it needs in files. Any other makes
        it of all texts when it is first asked.
        """
        if not self.stores_text:
            raise CollectionError(
                f"{self.path}: keeps no texts, so passages cannot be looked for in it; pass the "
                "texts it was made of, or make another collection that keeps them"
            )
        for place, hashes in enumerate(runs):
            for row in self._session.ask(partial(self._postings.sharing, hashes)):
                yield place, self._as_stored(row)

    def get(self, id: str) -> Stored | None:  # noqa: A002
        """The document of this id, or None."""
        if not isinstance(id, str) or not _is_text(id):
            return None
        with self._session.reading() as store:
            row = store.by_id(id, whole=True)
            if row is None:
                store.check_absent(id)
                return None
            return self._as_stored(row)

    def _as_stored(self, row: StoredRow) -> Stored:
        code = None if row.fingerprint is None else int.from_bytes(row.fingerprint, "little")
        metadata = {} if row.metadata is None else json.loads(row.metadata)
        return Stored(row.id, unpacked(row.text), metadata, code)

    def __contains__(self, id_: object) -> bool:
        if not isinstance(id_, str) or not _is_text(id_):
            return False
        with self._session.reading() as store:
            found = store.by_id(id_) is not None
            if not found:
                store.check_absent(id_)
            return found

    def __len__(self) -> int:
        with self._session.current() as (view, _):
            return view.counts.documents

    def __iter__(self) -> Iterator[str]:
        """All ids as of this moment, in the order in which they were last added."""
        return (row.id for row in self._scan(whole=False))

    def documents(self) -> Iterator[Stored]:
        """All documents as of this moment, in the order in which they were last added."""
        return (self._as_stored(row) for row in self._scan(whole=True))

    def page(
        self,
        n: int = 100,
        *,
        after: int | None = None,
        newest: bool = False,
        until: int | None = None,
    ) -> tuple[list[Stored], int | None]:
        """At most `n` documents, in the order in which they were last added, and where the next
        page begins: what to pass as `after`, or None if these are the last.

        newest  the other way round, the newest first
        until   leave out what was added or changed after this place: `last_place`, as it was
                before the first page

        A document that is added or removed between two pages moves no other one. One that is
        changed gets a new place, behind all others: without `until` it may come again. With it,
        no id comes twice, and no document is missed that stays as it is; one that is changed or
        removed comes if its page was read before, and else does not.
        """
        most = check_int("n", n, 1, MOST)
        place = None if after is None else check_int("after", after, 0, 2**63 - 1)
        bound = None if until is None else check_int("until", until, 0, 2**63 - 1)
        with self._session.reading() as store:
            last = store.counts().next_key - 1
            if bound is not None:
                last = min(last, bound)
            if newest:
                last = last if place is None else min(last, place - 1)
                first = 1
            else:
                first = 1 if place is None else place + 1
            # One more says whether there are others.
            rows = [*store.scan(first, last, most + 1, newest=newest)]
            found = [self._as_stored(row) for row in rows[:most]]
        return found, rows[most - 1].key if len(rows) > most else None

    @property
    def last_place(self) -> int:
        """The highest place a document was ever given; what is added or changed later gets a
        higher one. For `page`."""
        with self._session.current() as (view, _):
            return view.counts.next_key - 1

    def _scan(self, *, whole: bool) -> Iterator[StoredRow]:
        self._session.check_open()
        rows = self._rows(whole=whole)
        # The moment is now, and not when the first row is asked for.
        next(rows)
        return cast("Iterator[StoredRow]", rows)

    def _rows(self, *, whole: bool) -> Iterator[StoredRow | None]:
        """None when the moment is fixed, then the rows."""
        # A connection of its own: nobody has to wait for a long read, nor does it see changes.
        store, process = Store(self.path, read_only=True), os.getpid()
        try:
            with store.snapshot():
                last = store.counts().next_key - 1
                yield None
                for row in store.scan(1, last, whole=whole):
                    self._session.check_open()
                    yield row
        finally:
            if os.getpid() == process:
                # Not store.close(), which imports: this may be the end of the interpreter.
                store.connection.close()

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes all documents to a file, by its ending .jsonl, .csv, .tsv or .parquet (the first
        three also with .gz or .zst): id, text, metadata, fingerprint in hexadecimal digits.

        Metadata is an object in JSON lines and JSON elsewhere. `add` takes these records back as
        they were. Returns the number of documents.
        """

        return export(self.documents(), Path(path), self.recipe.bits, texts=self.stores_text)

    def stats(self) -> Stats:
        """How many documents there are, and how they are stored."""
        with self._session.current() as (view, store):
            settings = store.settings()
            return Stats(
                path=str(self.path),
                documents=view.counts.documents,
                without_signal=view.counts.without_signal,
                texts=self.stores_text,
                recipe=self.recipe.identity,
                bits=self.recipe.bits,
                format=store.format(),
                segments=len(view.parts),
                segment_entries=sum(len(part.codes) for part in view.parts),
                tail=len(view.tail.codes),
                removed=self._session.segments.removed,
                database_bytes=sum(
                    file.stat().st_size for file in self.path.glob(f"{DATABASE}*") if file.exists()
                ),
                segment_bytes=sum(part.row.bytes for part in view.parts),
                search=settings.search,
                runs=settings.runs,
                postings_bytes=self._postings.bytes,
            )

    @property
    def moment(self) -> tuple[int, int]:
        """Which collection this is, by a random number, and how much was added to it and removed:
        as long as they are the same, so are the documents."""
        with self._session.current() as (view, _):
            return self._identity, view.counts.next_key + view.counts.next_removal

    def verify(self) -> list[str]:
        """Reads and checks everything. Returns what is wrong, one sentence each; empty if all
        is well.

        What is wrong with a segment or with postings `compact` mends. What is wrong with the
        database it cannot: restore a backup.
        """
        from neardup.collection.verification import problems

        self._session.check_open()
        store = Store(self.path, read_only=True)
        try:
            found = problems(store, self.recipe, texts=self.stores_text)
            return found + self._postings.problems(store)
        finally:
            store.close()


# What makes an outcome of its values with no step of Python, and the rest of one, for as many as
# there are.
AS_OUTCOME = partial(tuple.__new__, Outcome)
ADDED = (repeat("added"), repeat(None), repeat(None), repeat(None))


# By their types too: True equals 1, and is no number here.
@lru_cache(maxsize=64, typed=True)
def _question(
    similarity: float | None, radius: int | None, recall: float | None, bits: int
) -> Question:
    """Cached, because callers mostly ask the same question again."""
    return check_question(similarity, radius, recall, bits=bits)


def _texts(texts: Any) -> list[str]:
    from neardup._util.arrow import as_column, is_arrow

    column = as_column(texts)
    listed = column.to_pylist() if is_arrow(column) else column
    for at, text in enumerate(listed):
        if not isinstance(text, str | None):
            raise TypeError(f"texts[{at}] is of type {type(text).__name__}; it must be a str")
    # A missing text is near nothing, as is an empty one.
    return [text or "" for text in listed]


def _is_text(name: str) -> bool:
    """Whether an id could be stored: it must be Unicode text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


# Documents of a collection to a file.


def export(documents: Iterable[Stored], path: Path, bits: int, *, texts: bool) -> int:
    """Writes documents, with their texts if there are any; returns how many."""
    writing.check(path)
    path = writing.in_full(path, ".jsonl")
    # Where there are no objects, metadata is JSON in a string.
    as_object = all_endings()[ending(path.name)] == "jsonl"
    columns = {"id": str, "text": str, "metadata": dict if as_object else str, "fingerprint": str}
    if not texts:
        del columns["text"]
    count = 0
    with writing.open_rows(path, columns, reversible=True) as write:
        for found in documents:
            code = None if found.fingerprint is None else f"{found.fingerprint:0{bits // 4}x}"
            metadata = found.metadata
            row = {"id": found.id, "text": found.text, "fingerprint": code}
            write({**row, "metadata": metadata if as_object else _json(metadata)})
            count += 1
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
