"""Levels of an index's keys: the same answers, fewer candidates."""

import base64
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from reference.neighbours import check_answers, clustered, same

# An index of 24 bits, saved before there were levels: ids 1, 3, 5 and 7; 3 and 5 are equal.
OLD = (
    "c-qTLO)N?&E%0PyU|`4q;@iFaf<^UPN+lQ|fDuYFLunQ?aTwr&(g92mx@Tr;<F(cNkN!ge0}gPRx3_Pzw1yP}1%L_3eWZ"
    "dg6QOVuq4#H34`KTmDbNdZH!GT1>?HUdrVnHm0O}+j!T"
)


@given(
    bits=st.sampled_from([24, 32, 40, 64, 72, 128]),
    levels=st.sampled_from([None, 1, 2]),
    seed=st.integers(0, 10**6),
    radius=st.integers(0, 24),
    count=st.sampled_from([300, 1500]),
    gone=st.integers(2, 9),
)
def test_the_answers_are_those_of_brute_force(
    bits: int, levels: int | None, seed: int, radius: int, count: int, gone: int
) -> None:
    entries = dict(enumerate(clustered(bits, count, seed)))
    index = nd.Index(bits, levels=levels)
    for start in range(0, count, 700):
        index.add(list(entries.values())[start : start + 700])
    index.compact()
    index.remove(list(entries)[::gone])
    for key in list(entries)[::gone]:
        del entries[key]
    queries: list[int | None] = [*clustered(bits, 5, seed + 1)]
    check_answers(index, entries, queries, radius)
    index.compact()
    check_answers(index, entries, queries, radius)
    index.verify()


@pytest.mark.parametrize("bits", [64, 128])
def test_many_codes_at_every_radius_up_to_nine(bits: int) -> None:
    """So many that the tables are used, at some radii by both levels."""
    words, rng = bits // 64, np.random.default_rng(bits)
    codes = rng.integers(2**64, size=(300_000, words), dtype=np.uint64)
    queries = codes[:200].copy()
    # Neighbours of the queries at each distance up to twelve.
    for at, query in enumerate(queries):
        for bit in rng.choice(bits, size=at % 13, replace=False):
            query[bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    distances = np.stack([np.bitwise_count(codes ^ query).sum(axis=1) for query in queries])
    one, two = nd.Index(bits, levels=1), nd.Index(bits, levels=2)
    one.add(codes)
    two.add(codes)
    used = set()
    for radius in range(10):
        query, key = np.nonzero(distances <= radius)
        expected = sorted(zip(query.tolist(), key.tolist(), strict=True))
        for index in (one, two):
            found = index.search(queries, radius)
            assert sorted(zip(*found.to_pydict().values(), strict=True)) == [
                (*pair, int(distances[pair])) for pair in expected
            ]
        assert one.plan(radius).levels == 1
        used.add(two.plan(radius).levels)
    assert 2 in used


def test_a_plan_shows_the_levels_and_what_they_save() -> None:
    codes = np.random.default_rng(3).integers(2**64, size=2_000_000, dtype=np.uint64)
    one, two = nd.Index(), nd.Index(levels=2)
    one.add(codes)
    two.add(codes)
    assert (one.levels, two.levels) == (None, 2)
    (single,), (double,) = one.plan(3).parts, two.plan(3).parts
    assert (one.plan(3).levels, two.plan(3).levels) == (1, 2)
    assert (single.keys, single.inner) == ((16,) * 4, (0,) * 4)
    assert (single.both, single.saved) == ((None,) * 4, 0)
    # 2 million codes: 18 bits of key, of which 6 are the second level.
    assert (double.keys, double.inner) == ((18,) * 4, (6,) * 4)
    # The first level is equal, and both together differ in a bit at most.
    assert (double.flips, double.both) == ((0,) * 4, (1,) * 4)
    # In each table the 8 buckets around the query's, and 3 with one of the highest bits flipped.
    assert double.probes == 16
    assert double.candidates == pytest.approx(4 * 2e6 / 2**12 * 11 / 64, rel=0.1)
    assert double.candidates + double.saved == pytest.approx(4 * 2e6 / 2**12, rel=0.1)
    assert "12 bits with 18 bits ± 1" in str(double)
    assert "with one level" in str(double)
    assert "level" not in str(single)
    assert two.plan(64).levels == 0


def test_what_cannot_be() -> None:
    for levels in (0, 3, -1):
        with pytest.raises(
            ValueError, match=f"levels is {levels}; it must be a whole number from 1 to 2"
        ):
            nd.Index(levels=levels)
    with pytest.raises(TypeError, match="levels"):
        nd.Index(levels="2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="levels is 2; fingerprints of 16 bits have one block"):
        nd.Index(16, levels=2)
    assert nd.Index(16, levels=1).levels == 1
    assert nd.Index(recipe=nd.Recipe(), levels=2).levels == 2


@pytest.mark.parametrize("levels", [None, 1, 2])
def test_a_file_keeps_the_levels(levels: int | None, tmp_path: Path) -> None:
    path = tmp_path / "near.index"
    entries = dict(enumerate(clustered(64, 1500)))
    index = nd.Index(levels=levels)
    index.add(list(entries.values()))
    index.save(path)
    # Without levels the file is one that earlier versions open.
    assert struct.unpack_from("<I", path.read_bytes(), 8) == (1 if levels is None else 2,)
    opened = nd.Index.open(path)
    opened.verify()
    assert opened.levels == levels
    same(opened, entries)
    check_answers(opened, entries, [*clustered(64, 20, seed=1)], 3)
    # What is added later has them too.
    more = clustered(64, 1500, seed=2)
    entries |= zip(map(int, opened.add(more)), more, strict=True)
    opened.compact()
    inner = opened.plan(3).parts[0].inner or index.plan(3).parts[0].inner
    assert any(inner) == (levels == 2)
    check_answers(opened, entries, [*clustered(64, 20, seed=1)], 3)
    opened.clear()
    assert opened.levels == levels


def test_a_file_from_before_there_were_levels(tmp_path: Path) -> None:
    path = tmp_path / "old.index"
    path.write_bytes(zlib.decompress(base64.b85decode(OLD)))
    opened = nd.Index.open(path)
    opened.verify()
    assert opened.levels is None
    same(opened, {1: 0x123457, 3: 0x123456, 5: 0x123456, 7: 0xABCDEF})
    # And it is still written like that.
    opened.save(tmp_path / "again.index")
    assert (tmp_path / "again.index").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("bits", "levels"), [(64, 0), (64, 3), (16, 2)])
def test_impossible_levels_in_a_file_are_refused(bits: int, levels: int, tmp_path: Path) -> None:
    path = tmp_path / "near.index"
    index = nd.Index(bits, levels=1)
    index.add([1, 2, 3])
    index.save(path)
    data = bytearray(path.read_bytes())
    # The eighth number of the header; then its checksum.
    struct.pack_into("<Q", data, 24 + 8 * 7, levels)
    (length,) = struct.unpack_from("<I", data, 12)
    checksum = xxhash.xxh3_64_intdigest(bytes(data[8:16] + data[24:length]))
    struct.pack_into("<Q", data, 16, checksum)
    path.write_bytes(data)
    with pytest.raises(nd.CorruptIndexError, match="an impossible number of levels"):
        nd.Index.open(path)
