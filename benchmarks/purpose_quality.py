"""Measure the purposes (`--purpose`): reposts found, and wrong removals among labelled records.

    python benchmarks/purpose_quality.py [--data DIR] [--texts 700]
        [--records FILE.csv --columns NAME,… --truth NAME] …

Without records it prints for each kind of repost (a text cut, with a notice of another text behind
it, edited) the share that reaches each similarity. With records it prints for each purpose how many
of the labelled pairs are found, and how many records are removed for one of another label. Records
without duplicates, such as a catalogue, have a label each: every removal is wrong.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import neardup as nd
from data import corpora
from neardup.near.question import PURPOSES

STEPS = (0.65, 0.7, 0.75, 0.8, 0.85)
MIN_WORDS = 80


def reposts(text: str, other: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield reposts of a text by kind."""
    words, notice = text.split(), other.split() * 5

    def repost(cut: float, added: float, edited: float = 0.0) -> str:
        kept = words[: round(len(words) * (1 - cut))]
        kept = [rng.choice(notice) if rng.random() < edited else word for word in kept]
        return " ".join([*kept, *notice[: round(len(words) * added)]])

    yield "cut by 25 %", repost(0.25, 0)
    yield "cut by 40 %", repost(0.4, 0)
    yield "a notice of 25 %", repost(0, 0.25)
    yield "a notice of 40 %", repost(0, 0.4)
    yield "cut by 25 %, a notice of 25 %", repost(0.25, 0.25)
    yield "10 % edited, cut by 25 %", repost(0.25, 0, 0.1)


def measure_reposts(name: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield a table: the share of reposts of each kind at each similarity."""
    rng = random.Random(5)
    found = defaultdict(list)
    for text in texts:
        for kind, repost in reposts(text, rng.choice(texts), rng):
            found[kind].append(nd.similarity(text, repost))
    yield f"| {name}: {len(texts)} texts | " + " | ".join(f"≥ {step}" for step in STEPS) + " |"
    yield "|---" * (len(STEPS) + 1) + "|"
    for kind, scores in found.items():
        shares = (sum(score >= step for score in scores) / len(scores) for step in STEPS)
        yield f"| {kind} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


def measure_records(path: Path, columns: Sequence[str], truth: str) -> Iterator[str]:
    """Yield a table: labelled pairs found and records removed wrongly, for each purpose."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [" ".join(row[column] or "" for column in columns) for row in rows]
    labels = [row[truth] for row in rows]
    total = sum(count * (count - 1) // 2 for count in Counter(labels).values())
    yield f"| {path.name}: {len(rows)} records | pairs found, of {total:,} | removed | wrongly |"
    yield "|---|---|---|---|"
    for purpose in PURPOSES:
        found = nd.dedup(texts, purpose=purpose, recall=1.0, pairs=True)
        ends = (found.pairs[side].to_pylist() for side in ("left", "right"))
        right = sum(labels[left] == labels[right] for left, right in zip(*ends, strict=True))
        wrong = sum(
            labels[row["row"]] != labels[row["dup_of"]] for row in found.removed.to_pylist()
        )
        yield f"| {purpose} | {right:,} | {len(found.removed):,} | {wrong:,} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--texts", type=int, default=700)
    parser.add_argument("--records", type=Path)
    parser.add_argument("--columns", default="text")
    parser.add_argument("--truth", default="label")
    options = parser.parse_args()
    if options.records is not None:
        lines = measure_records(options.records, options.columns.split(","), options.truth)
        print("\n".join(lines))
        return
    for source in ("reuters", "newsgroups"):
        texts = corpora.english(options.data, options.texts * 3, source=source)
        long = [text for text in texts if len(text.split()) >= MIN_WORDS][: options.texts]
        print("\n".join(measure_reposts(source, long)), end="\n\n")


if __name__ == "__main__":
    main()
