"""Ranked search: building an index, and the top ten by cosine compared with other libraries."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import neardup as nd
from data import corpora
from measure import Row, at_least, core_seconds, note, seconds, size
from peers.environment import PeerProcess

WORKER = "ranking_libraries.py"
COUNT, TOP, THRESHOLD = 100_000, 10, 0.3
# Queries of a round: documents of the corpus.
QUERIES = 40
ROUNDS = 5


def texts(data: Path | None, count: int) -> dict[str, list[str]]:
    """Return newsgroup posts, Reuters stories and poems, or generated texts."""
    english = corpora.english(data, count // 5)
    english += corpora.english(data, count // 5, source="reuters", seed=2) if data else []
    return {"English": english, "Chinese": corpora.poems(data, count - len(english))}


def rows(data: Path | None, folder: Path, *, quick: bool) -> Iterator[Row]:
    """Yield all rows of the section."""
    found = texts(data, COUNT // 10 if quick else COUNT)
    documents = [text for some in found.values() for text in some]
    column = pa.chunked_array([pa.array(documents, pa.large_string())])
    yield _building(column, size(documents), len(documents))
    index = nd.SearchIndex.build(column)
    note("vectors for the peers")
    _write(documents, index.recipe, folder)
    with PeerProcess(WORKER) as peers:
        peers.ask("open", folder=str(folder))
        start = 0
        for language, some in found.items():
            yield from _asking(index, documents, (language, start, len(some)), peers)
            start += len(some)


def _building(column: Any, total: int, count: int) -> Row:
    speeds = [total / seconds(nd.SearchIndex.build, column, threads=2) for _ in range(3)]
    best = max(speeds) / 1e6
    return Row(
        f"ranking: building, {count:,} texts, two threads",
        f"{best:.3g} MB/s",
        target="≥ 50 MB/s",
        met=best >= 50,
    )


def _asking(
    index: nd.SearchIndex, documents: list[str], kind: tuple[str, int, int], peers: PeerProcess
) -> Iterator[Row]:
    """Compare queries alternately, on one thread; check the scores where the peer returns them."""
    language, start, count = kind
    rng = random.Random(7)
    names = ("sparse_dot_topn", "bm25s")
    ours: dict[str, list[float]] = {name: [] for name in (*names, "whole")}
    theirs: dict[str, list[float]] = {name: [] for name in names}
    terms, pipeline = index._term_index(), index.recipe.pipeline
    # The threshold of each peer: bm25s has none.
    least = {"sparse_dot_topn": THRESHOLD, "bm25s": 0.0}
    for _ in range(ROUNDS + 1):
        queries = rng.sample(range(start, start + count), QUERIES)
        asked = [documents[row] for row in queries]
        whole = core_seconds(index.search, asked, TOP, threads=1)
        ours["whole"].append(whole / QUERIES)
        for peer in names:
            took = core_seconds(terms.search, pipeline, asked, TOP, least[peer], "smooth", 1)
            ours[peer].append(took / QUERIES)
            answer = peers.ask(peer, queries=queries)
            theirs[peer].append(answer["seconds"] / QUERIES)
            if answer["scores"]:
                _compare(index.search(asked, TOP), answer["scores"])
    what = f"ranking: top {TOP} of {len(documents):,} by cosine, {language} documents as queries"
    for peer, target in zip(names, (5.0, 1.0), strict=True):
        # The first round is warm-up.
        pairs = zip(ours[peer][1:], theirs[peer][1:], strict=True)
        limit = f", scores from {least[peer]:g}" if least[peer] else ""
        yield at_least(
            f"{what}{limit}",
            f"{1e6 * statistics.median(ours[peer][1:]):.3g} µs a query",
            f"{peer}: {1e6 * statistics.median(theirs[peer][1:]):.3g} µs",
            statistics.median(b / a for a, b in pairs),
            target,
        )
    took = 1e6 * statistics.median(ours["whole"][1:])
    yield Row(f"{what}, with distances, as a table", f"{took:.3g} µs a query")


def _compare(found: pa.Table, expected: list[list[float]]) -> None:
    """Raise an error unless scores above the threshold agree."""
    ours: list[list[float]] = [[] for _ in expected]
    for row in found.to_pylist():
        if row["score"] > THRESHOLD + 1e-5:
            ours[row["query"]].append(row["score"])
    for mine, theirs in zip(ours, expected, strict=True):
        if not np.allclose(mine, sorted(theirs, reverse=True)[: len(mine)], atol=1e-5):
            raise RuntimeError(f"neardup scored {mine}, sparse_dot_topn {theirs}")


def _write(documents: list[str], recipe: nd.Recipe, folder: Path) -> None:
    """Write the vectors of documents, as TfidfVectorizer computes them, and their term counts."""
    numbers: dict[str, int] = {}
    starts, terms, counts = [0], [], []
    features = recipe.pipeline.features
    for text in documents:
        for token, count, _ in features(text):
            terms.append(numbers.setdefault(token, len(numbers)))
            counts.append(count)
        starts.append(len(terms))
    ends, words, found = np.array(starts), np.array(terms, np.int32), np.array(counts, np.int32)
    with_term = np.bincount(words, minlength=len(numbers))
    idf = np.log((1 + len(documents)) / (1 + with_term)) + 1
    weights = found * idf[words]
    sums = np.add.reduceat(np.append(weights**2, 0), np.minimum(ends[:-1], len(weights)))
    norms = np.sqrt(np.where(np.diff(ends) > 0, sums, 1))
    weights = (weights / np.repeat(norms, np.diff(ends))).astype(np.float32)
    for name, column in (("starts", ends), ("terms", words), ("counts", found)):
        np.save(folder / f"{name}.npy", column)
    np.save(folder / "weights.npy", weights)
