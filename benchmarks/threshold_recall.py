"""Measure recall at the threshold: the share of pairs just above a similarity that is found.

    python benchmarks/threshold_recall.py [--data DIR] [--pairs 60] [--among 60000]
        [--only KIND ...] [--agreement]

For every kind of text, ten kinds of edits are tuned until the cosine lies within .02 above the
similarity; for three kinds once more only those that repeat a run many times: the hardest. A pair
counts as found if the join of `nd.pairs` returns it: alone, and among others of its kind. Prints a
Markdown table; a cell has the share found at recalls .9, .99 and .999, and that of the worst kind
of edit at .99. `--agreement` prints how often registers agree instead: the table
in core/src/near/plan.rs was chosen by it, with odd seeds; even seeds are for reports.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import neardup as nd
from data import corpora
from helpers import borderline_pairs
from neardup import _core
from neardup.near.corpus import memory_corpus
from neardup.near.join import SketchJoin
from neardup.near.question import check_question

SIMILARITIES = (0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
RECALLS = (0.9, 0.99, 0.999)
LONGEST = 600
# The kinds of texts that get a row of repeated runs alone, and their edits.
REPEATED = ("posts", "stories", "poems")
RUNS = {
    "8 times": borderline_pairs.run_times(0.3, 8),
    "32 times": borderline_pairs.run_times(0.3, 32),
    "many times": borderline_pairs.multiplied,
}


def kinds(data: Path | None) -> dict[str, borderline_pairs.Kind]:
    posts = [text.lower().split()[:LONGEST] for text in corpora.english(data, 4000)]
    stories = [
        text.lower().split()[:LONGEST] for text in corpora.english(data, 4000, source="reuters")
    ]
    verses = [list(text) for text in corpora.poems(data, 4000) if len(text) >= 12]
    lines = [post[at : at + 15] for post in posts for at in range(0, len(post) - 15, 40)]
    made_up = [borderline_pairs.equal_weights(random.Random(seed)) for seed in range(300)]
    return {
        "titles of 4–15 words": borderline_pairs.Kind(
            lambda rng: rng.choice(lines)[: rng.randint(4, 15)], lines
        ),
        "14 equal weights": borderline_pairs.Kind(borderline_pairs.equal_weights, made_up),
        "four words and a function word": borderline_pairs.Kind(
            borderline_pairs.one_function_word, made_up
        ),
        "Chinese of 10–30 characters": borderline_pairs.Kind(
            lambda rng: rng.choice(verses)[: rng.randint(10, 30)], verses, ""
        ),
        "poems": borderline_pairs.Kind(lambda rng: rng.choice(verses), verses, ""),
        "posts": borderline_pairs.Kind(lambda rng: rng.choice(posts), posts),
        "stories": borderline_pairs.Kind(lambda rng: rng.choice(stories), stories),
        "titles, one word many times": borderline_pairs.Kind(
            lambda rng: borderline_pairs.heavy(rng.choice(lines)[: rng.randint(4, 15)], rng), lines
        ),
        "posts, one word many times": borderline_pairs.Kind(
            lambda rng: borderline_pairs.heavy(rng.choice(posts), rng), posts
        ),
        "Chinese, one character many times": borderline_pairs.Kind(
            lambda rng: borderline_pairs.heavy(rng.choice(verses)[:30], rng), verses, ""
        ),
        "templates with other fields": borderline_pairs.Kind(borderline_pairs.template, made_up),
    }


def shares(
    planted: list[tuple[str, str]], others: list[str], similarity: float, recall: float
) -> list[bool]:
    texts = [text for pair in planted for text in pair] + others
    asked = check_question(similarity, None, recall, bits=128)
    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    join = SketchJoin(memory_corpus(column, nd.Recipe(), asked), asked)
    twins = join.twins
    told: set[tuple[int, int]] = set()
    for pairs in join.pairs():
        told.update(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    rows = [(int(twins[2 * at]), int(twins[2 * at + 1])) for at in range(len(planted))]
    return [a == b or (min(a, b), max(a, b)) in told for a, b in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", type=int, default=60, help="for each kind of edit")
    parser.add_argument("--among", type=int, default=60_000)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--agreement", action="store_true")
    given = parser.parse_args()
    rng, recipe = random.Random(given.seed), nd.Recipe()
    if not given.agreement:
        print("| texts | " + " | ".join(f"≥ {s:g}" for s in SIMILARITIES) + " |")
        print("|---" * (len(SIMILARITIES) + 1) + "|")
    every = kinds(given.data)
    rows = [(name, kind, borderline_pairs.EDITS) for name, kind in every.items()]
    rows += [(f"{name}, a run repeated and edits", every[name], RUNS) for name in REPEATED]
    for name, kind, edits in rows:
        if given.only and not any(part in name for part in given.only):
            continue
        others = [kind.joint.join(kind.draw(rng)) for _ in range(given.among)]
        cells = []
        for similarity in SIMILARITIES:
            planted: dict[str, list[tuple[str, str]]] = {
                edit: list(borderline_pairs.pairs(kind, make, similarity, given.pairs, rng, recipe))
                for edit, make in edits.items()
            }
            if given.agreement:
                _agreement(name, similarity, planted, recipe)
                continue
            pairs = [pair for some in planted.values() for pair in some]
            cells.append(_cell(pairs, planted, others, similarity) if pairs else "–")
        if not given.agreement:
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _cell(
    every: list[tuple[str, str]],
    planted: dict[str, list[tuple[str, str]]],
    others: list[str],
    similarity: float,
) -> str:
    told = []
    worst = 1.0
    for recall in RECALLS:
        among = shares(every, others, similarity, recall)
        alone = shares(every, [], similarity, recall)
        told.append(f"{np.mean(among):.3f}")
        if among != alone:
            told[-1] += f" (alone {np.mean(alone):.3f})"
        if recall == 0.99:
            start = 0
            for some in planted.values():
                if len(some) >= 20:
                    worst = min(worst, float(np.mean(among[start : start + len(some)])))
                start += len(some)
    return f"{' / '.join(told)}; {worst:.2f} of {len(every)}"


def _agreement(
    name: str, similarity: float, planted: dict[str, list[tuple[str, str]]], recipe: nd.Recipe
) -> None:
    cells = []
    for edit, some in planted.items():
        if len(some) < 10:
            continue
        texts = [text for pair in some for text in pair]
        _, _, sketches = recipe.pipeline.sketched(texts, None)
        registers = sketches[:, : _core.SKETCH_BYTES - 16]
        cells.append((float(np.mean(registers[::2] == registers[1::2])), edit))
    cells.sort()
    shown = ", ".join(f"{edit} {share:.2f}" for share, edit in cells[:3])
    print(f"{similarity:g} {name}: {shown}", flush=True)


if __name__ == "__main__":
    main()
