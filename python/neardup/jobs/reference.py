"""The reference of a job: files and collections that the inputs are compared with.

A collection of the same recipe looks texts up itself; one of another recipe is read like a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import array_values, number_array, string_column
from neardup.files.reading import inputs
from neardup.files.reading.batch import Document, Note, group_documents, make_batch
from neardup.near.corpus import Judge, judging_corpus
from neardup.near.matches import Clusters
from neardup.text.views import view_prose

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.collection import Collection, Stored
    from neardup.files.reading.batch import Batch, Reading
    from neardup.jobs.options import Progress
    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Matches
    from neardup.near.question import Question
    from neardup.text.recipe import Recipe
    from neardup.text.views import Viewing

# `Recipe.tokens` of recipes for HTTP responses.
HTTP = "http"
PARQUET = ".parquet"
# Texts looked up at a time.
BATCH_ROWS = 1 << 12
# Inputs this many times shorter than the reference cannot be near it, even if they are part of it.
FAR_LONGER = 4
# Documents of a collection whose lengths are compared with the inputs.
MEASURED_DOCUMENTS = 1000


def expand(
    names: Sequence[str], reading: Reading, recipe: Recipe, note: Note
) -> tuple[list[str], list[str]]:
    """Return what is read (files, collections of another recipe), and collections to ask."""
    against: dict[str, None] = {}
    collections: dict[str, None] = {}
    for name in names:
        path = name.rstrip("/")
        if not inputs.is_collection(name):
            against |= dict.fromkeys(inputs.expand([name], reading, note))
        elif _can_be_asked(path, recipe):
            collections[path] = None
        else:
            against[path] = None
    for path in against:
        check_sketches(path, recipe)
    return list(against), list(collections)


def open_collection(path: str) -> Collection:
    from neardup.collection import Collection

    return Collection.open(path, read_only=True)


def _can_be_asked(path: str, recipe: Recipe) -> bool:
    """Return whether a collection has this recipe; raise ValueError if its texts cannot be read."""
    with open_collection(path) as collection:
        if not collection.stores_text:
            raise ValueError(
                f"{path}: stores no texts, which a job has to read; look its documents up "
                f"by radius instead: neardup index check {path} INPUT --radius K"
            )
        own = collection.recipe
    check_kind(path, own, of_responses=recipe.tokens == HTTP)
    # Texts can be fingerprinted by any recipe; of a response only the stored views are left.
    if own.tokens == HTTP and (difference := _difference(own.viewing(), recipe.viewing())):
        raise ValueError(
            f"{path}: has other views of responses than this job compares: {difference}; "
            "use the recipe and the masks of the collection, or name the captures it was made of"
        )
    return own.identity == recipe.identity


def check_sketches(path: str, recipe: Recipe) -> None:
    """Raise ValueError if a table of sketches has another recipe, or no texts to verify pairs.

    `neardup.engines.spark.sketches` makes such tables; other files pass.
    """
    if not path.endswith(PARQUET) or not os.path.isfile(path):
        return
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from neardup.engines.spark.answers import SKETCH_COLUMNS

    try:
        names = pq.read_schema(path).names
        if not set(names) >= set(SKETCH_COLUMNS):
            return
        made = pc.unique(pq.read_table(path, columns=["recipe"], read_dictionary=["recipe"])[0])
    except (OSError, pa.ArrowException):
        return  # reported when it is read
    others = sorted(str(each) for each in set(made.to_pylist()) - {recipe.identity})
    if others:
        raise ValueError(
            f"{path}: sketches of another recipe: {others[0]}; this job has {recipe.identity}; "
            "use the recipe of the sketches (of neardup2 one with version = 2, such as default-2), "
            "or make them again"
        )
    if "text" not in names:
        raise ValueError(
            f"{path}: sketches without texts, which a job has to compare; make them with "
            "sketches(df, texts=True), or name the documents themselves"
        )


def check_kind(path: str, own: Recipe, *, of_responses: bool) -> None:
    """Raise ValueError if one side has HTTP responses and the other texts.

    own           recipe of the collection
    of_responses  whether the inputs are captures
    """
    if of_responses and own.tokens != HTTP:
        raise ValueError(
            f"{path}: a collection of texts ({own.identity}), and the inputs are captures of HTTP "
            "responses; name a collection of responses (neardup index create NAME.neardup --as "
            "http), or captures"
        )
    if own.tokens == HTTP and not of_responses:
        raise ValueError(
            f"{path}: a collection of HTTP responses, and the inputs are texts; name a "
            "collection of texts, or add --as http if the inputs are captures"
        )


def check_prose(path: str, viewing: Viewing | None) -> None:
    """Raise ValueError if passages of the inputs cannot be found in a collection.

    viewing  views of the inputs; None if they are texts
    """
    with open_collection(path) as collection:
        if not collection.stores_text:
            raise ValueError(
                f"{path}: stores no texts, so passages cannot be found in it; name the "
                "files it was made of, or a collection made without --no-text"
            )
        own = collection.recipe
    check_kind(path, own, of_responses=viewing is not None)
    if viewing is None:
        return
    theirs = own.viewing()
    # Views of tags and headers may differ: a check compares only the text.
    if "text" not in theirs.views:
        raise ValueError(
            f"{path}: a collection of responses without their texts: it has "
            f"{', '.join(theirs.views)}; name one made with --recipe http or http-text, or the "
            "captures it was made of"
        )
    if difference := _difference(theirs._replace(views=viewing.views), viewing):
        raise ValueError(
            f"{path}: a collection of responses with other masks: {difference}; use the "
            "--no-mask of the collection, or name the captures it was made of"
        )


def _difference(theirs: Viewing, ours: Viewing) -> str:
    """Describe how the views and masks of a collection differ from those of the inputs."""
    found = []
    pairs = {"views": (theirs.views, ours.views), "masks": (theirs.masks, ours.masks)}
    for name, (left, right) in pairs.items():
        if more := [each for each in left if each not in right]:
            found.append(f"only it has the {name} {', '.join(more)}")
        if fewer := [each for each in right if each not in left]:
            found.append(f"it lacks the {name} {', '.join(fewer)}")
    return "; ".join(found)


class CollectionDocument(NamedTuple):
    """A document of a collection that is the nearest of some row."""

    collection: str
    id: str
    text: str


def nearest(
    collections: Sequence[str], corpus: SpooledCorpus, matches: Matches, progress: Progress | None
) -> Clusters:
    """Return for each row of the inputs the nearest row of the reference or document."""
    import numpy as np

    near = matches.nearest(corpus.reference or corpus.rows)
    labels = np.where(near.match < 0, np.arange(len(near.match)), near.match)
    for row, copied in corpus.reference_copies(matches.twins):
        # Of all rows with its words, a copy is told with its original.
        if labels[row] != row:
            labels[row] = copied
    found = Clusters(labels, near.similarity, near.distance)
    if collections:
        matches.plan["collections"] = len(collections)
        if progress is not None:
            rows = (corpus.rows - corpus.reference) * len(collections)
            progress.stage("comparing with collections", rows, "records")
    for path in collections:
        found = _nearest_document(path, corpus, matches.question, found, progress)
    matches.counts.pairs += int((found.labels[: corpus.rows] >= corpus.rows).sum())
    return found


def document_differences(removed: pa.Table, corpus: SpooledCorpus) -> pa.Table:
    """Compare rows whose nearest is a document of a collection with its text; return the table with
    what differs and what is lost there. See `removed_rows`."""
    import numpy as np
    import pyarrow as pa

    rows, kept = (array_values(removed.column(name)) for name in ("row", "dup_of"))
    outside, found = kept >= corpus.rows, []
    for start in range(0, np.count_nonzero(outside), BATCH_ROWS):
        part = np.flatnonzero(outside)[start : start + BATCH_ROWS]
        texts = [corpus.text_of(row) for row in (*kept[part].tolist(), *rows[part].tolist())]
        signal = np.ones(len(texts), dtype=bool)
        judge = Judge(judging_corpus(string_column(texts), corpus.recipe, signal))
        found.append(judge.differences(*np.split(np.arange(len(texts)), 2)))
    places = np.arange(len(rows))
    places[outside] = len(rows) + np.arange(np.count_nonzero(outside))
    for name, parts in zip(("differs", "lost"), zip(*found, strict=True), strict=False):
        both = pa.chunked_array([*removed.column(name).chunks, *parts])
        at = removed.column_names.index(name)
        removed = removed.set_column(at, name, both.take(number_array(places)))
    return removed


def _nearest_document(
    path: str,
    corpus: SpooledCorpus,
    question: Question,
    found: Clusters,
    progress: Progress | None,
) -> Clusters:
    """Replace the nearest of each row by a document of a collection, where that is nearer.

    Documents are numbered after the rows; see `SpooledCorpus.outside`.
    """
    import numpy as np

    labels, similarity, distance = (
        np.array(x) for x in (found.labels, found.similarity, found.distance)
    )
    numbers: dict[str, int] = {}
    with open_collection(path) as collection:
        for start in range(corpus.reference, corpus.rows, BATCH_ROWS):
            rows = range(start, min(start + BATCH_ROWS, corpus.rows))
            texts = [corpus.texts.get(row) for row in rows]
            table = collection.check(
                texts,
                question.similarity,
                radius=question.radius,
                recall=question.recall,
                n=1,
                distinguish=question.distinguish,
            )
            for match in table.to_pylist():
                row = rows[match["query"]]
                bits, cosine = match["distance"] or 0, match["similarity"]
                if labels[row] != row and not _is_nearer(
                    (cosine, bits), (similarity[row], distance[row]), question
                ):
                    continue
                name = match["id"]
                if name not in numbers:
                    stored = collection.get(name)
                    text = (stored and stored.text) or ""
                    numbers[name] = corpus.rows + len(corpus.outside)
                    corpus.outside.append(CollectionDocument(path, name, text))
                if cosine is None:
                    text = corpus.outside[numbers[name] - corpus.rows].text
                    ((cosine,), _) = corpus.recipe.pipeline.judge_one(texts[match["query"]], [text])
                labels[row], similarity[row], distance[row] = numbers[name], cosine, bits
            if progress is not None:
                progress.advance(len(texts))
    more = corpus.rows + len(corpus.outside) - len(labels)
    return Clusters(
        np.concatenate((labels, np.arange(len(labels), len(labels) + more))),
        np.concatenate((similarity, np.full(more, np.nan))),
        np.concatenate((distance, np.zeros(more, dtype=np.int64))),
    )


def _is_nearer(new: tuple[float | None, int], old: tuple[float, int], question: Question) -> bool:
    if question.similarity is None:
        return new[1] < old[1]
    return (-(new[0] or 0.0), new[1]) < (-old[0], old[1])


def batches(path: str) -> Iterator[Batch]:
    """Read all documents of a collection, as of now."""
    import numpy as np

    with open_collection(path) as collection:
        documents = (Document(found.id, found.text or "") for found in collection.documents())
        for some in group_documents(documents):
            # They have no position in a file.
            nowhere = np.zeros((len(some), 2), dtype=np.int64)
            yield make_batch(
                [x.id for x in some], [x.text for x in some], nowhere, nowhere[:, 0], None
            )


def stamp(path: str) -> tuple[int, int]:
    """Return a value that changes when the documents of a collection change."""
    with open_collection(path) as collection:
        return collection.moment


def size(path: str) -> int:
    with open_collection(path) as collection:
        return len(collection)


def compare_lengths(collections: Sequence[str], corpus: SpooledCorpus) -> tuple[int, int] | None:
    """Return the median lengths of inputs and reference in bytes, if inputs are far shorter; None
    otherwise."""
    import numpy as np

    known, inputs = np.split(np.where(corpus.signal, corpus.lengths, 0), [corpus.reference])
    others = [known]
    for path in collections:
        with open_collection(path) as collection:
            some = islice(collection.documents(), MEASURED_DOCUMENTS)
            others.append(np.array([len((found.text or "").encode()) for found in some]))
    # Texts too short for a fingerprint are near none, whatever they are compared with.
    ours, theirs = (each[each > 0] for each in (inputs, np.concatenate(others)))
    if not len(ours) or not len(theirs):
        return None
    short, long = int(np.median(ours)), int(np.median(theirs))
    return (short, long) if short * FAR_LONGER <= long else None


class SourceCollection:
    """A collection as `check_copying` uses it, with authors from a column of its metadata."""

    def __init__(self, collection: Collection, author_column: str | None) -> None:
        self._collection = collection
        self._author_column = author_column
        self.runs_minimum = collection.runs_minimum
        self._has_responses = collection.recipe.tokens == HTTP

    def documents(self) -> Iterator[tuple[Any, ...]]:
        return map(self._document, self._collection.documents())

    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        return ((row, self._document(found)) for row, found in self._collection.sharing(runs))

    def _document(self, found: Stored) -> tuple[Any, ...]:
        text = found.text or ""
        if self._has_responses:
            text = view_prose(text)
        if self._author_column is None:
            return found.id, text
        return found.id, text, found.metadata.get(self._author_column)
