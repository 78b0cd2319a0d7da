"""Exercises to do by hand: three words, eight bits, and the answers checked."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from neardup.service.learning.steps import Steps, steps_of_words
from neardup.service.learning.words import Refused, Word

Mark = Literal["right", "wrong", "empty"]
MAX_NUMBER = 999
BITS = 8
WORDS = {
    "en": ("tea", "rain", "moon", "salt", "bread", "river", "glass", "paper", "stone", "cloud"),
    "zh": ("茶壶", "饺子", "自然", "语言", "处理", "北京", "上海", "成都", "天空", "白云"),
}


@dataclass(frozen=True)
class Exercise:
    """Three words with weights and hashes of eight bits, by the preset `characters`' hash.

    other  another fingerprint, to count the distance to
    """

    number: int
    words: tuple[Word, ...]
    steps: Steps
    other: str

    @property
    def sums(self) -> list[int]:
        return [int(value) for value in self.steps.sums]

    @property
    def distance(self) -> int:
        return sum(map(str.__ne__, self.steps.bits, self.other))

    def to_dict(self) -> dict[str, Any]:
        rows = self.steps.explanation.rows()
        return {
            "number": self.number,
            "words": [{"token": x.token, "weight": x.weight, "hash": x.hash} for x in rows],
            "other": self.other,
            "answers": {"sums": self.sums, "bits": self.steps.bits, "distance": self.distance},
        }


@dataclass(frozen=True, slots=True)
class Marks:
    """Each answer: right, wrong, or not there yet."""

    sums: tuple[Mark, ...]
    bits: tuple[Mark, ...]
    distance: Mark

    @property
    def all(self) -> tuple[Mark, ...]:
        return (*self.sums, *self.bits, self.distance)

    @property
    def right(self) -> int:
        return self.all.count("right")


@lru_cache(maxsize=64)
def exercise(number: int, language: str) -> Exercise:
    """The exercise of a number: the same one every time, and no column of it is a tie."""
    if not 1 <= number <= MAX_NUMBER:
        raise Refused("refused.exercise", number=number, most=MAX_NUMBER)
    dice = random.Random(f"{language} {number}")
    while True:
        chosen = dice.sample(WORDS[language], 3)
        words = tuple(Word(token, float(dice.randint(1, 5))) for token in chosen)
        steps = steps_of_words(words, "characters", BITS, {})
        if all(steps.sums):
            break
    code = int(steps.bits, 2)
    for bit in dice.sample(range(BITS), dice.randint(1, 4)):
        code ^= 1 << bit
    return Exercise(number, words, steps, f"{code:0{BITS}b}")


def check(found: Exercise, sums: Sequence[str], bits: Sequence[str], distance: str) -> Marks:
    """Marks the answers, one for each column."""
    return Marks(
        _marked(sums, found.sums),
        _marked(bits, [int(bit) for bit in found.steps.bits]),
        _mark(distance, found.distance),
    )


def _marked(given: Sequence[str], right: Sequence[int]) -> tuple[Mark, ...]:
    padded = [*given, *[""] * len(right)]
    return tuple(_mark(answer, value) for answer, value in zip(padded, right, strict=False))


def _mark(given: str, right: int) -> Mark:
    # A minus may come from an input method, or from a page it was copied from.
    text = given.strip().replace("\u2212", "-").replace("\uff0d", "-").removeprefix("+")
    if not text:
        return "empty"
    try:
        return "right" if len(text) < 8 and int(text) == right else "wrong"
    except ValueError:
        return "wrong"
