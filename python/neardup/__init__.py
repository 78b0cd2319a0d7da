"""neardup finds texts that are the same but for small changes."""

from typing import TYPE_CHECKING, Any

# These modules load neither NumPy nor Arrow: `neardup --help` has to start at once.
from neardup._core import CorruptIndexError, __version__
from neardup.clusters import clusters
from neardup.dedup import Deduplication, dedup
from neardup.explain import Explanation, explain
from neardup.features import Feature
from neardup.fingerprint import Fingerprints, distance, fingerprint, fingerprints
from neardup.frames import dedup_dataset, dedup_frame
from neardup.index import Index
from neardup.match import Match
from neardup.pairs import JoinPlan, pairs, pairs_plan
from neardup.recipe import Recipe
from neardup.similarity import Comparison, Passage, compare, similarity

if TYPE_CHECKING:
    from neardup.collection import (
        Collection,
        CollectionError,
        CorruptCollectionError,
        LockedCollectionError,
        Outcome,
        Stats,
        Stored,
    )

__all__ = [
    "Collection",
    "CollectionError",
    "Comparison",
    "CorruptCollectionError",
    "CorruptIndexError",
    "Deduplication",
    "Explanation",
    "Feature",
    "Fingerprints",
    "Index",
    "JoinPlan",
    "LockedCollectionError",
    "Match",
    "Outcome",
    "Passage",
    "Recipe",
    "Stats",
    "Stored",
    "__version__",
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
    "similarity",
]


def __getattr__(name: str) -> Any:
    """Collections are loaded on first use: they import SQLite, which most programs do not need."""
    if name not in __all__:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    import neardup.collection

    return getattr(neardup.collection, name)
