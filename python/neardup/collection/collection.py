"""Collection: the class that users see. It is long because it is the whole public surface of the
package; the work is done by the modules it calls."""

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
from neardup.collection.session import OpenCollection
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


MOST = 2**31


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
    [Match(id='a', distance=0, similarity=1.0)]
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, store: Store, *, read_only: bool) -> None:
        """Use `Collection.open`."""
        settings = store.settings()
        self.path = folder
        self.stores_text = settings.texts
        self._identity = settings.identity
        self.recipe = recorded_recipe(folder, settings)
        self._session = OpenCollection(
            folder, store, self.recipe, texts=self.stores_text, read_only=read_only
        )
        self._postings = CollectionPostings(folder, self.recipe, settings)
        # The last batch had updates: then it is faster to look ids up before inserting.
        self._updates = False

    def __reduce__(self) -> NoReturn:
        # Its lock, connections and mapped files belong to this process.
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
        durability  "full": what `add` stored survives a power failure; "normal": it survives the
                    end of the process, and a power failure may undo the last calls, each as a
                    whole. Nothing is ever half stored
        """
        given = Path(path)
        if durability not in ("full", "normal"):
            raise ValueError(f'durability is {durability!r}; it must be "full" or "normal"')
        kept = {"search": search, "runs": runs}
        for name, value in kept.items():
            if value is not None and not isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}; it must be True, False or None")
        check_folder(given, read_only=read_only)
        # The path stays valid if the working directory changes.
        folder = given.absolute()
        chosen = None if recipe is None else as_recipe(recipe)
        if not (folder / DATABASE).exists():
            texts = store_text is not False
            for name, value in kept.items():
                if value and not texts:
                    raise texts_missing(folder, f"{name} is True")
            wanted = {name: bool(value) for name, value in kept.items()}
            create_store(folder, chosen or as_recipe(None), texts=texts, **wanted)
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
                found._set_kept("search", search)
            if runs is not None and runs != found.keeps_runs:
                found._set_kept("runs", runs)
        except BaseException:
            # It may hold the writer's lock already.
            found.close()
            raise
        return found

    def _check_same(self, recipe: Recipe | None, store_text: bool | None) -> None:
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
        return self._postings.search.kept

    @property
    def keeps_runs(self) -> bool:
        """Whether the postings to find documents with a passage in common are stored in files."""
        return self._postings.runs.kept

    def _set_kept(self, name: PostingsName, kept: bool) -> None:
        with self._session.writing() as store:
            self._postings.set_kept(store, name, kept)

    def close(self) -> None:
        """Close the files, and let another process write. Calling it again does nothing."""
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

    # -------------------------------------------------------------------------------------- writing

    def add(
        self,
        documents: Any,
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
    ) -> list[Outcome]:
        """Store documents: all of them, or none if an error is raised. Return an `Outcome` for
        each.

        documents         (id, text) or (id, text, metadata); dicts with "id" and "text", whose
                          other values are metadata; an Arrow table with such columns; records that
                          `export` wrote. A known id gets the new text. An id that occurs twice is
                          an error
        unless_duplicate  leave out documents near a stored one, or near an earlier one of the
                          batch; if the id is known, its old text stays
        similarity, radius, recall   what counts as near, as in `check`

        When this returns, the documents are on disk.
        """
        if not unless_duplicate and not similarity is radius is recall is None:
            raise ValueError("similarity, radius and recall need unless_duplicate=True")
        given = parse_documents(documents)
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
                outcomes = self._session.retry_unready(
                    lambda view: decide_outcomes(batch, view, store, known, asked)
                )
                chosen = [at for at, x in enumerate(outcomes) if x.status != "duplicate"]
                replaced = [known[x.id] for x in outcomes if x.status == "updated"]
                if chosen:
                    self._put_known(batch, chosen, replaced)
                return outcomes
            every = range(len(batch))
            if not self._updates:
                try:
                    self._put(batch, every, [])
                    return [*map(AS_OUTCOME, zip(given.ids, *ADDED, strict=False))]
                except IdExistsError:
                    pass
            known = self._known(given.ids)
            self._updates = bool(known)
            self._put_known(batch, every, list(known.values()))
            return [Outcome(id_, "updated" if id_ in known else "added") for id_ in given.ids]

    def _known(self, ids: Sequence[str]) -> dict[str, StoredRow]:
        with translate_sqlite_errors(self.path):
            return self._session.store.by_ids(ids)

    def _put(
        self, batch: PreparedBatch, chosen: list[int] | range, replaced: list[StoredRow]
    ) -> None:
        first = self._session.segments.counts.next_key
        self._session.change(
            batch.rows(chosen, first, self._session.readers.yield_turn),
            batch.digests_of(chosen, first),
            replaced,
            batch.coded(chosen, first),
            batch.sketches(chosen),
        )
        self._postings.tidy(self._session.store)

    def _put_known(
        self, batch: PreparedBatch, chosen: list[int] | range, replaced: list[StoredRow]
    ) -> None:
        """Call `_put` after all ids were looked up."""
        try:
            self._put(batch, chosen, replaced)
        except IdExistsError as error:
            raise corrupt(self.path, "an id or key exists that a look-up did not find") from error

    def remove(self, ids: str | Iterable[str]) -> int:
        """Remove documents in one transaction; return how many there were."""
        names = [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"an id is {name!r}; it must be a str")
        with self._session.writing() as store:
            self._postings.claim(store)
            known = self._known([name for name in names if _is_text(name)])
            if not known:
                return 0
            self._session.change([], [], list(known.values()))
            return len(known)

    def compact(self) -> None:
        """Rewrite all derived files from the database, in one segment, and free unused space.

        Readers continue meanwhile. It needs as much free disk space as the collection takes, and
        as much again in SQLite's folder for temporary files.
        """
        with self._session.writing() as store:
            self._postings.claim(store)
            self._session.segments.write(store, whole=True)
            self._postings.tidy(store, whole=True)
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
        """Return the documents near a text, or near each of many, the best first.

        similarity  the least cosine of a near document [default: 0.85]; every match is verified
                    with the stored text
        radius      instead of a similarity: the bits in which fingerprints may differ; matches are
                    not verified
        recall      the share of documents at the threshold to find [default: 0.99]
        n           at most this many for each text

        One text gives a list of `Match`. Many give an Arrow table: query (the row of the text), id,
        distance, similarity. A text with too few words for a fingerprint is near only to equal
        texts, and a text without a letter or digit to none; such a match has no distance.
        """
        most = None if n is None else check_int("n", n, 1, MOST)
        asked = self.check_limits(similarity, radius=radius, recall=recall)
        self._session.check_open()
        if isinstance(texts, str):
            return self._session.ask(SingleCheck(texts, self.recipe, asked, most).matches)
        return self._session.ask(BatchCheck(_texts(texts), self.recipe, asked, most).matches)

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
                f"{self.path}: stores no texts, so similarity cannot be computed; "
                "give a radius in bits"
            )
        try:
            return _question(similarity, radius, recall, self.recipe.bits)
        except TypeError:
            # An unhashable argument cannot be cached; this names it.
            return check_question(similarity, radius, recall, bits=self.recipe.bits)

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

        By cosine, a collection opened with `search=True` has its postings in files. Any other reads
        all of its texts for the first search, and keeps the postings in memory until it is closed.
        """
        asked = check_ranking(n, by, idf, least)
        texts, one = check_queries(query, threads)
        if asked.by == "cosine" and not self.stores_text:
            raise texts_missing(self.path, 'by is "cosine"')
        self._session.check_open()
        postings = self._postings.search
        searching = RankedSearch(texts, self.recipe, asked, postings, one=one, threads=threads)
        return self._session.ask(searching.found)

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise if a recipe is not the collection's own."""
        self._check_same(recipe, None)

    @property
    def runs_minimum(self) -> tuple[int, int]:
        """The least words, and characters, of the passages that `sharing` finds."""
        return RunTerms().minimum

    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, Stored]]:
        """Yield the documents that share a passage with each of some texts, as (position of the
        text, document). `check_copying` calls this.

        runs  for each text the hashes of its runs of at least `runs_minimum`

        A collection opened with `runs=True` has its postings in files. Any other builds them from
        all texts when this is first called.
        """
        if not self.stores_text:
            raise CollectionError(
                f"{self.path}: stores no texts, so passages cannot be found in it; pass the texts "
                "themselves, or create a collection that stores them"
            )
        for place, hashes in enumerate(runs):
            for row in self._session.ask(partial(self._postings.sharing, hashes)):
                yield place, self._as_stored(row)

    def get(self, id: str) -> Stored | None:  # noqa: A002
        """Return the document with this id, or None."""
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
        return Stored(row.id, unpack_text(row.text), metadata, code)

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
        """Iterate over all ids as of now, in the order in which they were last added."""
        return (row.id for row in self._scan(whole=False))

    def documents(self) -> Iterator[Stored]:
        """Iterate over all documents as of now, in the order in which they were last added."""
        return (self._as_stored(row) for row in self._scan(whole=True))

    def page(
        self,
        n: int = 100,
        *,
        after: int | None = None,
        newest: bool = False,
        until: int | None = None,
    ) -> tuple[list[Stored], int | None]:
        """Return at most `n` documents, in the order in which they were last added, and the place
        after which the next page begins (pass it as `after`), or None on the last page.

        newest  the newest first
        until   leave out what was added or changed after this place: `last_place`, read before the
                first page

        Documents added or removed between two pages do not shift the others. A changed document
        gets a new place, behind all others, so without `until` it may come twice. With `until` no
        id comes twice and no unchanged document is missed; a changed or removed document comes
        only if its page was read before.
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
            # One more row tells whether there is another page.
            rows = [*store.scan(first, last, most + 1, newest=newest)]
            found = [self._as_stored(row) for row in rows[:most]]
        return found, rows[most - 1].key if len(rows) > most else None

    @property
    def last_place(self) -> int:
        """The highest place given so far, for `page`; documents added or changed later get a higher
        one."""
        with self._session.current() as (view, _):
            return view.counts.next_key - 1

    def _scan(self, *, whole: bool) -> Iterator[StoredRow]:
        self._session.check_open()
        rows = self._rows(whole=whole)
        # Begin the read transaction now, not when the first row is requested.
        next(rows)
        return cast("Iterator[StoredRow]", rows)

    def _rows(self, *, whole: bool) -> Iterator[StoredRow | None]:
        """Yield None when the read transaction has begun, then the rows."""
        # Its own connection: a long read blocks nobody and sees no changes.
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
                # Not store.close(), which imports: the interpreter may be shutting down.
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
        """Return the number of documents, and how they are stored."""
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
        """The identity of the collection and a count of its changes. While both are the same, so
        are the documents."""
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
            found = find_problems(store, self.recipe, texts=self.stores_text)
            return found + self._postings.problems(store)
        finally:
            store.close()


# Builds an Outcome from its values without running Python code, and the values after the id.
AS_OUTCOME = partial(tuple.__new__, Outcome)
ADDED = (repeat("added"), repeat(None), repeat(None), repeat(None))


# typed: True equals 1, but is not accepted as a number.
@lru_cache(maxsize=64, typed=True)
def _question(
    similarity: float | None, radius: int | None, recall: float | None, bits: int
) -> Question:
    """Return the question, cached because callers mostly repeat it."""
    return check_question(similarity, radius, recall, bits=bits)


def _texts(texts: Any) -> list[str]:
    from neardup._util.arrow import as_column, is_arrow

    column = as_column(texts)
    listed = column.to_pylist() if is_arrow(column) else column
    for at, text in enumerate(listed):
        if not isinstance(text, str | None):
            raise TypeError(f"texts[{at}] is of type {type(text).__name__}; it must be a str")
    # A missing text is near nothing, like an empty one.
    return [text or "" for text in listed]


def _is_text(name: str) -> bool:
    """Return whether an id could be stored: it must be valid Unicode."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
