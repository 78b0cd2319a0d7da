"""Measure the skew of join keys and its effect on Spark tasks.

    python benchmarks/key_skew.py [--count N]

Draws texts whose words follow Zipf's law, some of them from one template, computes their sketches
and keys with the core, and counts buckets. Two figures matter at scale: the probability q that two
texts share the key of a table, since a text is compared with 31 · q · N / 2 unrelated ones; and the
largest bucket, since its share of all texts does not shrink as they grow, so that one task with all
of it would delay the job. The simulation assigns keys to tasks by hash, once with whole buckets and
once with large buckets split into blocks, as the engine does.

Both depend on luck: where a frequent word draws all the registers of a table, most texts with it
share a key. So every figure is of several vocabularies, which differ in nothing but their hashes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import _core
from neardup._util.arrow import as_column, string_buffers
from neardup.engines.spark.request import Limits
from neardup.text.recipe import Recipe

QUESTION = (0.85, 0.99)
REGISTERS = 48
VOCABULARY = 30_000
WORDS = 12
VOCABULARIES = 8
TASKS = 1024
# Shares of texts that are one template with a word changed.
TEMPLATES = (0.0, 0.01, 0.1)
HEADER = (
    "| texts | of one template | q, two strangers share a key | largest bucket "
    "| comparisons a text | largest task, whole | largest task, cut |\n"
    "|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Skew:
    """Distribution of the keys of `count` texts, the mean of all vocabularies.

    q          probability that two texts share the key of a table, averaged over tables
    largest    texts in the largest bucket
    whole      records of the largest of TASKS tasks over the mean, buckets left whole
    cut        the same with large buckets split
    """

    count: int
    template: float
    q: float
    largest: float
    tables: int
    whole: float
    cut: float

    @property
    def comparisons(self) -> float:
        """Return the comparisons of registers per text."""
        return self.tables * self.q * self.count / 2

    def markdown(self) -> str:
        return (
            f"| {self.count:,} | {self.template:.0%} | {self.q:.2g} | {self.largest:,.0f} "
            f"| {self.comparisons:,.3g} | {self.whole:.2f} × mean | {self.cut:.2f} × mean |"
        )


def texts(count: int, template: float, vocabulary: int = 0) -> list[str]:
    """Return records of a dozen words; a share of them is one template with a word changed."""
    random = np.random.default_rng(5)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    chosen = random.choice(VOCABULARY, size=(count, WORDS), p=weights / weights.sum())
    alike = random.random(count) < template
    base = random.integers(0, VOCABULARY, WORDS * 4)
    found = []
    for row, same in zip(chosen.tolist(), alike.tolist(), strict=True):
        words = row
        if same:
            words = base.tolist()
            words[row[0] % len(words)] = row[1]
        found.append(" ".join(f"w{vocabulary}x{word}" for word in words))
    return found


def keys_of(some: list[str]) -> NDArray[np.uint64]:
    """Return the keys of texts with distinct sketches: a row per text, a column per table."""
    column = as_column(pa.array(some, pa.large_string()))
    _, sketches = Recipe().pipeline.sketches_arrow(string_buffers(column), None)
    sketches = np.unique(sketches, axis=0)
    registers = np.ascontiguousarray(sketches[:, :REGISTERS])
    return _core.sketch_keys(registers, QUESTION, None)


def skew(count: int, template: float) -> Skew:
    """Generate `count` texts of each vocabulary and measure the skew of their keys."""
    some = [keys_of(texts(count, template, number)) for number in range(VOCABULARIES)]
    rows, tables = some[0].shape
    q, largest, whole, cut = np.mean([_measured(keys) for keys in some], axis=0).tolist()
    return Skew(rows, template, q, largest, tables, whole, cut)


def _measured(keys: NDArray[np.uint64]) -> tuple[float, int, float, float]:
    """Return q, the largest bucket, and the largest task without and with buckets split."""
    rows, tables = keys.shape
    found, sizes = np.unique(keys.reshape(-1), return_counts=True)
    pairs = float((sizes.astype(float) * (sizes - 1)).sum()) / 2
    q = pairs / tables / (rows * (rows - 1) / 2)
    limit = Limits().bucket_rows
    # Scaled up until the mean task holds four full buckets: only then does skew matter.
    scale = TASKS * limit * 4 / (rows * tables)
    whole, cut = (_largest_task(found, sizes * scale, most) for most in (None, limit))
    return q, int(sizes.max()), whole, cut


def _largest_task(keys: NDArray[np.uint64], sizes: NDArray[np.float64], limit: int | None) -> float:
    """Return the largest task over the mean; buckets above the limit are split into blocks."""
    random = np.random.default_rng(1)
    if limit is not None:
        blocks = np.maximum(1, np.ceil(sizes / limit)).astype(np.int64)
        keys = np.repeat(keys, blocks)
        sizes = np.repeat(sizes / blocks, blocks)
    task = random.integers(0, TASKS, len(keys))
    load = np.bincount(task, weights=sizes, minlength=TASKS)
    return float(load.max() / load.mean())


def lines(counts: list[int]) -> Iterator[str]:
    yield HEADER
    for template in TEMPLATES:
        for count in counts:
            yield skew(count, template).markdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=300_000, help="texts of the largest sample")
    options = parser.parse_args()
    for line in lines([options.count // 30, options.count // 3, options.count]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
