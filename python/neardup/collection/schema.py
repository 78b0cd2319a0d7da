"""What is in the tables of a collection: documents, counts, settings, segments."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from operator import add
from typing import NamedTuple
from zlib import crc32

from neardup import _core

# Shorter texts do not get smaller, and can be read in the database as they are.
LEAST_PACKED = 200
PACKING_LEVEL = 4


class DocumentCounts(NamedTuple):
    """Counters that every transaction updates. They tell readers what is new.

    next_key, next_removal  numbers never given before
    generation              grows when segments change
    """

    documents: int = 0
    without_signal: int = 0
    next_key: int = 1
    next_removal: int = 1
    generation: int = 0


class CollectionSettings(NamedTuple):
    """What is decided when a collection is made.

    identity  a random number: another collection in the same place has another
    search    whether postings of features are kept; it may be decided otherwise later
    runs      the same of runs
    """

    recipe: str
    recipe_toml: str
    texts: bool
    identity: int = 0
    search: bool = False
    runs: bool = False

    def as_dict(self) -> dict[str, object]:
        """What is stored of it: without what was not asked for, as collections had it before."""
        wanted = {"search": self.search, "runs": self.runs}
        return {name: value for name, value in self._asdict().items() if wanted.get(name, True)}


class StoredRow(NamedTuple):
    """A document as it is stored. `text` is itself, or packed, or None."""

    key: int
    id: str
    fingerprint: bytes | None
    checksum: int
    metadata: str | None
    text: str | bytes | None = None


class SegmentRow(NamedTuple):
    """Derived files: fingerprints and sketches of keys from `first` to `last`, as of when they were
    made. Sketches are there where texts are kept."""

    number: int
    first: int
    last: int
    entries: int
    size: int
    checksum: bytes
    sketch_size: int | None = None
    sketch_checksum: bytes | None = None

    @property
    def bytes(self) -> int:
        """On disk."""
        return self.size + (self.sketch_size or 0)


def digest_of(text: str, data: bytes) -> bytes | None:
    """The digest that finds equal texts without a signal. None if there is no letter or digit."""
    return hashlib.blake2b(data, digest_size=16).digest() if _core.says_something(text) else None


def packed(text: str, data: bytes) -> str | bytes:
    """A text of LEAST_PACKED bytes or more as it is stored, never longer than it is."""
    small = zlib.compress(data, PACKING_LEVEL)
    return small if len(small) < len(data) else text


def unpacked(text: str | bytes | None) -> str | None:
    return zlib.decompress(text).decode() if isinstance(text, bytes) else text


def checksum(key: int, id_: bytes, fingerprint: bytes | None, metadata: str | None) -> int:
    """Of a row: all but the text."""
    parts = id_ if fingerprint is None else id_ + fingerprint
    return crc32(parts if metadata is None else parts + metadata.encode(), key)


def checksums(
    keys: Sequence[int],
    ids: Sequence[bytes],
    fingerprints: Sequence[bytes | None],
    metadata: Sequence[str | None],
    texts: Sequence[bytes] | None,
) -> list[int]:
    """Of many rows, without a step of Python for each: low half all but the text, high half the
    text, so that either can be read alone."""
    import numpy as np

    codes = [code or b"" for code in fingerprints] if None in fingerprints else fingerprints
    parts = map(add, ids, codes)
    if any(metadata):
        parts = map(add, parts, ((extra or "").encode() for extra in metadata))
    low = np.fromiter(map(crc32, parts, keys), dtype=np.int64, count=len(keys))
    if texts is not None:
        high = np.fromiter(map(crc32, texts), dtype=np.int64, count=len(keys))
        low |= (high & 0x7FFFFFFF) << 32
    found: list[int] = low.tolist()
    return found


# The tables of a collection, and how those of an older format become those of today.

# In the header of the file, for `file` and for us: "nrdp".
APPLICATION = 0x6E726470
# 1: no sketches. 2: sketches in segments, and those of the documents after the last one.
FORMAT, OLDEST = 2, 1

SKETCHES = """
CREATE TABLE sketches (
    first INTEGER PRIMARY KEY,
    rows BLOB NOT NULL,
    checksum INTEGER NOT NULL
)
"""

SCHEMA = f"""
CREATE TABLE documents (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    fingerprint BLOB,
    checksum INTEGER NOT NULL,
    metadata TEXT,
    text
);
CREATE TABLE digests (
    key INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX digests_by_digest ON digests (digest);
{SKETCHES};
CREATE TABLE removed (number INTEGER PRIMARY KEY, key INTEGER NOT NULL);
CREATE TABLE segments (
    number INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    sketch_size INTEGER,
    sketch_checksum BLOB
);
CREATE TABLE counts (
    documents INTEGER NOT NULL,
    without_signal INTEGER NOT NULL,
    next_key INTEGER NOT NULL,
    next_removal INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE settings (value TEXT NOT NULL, checksum INTEGER NOT NULL);
"""

# From format 1: segments have no sketches until they are written anew.
UPGRADE = (
    SKETCHES,
    "ALTER TABLE segments ADD COLUMN sketch_size INTEGER",
    "ALTER TABLE segments ADD COLUMN sketch_checksum BLOB",
)
