"""Results of the API's operations, as values of `models`; pages call some of these functions too.

All functions block, so callers run them in a thread (`Service.run`), except the coroutine
`clusters`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from neardup._core import __version__
from neardup.collection import CollectionError, Stored
from neardup.near.dedup import dedup
from neardup.service import models
from neardup.service.errors import DocumentNotFoundError, HTTPProblem, TooManyDocumentsError
from neardup.service.state import Service
from neardup.text.comparison import DEFAULT_SIMILARITY, Comparison, own_tokens
from neardup.text.comparison import compare as compare_by_recipe
from neardup.text.differences import Aspect, Differences, check_distinguish
from neardup.text.explain import explain as explain_by_recipe
from neardup.text.fingerprint import fingerprint
from neardup.text.recipe import Recipe

# The response of `explain` is many times as long as the text.
MAX_EXPLAINED_CHARACTERS = 100_000
MAX_EXPLAINED_FEATURES = 20_000
# Sides of a comparison, as the API calls them.
SIDES: dict[str | None, Literal["a", "b"] | None] = {"left": "a", "right": "b", None: None}
# Questions for which the clusters are cached.
CACHED_CLUSTERINGS = 8
# The similarity of clusters, and the aspects in which their documents do not differ.
ClusterQuestion = tuple[float, tuple[Aspect, ...]]


class TextComparison(NamedTuple):
    """The comparison of two texts, with their fingerprints; None for a text without signal."""

    comparison: Comparison
    fingerprints: tuple[int | None, int | None]

    @property
    def hex_fingerprints(self) -> tuple[str | None, str | None]:
        left, right = (hex_fingerprint(x, self.comparison.recipe) for x in self.fingerprints)
        return left, right


class Clustering(NamedTuple):
    """`groups` are ids, the largest first; in a group the representative comes first."""

    documents: int
    groups: list[list[str]]


def check(
    service: Service,
    text: str,
    *,
    similarity: float | None = None,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = 100,
    distinguish: str | None = None,
) -> models.CheckedModel:
    """Return the documents near a text, the most similar first."""
    matches = service.collection.check(
        text, similarity, radius=radius, recall=recall, n=n, distinguish=distinguish
    )
    return models.CheckedModel(matches=[models.MatchModel(*match) for match in matches])


def check_many(
    service: Service,
    texts: Sequence[str],
    *,
    similarity: float | None = None,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = 100,
    distinguish: str | None = None,
) -> list[models.CheckedModel]:
    """Return the documents near each of many texts, in their order."""
    table = service.collection.check(
        texts, similarity, radius=radius, recall=recall, n=n, distinguish=distinguish
    )
    matches: list[list[models.MatchModel]] = [[] for _ in texts]
    # Through NumPy: Arrow's `to_pylist` would take a seventh of the time of a request.
    queries, ids, differs = (table[name].to_numpy().tolist() for name in ("query", "id", "differs"))
    numbers = {"distance": int, "similarity": float, "lost": int}
    distances, cosines, lost = (_numbers(table[name], kind) for name, kind in numbers.items())
    for query, *match in zip(queries, ids, distances, cosines, differs, lost, strict=True):
        matches[query].append(models.MatchModel(*match))
    return [models.CheckedModel(matches=each) for each in matches]


def compare(
    service: Service,
    a: str,
    b: str,
    *,
    similarity: float | None = None,
    radius: int | None = None,
) -> models.ComparedModel:
    """Compare two texts by the recipe of the collection."""
    result = compare_texts(service, a, b, similarity=similarity, radius=radius)
    comparison, (fingerprint_a, fingerprint_b) = result.comparison, result.hex_fingerprints
    return models.ComparedModel(
        distance=comparison.distance,
        similarity=comparison.similarity,
        verdict=comparison.verdict,
        container=SIDES[comparison.container],
        threshold=comparison.threshold,
        radius=comparison.radius,
        fingerprint_a=fingerprint_a,
        fingerprint_b=fingerprint_b,
        coverage_a=comparison.coverage_left,
        coverage_b=comparison.coverage_right,
        containment_a=comparison.containment_left,
        containment_b=comparison.containment_right,
        longest=comparison.longest,
        words_a=comparison.words_left,
        words_b=comparison.words_right,
        unit=comparison.unit,
        differences=_differences_model(comparison.differences),
        coarse=comparison.coarse,
        passages=[models.PassageModel(**vars(passage)) for passage in comparison.passages],
    )


def _differences_model(found: Differences) -> models.DifferencesModel:
    sides = {
        f"{name}_{side}": list(tokens)
        for name, both in own_tokens(found).items()
        for side, tokens in zip("ab", both, strict=True)
    }
    return models.DifferencesModel(aspects=list(found.aspects), order=found.order, **sides)


def compare_texts(
    service: Service,
    a: str,
    b: str,
    *,
    similarity: float | None = None,
    radius: int | None = None,
    deadline: float | None = None,
) -> TextComparison:
    """Compare two texts by the recipe of the collection; `deadline` is in seconds."""
    recipe = service.collection.recipe
    comparison = compare_by_recipe(
        a, b, recipe, similarity=similarity, radius=radius, deadline=deadline
    )
    return TextComparison(comparison, (fingerprint(a, recipe), fingerprint(b, recipe)))


def explain(service: Service, text: str, *, bits: int | None = None) -> models.ExplainedModel:
    """Return the features, weights and votes behind the fingerprint of a text."""
    if len(text) > MAX_EXPLAINED_CHARACTERS:
        raise HTTPProblem(
            413,
            f"the text has {len(text)} characters; "
            f"explain takes at most {MAX_EXPLAINED_CHARACTERS}",
        )
    explanation = explain_by_recipe(text, service.collection.recipe, bits=bits)
    if len(explanation.features) > MAX_EXPLAINED_FEATURES:
        # One character may normalize to many, each of them a feature.
        raise HTTPProblem(
            413,
            f"the text has {len(explanation.features)} features; "
            f"explain takes at most {MAX_EXPLAINED_FEATURES}; send a shorter text",
        )
    values = explanation.to_dict()
    values["features"] = [models.FeatureModel(**feature) for feature in values["features"]]
    return models.ExplainedModel(**values)


def search(
    service: Service, text: str, *, n: int = 6, by: Literal["cosine", "simhash"] = "cosine"
) -> models.FoundModel:
    """Return the documents most similar to a text."""
    table = service.collection.search(text, n, by)
    return models.FoundModel(
        results=[
            models.HitModel(id=row["id"], score=row["score"], distance=row["distance"])
            for row in table.to_pylist()
        ]
    )


def stats(service: Service) -> models.StatsModel:
    """Return the statistics of the collection."""
    stored = service.collection.stats()
    return models.StatsModel(
        name=service.collection.path.name,
        documents=stored.documents,
        without_signal=stored.without_signal,
        texts=stored.texts,
        recipe=stored.recipe,
        bits=stored.bits,
        database_bytes=stored.database_bytes,
        segment_bytes=stored.segment_bytes,
        postings_bytes=stored.postings_bytes,
        read_only=service.settings.read_only,
        demo=service.demo,
        version=__version__,
    )


def document(service: Service, id_: str) -> models.DocumentModel:
    """Return a document with its text; raise `DocumentNotFoundError`."""
    stored = service.collection.get(id_)
    if stored is None:
        raise DocumentNotFoundError(id_)
    return document_model(service, stored, text=True)


def documents(
    service: Service,
    *,
    limit: int = 100,
    after: str | None = None,
    newest: bool = False,
    texts: bool = False,
) -> models.PageModel:
    """Return a page of documents, in the order in which they were added.

    A cursor is `place` or `place-end`; `end` is the last place of the collection at the first page.
    An updated document moves behind `end`, so it does not come again.
    """
    collection = service.collection
    place, until = (None, collection.last_place) if after is None else _parse_cursor(after)
    stored, following = collection.page(limit, after=place, newest=newest, until=until)
    return models.PageModel(
        documents=[document_model(service, one, text=texts) for one in stored],
        next=None if following is None else _format_cursor(following, until),
    )


def _parse_cursor(after: str) -> tuple[int, int | None]:
    """Return the place after which a page begins, and the end of the list, if it has one."""
    place, _, until = after.partition("-")
    return int(place), int(until) if until else None


def _format_cursor(place: int, until: int | None) -> str:
    return str(place) if until is None else f"{place}-{until}"


def open_cursor(after: str) -> str:
    """Return a cursor without its end, so that the list includes later changes."""
    return after.partition("-")[0]


async def clusters(
    service: Service,
    *,
    similarity: float = DEFAULT_SIMILARITY,
    distinguish: str | None = None,
    limit: int = 20,
    members: int = 20,
) -> models.ClustersModel:
    """Return the largest clusters of the collection, cached until a document changes.

    One thread computes them, so that they do not delay other requests.
    """
    question = (similarity, check_distinguish(distinguish))
    clustering = await service.run(cached_clustering, service, question)
    if clustering is None:
        clustering = await service.clustering_pool.run(compute_clustering, service, question)
    return await service.run(_largest, clustering, similarity, limit, members)


def cached_clustering(service: Service, question: ClusterQuestion) -> Clustering | None:
    """Return the clusters of the current documents, if they are cached."""
    return service.clustering_cache.get((service.collection.moment, question))


def compute_clustering(service: Service, question: ClusterQuestion) -> Clustering:
    """Return the clusters of the current documents; runs in the thread of `clustering_pool`."""
    cache, key = service.clustering_cache, (service.collection.moment, question)
    clustering = cache.get(key)
    if clustering is None:
        clustering = _cluster_collection(service, *question)
        # Clusters of an older state of the collection are never requested again.
        for old in [other for other in cache if other[0] != key[0]]:
            del cache[old]
        while len(cache) >= CACHED_CLUSTERINGS:
            del cache[next(iter(cache))]
        cache[key] = clustering
    return clustering


def _cluster_collection(
    service: Service, similarity: float, distinguish: tuple[Aspect, ...]
) -> Clustering:
    collection, limit = service.collection, service.settings.max_clustered
    if not collection.stores_text:
        raise CollectionError(f"{collection.path}: stores no texts, so clusters cannot be verified")
    count = len(collection)
    if count > limit:
        raise TooManyDocumentsError(
            f"the collection has {count} documents; clusters are computed for at most {limit}; "
            "export it and run `neardup cluster`"
        )
    ids: list[str] = []
    texts: list[str] = []
    for one in collection.documents():
        ids.append(one.id)
        texts.append(one.text or "")
    found = dedup(texts, similarity, recipe=collection.recipe, threads=1, distinguish=distinguish)
    labels = found.clusters.tolist()
    groups: dict[int, list[str]] = {}
    for at, label in enumerate(labels):
        groups.setdefault(label, []).append(ids[at])
    return Clustering(len(ids), sorted((g for g in groups.values() if len(g) > 1), key=len)[::-1])


def _largest(
    clustering: Clustering, similarity: float, limit: int, members: int
) -> models.ClustersModel:
    return models.ClustersModel(
        similarity=similarity,
        documents=clustering.documents,
        total=len(clustering.groups),
        clusters=[
            models.ClusterModel(representative=group[0], size=len(group), members=group[:members])
            for group in clustering.groups[:limit]
        ],
    )


def document_model(service: Service, stored: Stored, *, text: bool) -> models.DocumentModel:
    return models.DocumentModel(
        id=stored.id,
        metadata=stored.metadata,
        fingerprint=hex_fingerprint(stored.fingerprint, service.collection.recipe),
        text=stored.text if text else None,
    )


def _numbers(column: Any, kind: type[Any]) -> list[Any]:
    """Return a column of numbers as a list with None for nulls, which NumPy converts to NaN."""
    values: list[Any] = column.to_numpy().tolist()
    if not column.null_count:
        return values
    return [None if value is None or value != value else kind(value) for value in values]


def hex_fingerprint(code: Any, recipe: Recipe) -> str | None:
    return None if code is None else f"{code:0{recipe.bits // 4}x}"
