"""Pairs against comparing everything; streams, plans, refusals."""

import gc
import json
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers.processes import run_alone
from reference.pairs import Row, as_rows, naive_first, naive_pairs, near_codes


def rows(table: pa.Table) -> list[Row]:
    return list(
        zip(*(table[name].to_pylist() for name in ("left", "right", "distance")), strict=True)
    )


@settings(max_examples=150)
@given(near_codes(), st.integers(0, 12), st.sampled_from([None, 1, 2]), st.booleans())
def test_finds_what_comparing_all_finds(
    given_codes: tuple[list[int | None], int], radius: int, threads: int | None, wide: bool
) -> None:
    codes, bits = given_codes
    radius = radius * bits // 12 if wide else min(radius, bits)
    found = nd.pairs(codes, radius, threads=threads)
    assert rows(found) == naive_pairs(codes, radius)
    assert rows(nd.pairs(codes, radius, equal="first")) == naive_first(codes, radius)
    streamed = nd.pairs(codes, radius, stream=True, threads=threads).read_all()
    assert sorted(rows(streamed)) == rows(found)
    assert streamed.schema.equals(found.schema, check_metadata=True)


@settings(max_examples=30)
@given(near_codes())
def test_arrays_and_fingerprints_are_the_same_as_ints(
    given_codes: tuple[list[int | None], int],
) -> None:
    codes, bits = given_codes
    values, signal = as_rows(codes, bits)
    made = nd.Fingerprints(values, signal, nd.Recipe(bits=bits))
    assert rows(nd.pairs(made, 3)) == naive_pairs(codes, 3)
    assert rows(nd.pairs(values[signal], 3)) == naive_pairs([c for c in codes if c is not None], 3)


def planted(n: int, bits: int, radius: int, seed: int) -> Any:
    """Random codes; the last tenth differ from the first in up to `radius` bits."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2**64, (n, bits // 64), dtype=np.uint64)
    part = n // 10
    codes[-part:] = codes[:part]
    for row in range(n - part, n):
        for bit in rng.choice(bits, row % (radius + 1), replace=False):
            codes[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return codes


@pytest.mark.parametrize(("bits", "radius"), [(64, 3), (64, 5), (128, 6), (256, 4)])
def test_many_codes(bits: int, radius: int) -> None:
    codes = planted(40_000, bits, radius, seed=bits)
    found = nd.pairs(codes, radius)
    plan = json.loads(found.schema.metadata[b"neardup"])
    assert plan["method"] == "blocks"
    assert plan["recall"] == 1.0
    expected = {(row, 36_000 + row, (36_000 + row) % (radius + 1)) for row in range(4_000)}
    # All that was planted, and what chance brought is right.
    assert expected <= set(rows(found))
    left, right = (codes[found[name].to_numpy()] for name in ("left", "right"))
    distances = np.bitwise_count(left ^ right).sum(axis=1)
    assert np.array_equal(distances, found["distance"].to_numpy())
    assert rows(nd.pairs(codes, radius, threads=1)) == rows(found)
    keys = list(zip(found["left"].to_pylist(), found["right"].to_pylist(), strict=True))
    assert keys == sorted(set(keys))
    assert (distances <= radius).all()


def test_a_share_is_found_as_computed() -> None:
    rng = np.random.default_rng(3)
    n, part, radius = 20_000, 8_000, 28
    bits = rng.integers(0, 2, (n, 128), dtype=np.uint8)
    bits[-part:] = bits[:part] ^ (rng.random((part, 128)) < 0.1436)
    codes = np.packbits(bits, axis=1).view(np.uint64)
    found = nd.pairs(codes, radius, 0.9)
    plan = nd.pairs_plan(codes, radius, 0.9)
    assert plan.method == "sampled"
    assert json.loads(found.schema.metadata[b"neardup"])["recall"] == plan.recall >= 0.9
    assert plan.recall_at_radius < plan.recall
    distances = (bits[:part] != bits[-part:]).sum(axis=1)
    within = {(row, n - part + row) for row in np.flatnonzero(distances <= radius).tolist()}
    have = set(zip(found["left"].to_pylist(), found["right"].to_pylist(), strict=True))
    assert abs(len(within & have) / len(within) - plan.recall) < 0.02
    # The same again, whatever the threads.
    assert rows(nd.pairs(codes, radius, 0.9, threads=1)) == rows(found)


def test_small_sets_are_not_sampled() -> None:
    assert nd.pairs_plan([1, 2, 3], 20, 0.5).method == "all-pairs"


@pytest.mark.parametrize(
    "codes", [[], [5], [None], [None, None], 7, None, np.zeros((0, 2), np.uint64)]
)
def test_nothing_to_pair(codes: Any) -> None:
    for radius in (0, 3, 64):
        assert nd.pairs(codes, radius).num_rows == 0
        assert nd.pairs(codes, radius, 0.5, stream=True).read_all().num_rows == 0


def test_texts_without_signal_are_in_no_pair() -> None:
    made = nd.fingerprints(["the cat sat", "?!", "the cat sat", "", None])
    assert rows(nd.pairs(made)) == [(0, 2, 0)]


def test_a_million_equal_fingerprints() -> None:
    codes = np.full(1_000_001, 77, dtype=np.uint64)
    codes[500_000] = 76
    found = nd.pairs(codes, 1, equal="first")
    assert found.num_rows == 1_000_000
    assert rows(found.slice(0, 2)) == [(0, 1, 0), (0, 2, 0)]
    with pytest.raises(
        ValueError,
        match=r"499999500000 pairs among equal fingerprints .* 2147483648; "
        r'pass equal="first" .* or stream=True',
    ):
        nd.pairs(codes, 1)
    reader = nd.pairs(codes, 1, stream=True)
    batch = reader.read_next_batch()
    assert 0 < batch.num_rows <= 1 << 17
    assert batch["distance"].to_numpy().max() == 0


def test_dropping_a_stream_stops_it() -> None:
    codes = np.arange(100_000, dtype=np.uint64)
    before = threading.active_count()
    for _ in range(3):
        reader = nd.pairs(codes, 6, stream=True)
        reader.read_next_batch()
        start = time.perf_counter()
        del reader
        gc.collect()
        assert time.perf_counter() - start < 5
    assert threading.active_count() == before


def test_the_reader_of_a_stream_may_use_the_shared_threads() -> None:
    codes = np.arange(3_000, dtype=np.uint64)
    total = 0
    for batch in nd.pairs(codes, 4, stream=True):
        total += batch.num_rows
        assert nd.pairs(codes[:300], 1).num_rows > 0
    assert total == nd.pairs(codes, 4).num_rows > 100_000


def test_many_python_threads_at_once() -> None:
    codes = planted(20_000, 64, 3, seed=1)
    expected = nd.pairs(codes)
    results: list[bool] = []
    work = [
        threading.Thread(target=lambda: results.append(nd.pairs(codes).equals(expected)))
        for _ in range(6)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert results == [True] * 6


def test_ctrl_c_stops_a_join() -> None:
    done = run_alone(
        """
        import os, signal, threading, time
        import numpy as np
        import neardup as nd
        codes = np.random.default_rng(0).integers(0, 2**64, 400_000, dtype=np.uint64)
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.perf_counter()
        try:
            nd.pairs(codes, 20)
        except KeyboardInterrupt:
            print("stopped" if time.perf_counter() - start < 8 else "late")
        """
    )
    assert done.strip() == "stopped"


def test_the_plan_can_be_read() -> None:
    codes = planted(30_000, 64, 3, seed=2)
    assert str(nd.pairs_plan(codes)).startswith(
        "30,000 fingerprints, 29,250 different, 64 bits, radius 3\n"
        "4 sorts by blocks of 15 bits, exact\nabout "
    )
    assert "each with each" in str(nd.pairs_plan(codes, 32))
    assert "random bits each, finds 9" in str(nd.pairs_plan(codes, 14, 0.9))
    assert "equal fingerprints only" in str(nd.pairs_plan(codes, 0))


def test_bits_that_never_vary_are_not_sorted_by() -> None:
    codes = planted(30_000, 64, 0, seed=4) & np.uint64(0x00FF_FFFF_FFFF_0000)
    plan = nd.pairs_plan(codes, 1)
    assert plan.bits == 40
    assert plan.method == "blocks"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"radius": -1}, ValueError, "radius is -1; it must be a whole number from 0 to 512"),
        ({"radius": 513}, ValueError, "radius is 513; it must be a whole number from 0 to 512"),
        ({"radius": 1.5}, TypeError, r"radius is 1\.5; it must be a whole number from 0 to 512"),
        ({"radius": True}, TypeError, "radius is True; it must be a whole number"),
        ({"recall": 0}, ValueError, "recall is 0; it must be a number above 0 and at most 1"),
        ({"recall": 1.1}, ValueError, r"recall is 1\.1; it must be a number above 0"),
        ({"recall": float("nan")}, ValueError, "recall is nan"),
        ({"recall": "1"}, TypeError, "recall is '1'; it must be a number"),
        ({"equal": "none"}, ValueError, 'equal is \'none\'; it must be "all" or "first"'),
        ({"threads": 0}, ValueError, "threads is 0"),
    ],
)
def test_refusals(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nd.pairs([1, 2], **arguments)


def test_the_radius_is_at_most_the_bits() -> None:
    with pytest.raises(ValueError, match="radius is 129; it must be a whole number from 0 to 128"):
        nd.pairs(np.zeros((2, 2), np.uint64), 129)
    with pytest.raises(ValueError, match="radius is 33; it must be a whole number from 0 to 32"):
        nd.pairs(nd.fingerprints(["a b c"], nd.Recipe(bits=32)), 33)


def test_what_is_no_fingerprint() -> None:
    with pytest.raises(TypeError, match="fingerprints are an array of float64"):
        nd.pairs(np.zeros(3))
    with pytest.raises(TypeError, match=r"fingerprints\[1\] is of type str"):
        nd.pairs([1, "x"])
