"""The tables of a collection, and how those of an older format become those of today."""

from __future__ import annotations

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
