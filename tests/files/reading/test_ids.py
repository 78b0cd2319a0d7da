"""Repeated ids, against a plain set."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.reading import records as repeats_module
from neardup.files.reading.records import DuplicateIds


def ids(names: list[str]) -> pa.LargeStringArray:
    # A part of a longer array, as batches may be.
    return pa.array(["x", *names, "y"], pa.large_string()).slice(1, len(names))


@given(st.lists(st.lists(st.integers(0, 40).map(str), max_size=9), max_size=30))
def test_counts_what_a_set_counts(batches: list[list[str]]) -> None:
    repeats = DuplicateIds()
    seen: set[str] = set()
    again = []
    for batch in batches:
        repeats.see(ids(batch))
        for name in batch:
            if name in seen:
                again.append(name)
            seen.add(name)
    assert repeats.count == len(again)
    assert repeats.first == (again[0] if again else None)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats_module, "REMEMBERED", 10)
    repeats = DuplicateIds()
    for start in range(0, 100, 5):
        repeats.see(ids([str(number) for number in range(start, start + 5)]))
    assert sum(map(len, repeats._runs)) == 10
    repeats.see(ids(["3", "50"]))
    assert (repeats.count, repeats.first) == (1, "3")
