"""Corpora and questions on which Spark must answer as the local engine does, and how answers are
compared. Shared by the tests on pysail and on the JVM."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neardup as nd


def nightly(*values: Any) -> Any:
    """Return a test case that runs nightly only."""
    import pytest

    return pytest.param(*values, marks=pytest.mark.nightly)


ROOT = Path(__file__).parents[2]
Texts = list[str | None]
Question = dict[str, Any]

# Letters of several scripts, with and without spaces between words.
SCRIPTS = {
    "latin": ("abcdefghijklmnopqrstuvwxyz", " "),
    "cyrillic": ("абвгдежзиклмнопрстуфхцчшщ", " "),
    "arabic": ("ابتثجحخدذرزسشصضطظعغفقكلمنهوي", " "),
    "chinese": ("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳", ""),
    "thai": ("กขคงจฉชซญดตถทธนบปผพภมยรลวสหอ", ""),
}
EDGES: Texts = [
    None,
    "",
    " ",
    "?!",
    "…",
    "a",
    "a",
    "A",
    "one",
    "one two",
    "One, two!",
    "\u0000",
    "🙂",
]


def edited(rng: random.Random, words: list[str], spare: list[str], edits: int) -> list[str]:
    """Replace, delete or insert some words."""
    found = list(words)
    for _ in range(edits):
        at = rng.randrange(len(found)) if found else 0
        kind = rng.random()
        if kind < 0.6 and found:
            found[at] = rng.choice(spare)
        elif kind < 0.8 and len(found) > 1:
            del found[at]
        else:
            found.insert(at, rng.choice(spare))
    return found


def mixed(seed: int, families: int = 60) -> Texts:
    """Return texts of several scripts and lengths with edited copies, and empty ones."""
    rng = random.Random(seed)
    texts = list(EDGES)
    for _ in range(families):
        letters, gap = SCRIPTS[rng.choice(sorted(SCRIPTS))]
        spare = ["".join(rng.choices(letters, k=rng.randint(1, 7))) for _ in range(200)]
        words = rng.choices(spare, k=rng.choice([1, 2, 3, 6, 12, 40, 150]))
        texts.append(gap.join(words))
        for _ in range(rng.choice([0, 0, 1, 2, 6])):
            edits = rng.choice([0, 1, 1, 2, len(words) // 8])
            texts.append(gap.join(edited(rng, words, spare, edits)))
    rng.shuffle(texts)
    return texts


def sample() -> Texts:
    """Return the documents of examples/sample.jsonl."""
    lines = (ROOT / "examples" / "sample.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def templates(rows: int = 300) -> Texts:
    """Return many copies of a template, of a looser template, and of one text."""
    rng = random.Random(5)
    lorem = "the order with this number was sent to you today and will arrive within five days"
    dense: Texts = [f"{lorem} {at} {rng.randrange(9)}" for at in range(rows)]
    loose: Texts = [
        f"report of station {rng.randrange(40)}: wind {rng.randrange(12)} rain {rng.randrange(9)} "
        f"clouds {rng.randrange(8)} and {rng.choice(['fog', 'snow', 'sun'])} at noon"
        for _ in range(rows)
    ]
    equal: Texts = ["the very same sentence, again and again, for everyone to read"] * (rows // 2)
    texts = [*dense, *loose, *equal, *mixed(6, 10)]
    rng.shuffle(texts)
    return texts


def chain(length: int = 40) -> Texts:
    """Return texts each near the one before, the ends far apart."""
    words = [f"word{at}" for at in range(length + 20)]
    return [" ".join(words[at : at + 20]) for at in range(length)]


CORPORA: dict[str, Callable[[], Texts]] = {
    "nothing": list,
    "one": lambda: ["one text alone in the world"],
    "edges": lambda: list(EDGES),
    "sample": sample,
    "mixed": lambda: mixed(1),
    "templates": templates,
    "chain": chain,
}
QUESTIONS: list[Question] = [
    {},
    {"linkage": "connected"},
    {"similarity": 0.6, "recall": 0.9},
    {"similarity": 0.95, "linkage": "connected"},
    {"recall": 1.0},
    {"recall": 1.0, "linkage": "connected"},
    {"radius": 0},
    {"radius": 3},
    {"radius": 12, "linkage": "connected"},
    {"radius": 30},
]
# xxhash64 of a bigint of 0.
NUMBER_OF_0 = -5252525462095825812
KEEPS = ("first", "longest", "shortest", "newest:key", "best:key")


def listed(table: Any) -> list[tuple[Any, ...]]:
    """Return the rows of an Arrow table, sorted."""
    return sorted(tuple(row.values()) for row in table.to_pylist())


def frame_of(spark: Any, texts: Texts, *, partitions: int = 2, seed: int | None = None) -> Any:
    """Return rows (id, text, key, named) in any order; id is the index in the list."""
    rng = random.Random(seed)
    rows = [(at, text, key_of(at), f"row {at}") for at, text in enumerate(texts)]
    if seed is not None:
        rng.shuffle(rows)
    schema = "id long, text string, key double, named string"
    return spark.createDataFrame(rows, schema).repartition(partitions)


def key_of(at: int) -> float | None:
    """Return a value for `keep`: missing for some rows, equal for many."""
    return None if at % 7 == 3 else float(at * 31 % 10)


def expected(texts: Texts, question: Question) -> nd.Deduplication:
    keys = [key_of(at) for at in range(len(texts))]
    options = dict(question)
    if ":" in options.get("keep", ""):
        import pyarrow as pa

        options["keys"] = pa.array(keys, pa.float64())
    return nd.dedup(texts, pairs=True, threads=1, **options)


def check_dedup(frame: Any, texts: Texts, question: Question, **options: Any) -> None:
    """Assert that all tables of `dedup` equal those of the local engine."""
    from neardup.engines import spark as engine

    local = expected(texts, question)
    found = engine.dedup(frame, **question, **options)
    gone = found.removed.toArrow()
    names = ["id", "dup_of", "cluster", "distance", "similarity", "differs", "lost"]
    assert gone.column_names == names
    assert listed(gone.drop_columns("cluster")) == listed(local.removed)
    kept = found.kept.toArrow()
    assert kept.column_names == frame.columns
    assert sorted(kept["id"].to_pylist()) == local.kept.tolist()
    assert all(
        texts[at] == text
        for at, text in zip(kept["id"].to_pylist(), kept["text"].to_pylist(), strict=True)
    )
    sizes = {label: local.clusters.tolist().count(label) for label in set(local.clusters.tolist())}
    told = found.clusters.toArrow()
    assert told.column_names == ["id", "cluster", "size", "representative", "differs", "lost"]
    differences = {row["row"]: (row["differs"], row["lost"]) for row in local.removed.to_pylist()}
    assert listed(told.drop_columns("cluster")) == [
        (at, sizes[label], label, *differences.get(at, ("", 0)))
        for at, label in enumerate(local.clusters.tolist())
    ]
    # One cluster number per representative, equal in both tables, engines and runs.
    numbers = dict(
        zip(told["representative"].to_pylist(), told["cluster"].to_pylist(), strict=True)
    )
    assert len(set(numbers.values())) == len(numbers)
    assert all(numbers[row["representative"]] == row["cluster"] for row in told.to_pylist())
    assert set(zip(gone["dup_of"].to_pylist(), gone["cluster"].to_pylist(), strict=True)) <= set(
        numbers.items()
    )
    assert numbers.get(0, NUMBER_OF_0) == NUMBER_OF_0
    none = [(at, "no text") for at, text in enumerate(texts) if text is None]
    assert listed(found.unreadable.toArrow()) == none


def check_pairs(frame: Any, texts: Texts, question: Question, **options: Any) -> None:
    """Assert that all pairs equal those of the local engine."""
    from neardup.engines import spark as engine

    asked = {name: value for name, value in question.items() if name not in ("linkage", "keep")}
    found = engine.pairs(frame, **asked, **options).toArrow()
    assert found.column_names == ["left", "right", "distance", "similarity", "differs", "lost"]
    assert listed(found) == expected_pairs(texts, asked)


def expected_pairs(texts: Texts, asked: Question) -> list[tuple[Any, ...]]:
    """Return the pairs of the local engine, with what differs in each."""
    from neardup.text.differences import differences

    pairs = []
    found = expected(texts, asked).pairs.select(["left", "right", "distance", "similarity"])
    for row in listed(found):
        told = differences(*(texts[at] or "" for at in row[:2]))
        pairs.append((*row, ",".join(told.aspects), len(told.lost)))
    return pairs


def expected_against(reference: Texts, texts: Texts, asked: Question) -> list[tuple[Any, ...]]:
    """Rows that are near a reference by the local engine: row, row of the reference, distance,
    similarity, differs, lost."""
    import numpy as np

    from neardup._util.arrow import string_column
    from neardup.engines import engine
    from neardup.near.corpus import memory_corpus
    from neardup.near.matches import Clusters, removed_rows
    from neardup.near.question import check_question
    from neardup.text.recipe import as_recipe

    options = {"similarity": None, "radius": None, "recall": None, **asked}
    made = as_recipe(options.pop("recipe", None))
    wanted = check_question(**options, bits=made.bits)
    made = wanted.apply_to(made)
    corpus = memory_corpus(string_column([*reference, *texts]), made, wanted, threads=1)
    first = len(reference)
    matches = engine().match(corpus, wanted, reference_rows=first, threads=1)
    found = matches.nearest(first)
    labels = np.where(found.match >= 0, found.match, np.arange(len(found.match)))
    table = removed_rows(Clusters(labels, found.similarity, found.distance), matches.judge)
    return sorted(
        (row - first, *others) for row, *others in (row.values() for row in table.to_pylist())
    )
