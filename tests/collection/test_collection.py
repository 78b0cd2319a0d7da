"""What a collection does, and what it refuses."""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup import Match
from neardup.collection import Outcome, connection, segments, store
from neardup.near import lookup

CAT = "the cat sat on the mat and looked at the moon over the harbour"
CAT_AGAIN = "The cat sat on the mat, and looked at the moon over the harbour!"
DOG = "a dog barked all night at nothing in particular, says the neighbour"


# --------------------------------------------------------------------------------- what comes in


@pytest.mark.parametrize(
    "documents",
    [
        [("a", CAT), ("b", DOG, {"n": 1})],
        [["a", CAT, None], ["b", DOG, {"n": 1}]],
        [{"id": "a", "text": CAT}, {"id": "b", "text": DOG, "n": 1}],
        ((id_, text, extra) for id_, text, extra in [("a", CAT, {}), ("b", DOG, {"n": 1})]),
    ],
)
def test_documents_in_all_forms(path: Path, documents: Any) -> None:
    with nd.Collection.open(path) as collection:
        assert collection.add(documents) == [Outcome("a", "added"), Outcome("b", "added")]
        stored = collection.get("a")
        assert stored is not None
        assert (stored.id, stored.text, stored.metadata) == ("a", CAT, {})
        assert stored.fingerprint == nd.fingerprint(CAT)
        other = collection.get("b")
        assert other is not None
        assert other.metadata == {"n": 1}


def test_tables(path: Path) -> None:
    columns = {"id": ["a", "b"], "text": [CAT, DOG], "n": [1, 2]}
    with nd.Collection.open(path) as collection:
        assert [x.status for x in collection.add(pa.table(columns))] == ["added", "added"]
        assert [x.status for x in collection.add(pl.DataFrame(columns))] == ["updated", "updated"]
        stored = collection.get("b")
        assert stored is not None
        assert stored.metadata == {"n": 2}
        with pytest.raises(ValueError, match=r"no column 'text' \(columns: 'id'\)"):
            collection.add(pa.table({"id": ["a"]}))
        with pytest.raises(TypeError, match="row 1 of the column 'text' is None"):
            collection.add(pa.table({"id": ["a", "b"], "text": ["x", None]}))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("text", "documents is one str"),
        ({"id": "a", "text": "b"}, "documents is one dict"),
        (5, "documents is of type int"),
        ([("a",)], r"documents\[0\] is \('a',\)"),
        (["ab"], r"documents\[0\] is 'ab'"),
        (
            [("a", "x"), (5, "x")],
            r"the id of documents\[1\] is 5; it must be a str; convert it with str\(…\)",
        ),
        ([("a", None)], r"the text of documents\[0\] is None"),
        ([{"id": "a"}], r"documents\[0\] has no 'text'"),
        ([("a", "x"), ("b", "x"), ("a", "y")], r"'a' occurs twice, in documents\[0\] and .*\[2\]"),
        ([("a", "x", "meta")], r"the metadata of documents\[0\] is 'meta'"),
        ([("a", "x", 0)], r"the metadata of documents\[0\] is 0; it must be a dict, or None"),
        ([("a", "x", "")], r"the metadata of documents\[0\] is ''"),
        ([("a", "x", [])], r"the metadata of documents\[0\] is \[\]"),
        ([("a", "x", {5: "n"})], r"the metadata of documents\[0\] has the key 5; keys must be str"),
        ([("a", "x", {"n": [{None: 1}]})], "has the key None"),
        ([("a", "x", {"n": float("nan")})], "cannot be stored as JSON"),
        ([("a", "x", {"n": object()})], "cannot be stored as JSON"),
        ([("a", "\ud800")], r"the text of documents\[0\] has a lone surrogate"),
        ([("\ud800", "a")], r"the id of documents\[0\] has a lone surrogate"),
        ([("a", "x", {"n": "\ud800"})], r"the metadata of documents\[0\] has a lone surrogate"),
    ],
)
def test_wrong_documents_are_refused_and_nothing_is_stored(
    path: Path, documents: Any, message: str
) -> None:
    with nd.Collection.open(path) as collection:
        with pytest.raises((TypeError, ValueError), match=message):
            collection.add(documents)
        assert len(collection) == 0


def test_an_update_takes_the_place_of_the_old_text(seen: nd.Collection) -> None:
    assert seen.add([("cat", DOG), ("new", CAT)]) == [
        Outcome("cat", "updated"),
        Outcome("new", "added"),
    ]
    assert [match.id for match in seen.check(CAT)] == ["new"]
    assert [match.id for match in seen.check(DOG)] == ["dog", "cat"]
    assert seen.add([("word", "bye")]) == [Outcome("word", "updated")]
    assert seen.check("hello") == []
    assert seen.check("bye") == [Match("word", None, 1.0, "", 0)]
    assert seen.verify() == []


def test_unless_duplicate(seen: nd.Collection) -> None:
    batch = [("again", CAT_AGAIN), ("fresh", "something else altogether, of another kind")]
    batch += [("echo", batch[1][1].upper()), ("word2", "hello"), ("odd", "!"), ("odd2", "!")]
    found = seen.add(batch, unless_duplicate=True, similarity=0.9)
    assert found[0] == Outcome("again", "duplicate", "cat", 0, 1.0, "", 0)
    assert found[1] == Outcome("fresh", "added")
    assert found[2] == Outcome("echo", "duplicate", "fresh", 0, 1.0, "", 0)
    assert found[3] == Outcome("word2", "duplicate", "word", None, 1.0, "", 0)
    # Without a letter or digit a text is nobody's duplicate.
    assert [x.status for x in found[4:]] == ["added", "added"]
    assert "again" not in seen
    assert len(seen) == 6
    by_radius = seen.add([("again", CAT_AGAIN)], unless_duplicate=True, radius=3)
    assert by_radius == [Outcome("again", "duplicate", "cat", 0, None, "", 0)]


def test_a_document_is_no_dup_of_itself(seen: nd.Collection) -> None:
    assert seen.add([("cat", CAT_AGAIN)], unless_duplicate=True) == [Outcome("cat", "updated")]
    # But of another: then the old text stays.
    found = seen.add([("cat", DOG)], unless_duplicate=True)
    assert found == [Outcome("cat", "duplicate", "dog", 0, 1.0, "", 0)]
    stored = seen.get("cat")
    assert stored is not None
    assert stored.text == CAT_AGAIN


@pytest.mark.parametrize("limits", [{}, {"radius": 3}])
def test_what_a_batch_replaces_is_passed_over(path: Path, limits: dict[str, Any]) -> None:
    with nd.Collection.open(path, durability="normal") as collection:
        collection.add([(str(at), CAT) for at in range(50)])
        fresh = [(str(at), f"{at * 7919} {at * 31} and {at * 17}") for at in range(49)]
        found = collection.add([*fresh, ("x", CAT)], unless_duplicate=True, **limits)
        assert [x.status for x in found[:49]] == ["updated"] * 49
        assert (found[49].status, found[49].dup_of) == ("duplicate", "49")


def test_short_texts_that_a_batch_replaces_are_passed_over(path: Path) -> None:
    with nd.Collection.open(path) as collection:
        collection.add([("a", "ok"), ("b", "ok")])
        found = collection.add([("a", "no"), ("c", "ok")], unless_duplicate=True)
        assert found == [Outcome("a", "updated"), Outcome("c", "duplicate", "b", None, 1.0, "", 0)]


def test_of_equally_near_documents_the_stored_one_is_named(path: Path) -> None:
    stored, fresh, both = "red green blue black", "red green grey cyan", "red green grey blue"
    with nd.Collection.open(path) as collection:
        collection.add([("cat", CAT), ("stored", stored)])
        found = collection.add([("fresh", fresh), ("x", both)], unless_duplicate=True, radius=26)
        assert found[0] == Outcome("fresh", "added")
        assert found[1] == Outcome("x", "duplicate", "stored", 26, None, "", 1)
        assert nd.distance(*nd.fingerprints([fresh, both])) == 26


@pytest.mark.parametrize("limits", [{}, {"radius": 3}])
def test_many_equal_updates_do_not_ask_for_each_other(
    path: Path, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def counting(*given: Any) -> Any:
        found = lookup.look_up(*given)
        asked.append(len(found.keys))
        return found

    monkeypatch.setattr(lookup, "look_up", counting)
    with nd.Collection.open(path, durability="normal") as collection:
        documents = [(str(at), CAT) for at in range(300)]
        collection.add(documents)
        found = collection.add(documents, unless_duplicate=True, **limits)
        assert {x.status for x in found} == {"duplicate"}
    assert sum(asked) <= 3 * len(documents)


def test_limits_need_unless_duplicate(seen: nd.Collection) -> None:
    with pytest.raises(ValueError, match="need unless_duplicate=True"):
        seen.add([("a", CAT)], radius=3)
    with pytest.raises(ValueError, match="distinguish need unless_duplicate=True"):
        seen.add([("a", CAT)], distinguish="numbers")


# -------------------------------------------------------------------------------- what comes out


def test_check(seen: nd.Collection) -> None:
    assert seen.check(CAT_AGAIN) == [Match("cat", 0, 1.0, "", 0)]
    assert seen.check(CAT_AGAIN, radius=0) == [Match("cat", 0, None, "", 0)]
    assert seen.check("nothing of that kind has been seen here") == []
    assert seen.check("hello") == [Match("word", None, 1.0, "", 0)]
    assert seen.check("hello", radius=3) == [Match("word", None, 1.0, "", 0)]
    assert seen.check("Hello") == []
    found = seen.check([CAT_AGAIN, "hello", None, "…", DOG])
    assert found.column_names == ["query", "id", "distance", "similarity", "differs", "lost"]
    told = {"similarity": 1.0, "differs": "", "lost": 0}
    assert found.to_pylist() == [
        {"query": 0, "id": "cat", "distance": 0, **told},
        {"query": 1, "id": "word", "distance": None, **told},
        {"query": 4, "id": "dog", "distance": 0, **told},
    ]
    assert seen.check([], radius=3).num_rows == 0
    assert seen.check(pa.array([DOG]), n=1).column("id").to_pylist() == ["dog"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"similarity": 0.9, "radius": 3}, "exclude each other"),
        ({"similarity": 1.5}, "similarity is 1.5"),
        ({"similarity": [1]}, r"similarity is \[1\]; it must be a number"),
        ({"radius": [1]}, r"radius is \[1\]; it must be a whole number"),
        ({"radius": 129}, "radius is 129; it must be a whole number from 0 to 128"),
        ({"n": 0}, "n is 0"),
        ({"recall": 2}, "recall is 2"),
        ({"distinguish": "tone"}, "distinguish has 'tone'; it must be one or more of numbers"),
        ({"distinguish": ["tone"]}, "distinguish has 'tone'"),
        ({"distinguish": 5}, "distinguish is 5"),
        ({"texts": "\ud800 and more"}, "text has a lone surrogate"),
        ({"texts": [5]}, r"texts\[0\] is of type int"),
    ],
)
def test_wrong_limits(seen: nd.Collection, options: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        seen.check(**{"texts": CAT, **options})


def test_get_remove_and_iteration(seen: nd.Collection) -> None:
    assert list(seen) == ["cat", "dog", "word"]
    assert "cat" in seen
    assert "\ud800" not in seen
    assert 5 not in seen
    assert seen.get("nobody") is None
    assert [stored.text for stored in seen.documents()] == [CAT, DOG, "hello"]
    assert seen.remove("nobody") == 0
    assert seen.remove(["cat", "cat", "word", "nobody"]) == 2
    assert len(seen) == 1
    assert seen.check("hello") == seen.check(CAT) == []
    with pytest.raises(TypeError, match="an id is 5"):
        seen.remove([5])  # type: ignore[list-item]
    assert seen.verify() == []


def test_iteration_sees_one_moment(seen: nd.Collection) -> None:
    ids = iter(seen)
    assert next(ids) == "cat"
    seen.add([("later", DOG), ("dog", CAT)])
    assert list(ids) == ["dog", "word"]
    assert list(seen) == ["cat", "word", "later", "dog"]
    # It is the moment of the call, not that of the first document.
    ids, documents = iter(seen), seen.documents()
    seen.remove("cat")
    assert list(ids) == [x.id for x in documents] == ["cat", "word", "later", "dog"]


def test_without_texts(path: Path) -> None:
    with nd.Collection.open(path, nd.Recipe(bits=64), store_text=False) as collection:
        collection.add([("cat", CAT), ("word", "hello")])
        for call in (
            lambda: collection.check(CAT),
            lambda: collection.check([CAT], similarity=0.9),
            lambda: collection.add([("x", CAT)], unless_duplicate=True),
        ):
            with pytest.raises(nd.CollectionError, match=r"stores no texts.*give a radius"):
                call()
        for call in (
            lambda: collection.check(CAT, radius=3, distinguish="numbers"),
            lambda: collection.add(
                [("x", CAT)], unless_duplicate=True, radius=3, distinguish=["order"]
            ),
        ):
            with pytest.raises(nd.CollectionError, match=r"no texts.*leave distinguish out"):
                call()
        assert collection.check(CAT_AGAIN, radius=3) == [Match("cat", 0)]
        (row,) = collection.check([CAT_AGAIN], radius=3).to_pylist()
        assert (row["id"], row["differs"], row["lost"]) == ("cat", None, None)
        (found,) = collection.add([("x", CAT)], unless_duplicate=True, radius=3)
        assert found == Outcome("x", "duplicate", "cat", 0, None)
        assert collection.check("hello", radius=3) == [Match("word", None, 1.0, "", 0)]
        stored = collection.get("cat")
        assert stored is not None
        assert stored.text is None
        assert collection.verify() == []
    with nd.Collection.open(path) as again:
        assert not again.stores_text
    with pytest.raises(nd.CollectionError, match="does not store texts, and store_text is True"):
        nd.Collection.open(path, store_text=True)


def test_long_texts_are_packed_and_short_ones_are_not_longer(path: Path) -> None:
    texts = {"short": "hello you", "long": CAT * 50, "noise": "".join(map(chr, range(300, 900)))}
    with nd.Collection.open(path) as collection:
        collection.add(list(texts.items()))
        assert {x.id: x.text for x in collection.documents()} == texts
    with sqlite3.connect(path / store.DATABASE) as database:
        sizes = dict(database.execute("SELECT id, length(CAST(text AS BLOB)) FROM documents"))
    database.close()
    assert sizes["long"] < len(texts["long"]) / 10
    assert all(sizes[id_] <= len(text.encode()) for id_, text in texts.items())


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet", "out.jsonl.gz"])
def test_export(seen: nd.Collection, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert seen.export(out) == 3
    if name == "out.jsonl":
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        code = f"{nd.fingerprint(CAT):032x}"
        assert rows[0] == {
            "id": "cat",
            "text": CAT,
            "metadata": {"year": 2020},
            "fingerprint": code,
        }
        assert rows[2]["fingerprint"] is None
    if name == "out.parquet":
        assert pq.read_table(out).column("metadata").to_pylist() == ['{"year": 2020}', "{}", "{}"]
    with pytest.raises(ValueError, match="unknown ending"):
        seen.export(tmp_path / "out.txt")


def test_stats(seen: nd.Collection) -> None:
    found = seen.stats()
    assert (found.documents, found.without_signal, found.tail, found.segments) == (3, 1, 2, 0)
    assert found.recipe == seen.recipe.identity
    seen.compact()
    found = seen.stats()
    assert (found.tail, found.segments, found.segment_entries) == (0, 1, 2)
    assert found.segment_bytes > 0


def test_a_million_equal_texts_cost_no_more_than_a_few(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In small: with n, or to see whether it is a duplicate, the first match is enough."""
    read = []
    found_in_store = store.Store._select

    def counting(self: store.Store, keys: Sequence[int], *, with_text: bool) -> Any:
        read.append(len(keys))
        return found_in_store(self, keys, with_text=with_text)

    monkeypatch.setattr(store.Store, "_select", counting)
    with nd.Collection.open(path, durability="normal") as collection:
        collection.add([(str(number), CAT) for number in range(3000)])
        read.clear()
        for texts in (CAT, [CAT]):
            assert len(collection.check(texts, n=2)) == 2
        assert collection.check(CAT, n=2) == [Match("0", 0, 1.0, "", 0), Match("1", 0, 1.0, "", 0)]
        found = collection.add([("x", CAT_AGAIN)], unless_duplicate=True)
        assert found == [Outcome("x", "duplicate", "0", 0, 1.0, "", 0)]
        assert sum(read) < 100
        assert len(collection.check(CAT)) == 3000
        assert sum(read) >= 3000


# ------------------------------------------------------------------------------ opening and recipes


def test_the_recipe_is_recorded_and_another_one_refused(path: Path) -> None:
    recipe = nd.Recipe(stopwords=["the", "a"], bits=64).fit([CAT, DOG])
    with nd.Collection.open(path, recipe) as collection:
        collection.add([("cat", CAT)])
    for given in (None, recipe):
        with nd.Collection.open(path, given) as collection:
            assert collection.recipe == recipe
            assert collection.check(CAT, radius=0) == [Match("cat", 0, None, "", 0)]
    with pytest.raises(nd.CollectionError) as refused:
        nd.Collection.open(path, "simhash")
    assert recipe.identity in str(refused.value)
    assert nd.Recipe.preset("simhash").identity in str(refused.value)


def test_a_recipe_with_a_function_cannot_be_recorded(path: Path) -> None:
    with pytest.raises(ValueError, match="a function cannot be saved"):
        nd.Collection.open(path, nd.Recipe(hash=lambda token: zlib.crc32(token.encode()), bits=32))
    assert not path.exists()


def test_names_and_places(tmp_path: Path) -> None:
    with pytest.raises(nd.CollectionError, match=r"must end in \.neardup; use .*seen\.neardup"):
        nd.Collection.open(tmp_path / "seen")
    file = tmp_path / "file.neardup"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(nd.CollectionError, match="a file; a collection is a folder"):
        nd.Collection.open(file)
    folder = tmp_path / "other.neardup"
    folder.mkdir()
    (folder / "thesis.docx").touch()
    with pytest.raises(nd.CollectionError, match=r"contains 'thesis\.docx'"):
        nd.Collection.open(folder)
    with pytest.raises(FileNotFoundError, match="no such collection"):
        nd.Collection.open(tmp_path / "none.neardup", read_only=True)
    with pytest.raises(FileNotFoundError):
        nd.Collection.open(tmp_path / "no" / "folder.neardup")
    with pytest.raises(ValueError, match='durability is \'high\'; it must be "full" or "normal"'):
        nd.Collection.open(tmp_path / "x.neardup", durability="high")  # type: ignore[arg-type]
    odd = tmp_path / "a folder? 100%25 #1.neardup"
    with nd.Collection.open(odd) as collection:
        collection.add([("a", CAT)])
    with nd.Collection.open(odd, read_only=True) as collection:
        assert len(collection) == 1
        with pytest.raises(nd.CollectionError, match="opened read-only"):
            collection.add([("b", CAT)])


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (99, "written by a newer neardup .format 99, this one reads up to 2"),
        (0, "unknown format 0"),
    ],
)
def test_other_versions_are_refused(path: Path, version: int, message: str) -> None:
    nd.Collection.open(path).close()
    database = sqlite3.connect(path / store.DATABASE)
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    with pytest.raises(nd.CollectionError, match=message):
        nd.Collection.open(path)


def test_another_database_is_refused(path: Path) -> None:
    path.mkdir()
    database = sqlite3.connect(path / store.DATABASE)
    database.execute("CREATE TABLE t (x)")
    database.close()
    with pytest.raises(nd.CollectionError, match="not the database of a neardup collection"):
        nd.Collection.open(path)


@pytest.mark.parametrize(("durability", "expected"), [("full", (2, 1)), ("normal", (1, 0))])
def test_how_the_disk_is_flushed(
    path: Path, durability: connection.Durability, expected: tuple[int, int]
) -> None:
    with nd.Collection.open(path, durability=durability) as collection:
        execute = collection._session.store.connection.execute
        names = ("synchronous", "fullfsync")
        assert tuple(execute(f"PRAGMA {x}").fetchone()[0] for x in names) == expected


def test_a_closed_collection_says_so(path: Path) -> None:
    collection = nd.Collection.open(path)
    collection.close()
    collection.close()
    for call in (
        lambda: len(collection),
        lambda: collection.add([("a", CAT)]),
        lambda: iter(collection),
        collection.documents,
        collection.verify,
    ):
        with pytest.raises(nd.CollectionError, match="is closed; open it again"):
            call()


def test_no_more_fingerprints_are_at_hand_than_said(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 40)
    monkeypatch.setattr(segments, "MAX_RECENT", 50)
    with nd.Collection.open(path) as collection:
        for number in range(20):
            collection.add([(f"{number}-{at}", f"text {number} of {at} {CAT}") for at in range(15)])
            collection.remove([f"{number}-3"])
            at_hand = collection._session.segments.recent.arrays
            assert sum(len(keys) for keys, _ in at_hand) <= 50
        assert len(collection) == 280
        assert collection.verify() == []


@pytest.mark.parametrize("limits", [{}, {"radius": 3}])
def test_the_first_and_the_last_document_of_a_segment_can_be_removed(
    path: Path, limits: dict[str, Any]
) -> None:
    with nd.Collection.open(path) as collection:
        collection.add([("cat", CAT), ("dog", DOG)])
        collection.compact()
        for id_, text in (("cat", CAT), ("dog", DOG)):
            assert [match.id for match in collection.check(text, **limits)] == [id_]
            collection.remove(id_)
            assert collection.check(text, **limits) == []
        assert collection.stats().segments == 1


def test_documents_without_a_signal_are_not_read_at_each_opening(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 10)
    with nd.Collection.open(path) as collection:
        for number in range(30):
            collection.add([(f"{number}-{at}", f"word{number}x{at}") for at in range(5)])
        assert collection.stats().segments == 1
        assert collection.stats().segment_entries == 0
        assert 150 - collection._session.segments.last_saved_key < 40
        assert collection.verify() == []
        assert collection.check(CAT) == []
        collection.compact()
    with nd.Collection.open(path) as again:
        assert again.verify() == []
        assert [match.id for match in again.check("word7x2")] == ["7-2"]
        for number in range(4):
            again.add([(f"{number} of {at}", f"text {number} of {at} {CAT}") for at in range(5)])
        assert again.stats().segment_entries == 20
        assert again.verify() == []
        assert len(again.check(CAT, 0.5)) == 20


def test_segments_are_rewritten_when_a_quarter_of_them_was_removed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 10)
    with nd.Collection.open(path) as collection:
        collection.add([(str(at), f"text number {at} {CAT}") for at in range(60)])
        collection.remove([str(at) for at in range(15)])
        assert (collection.stats().removed, collection.stats().segments) == (15, 1)
        collection.remove("15")
        assert (collection.stats().removed, collection.stats().segment_entries) == (0, 44)


def test_segments_are_written_and_merged_as_it_grows(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 10)
    with nd.Collection.open(path) as collection:
        sizes = set()
        for number in range(200):
            collection.add([(f"{number}-{at}", f"text {number} of {at} {CAT}") for at in range(3)])
            sizes.add(collection.stats().segments)
        assert max(sizes) <= 7
        assert collection.stats().tail < 10 + 3
        assert collection.verify() == []
        collection.remove([f"{number}-1" for number in range(200)])
        assert collection.verify() == []
        assert len(list(path.glob("segment-*"))) == 2 * collection.stats().segments
    with nd.Collection.open(path) as again:
        assert len(again) == 400
        assert again.get("7-1") is None
        assert len(again.check(f"text 7 of 2 {CAT}", 0.999, n=1)) == 1


@pytest.mark.parametrize("character", ["a", "é"])
def test_texts_are_packed_from_just_so_many_bytes_on(path: Path, character: str) -> None:
    import sqlite3

    from neardup.collection.schema import MIN_PACKED_BYTES

    count = MIN_PACKED_BYTES // len(character.encode())
    texts = [("less", character * (count - 1)), ("just", character * count)]
    with nd.Collection.open(path) as collection:
        collection.add(texts)
        assert [collection.get(id_).text for id_, _ in texts] == [text for _, text in texts]  # type: ignore[union-attr]
    with sqlite3.connect(path / "collection.sqlite") as connection:
        kinds = connection.execute("SELECT id, typeof(text) FROM documents ORDER BY key").fetchall()
    assert kinds == [("less", "text"), ("just", "blob")]


@pytest.mark.parametrize("newest", [False, True])
def test_pages_show_each_document_once_whatever_changes_meanwhile(path: Path, newest: bool) -> None:
    with nd.Collection.open(path) as collection:
        assert collection.page() == ([], None)
        collection.add([(f"d{n}", f"{CAT} {n}") for n in range(20)])
        collection.remove("d3")
        collection.add([("d5", DOG)])
        expected = [*collection.documents()][:: -1 if newest else 1]
        for n in (1, 2, 7, 18, 19, 20, 1000):
            found, after = collection.page(n, newest=newest)
            while after is not None:
                assert len(found) % n == 0
                more, after = collection.page(n, after=after, newest=newest)
                assert more
                found += more
            assert found == expected
        first, after = collection.page(10, newest=newest)
        collection.remove([stored.id for stored in first[5:]])
        rest, _ = collection.page(100, after=after, newest=newest)
        assert first + rest == expected
        with pytest.raises(ValueError, match="n is 0"):
            collection.page(0)
        with pytest.raises(ValueError, match="after is -1"):
            collection.page(after=-1)


def test_only_batches_of_many_take_memory_for_pages(path: Path) -> None:
    with nd.Collection.open(path) as collection:
        connection = collection._session.store.connection

        def kilobytes() -> int:
            found: int = connection.execute("PRAGMA cache_size").fetchone()[0]
            return -found

        collection.add([(f"a{n}", f"{CAT} {n}") for n in range(2000)])
        assert kilobytes() == 4096
        collection.add([(f"b{n}", f"{CAT} {n}") for n in range(2001)])
        assert kilobytes() == 16384
