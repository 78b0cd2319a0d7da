"""Texts → the documents of a collection that are near them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.collection.matching import digest_of, near
from neardup.collection.results import Near
from neardup.collection.segments import Segments
from neardup.collection.store import Store
from neardup.threshold import Threshold
from neardup.unicode import check_unicode

if TYPE_CHECKING:
    import pyarrow as pa


def check_one(segments: Segments, text: str, wanted: Threshold, most: int | None) -> list[Near]:
    """The documents near a text."""
    import numpy as np

    code = segments.recipe.pipeline.fingerprint(text)
    if code is None:
        return _equals(segments.store, text, most)
    values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
    if wanted.similarity is None:
        pairs = segments.search_one(values, wanted, most)
        ids = segments.store.ids([key for _, key in pairs]) if pairs else {}
        return [Near(ids[key], distance, None) for distance, key in pairs]
    found = near(values, [text], segments, wanted, most)
    keys = found.keys.tolist()
    ids = segments.store.ids(keys) if keys else {}
    assert found.similarities is not None  # noqa: S101
    return [
        Near(ids[key], distance, similarity)
        for key, distance, similarity in zip(
            keys, found.distances.tolist(), found.similarities.tolist(), strict=True
        )
    ]


def check_many(
    segments: Segments, texts: list[str], wanted: Threshold, most: int | None
) -> pa.Table:
    """The documents near each of many: query, id, distance, similarity."""
    import numpy as np
    import pyarrow as pa

    from neardup.columns import numbers

    values, signal = segments.recipe.pipeline.fingerprints(texts, None, None)
    coded = np.flatnonzero(signal)
    found = near(
        np.ascontiguousarray(values[coded]),
        [texts[at] for at in coded.tolist()],
        segments,
        wanted,
        most,
    )
    names = segments.store.ids(np.unique(found.keys).tolist())
    ids = [names[key] for key in found.keys.tolist()]
    queries, distances = coded[found.queries], found.distances
    similarities = np.full(len(ids), np.nan) if found.similarities is None else found.similarities
    equals = [
        (at, match.id)
        for at in np.flatnonzero(~signal).tolist()
        for match in _equals(segments.store, texts[at], most)
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


def _equals(store: Store, text: str, most: int | None) -> list[Near]:
    """A text without a signal is near its equals only."""
    digest = digest_of(text, check_unicode(text, "the text").encode())
    rows = [] if digest is None else store.by_digest(digest, most)
    return [Near(row.id, None, 1.0) for row in rows]
