"""A collection as something to compare with: asked itself, or read as a file is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from neardup.files import reading as sources
from neardup.files.reading.batch import make
from neardup.near.matches import Clusters

if TYPE_CHECKING:
    from neardup.files.reading import Batch, Reading
    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.question import Question
    from neardup.text.recipe import Recipe
    from neardup.text.views import Viewing

# How a recipe for responses cuts.
HTTP = "http"
PARQUET = ".parquet"
# Texts looked up at a time.
ROWS = 1 << 12


def is_collection(path: str) -> bool:
    return path.rstrip("/").endswith(".neardup") and os.path.isdir(path)


def expand(names: Sequence[str], reading: Reading, note: sources.Note) -> list[str]:
    """As `sources.expand`, but a collection stays what it is."""
    found: list[str] = []
    for name in names:
        found += (
            [name.rstrip("/")] if is_collection(name) else sources.expand([name], reading, note)
        )
    return list(dict.fromkeys(found))


def can_be_asked(path: str, recipe: Recipe) -> bool:
    """Whether a collection can look texts up itself; of another recipe its documents are read."""
    from neardup import Collection

    with Collection.open(path, read_only=True) as collection:
        if not collection.stores_text:
            raise ValueError(
                f"{path}: keeps no texts, which a job has to read; look its documents up "
                f"by radius instead: neardup index check {path} INPUT --radius K"
            )
        own = collection.recipe
    check_kind(path, own, of_responses=recipe.tokens == HTTP)
    # Texts can be cut anew by any recipe; of responses only the views are left.
    if own.tokens == HTTP and (told := _difference(own.viewing(), recipe.viewing())):
        raise ValueError(
            f"{path}: is a collection of other views of responses than are compared here: {told}; "
            "use the recipe and the masks that it was made with, or name the captures it was "
            "made of"
        )
    return own.identity == recipe.identity


def check_sketches(path: str, recipe: Recipe) -> None:
    """Refuses a table of sketches, as `neardup.engines.spark.sketches` makes them, if it is of
    another recipe or has no texts to judge by. Any other file passes."""
    if not path.endswith(PARQUET) or not os.path.isfile(path):
        return
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from neardup.engines.spark.reference import OF_SKETCHES

    try:
        names = pq.read_schema(path).names
        if not set(names) >= set(OF_SKETCHES):
            return
        made = pc.unique(pq.read_table(path, columns=["recipe"], read_dictionary=["recipe"])[0])
    except (OSError, pa.ArrowException):
        return  # whoever reads it says what is wrong
    others = sorted(str(each) for each in set(made.to_pylist()) - {recipe.identity})
    if others:
        raise ValueError(
            f"{path}: are sketches made with another recipe: {others[0]}, and here it is "
            f"{recipe.identity}; ask with that recipe, or make the sketches anew"
        )
    if "text" not in names:
        raise ValueError(
            f"{path}: are sketches without texts, which a job has to compare; make them with "
            "sketches(df, texts=True), or name the documents themselves"
        )


def check_kind(path: str, own: Recipe, *, of_responses: bool) -> None:
    """Refuses to compare responses with a collection of texts, and texts with one of responses.

    own  the recipe of the collection
    """
    if of_responses and own.tokens != HTTP:
        raise ValueError(
            f"{path}: is a collection of texts, made with {own.identity}, and the inputs are "
            "captures of HTTP responses; name a collection of responses (neardup index create "
            "NAME.neardup --as http), or captures"
        )
    if own.tokens == HTTP and not of_responses:
        raise ValueError(
            f"{path}: is a collection of HTTP responses, and the inputs are texts; name a "
            "collection of texts, or add --as http if the inputs are captures"
        )


def check_prose(path: str, own: Recipe, viewing: Viewing | None) -> None:
    """Refuses a collection in which passages of the inputs cannot be found.

    viewing  what is made of the inputs; None if they are texts
    """
    check_kind(path, own, of_responses=viewing is not None)
    if viewing is None:
        return
    theirs = own.viewing()
    # Nobody copies tags or headers: they may differ.
    if "text" not in theirs.views:
        raise ValueError(
            f"{path}: is a collection of responses without their texts: it has "
            f"{', '.join(theirs.views)}; name one made with --recipe http or http-text, or the "
            "captures it was made of"
        )
    if told := _difference(theirs._replace(views=viewing.views), viewing):
        raise ValueError(
            f"{path}: is a collection of responses that are masked in another way: {told}; use "
            "the same --no-mask as for the collection, or name the captures it was made of"
        )


def _difference(theirs: Viewing, ours: Viewing) -> str:
    """In which views and masks a collection differs from the inputs; "" if in none."""
    told = []
    pairs = {"views": (theirs.views, ours.views), "masks": (theirs.masks, ours.masks)}
    for name, (left, right) in pairs.items():
        if more := [each for each in left if each not in right]:
            told.append(f"it alone has the {name} {', '.join(more)}")
        if fewer := [each for each in right if each not in left]:
            told.append(f"it lacks the {name} {', '.join(fewer)}")
    return "; ".join(told)


class Outside(NamedTuple):
    """A document of a collection that something is near to."""

    collection: str
    id: str
    text: str


def nearest(
    path: str,
    corpus: SpooledCorpus,
    asked: Question,
    found: Clusters,
    tick: Callable[[int], object],
) -> Clusters:
    """For each row the nearest document of a collection, where it is nearer than what was found.

    Documents get numbers after those of the rows; see `Corpus.outside`.
    """
    import numpy as np

    from neardup import Collection

    labels, similarity, distance = (
        np.array(x) for x in (found.labels, found.similarity, found.distance)
    )
    numbers: dict[str, int] = {}
    with Collection.open(path, read_only=True) as collection:
        for start in range(corpus.reference, len(corpus), ROWS):
            rows = range(start, min(start + ROWS, len(corpus)))
            texts = [corpus.texts.get(row) for row in rows]
            table = collection.check(
                texts, asked.similarity, radius=asked.radius, recall=asked.recall, n=1
            )
            for match in table.to_pylist():
                row = rows[match["query"]]
                apart, cosine = match["distance"] or 0, match["similarity"]
                if labels[row] != row and not _is_nearer(
                    (cosine, apart), (similarity[row], distance[row]), asked
                ):
                    continue
                name = match["id"]
                if name not in numbers:
                    stored = collection.get(name)
                    text = (stored and stored.text) or ""
                    numbers[name] = len(corpus) + len(corpus.outside)
                    corpus.outside.append(Outside(path, name, text))
                if cosine is None:
                    text = corpus.outside[numbers[name] - len(corpus)].text
                    cosine = collection.recipe.pipeline.similarity(texts[match["query"]], text)
                labels[row], similarity[row], distance[row] = numbers[name], cosine, apart
            tick(len(texts))
    more = len(corpus) + len(corpus.outside) - len(labels)
    return Clusters(
        np.concatenate((labels, np.arange(len(labels), len(labels) + more))),
        np.concatenate((similarity, np.full(more, np.nan))),
        np.concatenate((distance, np.zeros(more, dtype=np.int64))),
    )


def _is_nearer(new: tuple[float | None, int], old: tuple[float, int], asked: Question) -> bool:
    if asked.similarity is None:
        return new[1] < old[1]
    return (-(new[0] or 0.0), new[1]) < (-old[0], old[1])


def batches(path: str) -> Iterator[Batch]:
    """All documents of a collection as of this moment."""
    import numpy as np

    from neardup import Collection

    with Collection.open(path, read_only=True) as collection:
        documents = (
            sources.Document(found.id, found.text or "") for found in collection.documents()
        )
        for some in sources.batches(documents):
            # They lie in no file from which records are copied.
            nowhere = np.zeros((len(some), 2), dtype=np.int64)
            yield make([x.id for x in some], [x.text for x in some], nowhere, nowhere[:, 0], None)


def stamp(path: str) -> tuple[int, int]:
    """Other numbers whenever the documents of a collection have changed, or it is another one."""
    from neardup import Collection

    with Collection.open(path, read_only=True) as collection:
        return collection.moment


def size(path: str) -> int:
    """How many documents there are."""
    from neardup import Collection

    with Collection.open(path, read_only=True) as collection:
        return len(collection)
