"""Naive ranked search: every document and every feature, by the definition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import neardup as nd

Scores = list[tuple[int, float]]


def counts(text: str, recipe: nd.Recipe) -> dict[str, int]:
    """Return the features of a text with their counts."""
    return {token: count for token, count, _ in recipe.pipeline.features(text)}


def by_cosine(query: str, texts: Sequence[str | None], recipe: nd.Recipe, idf: str) -> Scores:
    """Return rows and cosines above 0, best first."""
    bags = {at: counts(text, recipe) for at, text in enumerate(texts) if text is not None}
    documents = len(bags)

    def weight(token: str) -> float:
        found = sum(token in bag for bag in bags.values())
        if not found:
            return 0.0
        if idf == "gensim":
            return math.log2(documents / found)
        return math.log((1 + documents) / (1 + found)) + 1

    vocabulary = {token for bag in bags.values() for token in bag}
    weights = {token: weight(token) for token in vocabulary}
    asked = {x: count * weights.get(x, 0.0) for x, count in counts(query, recipe).items()}
    scores = []
    for at, bag in bags.items():
        vector = {token: count * weights[token] for token, count in bag.items()}
        dot = sum(value * asked.get(token, 0.0) for token, value in vector.items())
        if dot > 0:
            scores.append((at, dot / (_norm(asked) * _norm(vector))))
    return sorted(scores, key=lambda row: (-row[1], row[0]))


def by_distance(query: str, texts: Sequence[str | None], recipe: nd.Recipe) -> Scores:
    """Return rows and scores of texts with a fingerprint; if the query has none, of equal texts."""
    code = nd.fingerprint(query, recipe)
    scores = []
    for at, text in enumerate(texts):
        other = None if text is None else nd.fingerprint(text, recipe)
        if code is not None and other is not None:
            scores.append((at, 1 - (code ^ other).bit_count() / recipe.bits))
        elif code is None and other is None and text == query and any(map(str.isalnum, query)):
            scores.append((at, 1.0))
    return sorted(scores, key=lambda row: (-row[1], row[0]))


def _norm(vector: Mapping[str, float]) -> float:
    return math.sqrt(sum(value * value for value in vector.values()))
