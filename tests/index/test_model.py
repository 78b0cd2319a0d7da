"""Long random lives of an index, step by step against the naive twin."""

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
    precondition,
    rule,
    run_state_machine_as_test,
)

import neardup as nd
from reference import neighbours as naive
from reference.neighbours import as_array, centres, clustered, flip

LIVES = ((8, None), (64, None), (72, None), (128, None), (512, None), (24, 2), (64, 2), (128, 2))
# Ids from a small range meet again, added or removed before.
numbers = st.integers(0, 20)


class Life(RuleBasedStateMachine):
    """Of an index of `bits` and `levels`, which the machines below give it."""

    bits: int
    levels: int | None

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.saved: dict[Path, dict[Any, int]] = {}
        self.names = False
        self.entries: dict[Any, int] = {}
        self.index = nd.Index(self.bits, levels=self.levels)

    def teardown(self) -> None:
        # The mapped files are let go of before they are deleted.
        del self.index
        self.folder.cleanup()

    def code(self, data: st.DataObject) -> int:
        centre = data.draw(st.sampled_from(centres(self.bits)))
        places = st.lists(st.integers(0, self.bits - 1), max_size=4)
        return flip(centre, data.draw(places))

    def key(self, number: int) -> Any:
        return f"id {number}" if self.names else number

    def radius(self, data: st.DataObject) -> int:
        small = st.integers(0, min(12, self.bits))
        return data.draw(small | st.integers(0, self.bits))

    @initialize(names=st.booleans(), count=st.sampled_from([0, 20, 300]))
    def begin(self, names: bool, count: int) -> None:
        self.names = names
        self.entries = {self.key(i): c for i, c in enumerate(clustered(self.bits, count))}
        self.index.add([*self.entries.values()], [*self.entries])

    # ----------------------------------------------------------------------------- what changes it

    @rule(data=st.data(), number=numbers)
    def add_one(self, data: st.DataObject, number: int) -> None:
        code, key = self.code(data), self.key(number)
        if key in self.entries:
            with pytest.raises(ValueError, match=str(number)):
                self.index.add(code, key)
        else:
            assert self.index.add(code, key) == key
            self.entries[key] = code

    @precondition(lambda self: not self.names)
    @rule(data=st.data(), count=st.integers(0, 6))
    def add_unnamed(self, data: st.DataObject, count: int) -> None:
        codes = [self.code(data) for _ in range(count)]
        ids = [int(key) for key in self.index.add(codes)]
        assert len(ids) == count
        assert all(key > max(self.entries, default=-1) for key in ids)
        self.entries |= zip(ids, codes, strict=True)

    @rule(data=st.data(), chosen=st.lists(numbers, max_size=8))
    def add_many(self, data: st.DataObject, chosen: list[int]) -> None:
        keys = [self.key(number) for number in chosen]
        codes = [None if data.draw(st.integers(0, 5)) == 0 else self.code(data) for _ in keys]
        if len(set(keys)) < len(keys) or self.entries.keys() & set(keys):
            # Whether an id counts that stands beside no fingerprint is left open.
            if None not in codes:
                with pytest.raises(ValueError, match="id"):
                    self.index.add(codes, keys)
            return
        new = {key: code for key, code in zip(keys, codes, strict=True) if code is not None}
        assert list(self.index.add(codes, keys)) == list(new)
        self.entries |= new

    @rule(seed=st.integers(0, 3), at=st.integers(1, 5), count=st.integers(50, 600))
    def add_a_heap(self, seed: int, at: int, count: int) -> None:
        codes = clustered(self.bits, count, seed)
        keys = [self.key(1000 * at + i) for i in range(count)]
        new = {k: c for k, c in zip(keys, codes, strict=True) if k not in self.entries}
        self.index.add(as_array(new.values(), self.bits), list(new))
        self.entries |= new

    @rule(chosen=st.lists(numbers, max_size=10), step=st.none() | st.integers(2, 5))
    def remove(self, chosen: list[int], step: int | None) -> None:
        """Some that may not be there; or every so many of those that are."""
        keys = [self.key(number) for number in chosen] if step is None else [*self.entries][::step]
        assert self.index.remove(keys) == len(self.entries.keys() & set(keys))
        for key in keys:
            self.entries.pop(key, None)

    @rule(number=numbers)
    def remove_one(self, number: int) -> None:
        there = self.entries.pop(self.key(number), None) is not None
        assert self.index.remove(self.key(number)) == there

    @rule(code_of=st.integers(0, 1000))
    def remove_all_of_one_fingerprint(self, code_of: int) -> None:
        if self.entries:
            code = list(self.entries.values())[code_of % len(self.entries)]
            gone = [key for key, value in self.entries.items() if value == code]
            assert [match.id for match in self.index.search(code, 0)] == sorted(gone)
            assert self.index.remove(gone) == len(gone)
            for key in gone:
                del self.entries[key]
            assert self.index.contains(code) is False

    @rule(kind=st.integers(0, 9))
    def tidy(self, kind: int) -> None:
        # Cleared rarely, or no index would ever grow old.
        if kind == 9:
            self.index.clear()
            self.entries.clear()
        else:
            self.index.compact()

    # ----------------------------------------------------------------------------- what it answers

    @rule(data=st.data(), count=st.integers(0, 5))
    def search(self, data: st.DataObject, count: int) -> None:
        queries = [self.code(data) for _ in range(count)]
        radius = self.radius(data)
        expected = [naive.search(self.entries, query, radius) for query in queries]
        threads = data.draw(st.sampled_from([None, 1, 2]))
        found = self.index.search(queries, radius, threads=threads)
        assert naive.table_rows(found) == naive.rows(expected)
        assert self.index.contains(queries, radius).tolist() == [bool(x) for x in expected]
        for query, hits in zip(queries, expected, strict=True):
            one = self.index.search(query, radius)
            assert [(match.id, match.distance) for match in one] == hits

    @rule(data=st.data(), n=st.integers(1, 12), limited=st.booleans())
    def nearest(self, data: st.DataObject, n: int, limited: bool) -> None:
        queries = [self.code(data), self.code(data)]
        most = self.radius(data) if limited else None
        expected = [naive.nearest(self.entries, query, n, most) for query in queries]
        found = self.index.nearest(queries, n, most)
        assert naive.table_rows(found) == naive.rows(expected)

    # -------------------------------------------------------------------------------- save and open

    @rule(place=st.integers(0, 2), save=st.booleans(), go_on=st.booleans(), verify=st.booleans())
    def save_and_open(self, place: int, save: bool, go_on: bool, verify: bool) -> None:
        path = Path(self.folder.name) / f"{place}.index"
        if save or path not in self.saved:
            self.index.save(path)
            self.saved[path] = dict(self.entries)
        if go_on:
            self.index = nd.Index.open(path)
            self.entries = dict(self.saved[path])
        if verify:
            self.index.verify()

    @invariant()
    def the_same(self) -> None:
        assert len(self.index) == len(self.entries)
        assert list(self.index) == sorted(self.entries)
        some = list(self.entries)[-3:]
        assert [self.index[key] for key in some] == [self.entries[key] for key in some]
        assert all(key in self.index for key in some)
        query = centres(self.bits)[len(self.entries) % 5]
        found = [(match.id, match.distance) for match in self.index.search(query, 2)]
        assert found == naive.search(self.entries, query, 2)


@pytest.mark.parametrize(("bits", "levels"), LIVES)
def test_life(bits: int, levels: int | None) -> None:
    machine = type(f"Life{bits}", (Life,), {"bits": bits, "levels": levels})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=40, stateful_step_count=40, deadline=None)
    )
