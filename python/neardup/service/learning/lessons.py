"""What the address of the page Learn asks for, lesson by lesson. One that cannot be given says why;
the others are given all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from neardup._util.lazy import lazy
from neardup.service.learning import exercise as exercises
from neardup.service.learning import model
from neardup.service.learning.blocks import MAX_RADIUS, Table, table
from neardup.service.learning.exercise import BLOCKS, FIRST, Exercise, ExerciseMarks, check
from neardup.service.learning.steps import (
    MAX_WORDS,
    WIDTHS,
    Refused,
    Steps,
    StepsBeside,
    beside,
    given_hashes,
    parse,
    steps_of_text,
    steps_of_words,
    word_of,
    write,
)

T = TypeVar("T")
Items = Sequence[tuple[str, str]]

MAX_TEXT = 1000
# Two of them, every character as nine of an address, fit what servers take.
MAX_LINES = 2000
# The fields of each form; the others go along with it, so that the address holds everything.
WORDS = frozenset(("as", "a", "b", "recipe", "bits", "t", "w", "h"))
BLOCK = frozenset(("stored", "query", "k", "flip"))
EXERCISE = frozenset(("e", "s", "f", "d", "check"))
PLOT = frozenset(("pbits", "r", "p"))
COMMON = frozenset(("lang", "theme"))


@dataclass(frozen=True)
class Worked:
    """The steps of the words asked about, and what changes with the second ones."""

    first: Steps
    second: Steps | None
    beside: StepsBeside | None
    given: dict[str, str]

    @lazy
    def editable(self) -> bool:
        """Whether the words of both fit a page that takes them by hand."""
        both = [self.first, self.second] if self.second else [self.first]
        return all(
            len(each.explanation.features) <= MAX_WORDS
            and len(write(each.words(self.given))) <= MAX_LINES
            for each in both
        )

    def plainly(self, steps: Steps | None) -> str:
        """The words without weights, each as often as it counts where that is a few times."""
        found = () if steps is None else steps.explanation.features
        return " ".join(" ".join([f.token] * _times(f.weight)) for f in found)

    def to_dict(self) -> dict[str, Any]:
        return {
            "width": self.first.width,
            "first": self.first.explanation.to_dict(),
            "second": self.second and self.second.explanation.to_dict(),
            "beside": self.beside and self.beside.to_dict(),
        }

    def second_lines(self) -> str:
        return (
            "" if self.second is None or not self.editable else write(self.second.words(self.given))
        )


@dataclass(frozen=True)
class Done:
    """An exercise, what was answered, and the marks if it was to be checked."""

    exercise: Exercise
    sums: list[str]
    bits: list[str]
    distance: str
    marks: ExerciseMarks | None


@dataclass(frozen=True)
class Plotted:
    """The model at the settings asked for."""

    bits: int
    radius: int
    share: float
    points: list[model.Point]

    @property
    def at(self) -> model.Point:
        return model.point(self.share, self.bits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "bits": self.bits,
            "radius": self.radius,
            "share": self.share,
            "measured": [[*x] for x in sorted(model.measured(self.bits, self.radius).items())],
            "points": [
                {
                    "share": point.share,
                    "cosine": point.cosine,
                    "expected": point.expected,
                    "deviation": point.deviation,
                    "within": point.within[min(self.radius, len(point.within) - 1)],
                }
                for point in self.points
            ],
        }


@dataclass
class LessonInput:
    """Everything the page shows. What is None was refused, and `refused` says why, by lesson."""

    fields: dict[str, str]
    worked: Worked | None = None
    blocks: Table | None = None
    done: Done | None = None
    plotted: Plotted | None = None
    refused: dict[str, Refused] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What the page says, for programs; None for what was refused."""
        return {
            **(self.worked.to_dict() if self.worked else {}),
            "blocks": self.blocks and self.blocks.to_dict(),
            "plot": self.plotted and self.plotted.to_dict(),
            "exercise": self.done and self.done.exercise.to_dict(),
        }


def asked(items: Items, language: str) -> LessonInput:
    """What is asked by the parameters of an address."""
    single = dict(reversed(items))
    fields = {**FIRST[language], **BLOCKS, "e": "1", "pbits": "64", "r": "3", "p": "5"}
    # Who types a text of his own does not get the example's second one beside it.
    if "a" in single or "t" in single:
        fields |= {"b": "", "as": "text", "recipe": "default"}
    fields |= {name: value for name, value in single.items() if name in fields}
    lists = {name: [v for n, v in items if n == name] for name in ("t", "w", "h", "s", "f")}
    found = LessonInput(fields)
    lessons: dict[str, Callable[[], Any]] = {
        "worked": lambda: _worked(fields, lists),
        "blocks": lambda: _blocks(fields, single.get("flip")),
        "done": lambda: _done(fields, lists, single, language),
        "plotted": lambda: _plotted(fields),
    }
    for name, make in lessons.items():
        try:
            setattr(found, name, make())
        except Refused as refused:
            found.refused[name] = refused
    if found.blocks is not None and "flip" in single:
        fields["query"] = found.blocks.written(hexadecimal="x" in fields["query"])
    return found


def kept(items: Items, own: frozenset[str]) -> list[tuple[str, str]]:
    """The parameters of the other forms, to go along with one."""
    known = (WORDS | BLOCK | EXERCISE | PLOT | COMMON) - own
    return [(name, value) for name, value in items if name in known and name != "flip"]


def _joined(lists: dict[str, list[str]]) -> str:
    """Lines of the words, weights and hashes that come one by one."""
    count = len(lists["t"])
    if count > MAX_WORDS:
        raise Refused("refused.words", n=count, most=MAX_WORDS)
    weights, codes = [*lists["w"], *["1"] * count], [*lists["h"], *[""] * count]
    rows = zip(lists["t"], weights, codes, strict=False)
    return write([word_of(*row) for row in rows])


def _worked(fields: dict[str, str], lists: dict[str, list[str]]) -> Worked:
    if lists["t"]:
        fields |= {"as": "words", "a": ""}
        fields["a"] = _joined(lists)
    kind, bits = fields["as"], _whole(fields, "bits", WIDTHS[0], WIDTHS[-1])
    if kind == "text":
        for name in ("a", "b"):
            _check_length(fields[name], MAX_TEXT)
        first = steps_of_text(fields["a"], fields["recipe"], bits)
        second = steps_of_text(fields["b"], fields["recipe"], bits) if fields["b"] else None
        return Worked(first, second, beside(first, second) if second else None, {})
    if kind != "words":
        raise Refused("refused.kind", value=kind[:20])
    for name in ("a", "b"):
        _check_length(fields[name], MAX_LINES)
    one, two = parse(fields["a"]), parse(fields["b"])
    given = given_hashes(one, two)
    first = steps_of_words(one, fields["recipe"], bits, given)
    second = steps_of_words(two, fields["recipe"], bits, given) if two else None
    return Worked(first, second, beside(first, second) if second else None, given)


def _blocks(fields: dict[str, str], flip: str | None) -> Table:
    _check_length(fields["stored"], MAX_TEXT)
    _check_length(fields["query"], MAX_TEXT)
    radius = _whole(fields, "k", 0, MAX_RADIUS)
    bit = None if flip is None else _whole({"flip": flip}, "flip", 0, 63)
    return table(fields["stored"], fields["query"], radius, bit)


def _done(
    fields: dict[str, str], lists: dict[str, list[str]], single: dict[str, str], language: str
) -> Done:
    number = _whole(fields, "e", 1, exercises.MAX_NUMBER)
    found = exercises.exercise(number, language)
    blank = [""] * exercises.BITS
    sums, bits = ([*lists[name], *blank][: exercises.BITS] for name in ("s", "f"))
    distance = single.get("d", "")
    for answer in (*sums, *bits, distance):
        _check_length(answer, 20)
    marks = check(found, sums, bits, distance) if "check" in single else None
    return Done(found, sums, bits, distance, marks)


def _plotted(fields: dict[str, str]) -> Plotted:
    bits = _whole(fields, "pbits", WIDTHS[0], WIDTHS[-1])
    points = model.points(bits)
    radius = _whole(fields, "r", 0, min(model.MAX_RADIUS, bits))
    try:
        share = float(fields["p"]) if len(fields["p"]) < 10 else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100 * model.SHARES[-1]:
        most = int(100 * model.SHARES[-1])
        raise Refused("refused.number", field="p", value=fields["p"][:20], least=0, most=most)
    return Plotted(bits, radius, share / 100, points)


def _times(weight: float) -> int:
    return int(weight) if weight in (2.0, 3.0) else 1


def _whole(fields: dict[str, str], name: str, least: int, most: int) -> int:
    text = fields[name].strip()
    if not re.fullmatch(r"[0-9]{1,4}", text) or not least <= int(text) <= most:
        raise Refused("refused.number", field=name, value=text[:20], least=least, most=most)
    return int(text)


def _check_length(text: str, most: int) -> None:
    if len(text) > most:
        raise Refused("refused.text", n=len(text), most=most)
