"""Files of ranked search: lost, damaged, written by others, cut short; the answers stay."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from helpers.search_corpus import batch, files, same
from neardup import _core
from neardup.collection import postings, segments
from neardup.collection import postings as terms
from neardup.collection.schema import DocumentCounts, unpack_text


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "TAIL_DOCUMENTS", 20)
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 30)


@pytest.fixture
def grown(path: Path) -> dict[str, str]:
    documents = dict(batch(0, 130))
    with nd.Collection.open(path, search=True) as collection:
        for number in range(0, 130, 26):
            collection.add(batch(number, 26))
        collection.remove(["d3", "d77"])
    del documents["d3"], documents["d77"]
    assert files(path)
    return documents


def spoilt(path: Path, how: str) -> None:
    name = path / files(path)[0]
    data = bytearray(name.read_bytes())
    if how == "lost":
        name.unlink()
        return
    if how == "cut":
        del data[len(data) // 2 :]
    elif how == "empty":
        data.clear()
    elif how == "junk":
        data[: len(data)] = os.urandom(len(data))
    else:
        data[len(data) * int(how) // 100] ^= 0x55
    name.write_bytes(data)


@pytest.mark.parametrize("how", ["lost", "cut", "empty", "junk", "0", "2", "10", "40", "70", "99"])
def test_a_file_that_is_lost_or_damaged_is_made_anew(
    path: Path, grown: dict[str, str], how: str
) -> None:
    spoilt(path, how)
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, grown)
        assert how == "lost" or any("postings" in what for what in collection.verify())
    with nd.Collection.open(path) as collection:
        same(collection, grown)
        collection.compact()
        assert collection.verify() == []
        same(collection, grown)
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, grown)
        assert collection.verify() == []


def test_damage_that_comes_while_it_is_open(path: Path, grown: dict[str, str]) -> None:
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, grown)
        for name in files(path):
            os.truncate(path / name, 100)
        same(collection, grown)


def test_a_file_of_another_collection_is_not_taken(
    path: Path, tmp_path: Path, grown: dict[str, str]
) -> None:
    other = tmp_path / "other.neardup"
    with nd.Collection.open(other, search=True) as collection:
        collection.add([(id_, f"{text} other words") for id_, text in batch(0, 130)])
    for name in files(path):
        (path / name).unlink()
    for name in files(other):
        shutil.copy(other / name, path / name)
    with nd.Collection.open(path) as collection:
        same(collection, grown)


def test_a_database_restored_from_a_copy(path: Path, tmp_path: Path) -> None:
    """Files that know more than the database are not used, nor when their keys are given again."""
    with nd.Collection.open(path, search=True) as collection:
        collection.add(batch(0, 30))
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path / "collection.sqlite", copy)
    with nd.Collection.open(path) as collection:
        collection.add(batch(500, 60))
    shutil.copy(copy, path / "collection.sqlite")
    documents = dict(batch(0, 30))
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, documents)
    with nd.Collection.open(path) as collection:
        collection.add(batch(200, 3))
        documents.update(batch(200, 3))
        same(collection, documents)
        collection.add(batch(300, 70))
    documents.update(batch(300, 70))
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, documents)


def test_of_files_that_begin_at_the_same_key_the_longest_is_opened() -> None:
    ranges = [(1, 40), (1, 20), (21, 40), (41, 60), (61, 80)]
    headers = [terms.PostingsFile(Path(), *keys, documents=20, removals=1) for keys in ranges]
    counts = DocumentCounts(next_key=61)
    chosen = terms._consecutive_files(headers, counts)
    assert [(file.first, file.last) for file in chosen] == [(1, 40), (41, 60)]


def test_strays_are_cleaned_by_the_next_writer(path: Path, grown: dict[str, str]) -> None:
    for name in ("terms-1-9.postings", "terms-1-9.postings.77-0.tmp", "terms-500-900.postings"):
        (path / name).write_bytes(b"stray")
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, grown)
    assert (path / "terms-1-9.postings").exists()
    with nd.Collection.open(path) as collection:
        collection.add([])
        collection.add([("new", "w1 w2")])
        grown["new"] = "w1 w2"
        same(collection, grown)
        assert collection.verify() == []
    assert not (path / "terms-1-9.postings.77-0.tmp").exists()
    assert "terms-500-900.postings" not in files(path)


def test_a_file_that_cannot_be_written_is_no_error(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = dict(batch(0, 90))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with nd.Collection.open(path, search=True) as collection:
        with monkeypatch.context() as patched:
            patched.setattr(postings.Postings, "_write", fail)
            collection.add(batch(0, 45))
            assert files(path) == []
            with pytest.raises(OSError, match="No space left"):
                collection.compact()
        collection.add(batch(45, 45))
        same(collection, documents)
        collection.compact()
        assert files(path) == ["terms-1-90.postings"]
        same(collection, documents)


def test_another_process_adds_and_compacts(path: Path) -> None:
    code = """
import sys, neardup as nd
from neardup.collection import postings, segments
postings.TAIL_DOCUMENTS, segments.TAIL_FINGERPRINTS = 20, 30
sys.path.insert(0, sys.argv[2])
from helpers.search_corpus import batch
with nd.Collection.open(sys.argv[1]) as collection:
    for line in sys.stdin:
        exec(line)
        print("done", flush=True)
"""
    documents = dict(batch(0, 40))
    with nd.Collection.open(path, search=True) as collection:
        collection.add(documents.items())
    command = [sys.executable, "-c", code, str(path), str(Path(__file__).parents[1])]
    with (
        nd.Collection.open(path, read_only=True) as reader,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as writer,
    ):
        assert writer.stdin
        assert writer.stdout

        def do(line: str) -> None:
            print(line, file=writer.stdin, flush=True)
            assert writer.stdout
            assert writer.stdout.readline() == "done\n"

        same(reader, documents)
        do("collection.add(batch(40, 35))")
        documents.update(batch(40, 35))
        same(reader, documents)
        do("collection.remove(['d1', 'd60'])")
        del documents["d1"], documents["d60"]
        same(reader, documents)
        do("collection.remove(['d2']); collection.compact()")
        del documents["d2"]
        same(reader, documents)
        do("collection.add(batch(1, 1)); collection.compact()")
        documents.update(batch(1, 1))
        same(reader, documents)
        writer.stdin.close()


KILLED = """
import sys, neardup as nd
from neardup.collection import postings, segments
postings.TAIL_DOCUMENTS, segments.TAIL_FINGERPRINTS = 20, 30
sys.path.insert(0, sys.argv[2])
from helpers.search_corpus import batch
with nd.Collection.open(sys.argv[1]) as collection:
    first = len(collection)
    while True:
        collection.add(batch(first, 11))
        print(first, flush=True)
        first += 11
        if first % 3 == 0:
            collection.compact()
"""


@pytest.mark.parametrize("rounds", [5, pytest.param(200, marks=pytest.mark.nightly)])
def test_killed_at_any_moment(path: Path, rounds: int) -> None:
    rng = random.Random(1)
    nd.Collection.open(path, search=True).close()
    command = [sys.executable, "-c", KILLED, str(path), str(Path(__file__).parents[1])]
    told = -1
    for _ in range(rounds):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            for _ in range(rng.randint(1, 12)):
                told = int(writer.stdout.readline())
            # Now and then in the middle of something.
            try:
                writer.wait(rng.random() * 0.02)
            except subprocess.TimeoutExpired:
                writer.kill()
        with nd.Collection.open(path, read_only=True) as collection:
            count = len(collection)
            assert count >= told + 11
            assert count % 11 == 0
            assert collection.verify() == []
            same(collection, dict(batch(0, count)))


# ------------------------------------------------------------------- what a writer and readers mend


def struck(path: Path, name: str) -> None:
    """Damage in the middle of a file, which only those see who read it there."""
    data = bytearray((path / name).read_bytes())
    middle = len(data) * 7 // 10
    data[middle : middle + 64] = bytes(byte ^ 0xFF for byte in data[middle : middle + 64])
    (path / name).write_bytes(data)


@pytest.fixture
def large(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A file of some blocks: what is wrong in a later one is not seen when it is opened."""
    monkeypatch.setattr(postings, "TAIL_DOCUMENTS", 200)
    documents = {f"a{number}": f"hello x{number} tea and some words" for number in range(3000)}
    with nd.Collection.open(path, search=True) as collection:
        collection.add(documents.items())
    struck(path, files(path)[0])
    return documents


def test_compact_mends_without_a_search_before(path: Path, large: dict[str, str]) -> None:
    with nd.Collection.open(path) as collection:
        assert collection.verify()
        collection.compact()
        assert collection.verify() == []
        same(collection, large)
    assert files(path) == ["terms-1-3000.postings"]


def test_a_writer_that_only_adds_mends(path: Path, large: dict[str, str]) -> None:
    with nd.Collection.open(path) as collection:
        for number in range(0, 4000, 400):
            collection.add(batch(number, 400))
            large.update(batch(number, 400))
        assert collection.verify() == []
        same(collection, large)


@pytest.mark.parametrize("search", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError])
@pytest.mark.parametrize("late", [True, False])
def test_an_interruption_while_texts_are_read(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    search: bool,
    error: type[BaseException],
    late: bool,
) -> None:
    monkeypatch.setattr(postings, "BATCH_TEXTS", 5)
    documents = dict(batch(0, 30))
    add, calls = terms.FeatureTerms.add, 0

    def interrupted(self: terms.FeatureTerms, *given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls != 2:
            add(self, *given)
        elif late:
            add(self, *given)
            raise error
        else:
            raise error

    with nd.Collection.open(path, search=search) as collection:
        collection.add(documents.items())
        same(collection, documents)
        collection.remove(["d4"])
        del documents["d4"]
        # Fewer than a file is made of: they are read when somebody asks.
        collection.add(batch(30, 19))
        documents.update(batch(30, 19))
        with monkeypatch.context() as patched:
            patched.setattr(terms.FeatureTerms, "add", interrupted)
            with pytest.raises(error):
                collection.search("w1")
        assert calls == 2
        same(collection, documents)
        collection.remove(["d31"])
        del documents["d31"]
        same(collection, documents)


def test_postings_read_before_an_interruption_are_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "BATCH_TEXTS", 10)
    read: list[Any] = []

    def noted(text: Any) -> str | None:
        if len(read) == 35:
            read.append(None)
            raise KeyboardInterrupt
        read.append(text)
        return unpack_text(text)

    monkeypatch.setattr(postings, "unpack_text", noted)
    with nd.Collection.open(path) as collection:
        collection.add(batch(0, 50))
        with pytest.raises(KeyboardInterrupt):
            collection.search("w1")
        read.append(None)
        same(collection, dict(batch(0, 50)))
    # Thirty were in; the five after them, the interruption, and the mark are counted too.
    assert len(read) == 50 + 5 + 2


@pytest.mark.parametrize("searched", [True, False])
@pytest.mark.parametrize("count", [49, 50, 51, 99, 100, 101, 230])
def test_more_documents_than_a_file_may_have(
    path: Path, monkeypatch: pytest.MonkeyPatch, count: int, searched: bool
) -> None:
    monkeypatch.setattr(postings, "MAX_DOCUMENTS", 50)
    documents = dict(batch(0, count))
    with nd.Collection.open(path) as collection:
        collection.add(documents.items())
    with nd.Collection.open(path, search=True) as collection:
        if searched:
            # All of it is in memory when it is written, in parts of any size.
            for name in files(path):
                (path / name).unlink()
            collection._postings.reset()
            same(collection, documents)
            collection.compact()
        assert len(files(path)) == -(-count // 50)
        assert largest(path) <= 50
        same(collection, documents)
        assert collection.verify() == []
        collection.add(batch(count, 25))
        documents.update(batch(count, 25))
        same(collection, documents)
        gone = sorted(documents)[::2]
        collection.remove(gone)
        for id_ in gone:
            del documents[id_]
        collection.compact()
        # Files that are half empty by now become one.
        assert len(files(path)) <= len(documents) // 25 + 1
        assert largest(path) <= 50
        same(collection, documents)
        assert collection.verify() == []
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, documents)


def largest(path: Path) -> int:
    covered = [_core.TermIndex.covered(str(path / name)) for name in files(path)]
    return max(documents for _, _, documents, _, _ in covered)


def test_damage_in_one_of_many_full_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "MAX_DOCUMENTS", 50)
    documents = dict(batch(0, 180))
    with nd.Collection.open(path, search=True) as collection:
        collection.add(documents.items())
    for name in files(path)[:2]:
        struck(path, name)
    with nd.Collection.open(path) as collection:
        collection.compact()
        assert collection.verify() == []
        assert largest(path) == 50
        same(collection, documents)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_decision_that_fails_is_none(
    path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(postings, "MAX_DOCUMENTS", 50)
    documents = dict(batch(0, 120))
    with nd.Collection.open(path) as collection:
        collection.add(documents.items())
    save, calls = postings.Postings._save, 0

    def full(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(28, "No space left on device")
        return save(*given)

    with monkeypatch.context() as patched:
        patched.setattr(postings.Postings, "_save", full)
        with pytest.raises(OSError, match="No space left"):
            nd.Collection.open(path, search=True)
    assert calls == at
    assert files(path) == []
    with nd.Collection.open(path) as collection:
        assert not collection.keeps_search
        collection.add(batch(500, 1))
    with nd.Collection.open(path, search=True) as collection:
        same(collection, documents | dict(batch(500, 1)))
    assert len(files(path)) == 3


def test_a_writer_that_was_open_when_another_decided(path: Path) -> None:
    documents = dict(batch(0, 30))
    with nd.Collection.open(path) as collection:
        collection.add(documents.items())
    with nd.Collection.open(path) as early:
        nd.Collection.open(path, search=True).close()
        early.add(batch(30, 1))
        assert files(path) == ["terms-1-30.postings"]
        assert early.keeps_search
        early.add(batch(31, 40))
        documents.update(batch(30, 41))
        same(early, documents)
    assert "-71." in files(path)[-1]
    with nd.Collection.open(path) as early:
        nd.Collection.open(path, search=False).close()
        early.add(batch(71, 40))
        documents.update(batch(71, 40))
        assert not early.keeps_search
        same(early, documents)
    assert files(path) == []


@pytest.mark.parametrize("moment", ["listed", "chosen", "counted"])
def test_a_file_replaced_just_when_it_is_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The reader takes the file that came instead, and reads no text."""
    with nd.Collection.open(path, search=True) as writer:
        writer.add(batch(0, 60))
        writer.compact()
        read, ready, ((_, last),) = 0, 0, batch(60, 1)
        chain, paths, settled = (
            postings._consecutive_files,
            postings.postings_paths,
            postings.Postings._open_consistent,
        )

        def replace() -> None:
            nonlocal ready
            if ready:
                ready = 0
                writer.add(batch(60, 1))
                writer.remove(["d5"])
                writer.compact()

        def listed(*given: Any) -> Any:
            found = paths(*given)
            if moment == "listed":
                replace()
            return found

        def chosen(*given: Any) -> Any:
            found = [*chain(*given)]
            if moment == "chosen":
                replace()
            return iter(found)

        def counted(*given: Any, **options: Any) -> Any:
            if moment == "counted":
                replace()
            return settled(*given, **options)

        monkeypatch.setattr(postings, "postings_paths", listed)
        monkeypatch.setattr(postings, "_consecutive_files", chosen)
        monkeypatch.setattr(postings.Postings, "_open_consistent", counted)

        def noted(text: Any) -> str | None:
            nonlocal read
            # The writer reads the one that it adds.
            read += unpack_text(text) != last
            return unpack_text(text)

        monkeypatch.setattr(postings, "unpack_text", noted)
        documents = dict(batch(0, 61))
        del documents["d5"]
        with nd.Collection.open(path, read_only=True) as reader:
            ready = 1
            reader.search("w1")
            assert not ready
            assert read == 0
            same(reader, documents)
            assert reader._postings.search._damaged == []
            assert read == 0


def test_unused_files_are_ignored(path: Path, tmp_path: Path) -> None:
    """After a database was restored from a copy, those of what came later."""
    with nd.Collection.open(path, search=True) as collection:
        collection.add(batch(0, 30))
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path / "collection.sqlite", copy)
    with nd.Collection.open(path) as collection:
        collection.add(batch(500, 90))
        collection.remove(["d3"])
        collection.compact()
    shutil.copy(copy, path / "collection.sqlite")
    (name,) = files(path)
    struck(path, name)
    other = tmp_path / "other.neardup"
    with nd.Collection.open(other, search=True) as collection:
        collection.add(batch(0, 25))
    shutil.copy(other / files(other)[0], path / files(other)[0])
    with nd.Collection.open(path, read_only=True) as collection:
        assert not [what for what in collection.verify() if "postings" in what]
        same(collection, dict(batch(0, 30)))
    # One that cannot be read at all might have been needed.
    (path / "terms-1-30.postings").write_bytes(b"junk")
    with nd.Collection.open(path, read_only=True) as collection:
        (problem,) = [what for what in collection.verify() if "postings" in what]
        assert "terms-1-30.postings" in problem
