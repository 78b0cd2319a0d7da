"""Everything in a collection, read and compared."""

from __future__ import annotations

from zlib import crc32

from neardup import _core
from neardup.collection.errors import CorruptCollectionError
from neardup.collection.matching import digest_of
from neardup.collection.rows import Counts, SegmentRow, unpacked
from neardup.collection.segments import path_of, stamp
from neardup.collection.store import Store
from neardup.recipe import Recipe

# Of one kind of problem, so many are named.
SHOWN = 10


def problems(store: Store, recipe: Recipe) -> list[str]:
    """What is wrong, in words."""
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
        # A writer may have replaced some of them meanwhile, and taken their files away.
        with store.snapshot():
            for row in store.segments():
                found += [f"segment {row.number}: {what}" for what in of_segments.get(row, [])]
    except CorruptCollectionError as error:
        found.append(f"database: {error}")
    return found


def _counted(store: Store, counts: Counts) -> list[str]:
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
    path = path_of(store.folder, row.number)
    try:
        if stamp(path) != (row.size, row.checksum):
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
