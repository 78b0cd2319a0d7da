"""Naive collection: a dict that compares every text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import neardup as nd
from neardup.text.differences import differences
from reference.differences import agreement

Found = tuple[str, int | None, float | None, str, int]


class Model:
    """Documents by id in the order they were last added; every text is compared with all."""

    def __init__(self, recipe: nd.Recipe, *, texts: bool = True) -> None:
        self.recipe = recipe
        self.texts = texts
        self.documents: dict[str, tuple[str, dict[str, Any]]] = {}

    def near(
        self,
        text: str,
        similarity: float | None,
        radius: int | None,
        distinguish: Sequence[str] = (),
        *,
        but: str | None = None,
    ) -> list[Found]:
        """Return all near documents, best first, as with recall 1."""
        found: list[tuple[float, int, int, Found]] = []
        mine = nd.fingerprint(text, self.recipe)
        for age, (id_, (other, _)) in enumerate(self.documents.items()):
            if id_ == but:
                continue
            theirs = nd.fingerprint(other, self.recipe)
            if mine is None or theirs is None:
                if text == other and any(map(str.isalnum, text)):
                    found.append((-1.0, 0, age, (id_, None, 1.0, "", 0)))
                continue
            distance, share = nd.distance(mine, theirs), agreement(other, text, distinguish)
            between = differences(other, text)
            told = ",".join(between.aspects), len(between.lost)
            if radius is not None:
                if distance <= radius and share >= 0.85:
                    found.append((0.0, distance, age, (id_, distance, None, *told)))
                continue
            assert similarity is not None
            cosine = min(nd.similarity(text, other, self.recipe), share)
            if cosine >= similarity:
                found.append((-cosine, distance, age, (id_, distance, cosine, *told)))
        return [row[-1] for row in sorted(found)]

    def add(self, documents: list[tuple[str, str, dict[str, Any]]]) -> list[tuple[Any, ...]]:
        outcomes = []
        for id_, text, metadata in documents:
            status = "updated" if self.documents.pop(id_, None) else "added"
            self.documents[id_] = (text, metadata)
            outcomes.append((id_, status, *[None] * 5))
        return outcomes

    def add_new(
        self,
        documents: list[tuple[str, str, dict[str, Any]]],
        similarity: float | None,
        radius: int | None,
        distinguish: Sequence[str] = (),
    ) -> list[tuple[Any, ...]]:
        outcomes: list[tuple[Any, ...]] = []
        for document in documents:
            found = self.near(document[1], similarity, radius, distinguish, but=document[0])
            if found:
                outcomes.append((document[0], "duplicate", *found[0]))
            else:
                outcomes += self.add([document])
        return outcomes

    def remove(self, ids: list[str]) -> int:
        return sum(self.documents.pop(id_, None) is not None for id_ in dict.fromkeys(ids))
