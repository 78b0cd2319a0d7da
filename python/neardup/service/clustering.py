"""Clusters of a whole collection, made once and kept until a document changes."""

from __future__ import annotations

from typing import NamedTuple

from neardup.collection import CollectionError
from neardup.near.dedup import dedup
from neardup.service.errors import TooMany
from neardup.service.state import Service


class Clustering(NamedTuple):
    """`groups` are ids, the largest first; in a group the representative comes first."""

    documents: int
    groups: list[list[str]]


def kept(service: Service, similarity: float) -> Clustering | None:
    """The clusters as of now, if they were made already."""
    return service.clusterings.get((service.collection.moment, similarity))


def clustered(service: Service, similarity: float) -> Clustering:
    """The clusters as of now. To be called by the one thread of `service.clustering`."""
    key = (service.collection.moment, similarity)
    found = service.clusterings.get(key)
    if found is None:
        found = _made(service, similarity)
        # Of one moment only: what is older is never asked for again.
        for old in [other for other in service.clusterings if other[0] != key[0]]:
            del service.clusterings[old]
        while len(service.clusterings) >= KEPT:
            del service.clusterings[next(iter(service.clusterings))]
        service.clusterings[key] = found
    return found


# Answers for so many similarities are kept.
KEPT = 8


def _made(service: Service, similarity: float) -> Clustering:
    collection, most = service.collection, service.settings.max_clustered
    if not collection.stores_text:
        raise CollectionError(
            f"{collection.path}: keeps no texts, so that clusters cannot be verified"
        )
    count = len(collection)
    if count > most:
        raise TooMany(
            f"the collection has {count} documents, and clusters are made of {most} at most; "
            "export it and use `neardup cluster`"
        )
    ids: list[str] = []
    texts: list[str] = []
    for one in collection.documents():
        ids.append(one.id)
        texts.append(one.text or "")
    labels = dedup(texts, similarity, recipe=collection.recipe, threads=1).clusters.tolist()
    groups: dict[int, list[str]] = {}
    for at, label in enumerate(labels):
        groups.setdefault(label, []).append(ids[at])
    return Clustering(len(ids), sorted((g for g in groups.values() if len(g) > 1), key=len)[::-1])
