"""The durable index: documents under ids in a folder, checked and searched while others write.

`Collection` is the public class. SQLite (WAL mode) holds the truth; everything else is derived from
it and can be rebuilt.

    documents   parse what callers pass, compute fingerprints and sketches, export to a file
    lookup      check, search, and the verdict of add(unless_duplicate=True)
    session     one opening: the one writer, a pool of readers, the current snapshot
    snapshot    the indexes at one moment, searched by any number of threads
    segments    fingerprints and sketches in mapped files, and a tail in memory
    sketches    sketches of the newest documents, and from texts
    postings    terms of documents, for ranking by cosine and for shared passages
    store       the SQLite database: rows with checksums, transactions (schema: its tables,
                connection: how it is opened)
    opening     creates the folder, checks it, locks it
    verification  compares all derived files with the database

A document that is added is prepared (`documents`), judged if wanted (`lookup`), committed
(`session`, `store`), and then added to the indexes in memory (`segments`); a full tail becomes a
file. A text that is checked is looked up in a `Snapshot`; its candidates are verified with the
stored texts by `neardup.near`.

The package does not read or write other files (except `export`), does not decide what is near
(`neardup.near` does), and has no server (`neardup.service`).
"""

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
    "documents",
    "errors",
]
