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
KINDS = ["numbers", "names", "removed", "wide"]


def make(kind: str) -> tuple[nd.Index, dict[Any, int], list[int]]:
    bits = 128 if kind == "wide" else 64
    codes = clustered(bits, 150)
    ids: list[Any] = [f"name {i}" if kind == "names" else 5 * i for i in range(150)]
    entries = dict(zip(ids, codes, strict=True))
    index = nd.Index(bits)
    index.add(codes, ids)
    if kind == "removed":
        index.compact()
        index.remove(ids[::3])
        for key in ids[::3]:
            del entries[key]
    return index, entries, [*clustered(bits, 10, seed=1), *codes[:10]]


class Checked:
    """Asks a file everything; what answers at all must answer right."""

    def __init__(self, kind: str) -> None:
        self.index, self.entries, self.queries = make(kind)
        self.radii = (3, self.index.bits)
        self.expected = {
            radius: naive.rows([naive.search(self.entries, q, radius) for q in self.queries])
            for radius in self.radii
        }

    def is_refused(self, path: Path) -> bool:
        try:
            self.ask(nd.Index.open(path))
        except nd.CorruptIndexError as error:
            message = str(error)
        else:
            return False
        assert path.name in message
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


@pytest.mark.parametrize("kind", KINDS)
def test_junk_over_each_window(kind: str, tmp_path: Path) -> None:
    checked = Checked(kind)
    whole = tmp_path / "whole.index"
    checked.index.save(whole)
    assert not checked.is_refused(whole)
    data = whole.read_bytes()
    rng = random.Random(7)
    path = tmp_path / "damaged.index"
    tried = refused = 0
    for number, start in enumerate(windows(len(data))):
        size = len(data[start : start + WINDOW])
        junk = [rng.randbytes(size), bytes(size), b"\xff" * size][number % 3]
        if data[start : start + size] == junk:
            junk = rng.randbytes(size)
        # A new file each time: one that is mapped must not change.
        path.unlink(missing_ok=True)
        path.write_bytes(data[:start] + junk + data[start + size :])
        tried += 1
        refused += checked.is_refused(path)
    # Padding may be anything; what is read is most of the file.
    assert refused > tried / 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_flipped_bit(kind: str, tmp_path: Path) -> None:
    checked = Checked(kind)
    whole = tmp_path / "whole.index"
    checked.index.save(whole)
    data = whole.read_bytes()
    rng = random.Random(11)
    path = tmp_path / "damaged.index"
    places = [*range(min(len(data), 96)), *(rng.randrange(len(data)) for _ in range(100))]
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        path.unlink(missing_ok=True)
        path.write_bytes(damaged)
        checked.is_refused(path)


@pytest.mark.parametrize("kind", KINDS)
def test_truncation(kind: str, tmp_path: Path) -> None:
    checked = Checked(kind)
    whole = tmp_path / "whole.index"
    checked.index.save(whole)
    data = whole.read_bytes()
    rng = random.Random(13)
    lengths = {*range(0, min(len(data), 300), 7), *(len(data) - less for less in (1, 2, 8, 64))}
    lengths |= {rng.randrange(len(data)) for _ in range(60)}
    path = tmp_path / "short.index"
    for length in sorted(lengths):
        path.unlink(missing_ok=True)
        path.write_bytes(data[:length])
        assert checked.is_refused(path), f"cut to {length} of {len(data)} bytes"


def test_bytes_behind_the_end(tmp_path: Path) -> None:
    checked = Checked("numbers")
    path = tmp_path / "longer.index"
    checked.index.save(path)
    with path.open("ab") as file:
        file.write(bytes(4096))
    checked.is_refused(path)


def test_pieces_of_two_files(tmp_path: Path) -> None:
    """Sound parts of different indexes are no sound index."""
    checked = Checked("numbers")
    one, other = tmp_path / "one.index", tmp_path / "other.index"
    checked.index.save(one)
    another = nd.Index()
    another.add(clustered(64, 150, seed=9), [5 * i for i in range(150)])
    another.save(other)
    first, second = one.read_bytes(), other.read_bytes()
    path = tmp_path / "mixed.index"
    for cut in range(64, min(len(first), len(second)), max(64, len(first) // 40)):
        path.unlink(missing_ok=True)
        path.write_bytes(first[:cut] + second[cut:])
        checked.is_refused(path)
