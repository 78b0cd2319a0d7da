"""Collection: the durable index. SQLite holds the truth, mapped segments beside it are derived."""

from neardup.collection.collection import Collection
from neardup.collection.errors import (
    CollectionError,
    CorruptCollectionError,
    LockedCollectionError,
)
from neardup.collection.results import Outcome, Stats, Stored

__all__ = [
    "Collection",
    "CollectionError",
    "CorruptCollectionError",
    "LockedCollectionError",
    "Outcome",
    "Stats",
    "Stored",
]
