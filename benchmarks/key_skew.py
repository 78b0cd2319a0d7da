"""How unevenly keys fall, and what that does to tasks: python benchmarks/key_skew.py [--count N]

Draws texts whose words follow Zipf's law, some of them from one template, makes their sketches and
keys with the core, and counts buckets. Two things matter at scale. The chance q that two texts
share a key of a table: a text is compared with 22 · q · N / 2 strangers. And the largest bucket: it
has a share of all texts, however many there are, so a task that had it whole would hold the job.
The simulation deals keys to tasks as a hash does, whole, and cut into blocks as the engine does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import _core
from neardup.columns import as_column, chunks
from neardup.engines.spark.asked import Limits
from neardup.recipe import Recipe

QUESTION = (0.85, 0.99)
REGISTERS = 48
VOCABULARY = 30_000
WORDS = 12
TASKS = 1024
# Shares of texts that are a template with a word or two changed.
TEMPLATES = (0.0, 0.01, 0.1)
HEADER = (
    "| texts | of one template | q, two strangers share a key | largest bucket "
    "| comparisons a text | largest task, whole | largest task, cut |\n"
    "|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Skew:
    """What keys of so many texts look like.

    q          the chance that two texts share the key of a table, on average over tables
    largest    texts in the largest bucket
    whole      records of the largest of TASKS tasks, as a multiple of the mean, keys left whole
    cut        the same where large buckets are cut
    """

    count: int
    template: float
    q: float
    largest: int
    tables: int
    whole: float
    cut: float

    @property
    def comparisons(self) -> float:
        """Comparisons of registers for each text."""
        return self.tables * self.q * self.count / 2

    def markdown(self) -> str:
        return (
            f"| {self.count:,} | {self.template:.0%} | {self.q:.2g} | {self.largest:,} "
            f"| {self.comparisons:,.3g} | {self.whole:.2f} × mean | {self.cut:.2f} × mean |"
        )


def texts(count: int, template: float, seed: int = 5) -> list[str]:
    """Records of a dozen words; a share of them one template with a word changed."""
    random = np.random.default_rng(seed)
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
        found.append(" ".join(f"w{word}" for word in words))
    return found


def keys_of(some: list[str]) -> NDArray[np.uint64]:
    """The keys of texts, one of each kind: a row a text, a column a table."""
    column = as_column(pa.array(some, pa.large_string()))
    _, sketches = Recipe().pipeline.sketches_arrow(chunks(column), None)
    sketches = np.unique(sketches, axis=0)
    registers = np.ascontiguousarray(sketches[:, :REGISTERS])
    return _core.sketch_keys(registers, QUESTION, None)


def skew(count: int, template: float, seed: int = 5) -> Skew:
    """Makes so many texts and counts."""
    keys = keys_of(texts(count, template, seed))
    rows, tables = keys.shape
    found, sizes = np.unique(keys.reshape(-1), return_counts=True)
    pairs = float((sizes.astype(float) * (sizes - 1)).sum()) / 2
    q = pairs / tables / (rows * (rows - 1) / 2)
    limit = Limits().bucket_rows
    # As large as it would be among so many that the share of a bucket matters: a task has its part.
    scale = TASKS * limit * 4 / (rows * tables)
    return Skew(
        rows,
        template,
        q,
        int(sizes.max()),
        tables,
        _largest_task(found, sizes * scale, None),
        _largest_task(found, sizes * scale, limit),
    )


def _largest_task(keys: NDArray[np.uint64], sizes: NDArray[np.float64], limit: int | None) -> float:
    """Records of the fullest task over the mean; buckets above the limit go block by block."""
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
