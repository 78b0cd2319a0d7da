"""Idf: in how many texts each token occurs, which tf-idf weights are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neardup._util.digest import digest
from neardup._util.lazy import lazy
from neardup._util.numbers import is_int, whole
from neardup._util.strings import check_unicode


@dataclass(frozen=True)
class Idf:
    """Document frequencies a tf-idf recipe was fitted on.

    The weight of a token is tf · (1 + ln((1 + documents) / (1 + documents with the token))).
    """

    documents: int
    counts: Mapping[str, int]

    def __post_init__(self) -> None:
        documents = whole("documents of idf", self.documents, 1, 2**48)
        if not isinstance(self.counts, Mapping):
            raise TypeError(f"counts of idf is {self.counts!r}; it must map tokens to numbers")
        foreign = False
        for token, count in self.counts.items():
            if not isinstance(token, str):
                raise TypeError(f"counts of idf has the token {token!r}; a token must be a str")
            if not token.isascii():
                check_unicode(token, f"counts of idf: the token {token!r}")
            # In more texts than there are, a token would weigh less than nothing.
            if not is_int(count) or not 0 <= count.__index__() <= documents:
                raise ValueError(
                    f"counts of idf has {count!r} for {token!r}; "
                    f"it must be a whole number from 0 to documents, {documents}"
                )
            foreign = foreign or type(count) is not int
        object.__setattr__(self, "documents", documents)
        if foreign:
            # The digest is made of the numbers as they are written.
            plain = {token: count.__index__() for token, count in self.counts.items()}
            object.__setattr__(self, "counts", plain)

    @lazy
    def digest(self) -> str:
        return digest([self.documents, sorted(self.counts.items())])

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Idf(documents={self.documents}, tokens={len(self.counts)})"
