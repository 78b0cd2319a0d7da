"""Arrow columns made without pyarrow.array."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup._util.arrow import array_values, string_array

VALUES = st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=8)))


@given(VALUES)
def test_strings_are_those_of_arrow(values: list[str | None]) -> None:
    found = string_array(values)
    found.validate(full=True)
    assert found.equals(pa.array(values, pa.large_string()))


@given(VALUES)
def test_strings_can_be_taken_and_joined(values: list[str | None]) -> None:
    both = pa.concat_arrays([string_array(values), string_array(["é", None])])
    assert both.to_pylist() == [*values, "é", None]
    assert both.take(pa.array(range(len(values)), pa.int64())).to_pylist() == values


def test_the_numbers_of_slices_and_chunks() -> None:
    whole = pa.array([1, 2, 3, 4, 5], pa.int64())
    assert array_values(whole.slice(2, 2)).tolist() == [3, 4]
    chunks = pa.chunked_array([whole.slice(1, 2), whole.slice(4), whole.slice(0, 0)])
    assert array_values(chunks).tolist() == [2, 3, 5]
