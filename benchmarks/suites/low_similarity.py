"""Near pairs at low similarities, and among half-alike records: time, memory and forecast.

Each task runs one measurement in a fresh process and prints it as JSON. The peers are a plain
product of sparse matrices, and the join by sketches alone.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

import neardup as nd
from data import corpora
from data.planted_records import Records
from measure import Row, alone, at_most, core_seconds, note, seconds
from suites.footprint import peak

# Rows of the product computed at a time.
PRODUCT_ROWS = 500
TARGETS = (("Reuters stories", 0.5, 5), ("Reuters stories", 0.6, 3), ("Chinese", 0.7, 6))
# Words of half-alike records: common ones and own ones.
COMMON, OWN = 10, 12
# A forecast may be off by this factor.
FACTOR = 2
MEGABYTES = 300
# Bytes of a half-alike record, and of all together.
EACH, ALL = 300, 200e6


def rows(records: Records, folder: Path, *, quick: bool, large: bool) -> Iterator[Row]:
    """Yield all rows of the section."""
    scale = 10 if quick else 1
    texts = corpora.whole(records.data, 20_000 // scale)
    paths = {name: _write(folder / f"{name}.jsonl", some) for name, some in texts.items()}
    for name, similarity, limit in TARGETS:
        yield from _against_others(paths[name], similarity, limit)
    for count in (25_000 // scale, 200_000 // scale):
        yield from _half_alike(folder, count)
    sizes = [(records.edited(100_000 // scale), 0.6)]
    if large:
        sizes.append((records.short(1_000_000 // scale), 0.7))
    for path, similarity in sizes:
        yield _foreseen(path, similarity)


def _write(path: Path, texts: list[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    return path


def _against_others(path: Path, similarity: float, limit: float) -> Iterator[Row]:
    note(f"similarity {similarity}, {path.stem}")
    ours = alone(__name__, "join", str(path), str(similarity), "auto")
    what = f"near pairs, {ours['texts']:,} {path.stem}, similarity {similarity:g}"
    exact = alone(__name__, "join", str(path), str(similarity), "exact")
    product = alone(__name__, "product", str(path), str(similarity))
    if exact["pairs"] != product["pairs"]:
        raise RuntimeError(f"{what}: {exact['pairs']} pairs, the product has {product['pairs']}")
    more = f", {ours['pairs']:,} pairs by {ours['method']}"
    yield at_most(
        what,
        ours["seconds"],
        "s",
        limit,
        peer=f"scipy sparse product: {product['seconds']:.3g} s, one thread",
        ratio=product["core seconds"] / ours["core seconds"],
        more=more,
    )
    sketches = alone(__name__, "join", str(path), str(similarity), "sketches")
    yield Row(
        what,
        f"{ours['core seconds']:.3g} s of one core",
        f"sketches alone: {sketches['core seconds']:.3g} s of one core, "
        f"{sketches['peak'] / 1e6:.0f} MB",
        sketches["core seconds"] / ours["core seconds"],
    )
    yield at_most(f"{what}: peak memory", ours["peak"] / 1e6, "MB", MEGABYTES)


def _half_alike(folder: Path, count: int) -> Iterator[Row]:
    rng = random.Random(count)
    common = " ".join(f"common{at}" for at in range(COMMON))
    texts = [
        f"{common} " + " ".join(f"w{rng.getrandbits(28):07x}" for _ in range(OWN))
        for _ in range(count)
    ]
    path = _write(folder / f"half-{count}.jsonl", texts)
    found = alone(__name__, "dedup", str(path))
    what = f"dedup, {count:,} half-alike records"
    yield Row(what, f"{found['seconds'] / count * 1e6:.3g} µs a record by {found['method']}")
    limit = (EACH * count + ALL) / 1e6
    yield at_most(f"{what}: peak memory", found["peak"] / 1e6, "MB", limit)


def _foreseen(path: Path, similarity: float) -> Row:
    found = alone(__name__, "join", str(path), str(similarity), "auto")
    ratio = found["core seconds"] / found["threads"] / found["expected"]
    return Row(
        f"near pairs of {found['texts']:,} records, similarity {similarity:g}",
        f"{found['seconds']:.3g} s, {found['peak'] / 1e6:.0f} MB, {found['pairs']:,} pairs by "
        f"{found['method']}",
        f"told beforehand: {found['expected']:.3g} s",
        ratio,
        f"within {FACTOR}×",
        1 / FACTOR <= ratio <= FACTOR,
    )


def _texts(path: str) -> list[str]:
    with Path(path).open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def _join(path: str, similarity: str, method: str) -> dict[str, Any]:
    from neardup.near.corpus import memory_corpus
    from neardup.near.join import SketchJoin
    from neardup.near.matches import Forecast
    from neardup.near.question import check_question

    # Not as a list: that would take more memory than the join.
    column = pyarrow.json.read_json(path)["text"].cast(pa.large_string())
    recall = 1.0 if method == "exact" else None
    asked = check_question(float(similarity), None, recall, bits=128)
    made: list[SketchJoin] = []

    def join() -> None:
        matches = SketchJoin(memory_corpus(column, nd.Recipe(), asked), asked)
        if method == "sketches":
            matches._forecast = Forecast("sketches", 0, 0)
        matches.clusters("star")
        made.append(matches)

    took: dict[str, float] = {}
    took["core seconds"] = core_seconds(lambda: took.update(seconds=seconds(join)))
    (found,) = made
    return {
        **took,
        "peak": peak(),
        "texts": len(column),
        "pairs": found.counts.pairs,
        "method": found.plan["method"],
        "expected": found.plan.get("expected_seconds", 0.0),
        "threads": 2,
    }


def _dedup(path: str) -> dict[str, Any]:
    from neardup import jobs

    made: list[jobs.Summary] = []
    took = seconds(lambda: made.append(jobs.dedup([path], f"{path}.out.jsonl")))
    return {"seconds": took, "peak": peak(), "method": made[0].plan["method"]}


def _product(path: str, similarity: str) -> dict[str, Any]:
    """Multiply normalised rows of distinct features with all, some rows at a time."""
    from scipy.sparse import csr_matrix

    numbers: dict[str, int] = {}
    starts, terms, weights, seen = [0], [], [], set()
    for text in _texts(path):
        features = nd.Recipe().pipeline.features(text)
        own = frozenset((token, weight) for token, _, weight in features)
        # A text with too few features matches only equal texts.
        if own in seen or len(own) < nd.Recipe().min_features:
            continue
        seen.add(own)
        norm = sum(weight * weight for _, weight in own) ** 0.5
        for token, weight in own:
            terms.append(numbers.setdefault(token, len(numbers)))
            weights.append(weight / norm)
        starts.append(len(terms))
    matrix = csr_matrix((weights, terms, starts), shape=(len(starts) - 1, len(numbers)))
    columns = matrix.T.tocsr()
    pairs = 0

    def multiply() -> None:
        nonlocal pairs
        for start in range(0, matrix.shape[0], PRODUCT_ROWS):
            part = (matrix[start : start + PRODUCT_ROWS] @ columns).tocoo()
            near = part.data >= float(similarity) - 1e-12
            pairs += int(np.count_nonzero(part.row[near] + start < part.col[near]))

    took: dict[str, float] = {}
    took["core seconds"] = core_seconds(lambda: took.update(seconds=seconds(multiply)))
    return {**took, "pairs": pairs}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "join": _join,
    "dedup": _dedup,
    "product": _product,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
