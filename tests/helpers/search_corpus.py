"""Documents for ranked search in a collection, and a comparison with `nd.search`."""

import random
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.collection import postings
from neardup.collection import postings as terms

WORDS = [*(f"w{rank}" for rank in range(120)), "垃圾分类", "今天", "the"]


def text(number: int) -> str:
    rng = random.Random(number)
    heights = [1 / (rank + 2) for rank in range(len(WORDS))]
    return " ".join(rng.choices(WORDS, heights, k=rng.randint(1, 25)))


def batch(first: int, count: int) -> list[tuple[str, str]]:
    return [(f"d{number}", text(number)) for number in range(first, first + count)]


def same(collection: nd.Collection, documents: dict[str, str]) -> None:
    """Assert that a collection ranks as `nd.search` ranks the texts in order of addition."""
    assert len(collection) == len(documents)
    for query in ("w0 w3 w50 今天", text(7), "hello", "", "垃圾分类"):
        for how in ({}, {"idf": "gensim"}, {"by": "simhash"}):
            options: dict[str, Any] = {"n": 7, **how}
            found, wanted = (
                collection.search(query, **options),
                nd.search(query, documents, **options),
            )
            assert found["id"].to_pylist() == wanted["id"].to_pylist()
            assert found["score"].to_pylist() == pytest.approx(
                wanted["score"].to_pylist(), abs=1e-12
            )
            assert found["distance"].to_pylist() == wanted["distance"].to_pylist()


def files(path: Path) -> list[str]:
    return sorted(file.name for file in postings.postings_paths(path, terms.FeatureTerms.prefix))
