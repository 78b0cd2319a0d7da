"""Typed words, and the steps from a text or from words to a fingerprint.

A typed word is a line with a weight and, if wanted, the bits of its hash. `Steps` prepares the
votes of `neardup.explain` for tables; `compare_steps` compares the steps of two texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neardup._util.lazy import lazy
from neardup._util.strings import json_digest
from neardup.text.comparison import similarity
from neardup.text.explain import Explanation, TokenVotes, escape_invisible, explain
from neardup.text.features import Feature
from neardup.text.presets import PRESETS
from neardup.text.recipe import Recipe

MAX_WORDS = 200
MAX_TOKEN = 64
MAX_WEIGHT = 1e6
MIN_HASH_BITS, MAX_HASH_BITS = 4, 64
_BITS = re.compile(rf"[01]{{{MIN_HASH_BITS},{MAX_HASH_BITS}}}")


class LessonError(ValueError):
    """Input that a lesson cannot use: the key of a phrase, and its values."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        # Typed text is shown in a sentence: invisible and bidi characters are escaped.
        shown = {n: escape_invisible(v) if isinstance(v, str) else v for n, v in values.items()}
        self.key, self.values = key, shown


@dataclass(frozen=True, slots=True)
class Word:
    """A token, its weight, and its hash in binary digits; "" if the recipe computes the hash."""

    token: str
    weight: float
    bits: str = ""


def parse_words(lines: str) -> list[Word]:
    """Parse lines such as `成都 4.3`, `爱 2 11001001` or `" " 0.5`."""
    # Only the line ends of a text box: others, such as U+2028, may be part of a token.
    words = [_parse_line(line) for line in re.split(r"\r\n|\n|\r", lines) if line.strip()]
    if len(words) > MAX_WORDS:
        raise LessonError("refused.words", n=len(words), most=MAX_WORDS)
    return words


def format_words(words: Sequence[Word]) -> str:
    """Format words so that `parse_words` reads them back."""
    return "\n".join(
        " ".join(filter(None, (_quote_token(word), format_weight(word.weight), word.bits)))
        for word in words
    )


def format_weight(weight: float) -> str:
    """Return a weight in the fewest digits that are exact: 2 for 2.0."""
    return str(int(weight)) if weight == int(weight) else repr(weight)


def _parse_line(line: str) -> Word:
    line = line.strip()
    token, rest = _split_quoted(line)
    if token is None:
        fields = line.split()
        count = 1 if len(fields) > 1 and _parse_number(fields[-1]) is not None else 0
        if (
            len(fields) > 2
            and _BITS.fullmatch(fields[-1])
            and _parse_number(fields[-2]) is not None
        ):
            count = 2
        parts = line.rsplit(None, count) if count else [line]
        token, rest = parts[0], " ".join(parts[1:])
    fields = [*rest.split(), "", ""]
    if len(fields) > 4:
        raise LessonError("refused.line", line=line[:80])
    return parse_word(token, fields[0] or "1", fields[1])


def parse_word(token: str, weight: str, bits: str) -> Word:
    """Return a word of its typed parts; raise `LessonError` for a bad weight or hash."""
    if len(token) > MAX_TOKEN:
        raise LessonError("refused.token", token=token[:20], n=len(token), most=MAX_TOKEN)
    number = _parse_number(weight.strip())
    if number is None or (bits and not _BITS.fullmatch(bits)):
        raise LessonError("refused.line", line=f"{token} {weight} {bits}"[:80])
    if not 0 <= number <= MAX_WEIGHT:
        raise LessonError("refused.weight", token=token, weight=weight[:20], most=int(MAX_WEIGHT))
    return Word(token, number, bits)


def _parse_number(text: str) -> float | None:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE):
        return None
    number = float(text)
    return number if math.isfinite(number) else MAX_WEIGHT * 2


def _split_quoted(line: str) -> tuple[str | None, str]:
    """Return a token in JSON quotes and the rest of the line; None without quotes."""
    if line.startswith('"'):
        try:
            token, end = json.JSONDecoder().raw_decode(line)
        except ValueError:
            return None, ""
        if isinstance(token, str) and line[end : end + 1] in ("", " ", "\t"):
            return token, line[end:]
    return None, ""


def _quote_token(word: Word) -> str:
    try:
        plainly = _parse_line(f"{word.token} {format_weight(word.weight)} {word.bits}") == word
    except LessonError:
        plainly = False
    if plainly and word.token.isprintable():
        return word.token
    return json.dumps(word.token, ensure_ascii=not word.token.isprintable())


WIDTHS = (8, 16, 32, 64, 128)
# Browsers are slow to lay out a table of more cells.
MAX_CELLS = 2048
MIN_ROWS = 8
# Running sums fit a page up to this width.
MAX_RUNNING_BITS = 16
HEAT_STEPS = 4


@dataclass(frozen=True)
class Steps:
    """The steps from a text to its fingerprint.

    explanation  the result of `neardup.explain`
    """

    explanation: Explanation

    @property
    def width(self) -> int:
        """Number of bits."""
        return self.explanation.bits

    @property
    def bits(self) -> str:
        """The fingerprint, most significant bit first; "" without a signal."""
        return self.explanation.bits_string

    @lazy
    def sums(self) -> list[float]:
        """The sum of each column, in the order of `bits`."""
        return list(reversed(self.explanation.columns))

    @lazy
    def heat(self) -> list[int]:
        """The size of each sum in steps from -4 to 4; 0 only for a tie."""
        most = max(map(abs, self.sums), default=0.0) or 1.0
        return [
            int(math.copysign(max(1, round(HEAT_STEPS * abs(value) / most)), value)) if value else 0
            for value in self.sums
        ]

    @lazy
    def rows(self) -> list[TokenVotes]:
        """The words to show: all in their order, or the heaviest if there are too many."""
        rows = self.explanation.rows()
        most = max(MIN_ROWS, MAX_CELLS // self.width)
        return rows if len(rows) <= most else sorted(rows, key=lambda row: -row.weight)[:most]

    @lazy
    def running(self) -> list[list[float]]:
        """The sums after each word, as on paper; empty if there are too many bits or words."""
        rows = self.rows
        if self.width > MAX_RUNNING_BITS or len(rows) < len(self.explanation.features):
            return []
        sums, found = [0.0] * self.width, []
        for row in rows:
            sums = [before + vote for before, vote in zip(sums, row.votes, strict=True)]
            found.append(sums)
        return found

    def words(self, given: dict[str, str]) -> list[Word]:
        """Return the features as words to edit; `given` are typed hashes by token."""
        return [Word(f.token, f.weight, given.get(f.token, "")) for f in self.explanation.features]


@dataclass(frozen=True)
class StepsComparison:
    """The changes from one text to another.

    distance   number of flipped bits; None if a text has no fingerprint
    flipped    whether each bit flipped, most significant first
    cosine     exact cosine of the weights
    expected   bits · arccos(cosine) / π
    deviation  √(bits · q · (1 − q)) with q = arccos(cosine) / π
    came, went words of the second or first text only
    """

    distance: int | None
    flipped: tuple[bool, ...]
    cosine: float
    expected: float
    deviation: float
    came: tuple[Feature, ...]
    went: tuple[Feature, ...]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the flipped bits, highest first."""
        last = len(self.flipped) - 1
        return [last - at for at, flipped in enumerate(self.flipped) if flipped]

    def to_dict(self) -> dict[str, Any]:
        return {
            "distance": self.distance,
            "flipped": self.numbers,
            "cosine": self.cosine,
            "expected": self.expected,
            "deviation": self.deviation,
            "came": [feature.token for feature in self.came],
            "went": [feature.token for feature in self.went],
        }


class TypedHashes:
    """A hash function of typed hashes; their digest is in its name, a part of recipe identities."""

    def __init__(self, codes: dict[str, int]) -> None:
        self._codes = codes
        self.__qualname__ = f"Given.{json_digest(sorted(codes.items()))}"

    def __call__(self, token: str) -> int:
        return self._codes[token]


def recipe_for(name: str, bits: int, *, by_hand: bool) -> Recipe:
    """Return a preset with so many bits; typed words keep their weights, and all of them count."""
    if name not in PRESETS:
        raise LessonError("refused.recipe", recipe=name[:40], known=", ".join(PRESETS))
    if bits not in WIDTHS:
        raise LessonError("refused.bits", bits=bits, known=", ".join(map(str, WIDTHS)))
    changes: dict[str, Any] = {"top": None, "scale": None} if by_hand else {}
    try:
        return Recipe.preset(name, bits=bits, **changes)
    except ValueError:
        raise LessonError("refused.hash", recipe=name, bits=bits) from None


def steps_of_text(text: str, name: str, bits: int) -> Steps:
    """Return the steps of a text by a preset."""
    return Steps(explain(text, recipe_for(name, bits, by_hand=False)))


def steps_of_words(words: Sequence[Word], name: str, bits: int, given: dict[str, str]) -> Steps:
    """Return the steps of words with weights; `given` are the hashes of `typed_hashes`."""
    pairs = [(word.token, word.weight) for word in words]
    if not given:
        return Steps(explain(pairs, recipe_for(name, bits, by_hand=True)))
    missing = [word.token for word in words if word.token not in given]
    if missing:
        raise LessonError("refused.missing", token=missing[0])
    width = len(next(iter(given.values())))
    codes = {token: int(digits, 2) for token, digits in given.items()}
    recipe = recipe_for(name, WIDTHS[0], by_hand=True)
    recipe = recipe.replace(hash=TypedHashes(codes), min_features=1)
    return Steps(explain(pairs, recipe, bits=width))


def typed_hashes(*texts: Sequence[Word]) -> dict[str, str]:
    """Return the typed hashes by token; all have one width, and a token has one hash."""
    found: dict[str, str] = {}
    for word in (word for words in texts for word in words if word.bits):
        first = next(iter(found.values()), word.bits)
        if len(word.bits) != len(first):
            raise LessonError("refused.width", token=word.token, n=len(word.bits), first=len(first))
        if found.setdefault(word.token, word.bits) != word.bits:
            raise LessonError(
                "refused.twice", token=word.token, one=found[word.token], two=word.bits
            )
    return found


def compare_steps(first: Steps, second: Steps) -> StepsComparison:
    """Return the changes from the first to the second."""
    one, two = first.explanation, second.explanation
    recipe = one.recipe.replace(top=None, scale=None)
    cosine = similarity(_feature_weights(one), _feature_weights(two), recipe)
    share = angle_share(cosine)
    flipped = tuple(a != b for a, b in zip(first.bits, second.bits, strict=False))
    signal = bool(first.bits and second.bits)
    here, there = ({f.token for f in found.features} for found in (one, two))
    return StepsComparison(
        distance=sum(flipped) if signal else None,
        flipped=flipped if signal else (),
        cosine=cosine,
        expected=first.width * share,
        deviation=math.sqrt(first.width * share * (1 - share)),
        came=tuple(f for f in two.features if f.token not in here),
        went=tuple(f for f in one.features if f.token not in there),
    )


def angle_share(cosine: float) -> float:
    """Return the probability that a bit differs: the angle between two texts divided by π."""
    return math.acos(min(1.0, max(-1.0, cosine))) / math.pi


def _feature_weights(explanation: Explanation) -> list[tuple[str, float]]:
    return [(feature.token, feature.weight) for feature in explanation.features]
