"""Verifies a collection: reads everything, and compares derived files with the database."""

from __future__ import annotations

from zlib import crc32

from neardup import _core
from neardup.collection import segments, sketches
from neardup.collection.errors import CorruptCollectionError
from neardup.collection.schema import DocumentCounts, SegmentRow, text_digest, unpack_text
from neardup.collection.store import Store
from neardup.text.recipe import Recipe

# Problems of one kind that are named.
MAX_SHOWN = 10


def find_problems(store: Store, recipe: Recipe, *, texts: bool) -> list[str]:
    """Return a sentence for each problem. `texts`: whether texts are stored."""
    found: list[str] = []
    of_segments: dict[SegmentRow, list[str]] = {}
    try:
        with store.snapshot():
            found += [f"database: {what}" for what in store.problems()]
            counts = store.counts()
            found += _counted(store, counts)
            removed = set(store.removed(0))
            last = 0
            for row in store.segments():
                if row.first != last + 1 or row.last >= counts.next_key:
                    found.append(f"segment {row.number}: its range of keys is wrong")
                last = row.last
                of_segments[row] = _segment(store, row, removed)
                if texts:
                    of_segments[row] += _sketches(store, row, recipe, removed)
            if texts:
                found += _tail(store, recipe, last + 1, counts.next_key - 1)
        # Report only segments that a writer has not replaced meanwhile.
        with store.snapshot():
            for row in store.segments():
                found += [f"segment {row.number}: {what}" for what in of_segments.get(row, [])]
    except CorruptCollectionError as error:
        found.append(f"database: {error}")
    return found


def _counted(store: Store, counts: DocumentCounts) -> list[str]:
    """Read and count every row."""
    documents = without = 0
    digests = {key: crc32(digest, key) == sum_ for key, digest, sum_ in store.digests()}
    found = [
        f"database: the checksum of the digest with key {x} does not match"
        for x in digests
        if not digests[x]
    ]
    for row in store.scan(1, counts.next_key - 1):
        documents += 1
        if row.fingerprint is None:
            without += 1
            text = unpack_text(row.text)
            expected = row.key in digests if text is None else text_digest(text, text.encode())
            if (row.key in digests) != bool(expected):
                found.append(f"database: the digest of {row.id!r} is missing, or should not exist")
            digests.pop(row.key, None)
    found += [f"database: the digest with key {x} belongs to no document" for x in digests]
    if (documents, without) != (counts.documents, counts.without_signal):
        found.append(
            f"database: contains {documents:,} documents ({without:,} without a signal), expected "
            f"{counts.documents:,} ({counts.without_signal:,})"
        )
    return found


def _segment(store: Store, row: SegmentRow, removed: set[int]) -> list[str]:
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
    wrong: list[str] = []
    live = keys - removed
    for document in store.scan(row.first, row.last, whole=False):
        if document.fingerprint is None:
            continue
        words = index.get(document.key) if document.key in live else None
        live.discard(document.key)
        if words is None:
            wrong.append(f"{document.id!r} is missing")
        elif _code(words) != int.from_bytes(document.fingerprint, "little"):
            wrong.append(f"{document.id!r} has a wrong fingerprint")
        if len(wrong) >= MAX_SHOWN:
            break
    else:
        wrong += [f"key {key} belongs to no document" for key in sorted(live)[:MAX_SHOWN]]
    return wrong


def _code(words: list[int]) -> int:
    return sum(word << (64 * at) for at, word in enumerate(words))


def _sketches(store: Store, row: SegmentRow, recipe: Recipe, removed: set[int]) -> list[str]:
    """Compare the sketches of a segment with those computed from the texts."""
    import numpy as np

    path = segments.segment_path(store.folder, row.number, segments.SKETCHES)
    if row.sketch_size is None:
        # Written in format 1; the next writer adds them.
        return []
    try:
        if segments.file_stamp(path) != (row.sketch_size, row.sketch_checksum):
            return [f"{path.name} is damaged or was replaced"]
        index = _core.SketchIndex.open(str(path))
        index.verify()
        keys, rows = index.rows()
    except (OSError, ValueError) as error:
        return [str(error)]
    there = ~np.isin(keys, sorted(removed))
    keys, rows = keys[there], rows[there]
    wrong: list[str] = []
    for own, made in sketches.sketches_from_texts(store, recipe, row.first, row.last):
        start, end = np.searchsorted(keys, (own[0], own[-1] + 1))
        if not np.array_equal(keys[start:end], own):
            wrong.append(f"sketches of keys {own[0]} to {own[-1]} are missing")
        elif not np.array_equal(rows[start:end], made):
            at = int(own[np.any(rows[start:end] != made, axis=1)][0])
            wrong.append(f"the document with key {at} has a wrong sketch")
        keys, rows = keys[end:], rows[end:]
        if len(wrong) >= MAX_SHOWN:
            return wrong
    if len(keys):
        wrong.append(f"the sketch with key {keys[0]} belongs to no document")
    return wrong


def _tail(store: Store, recipe: Recipe, first: int, last: int) -> list[str]:
    """Compare the sketches in the database with those computed from the texts."""
    import numpy as np

    return [
        f"database: the sketches of keys {keys[0]} to {keys[-1]} do not match the texts"
        for keys, made in sketches.sketches_from_texts(store, recipe, first, last)
        if not np.array_equal(sketches.stored_sketches(store, recipe, keys), made)
    ]
