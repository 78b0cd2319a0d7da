"""Naive `nd.Index`: a dict and a loop. Also codes with neighbours, and comparisons."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import neardup as nd

Id = int | str
Hits = list[tuple[Any, int]]
# Every path of the engine: below, at and above one and two words, and the widest.
WIDTHS = (8, 16, 24, 40, 64, 72, 96, 128, 136, 192, 256, 320, 512)


def search(entries: Mapping[Any, int], code: int | None, radius: int) -> Hits:
    """Return (id, distance) of all entries within the radius, by distance, then by id."""
    if code is None:
        return []
    near = ((key, (value ^ code).bit_count()) for key, value in entries.items())
    return sorted((hit for hit in near if hit[1] <= radius), key=lambda hit: (hit[1], hit[0]))


def nearest(
    entries: Mapping[Any, int], code: int | None, n: int, max_distance: int | None = None
) -> Hits:
    return search(entries, code, 512 if max_distance is None else max_distance)[:n]


def rows(answers: Iterable[Hits]) -> list[tuple[int, Any, int]]:
    """Return the rows (query, id, distance) of a batch with these answers."""
    return [(query, *hit) for query, hits in enumerate(answers) for hit in hits]


def table_rows(table: Any) -> list[tuple[int, Any, int]]:
    """Return the rows of a batch's table in the form of `rows`."""
    columns = (table.column(name).to_pylist() for name in ("query", "id", "distance"))
    return list(zip(*columns, strict=True))


def flip(code: int, places: Iterable[int]) -> int:
    for place in places:
        code ^= 1 << place
    return code


def centres(bits: int, count: int = 5) -> list[int]:
    """Return fixed codes, all zeros and all ones among them."""
    rng = random.Random(bits)
    return [0, (1 << bits) - 1, *(rng.getrandbits(bits) for _ in range(count - 2))]


def clustered(bits: int, count: int, seed: int = 0, most: int = 6) -> list[int]:
    """Return codes around a few centres, many equal: independent codes have no neighbours."""
    rng = random.Random(seed * 1000 + bits)
    around = centres(bits, 2 + count // 20)
    return [
        flip(rng.choice(around), (rng.randrange(bits) for _ in range(rng.randrange(most + 1))))
        for _ in range(count)
    ]


def as_array(codes: Iterable[int], bits: int) -> NDArray[np.uint64]:
    """Return ints as rows of 64-bit words, least significant first."""
    words = (bits + 63) // 64
    data = b"".join(code.to_bytes(words * 8, "little") for code in codes)
    return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(-1, words)


def filled(bits: int = 64, count: int = 200, seed: int = 0) -> tuple[nd.Index, dict[int, int]]:
    """Return an index and the naive entries."""
    entries = dict(enumerate(clustered(bits, count, seed)))
    index = nd.Index(bits)
    index.add(list(entries.values()))
    return index, entries


def hits(matches: Iterable[Any]) -> Hits:
    return [(match.id, match.distance) for match in matches]


def same(index: nd.Index, entries: dict[Any, int]) -> None:
    """Assert that the index holds exactly these entries."""
    assert len(index) == len(entries)
    assert list(index) == sorted(entries)
    assert {key: index[key] for key in index} == entries


def check_answers(
    index: nd.Index, entries: dict[Any, int], queries: list[int | None], radius: int
) -> None:
    """Compare single queries and a batch with the naive search."""
    expected = [search(entries, query, radius) for query in queries]
    assert table_rows(index.search(queries, radius)) == rows(expected)
    assert index.contains(queries, radius).tolist() == [bool(found) for found in expected]
    for query, found in zip(queries[:20], expected, strict=False):
        assert hits(index.search(query, radius)) == found
        assert index.contains(query, radius) is bool(found)
    for n in (1, 3):
        some = [nearest(entries, query, n, radius) for query in queries]
        assert table_rows(index.nearest(queries, n, radius)) == rows(some)
        for query, found in zip(queries[:10], some, strict=False):
            assert hits(index.nearest(query, n, radius)) == found
