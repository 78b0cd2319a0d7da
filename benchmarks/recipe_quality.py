"""Compare recipes: recall of edited copies, and false candidates among unrelated texts.

    python benchmarks/recipe_quality.py [--data DIR] [--texts 2500] [--bits 64 128]
        [--only NAME ...]

Prints a Markdown table for each kind of text. Recall is given at a fixed radius, 28 of 128 bits,
and at each recipe's own radius: the largest at which at most one in a million pairs of unrelated
texts is a candidate. Measuring that takes a million pairs, so about 1,500 texts.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import neardup as nd
from data import corpora
from measure import core_seconds, size

# Add a candidate here. A function receives the texts, to fit a recipe on them.
RECIPES: dict[str, nd.Recipe | Callable[[Sequence[str]], nd.Recipe]] = {
    "default": nd.Recipe.preset("default"),
    "words, 1 + ln tf": nd.Recipe(weights="log"),
    "words, tf": nd.Recipe(weights="tf"),
    "words, binary": nd.Recipe(weights="binary"),
    "words, no stop words": nd.Recipe(weights="log", stopwords="en+zh"),
    "words, tf-idf of the texts": lambda texts: nd.Recipe().fit(texts),
    "word 3-grams": nd.Recipe(weights="log", ngram=3),
    "char 4-grams, tf": nd.Recipe(weights="tf", tokens="chars", ngram=4, pattern=r"[\p{L}\p{N}_]+"),
    "char 4-grams, 1 + ln tf": nd.Recipe(
        weights="log", tokens="chars", ngram=4, pattern=r"[\p{L}\p{N}_]+"
    ),
    "jieba words, 1 + ln tf": nd.Recipe(weights="log", tokens="jieba"),
}

SHOWN = ("edit 5", "edit 10", "ad 25", "drop 25")
FALSE_SHARE = 1e-6
SAMPLED_BITS = 16
VERDICT = 0.85
JUDGED_COPIES = 300

COLUMNS = (
    "recipe",
    "bits",
    "mean distance",
    "collisions, times chance",
    "imbalance of bits",
    "own radius",
    f"recall there: {' / '.join(SHOWN)}",
    "recall at 28/128",
    "false at 28/128",
    f"cosine ≥ {VERDICT}",
    "MB/s, one thread",
)

# The corpora contain true near-duplicates. Two texts whose word triples are this similar count as
# related, whatever the recipe under test says.
TRIPLES = nd.Recipe(weights="binary", ngram=3)
RELATED = 0.3


@dataclass(frozen=True)
class Corpus:
    """Texts, their edited copies by kind, and a cache of which texts are related."""

    name: str
    texts: list[str]
    copies: dict[str, list[str]]
    related: dict[tuple[int, int], bool]

    def are_related(self, left: int, right: int) -> bool:
        pair = (left, right)
        if pair not in self.related:
            likeness = nd.similarity(self.texts[left], self.texts[right], TRIPLES)
            self.related[pair] = likeness >= RELATED
        return self.related[pair]


@dataclass(frozen=True)
class Measurement:
    """Results of one recipe on one corpus. Recall is by kind of copy."""

    radius: int
    recall: dict[str, float]
    recall_shared: dict[str, float]
    false_share: float
    mean: float
    collisions: float
    imbalance: float
    verdict: dict[str, float]
    speed: float


def make_corpus(name: str, texts: list[str], seed: int = 7) -> Corpus:
    rng = random.Random(seed)
    kinds = corpora.copies(texts)
    copies = {kind: [kinds[kind](text, rng) for text in texts] for kind in SHOWN}
    return Corpus(name, texts, copies, {})


def measure(corpus: Corpus, recipe: nd.Recipe) -> Measurement:
    originals = nd.fingerprints(corpus.texts, recipe)
    shortest = min(core_seconds(nd.fingerprints, corpus.texts, recipe, threads=1) for _ in range(3))

    histogram = _strangers(corpus, originals, recipe.bits)
    share = np.cumsum(histogram) / max(1, histogram.sum())
    radius = int(np.searchsorted(share, FALSE_SHARE, side="right")) - 1
    shared = recipe.bits * 28 // 128
    distances = np.arange(recipe.bits + 1)

    recall, recall_shared = {}, {}
    for kind, copies in corpus.copies.items():
        edited = nd.fingerprints(copies, recipe)
        both = originals.signal & edited.signal
        moved = np.bitwise_count(originals.values ^ edited.values).sum(axis=1, dtype=np.int64)
        recall[kind] = float((both & (moved <= radius)).mean())
        recall_shared[kind] = float((both & (moved <= shared)).mean())

    ones = _bits(originals.values[originals.signal], recipe.bits).mean(axis=0)
    return Measurement(
        radius=radius,
        recall=recall,
        recall_shared=recall_shared,
        false_share=float(share[shared]),
        mean=float((histogram * distances).sum() / max(1, histogram.sum())),
        collisions=_collisions(histogram),
        imbalance=float(np.abs(ones - 0.5).mean()),
        verdict={kind: _judged(corpus, kind, recipe) for kind in corpus.copies},
        speed=size(corpus.texts) / 1e6 / shortest,
    )


def _strangers(corpus: Corpus, found: nd.Fingerprints, bits: int) -> NDArray[np.int64]:
    """Count the pairs of unrelated texts at each distance, over all pairs."""
    rows = np.flatnonzero(found.signal)
    histogram = np.zeros(bits + 1, dtype=np.int64)
    for at, row in enumerate(rows):
        others = rows[at + 1 :]
        distance = np.bitwise_count(found.values[others] ^ found.values[row]).sum(
            axis=1, dtype=np.int64
        )
        # Only close pairs can be true near-duplicates, so only they are checked.
        for other in others[distance <= bits // 4]:
            if corpus.are_related(int(row), int(other)):
                distance = distance[others != other]
                others = others[others != other]
        histogram += np.bincount(distance, minlength=bits + 1)
    return histogram


def _collisions(histogram: NDArray[np.int64]) -> float:
    """Return how much more often than by chance unrelated texts agree on SAMPLED_BITS bits."""
    bits = len(histogram) - 1
    agreeing = bits - np.arange(bits + 1)
    chance = np.ones(bits + 1)
    for drawn in range(SAMPLED_BITS):
        chance *= np.maximum(agreeing - drawn, 0) / (bits - drawn)
    return float((histogram * chance).sum() / histogram.sum() * 2**SAMPLED_BITS)


def _bits(values: NDArray[np.uint64], bits: int) -> NDArray[np.uint8]:
    octets = np.ascontiguousarray(values.astype("<u8")).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :bits]


def _judged(corpus: Corpus, kind: str, recipe: nd.Recipe) -> float:
    """Return the share of edited copies whose exact cosine reaches VERDICT."""
    pairs = list(zip(corpus.texts, corpus.copies[kind], strict=True))[:JUDGED_COPIES]
    return sum(nd.similarity(*pair, recipe) >= VERDICT for pair in pairs) / len(pairs)


def row(name: str, bits: int, found: Measurement) -> str:
    def shares(values: dict[str, float]) -> str:
        return " / ".join(f"{values[kind]:.2f}" for kind in SHOWN)

    cells = (
        name,
        str(bits),
        f"{found.mean:.1f}",
        f"{found.collisions:.1f}",
        f"{found.imbalance:.3f}",
        str(found.radius) if found.radius >= 0 else "none",
        shares(found.recall),
        shares(found.recall_shared),
        f"{found.false_share:.0e}",
        shares(found.verdict),
        f"{found.speed:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def tables(
    data: Path | None, count: int, widths: Sequence[int], names: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of a Markdown table for each kind of text, as they are measured."""
    english = corpora.english(data, count)
    chinese = corpora.chinese(data, count)
    kinds = {
        "English posts": english,
        # Short stories from few templates: the hardest corpus for false candidates.
        "English news": corpora.english(data, count, source="reuters"),
        "Chinese": chinese,
        "English and Chinese in one text": corpora.mixed(english, chinese),
    }
    for kind, texts in kinds.items():
        corpus = make_corpus(kind, texts)
        yield f"\n## {kind}: {len(texts)} texts\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield f"|{'---|' * len(COLUMNS)}"
        for name in names:
            candidate = RECIPES[name]
            fitted = candidate if isinstance(candidate, nd.Recipe) else candidate(texts)
            for bits in widths:
                yield row(name, bits, measure(corpus, fitted.replace(bits=bits)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder with the .jsonl.gz files of real text")
    parser.add_argument("--texts", type=int, default=2500)
    parser.add_argument("--bits", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--only", nargs="+", choices=RECIPES, metavar="NAME", default=[*RECIPES])
    options = parser.parse_args()
    if options.texts < 2:
        parser.error(f"--texts {options.texts} is too few: a pair needs at least 2")
    for line in tables(options.data, options.texts, options.bits, options.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
