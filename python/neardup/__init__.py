"""Find texts that are the same except for small changes.

    import neardup as nd

    nd.dedup(texts)             which texts to keep        nd.Collection  a durable index
    nd.compare(a, b)            similarity of two texts    nd.Index       fingerprints by id
    nd.search(query, texts)     the most similar texts     nd.Recipe      text → fingerprint
    nd.check_copying(texts)     which passages are copied  nd.Client      of the HTTP service

Layers, lowest first: `_util`; `text`; `near`, `copying`, `files`; `http`, `engines`, `collection`,
`reports`; `jobs`; `service`; `cli`, `compat`. Each imports only from lower ones; the docstring of
each package says more. `_core` is the Rust core, where every algorithm lives.
"""

import importlib
from typing import TYPE_CHECKING, Any

from neardup._util.lazy import FORK_LOCK

if TYPE_CHECKING:
    from neardup._core import CorruptIndexError, __version__
    from neardup.collection import (
        Collection,
        CollectionError,
        CorruptCollectionError,
        LockedCollectionError,
        Outcome,
        Stats,
        Stored,
    )
    from neardup.copying.check import check_copying
    from neardup.copying.findings import Copying, Figures, Finding, Ignored, Source
    from neardup.near.clusters import clusters
    from neardup.near.dedup import Deduplication, dedup
    from neardup.near.frames import dedup_dataset, dedup_frame
    from neardup.near.index import Index
    from neardup.near.lookup import Match
    from neardup.near.pairs import JoinPlan, pairs, pairs_plan
    from neardup.near.search import SearchIndex, search
    from neardup.near.templates import Template
    from neardup.service.client import AsyncClient, Client, ServiceError
    from neardup.text.comparison import Comparison, Passage, Shared, compare, shared, similarity
    from neardup.text.explain import Explanation, explain
    from neardup.text.features import Feature
    from neardup.text.fingerprint import Fingerprints, distance, fingerprint, fingerprints
    from neardup.text.recipe import Recipe

__all__ = [
    "AsyncClient",
    "Client",
    "Collection",
    "CollectionError",
    "Comparison",
    "Copying",
    "CorruptCollectionError",
    "CorruptIndexError",
    "Deduplication",
    "Explanation",
    "Feature",
    "Figures",
    "Finding",
    "Fingerprints",
    "Ignored",
    "Index",
    "JoinPlan",
    "LockedCollectionError",
    "Match",
    "Outcome",
    "Passage",
    "Recipe",
    "SearchIndex",
    "ServiceError",
    "Shared",
    "Source",
    "Stats",
    "Stored",
    "Template",
    "__version__",
    "check_copying",
    "clusters",
    "compare",
    "dedup",
    "dedup_dataset",
    "dedup_frame",
    "distance",
    "explain",
    "fingerprint",
    "fingerprints",
    "pairs",
    "pairs_plan",
    "search",
    "shared",
    "similarity",
]


# The module of each public name. It is imported when the name is first used, so that a command
# starts fast and loads only the modules it needs.
_MODULES = {
    "_core": "CorruptIndexError __version__",
    "collection": "Collection CollectionError CorruptCollectionError LockedCollectionError Outcome "
    "Stats Stored",
    "copying.check": "check_copying",
    "copying.findings": "Copying Figures Finding Ignored Source",
    "near.clusters": "clusters",
    "near.dedup": "Deduplication dedup",
    "near.frames": "dedup_dataset dedup_frame",
    "near.index": "Index",
    "near.lookup": "Match",
    "near.pairs": "JoinPlan pairs pairs_plan",
    "near.search": "SearchIndex search",
    "near.templates": "Template",
    "service.client": "AsyncClient Client ServiceError",
    "text.comparison": "Comparison Passage Shared compare shared similarity",
    "text.explain": "Explanation explain",
    "text.features": "Feature",
    "text.fingerprint": "Fingerprints distance fingerprint fingerprints",
    "text.recipe": "Recipe",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import the module of a public name when the name is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    with FORK_LOCK:
        value = getattr(importlib.import_module(f"neardup.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
