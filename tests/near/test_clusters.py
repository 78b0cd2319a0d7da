"""Clusters against their definitions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers.timing import assert_linear
from neardup.near.clusters import connected, star
from reference.dedup import labels
from reference.pairs import naive_connected, naive_star, near_codes


@settings(max_examples=120)
@given(near_codes(), st.integers(0, 8), st.sampled_from([None, 1, 2]))
def test_clusters_are_those_of_the_definition(
    given_codes: tuple[list[int | None], int], radius: int, threads: int | None
) -> None:
    codes, _ = given_codes
    connected = nd.clusters(codes, radius, threads=threads)
    assert connected.dtype == np.int64
    assert connected.tolist() == naive_connected(codes, radius)
    star = nd.clusters(codes, radius, linkage="star", threads=threads)
    assert star.tolist() == naive_star(codes, radius)


def test_dense_clusters_do_not_need_their_pairs() -> None:
    # All neighbours of a few centres: more pairs by far than are gathered at once.
    rng = np.random.default_rng(5)
    centres = rng.integers(0, 2**64, 5, dtype=np.uint64)
    bits = np.uint64(1) << rng.integers(0, 64, (30_000, 2), dtype=np.uint64)
    codes = rng.choice(centres, 30_000) ^ bits[:, 0] ^ bits[:, 1]
    star = nd.clusters(codes, 4, linkage="star")
    expected = np.arange(len(codes))
    leaders: list[int] = []
    for row, code in enumerate(codes):
        near = np.bitwise_count(codes[leaders] ^ code) <= 4
        if near.any():
            expected[row] = leaders[int(near.argmax())]
        else:
            leaders.append(row)
    assert np.array_equal(star, expected)
    assert len(np.unique(nd.clusters(codes, 4))) == 5


def test_a_million_equal_fingerprints_are_one_cluster() -> None:
    codes = np.full(1_000_000, 3, dtype=np.uint64)
    codes[0] = 2**60 - 1
    for linkage in ("connected", "star"):
        labels = nd.clusters(codes, 3, linkage=linkage)
        assert labels[0] == 0
        assert (labels[1:] == 1).all()


def test_texts_without_signal_are_clusters_of_one() -> None:
    made = nd.fingerprints(["?!", "the cat sat", "", "the cat sat", "..."])
    assert nd.clusters(made).tolist() == [0, 1, 2, 1, 4]
    assert nd.clusters([]).tolist() == []
    assert nd.clusters([None]).tolist() == [0]
    assert nd.clusters(5).tolist() == [0]


def test_sampled_clusters_follow_from_the_sampled_pairs() -> None:
    rng = np.random.default_rng(6)
    bits = rng.integers(0, 2, (20_000, 128), dtype=np.uint8)
    bits[10_000:] = bits[:10_000] ^ (rng.random((10_000, 128)) < 0.14)
    codes = np.packbits(bits, axis=1).view(np.uint64)
    found = nd.pairs(codes, 28, 0.9)
    expected = np.arange(len(codes))
    for left, right in zip(found["left"].to_pylist(), found["right"].to_pylist(), strict=True):
        expected[right] = min(expected[right], expected[left])
    assert np.array_equal(nd.clusters(codes, 28, recall=0.9), expected)
    assert np.array_equal(nd.clusters(codes, 28, recall=0.9, linkage="star"), expected)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"linkage": "single"}, ValueError, "linkage is 'single'; it must be \"connected\" or"),
        ({"radius": 999}, ValueError, "radius is 999; it must be a whole number from 0 to 512"),
        ({"recall": 2}, ValueError, "recall is 2; it must be a number above 0 and at most 1"),
        ({"threads": "2"}, TypeError, "threads is '2'"),
    ],
)
def test_refusals(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nd.clusters([1, 2], **arguments)


chains = st.integers(1, 30).flatmap(
    lambda rows: st.tuples(
        st.just(rows), st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)))
    )
)


@given(chains)
def test_linking_is_that_of_the_reference(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    rows, drawn_pairs = drawn
    pairs = sorted({(min(pair), max(pair)) for pair in drawn_pairs if pair[0] != pair[1]})
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    for link, name in ((star, "star"), (connected, "connected")):
        found = link(ends[:, 0], ends[:, 1], rows)
        assert found.tolist() == labels(rows, pairs, name, range(rows))


@pytest.mark.parametrize(("link", "expected"), [(connected, [0] * 5), (star, [0, 0, 2, 2, 4])])
def test_a_long_chain_is_linked_in_linear_time(link: Any, expected: list[int]) -> None:
    def run(earlier: Any) -> Any:
        return link(earlier, earlier + 1, len(earlier) + 1)

    assert run(np.arange(4)).tolist() == expected
    assert_linear(run, np.arange, 20_000)
