"""Views of HTTP responses: their weights in a recipe, their masks, and the lines of a view.

A view is a part of a response that is compared (status, headers, title …). The text of a response
has a line for each item, beginning with the name of its view; `neardup.http` writes it.
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
MAX_SHARE = 1e9


class ViewWeights(Mapping[str, float]):
    """The weight of each view, in any unit; views that are left out do not count. Immutable."""

    __slots__ = ("_shares",)
    _shares: dict[str, float]

    def __init__(self, shares: Mapping[str, float]) -> None:
        if not isinstance(shares, Mapping):
            raise TypeError(
                f"views is {shares!r}; it must map names of views to their shares, "
                'such as {"status": 1, "text": 4}'
            )
        for name, value in shares.items():
            if name not in VIEWS:
                raise ValueError(f"views has {name!r}; it may have {', '.join(VIEWS)}")
            limits = f"it must be a number above 0 and at most {MAX_SHARE:g}"
            if not is_real(value):
                raise TypeError(f"views gives {name} the share {value!r}; {limits}")
            if not 0 < as_float(value) <= MAX_SHARE:
                raise ValueError(f"views gives {name} the share {value}; {limits}")
        if not shares:
            raise ValueError(f"views is empty; it must have some of {', '.join(VIEWS)}")
        # In a fixed order, so that equal weights make equal recipes.
        ordered = {name: float(shares[name]) for name in VIEWS if name in shares}
        object.__setattr__(self, "_shares", ordered)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: shares are part of a recipe; make a new one")

    def __getitem__(self, name: str) -> float:
        return self._shares[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def __hash__(self) -> int:
        return hash(tuple(self._shares.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return ViewWeights, (dict(self._shares),)

    def __repr__(self) -> str:
        return (
            f"ViewWeights({{{', '.join(f'{name!r}: {s:g}' for name, s in self._shares.items())}}})"
        )

    def __str__(self) -> str:
        return ",".join(f"{name}:{_number(share)}" for name, share in self._shares.items())


def check_masks(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return names of masking rules in a fixed order, all of them for None; raise for others."""
    if names is None:
        return MASKS
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise TypeError(f"masks is {names!r}; it must be a list of names: {', '.join(MASKS)}")
    chosen = list(names)
    for name in chosen:
        if name not in MASKS:
            raise ValueError(f"masks has {name!r}; it may have {', '.join(MASKS)}")
    return tuple(name for name in MASKS if name in chosen)


def _number(value: float) -> str:
    """Return the shortest text that parses to the same number, integers without a point."""
    return str(int(value)) if value.is_integer() else repr(value)


class Viewing(NamedTuple):
    """Which views of responses are compared, and which responses with each other.

    views   names of views, such as "status", "headers", "title", "tags", "text"
    masks   names of the rules that mask volatile parts
    within  compare only responses with the same value here: "host", "ip", "status", or a column of
            the capture; None: compare all
    """

    views: tuple[str, ...]
    masks: tuple[str, ...]
    within: str | None = None


# Names that a line can begin with, in order. Any other line counts as text.
LINE_NAMES = ("within", "status", "header", "title", "tags", "keys", "text", "body")


def view_lines(view: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each line."""
    for line in view.split("\n"):
        name, _, value = line.partition(" ")
        if name in LINE_NAMES:
            yield name, value
        elif line:
            yield "text", line


def view_prose(view: str) -> str:
    """Return the title and the text of a response, without the names of the lines."""
    return "\n".join(value for name, value in view_lines(view) if name in ("title", "text"))
