"""Damage that SQLite itself does not notice: in the order of ids, and in the table of segments."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import neardup as nd

TEXTS = [(f"id-{n:03}", f"text number {n} of the many that are kept here") for n in range(60)]


@pytest.fixture
def many(path: Path) -> Path:
    with nd.Collection.open(path) as collection:
        collection.add(TEXTS)
        collection.compact()
    return path


def order_of_ids(database: Path) -> slice:
    """Where in the file the order of ids begins and ends."""
    connection = sqlite3.connect(database)
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    (root,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'documents'"
    ).fetchone()
    connection.close()
    return slice((root - 1) * size, root * size)


@pytest.mark.parametrize("other", [b"id-03z", b"id-03!", b"zz-030", b"aa-030"])
def test_an_id_changed_in_the_order_of_ids_is_not_said_to_be_absent(
    many: Path, other: bytes
) -> None:
    database = many / "collection.sqlite"
    page = order_of_ids(database)
    data = bytearray(database.read_bytes())
    at = data.index(b"id-030", page.start, page.stop)
    data[at : at + len(other)] = other
    database.write_bytes(data)
    with nd.Collection.open(many, read_only=True) as collection:
        for ask in (collection.get, collection.__contains__):
            with pytest.raises(
                nd.CorruptCollectionError, match="index of ids is wrong near 'id-030'"
            ):
                ask("id-030")
        assert collection.get("id-010") is not None
        assert collection.verify()


def test_a_changed_id_is_not_returned_as_a_match(many: Path) -> None:
    connection = sqlite3.connect(many / "collection.sqlite")
    with connection:
        connection.execute("UPDATE documents SET id = 'id-031x' WHERE id = 'id-031'")
    connection.close()
    with nd.Collection.open(many, read_only=True) as collection:
        assert collection.check(TEXTS[3][1], 1.0)[0].id == "id-003"
        for texts in (TEXTS[31][1], [text for _, text in TEXTS]):
            with pytest.raises(nd.CorruptCollectionError):
                collection.check(texts, 1.0)


def test_an_id_that_is_not_there_is_absent(many: Path) -> None:
    with nd.Collection.open(many, read_only=True) as collection:
        for id_ in ("", "a", "id-0", "id-0300", "id-059!", "zzz", "\U0010ffff"):
            assert collection.get(id_) is None
            assert id_ not in collection


@pytest.mark.parametrize("beyond", [0, 1, 1000])
def test_a_segment_that_says_to_reach_beyond_the_keys_is_not_used(many: Path, beyond: int) -> None:
    connection = sqlite3.connect(many / "collection.sqlite")
    (next_key,) = connection.execute("SELECT next_key FROM counts").fetchone()
    connection.execute("UPDATE segments SET last = ?", (next_key - 1 + beyond,))
    connection.commit()
    connection.close()
    with nd.Collection.open(many) as collection:
        used = collection.stats().segment_entries
        assert used == (0 if beyond else len(TEXTS))
        told = [what for what in collection.verify() if "its range of keys is wrong" in what]
        assert bool(told) == bool(beyond)
        # What is added from now on has keys that the segment claims to hold.
        collection.add([("new", "something quite different was written this very morning")])
    with nd.Collection.open(many) as collection:
        (found,) = collection.check("something quite different was written this very morning")
        assert found.id == "new"
        assert [near.id for near in collection.check(TEXTS[7][1], n=1)] == ["id-007"]
        collection.compact()
        assert collection.verify() == []
