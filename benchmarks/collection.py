"""Rows about the durable collection: adding against plain SQLite, checking, opening, size.

    python benchmarks/collection.py open PATH

opens a collection in a process that has done nothing else, for the rows about that.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import neardup as nd
from measure import Row, alone, at_least, at_most, seconds

if TYPE_CHECKING:
    from records import Records

Document = tuple[str, str]

SIZE, QUICK_SIZE, LARGE_SIZE = 10**6, 2 * 10**4, 10**7
BATCH = 1000
# Batches added by turns, and single documents; the rest is only there to be many.
BATCHES, SINGLES = 100, 500
QUERIES, QUICK_QUERIES = 2000, 300
SIMILAR_QUERIES = 100
RADIUS = 3
SIMILARITY = 0.9


def rows(records: Records, *, large: bool) -> Iterator[Row]:
    """All rows of the section."""
    size = QUICK_SIZE if records.quick else LARGE_SIZE if large else SIZE
    queries = QUICK_QUERIES if records.quick else QUERIES
    path = records.short(size)
    what = f"collection, {size:,} texts of a dozen words"
    yield from _with_texts(records.folder / "texts.neardup", path, size, what, queries)
    yield from _without_texts(records.folder / "codes.neardup", path, what, queries)
    path.unlink()


def _with_texts(folder: Path, path: Path, size: int, what: str, queries: int) -> Iterator[Row]:
    """The default recipe: adding, and similarity verified by the texts."""
    with nd.Collection.open(folder) as collection:
        documents = _documents(path)
        batches = min(BATCHES, size // BATCH // 2)
        yield _batches(collection, documents, folder.with_suffix(".sqlite"), batches)
        yield _singles(collection, documents, folder.with_suffix(".sqlite"))
        for batch in _by(documents, BATCH):
            collection.add(batch)
        asked = [text for _, text in islice(_documents(path), queries)]
        few = asked[:SIMILAR_QUERIES]
        yield _checks(
            f"{what}, {collection.recipe.bits} bits: check, similarity {SIMILARITY:g}, verified",
            lambda text: collection.check(text, SIMILARITY),
            few,
            3000,
        )
        yield _one(
            f"{what}, {collection.recipe.bits} bits: the same, {len(few)} at a time",
            seconds(collection.check, few, SIMILARITY) / len(few),
            None,
        )
        yield Row(f"{what}: compact", f"{seconds(collection.compact):.3g} s")
    shutil.rmtree(folder)


def _without_texts(folder: Path, path: Path, what: str, queries: int) -> Iterator[Row]:
    """64 bits and a radius, as in the literature; and what opening takes."""
    recipe = nd.Recipe(bits=64)
    with nd.Collection.open(folder, recipe, store_text=False) as collection:
        for batch in _by(_documents(path), BATCH):
            collection.add(batch)
        asked = [text for _, text in islice(_documents(path), queries)]
        for state in ("as it was added", "compacted"):
            named = f"{what}, 64 bits, {state}"
            yield _checks(
                f"{named}: check, radius {RADIUS}",
                lambda text: collection.check(text, radius=RADIUS),
                asked,
                50,
            )
            times = [seconds(collection.check, asked, radius=RADIUS) for _ in range(5)]
            yield _one(
                f"{named}: check, radius {RADIUS}, {len(asked):,} at a time",
                statistics.median(times) / len(asked),
                10,
            )
            collection.compact()
        found = collection.stats()
    opened = alone(__file__, "open", str(folder))
    yield at_most(f"{what}, 64 bits: opening", opened["seconds"], "s", 0.3)
    yield at_most(
        f"{what}, 64 bits: memory after opening",
        opened["resident"] / 1e6,
        "MB",
        100,
        more=f", {opened['before'] / 1e6:.3g} MB before",
    )
    yield at_most(
        f"{what}, 64 bits, without texts: on disk",
        (found.database_bytes + found.segment_bytes) / found.documents,
        "bytes each",
        120,
        more=f", {found.segment_bytes / found.documents:.3g} of them in segments",
    )
    shutil.rmtree(folder)


def _batches(
    collection: nd.Collection, documents: Iterator[Document], plain: Path, batches: int
) -> Row:
    database = _plain(plain)
    ours, theirs = [], []
    for number, batch in enumerate(islice(_by(documents, BATCH), batches)):
        ours.append(seconds(collection.add, batch))
        made = _plain_rows(number * BATCH, batch)
        theirs.append(seconds(_insert, database, made))
    database.close()
    # Sums, not medians: now and then either has to tidy up, and that counts.
    return at_least(
        f"collection: adding in batches of {BATCH:,} texts of a dozen words",
        f"{len(ours) * BATCH / sum(ours):,.0f} a second",
        f"plain SQLite inserts: {len(theirs) * BATCH / sum(theirs):,.0f} a second",
        sum(theirs) / sum(ours),
        0.5,
    )


def _singles(collection: nd.Collection, documents: Iterator[Document], plain: Path) -> Row:
    database = _plain(plain)
    ours, theirs = [], []
    for number, document in enumerate(islice(documents, SINGLES)):
        ours.append(seconds(collection.add, [document]))
        made = _plain_rows(10**9 + number, [document])
        theirs.append(seconds(_insert, database, made))
    database.close()
    plain.unlink()
    each, theirs_each = statistics.median(ours), statistics.median(theirs)
    return Row(
        "collection: adding a single text, on the disk when done",
        f"{each * 1e6:.3g} µs",
        f"SQLite transaction: {theirs_each * 1e6:.3g} µs",
        each / theirs_each,
        "≤ 2×",
        each <= 2 * theirs_each,
    )


def _plain(path: Path) -> sqlite3.Connection:
    """A table of the same rows, as durable, without fingerprints to be made or found."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute(
        "CREATE TABLE IF NOT EXISTS documents "
        "(key INTEGER PRIMARY KEY, id TEXT UNIQUE, fingerprint BLOB, metadata TEXT, text TEXT)"
    )
    return database


def _plain_rows(first: int, batch: Sequence[Document]) -> list[tuple[int, str, bytes, None, str]]:
    return [
        (key, id_, b"fingerprint.....", None, text) for key, (id_, text) in enumerate(batch, first)
    ]


def _insert(database: sqlite3.Connection, made: Sequence[tuple[object, ...]]) -> None:
    database.execute("BEGIN IMMEDIATE")
    database.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", made)
    database.execute("COMMIT")


def _checks(
    what: str, check: Callable[[str], object], asked: Sequence[str], limit: float | None
) -> Row:
    for text in asked[:20]:
        check(text)
    return _one(what, statistics.median(seconds(check, text) for text in asked), limit)


def _one(what: str, took: float, limit: float | None) -> Row:
    return at_most(what, took * 1e6, "µs a text", limit)


def _documents(path: Path) -> Iterator[Document]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["id"], record["text"]


def _by(documents: Iterator[Document], count: int) -> Iterator[list[Document]]:
    while batch := list(islice(documents, count)):
        yield batch


def _resident() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def main(task: str, path: str) -> None:
    assert task == "open"
    import numpy  # noqa: F401 - loaded, as the modules of a collection are, before it is opened

    opened = nd.Collection.open
    before = _resident()
    started = time.perf_counter()
    with opened(path) as collection:
        took = time.perf_counter() - started
        assert len(collection)
        found = {"seconds": took, "before": before, "resident": _resident()}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
