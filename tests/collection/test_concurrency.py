"""Readers and a writer in one process: nobody waits for the writer, nobody sees half a change."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.collection import segments, session
from neardup.collection.segments import Segments
from neardup.collection.store import Store

CAT = "the cat sat on the mat and looked at the moon over the harbour"
DOG = "a dog barked all night at nothing in particular, says the neighbour"


@contextmanager
def held(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, work: Callable[[], object]
) -> Iterator[None]:
    """In here another thread does some work, and is stopped in the middle."""
    there, go_on = threading.Event(), threading.Event()
    real = getattr(owner, name)

    def stopped(*given: Any, **options: Any) -> Any:
        there.set()
        assert go_on.wait(30)
        return real(*given, **options)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, stopped)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert there.wait(30)
            yield
        finally:
            go_on.set()
            thread.join()


@pytest.mark.parametrize(("owner", "name"), [(Store, "set_counts"), (Segments, "apply")])
def test_searches_do_not_wait_for_an_addition(
    path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    with nd.Collection.open(path) as collection:
        collection.add([("cat", CAT), ("word", "hello")])
        with held(monkeypatch, owner, name, lambda: collection.add([("dog", DOG)])):
            assert [x.id for x in collection.check(CAT)] == ["cat"]
            assert [x.id for x in collection.check(CAT, radius=3)] == ["cat"]
            assert collection.check(["hello", DOG]).column("id").to_pylist() == ["word"]
            assert len(collection) == 2
            assert "cat" in collection
            assert collection.get("word")
            assert collection.stats().documents == 2
        assert [x.id for x in collection.check(DOG)] == ["dog"]
        assert len(collection) == 3


@pytest.mark.parametrize("name", ["_save_codes", "_open_segment"])
def test_searches_do_not_wait_for_a_compaction(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with nd.Collection.open(path) as collection:
        collection.add([("cat", CAT), ("dog", DOG)])
        collection.compact()
        collection.add([("more", f"{CAT} {DOG}")])
        assert [x.id for x in collection.check(CAT)] == ["cat"]
        with held(monkeypatch, Segments, name, collection.compact):
            assert [x.id for x in collection.check(CAT)] == ["cat"]
            assert [x.id for x in collection.check(f"{CAT} {DOG}", radius=0)] == ["more"]
        assert collection.stats().tail == 0
        assert [x.id for x in collection.check(f"{CAT} {DOG}")] == ["more"]


@pytest.mark.parametrize("tail", [4, segments.TAIL_FINGERPRINTS])
def test_what_is_always_there_is_always_found_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, tail: int
) -> None:
    """A document is replaced again and again by one that is as near; segments come and go."""
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", tail)
    stop = threading.Event()
    failures: list[Any] = []
    with nd.Collection.open(path, durability="normal") as collection:
        collection.add([("cat", CAT), ("dog", DOG)])
        reader = nd.Collection.open(path, read_only=True)

        def look(looking: nd.Collection, **asked: Any) -> None:
            while not stop.is_set() and not failures:
                try:
                    found = [x.id for x in looking.check(CAT, **asked)]
                except Exception as error:
                    found = [error]
                if found != ["cat"]:
                    failures.append(found)

        threads = [
            threading.Thread(target=look, args=(looking,), kwargs=asked)
            for looking in (collection, reader)
            for asked in ({}, {"radius": 3}, {"n": 1})
        ]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 3
        number = 0
        while time.monotonic() < deadline and not failures:
            number += 1
            collection.add(
                [("cat", f"{CAT}{'!' * (number % 5)}"), (f"{number}", f"{number} {DOG}")]
            )
            if number % 50 == 0:
                collection.compact()
        stop.set()
        for thread in threads:
            thread.join()
        reader.close()
        assert failures == []
        assert number > 5
        assert collection.verify() == []


def test_connections_are_few_and_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Store] = []
    real = Store

    def counted(*given: Any, **options: Any) -> Store:
        opened.append(real(*given, **options))
        return opened[-1]

    monkeypatch.setattr(session, "Store", counted)
    collection = nd.Collection.open(path)
    collection.add([("cat", CAT)])
    for _ in range(50):
        collection.check(CAT)
    assert len(opened) == 1
    with collection._session.readers.borrow(), collection._session.readers.borrow():
        assert len(collection.check(CAT)) == 1
    assert len(opened) == 3
    in_use = collection._session.readers.borrow()
    in_use.__enter__()
    collection.close()
    in_use.__exit__(None, None, None)
    assert collection._session.readers.open_stores == []
    for store in opened:
        with pytest.raises(nd.CollectionError, match="closed"):
            store.settings()
