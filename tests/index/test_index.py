"""`nd.Index`: what it holds. Every method that changes it, and every refusal."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from reference import neighbours as naive
from reference.neighbours import check_answers, clustered, filled, hits, same

TEXTS = ["the cat sat on the mat", "", "the cat sat on a mat", "ice cream for all of us", "?!"]


# ---------------------------------------------------------------------------------------------- add


def test_one_fingerprint() -> None:
    index = nd.Index()
    assert (index.bits, index.recipe, len(index)) == (64, None, 0)
    assert index.add(5) == 0
    seven: Any = np.uint64(7)
    assert index.add(seven) == 1
    assert index.add(2**64 - 1, ids=40) == 40
    assert index.add(0) == 41
    same(index, {0: 5, 1: 7, 40: 2**64 - 1, 41: 0})
    assert hits(index.search(5, radius=2)) == [(0, 0), (1, 1), (41, 2)]
    assert type(index.search(5)[0].id) is int
    assert type(index.search(5)[0].distance) is int
    assert type(index[1]) is int


def test_many_fingerprints() -> None:
    index = nd.Index()
    first = index.add([3, 1, 2])
    assert isinstance(first, np.ndarray)
    assert first.dtype == np.int64
    assert first.tolist() == [0, 1, 2]
    assert list(index.add(np.array([9, 8], dtype=np.uint64))) == [3, 4]
    assert list(index.add(np.array([[7]], dtype=np.uint64))) == [5]
    assert list(index.add(iter([6]))) == [6]
    assert list(index.add([])) == []
    same(index, {0: 3, 1: 1, 2: 2, 3: 9, 4: 8, 5: 7, 6: 6})


@pytest.mark.parametrize(
    "ids",
    [
        [7, -3, 2**62],
        np.array([7, -3, 2**62]),
        iter([7, -3, 2**62]),
        (7, -3, np.int64(2**62)),
        pa.array([7, -3, 2**62]),
    ],
)
def test_own_numbers(ids: Any) -> None:
    index = nd.Index()
    assert list(index.add([1, 2, 3], ids)) == [7, -3, 2**62]
    same(index, {7: 1, -3: 2, 2**62: 3})
    assert index.add(4) == 2**62 + 1


def test_numbers_from_end_to_end_of_int64() -> None:
    index = nd.Index()
    index.add([1, 2], ids=[-(2**63), 2**63 - 1])
    same(index, {-(2**63): 1, 2**63 - 1: 2})
    with pytest.raises(ValueError, match="no higher one is left"):
        index.add([3])
    with pytest.raises(ValueError, match="already in the index"):
        index.add([3], ids=[2**63 - 1])
    for ids in ([2**63], np.array([2**63], dtype=np.uint64)):
        with pytest.raises(ValueError, match=f"is {2**63}; whole|{2**63} is too large"):
            index.add([3], ids=ids)
    same(index, {-(2**63): 1, 2**63 - 1: 2})


def test_names() -> None:
    index = nd.Index()
    assert index.add(1, ids="ärger") == "ärger"
    assert index.add([3, 0], ids=["z", "a"]) == ["z", "a"]
    assert index.add([7], ids=pa.array(["我"])) == ["我"]
    with pytest.raises(ValueError, match="has a lone surrogate"):
        index.add([7], ids=["\ud800"])
    assert index.add([1], ids=[""]) == [""]
    same(index, {"ärger": 1, "z": 3, "a": 0, "我": 7, "": 1})
    assert hits(index.search(1, 1)) == [("", 0), ("ärger", 0), ("a", 1), ("z", 1)]
    table = index.search([1, 7], 0)
    assert table.column("id").type == pa.string()
    assert naive.table_rows(table) == [(0, "", 0), (0, "ärger", 0), (1, "我", 0)]
    assert "z" in index
    assert "y" not in index
    assert 1 not in index
    assert index.remove(["z", "y", ""]) == 2
    assert list(index) == ["a", "ärger", "我"]


def test_one_kind_of_ids() -> None:
    numbers, names = nd.Index(), nd.Index()
    numbers.add(1)
    names.add(1, ids="a")
    refused: list[tuple[nd.Index, Any]] = [(numbers, ["b"]), (names, [5]), (names, None)]
    for index, ids in refused:
        with pytest.raises((TypeError, ValueError), match="id"):
            index.add([2], ids)
        assert len(index) == 1
    mixed: list[list[Any]] = [["b", 3], [3, "b"]]
    for ids in mixed:
        empty = nd.Index()
        with pytest.raises((TypeError, ValueError), match="id"):
            empty.add([2, 3], ids)
        assert len(empty) == 0
        assert empty.add([2], ids[:1])


@pytest.mark.parametrize("ids", [[1.5], [None], [b"a"], [[1]], np.array([1.5])])
def test_what_is_no_id(ids: Any) -> None:
    index = nd.Index()
    with pytest.raises(TypeError, match="id"):
        index.add([2], ids)
    assert len(index) == 0


@pytest.mark.parametrize("ids", [[1], [1, 2, 3], []])
def test_as_many_ids_as_fingerprints(ids: list[int]) -> None:
    index = nd.Index()
    with pytest.raises(ValueError, match=rf"{len(ids)}.*2|2.*{len(ids)}"):
        index.add([5, 6], ids)
    assert len(index) == 0


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("numbers", [[11, 12, 10], [10], [11, 12, 11]])
def test_an_id_is_there_only_once(numbers: list[int], kind: Any) -> None:
    index = nd.Index()
    index.add([1, 2], ids=[kind(9), kind(10)])
    with pytest.raises(ValueError, match=r"1[01]"):
        index.add([5] * len(numbers), [*map(kind, numbers)])
    same(index, {kind(9): 1, kind(10): 2})
    assert index.search(5, 0) == []
    # What was refused has not used up anything.
    free = [kind(number) for number in (11, 12, 13)]
    assert list(index.add([5, 6, 7], free)) == free


def test_the_same_fingerprint_under_many_ids() -> None:
    index = nd.Index()
    index.add([5] * 1000, ids=range(0, 2000, 2))
    index.add([5] * 1000, ids=range(1, 2000, 2))
    index.add([4], ids=[-1])
    assert hits(index.search(5, 0)) == [(i, 0) for i in range(2000)]
    assert index.search([5, 4], 1).num_rows == 4002
    assert index.nearest(5, 3) == index.search(5)[:3]
    assert index.remove(range(10, 2000)) == 1990
    assert hits(index.search(5, 1)) == [*((i, 0) for i in range(10)), (-1, 1)]
    index.compact()
    assert hits(index.search(5, 1)) == [*((i, 0) for i in range(10)), (-1, 1)]


def test_rows_without_signal_are_left_out() -> None:
    index = nd.Index(128)
    made = nd.fingerprints(TEXTS)
    assert made.signal.tolist() == [True, False, True, True, False]
    assert list(index.add(made)) == [0, 2, 3]
    assert list(index) == [0, 2, 3]
    assert index.add(None) is None
    assert list(index.add([None, None])) == []
    assert index.search(None, 128) == []
    assert index.contains(None, 128) is False
    assert index.nearest(None, 5) == []
    found = index.search(made, 0)
    assert naive.table_rows(found) == [(0, 0, 0), (2, 2, 0), (3, 3, 0)]
    assert index.contains(made).tolist() == made.signal.tolist()
    assert naive.table_rows(index.nearest(made)) == [(0, 0, 0), (2, 2, 0), (3, 3, 0)]


def test_ids_of_rows_without_signal_stay_free() -> None:
    index = nd.Index()
    assert index.add([5, None, 6], ids=["a", "b", "c"]) == ["a", "c"]
    assert "b" not in index
    assert index.add([7, 8], ids=["b", "d"]) == ["b", "d"]
    numbers = nd.Index()
    assert list(numbers.add([5, None, 6], ids=[10, 20, 30])) == [10, 30]
    assert numbers.add(1, ids=20) == 20


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ("abc", TypeError, "fingerprints"),
        (1.5, TypeError, "float"),
        ([1, "a"], TypeError, r"fingerprints\[1\]"),
        ([1, -1], ValueError, r"fingerprints\[1\] is -1"),
        (2**64, ValueError, "64 bits"),
        ([1, 2**64], ValueError, r"fingerprints\[1\]"),
        (np.array([1, 2]), TypeError, "uint64"),
        (np.zeros((2, 2), dtype=np.uint64), ValueError, "2 words"),
        (np.zeros((1, 1, 1), dtype=np.uint64), TypeError, "3 dimensions"),
    ],
)
def test_what_is_no_fingerprint(values: Any, error: type[Exception], message: str) -> None:
    index = nd.Index()
    index.add([1, 2, 3])
    for method in (index.add, index.search, index.contains, index.nearest):
        with pytest.raises(error, match=message):
            method(values)
    same(index, {0: 1, 1: 2, 2: 3})


def test_bits_beyond_the_width() -> None:
    index = nd.Index(72)
    wide = np.array([[1, 1 << 8]], dtype=np.uint64)
    with pytest.raises(ValueError, match="wider than the 72 bits"):
        index.add(wide)
    index.add(np.array([[1, 255]], dtype=np.uint64))
    assert index[0] == (255 << 64) + 1


@pytest.mark.parametrize("bits", [0, 7, 12, 63, 520, -8, "64", 64.0, None, True])
def test_widths_there_are_not(bits: Any) -> None:
    with pytest.raises(ValueError if type(bits) is int else TypeError, match=f"bits is {bits!r};"):
        nd.Index(bits)


# ------------------------------------------------------------------------------------------ recipes


def test_the_recipe_comes_with_the_first_fingerprints() -> None:
    index = nd.Index(128)
    made = nd.fingerprints(TEXTS)
    other = nd.fingerprints(TEXTS, nd.Recipe(tie="one"))
    index.add(5, ids=100)
    assert index.recipe is None
    index.add(made, ids=range(5))
    assert index.recipe == made.recipe.identity
    for method in (index.add, index.search, index.contains, index.nearest):
        with pytest.raises(ValueError, match="recipe"):
            method(other)
    assert len(index) == 4
    index.clear()
    index.add(6)
    assert len(index) == 1


def test_refused_fingerprints_leave_no_recipe() -> None:
    index = nd.Index(128)
    made, other = nd.fingerprints(TEXTS), nd.fingerprints(TEXTS, nd.Recipe(tie="one"))
    with pytest.raises(ValueError, match="id"):
        index.add(made, ids=[1, 1, 1, 1, 1])
    assert len(index) == 0
    index.add(other)
    assert index.recipe == other.recipe.identity


def test_a_recipe_gives_the_width() -> None:
    recipe = nd.Recipe(bits=256)
    index = nd.Index(recipe=recipe)
    assert (index.bits, index.recipe) == (256, recipe.identity)
    index.add(nd.fingerprints(TEXTS, recipe))
    with pytest.raises(ValueError, match="recipe"):
        index.add(nd.fingerprints(TEXTS, recipe.replace(tie="one")))
    with pytest.raises(ValueError, match="128 bits, 256 are expected"):
        index.add(nd.fingerprints(TEXTS))
    assert len(index) == 3
    assert nd.Index(recipe="simhash").bits == nd.Recipe.preset("simhash").bits


# ------------------------------------------------------------------------------------------- remove


def test_remove() -> None:
    index, entries = filled()
    assert index.remove(3) == 1
    assert index.remove(3) == 0
    assert index.remove([3, 4, 5, 5, 10_000]) == 2
    assert index.remove(np.array([6, 7])) == 2
    assert index.remove([]) == 0
    assert index.remove(iter([8])) == 1
    for gone in (3, 4, 5, 6, 7, 8):
        del entries[gone]
        assert gone not in index
    same(index, entries)
    check_answers(index, entries, [*clustered(64, 20, seed=1)], 3)
    with pytest.raises(KeyError, match="3"):
        index[3]
    # An id that was removed may come back, with another fingerprint.
    index.add(77, ids=3)
    assert index[3] == 77
    entries[3] = 77
    same(index, entries)


def test_numbers_are_not_given_twice() -> None:
    index = nd.Index()
    index.add([1, 2, 3])
    assert index.remove(2) == 1
    assert index.add(4) == 3
    assert list(index) == [0, 1, 3]


def test_one_by_one_like_all_at_once() -> None:
    codes = clustered(64, 3000)
    rng = random.Random(5)
    index, entries = nd.Index(), {}
    for at, code in enumerate(codes):
        assert index.add(code) == at
        entries[at] = code
        if at % 3 == 0:
            gone = rng.choice(list(entries))
            assert index.remove(gone) == 1
            del entries[gone]
        if at % 300 == 0:
            query = rng.choice(codes)
            assert hits(index.search(query, 3)) == naive.search(entries, query, 3)
    same(index, entries)
    check_answers(index, entries, [*codes[:40]], 3)


def test_beyond_what_is_kept_unsorted() -> None:
    """Enough entries for several tiers, with removals in all of them, against NumPy."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2**64, 600_000, dtype=np.uint64)
    # A fifth of the codes lie near others, another tenth are equal.
    codes[100_000:220_000] = codes[:120_000] ^ (
        np.uint64(1) << rng.integers(0, 64, 120_000, dtype=np.uint64)
    )
    codes[220_000:280_000] = codes[0]
    index = nd.Index()
    for part in np.array_split(codes, 7):
        index.add(part)
    for code in codes[:500].tolist():
        index.add(code)
    codes = np.concatenate([codes, codes[:500]])
    gone = rng.choice(len(codes), 50_000, replace=False)
    assert index.remove(gone) == len(gone)
    stays = np.ones(len(codes), dtype=np.bool_)
    stays[gone] = False
    assert len(index) == stays.sum()
    queries = np.concatenate([codes[1:60], codes[150_000:150_060], codes[-20:]])

    def check(index: nd.Index) -> None:
        for radius in (0, 3, 9, 20):
            found = naive.table_rows(index.search(queries[1:], radius))
            expected = []
            for number, query in enumerate(queries[1:]):
                distance = np.bitwise_count(codes ^ query)
                near = np.flatnonzero(stays & (distance <= radius))
                order = np.lexsort((near, distance[near]))
                expected += [(number, int(i), int(distance[i])) for i in near[order]]
            assert found == expected

    check(index)
    index.compact()
    assert len(index) == stays.sum()
    check(index)


# ----------------------------------------------------------------------------- the rest of its face


def test_like_a_mapping() -> None:
    index, entries = filled()
    assert len(index) == 200
    assert list(index) == list(entries)
    assert 5 in index
    assert np.int64(5) in index
    for other in (200, -1, 2**70, "5", 1.5, None):
        assert other not in index
    absent: list[Any] = [200, -1, 2**70, "5"]
    for key in absent:
        with pytest.raises(KeyError):
            index[key]
    five: Any = np.int64(5)
    assert index[5] == index[five] == entries[5]
    assert "200" in repr(index)
    assert "64" in repr(index)


def test_changes_while_iterating() -> None:
    """Iteration goes over a snapshot, or says that it cannot go on; it never makes ids up."""
    index, entries = filled()
    seen = []
    try:
        for key in index:
            seen.append(key)
            index.remove(key)
            index.add(1, ids=10_000 + len(seen))
    except RuntimeError:
        pass
    assert seen == list(entries)[: len(seen)]
    assert seen


def test_clear() -> None:
    index, _ = filled()
    index.clear()
    same(index, {})
    assert index.search(0, 64) == []
    index.add([1, 2], ids=[0, 1])
    same(index, {0: 1, 1: 2})
    assert index.bits == 64
    # All ids are gone, so their kind may be another one.
    index.clear()
    assert index.add([3], ids=["a"]) == ["a"]


def test_compact_changes_no_answer() -> None:
    index, entries = filled(count=2000)
    before = index.search(list(entries.values())[:200], 4)
    index.compact()
    index.compact()
    same(index, entries)
    assert index.search(list(entries.values())[:200], 4) == before
    index.remove(range(1900))
    index.compact()
    same(index, {key: entries[key] for key in range(1900, 2000)})
    assert index.nbytes > 0


def test_memory_is_given_back() -> None:
    index = nd.Index()
    index.add(np.random.default_rng(1).integers(0, 2**64, 500_000, dtype=np.uint64))
    index.compact()
    full = index.nbytes
    assert full <= 40 * 500_000 + (4 << 20)
    index.remove(np.arange(490_000))
    index.compact()
    assert index.nbytes < full / 4
    index.clear()
    assert index.nbytes < full / 4


@pytest.mark.parametrize("bits", [64, 128])
def test_the_plan(bits: int) -> None:
    index = nd.Index(bits)
    words = bits // 64
    codes = np.random.default_rng(2).integers(0, 2**64, (100_000, words), dtype=np.uint64)
    for part in np.array_split(codes, 2):
        index.add(part)
    whole = index.plan(3)
    assert len(whole.parts) > 1
    assert whole.cost == pytest.approx(sum(part.cost for part in whole.parts))
    index.compact()
    plans = [index.plan(radius) for radius in range(bits + 1)]
    assert [plan.radius for plan in plans] == list(range(bits + 1))
    assert {plan.method for plan in plans} == {"tables", "scan"}
    assert plans[0].method == plans[3].method == "tables"
    assert plans[bits].method == "scan"
    assert all(plan.cost > 0 for plan in plans)
    assert plans[0].cost <= plans[3].cost <= plans[bits].cost
    assert "tables" in str(plans[3])
    assert "scan" in str(plans[bits])
    assert "3" in str(plans[3])
