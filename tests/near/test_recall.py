"""Of pairs of just the similarity asked for, the share asked for is found: at the defaults, on
short texts, on every kind of edit. docs/default.md has the large form, by
benchmarks/threshold_recall.py."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from scipy import stats

import neardup as nd
from helpers import borderline_pairs
from neardup.near.corpus import memory_corpus
from neardup.near.join import SketchJoin
from neardup.near.question import check_question

RECIPE = nd.Recipe()
VOCABULARY = [borderline_pairs.word(random.Random(seed), 2, 9) for seed in range(3000)]
FREQUENT = [borderline_pairs.word(random.Random(seed), 4, 9) for seed in range(1000)]
HAN = [chr(0x4E00 + 7 * at) for at in range(2500)]


def sentence(rng: random.Random, low: int, high: int, words: list[str] = VOCABULARY) -> list[str]:
    # Frequent words come first, as in real texts.
    return [words[int(len(words) * rng.random() ** 3)] for _ in range(rng.randint(low, high))]


def pool(words: list[str]) -> list[list[str]]:
    return [sentence(random.Random(seed), 20, 40, words) for seed in range(100)]


KINDS = {
    "titles": borderline_pairs.Kind(lambda rng: sentence(rng, 4, 15), pool(VOCABULARY)),
    "equal weights": borderline_pairs.Kind(borderline_pairs.equal_weights, pool(VOCABULARY)),
    "one function word": borderline_pairs.Kind(
        borderline_pairs.one_function_word, pool(VOCABULARY)
    ),
    "Chinese": borderline_pairs.Kind(lambda rng: sentence(rng, 10, 30, HAN), pool(HAN), ""),
    "posts": borderline_pairs.Kind(lambda rng: sentence(rng, 80, 200), pool(VOCABULARY)),
    "one word many times": borderline_pairs.Kind(
        lambda rng: borderline_pairs.heavy(sentence(rng, 4, 40), rng), pool(VOCABULARY)
    ),
    "templates": borderline_pairs.Kind(borderline_pairs.template, pool(VOCABULARY)),
}


def share_found(
    pairs: list[tuple[str, str]], others: list[str], similarity: float | None, recall: float | None
) -> int:
    """How many of the pairs are told among all texts."""
    texts = [text for pair in pairs for text in pair] + others
    asked = check_question(similarity, None, recall, bits=128)
    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    join = SketchJoin(memory_corpus(column, RECIPE, asked), asked)
    told: set[tuple[int, int]] = set()
    for found in join.pairs():
        told.update(zip(found.left.tolist(), found.right.tolist(), strict=True))
    twins = join.twins.tolist()
    ends = [sorted((twins[2 * at], twins[2 * at + 1])) for at in range(len(pairs))]
    return sum(a == b or (a, b) in told for a, b in ends)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("similarity", [None, 0.7, 0.95])
def test_the_promise_is_kept(kind: str, similarity: float | None) -> None:
    rng = random.Random(f"{kind} {similarity}")
    at = 0.85 if similarity is None else similarity
    pairs = [
        pair
        for edit in borderline_pairs.EDITS.values()
        for pair in borderline_pairs.pairs(KINDS[kind], edit, at, 40, rng, RECIPE)
    ]
    assert len(pairs) >= 100
    others = [KINDS[kind].joint.join(KINDS[kind].draw(rng)) for _ in range(500)]
    alone = share_found(pairs, [], similarity, None)
    assert share_found(pairs, others, similarity, None) == alone, "others must not matter"
    # Fewer than this are found in one of ten thousand runs in which the promise is kept.
    assert alone >= stats.binom.ppf(1e-4, len(pairs), 0.99)


# Few words, some of them everywhere: what a repeated run takes away is most in such texts.
SKEWED = borderline_pairs.Kind(
    lambda rng: [FREQUENT[int(1000 * rng.random() ** 4)] for _ in range(rng.randint(150, 300))],
    pool(VOCABULARY),
)


@pytest.mark.parametrize("times", [12, 16])
def test_a_run_repeated_many_times(times: int) -> None:
    """Of these pairs .971 and .976 were found with .99 asked; other kinds of edits had .99."""
    edit = borderline_pairs.run_times(0.3, times)
    rng = random.Random(times)
    pairs = list(borderline_pairs.pairs(SKEWED, edit, 0.85, 1500, rng, RECIPE))
    assert len(pairs) == 1500
    found = share_found(pairs, [], None, None)
    assert found >= stats.binom.ppf(1e-4, len(pairs), 0.99), found


def test_two_of_fourteen_words_replaced() -> None:
    """The case by which the broken promise was found: .85 of these were near-duplicates."""
    rng = random.Random(5)
    found = 0
    for _ in range(300):
        words = borderline_pairs.equal_weights(rng)
        other = [borderline_pairs.word(rng), borderline_pairs.word(rng), *words[2:]]
        found += len(nd.dedup([" ".join(words), " ".join(other)]).removed)
    assert found >= 290


def test_the_summary_says_how_much_was_found() -> None:
    rng = random.Random(6)
    pairs = list(
        borderline_pairs.pairs(KINDS["titles"], borderline_pairs.edited, 0.85, 300, rng, RECIPE)
    )
    found = nd.dedup([text for pair in pairs for text in pair])
    assert found.recall is not None
    assert 0.97 < found.recall <= 1
    assert nd.dedup(["one two three", "four five six"]).recall is None
