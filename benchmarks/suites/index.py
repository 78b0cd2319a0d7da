"""Index of fingerprints: search, insertion, memory, opening.

Each task runs one measurement in a fresh process and prints it as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import neardup as nd
from data.codes import Array, Codes, flip_some
from measure import Rounds, Row, alone, at_most, core_seconds, seconds
from peers.environment import PeerProcess
from suites.footprint import peak, resident

FAISS = {
    "multihash": "FAISS IndexBinaryMultiHash(64, 4, 16)",
    "flat": "FAISS IndexBinaryFlat",
}
WORKER = "search_libraries.py"


@dataclass(frozen=True)
class Scale:
    """Size of the measurements.

    quick  a tenth of the codes; targets mean little then
    large  the largest self-join and the largest index as well
    """

    codes: Codes
    rounds: int
    quick: bool
    large: bool

    def size(self, full: int) -> int:
        return full // 10 if self.quick else full


@dataclass(frozen=True)
class Search:
    """A search to measure. Its queries take some tenths of a second in every round."""

    count: int
    radius: int
    peer: str
    queries: int
    peer_queries: int
    ratio: float | None
    micros: float


# The tables of multihash would miss hits beyond radius 3, so the second peer is a linear scan.
SEARCHES = (
    Search(10**7, 3, "multihash", 200_000, 5_000, 100, 2),
    Search(10**6, 8, "flat", 50_000, 200, None, 15),
)


def search(scale: Scale) -> Iterator[Row]:
    """Measure batches of queries on one thread."""
    for kind in scale.codes.kinds:
        for case in SEARCHES:
            yield _search(scale, kind, case)


def _search(scale: Scale, kind: str, case: Search) -> Row:
    count = scale.size(case.count)
    path = scale.codes.near(kind, 64, count)
    stored = np.load(path)
    queries = scale.codes.queries(kind, 64, (scale.rounds + 1) * case.queries, stored)
    asked = scale.codes.folder / "queries.npy"
    np.save(asked, queries)
    index = nd.Index(64)
    index.add(stored)
    speeds: list[tuple[float, float]] = []
    with PeerProcess(WORKER) as peers:
        peers.ask("faiss-add", kind=case.peer, codes=str(path))
        for start in range(0, len(queries), case.queries):
            part = queries[start : start + case.queries]
            ours = core_seconds(index.search, part, case.radius, threads=1)
            answer = peers.ask(
                "faiss-search",
                kind=case.peer,
                queries=str(asked),
                radius=case.radius,
                start=start,
                end=start + case.peer_queries,
            )
            found = index.search(part[: case.peer_queries], case.radius).num_rows
            if found != answer["found"]:
                raise RuntimeError(f"neardup found {found} neighbours, FAISS {answer['found']}")
            speeds.append((len(part) / ours, case.peer_queries / answer["seconds"]))
    # The first round is warm-up.
    rounds = Rounds([ours for ours, _ in speeds[1:]], [theirs for _, theirs in speeds[1:]])
    row = at_most(
        f"search, radius {case.radius}, {Codes.name(kind, count)}, one thread",
        1e6 / statistics.median(rounds.ours),
        "µs a query",
        case.micros,
        peer=f"{FAISS[case.peer]}: {1e6 / statistics.median(rounds.theirs):.3g} µs",
        ratio=rounds.ratio,
    )
    if case.ratio is None:
        return row
    target, met = f"≥ {case.ratio:g}×, {row.target}", row.met and rounds.ratio >= case.ratio
    return Row(row.what, row.neardup, row.peer, row.ratio, target, met)


# From here on an index has two levels by itself.
LEVELLED = 3 * 10**7
HUGE = 10**8
HUGE_QUERIES = 200_000


def levels(scale: Scale) -> Iterator[Row]:
    """Measure keys of two levels against keys of one, on uniform codes."""
    for count in (LEVELLED, *([HUGE] if scale.large else [])):
        # Two indexes of a hundred million at a time would take 8 GB.
        path = scale.codes.plain("uniform", 64, scale.size(count))
        one, two = (alone(__name__, "levels", str(path), str(n), str(scale.rounds)) for n in (1, 2))
        if one["found"] != two["found"]:
            raise RuntimeError(f"one level found {one['found']} neighbours, two {two['found']}")
        of = Codes.name("uniform", scale.size(count))
        yield at_most(
            f"search by keys of two levels, radius 3, {of}, {HUGE_QUERIES:,} queries, one thread",
            two["micros"],
            f"µs a query, {two['candidates']:,.0f} candidates",
            2,
            peer=f"one level: {one['micros']:.3g} µs, {one['candidates']:,.0f} candidates",
            ratio=one["micros"] / two["micros"],
        )
        yield at_most(
            f"index with keys of two levels, {of}, 64 bits",
            two["nbytes"] / scale.size(count),
            "bytes an entry",
            40,
            more=f"; peak while it is built {two['peak'] / scale.size(count):.3g}",
        )
        yield at_most(
            f"inserting {of} at once, keys of two levels, one thread",
            two["built"] / scale.size(count) * 1e6,
            "µs a code",
            None,
            peer=f"one level: {one['built'] / scale.size(count) * 1e6:.3g} µs",
            ratio=one["built"] / two["built"],
        )


def _levels(codes_path: str, levels: str, rounds: str) -> dict[str, Any]:
    codes = np.load(codes_path)
    _warm_up()
    most = peak()
    index = nd.Index(64, levels=int(levels))
    built = core_seconds(index.add, codes, threads=1)
    answer = {"built": built, "nbytes": index.nbytes, "peak": peak() - most}
    rng = np.random.default_rng(8)
    speeds, found = [], 0
    for _ in range(int(rounds) + 1):
        queries = rng.integers(0, 2**64, (HUGE_QUERIES, 1), dtype=np.uint64)
        half = HUGE_QUERIES // 2
        queries[:half] = flip_some(rng, codes[rng.integers(0, len(codes), half)], 64, 3)
        rng.shuffle(queries)
        speeds.append(core_seconds(index.search, queries, 3, threads=1) / HUGE_QUERIES * 1e6)
        found += index.search(queries, 3).num_rows
    # The first round is warm-up.
    candidates = sum(part.candidates for part in index.plan(3).parts)
    return answer | {
        "micros": statistics.median(speeds[1:]),
        "found": found,
        "candidates": candidates,
    }


def build(scale: Scale) -> Iterator[Row]:
    """Measure inserting at once, in batches and one by one."""
    for kind in scale.codes.kinds:
        count = scale.size(10**7)
        path = scale.codes.near(kind, 64, count)
        stored = np.load(path)
        what = f"inserting {Codes.name(kind, count)} at once"
        with PeerProcess(WORKER) as peers:
            theirs = peers.ask("faiss-add", kind="multihash", codes=str(path))["seconds"]
        ours = min(core_seconds(_at_once, stored, 1) for _ in range(2))
        yield at_most(
            f"{what}, one thread",
            ours / count * 1e6,
            "µs a code",
            0.3,
            peer=f"{FAISS['multihash']}: {theirs / count * 1e6:.3g} µs",
            ratio=theirs / ours,
        )
        two = min(seconds(_at_once, stored, 2) for _ in range(2))
        yield at_most(f"{what}, two threads", two / count * 1e6, "µs a code", None)
        yield from _little_by_little(kind, stored[: scale.size(2 * 10**6)])


def _at_once(codes: Array, threads: int) -> None:
    index = nd.Index(64)
    index.add(codes, threads=threads)
    # The first search pays for work that add() defers.
    index.search(codes[:1], 3, threads=threads)


def _little_by_little(kind: str, codes: Array) -> Iterator[Row]:
    before, after = np.split(codes, 2)
    for size, limit in ((1000, 1.0), (1, None)):
        index = nd.Index(64)
        index.add(before, threads=1)
        added = after if size > 1 else after[: len(after) // 10]
        took = core_seconds(_in_batches, index, added, size)
        yield at_most(
            f"inserting {Codes.name(kind, len(added))} "
            f"{f'in batches of {size}' if size > 1 else 'one by one from Python'}, "
            f"with {len(before):,} there",
            took / len(added) * 1e6,
            "µs a code",
            limit,
        )


def _in_batches(index: nd.Index, codes: Array, size: int) -> None:
    if size == 1:
        for code in codes.ravel().tolist():
            index.add(code)
    else:
        for start in range(0, len(codes), size):
            index.add(codes[start : start + size], threads=1)
    index.search(codes[:1], 3, threads=1)


def footprint(scale: Scale) -> Iterator[Row]:
    """Measure the memory of an index and the time to open a saved one."""
    for kind in scale.codes.kinds:
        count = scale.size(10**7)
        path = scale.codes.near(kind, 64, count)
        saved = scale.codes.folder / "saved.index"
        found = alone(__name__, "memory", str(path), str(saved))
        of = f"{Codes.name(kind, count)}, 64 bits"
        for what, size, limit in (
            ("memory of an index", found["held"], 40),
            ("memory of an index by its own account", found["nbytes"], 40),
            ("peak memory while it is built", found["peak"], None),
            ("file of an index", saved.stat().st_size, None),
        ):
            yield at_most(f"{what}, {of}", size / count, "bytes an entry", limit)
        runs = [alone(__name__, "open", str(saved), str(path)) for _ in range(5)]
        opened, first = (statistics.median(run[x] for run in runs) * 1e3 for x in ("open", "first"))
        yield at_most(
            f"opening a saved index in a new process, {of}",
            opened,
            "ms",
            50,
            more=f"; the first 1,000 queries {first:.3g} ms",
        )
        saved.unlink()


def _memory(codes_path: str, saved: str) -> dict[str, Any]:
    codes = np.load(codes_path)
    _warm_up()
    most, now = peak(), resident()
    index = nd.Index(64)
    index.add(codes)
    index.compact()
    answer = {"held": resident() - now, "peak": peak() - most, "nbytes": index.nbytes}
    index.save(saved)
    return answer


def _open(saved: str, codes_path: str) -> dict[str, Any]:
    queries = np.array(np.load(codes_path, mmap_mode="r")[:1000])
    _warm_up()
    started = time.perf_counter()
    index = nd.Index.open(saved)
    opened = time.perf_counter()
    found = index.contains(queries, 3)
    answered = time.perf_counter()
    assert found.all()
    return {"open": opened - started, "first": answered - opened}


def _warm_up() -> None:
    """Start threads and load libraries before the measurement."""
    index = nd.Index(64)
    index.add(np.arange(2000, dtype=np.uint64))
    index.search(np.arange(10, dtype=np.uint64))


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "memory": _memory,
    "open": _open,
    "levels": _levels,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
