"""Collections of format 1, which had no sketches: read as they are, and brought up to date by the
first who writes."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.collection import segments
from neardup.collection.schema import FORMAT
from neardup.collection.store import DATABASE

# The tables as they were.
FORMAT_1 = """
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
CREATE TABLE removed (number INTEGER PRIMARY KEY, key INTEGER NOT NULL);
CREATE TABLE segments (
    number INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checksum BLOB NOT NULL
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
TEXTS = [f"report {at} of the harbour master on ship {at % 9} and its cargo" for at in range(100)]


def as_format_1(path: Path) -> None:
    """The same documents and segments, as they were stored then."""
    for file in path.glob("*.sketches"):
        file.unlink()
    new = path / "old.sqlite"
    with closing(sqlite3.connect(new, isolation_level=None)) as database:
        database.executescript(FORMAT_1)
        database.execute("ATTACH ? AS new", (str(path / DATABASE),))
        for table in ("documents", "digests", "removed", "counts", "settings"):
            database.execute(f"INSERT INTO main.{table} SELECT * FROM new.{table}")  # noqa: S608
        columns = "number, first, last, entries, size, checksum"
        database.execute(
            f"INSERT INTO main.segments SELECT {columns} FROM new.segments"  # noqa: S608
        )
        (application,) = database.execute("PRAGMA new.application_id").fetchone()
        database.execute("DETACH new")
        database.execute(f"PRAGMA application_id = {application}")
        database.execute("PRAGMA user_version = 1")
        database.execute("PRAGMA journal_mode = WAL")
    for suffix in ("", "-wal", "-shm"):
        (path / f"{DATABASE}{suffix}").unlink(missing_ok=True)
    new.rename(path / DATABASE)


def answers(collection: nd.Collection) -> list[Any]:
    asked = [*TEXTS[::7], "hello", "nothing of the kind"]
    return [
        collection.check(asked).to_pylist(),
        collection.check(asked, 0.95, n=2).to_pylist(),
        collection.check(asked, radius=10).to_pylist(),
        [collection.check(text, 0.7) for text in asked],
    ]


@pytest.fixture
def old(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a collection answered before it was made one of format 1."""
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 30)
    with nd.Collection.open(path) as collection:
        for at in range(0, 100, 10):
            collection.add([(str(n), TEXTS[n], {"n": n}) for n in range(at, at + 10)])
        collection.add([("word", "hello")])
        collection.remove(["3", "55"])
        found = answers(collection)
        assert collection.stats().segments
    as_format_1(path)
    return found


def test_a_reader_reads_it_as_it_is(path: Path, old: list[Any], tmp_path: Path) -> None:
    before = (path / DATABASE).read_bytes()
    with nd.Collection.open(path, read_only=True) as collection:
        assert answers(collection) == old
        assert collection.verify() == []
        assert collection.stats().format == 1
        with pytest.raises(nd.CollectionError, match="opened read-only"):
            collection.add([("x", "some more words")])
    assert (path / DATABASE).read_bytes() == before
    exported = tmp_path / "all.jsonl"
    with nd.Collection.open(path) as collection:
        assert collection.export(exported) == 99
        # Nobody has written.
        assert collection.stats().format == 1


def test_the_first_write_migrates(path: Path, old: list[Any]) -> None:
    with nd.Collection.open(path, read_only=True) as reader, nd.Collection.open(path) as writer:
        assert answers(reader) == old
        assert writer.remove(["nobody"]) == 0
        assert writer.stats().format == FORMAT
        assert answers(reader) == answers(writer) == old
        writer.add([("more", "some words that were never here before")])
        assert len(list(path.glob("*.sketches"))) == writer.stats().segments == 1
        assert [x.id for x in reader.check("some words that were never here before")] == ["more"]
        assert answers(reader) == answers(writer) == old
        assert writer.verify() == []
    with nd.Collection.open(path) as again:
        assert answers(again) == old
        again.compact()
        assert answers(again) == old
        assert again.verify() == []


def test_an_upgrade_that_fails_leaves_it_as_it_was(
    path: Path, old: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with nd.Collection.open(path) as collection, monkeypatch.context() as patched:
        patched.setattr("neardup.collection.store.UPGRADE", ("CREATE TABLE x (y)", "not SQL"))
        with pytest.raises(nd.CollectionError, match="not"):
            collection.add([("x", "some more words")])
        assert collection.stats().format == 1
    with nd.Collection.open(path) as again:
        assert answers(again) == old
        again.add([("x", "some more words")])
        assert again.verify() == []


def test_without_texts(path: Path) -> None:
    with nd.Collection.open(path, store_text=False) as collection:
        collection.add([(str(n), text) for n, text in enumerate(TEXTS)])
        collection.compact()
        found = collection.check(TEXTS[5], radius=9)
    as_format_1(path)
    copy = path.with_name("copy.neardup")
    shutil.copytree(path, copy)
    with nd.Collection.open(copy, read_only=True) as collection:
        assert collection.check(TEXTS[5], radius=9) == found
    with nd.Collection.open(path) as collection:
        collection.remove(["7"])
        assert collection.check(TEXTS[5], radius=9) == [x for x in found if x.id != "7"]
        assert collection.verify() == []
        assert not list(path.glob("*.sketches"))
