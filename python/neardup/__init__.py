"""neardup finds texts that are the same but for small changes."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from neardup.forks import UNFORKED

if TYPE_CHECKING:
    from neardup._core import CorruptIndexError, __version__
    from neardup.client import AsyncClient, Client, ServiceError
    from neardup.clusters import clusters
    from neardup.collection import (
        Collection,
        CollectionError,
        CorruptCollectionError,
        LockedCollectionError,
        Outcome,
        Stats,
        Stored,
    )
    from neardup.dedup import Deduplication, dedup
    from neardup.evidence.copying import check_copying
    from neardup.evidence.findings import Copying, Figures, Finding, Ignored, Source
    from neardup.explain import Explanation, explain
    from neardup.features import Feature
    from neardup.fingerprint import Fingerprints, distance, fingerprint, fingerprints
    from neardup.frames import dedup_dataset, dedup_frame
    from neardup.index import Index
    from neardup.match import Match
    from neardup.pairs import JoinPlan, pairs, pairs_plan
    from neardup.passages import Passage, Shared, shared
    from neardup.recipe import Recipe
    from neardup.search import SearchIndex, search
    from neardup.similarity import Comparison, compare, similarity

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


# Where each name is. A module is loaded when one of its names is first asked for, so that a command
# starts at once and does not load what it does not need.
_MODULES = {
    "_core": "CorruptIndexError __version__",
    "client": "AsyncClient Client ServiceError",
    "clusters": "clusters",
    "collection": "Collection CollectionError CorruptCollectionError LockedCollectionError Outcome "
    "Stats Stored",
    "dedup": "Deduplication dedup",
    "evidence.copying": "check_copying",
    "evidence.findings": "Copying Figures Finding Ignored Source",
    "explain": "Explanation explain",
    "features": "Feature",
    "fingerprint": "Fingerprints distance fingerprint fingerprints",
    "frames": "dedup_dataset dedup_frame",
    "index": "Index",
    "match": "Match",
    "pairs": "JoinPlan pairs pairs_plan",
    "passages": "Passage Shared shared",
    "recipe": "Recipe",
    "search": "SearchIndex search",
    "similarity": "Comparison compare similarity",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}


class _Package(ModuleType):
    """Some functions are called as the modules they are in: the package shows the functions."""

    def __getattr__(self, name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module 'neardup' has no attribute {name!r}")
        with UNFORKED:
            value = getattr(importlib.import_module(f"neardup.{_PLACES[name]}"), name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a module makes it an attribute of its package.
        if not (isinstance(value, ModuleType) and name in _PLACES):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_PLACES})


sys.modules[__name__].__class__ = _Package
