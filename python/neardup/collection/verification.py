"""Verification of a collection: reads everything, and compares segments with the database. Postings
verify themselves (`Postings.problems`)."""

from __future__ import annotations

from zlib import crc32

from neardup import _core
from neardup.collection import segments, sketches
from neardup.collection.errors import CorruptCollectionError
from neardup.collection.schema import DocumentCounts, SegmentRow, text_digest, unpack_text
from neardup.collection.store import Store
from neardup.text.recipe import Recipe

# Problems listed for each file.
MAX_PROBLEMS = 10


def find_problems(store: Store, recipe: Recipe, *, texts: bool) -> list[str]:
    """Return a sentence for each problem of the database and the segments.

    texts  whether texts are stored, and so sketches
    """
    problems: list[str] = []
    of_segments: dict[SegmentRow, list[str]] = {}
    try:
        with store.snapshot():
            problems += [f"database: {what}" for what in store.problems()]
            counts = store.counts()
            problems += _check_rows(store, counts)
            removed = set(store.removed(0))
            last = 0
            for row in store.segments():
                if row.first != last + 1 or row.last >= counts.next_key:
                    problems.append(f"segment {row.number}: its range of keys is wrong")
                last = row.last
                of_segments[row] = _check_fingerprints(store, row, removed)
                if texts:
                    of_segments[row] += _check_sketches(store, row, recipe, removed)
            if texts:
                problems += _check_tail(store, recipe, last + 1, counts.next_key - 1)
        # Report only segments that a writer has not replaced meanwhile.
        with store.snapshot():
            for row in store.segments():
                problems += [f"segment {row.number}: {what}" for what in of_segments.get(row, [])]
    except CorruptCollectionError as error:
        problems.append(f"database: {error}")
    return problems


def _check_rows(store: Store, counts: DocumentCounts) -> list[str]:
    """Read all rows, which checks their checksums; compare them with the counts and digests."""
    documents = without_signal = 0
    digests = {key: crc32(digest, key) == checksum for key, digest, checksum in store.digests()}
    problems = [
        f"database: the checksum of the digest with key {x} does not match"
        for x in digests
        if not digests[x]
    ]
    for row in store.scan(1, counts.next_key - 1):
        documents += 1
        if row.fingerprint is None:
            without_signal += 1
            text = unpack_text(row.text)
            expected = row.key in digests if text is None else text_digest(text, text.encode())
            if (row.key in digests) != bool(expected):
                problems.append(
                    f"database: the digest of {row.id!r} is missing, or should not exist"
                )
            digests.pop(row.key, None)
    problems += [f"database: the digest with key {x} belongs to no document" for x in digests]
    if (documents, without_signal) != (counts.documents, counts.without_signal):
        problems.append(
            f"database: contains {documents:,} documents ({without_signal:,} without a signal), "
            f"expected {counts.documents:,} ({counts.without_signal:,})"
        )
    return problems


def _check_fingerprints(store: Store, row: SegmentRow, removed: set[int]) -> list[str]:
    """Compare the fingerprints of a segment with the database."""
    path = segments.segment_path(store.folder, row.number)
    try:
        if segments.file_stamp(path) != (row.size, row.checksum):
            return [f"{path.name} is damaged or was replaced"]
        index = _core.Index.open(str(path))
        index.verify()
        keys = {int(key) for key in index.ids()}
    except (OSError, ValueError) as error:
        return [str(error)]
    problems: list[str] = []
    live = keys - removed
    for document in store.scan(row.first, row.last, with_text=False):
        if document.fingerprint is None:
            continue
        words = index.get(document.key) if document.key in live else None
        live.discard(document.key)
        if words is None:
            problems.append(f"{document.id!r} is missing")
        elif _as_int(words) != int.from_bytes(document.fingerprint, "little"):
            problems.append(f"{document.id!r} has a wrong fingerprint")
        if len(problems) >= MAX_PROBLEMS:
            break
    else:
        problems += [f"key {key} belongs to no document" for key in sorted(live)[:MAX_PROBLEMS]]
    return problems


def _as_int(words: list[int]) -> int:
    return sum(word << (64 * at) for at, word in enumerate(words))


def _check_sketches(store: Store, row: SegmentRow, recipe: Recipe, removed: set[int]) -> list[str]:
    """Compare the sketches of a segment with sketches computed from the texts."""
    import numpy as np

    path = segments.segment_path(store.folder, row.number, segments.SKETCHES)
    if row.sketch_size is None:
        # Written in format 1, without sketches.
        return []
    try:
        if segments.file_stamp(path) != (row.sketch_size, row.sketch_checksum):
            return [f"{path.name} is damaged or was replaced"]
        index = sketches.open_index(path)
        index.verify()
        keys, rows = index.rows()
    except (OSError, ValueError) as error:
        return [str(error)]
    is_live = ~np.isin(keys, sorted(removed))
    keys, rows = keys[is_live], rows[is_live]
    problems: list[str] = []
    for batch_keys, expected in sketches.sketches_from_texts(store, recipe, row.first, row.last):
        start, end = np.searchsorted(keys, (batch_keys[0], batch_keys[-1] + 1))
        if not np.array_equal(keys[start:end], batch_keys):
            problems.append(f"sketches of keys {batch_keys[0]} to {batch_keys[-1]} are missing")
        elif not np.array_equal(rows[start:end], expected):
            at = int(batch_keys[np.any(rows[start:end] != expected, axis=1)][0])
            problems.append(f"the document with key {at} has a wrong sketch")
        keys, rows = keys[end:], rows[end:]
        if len(problems) >= MAX_PROBLEMS:
            return problems
    if len(keys):
        problems.append(f"the sketch with key {keys[0]} belongs to no document")
    return problems


def _check_tail(store: Store, recipe: Recipe, first: int, last: int) -> list[str]:
    """Compare the sketches stored in the database with sketches computed from the texts."""
    import numpy as np

    return [
        f"database: the sketches of keys {keys[0]} to {keys[-1]} do not match the texts"
        for keys, expected in sketches.sketches_from_texts(store, recipe, first, last)
        if not np.array_equal(sketches.stored_sketches(store, recipe, keys), expected)
    ]
