"""Clusters of a whole collection, made once and kept until a document changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from neardup._core import __version__
from neardup.collection import CollectionError, Stored
from neardup.near.dedup import dedup
from neardup.service import models
from neardup.service.errors import Refusal, TooMany, UnknownDocument
from neardup.service.state import Service
from neardup.text.comparison import DEFAULT_SIMILARITY
from neardup.text.comparison import compare as compared
from neardup.text.explain import explain as explained
from neardup.text.fingerprint import fingerprint


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


# Answers of the service, for the API and the pages alike: plain functions that may block, but for
# `clusters`.

# A vote is to be looked at. The answer is many times as long as the text.
MOST_EXPLAINED = 100_000
MOST_FEATURES = 20_000


def check(
    service: Service,
    text: str,
    *,
    similarity: float | None = None,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = 100,
) -> models.Checked:
    """The documents near a text, the best first."""
    found = service.collection.check(text, similarity, radius=radius, recall=recall, n=n)
    return models.Checked(
        matches=[models.Match(id=x.id, distance=x.distance, similarity=x.similarity) for x in found]
    )


def check_many(
    service: Service,
    texts: Sequence[str],
    *,
    similarity: float | None = None,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = 100,
) -> list[models.Checked]:
    """The same for many texts, in their order."""
    table = service.collection.check(texts, similarity, radius=radius, recall=recall, n=n)
    found: list[list[models.Match]] = [[] for _ in texts]
    # By way of NumPy: Arrow makes Python values one by one, which takes a seventh of the time.
    queries, ids = (table[name].to_numpy().tolist() for name in ("query", "id"))
    distances, cosines = _numbers(table["distance"], int), _numbers(table["similarity"], float)
    for query, id_, distance, cosine in zip(queries, ids, distances, cosines, strict=True):
        found[query].append(models.Match(id=id_, distance=distance, similarity=cosine))
    return [models.Checked(matches=matches) for matches in found]


def compare(
    service: Service, a: str, b: str, *, similarity: float = DEFAULT_SIMILARITY
) -> models.Compared:
    """How alike two texts are, by the recipe of the collection."""
    recipe = service.collection.recipe
    found = compared(a, b, recipe, similarity=similarity)
    return models.Compared(
        distance=found.distance,
        similarity=found.similarity,
        verdict=found.verdict,
        threshold=found.threshold,
        fingerprint_a=_hex(fingerprint(a, recipe), recipe.bits),
        fingerprint_b=_hex(fingerprint(b, recipe), recipe.bits),
        coverage_a=found.coverage_left,
        coverage_b=found.coverage_right,
        containment_a=found.containment_left,
        containment_b=found.containment_right,
        longest=found.longest,
        coarse=found.coarse,
        passages=[models.Passage(**vars(passage)) for passage in found.passages],
    )


def explain(service: Service, text: str, *, bits: int | None = None) -> models.Explained:
    """The vote behind the fingerprint of a text."""
    if len(text) > MOST_EXPLAINED:
        raise Refusal(
            413, f"the text has {len(text)} characters; at most {MOST_EXPLAINED} are explained"
        )
    recipe = service.collection.recipe
    if bits is not None and bits != recipe.bits:
        recipe = recipe.replace(bits=bits)
    found = explained(text, recipe)
    if len(found.features) > MOST_FEATURES:
        # A character may become many, and each of them a feature.
        raise Refusal(
            413,
            f"the text has {len(found.features)} features; at most {MOST_FEATURES} are explained; "
            "send a shorter one",
        )
    values = found.to_dict()
    values["features"] = [models.Feature(**feature) for feature in values["features"]]
    return models.Explained(**values)


def search(
    service: Service, text: str, *, n: int = 6, by: Literal["cosine", "simhash"] = "cosine"
) -> models.Found:
    """The documents that resemble a text most."""
    table = service.collection.search(text, n, by)
    return models.Found(
        results=[
            models.Hit(id=row["id"], score=row["score"], distance=row["distance"])
            for row in table.to_pylist()
        ]
    )


def stats(service: Service) -> models.Stats:
    """Numbers of the collection."""
    found = service.collection.stats()
    return models.Stats(
        name=service.collection.path.name,
        documents=found.documents,
        without_signal=found.without_signal,
        texts=found.texts,
        recipe=found.recipe,
        bits=found.bits,
        database_bytes=found.database_bytes,
        segment_bytes=found.segment_bytes,
        postings_bytes=found.postings_bytes,
        read_only=service.settings.read_only,
        demo=service.demo,
        version=__version__,
    )


def document(service: Service, id_: str) -> models.Document:
    """One document with its text; raises `UnknownDocument`."""
    found = service.collection.get(id_)
    if found is None:
        raise UnknownDocument(id_)
    return as_document(service, found, text=True)


def documents(
    service: Service,
    *,
    limit: int = 100,
    after: str | None = None,
    newest: bool = False,
    texts: bool = False,
) -> models.Page:
    """A page of documents, in the order in which they were added.

    `next` names the last place there was before the first page: what is changed meanwhile has a
    place behind it, and would come again.
    """
    collection = service.collection
    place, until = (None, collection.last_place) if after is None else _places(after)
    found, following = collection.page(limit, after=place, newest=newest, until=until)
    return models.Page(
        documents=[as_document(service, one, text=texts) for one in found],
        next=None if following is None else _written(following, until),
    )


def _places(after: str) -> tuple[int, int | None]:
    """Where a page begins, and where the last one ends, if it does."""
    place, _, until = after.partition("-")
    return int(place), int(until) if until else None


def _written(place: int, until: int | None) -> str:
    return str(place) if until is None else f"{place}-{until}"


def open_ended(after: str) -> str:
    """The same beginning of a page, without an end."""
    return after.partition("-")[0]


async def clusters(
    service: Service,
    *,
    similarity: float = DEFAULT_SIMILARITY,
    limit: int = 20,
    members: int = 20,
) -> models.Clusters:
    """The largest clusters of the collection. They are kept until a document changes.

    They are made one at a time, by a thread of their own: who waits for them holds up nobody.
    """
    found = await service.run(kept, service, similarity)
    if found is None:
        found = await service.clustering.run(clustered, service, similarity)
    return await service.run(_largest, found, similarity, limit, members)


def _largest(found: Clustering, similarity: float, limit: int, members: int) -> models.Clusters:
    return models.Clusters(
        similarity=similarity,
        documents=found.documents,
        total=len(found.groups),
        clusters=[
            models.Cluster(representative=group[0], size=len(group), members=group[:members])
            for group in found.groups[:limit]
        ],
    )


def as_document(service: Service, found: Stored, *, text: bool) -> models.Document:
    return models.Document(
        id=found.id,
        metadata=found.metadata,
        fingerprint=_hex(found.fingerprint, service.collection.recipe.bits),
        text=found.text if text else None,
    )


def _numbers(column: Any, kind: type[Any]) -> list[Any]:
    """The values of a column of numbers; where there are nulls, NumPy has only floats."""
    values: list[Any] = column.to_numpy().tolist()
    if not column.null_count:
        return values
    return [None if value is None or value != value else kind(value) for value in values]


def _hex(code: Any, bits: int) -> str | None:
    return None if code is None else f"{code:0{bits // 4}x}"
