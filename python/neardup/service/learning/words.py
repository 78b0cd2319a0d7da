"""Words with weights, typed by hand: a line a word, and its hash bits if they are given too."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neardup.text.explain import visible

MAX_WORDS = 200
MAX_TOKEN = 64
MAX_WEIGHT = 1e6
MIN_GIVEN, MAX_GIVEN = 4, 64
_BITS = re.compile(rf"[01]{{{MIN_GIVEN},{MAX_GIVEN}}}")


class Refused(ValueError):
    """Something typed that cannot be worked with: the key of a phrase, and what it names."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        # What was typed is shown among other words: nothing in it may be invisible, or turn them.
        shown = {n: visible(v) if isinstance(v, str) else v for n, v in values.items()}
        self.key, self.values = key, shown


@dataclass(frozen=True, slots=True)
class Word:
    """A token, what it counts for, and its hash in zeros and ones; "" leaves it to the recipe."""

    token: str
    weight: float
    bits: str = ""


def parse(lines: str) -> list[Word]:
    """The words of lines such as `成都 4.3`, `爱 2 11001001` or `" " 0.5`."""
    # Only the ends of lines that a text box makes: others may be part of a token.
    words = [_word(line) for line in re.split(r"\r\n|\n|\r", lines) if line.strip()]
    if len(words) > MAX_WORDS:
        raise Refused("refused.words", n=len(words), most=MAX_WORDS)
    return words


def write(words: Sequence[Word]) -> str:
    """What `parse` reads."""
    return "\n".join(
        " ".join(filter(None, (_quoted(word), plain(word.weight), word.bits))) for word in words
    )


def plain(weight: float) -> str:
    """A weight in as few digits as say it exactly: 2 for 2.0."""
    return str(int(weight)) if weight == int(weight) else repr(weight)


def _word(line: str) -> Word:
    line = line.strip()
    token, rest = _unquoted(line)
    if token is None:
        fields = line.split()
        count = 1 if len(fields) > 1 and _number(fields[-1]) is not None else 0
        if len(fields) > 2 and _BITS.fullmatch(fields[-1]) and _number(fields[-2]) is not None:
            count = 2
        parts = line.rsplit(None, count) if count else [line]
        token, rest = parts[0], " ".join(parts[1:])
    fields = [*rest.split(), "", ""]
    if len(fields) > 4:
        raise Refused("refused.line", line=line[:80])
    return word_of(token, fields[0] or "1", fields[1])


def word_of(token: str, weight: str, bits: str) -> Word:
    """A word of what was typed, refused where that is no weight or no hash."""
    if len(token) > MAX_TOKEN:
        raise Refused("refused.token", token=token[:20], n=len(token), most=MAX_TOKEN)
    number = _number(weight.strip())
    if number is None or (bits and not _BITS.fullmatch(bits)):
        raise Refused("refused.line", line=f"{token} {weight} {bits}"[:80])
    if not 0 <= number <= MAX_WEIGHT:
        raise Refused("refused.weight", token=token, weight=weight[:20], most=int(MAX_WEIGHT))
    return Word(token, number, bits)


def _number(text: str) -> float | None:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE):
        return None
    number = float(text)
    return number if math.isfinite(number) else MAX_WEIGHT * 2


def _unquoted(line: str) -> tuple[str | None, str]:
    """A token in quotes, as in JSON, and what follows it."""
    if line.startswith('"'):
        try:
            token, end = json.JSONDecoder().raw_decode(line)
        except ValueError:
            return None, ""
        if isinstance(token, str) and line[end : end + 1] in ("", " ", "\t"):
            return token, line[end:]
    return None, ""


def _quoted(word: Word) -> str:
    try:
        plainly = _word(f"{word.token} {plain(word.weight)} {word.bits}") == word
    except Refused:
        plainly = False
    if plainly and word.token.isprintable():
        return word.token
    return json.dumps(word.token, ensure_ascii=not word.token.isprintable())
