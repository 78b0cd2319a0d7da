"""Ranked search of a collection: the answers of its texts."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import neardup as nd
from helpers.search_corpus import batch, files, same, text
from neardup.collection import postings, segments
from neardup.collection.schema import unpack_text


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "TAIL_DOCUMENTS", 20)
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 30)


@pytest.mark.parametrize("search", [True, False, None])
def test_documents_come_and_go(path: Path, search: bool | None) -> None:
    documents: dict[str, str] = {}
    rng = random.Random(3)
    with nd.Collection.open(path, search=search) as collection:
        assert collection.keeps_search == bool(search)
        same(collection, documents)
        for step in range(12):
            some = batch(step * 10, rng.randint(1, 15))
            # An update is a new document: it comes last.
            for id_, new in some:
                documents.pop(id_, None)
                documents[id_] = new
            collection.add(some)
            if step % 3 == 2:
                gone = rng.sample(sorted(documents), 4)
                collection.remove(gone)
                for id_ in gone:
                    del documents[id_]
            if step % 2:
                same(collection, documents)
            if step == 7:
                collection.compact()
        same(collection, documents)
        assert collection.verify() == []
    assert bool(files(path)) == bool(search)
    with nd.Collection.open(path, read_only=True) as collection:
        assert collection.keeps_search == bool(search)
        same(collection, documents)


def test_one_text_and_several(path: Path) -> None:
    with nd.Collection.open(path) as collection:
        collection.add(batch(0, 30))
        queries = [text(3), "w1 w2", ""]
        many = collection.search(queries, n=3)
        assert many.column_names == ["query", "id", "score", "distance"]
        for at, query in enumerate(queries):
            own = many.filter(pa.compute.equal(many["query"], at)).drop_columns(["query"])
            assert own.to_pylist() == collection.search(query, n=3).to_pylist()
        assert nd.search("w1 w2", collection, 3).equals(collection.search("w1 w2", 3))
        assert nd.search("w1", collection, recipe="default").num_rows == 6
        with pytest.raises(nd.CollectionError, match="created with the recipe"):
            nd.search("w1", collection, recipe="simhash")
        with pytest.raises(ValueError, match="n is 0"):
            collection.search("w1", n=0)
        with pytest.raises(TypeError, match="query is of type int"):
            collection.search(5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="lone surrogate"):
            collection.search("\ud800")
    with pytest.raises(nd.CollectionError, match="is closed"):
        collection.search("w1")


def test_without_texts(path: Path) -> None:
    with pytest.raises(nd.CollectionError, match="stores no texts, and search is True"):
        nd.Collection.open(path, store_text=False, search=True)
    assert not path.exists()
    with nd.Collection.open(path, store_text=False) as collection:
        collection.add(batch(0, 30))
        assert collection.search(text(4), n=1, by="simhash")["id"].to_pylist() == ["d4"]
        with pytest.raises(nd.CollectionError, match='stores no texts, and by is "cosine"'):
            collection.search("w1")
    with pytest.raises(nd.CollectionError, match="stores no texts, and search is True"):
        nd.Collection.open(path, search=True)


def test_decided_later(path: Path) -> None:
    documents = dict(batch(0, 50))
    with nd.Collection.open(path) as collection:
        collection.add(documents.items())
    assert files(path) == []
    with nd.Collection.open(path, search=True) as collection:
        assert files(path) == ["terms-1-50.postings"]
        same(collection, documents)
    with nd.Collection.open(path) as collection:
        assert collection.keeps_search
    with nd.Collection.open(path, search=False) as collection:
        assert files(path) == []
        same(collection, documents)
    with nd.Collection.open(path) as collection:
        assert not collection.keeps_search
    with pytest.raises(nd.CollectionError, match="opened read-only"):
        nd.Collection.open(path, search=True, read_only=True)
    with pytest.raises(TypeError, match="search is 'yes'; it must be True, False or None"):
        nd.Collection.open(path, search="yes")  # type: ignore[arg-type]


def test_few_files_whose_sizes_grow(path: Path) -> None:
    """A posting is written a few times in its life, and not with every file."""
    written = 0
    with nd.Collection.open(path, search=True) as collection:
        for number in range(0, 1500, 10):
            before = {name: (path / name).stat().st_mtime_ns for name in files(path)}
            collection.add(batch(number, 10))
            for name in files(path):
                if before.get(name) != (path / name).stat().st_mtime_ns:
                    first, last = name.removesuffix(".postings").split("-")[1:]
                    written += int(last) - int(first) + 1
            assert len(files(path)) <= 8
        same(collection, dict(batch(0, 1500)))
    assert written < 1500 * 8
    assert files(path)[0].startswith("terms-1-")


def test_opening_reads_only_what_is_not_in_files(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with nd.Collection.open(path, search=True) as collection:
        collection.add(batch(0, 95))
        collection.add(batch(95, 5))
    read: list[Any] = []

    def noted(text: Any) -> str | None:
        read.append(text)
        return unpack_text(text)

    monkeypatch.setattr(postings, "unpack_text", noted)
    with nd.Collection.open(path, read_only=True) as collection:
        same(collection, dict(batch(0, 100)))
    assert len(read) == 5


# ---------------------------------------------------------------------------- files that are wrong


def test_stats_say_what_is_kept(path: Path) -> None:
    with nd.Collection.open(path) as collection:
        collection.add(batch(0, 30))
        found = collection.stats()
        assert (found.search, found.runs, found.postings_bytes) == (False, False, 0)
    with nd.Collection.open(path, search=True) as collection:
        found = collection.stats()
        size = (path / files(path)[0]).stat().st_size
        assert (found.search, found.runs, found.postings_bytes) == (True, False, size)
    with nd.Collection.open(path, runs=True) as collection:
        found = collection.stats()
        assert (found.search, found.runs) == (True, True)
        assert found.postings_bytes == sum(x.stat().st_size for x in path.glob("*.postings"))
        assert [*found.as_dict()][-3:] == ["search", "runs", "postings_bytes"]
