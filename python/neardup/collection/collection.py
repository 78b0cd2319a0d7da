"""Collection: the public class, with all operations on a collection. The other modules of the
package do the work. The file is long because one class is the whole public surface."""

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
from neardup.collection.documents import PreparedBatch, export_documents, parse_documents
from neardup.collection.errors import (
    CollectionError,
    IdExistsError,
    corrupt,
    texts_missing,
    translate_sqlite_errors,
)
from neardup.collection.lookup import BatchCheck, RankedSearch, SingleCheck, decide_outcomes
from neardup.collection.opening import check_folder, create_store, recorded_recipe
from neardup.collection.postings import CollectionPostings, PostingsName, RunTerms
from neardup.collection.results import Outcome, Stats, Stored
from neardup.collection.schema import StoredRow, unpack_text
from neardup.collection.session import CollectionSession
from neardup.collection.store import DATABASE, Store
from neardup.near.lookup import Match
from neardup.near.question import Question, check_question
from neardup.near.ranking import (
    DEFAULT_COUNT,
    IdfFormula,
    RankBy,
    Searchable,
    check_queries,
    check_ranking,
)
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


# Largest `n` of a check or page.
MAX_COUNT = 2**31


class Collection(Searchable):
    """A durable index of documents (id, text, metadata) in a folder.

    Open one with `Collection.open`; close it, or use it in a `with` statement. There is one writer
    at a time: the first to call `add`, `remove` or `compact`, until it calls `close`. Others may
    read meanwhile; each call sees what was committed before it. All methods are thread-safe. A
    forked child has to open the collection again.

    >>> import tempfile, neardup as nd
    >>> folder = tempfile.TemporaryDirectory()
    >>> with nd.Collection.open(f"{folder.name}/seen.neardup") as seen:
    ...     added = seen.add([("a", "the cat sat on the mat"), ("b", "we all scream")])
    ...     found = seen.check("The cat sat on the mat!")
    >>> found
    [Match(id='a', distance=0, similarity=1.0, differs='', lost=0)]
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, store: Store, *, read_only: bool) -> None:
        """Use `Collection.open`."""
        settings = store.settings()
        self.path = folder
        self.stores_text = settings.texts
        self._identity = settings.identity
        self.recipe = recorded_recipe(folder, settings)
        self._session = CollectionSession(
            folder, store, self.recipe, texts=self.stores_text, read_only=read_only
        )
        self._postings = CollectionPostings(folder, self.recipe, settings)
        # If the last batch had updates, it is faster to look up the ids before inserting.
        self._last_batch_had_updates = False

    def __reduce__(self) -> NoReturn:
        # The lock, the connections and the mapped files belong to this process.
        raise TypeError(
            "a Collection can be neither pickled nor copied; pass its path and open it there: "
            f"neardup.Collection.open({str(self.path)!r})"
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
        """Open a collection, or create one.

        path        a folder whose name ends in .neardup
        recipe      how texts become fingerprints, fixed when the collection is created [default:
                    the default recipe]; another one is refused later
        store_text  whether to store texts, fixed when the collection is created [default: yes].
                    Without them documents can be found by radius only
        search      whether to store the postings that `search` by cosine needs; otherwise the first
                    search builds them from the texts [default: as before; for a new collection,
                    no]. It can be changed later
        runs        the same for the postings that a check for copying needs to find documents with
                    a passage in common
        read_only   never write documents or create a collection; SQLite may leave -wal and -shm
                    files behind. Works in a folder that nobody may write to
        durability  "full": stored documents survive a power failure; "normal": they survive a
                    crash of the process, but a power failure may undo the last calls. A call is
                    never stored in part
        """
        if durability not in ("full", "normal"):
            raise ValueError(f'durability is {durability!r}; it must be "full" or "normal"')
        in_files = {"search": search, "runs": runs}
        for name, value in in_files.items():
            if value is not None and not isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}; it must be True, False or None")
        check_folder(Path(path), read_only=read_only)
        # The path stays valid if the working directory changes.
        folder = Path(path).absolute()
        expected_recipe = None if recipe is None else as_recipe(recipe)
        if not (folder / DATABASE).exists():
            texts = store_text is not False
            for name, value in in_files.items():
                if value and not texts:
                    raise texts_missing(folder, f"{name} is True")
            postings = {name: bool(value) for name, value in in_files.items()}
            create_store(folder, expected_recipe or as_recipe(None), texts=texts, **postings)
        store = Store(folder, read_only=read_only, durability=durability)
        try:
            store.check_version()
            collection = cls(folder, store, read_only=read_only)
        except BaseException:
            store.close()
            raise
        try:
            collection._check_settings(expected_recipe, store_text)
            # Load the indexes, so that a damaged collection fails here.
            with collection._session.current():
                pass
            if search is not None and search != collection.keeps_search:
                collection._set_in_files("search", search)
            if runs is not None and runs != collection.keeps_runs:
                collection._set_in_files("runs", runs)
        except BaseException:
            # The session may hold the writer's lock already.
            collection.close()
            raise
        return collection

    def _check_settings(self, recipe: Recipe | None, store_text: bool | None) -> None:
        if recipe is not None and recipe.identity != self.recipe.identity:
            raise CollectionError(
                f"{self.path}: created with the recipe {self.recipe.identity}, and opened with "
                f"{recipe.identity}; open it without a recipe, or create another collection"
            )
        if store_text is not None and store_text != self.stores_text:
            stores = "stores" if self.stores_text else "does not store"
            raise CollectionError(
                f"{self.path}: {stores} texts, and store_text is {store_text}; leave it out, or "
                "create another collection"
            )

    @property
    def keeps_search(self) -> bool:
        """Whether the postings for `search` by cosine are stored in files."""
        return self._postings.search.in_files

    @property
    def keeps_runs(self) -> bool:
        """Whether the postings to find documents that share a passage are stored in files."""
        return self._postings.runs.in_files

    def _set_in_files(self, name: PostingsName, in_files: bool) -> None:
        with self._session.writing() as store:
            self._postings.set_in_files(store, name, in_files)

    def close(self) -> None:
        """Close the files, and let another process write. Calling it again does nothing."""
        self._session.close()
        self._postings.reset()

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

    # -------------------------------------------------------------------------------------- writing

    def add(
        self,
        documents: Any,
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
        distinguish: str | Iterable[str] | None = None,
    ) -> list[Outcome]:
        """Store documents: all of them, or none if an error is raised. Return an `Outcome` for
        each.

        documents         (id, text) or (id, text, metadata); dicts with "id" and "text", whose
                          other values are metadata; an Arrow table with such columns; records that
                          `export` wrote. A known id gets the new text. An id that occurs twice is
                          an error
        unless_duplicate  leave out documents near a stored one, or near an earlier one of the
                          batch; if the id is known, its old text stays
        similarity, radius, recall, distinguish   what counts as near, as in `check`

        The outcome of a duplicate says what differs, and how many of its words the stored document
        lacks. When this returns, the documents are on disk.
        """
        if not unless_duplicate and not (
            similarity is radius is recall is None and not distinguish
        ):
            raise ValueError(
                "similarity, radius, recall and distinguish need unless_duplicate=True"
            )
        columns = parse_documents(documents)
        question = None
        if unless_duplicate:
            question = self.check_limits(
                similarity, radius=radius, recall=recall, distinguish=distinguish
            )
        if not columns.ids:
            return []
        batch = PreparedBatch(columns, self.recipe, texts=self.stores_text)
        with self._session.writing() as store:
            self._postings.begin_writing(store)
            if question is not None:
                known = self._find_rows(columns.ids)
                outcomes = self._session.run_with_repairs(
                    lambda view: decide_outcomes(batch, view, store, known, question)
                )
                chosen = [at for at, x in enumerate(outcomes) if x.status != "duplicate"]
                replaced = [known[x.id] for x in outcomes if x.status == "updated"]
                if chosen:
                    self._replace(batch, chosen, replaced)
                return outcomes
            positions = range(len(batch))
            if not self._last_batch_had_updates:
                # Usually all ids are new: insert without looking them up.
                try:
                    self._commit(batch, positions, [])
                    return [*map(AS_OUTCOME, zip(columns.ids, *ADDED, strict=False))]
                except IdExistsError:
                    pass
            known = self._find_rows(columns.ids)
            self._last_batch_had_updates = bool(known)
            self._replace(batch, positions, list(known.values()))
            return [Outcome(id_, "updated" if id_ in known else "added") for id_ in columns.ids]

    def _find_rows(self, ids: Sequence[str]) -> dict[str, StoredRow]:
        """Return the stored rows of the ids that exist."""
        with translate_sqlite_errors(self.path):
            return self._session.store.by_ids(ids)

    def _commit(
        self, batch: PreparedBatch, chosen: list[int] | range, replaced: list[StoredRow]
    ) -> None:
        """Store the documents at some positions of a batch, and delete the rows they replace."""
        first_key = self._session.segments.counts.next_key
        self._session.commit(
            batch.rows(chosen, first_key, self._session.readers.yield_turn),
            batch.digests_of(chosen, first_key),
            replaced,
            batch.index_entries(chosen, first_key),
            batch.sketches(chosen),
        )
        self._postings.write_if_due(self._session.store)

    def _replace(
        self, batch: PreparedBatch, chosen: list[int] | range, replaced: list[StoredRow]
    ) -> None:
        """Call `_commit` after all ids were looked up, so that an existing id is damage."""
        try:
            self._commit(batch, chosen, replaced)
        except IdExistsError as error:
            raise corrupt(self.path, "an id or key exists that a look-up did not find") from error

    def remove(self, ids: str | Iterable[str]) -> int:
        """Remove documents in one transaction; return how many of them existed."""
        names = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"an id is {name!r}; it must be a str")
        with self._session.writing() as store:
            self._postings.begin_writing(store)
            known = self._find_rows([name for name in names if _is_valid_id(name)])
            if not known:
                return 0
            self._session.commit([], [], list(known.values()))
            return len(known)

    def compact(self) -> None:
        """Rewrite all derived files from the database, in one segment, and free unused space.

        Readers continue meanwhile. It needs as much free disk space as the collection takes, and
        as much again in SQLite's folder for temporary files.
        """
        with self._session.writing() as store:
            self._postings.begin_writing(store)
            self._session.segments.write(store, rewrite=True)
            self._postings.write_if_due(store, rewrite=True)
            store.vacuum()

    # -------------------------------------------------------------------------------------- reading

    @overload
    def check(
        self,
        texts: str,
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
        distinguish: str | Iterable[str] | None = None,
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
        distinguish: str | Iterable[str] | None = None,
    ) -> pa.Table: ...
    def check(
        self,
        texts: str | Iterable[str | None],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
        distinguish: str | Iterable[str] | None = None,
    ) -> list[Match[str]] | pa.Table:
        """Return the documents near a text, or near each of many, the best first.

        similarity  the least cosine of a near document [default: 0.85]; every match is verified
                    with the stored text
        radius      instead of a similarity: the bits in which fingerprints may differ; matches are
                    not verified
        recall      the share of documents at the threshold to find [default: 0.99]
        n           at most this many for each text
        distinguish aspects in which a near document must not differ, as for `neardup.dedup`; the
                    texts are then compared with a radius too

        One text gives a list of `Match`. Many give an Arrow table: query (the row of the text), id,
        distance, similarity, differs, lost. A text with too few words for a fingerprint is near
        only to equal texts, and a text without a letter or digit to none; such a match has no
        distance.
        """
        limit = None if n is None else check_int("n", n, 1, MAX_COUNT)
        question = self.check_limits(
            similarity, radius=radius, recall=recall, distinguish=distinguish
        )
        self._session.check_open()
        stored = self.stores_text
        if isinstance(texts, str):
            single = SingleCheck(texts, self.recipe, question, limit, texts=stored)
            return self._session.run_search(single.matches)
        many = _check_texts(texts)
        batch = BatchCheck(many, self.recipe, question, limit, texts_stored=stored)
        return self._session.run_search(batch.matches)

    def check_limits(
        self,
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        distinguish: str | Iterable[str] | None = None,
    ) -> Question:
        """Return the limits as a `Question`; raise if a value is wrong, or if they need texts and
        the collection stores none."""
        if radius is None and not self.stores_text:
            raise CollectionError(
                f"{self.path}: stores no texts, so similarity cannot be computed; "
                "give a radius in bits"
            )
        try:
            question = _question(
                similarity, radius, recall, cast(Any, distinguish), self.recipe.bits
            )
        except TypeError:
            # An unhashable argument cannot be cached: a list of aspects, or a wrong value, which
            # this call names.
            question = check_question(
                similarity, radius, recall, bits=self.recipe.bits, distinguish=distinguish
            )
        if question.distinguish and not self.stores_text:
            raise CollectionError(
                f"{self.path}: stores no texts, so what differs between texts cannot be told; "
                "leave distinguish out"
            )
        return question

    def search(
        self,
        query: str | Iterable[str],
        n: int = DEFAULT_COUNT,
        by: RankBy = "cosine",
        *,
        idf: IdfFormula = "smooth",
        least: float = 0.0,
        threads: int | None = None,
    ) -> pa.Table:
        """Return the `n` documents most similar to a text, or to each of several; as
        `neardup.search`.

        A search by cosine needs postings. A collection opened with `search=True` has them in files;
        any other builds them from all its texts at the first search, and keeps them in memory until
        it is closed.
        """
        request = check_ranking(n, by, idf, least)
        texts, one_query = check_queries(query, threads)
        if request.by == "cosine" and not self.stores_text:
            raise texts_missing(self.path, 'by is "cosine"')
        self._session.check_open()
        postings = self._postings.search
        ranked = RankedSearch(
            texts, self.recipe, request, postings, one_query=one_query, threads=threads
        )
        return self._session.run_search(ranked.table)

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise if a recipe is not the collection's own."""
        self._check_settings(recipe, None)

    @property
    def runs_minimum(self) -> tuple[int, int]:
        """The minimum words, and characters, of the passages that `sharing` finds."""
        return RunTerms().minimum

    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, Stored]]:
        """Yield (position of a text, document) for each document that shares a passage with the
        text. `check_copying` calls this.

        runs  for each text, the hashes of its runs for passages of `runs_minimum`

        A collection opened with `runs=True` has the postings in files; any other builds them from
        all its texts at the first call.
        """
        if not self.stores_text:
            raise CollectionError(
                f"{self.path}: stores no texts, so passages cannot be found in it; pass the texts "
                "themselves, or create a collection that stores them"
            )
        for at, hashes in enumerate(runs):
            for row in self._session.run_search(partial(self._postings.sharing, hashes)):
                yield at, self._as_stored(row)

    def get(self, id: str) -> Stored | None:  # noqa: A002
        """Return the document with this id, or None."""
        if not isinstance(id, str) or not _is_valid_id(id):
            return None
        with self._session.reading() as store:
            row = store.by_id(id, with_text=True)
            if row is None:
                store.check_absent(id)
                return None
            return self._as_stored(row)

    def _as_stored(self, row: StoredRow) -> Stored:
        code = None if row.fingerprint is None else int.from_bytes(row.fingerprint, "little")
        metadata = {} if row.metadata is None else json.loads(row.metadata)
        return Stored(row.id, unpack_text(row.text), metadata, code)

    def __contains__(self, id_: object) -> bool:
        if not isinstance(id_, str) or not _is_valid_id(id_):
            return False
        with self._session.reading() as store:
            exists = store.by_id(id_) is not None
            if not exists:
                store.check_absent(id_)
            return exists

    def __len__(self) -> int:
        with self._session.current() as (view, _):
            return view.counts.documents

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids of all documents, as `documents` does."""
        return (row.id for row in self._scan(with_text=False))

    def documents(self) -> Iterator[Stored]:
        """Iterate over all documents, in the order in which they were added or last updated. Later
        changes do not affect the iteration."""
        return (self._as_stored(row) for row in self._scan(with_text=True))

    def page(
        self,
        n: int = 100,
        *,
        after: int | None = None,
        newest: bool = False,
        until: int | None = None,
    ) -> tuple[list[Stored], int | None]:
        """Return a page of documents, and the `after` of the next page, or None on the last page.

        n       maximum number of documents
        after   the second value that the previous page returned [default: the first page]
        newest  newest first [default: in the order in which they were added or last updated]
        until   leave out documents added or updated after this place: pass `last_place`, read
                before the first page

        Documents added or removed between two pages do not shift the others. An updated document
        moves behind all others, so without `until` it may come twice. With `until` no id comes
        twice and no unchanged document is missed; an updated or removed document comes only if its
        page was read before the change.
        """
        limit = check_int("n", n, 1, MAX_COUNT)
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
            # One more row tells whether there is another page.
            rows = [*store.scan(first, last, limit + 1, newest=newest)]
            documents = [self._as_stored(row) for row in rows[:limit]]
        return documents, rows[limit - 1].key if len(rows) > limit else None

    @property
    def last_place(self) -> int:
        """The highest place assigned so far, for `page`; documents added or updated later get
        higher places."""
        with self._session.current() as (view, _):
            return view.counts.next_key - 1

    def _scan(self, *, with_text: bool) -> Iterator[StoredRow]:
        self._session.check_open()
        rows = self._rows(with_text=with_text)
        # Begin the read transaction now, not when the first row is requested.
        next(rows)
        return cast("Iterator[StoredRow]", rows)

    def _rows(self, *, with_text: bool) -> Iterator[StoredRow | None]:
        """Yield None when the read transaction has begun, then the rows."""
        # A connection of its own: a long iteration blocks no other call and sees no changes.
        store, process = Store(self.path, read_only=True), os.getpid()
        try:
            with store.snapshot():
                last = store.counts().next_key - 1
                yield None
                for row in store.scan(1, last, with_text=with_text):
                    self._session.check_open()
                    yield row
        finally:
            if os.getpid() == process:
                # Not store.close(), which imports sqlite3: the interpreter may be shutting down.
                store.connection.close()

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write all documents to a file; return their number.

        The ending decides the format: .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet. The
        columns are id, text, metadata, and the fingerprint in hexadecimal digits; metadata is an
        object in JSON lines and a string of JSON elsewhere. `add` takes these records back.
        """
        return export_documents(
            self.documents(), Path(path), self.recipe.bits, texts=self.stores_text
        )

    def stats(self) -> Stats:
        """Return the number of documents, settings and sizes on disk."""
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
                segments=len(view.segments),
                segment_entries=sum(len(part.codes) for part in view.segments),
                tail=len(view.tail.codes),
                removed=self._session.segments.removed,
                database_bytes=sum(
                    file.stat().st_size for file in self.path.glob(f"{DATABASE}*") if file.exists()
                ),
                segment_bytes=sum(part.row.bytes for part in view.segments),
                search=settings.search,
                runs=settings.runs,
                postings_bytes=self._postings.bytes,
            )

    @property
    def moment(self) -> tuple[int, int]:
        """The identity of the collection and a counter of changes. If both are equal, the documents
        are the same."""
        with self._session.current() as (view, _):
            return self._identity, view.counts.next_key + view.counts.next_removal

    def verify(self) -> list[str]:
        """Read and check everything; return a sentence for each problem, or an empty list.

        `compact` repairs segments and postings. It cannot repair the database: restore a backup.
        """
        from neardup.collection.verification import find_problems

        self._session.check_open()
        store = Store(self.path, read_only=True)
        try:
            problems = find_problems(store, self.recipe, texts=self.stores_text)
            return problems + self._postings.problems(store)
        finally:
            store.close()


# Build the outcomes of a batch in which all documents are added, without a Python loop.
AS_OUTCOME = partial(tuple.__new__, Outcome)
ADDED = (repeat("added"), *(repeat(None) for _ in Outcome._fields[2:]))


# typed: True equals 1, but must be refused.
@lru_cache(maxsize=64, typed=True)
def _question(
    similarity: float | None,
    radius: int | None,
    recall: float | None,
    distinguish: str | Iterable[str] | None,
    bits: int,
) -> Question:
    """Return the checked question, cached because most calls have the same limits."""
    return check_question(similarity, radius, recall, bits=bits, distinguish=distinguish)


def _check_texts(texts: Any) -> list[str]:
    """Return texts as a list, missing ones as empty; raise TypeError if one is not a string."""
    from neardup._util.arrow import as_column, is_arrow

    column = as_column(texts)
    listed = column.to_pylist() if is_arrow(column) else column
    for at, text in enumerate(listed):
        if not isinstance(text, str | None):
            raise TypeError(f"texts[{at}] is of type {type(text).__name__}; it must be a str")
    return [text or "" for text in listed]


def _is_valid_id(name: str) -> bool:
    """Return whether an id can be stored, that is, encoded as UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
