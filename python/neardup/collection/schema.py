"""The schema of a collection's database: tables, types of their rows, checksums, compression of
texts."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from operator import add
from typing import NamedTuple
from zlib import crc32

from neardup import _core

# Shorter texts are not compressed: they would hardly shrink.
MIN_PACKED_BYTES = 200
ZLIB_LEVEL = 4


class DocumentCounts(NamedTuple):
    """Counters that every transaction updates. Readers compare them to find what is new.

    next_key, next_removal  the next numbers to assign; none is assigned twice
    generation              increases when the list of segments changes
    """

    documents: int = 0
    without_signal: int = 0
    next_key: int = 1
    next_removal: int = 1
    generation: int = 0


class CollectionSettings(NamedTuple):
    """The settings of a collection, fixed when it is created, except `search` and `runs`.

    recipe    identity of the recipe
    texts     whether texts are stored
    identity  a random number, which distinguishes collections created at the same path
    search    whether postings of features are stored in files
    runs      whether postings of runs are stored in files
    """

    recipe: str
    recipe_toml: str
    texts: bool
    identity: int = 0
    search: bool = False
    runs: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the settings to store; `search` and `runs` only if true: collections of older
        versions have neither."""
        optional = {"search": self.search, "runs": self.runs}
        return {name: value for name, value in self._asdict().items() if optional.get(name, True)}


class StoredRow(NamedTuple):
    """A row of `documents`. `text` is a str, compressed bytes, or None if texts are not stored."""

    key: int
    id: str
    fingerprint: bytes | None
    checksum: int
    metadata: str | None
    text: str | bytes | None = None


class SegmentRow(NamedTuple):
    """A row of `segments`: the files with the fingerprints, and sketches if texts are stored, of
    the keys from `first` to `last`.

    entries         number of fingerprints
    size, checksum  of the file of fingerprints, as `segments.file_stamp` returns them
    """

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
        """The size on disk."""
        return self.size + (self.sketch_size or 0)


def text_digest(text: str, data: bytes) -> bytes | None:
    """Return the digest under which a text without a signal is found; None if it has no letter or
    digit. `data` is the text in UTF-8."""
    return hashlib.blake2b(data, digest_size=16).digest() if _core.says_something(text) else None


def pack_text(text: str, data: bytes) -> str | bytes:
    """Return a text as it is stored: compressed if that is shorter. `data` is the text in UTF-8."""
    packed = zlib.compress(data, ZLIB_LEVEL)
    return packed if len(packed) < len(data) else text


def unpack_text(text: str | bytes | None) -> str | None:
    return zlib.decompress(text).decode() if isinstance(text, bytes) else text


def row_checksum(key: int, id_: bytes, fingerprint: bytes | None, metadata: str | None) -> int:
    """Return the checksum of a row without its text."""
    parts = id_ if fingerprint is None else id_ + fingerprint
    return crc32(parts if metadata is None else parts + metadata.encode(), key)


def row_checksums(
    keys: Sequence[int],
    ids: Sequence[bytes],
    fingerprints: Sequence[bytes | None],
    metadata: Sequence[str | None],
    texts: Sequence[bytes] | None,
) -> list[int]:
    """Return the checksums of many rows, without a Python loop.

    The low 32 bits are `row_checksum`, the high bits the checksum of the text, so that a row can be
    checked without reading its text.
    """
    import numpy as np

    codes = [code or b"" for code in fingerprints] if None in fingerprints else fingerprints
    parts = map(add, ids, codes)
    if any(metadata):
        parts = map(add, parts, ((extra or "").encode() for extra in metadata))
    low = np.fromiter(map(crc32, parts, keys), dtype=np.int64, count=len(keys))
    if texts is not None:
        high = np.fromiter(map(crc32, texts), dtype=np.int64, count=len(keys))
        low |= (high & 0x7FFFFFFF) << 32
    checksums: list[int] = low.tolist()
    return checksums


# "nrdp", in the header of the database file.
APPLICATION_ID = 0x6E726470
# Format 1 has no sketches. Format 2 has them in segments, and in a table for newer documents.
FORMAT, OLDEST_FORMAT = 2, 1

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

# Statements that upgrade format 1 to 2. Segments get sketches when they are next written.
UPGRADE = (
    SKETCHES,
    "ALTER TABLE segments ADD COLUMN sketch_size INTEGER",
    "ALTER TABLE segments ADD COLUMN sketch_checksum BLOB",
)
