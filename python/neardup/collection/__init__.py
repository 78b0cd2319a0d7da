"""A collection: a durable index of documents in a folder. One process writes; any number check and
search it meanwhile.

`Collection` is the public class. An SQLite database (WAL mode) is the source of truth; all other
files are derived from it and can be rebuilt.

    collection    the public class; calls all others
    results       the types that its methods return
    documents     parses documents, computes fingerprints and sketches, exports to a file
    lookup        check, search, and the decision of add(unless_duplicate=True)
    session       an open collection: the writer's lock, a pool of readers, the current snapshot
    snapshot      the indexes as one search sees them: segments and tail
    segments      builds the snapshots: fingerprints and sketches in mapped files, a tail in memory
    sketches      sketches from the database, or computed from the texts
    postings      terms → documents, for ranking by cosine and for shared passages
    store         reads and writes the database: rows with checksums, transactions
    schema        the tables and the types of their rows
    connection    opens the database
    opening       creates the folder, checks it, locks it
    verification  compares the derived files with the database
    errors        the errors, and the translation of SQLite's errors

Terms. A *key* is the number of a stored document: keys ascend and are never reused, and an update
gives a document a new key. A text *without a signal* has too few words for a fingerprint; it is
found by the digest of its text. The *tail* has the documents after the last segment.

`add` parses and prepares documents (`documents`), decides which are duplicates if asked to
(`lookup`), commits them (`session`, `store`), and then adds them to the tail (`segments`) and, if
they are in files, to the postings. `check` searches a `Snapshot` for candidates, which
`neardup.near` verifies with the stored texts.

The package reads and writes no other files (except `export`), does not decide which texts are near
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
