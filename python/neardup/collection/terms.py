"""What documents are filed under in postings: features of a recipe, or hashes of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from neardup import _core
from neardup.text.passages import MIN_CHARS, MIN_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe


class Terms(Protocol):
    """What documents are filed under.

    prefix    what names of files begin with
    identity  all that terms depend on but the texts
    """

    @property
    def prefix(self) -> str: ...
    @property
    def identity(self) -> str: ...
    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None: ...


class FeatureTerms:
    """The features of a recipe, by which documents are ranked."""

    prefix = "terms-"

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.identity = recipe.identity

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        index.add(self._recipe.pipeline, texts, keys, None)


class RunTerms:
    """Hashes of runs, by which documents with a passage in common are found.

    views  texts are views of responses: a passage goes on from line to line of what a person reads,
           and the names of lines, which would cut it, are none of it
    """

    prefix = "runs-"

    def __init__(
        self, minimum: tuple[int, int] = (MIN_WORDS, MIN_CHARS), *, views: bool = False
    ) -> None:
        self.minimum = minimum
        self._views = views
        self.identity = "runs of {} words or {} characters".format(*minimum)
        if views:
            self.identity += " of what is read of responses"

    def add(self, index: _core.TermIndex, texts: list[str], keys: NDArray[np.int64]) -> None:
        if self._views:
            from neardup.text.views import prose_of

            texts = [prose_of(text) for text in texts]
        index.add_terms(*_core.winnow(texts, *self.minimum, None), keys)
