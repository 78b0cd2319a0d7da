"""Damaged index files: a named error or the right answers, never anything else."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from reference import neighbours as naive
from reference.neighbours import clustered

WINDOW = 256
# Of a longer file only so many windows are tried: both ends, and places all over it.
MOST = 500
KINDS = ["numbers", "names", "removed", "wide", "levels"]


def make(kind: str) -> tuple[nd.Index, dict[Any, int], list[int]]:
    bits = 128 if kind == "wide" else 64
    codes = clustered(bits, 150)
    ids: list[Any] = [f"name {i}" if kind == "names" else 5 * i for i in range(150)]
    entries = dict(zip(ids, codes, strict=True))
    index = nd.Index(bits, levels=2 if kind == "levels" else None)
    index.add(codes, ids)
    if kind == "removed":
        index.compact()
        index.remove(ids[::3])
        for key in ids[::3]:
            del entries[key]
    return index, entries, [*clustered(bits, 10, seed=1), *codes[:10]]


class Checked:
    """Asks a file everything; what answers at all must answer right."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.index, self.entries, self.queries = make(kind)
        self.path = folder / "damaged.index"
        self.index.save(self.path)
        self.data = self.path.read_bytes()
        self.radii = (3, self.index.bits)
        self.expected = {
            radius: naive.rows([naive.search(self.entries, q, radius) for q in self.queries])
            for radius in self.radii
        }

    def is_refused(self, data: bytes) -> bool:
        # A new file each time: one that is mapped must not change.
        self.path.unlink()
        self.path.write_bytes(data)
        try:
            self.ask(nd.Index.open(self.path))
        except nd.CorruptIndexError as error:
            message = str(error)
        else:
            return False
        assert self.path.name in message
        return True

    def ask(self, index: nd.Index) -> None:
        assert len(index) == len(self.entries)
        for radius, expected in self.expected.items():
            assert naive.table_rows(index.search(self.queries, radius)) == expected
        there = [query in self.entries.values() for query in self.queries]
        assert index.contains(self.queries).tolist() == there
        assert list(index) == sorted(self.entries)
        assert {key: index[key] for key in self.entries} == self.entries
        index.verify()


def windows(size: int) -> Iterator[int]:
    starts = list(range(0, size, WINDOW))
    if len(starts) <= MOST:
        yield from starts
        return
    yield from starts[: MOST // 5]
    yield from random.Random(1).sample(starts[MOST // 5 : -MOST // 5], MOST - 2 * (MOST // 5))
    yield from starts[-MOST // 5 :]


@pytest.fixture(params=KINDS)
def checked(request: pytest.FixtureRequest, tmp_path: Path) -> Checked:
    return Checked(request.param, tmp_path)


def test_junk_over_each_window(checked: Checked) -> None:
    data = checked.data
    assert not checked.is_refused(data)
    rng = random.Random(7)
    tried = refused = 0
    for number, start in enumerate(windows(len(data))):
        size = len(data[start : start + WINDOW])
        junk = [rng.randbytes(size), bytes(size), b"\xff" * size][number % 3]
        if data[start : start + size] == junk:
            junk = rng.randbytes(size)
        tried += 1
        refused += checked.is_refused(data[:start] + junk + data[start + size :])
    # Padding may be anything; what is read is most of the file.
    assert refused > tried / 2


def test_a_single_flipped_bit(checked: Checked) -> None:
    size = len(checked.data)
    rng = random.Random(11)
    for place in [*range(min(size, 96)), *(rng.randrange(size) for _ in range(100))]:
        damaged = bytearray(checked.data)
        damaged[place] ^= 1 << rng.randrange(8)
        checked.is_refused(bytes(damaged))


def test_truncation(checked: Checked) -> None:
    size = len(checked.data)
    rng = random.Random(13)
    lengths = {*range(0, min(size, 300), 7), *(size - less for less in (1, 2, 8, 64))}
    lengths |= {rng.randrange(size) for _ in range(60)}
    for length in sorted(lengths):
        assert checked.is_refused(checked.data[:length]), f"cut to {length} of {size} bytes"


def test_bytes_behind_the_end(checked: Checked) -> None:
    checked.is_refused(checked.data + bytes(4096))


def test_pieces_of_two_files(tmp_path: Path) -> None:
    """Sound parts of different indexes are no sound index."""
    checked = Checked("numbers", tmp_path)
    another = nd.Index()
    another.add(clustered(64, 150, seed=9), [5 * i for i in range(150)])
    another.save(tmp_path / "other.index")
    first, second = checked.data, (tmp_path / "other.index").read_bytes()
    for cut in range(64, min(len(first), len(second)), max(64, len(first) // 40)):
        checked.is_refused(first[:cut] + second[cut:])
