"""Candidates by sketches: the same answers wherever they come from, and the same as `dedup`'s."""

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from helpers import borderline_pairs
from neardup.collection import segments, sketches
from neardup.collection import segments as files
from neardup.collection.store import DATABASE

TEXTS = [f"letter {at} to the editor about tram {at % 9} and its noise" for at in range(120)]


def grown(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A collection with segments and a tail, and what it answers."""
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 30)
    with nd.Collection.open(path) as collection:
        for at in range(0, 120, 8):
            collection.add([(str(n), TEXTS[n]) for n in range(at, min(at + 8, 120))])
        collection.remove(["17", "119"])
        stats = collection.stats()
        assert stats.segments
        assert stats.tail
        return answers(collection)


def test_opening_computes_no_sketches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = grown(path, monkeypatch)

    def refuse(*_: object) -> None:
        raise AssertionError("the database and the segments have all sketches")

    monkeypatch.setattr(sketches, "compute_sketches", refuse)
    with nd.Collection.open(path) as collection:
        assert answers(collection) == expected


def answers(collection: nd.Collection) -> list[Any]:
    return [
        collection.check(TEXTS).to_pylist(),
        [collection.check(text, 0.95, n=2) for text in TEXTS[::5]],
        collection.check(TEXTS, 0.8, recall=0.999).to_pylist(),
        collection.check(TEXTS, radius=12).to_pylist(),
    ]


def test_what_is_lost_is_made_from_the_texts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = grown(path, monkeypatch)
    for file in path.glob("*.sketches"):
        file.unlink()
    with closing(sqlite3.connect(path / DATABASE)) as database, database:
        assert database.execute("SELECT count(*) FROM sketches").fetchone()[0]
        database.execute("UPDATE sketches SET checksum = checksum + 1 WHERE first % 2 = 0")
        database.execute("DELETE FROM sketches WHERE first % 2 = 1")
    with nd.Collection.open(path, read_only=True) as collection:
        assert answers(collection) == expected
        assert any("sketches" in problem for problem in collection.verify())
    with nd.Collection.open(path) as collection:
        assert answers(collection) == expected
        collection.add([("more", "something else altogether was said here")])
        assert collection.verify() == []
        assert list(path.glob("*.sketches"))
        assert answers(collection) == expected


def test_segments_with_fewer_tables(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a version wrote them whose plan had fewer: they are read as they are, and get the further
    tables when they are next written."""
    new = path.with_name("new.neardup")
    expected = grown(new, monkeypatch)
    with monkeypatch.context() as before:
        before.setattr(sketches, "DEFAULT_RECALL", 0.9)
        grown(path, before)
    old = {file: file.read_bytes() for file in path.glob("*.sketches")}
    assert sum(map(len, old.values())) < sum(x.stat().st_size for x in new.glob("*.sketches"))
    with nd.Collection.open(path) as collection:
        assert answers(collection) == expected
        assert collection.verify() == []
        assert {file: file.read_bytes() for file in path.glob("*.sketches")} == old
        collection.compact()
        assert answers(collection) == expected
        assert collection.verify() == []
    with nd.Collection.open(new) as collection:
        collection.compact()
    (written,), (wanted,) = (list(folder.glob("*.sketches")) for folder in (path, new))
    assert written.read_bytes() == wanted.read_bytes()


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_a_segment_cut_short_while_it_is_mapped(
    path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    expected = grown(path, monkeypatch)
    with nd.Collection.open(path) as collection:
        assert answers(collection) == expected
        for file in path.glob(f"segment-*{suffix}"):
            os.truncate(file, file.stat().st_size // 2)
        assert answers(collection) == expected
        collection.add([("more", "something else altogether was said here")])
        assert collection.verify() == []
        assert answers(collection) == expected


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_removing_from_a_segment_cut_short(
    path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    grown(path, monkeypatch)
    with nd.Collection.open(path) as collection:
        answers(collection)
        for file in path.glob(f"segment-*{suffix}"):
            os.truncate(file, 0)
        assert collection.remove([str(n) for n in range(80)]) == 79
        assert [x.id for x in collection.check(TEXTS[100], 0.999)] == ["100"]
        assert not {int(x.id) for x in collection.check(TEXTS[3], 0.5)} & set(range(80))
        collection.compact()
        assert collection.verify() == []


def test_what_verify_finds_in_sketches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are sound and say something else."""
    with nd.Collection.open(path) as collection:
        collection.add([("a", TEXTS[0]), ("b", TEXTS[1])])
        collection.compact()
        collection.add([("c", TEXTS[2])])
    with nd.Collection.open(path.with_name("other.neardup")) as other:
        other.add([("a", TEXTS[0]), ("b", TEXTS[5])])
        other.compact()
        other.add([("c", TEXTS[7])])
    (foreign,) = path.with_name("other.neardup").glob("*.sketches")
    (file,) = path.glob("*.sketches")
    file.write_bytes(foreign.read_bytes())
    size, sum_ = files.file_stamp(file)
    with closing(sqlite3.connect(path / DATABASE)) as database, database:
        database.execute("UPDATE segments SET sketch_size = ?, sketch_checksum = ?", (size, sum_))
        database.execute("ATTACH ? AS other", (str(path.with_name("other.neardup") / DATABASE),))
        database.execute("DELETE FROM main.sketches")
        database.execute("INSERT INTO main.sketches SELECT * FROM other.sketches")
    with nd.Collection.open(path) as collection:
        problems = collection.verify()
        assert any("the document with key 2 has a wrong sketch" in x for x in problems)
        assert any("the sketches of keys 3 to 3 do not match" in x for x in problems)
        collection.compact()
        assert collection.verify() == []


def test_without_texts_there_are_none(path: Path) -> None:
    with nd.Collection.open(path, store_text=False) as collection:
        collection.add([(str(n), text) for n, text in enumerate(TEXTS)])
        collection.compact()
        collection.add([("more", "something else altogether was said here")])
        assert collection.verify() == []
        assert collection.check(TEXTS[3], radius=0)[0].id == "3"
    assert not list(path.glob("*.sketches"))
    with closing(sqlite3.connect(path / DATABASE)) as database:
        assert database.execute("SELECT count(*) FROM sketches").fetchone()[0] == 0


def test_equal_texts_in_many_places(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equals the first come first, whether in segments, in the tail, or in the batch."""
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 20)
    with nd.Collection.open(path) as collection:
        for at in range(0, 60, 6):
            collection.add([(str(n), TEXTS[n % 2]) for n in range(at, at + 6)])
        collection.remove(["0", "2"])
        assert [x.id for x in collection.check(TEXTS[0], n=3)] == ["4", "6", "8"]
        assert [x.id for x in collection.check(TEXTS[0], 0.999)] == [
            str(n) for n in range(4, 60, 2)
        ]
        again = [("x", TEXTS[0]), ("4", TEXTS[0]), ("y", TEXTS[50]), ("z", TEXTS[50])]
        found = collection.add(again, unless_duplicate=True, similarity=0.999)
        assert [x.dup_of for x in found] == ["4", "6", None, "y"]


def at_the_edge(count: int) -> list[str]:
    """Short texts, each followed by one that is just near enough, at the default question."""
    rng, recipe = random.Random(3), nd.Recipe()
    pool = [borderline_pairs.equal_weights(rng) for _ in range(50)]
    texts: list[str] = []
    for draw in (borderline_pairs.equal_weights, borderline_pairs.template):
        kind = borderline_pairs.Kind(draw, pool)
        for edit in borderline_pairs.EDITS.values():
            for pair in borderline_pairs.pairs(kind, edit, 0.85, count, rng, recipe):
                texts += pair
    return texts


def test_one_by_one_in_a_batch_and_dedup_agree(path: Path) -> None:
    texts = at_the_edge(6)
    documents = [(str(at), text) for at, text in enumerate(texts)]
    removed = {at for at in range(len(texts)) if at not in set(nd.dedup(texts).kept)}
    outcomes = []
    for size in (1, 7, len(texts)):
        with nd.Collection.open(path.with_name(f"{size}.neardup"), durability="normal") as seen:
            found = [
                x
                for at in range(0, len(texts), size)
                for x in seen.add(documents[at : at + size], unless_duplicate=True)
            ]
        outcomes.append(found)
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert {int(x.id) for x in outcomes[0] if x.status == "duplicate"} == removed
    assert len(removed) >= 0.45 * len(texts)


def test_checks_agree_with_comparisons(path: Path) -> None:
    """Each that is found is near by `compare`; and nearly all that are near are found."""
    texts = at_the_edge(4)
    found = near = 0
    with nd.Collection.open(path) as seen:
        seen.add([(str(at), text) for at, text in enumerate(texts[::2])])
        for at, text in enumerate(texts[1::2]):
            matches = {x.id: x.similarity for x in seen.check(text)}
            for id_, similarity in matches.items():
                assert similarity == nd.similarity(text, texts[2 * int(id_)])
            near += 1
            found += str(at) in matches
    assert found >= 0.97 * near
