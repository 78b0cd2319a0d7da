"""What a response counts for: the features of its view."""

from __future__ import annotations

import os

from neardup.http.messages import Response
from neardup.text.features import Feature
from neardup.text.features import features as features_of
from neardup.text.recipe import Recipe, as_recipe


def features(response: Response, recipe: Recipe | str | os.PathLike[str] = "http") -> list[Feature]:
    """The features of a response under a recipe for HTTP: tokens, counts and weights.

    What `nd.fingerprint` and `nd.similarity` take; volatile parts are masked as the recipe says.
    """
    if not isinstance(response, Response):
        raise TypeError(
            f"response is of type {type(response).__name__}; "
            "pass a Response, such as neardup.http.responses(path) gives"
        )
    from neardup.http.views import Views

    chosen = as_recipe(recipe)
    (text,) = Views(chosen.viewing()).views_of([response])[0].to_pylist()
    return features_of(text, chosen)
