"""What differs between two texts of the same words: numbers, negation, symbols, order, lost words.

A cosine of words sees none of these: "take it" and "do not take it", 5 mg and 50 mg, `==` and `!=`,
"man bites dog" and "dog bites man" are near-duplicates by their words. An aspect is one way in
which texts differ:

    numbers   other tokens with a digit, with sign and decimal point: 5 and -5, 3.14 and 314, mp3
              and mp4. Commas between thousands do not count. In Han also numerals of two characters
              or more (二十) and those with a unit or after 第 (三月, 两倍, 第一); other numbers in
              words, such as "two billion", do not count
    negation  another number of words that negate; `negation.toml` lists them for nine languages
    symbols   other operators of code and formulas (`==`, `!=`, C++, C#), currencies, emoji; not
              punctuation, bullets, quoting marks, emphasis or tags
    order     the same words, or the same numbers, in another order

`differences` lists them for two texts. `distinguish=` of a search makes texts that differ so
different, whatever their cosine. It may also name "fields", which two texts alone do not show: the
places in which records made from one form differ; see `neardup.near.templates`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args, overload

from neardup import _core
from neardup._util.lazy import FORK_LOCK

Aspect = Literal["numbers", "negation", "symbols", "order"]
# What a search may insist on.
Distinguished = Aspect | Literal["fields"]

# In the order of the core's bits.
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)

NEGATION_FILE = "negation.toml"


@dataclass(frozen=True)
class Differences:
    """What differs between a left text and a right one.

    Each of `numbers`, `negation` and `symbols` has the tokens that only the left text has, and
    those that only the right one has, in their order; a token counts as often as it stands there.

    aspects  names of the aspects in which they differ
    order    whether they have the same words, or the same numbers, in another order
    lost     words of the right text that the left one lacks
    added    words of the left text that the right one lacks
    """

    aspects: tuple[Aspect, ...]
    numbers: tuple[tuple[str, ...], tuple[str, ...]]
    negation: tuple[tuple[str, ...], tuple[str, ...]]
    symbols: tuple[tuple[str, ...], tuple[str, ...]]
    order: bool
    lost: tuple[str, ...]
    added: tuple[str, ...]


def differences(left: str, right: str) -> Differences:
    """Return what differs between two texts, apart from case, punctuation and spaces.

    >>> found = differences("Patients should not take 5 mg", "Patients should take 50 mg")
    >>> found.aspects, found.numbers, found.lost
    (('numbers', 'negation'), (('5',), ('50',)), ('50',))
    """
    texts = [negation_words().tokens(text) for text in (left, right)]
    words, numbers, negations, symbols = zip(*texts, strict=True)
    added, lost = _surplus(*words)
    tokens = {"numbers": _surplus(*numbers), "symbols": _surplus(*symbols)}
    moved = not any(tokens["numbers"]) and numbers[0] != numbers[1]
    order = moved or (not added and not lost and words[0] != words[1])
    # Negations are counted, not matched: "cannot" and "can not" say the same.
    negation: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if len(negations[0]) != len(negations[1]):
        negation = _surplus(*negations)
    differs = {
        "numbers": any(tokens["numbers"]),
        "negation": any(negation),
        "symbols": any(tokens["symbols"]),
        "order": order,
    }
    aspects = tuple(aspect for aspect in ASPECTS if differs[aspect])
    return Differences(aspects, tokens["numbers"], negation, tokens["symbols"], order, lost, added)


def _surplus(left: list[str], right: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens that only the left list has, and those that only the right one has."""
    return _only(left, right), _only(right, left)


def _only(tokens: list[str], others: list[str]) -> tuple[str, ...]:
    left_over = Counter(others)
    only = []
    for token in tokens:
        if left_over[token]:
            left_over[token] -= 1
        else:
            only.append(token)
    return tuple(only)


@functools.cache
def aspect_names(bits: int) -> str:
    """Return the aspects of the core's bits, joined by commas."""
    return ",".join(aspect for at, aspect in enumerate(ASPECTS) if bits >> at & 1)


@overload
def check_distinguish(
    value: str | Iterable[str] | None, *, fields: Literal[False] = False
) -> tuple[Aspect, ...]: ...
@overload
def check_distinguish(
    value: str | Iterable[str] | None, *, fields: bool
) -> tuple[Distinguished, ...]: ...
def check_distinguish(
    value: str | Iterable[str] | None, *, fields: bool = False
) -> tuple[Distinguished, ...]:
    """Return the aspects named by a str or by several, each with commas or not, in a fixed order.

    fields  whether "fields" may be one of them; only clusters of a whole corpus show them

    >>> check_distinguish("order,numbers")
    ('numbers', 'order')
    """
    if value is None:
        return ()
    choices: tuple[Distinguished, ...] = (*ASPECTS, "fields") if fields else ASPECTS
    several = isinstance(value, Iterable) and not isinstance(value, str)
    given: list[object] = [*value] if several else [value]
    if not all(isinstance(each, str) for each in given):
        raise TypeError(f"distinguish is {value!r}; it must be names of {', '.join(choices)}")
    names = [name.strip() for each in given for name in str(each).split(",")]
    for name in names:
        if name == "fields" and not fields:
            raise ValueError(
                f"distinguish has {name!r}, which needs the clusters of a whole corpus: use dedup "
                f"or cluster, or one or more of {', '.join(ASPECTS)}"
            )
        if name not in choices:
            raise ValueError(
                f"distinguish has {name!r}; it must be one or more of {', '.join(choices)}"
            )
    return tuple(aspect for aspect in choices if aspect in names)


def negation_words() -> _core.Negation:
    """Return the words that negate, in all languages of `negation.toml`."""
    with FORK_LOCK:
        return _negation_words()


@functools.cache
def _negation_words() -> _core.Negation:
    import tomllib
    from importlib.resources import files

    content = files("neardup.text").joinpath(NEGATION_FILE).read_text("utf-8")
    languages = tomllib.loads(content).values()
    lists = ("words", "beginnings", "endings", "phrases", "others")
    return _core.Negation(
        **{name: [word for each in languages for word in each.get(name, [])] for name in lists}
    )
