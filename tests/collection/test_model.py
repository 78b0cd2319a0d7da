"""Long random lives of a collection, step by step against a dict."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import neardup as nd
from neardup.collection import segments
from neardup.text.differences import ASPECTS
from reference.collection import Model

# Few words, so that texts meet again, changed a little; some have no signal.
WORDS = ["red", "green", "blue", "black", "white", "yellow", "5", "-5", "not", "C", "C++"]
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join),
    st.sampled_from(["", "…", "one", "two", "Two", "\0", "\U0001f600 a"]),
    st.lists(st.sampled_from(WORDS), min_size=60, max_size=90).map(" ".join),
)
ids = st.integers(0, 12).map("id {}".format)
metadata = st.sampled_from([{}, {"n": 1}, {"tag": ["ä", None], "deep": {"x": 1.5}}])
batches = st.lists(st.tuples(ids, texts, metadata), max_size=8, unique_by=lambda row: row[0])
near = st.tuples(
    st.one_of(
        st.sampled_from([0.5, 0.85, 1.0]).map(lambda value: {"similarity": value, "radius": None}),
        st.integers(0, 64).map(lambda value: {"similarity": None, "radius": value}),
    ),
    st.just([]) | st.lists(st.sampled_from(ASPECTS), unique=True),
).map(lambda both: {**both[0], "distinguish": both[1]})

COLUMNS = ("query", "id", "distance", "similarity", "differs", "lost")


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "life.neardup"
        # Segments are missing, which the next writer may or may not have mended.
        self.lost = False

    @initialize(bits=st.sampled_from([64, 72]))
    def begin(self, bits: int) -> None:
        recipe = nd.Recipe(bits=bits)
        self.model = Model(recipe)
        self.collection = nd.Collection.open(self.path, recipe, durability="normal")
        # Another one that looks on.
        self.reader = nd.Collection.open(self.path, read_only=True)

    def teardown(self) -> None:
        if hasattr(self, "reader"):
            self.reader.close()
            self.collection.close()
        self.folder.cleanup()

    @rule(batch=batches)
    def add(self, batch: list[tuple[str, str, dict[str, Any]]]) -> None:
        assert [tuple(row) for row in self.collection.add(batch)] == self.model.add(batch)

    @rule(batch=batches, limit=near)
    def add_unless_duplicate(
        self, batch: list[tuple[str, str, dict[str, Any]]], limit: dict[str, Any]
    ) -> None:
        found = self.collection.add(batch, unless_duplicate=True, recall=1.0, **limit)
        assert [tuple(row) for row in found] == self.model.add_new(batch, **limit)

    @rule(names=st.lists(ids, max_size=4))
    def remove(self, names: list[str]) -> None:
        assert self.collection.remove(names) == self.model.remove(names)

    @rule()
    def compact(self) -> None:
        self.collection.compact()
        self.lost = False

    @rule()
    def reopen(self) -> None:
        self.collection.close()
        self.collection = nd.Collection.open(self.path)

    @rule()
    def lose_the_segments(self) -> None:
        self.collection.close()
        for path in self.path.glob("segment-*"):
            path.unlink()
            self.lost = True
        self.collection = nd.Collection.open(self.path)

    @rule(text=texts, limit=near, n=st.none() | st.integers(1, 3))
    def check(self, text: str, limit: dict[str, Any], n: int | None) -> None:
        expected = self.model.near(text, **limit)[:n]
        for looking in (self.collection, self.reader):
            found = looking.check(text, recall=1.0, n=n, **limit)
            assert [tuple(row) for row in found] == expected

    @rule(many=st.lists(texts, max_size=5), limit=near, n=st.none() | st.integers(1, 3))
    def check_many(self, many: list[str], limit: dict[str, Any], n: int | None) -> None:
        expected = [
            dict(zip(COLUMNS, (at, *found), strict=True))
            for at, text in enumerate(many)
            for found in self.model.near(text, **limit)[:n]
        ]
        found = self.reader.check(many, recall=1.0, n=n, **limit).to_pylist()
        assert found == expected

    @invariant()
    def holds_the_same(self) -> None:
        if not hasattr(self, "reader"):
            return
        documents = self.model.documents
        for looking in (self.collection, self.reader):
            assert len(looking) == len(documents)
            assert list(looking) == list(documents)
        for id_ in ("id 0", "id 7", "nobody"):
            stored = self.reader.get(id_)
            assert (id_ in self.reader) == (id_ in documents)
            if stored is None:
                assert id_ not in documents
            else:
                assert (stored.text, stored.metadata) == documents[id_]
        problems = self.collection.verify()
        assert not problems or (self.lost and all(x.startswith("segment ") for x in problems))


@pytest.mark.parametrize("examples", [12, pytest.param(100, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("tail", [3, segments.TAIL_FINGERPRINTS])
def test_life(tail: int, examples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # So small that segments are written and merged all the time; and as it is.
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", tail)
    monkeypatch.setattr(segments, "MAX_RECENT", 10 if tail == 3 else segments.MAX_RECENT)
    monkeypatch.setattr(segments, "MAX_ARRAYS", 2)
    run_state_machine_as_test(
        Life, settings=settings(max_examples=examples, stateful_step_count=25, deadline=None)
    )
