"""Features: weighted tokens, computed from a text by a recipe or passed by the caller."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from neardup._util.numbers import is_int
from neardup._util.strings import check_unicode
from neardup.text.recipe import Recipe

Weight: TypeAlias = int | float | str


@dataclass(frozen=True, slots=True)
class Feature:
    """A token, how often it occurs, and its weight in the vote."""

    token: str
    count: int
    weight: float


FeaturesLike: TypeAlias = (
    Mapping[str, Weight] | Iterable[str] | Iterable[tuple[str, Weight]] | Iterable[Feature]
)
TextLike: TypeAlias = str | FeaturesLike


def features(value: TextLike, recipe: Recipe) -> list[Feature]:
    """Return the features of a text, or the caller's features with `top` and `scale` applied."""
    if isinstance(value, str):
        return [Feature(*row) for row in recipe.pipeline.features(value)]
    parsed = parse_features(value)
    if recipe.top is not None:
        parsed.sort(key=lambda feature: -feature.weight)
        del parsed[recipe.top :]
    if recipe.scale is not None:
        for index, feature in enumerate(parsed):
            scaled = feature.weight * recipe.scale
            _check_weight(scaled, index, feature.token)
            parsed[index] = replace(feature, weight=float(math.trunc(scaled)))
    check_weight_sum(parsed, recipe)
    return parsed


def check_weight_sum(weighted: list[Feature], recipe: Recipe) -> None:
    """Raise ValueError if the recipe sums votes in floats and the sum of weights overflows."""
    if recipe.votes != "exact" and not math.isfinite(sum(feature.weight for feature in weighted)):
        raise ValueError(
            f'the weights add up to more than 1.8e308, which votes "{recipe.votes}" cannot count; '
            "divide them all by the same number"
        )


def parse_features(value: FeaturesLike) -> list[Feature]:
    """Parse tokens, (token, weight) pairs or a dict of weights; add the weights of equal tokens."""
    if isinstance(value, bytes | bytearray):
        raise TypeError("text is bytes; decode it first, for example with text.decode('utf-8')")
    items: Iterable[Any] = value.items() if isinstance(value, Mapping) else _as_list(value)
    weights: dict[str, float] = {}
    counts: dict[str, int] = {}
    for index, item in enumerate(items):
        token, weight = (item, 1.0) if isinstance(item, str) else _parse_pair(item, index)
        if not token.isascii():
            check_unicode(token, f"features[{index}]: the token {token!r}")
        weights[token] = weights.get(token, 0.0) + weight
        counts[token] = counts.get(token, 0) + 1
        _check_weight(weights[token], index, token)
    return [Feature(token, counts[token], weight) for token, weight in weights.items()]


def token_hash(token: str, recipe: Recipe) -> int:
    """Hash a token to `recipe.bits` bits, by the recipe's hash or the caller's function."""
    if not callable(recipe.hash):
        return int.from_bytes(recipe.pipeline.hash(token), "little")
    value = recipe.hash(token)
    if isinstance(value, bytes | bytearray):
        value = int.from_bytes(value, "big")
    if not is_int(value):
        raise TypeError(
            f"hash gave {value!r} for the token {token!r}; it must give a whole number or bytes"
        )
    value = value.__index__()
    if value < 0:
        raise ValueError(f"hash gave {value} for the token {token!r}; it must not be negative")
    return value & ((1 << recipe.bits) - 1)


def _as_list(value: Any) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise TypeError(
            f"text is of type {type(value).__name__}; "
            "pass a str, tokens, (token, weight) pairs or a dict of weights"
        ) from None


def _parse_pair(item: Any, index: int) -> tuple[str, float]:
    if isinstance(item, Feature):
        item = item.token, item.weight
    try:
        token, weight = item
    except (TypeError, ValueError):
        raise TypeError(
            f"features[{index}] is {item!r}; it must be a token or a (token, weight) pair"
        ) from None
    if not isinstance(token, str):
        raise TypeError(f"features[{index}] has the token {token!r}; a token must be a str")
    try:
        number = float(weight)
    except (TypeError, ValueError):
        raise TypeError(
            f"features[{index}] has the weight {weight!r}; "
            "a weight must be a number, or a str that holds one"
        ) from None
    except OverflowError:
        number = math.inf
    _check_weight(number, index, token)
    return token, number


def _check_weight(weight: float, index: int, token: str) -> None:
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueError(
            f"features[{index}] gives {token!r} the weight {weight}; "
            "a weight must be from 0 to about 1.8e308"
        )
