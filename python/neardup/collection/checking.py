"""Texts → the documents of a collection that are near them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup._util.strings import check_unicode
from neardup.collection.corpus import Documents
from neardup.collection.precompute import Prepared, prepared
from neardup.collection.rows import digest_of
from neardup.collection.store import Store
from neardup.near.lookup import Queries, look_up, look_up_one
from neardup.near.match import Match
from neardup.near.question import Question

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.collection.view import View
    from neardup.text.recipe import Recipe


class CheckingOne:
    """A text that was made ready once, to be looked up as often as it takes."""

    def __init__(self, text: str, recipe: Recipe, question: Question, most: int | None) -> None:
        self.text = text
        self.recipe = recipe
        self.question = question
        self.most = most
        pipeline = recipe.pipeline
        made = None if question.similarity is None else pipeline.sketch(text)
        self.sketch = None if made is None else made[1]
        self.code = pipeline.fingerprint(text) if question.similarity is None else None

    def matches(self, view: View, store: Store) -> list[Match[str]]:
        """The documents near it."""
        most = self.most
        if self.sketch is not None:
            corpus = Documents(view, store)
            found = look_up_one(self.text, self.sketch, corpus, self.question, self.recipe, most)
            ids = store.ids([x.key for x in found if x.id is None])
            return [Match(x.id or ids[x.key], x.distance, x.similarity) for x in found]
        if self.code is None or self.question.radius is None:
            return _equals(store, self.text, most)
        pairs = view.within_one(self.code, self.question.radius, self.question.recall, most)
        ids = store.ids([key for _, key in pairs])
        return [Match(ids[key], distance, None) for distance, key in pairs]


class Checking:
    """Texts that were made ready once, to be looked up as often as it takes."""

    def __init__(
        self, texts: list[str], recipe: Recipe, question: Question, most: int | None
    ) -> None:
        self.texts = texts
        self.recipe = recipe
        self.question = question
        self.most = most
        self.made: Prepared = prepared(texts, recipe, sketches=question.similarity is not None)

    def matches(self, view: View, store: Store) -> pa.Table:
        """The documents near each text: query, id, distance, similarity."""
        import numpy as np
        import pyarrow as pa

        from neardup._util.arrow import numbers

        made, texts, most = self.made, self.texts, self.most
        coded = np.flatnonzero(made.signal)
        queries = Queries([texts[at] for at in coded.tolist()], *made.of(coded))
        found = look_up(queries, Documents(view, store), self.question, self.recipe, most)
        names = store.ids(np.unique(found.keys).tolist())
        ids = [names[key] for key in found.keys.tolist()]
        rows, distances, similarities = coded[found.queries], found.distances, found.similarities
        if similarities is None:
            similarities = np.full(len(ids), np.nan)
        equals = [
            (at, match.id)
            for at in np.flatnonzero(~made.signal).tolist()
            for match in _equals(store, texts[at], most)
        ]
        if equals:
            ids += [id_ for _, id_ in equals]
            rows = np.concatenate((rows, [at for at, _ in equals]))
            distances = np.concatenate((distances, np.full(len(equals), -1)))
            similarities = np.concatenate((similarities, np.ones(len(equals))))
            order = np.argsort(rows, kind="stable")
            ids = [ids[at] for at in order.tolist()]
            rows, distances, similarities = rows[order], distances[order], similarities[order]
        return pa.table(
            {
                "query": numbers(rows.astype(np.int64)),
                "id": pa.array(ids, pa.string()),
                "distance": numbers(distances.astype(np.int64), distances < 0),
                "similarity": numbers(similarities, np.isnan(similarities)),
            }
        )


def _equals(store: Store, text: str, most: int | None) -> list[Match[str]]:
    """A text without a signal is near its equals only."""
    digest = digest_of(text, check_unicode(text, "the text").encode())
    rows = [] if digest is None else store.by_digest(digest, most)
    return [Match(row.id, None, 1.0) for row in rows]
