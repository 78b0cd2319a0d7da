"""The answer of every look-up."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

Id = TypeVar("Id", bound=int | str)


class Match(NamedTuple, Generic[Id]):
    """Something that is near what was asked for.

    id          of a document, or of a fingerprint in an index
    distance    bits in which the fingerprints differ; None for equal texts without a signal
    similarity  exact cosine; None where it was not asked for
    """

    id: Id
    distance: int | None
    similarity: float | None = None
