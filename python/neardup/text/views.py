"""Views of HTTP responses: their weights in a recipe, their masks, and the lines of a view.

A view is a part of a response (status, headers, title …); a recipe says how much each weighs.
Responses are compared as a text that `neardup.http` builds of these parts: each line begins with
the name of its part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from neardup import _core
from neardup._util.numbers import as_float, is_real

# In the order of the lines.
VIEWS = _core.VIEWS
# Names of the rules that mask volatile parts, such as dates and tokens.
MASKS = _core.MASKS
MAX_VIEW_WEIGHT = 1e9


class ViewWeights(Mapping[str, float]):
    """The weights of views, relative to each other; other views are ignored. Immutable."""

    __slots__ = ("_weights",)
    _weights: dict[str, float]

    def __init__(self, weights: Mapping[str, float]) -> None:
        if not isinstance(weights, Mapping):
            raise TypeError(
                f"views is {weights!r}; it must map names of views to weights, "
                'such as {"status": 1, "text": 4}'
            )
        for name, value in weights.items():
            if name not in VIEWS:
                raise ValueError(f"views has {name!r}; it may have {', '.join(VIEWS)}")
            limits = f"it must be a number above 0 and at most {MAX_VIEW_WEIGHT:g}"
            if not is_real(value):
                raise TypeError(f"views gives {name} the weight {value!r}; {limits}")
            if not 0 < as_float(value) <= MAX_VIEW_WEIGHT:
                raise ValueError(f"views gives {name} the weight {value}; {limits}")
        if not weights:
            raise ValueError(f"views is empty; it must have some of {', '.join(VIEWS)}")
        # In a fixed order, so that equal weights make equal recipes.
        ordered = {name: float(weights[name]) for name in VIEWS if name in weights}
        object.__setattr__(self, "_weights", ordered)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{name} cannot be set: the weights of views are part of a recipe; make a new one"
        )

    def __getitem__(self, name: str) -> float:
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __hash__(self) -> int:
        return hash(tuple(self._weights.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return ViewWeights, (dict(self._weights),)

    def __repr__(self) -> str:
        items = ", ".join(f"{name!r}: {weight:g}" for name, weight in self._weights.items())
        return f"ViewWeights({{{items}}})"

    def __str__(self) -> str:
        return ",".join(f"{name}:{_format_number(value)}" for name, value in self._weights.items())


def check_masks(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names of masking rules in a fixed order, all if None; raise for unknown names."""
    if names is None:
        return MASKS
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise TypeError(f"masks is {names!r}; it must be a list of names: {', '.join(MASKS)}")
    chosen = list(names)
    for name in chosen:
        if name not in MASKS:
            raise ValueError(f"masks has {name!r}; it may have {', '.join(MASKS)}")
    return tuple(name for name in MASKS if name in chosen)


def _format_number(value: float) -> str:
    """Format a number so that it parses to the same value; integers have no decimal point."""
    return str(int(value)) if value.is_integer() else repr(value)


class Viewing(NamedTuple):
    """Options of comparing responses: which views, and which responses with each other.

    views   names of views, such as "status", "headers", "title", "tags", "text"
    masks   names of the rules that mask volatile parts
    within  compare only responses with equal values in this column: "host", "ip", "status", or a
            column of the capture; None: compare all
    """

    views: tuple[str, ...]
    masks: tuple[str, ...]
    within: str | None = None


# Names that a line can begin with, in the order of the lines. Any other line counts as text.
LINE_NAMES = ("within", "status", "header", "title", "tags", "keys", "text", "body")


def view_lines(view: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each line of a response's text."""
    for line in view.split("\n"):
        name, _, value = line.partition(" ")
        if name in LINE_NAMES:
            yield name, value
        elif line:
            yield "text", line


def view_prose(view: str) -> str:
    """Return the title and the visible text of a response, without the names of the lines."""
    return "\n".join(value for name, value in view_lines(view) if name in ("title", "text"))
