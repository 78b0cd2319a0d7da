"""What the address of the page Learn asks for, lesson by lesson. One that cannot be given says why;
the others are given all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from neardup._util.lazy import lazy
from neardup.service.learning import exercises
from neardup.service.learning import radius as model
from neardup.service.learning.exercises import (
    BLOCKS_EXAMPLE,
    FIRST_EXAMPLE,
    Exercise,
    Grades,
    grade,
)
from neardup.service.learning.radius import MAX_BLOCK_RADIUS, BlockTable, block_table
from neardup.service.learning.steps import (
    MAX_WORDS,
    WIDTHS,
    LessonError,
    Steps,
    StepsComparison,
    compare_steps,
    format_words,
    parse_word,
    parse_words,
    steps_of_text,
    steps_of_words,
    typed_hashes,
)

T = TypeVar("T")
Items = Sequence[tuple[str, str]]

MAX_TEXT = 1000
# Two of them, every character as nine of an address, fit what servers take.
MAX_LINES = 2000
# The fields of each form; the others go along with it, so that the address holds everything.
WORD_FIELDS = frozenset(("as", "a", "b", "recipe", "bits", "t", "w", "h"))
BLOCK_FIELDS = frozenset(("stored", "query", "k", "flip"))
EXERCISE_FIELDS = frozenset(("e", "s", "f", "d", "check"))
PLOT_FIELDS = frozenset(("pbits", "r", "p"))
COMMON_FIELDS = frozenset(("lang", "theme"))


@dataclass(frozen=True)
class WorkedSteps:
    """The steps of the words asked about, and what changes with the second ones."""

    first: Steps
    second: Steps | None
    beside: StepsComparison | None
    given: dict[str, str]

    @lazy
    def editable(self) -> bool:
        """Whether the words of both fit a page that takes them by hand."""
        both = [self.first, self.second] if self.second else [self.first]
        return all(
            len(each.explanation.features) <= MAX_WORDS
            and len(format_words(each.words(self.given))) <= MAX_LINES
            for each in both
        )

    def plainly(self, steps: Steps | None) -> str:
        """The words without weights, each as often as it counts where that is a few times."""
        found = () if steps is None else steps.explanation.features
        return " ".join(" ".join([f.token] * _repeats(f.weight)) for f in found)

    def to_dict(self) -> dict[str, Any]:
        return {
            "width": self.first.width,
            "first": self.first.explanation.to_dict(),
            "second": self.second and self.second.explanation.to_dict(),
            "beside": self.beside and self.beside.to_dict(),
        }

    def second_lines(self) -> str:
        return (
            ""
            if self.second is None or not self.editable
            else format_words(self.second.words(self.given))
        )


@dataclass(frozen=True)
class ExerciseAnswers:
    """An exercise, what was answered, and the marks if it was to be checked."""

    exercise: Exercise
    sums: list[str]
    bits: list[str]
    distance: str
    marks: Grades | None


@dataclass(frozen=True)
class Plot:
    """The model at the settings asked for."""

    bits: int
    radius: int
    share: float
    points: list[model.ModelPoint]

    @property
    def at(self) -> model.ModelPoint:
        return model.model_point(self.share, self.bits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "bits": self.bits,
            "radius": self.radius,
            "share": self.share,
            "measured": [
                [*x] for x in sorted(model.measured_recall(self.bits, self.radius).items())
            ],
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
class Lessons:
    """Everything the page shows. What is None was refused, and `refused` says why, by lesson."""

    fields: dict[str, str]
    worked: WorkedSteps | None = None
    blocks: BlockTable | None = None
    done: ExerciseAnswers | None = None
    plotted: Plot | None = None
    refused: dict[str, LessonError] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What the page says, for programs; None for what was refused."""
        return {
            **(self.worked.to_dict() if self.worked else {}),
            "blocks": self.blocks and self.blocks.to_dict(),
            "plot": self.plotted and self.plotted.to_dict(),
            "exercise": self.done and self.done.exercise.to_dict(),
        }


def read_lessons(items: Items, language: str) -> Lessons:
    """What is asked by the parameters of an address."""
    single = dict(reversed(items))
    fields = {
        **FIRST_EXAMPLE[language],
        **BLOCKS_EXAMPLE,
        "e": "1",
        "pbits": "64",
        "r": "3",
        "p": "5",
    }
    # Who types a text of his own does not get the example's second one beside it.
    if "a" in single or "t" in single:
        fields |= {"b": "", "as": "text", "recipe": "default"}
    fields |= {name: value for name, value in single.items() if name in fields}
    lists = {name: [v for n, v in items if n == name] for name in ("t", "w", "h", "s", "f")}
    found = Lessons(fields)
    lessons: dict[str, Callable[[], Any]] = {
        "worked": lambda: _read_steps(fields, lists),
        "blocks": lambda: _read_blocks(fields, single.get("flip")),
        "done": lambda: _read_exercise(fields, lists, single, language),
        "plotted": lambda: _read_plot(fields),
    }
    for name, make in lessons.items():
        try:
            setattr(found, name, make())
        except LessonError as refused:
            found.refused[name] = refused
    if found.blocks is not None and "flip" in single:
        fields["query"] = found.blocks.written(hexadecimal="x" in fields["query"])
    return found


def other_fields(items: Items, own: frozenset[str]) -> list[tuple[str, str]]:
    """The parameters of the other forms, to go along with one."""
    known = (WORD_FIELDS | BLOCK_FIELDS | EXERCISE_FIELDS | PLOT_FIELDS | COMMON_FIELDS) - own
    return [(name, value) for name, value in items if name in known and name != "flip"]


def _join_words(lists: dict[str, list[str]]) -> str:
    """Lines of the words, weights and hashes that come one by one."""
    count = len(lists["t"])
    if count > MAX_WORDS:
        raise LessonError("refused.words", n=count, most=MAX_WORDS)
    weights, codes = [*lists["w"], *["1"] * count], [*lists["h"], *[""] * count]
    rows = zip(lists["t"], weights, codes, strict=False)
    return format_words([parse_word(*row) for row in rows])


def _read_steps(fields: dict[str, str], lists: dict[str, list[str]]) -> WorkedSteps:
    if lists["t"]:
        fields |= {"as": "words", "a": ""}
        fields["a"] = _join_words(lists)
    kind, bits = fields["as"], _parse_int(fields, "bits", WIDTHS[0], WIDTHS[-1])
    if kind == "text":
        for name in ("a", "b"):
            _check_length(fields[name], MAX_TEXT)
        first = steps_of_text(fields["a"], fields["recipe"], bits)
        second = steps_of_text(fields["b"], fields["recipe"], bits) if fields["b"] else None
        return WorkedSteps(first, second, compare_steps(first, second) if second else None, {})
    if kind != "words":
        raise LessonError("refused.kind", value=kind[:20])
    for name in ("a", "b"):
        _check_length(fields[name], MAX_LINES)
    one, two = parse_words(fields["a"]), parse_words(fields["b"])
    given = typed_hashes(one, two)
    first = steps_of_words(one, fields["recipe"], bits, given)
    second = steps_of_words(two, fields["recipe"], bits, given) if two else None
    return WorkedSteps(first, second, compare_steps(first, second) if second else None, given)


def _read_blocks(fields: dict[str, str], flip: str | None) -> BlockTable:
    _check_length(fields["stored"], MAX_TEXT)
    _check_length(fields["query"], MAX_TEXT)
    radius = _parse_int(fields, "k", 0, MAX_BLOCK_RADIUS)
    bit = None if flip is None else _parse_int({"flip": flip}, "flip", 0, 63)
    return block_table(fields["stored"], fields["query"], radius, bit)


def _read_exercise(
    fields: dict[str, str], lists: dict[str, list[str]], single: dict[str, str], language: str
) -> ExerciseAnswers:
    number = _parse_int(fields, "e", 1, exercises.MAX_NUMBER)
    found = exercises.make_exercise(number, language)
    blank = [""] * exercises.EXERCISE_BITS
    sums, bits = ([*lists[name], *blank][: exercises.EXERCISE_BITS] for name in ("s", "f"))
    distance = single.get("d", "")
    for answer in (*sums, *bits, distance):
        _check_length(answer, 20)
    marks = grade(found, sums, bits, distance) if "check" in single else None
    return ExerciseAnswers(found, sums, bits, distance, marks)


def _read_plot(fields: dict[str, str]) -> Plot:
    bits = _parse_int(fields, "pbits", WIDTHS[0], WIDTHS[-1])
    points = model.model_points(bits)
    radius = _parse_int(fields, "r", 0, min(model.MAX_PLOT_RADIUS, bits))
    try:
        share = float(fields["p"]) if len(fields["p"]) < 10 else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100 * model.SHARES[-1]:
        most = int(100 * model.SHARES[-1])
        raise LessonError("refused.number", field="p", value=fields["p"][:20], least=0, most=most)
    return Plot(bits, radius, share / 100, points)


def _repeats(weight: float) -> int:
    return int(weight) if weight in (2.0, 3.0) else 1


def _parse_int(fields: dict[str, str], name: str, least: int, most: int) -> int:
    text = fields[name].strip()
    if not re.fullmatch(r"[0-9]{1,4}", text) or not least <= int(text) <= most:
        raise LessonError("refused.number", field=name, value=text[:20], least=least, most=most)
    return int(text)


def _check_length(text: str, most: int) -> None:
    if len(text) > most:
        raise LessonError("refused.text", n=len(text), most=most)
