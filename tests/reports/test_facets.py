"""Facets of kinds, against a count by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.kinds import OTHERS, FacetColumns

ROWS = st.lists(st.tuples(st.integers(-1, 5), st.sampled_from(["", "a", "b", "c", "ü", "d"])))


@given(ROWS, st.integers(1, 7))
def test_facets_are_what_a_count_gives(rows: list[tuple[int, str]], most: int) -> None:
    columns = FacetColumns(np.array([kind for kind, _ in rows], dtype=np.int64), 6)
    columns.add("title", pa.array([value for _, value in rows], pa.large_string()), most)
    found = columns.facets()
    (facet,) = found.facets
    kinds_of: dict[str, set[int]] = {}
    for kind, value in rows:
        if kind >= 0:
            kinds_of.setdefault(value, set()).add(kind)
    assert len(facet.values) == min(most, len(kinds_of))
    assert facet.others == len(kinds_of) - len(facet.values)
    assert list(facet.kinds) == [len(kinds_of[value]) for value in facet.values]
    left_out = set(kinds_of) - set(facet.values)
    # None that is left out has more kinds than one that is there.
    least = min(facet.kinds, default=0)
    assert all(len(kinds_of[value]) <= least for value in left_out)
    others = set().union(*(kinds_of[value] for value in left_out)) if left_out else set()
    assert facet.other_kinds == len(others)
    for kind in range(6):
        expected = {at for at, value in enumerate(facet.values) if kind in kinds_of[value]}
        expected |= {OTHERS} & ({OTHERS} if kind in others else set())
        assert set(found.of_kinds[kind]["title"]) == expected


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([404, 200, 404], pa.int32()), ["404", "200"]),
        (pa.array([None, "x", None], pa.string()), ["", "x"]),
        (pa.chunked_array([["x", "y"], ["x"]]), ["x", "y"]),
        (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y"]),
    ],
    ids=["numbers", "nulls", "chunks", "dictionary"],
)
def test_columns_of_any_form(column: pa.Array, values: list[str]) -> None:
    columns = FacetColumns(np.array([0, 1, 2]), 3)
    columns.add("any", column)
    assert columns.facets().facets[0].values == values


def test_nothing_to_count() -> None:
    columns = FacetColumns(np.zeros(0, dtype=np.int64), 0)
    columns.add("title", pa.array([], pa.large_string()))
    assert columns.facets().facets[0].values == []
