"""`nd.Index`: what it finds, against the naive twin."""

import random
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from reference import neighbours as naive
from reference.neighbours import WIDTHS, as_array, check_answers, clustered, filled, hits, same


@pytest.mark.parametrize("bits", WIDTHS)
def test_any_width_and_radius(bits: int) -> None:
    index, entries = filled(bits)
    rng = random.Random(bits)
    queries: list[int | None] = [*clustered(bits, 25, seed=1), None, rng.getrandbits(bits)]
    some = {0, 1, 2, 3, 5, 8, bits // 6, bits // 2, bits - 1, bits}
    for radius in range(65) if bits == 64 else sorted(some):
        check_answers(index, entries, queries, radius)
    index.compact()
    for radius in (0, 3, bits // 4, bits):
        check_answers(index, entries, queries, radius)


@pytest.mark.parametrize("bits", [64, 128, 200])
def test_arrays_ints_and_fingerprints_are_the_same(bits: int) -> None:
    codes = clustered(bits, 100)
    from_ints, from_array = nd.Index(bits), nd.Index(bits)
    from_ints.add(codes)
    from_array.add(as_array(codes, bits))
    same(from_array, dict(enumerate(codes)))
    expected = from_ints.search(codes, 4)
    assert from_array.search(as_array(codes, bits), 4) == expected
    recipe = nd.Recipe(bits=bits)
    signal = np.ones(len(codes), dtype=np.bool_)
    made = nd.Fingerprints(as_array(codes, bits), signal, recipe)
    assert from_array.search(made, 4) == expected
    # A view that is not contiguous.
    twice = np.repeat(as_array(codes, bits), 2, axis=0)[::2]
    assert from_array.search(twice, 4) == expected


def test_the_table_of_a_batch() -> None:
    index = nd.Index()
    index.add([7, 5, 5, 1])
    table = index.search([5, 64, 7], 1)
    assert isinstance(table, pa.Table)
    assert table.schema.names == ["query", "id", "distance"]
    assert table.schema.types == [pa.int64(), pa.int64(), pa.uint16()]
    assert naive.table_rows(table) == [
        (0, 1, 0), (0, 2, 0), (0, 0, 1), (0, 3, 1), (2, 0, 0), (2, 1, 1), (2, 2, 1),
    ]  # fmt: skip
    assert index.search([], 1).num_rows == 0
    assert index.search([], 1).schema == table.schema
    assert index.contains([]).tolist() == []
    assert index.contains([5]).dtype == np.bool_


def test_an_empty_index() -> None:
    index = nd.Index()
    assert index.search(5, 64) == []
    assert index.search([5, 6], 64).num_rows == 0
    assert index.search([5, 6], 64).schema.names == ["query", "id", "distance"]
    assert index.contains(5, 64) is False
    assert index.contains([5, 6], 64).tolist() == [False, False]
    assert index.nearest(5, 10) == []
    assert index.remove(3) == 0
    assert index.remove([3, 4]) == 0
    assert list(index) == []
    index.compact()
    index.clear()
    index.verify()
    assert str(index.plan(3))


def test_nearest() -> None:
    index = nd.Index()
    index.add([0b111, 0b1, 0b1, 0b0, 2**64 - 1], ids=[4, 9, 2, 7, 1])
    everyone = [(2, 0), (9, 0), (7, 1), (4, 2), (1, 63)]
    assert hits(index.nearest(1)) == everyone[:1]
    for n in range(1, 8):
        assert hits(index.nearest(1, n)) == everyone[:n]
        assert hits(index.nearest(1, n, max_distance=1)) == everyone[: min(n, 3)]
        assert index.nearest(1, n, radius=1) == index.nearest(1, n, max_distance=1)
    with pytest.raises(ValueError, match="radius and max_distance are the same option"):
        index.nearest(1, radius=1, max_distance=1)
    assert hits(index.nearest(1, 5, max_distance=0)) == everyone[:2]
    assert index.nearest(0b10000, 5, max_distance=0) == []
    table = index.nearest([1, 2**64 - 1], 2)
    assert naive.table_rows(table) == [(0, 2, 0), (0, 9, 0), (1, 1, 0), (1, 4, 61)]
    assert table.schema.types == [pa.int64(), pa.int64(), pa.uint16()]


@pytest.mark.parametrize("bits", [8, 64, 128, 200])
def test_the_nearest_of_many(bits: int) -> None:
    index, entries = filled(bits, 500)
    queries = [*clustered(bits, 15, seed=2), *naive.centres(bits, 10)]
    for n in (1, 2, 10, 499, 500, 1000):
        for most in (None, 0, 4, bits):
            expected = [naive.nearest(entries, query, n, most) for query in queries]
            found = index.nearest(queries, n, max_distance=most)
            assert naive.table_rows(found) == naive.rows(expected)


@pytest.mark.parametrize("radius", [-1, 65, 10**9, 2**70, -(2**70), "3", 1.5, [3]])
def test_radii_there_are_not(radius: Any) -> None:
    index, _ = filled(count=5)
    calls = (
        lambda: index.search(5, radius),
        lambda: index.search([5], radius),
        lambda: index.contains(5, radius),
        lambda: index.contains([5], radius),
        lambda: index.nearest(5, 1, radius),
        lambda: index.plan(radius),
    )
    error = ValueError if isinstance(radius, int) else TypeError
    for call in calls:
        with pytest.raises(
            error, match=rf"(radius|distance) is {re.escape(repr(radius))}; it must"
        ):
            call()


@pytest.mark.parametrize(("n", "error"), [(0, ValueError), (-1, ValueError), ("1", TypeError)])
def test_how_many_to_find(n: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"n is {n!r}"):
        filled(count=5)[0].nearest(5, n)


def test_threads_change_nothing() -> None:
    codes = clustered(64, 5000)
    alone = nd.Index()
    alone.add(codes, threads=1)
    expected = alone.search(codes[:500], 5, threads=1)
    for threads in (2, 3, 8, None):
        index = nd.Index()
        index.add(codes, threads=threads)
        assert index.search(codes[:500], 5, threads=threads) == expected
        assert index.nearest(codes[:500], 5, 5, threads=threads) == alone.nearest(codes[:500], 5, 5)
        assert index.contains(codes, 1, threads=threads).all()
    wrong: list[tuple[Any, type[Exception]]] = [(0, ValueError), (-1, ValueError), ("2", TypeError)]
    calls: list[Any] = [alone.add, alone.search, alone.contains, alone.nearest]
    for given, error in wrong:
        for call in calls:
            with pytest.raises(error, match="threads is"):
                call([1], threads=given)
    assert len(alone) == 5000


def test_a_share_of_what_is_there() -> None:
    random = np.random.default_rng(5)
    codes = random.integers(0, 2**64, (50_000, 2), dtype=np.uint64)
    flips = np.packbits(random.random((500, 128)) < 0.1436, axis=1).view(np.uint64)
    index = nd.Index(bits=128)
    index.add(codes)
    index.compact()
    every = index.search(codes[:500] ^ flips, radius=30).to_pylist()
    some = index.search(codes[:500] ^ flips, radius=30, recall=0.95).to_pylist()
    assert [row for row in every if row in some] == some
    assert 0.94 * len(every) <= len(some) < len(every)
    assert index.plan(30).method == "scan"
    assert index.plan(30, recall=0.95).method == "tables"
    assert index.plan(30, recall=0.95).cost < index.plan(30).cost / 3


@pytest.mark.parametrize("recall", [0, 1.5, float("nan")])
def test_no_such_share(recall: float) -> None:
    with pytest.raises(ValueError, match="recall is"):
        nd.Index().search(1, recall=recall)
