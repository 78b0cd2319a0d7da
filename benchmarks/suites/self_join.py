"""Self-join of fingerprints: exact, with many equal codes, and by sampled bits.

Each task runs one measurement in a fresh process and prints it as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import neardup as nd
from data.codes import COSINE, Array, Codes
from measure import Row, alone, at_least, at_most, by_turns, core_seconds, seconds
from peers.environment import PeerProcess
from suites.footprint import peak
from suites.index import WORKER, Scale

FIND_ALL = "simhash-pybind find_all"
# Its fastest setting at radius 3 and ten million codes.
BLOCKS = 5

# Texts at COSINE differ in 18.4 ± 4.0 of 128 bits: 99 of 100 pairs are within this radius.
RADIUS = 28
# Above the target LEAST, since it refers to pairs within the radius only.
ASKED = 0.98
LEAST = 0.97
CLOSE = 0.01

LARGE = 10**8
LARGE_BYTES = 20e9


def join(scale: Scale) -> Iterator[Row]:
    """Measure all pairs within radius 3."""
    for kind in scale.codes.kinds:
        count = scale.size(10**7)
        path = scale.codes.near(kind, 64, count)
        codes = np.load(path)
        what = f"self-join, radius 3, {Codes.name(kind, count)}"
        yield from _one_and_two(what, codes, scale)
        yield _against_find_all(what, path, codes)
        yield from _many_equal(kind, codes, scale)
    if scale.large:
        yield _large(scale)


def _one_and_two(what: str, codes: Array, scale: Scale) -> Iterator[Row]:
    took = min(core_seconds(nd.pairs, codes, 3, threads=1) for _ in range(scale.rounds))
    yield at_most(f"{what}, one thread", took / len(codes) * 1e9, "ns a code", 150)

    def speed(threads: int) -> float:
        return len(codes) / seconds(nd.pairs, codes, 3, threads=threads)

    found = by_turns(scale.rounds, partial(speed, 2), partial(speed, 1))
    yield at_least(
        f"{what}, two threads",
        f"{1e9 / statistics.median(found.ours):.3g} ns a code",
        f"one thread: {1e9 / statistics.median(found.theirs):.3g} ns",
        found.ratio,
        1.6,
    )


def _against_find_all(what: str, path: Path, codes: Array) -> Row:
    """Compare with simhash-pybind, once: it takes more than a minute."""
    with PeerProcess(WORKER) as peers:
        answer = peers.ask("find-all", codes=str(path), blocks=BLOCKS, radius=3)
    # find_all pairs distinct values, not rows.
    table = nd.pairs(codes, 3, equal="first", threads=1)
    found = int(np.count_nonzero(table.column("distance").to_numpy()))
    if found != answer["found"]:
        raise RuntimeError(f"neardup found {found} pairs, {FIND_ALL} {answer['found']}")
    ours = core_seconds(nd.pairs, codes, 3, equal="first", threads=1)
    return at_least(
        f"{what}, one thread",
        f"{ours / len(codes) * 1e9:.3g} ns a code",
        f"{FIND_ALL}: {answer['seconds'] / len(codes) * 1e9:.3g} ns",
        answer["seconds"] / ours,
        12,
    )


def _many_equal(kind: str, codes: Array, scale: Scale) -> Iterator[Row]:
    """Measure joins and clusters with a tenth of the codes made equal."""
    rows = np.random.default_rng(9).permutation(len(codes))[: len(codes) // 10]
    heavy = codes.copy()
    heavy[rows] = heavy[rows[0]]
    works: dict[str, Callable[..., object]] = {
        "self-join": partial(nd.pairs, radius=3, equal="first"),
        "clusters": partial(nd.clusters, radius=3),
        "star clusters": partial(nd.clusters, radius=3, linkage="star"),
    }
    for name, work in works.items():
        without, with_them = _by_turns(scale, partial(work, codes), partial(work, heavy))
        ratio = statistics.median(y / x for x, y in zip(without, with_them, strict=True))
        yield Row(
            f"{name}, radius 3, {len(rows):,} equal ones among {Codes.name(kind, len(codes))}",
            f"{statistics.median(with_them) / len(codes) * 1e9:.3g} ns a code",
            f"without them: {statistics.median(without) / len(codes) * 1e9:.3g} ns",
            ratio,
            "≤ 2×",
            ratio <= 2,
        )


def _by_turns(scale: Scale, *works: Callable[[], object]) -> list[list[float]]:
    rounds = [[seconds(work) for work in works] for _ in range(max(2, scale.rounds // 2))]
    return [list(times) for times in zip(*rounds, strict=True)]


def _large(scale: Scale) -> Row:
    path = scale.codes.near("uniform", 64, LARGE)
    found = alone(__name__, "large", str(path))
    path.unlink()
    return at_most(
        f"self-join, radius 3, {Codes.name('uniform', LARGE)}: memory with the codes",
        found["peak"] / 1e9,
        "GB",
        LARGE_BYTES / 1e9,
        more=f" at most, {found['seconds']:.0f} s",
    )


def sampled(scale: Scale) -> Iterator[Row]:
    """Measure the join by sampled bits, in fresh processes because memory is measured."""
    for kind in scale.codes.kinds:
        for full, limit in ((10**6, 2.5), (10**7, 5.0)):
            count = scale.size(full)
            codes, partners = scale.codes.planted(kind, 128, count)
            found = alone(__name__, "sampled", str(codes), str(partners))
            what = f"pairs at cosine {COSINE:g}, {Codes.name(kind, count)}, 128 bits"
            yield from _sampled_rows(what, count, limit, found)


def _sampled_rows(what: str, count: int, limit: float, found: dict[str, Any]) -> Iterator[Row]:
    more = f"; {found['pairs']:,} pairs by {found['method']}"
    each = found["seconds"] / count * 1e6
    yield at_most(f"{what}, all threads", each, "µs a code", limit, more=more)
    yield Row(
        f"{what}: share of planted pairs found",
        f"{found['recall']:.4f}",
        f"within radius {RADIUS} there are {found['reachable']:.4f}",
        target=f"≥ {LEAST:g}",
        met=found["recall"] >= LEAST,
    )
    yield Row(
        f"{what}: share found of those within the radius",
        f"{found['recall within']:.4f}",
        f"computed: {found['computed']:.4f}",
        target=f"± {CLOSE:g}",
        met=abs(found["recall within"] - found["computed"]) <= CLOSE,
    )
    yield at_most(f"{what}: peak memory beside them", found["growth"] / count, "bytes a code", 32)


def _sampled(codes_path: str, partners_path: str) -> dict[str, Any]:
    codes, partners = np.load(codes_path), np.load(partners_path)
    # Warm up: start threads and load libraries.
    nd.pairs(codes[:5000], RADIUS, recall=ASKED, stream=True).read_all()["left"].to_numpy()
    before = peak()
    started = time.perf_counter()
    stream = nd.pairs(codes, RADIUS, recall=ASKED, stream=True)
    hits = pairs = 0
    for batch in stream:
        left, right = (batch.column(name).to_numpy() for name in ("left", "right"))
        hits += int(np.count_nonzero(partners[left] == right))
        pairs += len(left)
    took, grown = time.perf_counter() - started, peak() - before
    plan = json.loads(stream.schema.metadata[b"neardup"])
    rows = np.flatnonzero(partners > np.arange(len(partners)))
    distances = np.bitwise_count(codes[rows] ^ codes[partners[rows]]).sum(axis=1)
    within = int(np.count_nonzero(distances <= RADIUS))
    return {
        "seconds": took,
        "growth": grown,
        "pairs": pairs,
        "method": plan["method"],
        "computed": plan["recall"],
        "recall": hits / len(rows),
        "reachable": within / len(rows),
        "recall within": hits / within,
    }


def _join(codes_path: str) -> dict[str, Any]:
    codes = np.load(codes_path)
    return {"seconds": seconds(nd.pairs, codes, 3, equal="first"), "peak": peak()}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {"large": _join, "sampled": _sampled}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
