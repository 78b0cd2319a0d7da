"""Everything in a collection, read and compared."""

from __future__ import annotations

from zlib import crc32

from neardup import _core
from neardup.collection import files, sketches
from neardup.collection.errors import CorruptCollectionError
from neardup.collection.schema import DocumentCounts, SegmentRow, digest_of, unpacked
from neardup.collection.store import Store
from neardup.text.recipe import Recipe

# Of one kind of problem, so many are named.
SHOWN = 10


def problems(store: Store, recipe: Recipe, *, texts: bool) -> list[str]:
    """What is wrong, in words. `texts`: whether they are kept."""
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
                    found.append(f"segment {row.number}: covers keys it should not")
                last = row.last
                of_segments[row] = _segment(store, row, removed)
                if texts:
                    of_segments[row] += _sketches(store, row, recipe, removed)
            if texts:
                found += _tail(store, recipe, last + 1, counts.next_key - 1)
        # A writer may have replaced some of them meanwhile, and taken their files away.
        with store.snapshot():
            for row in store.segments():
                found += [f"segment {row.number}: {what}" for what in of_segments.get(row, [])]
    except CorruptCollectionError as error:
        found.append(f"database: {error}")
    return found


def _counted(store: Store, counts: DocumentCounts) -> list[str]:
    """Every row, read and counted."""
    documents = without = 0
    digests = {key: crc32(digest, key) == sum_ for key, digest, sum_ in store.digests()}
    found = [f"database: the digest with the key {x} is wrong" for x in digests if not digests[x]]
    for row in store.scan(1, counts.next_key - 1):
        documents += 1
        if row.fingerprint is None:
            without += 1
            text = unpacked(row.text)
            expected = row.key in digests if text is None else digest_of(text, text.encode())
            if (row.key in digests) != bool(expected):
                found.append(f"database: {row.id!r} has no digest, or should not have one")
            digests.pop(row.key, None)
    found += [f"database: the digest with the key {x} is of no document" for x in digests]
    if (documents, without) != (counts.documents, counts.without_signal):
        found.append(
            f"database: {documents:,} documents ({without:,} without a signal) are there, "
            f"{counts.documents:,} ({counts.without_signal:,}) were written"
        )
    return found


def _segment(store: Store, row: SegmentRow, removed: set[int]) -> list[str]:
    """A file against the rows it stands for."""
    path = files.path_of(store.folder, row.number)
    try:
        if files.stamp(path) != (row.size, row.checksum):
            return [f"{path.name} is not the file that was written"]
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
            wrong.append(f"{document.id!r} has another fingerprint")
        if len(wrong) >= SHOWN:
            break
    else:
        wrong += [f"the key {key} is of no document" for key in sorted(live)[:SHOWN]]
    return wrong


def _code(words: list[int]) -> int:
    return sum(word << (64 * at) for at, word in enumerate(words))


def _sketches(store: Store, row: SegmentRow, recipe: Recipe, removed: set[int]) -> list[str]:
    """The sketches of a segment against those of the texts."""
    import numpy as np

    path = files.path_of(store.folder, row.number, files.SKETCHES)
    if row.sketch_size is None:
        # Of a format that had none; the next writer makes them.
        return []
    try:
        if files.stamp(path) != (row.sketch_size, row.sketch_checksum):
            return [f"{path.name} is not the file that was written"]
        index = _core.SketchIndex.open(str(path))
        index.verify()
        keys, rows = index.rows()
    except (OSError, ValueError) as error:
        return [str(error)]
    there = ~np.isin(keys, sorted(removed))
    keys, rows = keys[there], rows[there]
    wrong: list[str] = []
    for own, made in sketches.from_texts(store, recipe, row.first, row.last):
        start, end = np.searchsorted(keys, (own[0], own[-1] + 1))
        if not np.array_equal(keys[start:end], own):
            wrong.append(f"the sketches of keys {own[0]} to {own[-1]} are not all there")
        elif not np.array_equal(rows[start:end], made):
            at = int(own[np.any(rows[start:end] != made, axis=1)][0])
            wrong.append(f"the document with the key {at} has another sketch")
        keys, rows = keys[end:], rows[end:]
        if len(wrong) >= SHOWN:
            return wrong
    if len(keys):
        wrong.append(f"the sketch with the key {keys[0]} is of no document")
    return wrong


def _tail(store: Store, recipe: Recipe, first: int, last: int) -> list[str]:
    """The sketches in the database against those of the texts."""
    import numpy as np

    return [
        f"database: the sketches of keys {keys[0]} to {keys[-1]} are not those of the texts"
        for keys, made in sketches.from_texts(store, recipe, first, last)
        if not np.array_equal(sketches.stored(store, recipe, keys), made)
    ]
