"""Durable collections: adding compared with plain SQLite, checking, opening, size on disk.

The task "open PATH" opens a collection in a fresh process, for the rows about opening.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

import neardup as nd
from measure import Row, alone, at_least, at_most, seconds

if TYPE_CHECKING:
    from data.planted_records import Records

Document = tuple[str, str]

SIZE, QUICK_SIZE, LARGE_SIZE = 10**6, 2 * 10**4, 10**7
BATCH = 1000
# Batches and single documents that are timed; the rest only fills the collection.
BATCHES, SINGLES = 100, 500
QUERIES, QUICK_QUERIES = 2000, 300
RADIUS = 3
SIMILARITY = 0.85
# Identical texts; and seconds of checks, idle and while another thread writes.
EQUAL, QUICK_EQUAL = 200_000, 5_000
COUNTED, QUICK_COUNTED = 5.0, 0.5


def rows(records: Records, *, large: bool) -> Iterator[Row]:
    """Yield all rows of the section."""
    size = QUICK_SIZE if records.quick else LARGE_SIZE if large else SIZE
    queries = QUICK_QUERIES if records.quick else QUERIES
    path = records.short(size)
    what = f"collection, {size:,} texts of a dozen words"
    yield from _with_texts(records.folder / "texts.neardup", path, size, what, queries)
    yield from _without_texts(records.folder / "codes.neardup", path, what, queries)
    path.unlink()
    yield from _equal(records.folder / "equal.neardup", QUICK_EQUAL if records.quick else EQUAL)


def _with_texts(folder: Path, path: Path, size: int, what: str, queries: int) -> Iterator[Row]:
    """Measure adding, and checks by similarity, with the default recipe."""
    with nd.Collection.open(folder) as collection:
        documents = _documents(path)
        batches = min(BATCHES, size // BATCH // 2)
        yield _batches(collection, documents, folder.with_suffix(".sqlite"), batches)
        yield _singles(collection, documents, folder.with_suffix(".sqlite"))
        for batch in _by(documents, BATCH):
            collection.add(batch)
        asked = [text for _, text in islice(_documents(path), queries)]
        named = f"{what}, {collection.recipe.bits} bits"
        limit = 300 if size > SIZE else 100
        for state in ("as it was added", "compacted"):
            yield _checks(
                f"{named}, {state}: check, similarity {SIMILARITY:g}, verified",
                lambda text: collection.check(text, SIMILARITY),
                asked,
                limit,
            )
            yield _one(
                f"{named}, {state}: the same, {len(asked):,} at a time",
                seconds(collection.check, asked, SIMILARITY) / len(asked),
                None,
            )
            if state == "as it was added":
                yield Row(f"{named}: compact", f"{seconds(collection.compact):.3g} s")
        found, texts = collection.stats(), _text_bytes(folder)
        yield at_most(
            f"{named}, compacted: on disk beside the texts",
            (found.database_bytes + found.segment_bytes - texts) / found.documents,
            "bytes each",
            200,
            more=f", {found.segment_bytes / found.documents:.3g} of them in segments",
        )
        # Last, since it adds documents.
        others = [text for _, text in islice(_documents(path), 5 * queries, 10 * queries)]
        yield from _meanwhile(collection, named, asked, others, size)
    shutil.rmtree(folder)


def _without_texts(folder: Path, path: Path, what: str, queries: int) -> Iterator[Row]:
    """Measure checks by radius on 64 bits, as in the literature, and opening."""
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
    opened = alone(__name__, "open", str(folder))
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


def _meanwhile(
    collection: nd.Collection, what: str, asked: Sequence[str], others: Sequence[str], size: int
) -> Iterator[Row]:
    """Measure checks, idle and while another thread adds or compacts."""
    duration = QUICK_COUNTED if size <= QUICK_SIZE else COUNTED
    # Made of two texts each and near no query: else every batch would add pairs to verify.
    words = [text.split() for text in others]
    more = (
        [
            (f"more-{number}-{at}", " ".join(words[at - number - 1][:6] + words[at][6:]))
            for at in range(len(asked))
        ]
        for number in count()
    )
    quiet = _timed(collection, asked, duration)
    for doing, work in (
        ("adding", lambda: collection.add(next(more))),
        ("compacting", collection.compact),
    ):
        with _repeated(work):
            busy = _timed(collection, asked, duration)
        ratio = _percentile(busy) / _percentile(quiet)
        yield Row(
            f"{what}: 99th percentile of a check while another thread is {doing}",
            f"{_percentile(busy) * 1e6:.3g} µs",
            f"idle: {_percentile(quiet) * 1e6:.3g} µs",
            ratio,
            "≤ 5×",
            ratio <= 5,
        )
        rate = len(busy) / sum(busy)
        yield Row(
            f"{what}: checks while another thread is {doing}",
            f"{rate:,.0f} a second",
            f"idle: {len(quiet) / sum(quiet):,.0f}",
            None,
            "≥ 2,000",
            rate >= 2000,
        )


def _timed(collection: nd.Collection, asked: Sequence[str], duration: float) -> list[float]:
    end = time.perf_counter() + duration
    texts = cycle(asked)
    found = []
    while time.perf_counter() < end:
        found.append(seconds(collection.check, next(texts), SIMILARITY))
    return found


def _percentile(times: Sequence[float]) -> float:
    return sorted(times)[int(0.99 * len(times))]


@contextmanager
def _repeated(work: Callable[[], object]) -> Iterator[None]:
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _text_bytes(folder: Path) -> int:
    """Return the bytes of all texts in the database."""
    database = sqlite3.connect(folder / "collection.sqlite")
    (found,) = database.execute("SELECT sum(length(CAST(text AS BLOB))) FROM documents").fetchone()
    database.close()
    return int(found)


def _equal(folder: Path, size: int) -> Iterator[Row]:
    text = "the ferry leaves the harbour at nine every morning but on sundays"
    with nd.Collection.open(folder) as collection:
        for first in range(0, size, 10 * BATCH):
            collection.add([(str(at), text) for at in range(first, first + 10 * BATCH)])
        for asked in (text, f"{text} now"):
            what = "the same text" if asked == text else "a text near it"
            yield _checks(
                f"collection, {size:,} equal texts: check, {what}, n=1",
                lambda text: collection.check(text, SIMILARITY, n=1),
                [asked] * 100,
                1000,
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
    # Sums, not medians: compaction and checkpoints count.
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
        "collection: adding a single text, durably",
        f"{each * 1e6:.3g} µs",
        f"SQLite transaction: {theirs_each * 1e6:.3g} µs",
        each / theirs_each,
        "≤ 2×",
        each <= 2 * theirs_each,
    )


def _plain(path: Path) -> sqlite3.Connection:
    """Open a plain table of the same rows and durability, without fingerprints."""
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
    import numpy  # noqa: F401 - imported before the timer starts

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
