"""Worked examples of lecture notes on SimHash, and exercises to do by hand.

An exercise has three words and eight bits; `grade` checks the answers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from neardup.service.learning.steps import LessonError, Steps, Word, steps_of_words


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """An example of the page.

    key      its title and note are phrases of this name
    values   the fields of the form
    """

    key: str
    values: dict[str, str] = field(default_factory=dict)


def _words(first: str, second: str, **others: str) -> dict[str, str]:
    return {"as": "words", "a": first, "b": second, "recipe": "lookup3", **others}


def _text(recipe: str, first: str, second: str, bits: int) -> dict[str, str]:
    return {"as": "text", "recipe": recipe, "a": first, "b": second, "bits": str(bits)}


_BY_HAND = "我 1 01011011\n爱 2 11001001\n自然 3 11100010\n语言 2 01111100\n处理 1 00101011"

EXAMPLES = (
    WorkedExample(
        "by_hand",
        _words(_BY_HAND, _BY_HAND.replace("处理 1 00101011", "分析 1 10010100"), bits="8"),
    ),
    WorkedExample("teapot", _words("茶壶 4 100101\n饺子 5 101011", "茶壶 4\n饺子 3", bits="8")),
    WorkedExample(
        "cities", _words("北京 1\n上海 2\n成都 4.3", "北京 1\n上海 2\n重庆 4.3", bits="64")
    ),
    WorkedExample("characters", _text("characters", "我爱自然语言处理", "我喜欢自然语言分析", 64)),
    WorkedExample(
        "keywords",
        _text(
            "jieba-tfidf",
            "相似的文档生成的哈希值在汉明距离上接近，而差异大的文档哈希值差异显著。",
            "相似的文章生成的指纹在汉明距离上接近，而差异大的文章指纹差异显著。",
            64,
        ),
    ),
    WorkedExample(
        "spaces",
        _text(
            "weighted-tokens",
            "natural language processing is fun",
            "natural language processing is hard",
            16,
        ),
    ),
)

# The example of a page without parameters, by language.
FIRST_EXAMPLE = {
    "en": _text("weighted-tokens", "the cat sat on the red mat", "the dog sat on the red mat", 16),
    "zh": EXAMPLES[0].values,
}

# Fingerprints of 16 bits: two are found, one is a rejected candidate, one is no candidate.
BLOCKS_EXAMPLE = {
    "stored": "1011001110001111\n0011011110001010\n1011001000101100\n0100110001110000",
    "query": "1011001010001110",
    "k": "3",
    "levels": "1",
}
# The example of a note on a C++ library: 64 bits.
BLOCKS_EXAMPLE_64 = {
    "stored": "0x0000000000000000\n0x0000000000000078",
    "query": "0x0000000000000070",
    "k": "3",
    "levels": "1",
}
# Fingerprints of 24 bits: one is found, one is rejected, one is left out by the second level, one
# by the first.
BLOCKS_EXAMPLE_LEVELS = {
    "stored": "0x9db479\n0xfd3a75\n0xddba71\n0x957c20",
    "query": "0x9d3c71",
    "k": "3",
    "levels": "2",
}


Grade = Literal["right", "wrong", "empty"]
MAX_NUMBER = 999
EXERCISE_BITS = 8
EXERCISE_WORDS = {
    "en": ("tea", "rain", "moon", "salt", "bread", "river", "glass", "paper", "stone", "cloud"),
    "zh": ("茶壶", "饺子", "自然", "语言", "处理", "北京", "上海", "成都", "天空", "白云"),
}


@dataclass(frozen=True)
class Exercise:
    """Three words with weights, and hashes of eight bits by the preset `characters`.

    other  another fingerprint; the exercise asks for the distance to it
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
class Grades:
    """The grade of each answer."""

    sums: tuple[Grade, ...]
    bits: tuple[Grade, ...]
    distance: Grade

    @property
    def all(self) -> tuple[Grade, ...]:
        return (*self.sums, *self.bits, self.distance)

    @property
    def right(self) -> int:
        return self.all.count("right")


@lru_cache(maxsize=64)
def make_exercise(number: int, language: str) -> Exercise:
    """Return the exercise of a number: always the same one, without ties."""
    if not 1 <= number <= MAX_NUMBER:
        raise LessonError("refused.exercise", number=number, most=MAX_NUMBER)
    dice = random.Random(f"{language} {number}")
    while True:
        chosen = dice.sample(EXERCISE_WORDS[language], 3)
        words = tuple(Word(token, float(dice.randint(1, 5))) for token in chosen)
        steps = steps_of_words(words, "characters", EXERCISE_BITS, {})
        if all(steps.sums):
            break
    code = int(steps.bits, 2)
    for bit in dice.sample(range(EXERCISE_BITS), dice.randint(1, 4)):
        code ^= 1 << bit
    return Exercise(number, words, steps, f"{code:0{EXERCISE_BITS}b}")


def grade(found: Exercise, sums: Sequence[str], bits: Sequence[str], distance: str) -> Grades:
    """Grades the answers, one for each column."""
    return Grades(
        _grade_all(sums, found.sums),
        _grade_all(bits, [int(bit) for bit in found.steps.bits]),
        _grade_one(distance, found.distance),
    )


def _grade_all(given: Sequence[str], right: Sequence[int]) -> tuple[Grade, ...]:
    padded = [*given, *[""] * len(right)]
    return tuple(_grade_one(answer, value) for answer, value in zip(padded, right, strict=False))


def _grade_one(given: str, right: int) -> Grade:
    # Input methods and copied pages have other minus signs.
    text = given.strip().replace("\u2212", "-").replace("\uff0d", "-")
    if not text:
        return "empty"
    try:
        return "right" if len(text) < 8 and int(text) == right else "wrong"
    except ValueError:
        return "wrong"
