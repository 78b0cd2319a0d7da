"""Keep policies: the order in which records are kept."""

import numpy as np
import pyarrow as pa
import pytest

from neardup.near.keep import Keep


@pytest.mark.parametrize("keys", [[1, 3, None, 3, 1], ["1", " 3", "", "3", "1"], list("ac\0ca")])
def test_of_equal_values_the_first_is_kept_and_missing_ones_come_last(keys: list[object]) -> None:
    column = pa.array([None if key == "\0" else key for key in keys])
    assert np.asarray(Keep.parse("best:n").order(np.zeros(5), column)).tolist() == [1, 3, 0, 4, 2]


@pytest.mark.parametrize(("rule", "order"), [("longest", [1, 3, 0, 2]), ("shortest", [0, 2, 1, 3])])
def test_of_equal_lengths_the_first_is_kept(rule: str, order: list[int]) -> None:
    lengths = np.array([1, 5, 1, 5])
    assert np.asarray(Keep.parse(rule).order(lengths, None)).tolist() == order
