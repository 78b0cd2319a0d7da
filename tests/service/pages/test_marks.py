"""Marks are durable, one a pair; precision and recall are what they say."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.collection import Collection
from neardup.service.pages.marks import (
    NOTES_NAME,
    Mark,
    Marks,
    NotesError,
    NotesFile,
    Verdict,
    score,
)


def mark(left: str, right: str, verdict: Verdict = "same", similarity: float = 0.9) -> Mark:
    return Mark(left, right, verdict, similarity, 3, 1_700_000_000.0)


def test_nothing_is_written_before_something_is_marked(tmp_path: Path) -> None:
    marks = Marks(NotesFile(tmp_path))
    assert marks.all() == []
    assert marks.get("a", "b") is None
    assert not (tmp_path / NOTES_NAME).exists()


def test_a_pair_has_one_mark_in_whichever_order(tmp_path: Path) -> None:
    marks = Marks(NotesFile(tmp_path))
    marks.put(mark("b", "a"))
    marks.put(mark("a", "b", "different"))
    assert marks.get("b", "a") == marks.get("a", "b") == "different"
    assert [(each.left, each.right) for each in marks.all()] == [("a", "b")]
    # Another one who opens the file sees it.
    assert Marks(NotesFile(tmp_path)).get("a", "b") == "different"
    marks.remove("b", "a")
    assert marks.all() == []


def test_wrong_marks_are_refused(tmp_path: Path) -> None:
    marks = Marks(NotesFile(tmp_path))
    with pytest.raises(ValueError, match="a mark needs two documents"):
        marks.put(mark("a", "a"))
    with pytest.raises(ValueError, match="it must be one of"):
        marks.put(mark("a", "b", "perhaps"))  # type: ignore[arg-type]
    assert marks.all() == []


def test_ids_of_all_kinds_come_back(tmp_path: Path) -> None:
    marks = Marks(NotesFile(tmp_path))
    names = ["", "'; DROP TABLE marks; --", "\0", "日本", "a\r\nb", "\u202e", "x" * 5000]
    for name in names:
        marks.put(mark("m", name))
    found = {name for each in marks.all() for name in (each.left, each.right)}
    assert found == {*names, "m"}


def test_many_threads_mark_at_once(tmp_path: Path) -> None:
    marks = Marks(NotesFile(tmp_path))

    def work(who: int) -> None:
        for at in range(10):
            marks.put(mark(f"{who}", f"other {at}"))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(marks.all()) == 40


def test_a_damaged_file_and_a_missing_folder_are_reported(tmp_path: Path) -> None:
    (tmp_path / NOTES_NAME).write_bytes(b"junk " * 100)
    with pytest.raises(NotesError, match=NOTES_NAME):
        Marks(NotesFile(tmp_path)).all()
    with pytest.raises(NotesError, match=NOTES_NAME):
        Marks(NotesFile(tmp_path / "nowhere")).put(mark("a", "b"))


def test_a_file_with_a_table_of_an_older_version_is_read_and_written(tmp_path: Path) -> None:
    marks = Marks(NotesFile(tmp_path))
    marks.put(mark("a", "b"))
    with closing(sqlite3.connect(tmp_path / NOTES_NAME)) as connection, connection:
        connection.execute("CREATE TABLE growth (hour INTEGER PRIMARY KEY, documents INTEGER)")
        connection.execute("INSERT INTO growth VALUES (1, 2)")
    marks.put(mark("c", "d"))
    assert len(marks.all()) == 2


def test_a_collection_does_not_mind_the_file(tmp_path: Path) -> None:
    path = tmp_path / "c.neardup"
    with Collection.open(path) as collection:
        collection.add([("a", "one two three four five"), ("b", "six seven eight nine ten")])
        Marks(NotesFile(path)).put(mark("a", "b"))
        collection.compact()
        assert collection.verify() == []
    with Collection.open(path) as collection:
        assert len(collection) == 2
        assert Marks(NotesFile(path)).get("a", "b") == "same"
    with sqlite3.connect(path / NOTES_NAME) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["same", "different"]))), st.floats(0, 1)
)
def test_scores_are_those_of_the_definition(
    given_: list[tuple[float, Verdict]], threshold: float
) -> None:
    marks = [
        mark(f"l{at}", f"r{at}", verdict, similarity)
        for at, (similarity, verdict) in enumerate(given_)
    ]
    found = score(marks, threshold)
    near = [verdict for similarity, verdict in given_ if similarity >= threshold]
    same = [similarity for similarity, verdict in given_ if verdict == "same"]
    assert found.precision == (near.count("same") / len(near) if near else None)
    reached = sum(similarity >= threshold for similarity in same)
    assert found.recall == (reached / len(same) if same else None)
    assert sum(found[1:]) == len(given_)
