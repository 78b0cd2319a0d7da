"""Query parameters of the page Learn → its lessons. A lesson with bad parameters has an error; the
others are computed all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup._util.lazy import lazy
from neardup.service.learning import exercises
from neardup.service.learning.exercises import (
    BLOCKS_EXAMPLE,
    FIRST_EXAMPLE,
    Exercise,
    Grades,
    grade,
)
from neardup.service.learning.radius import (
    MAX_BLOCK_RADIUS,
    MAX_LEVELS,
    MAX_PLOT_RADIUS,
    SHARES,
    BlockTable,
    ModelPoint,
    block_table,
    measured_recall,
    model_point,
    model_points,
)
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

Items = Sequence[tuple[str, str]]

MAX_TEXT = 1000
# Two texts of this length fit an address: each character takes up to nine there.
MAX_LINES = 2000
# The fields of each form; hidden fields repeat those of the others, so the address has all of them.
WORD_FIELDS = frozenset(("as", "a", "b", "recipe", "bits", "t", "w", "h"))
BLOCK_FIELDS = frozenset(("stored", "query", "k", "levels", "flip"))
EXERCISE_FIELDS = frozenset(("e", "s", "f", "d", "check"))
PLOT_FIELDS = frozenset(("pbits", "r", "p"))
COMMON_FIELDS = frozenset(("lang", "theme"))


@dataclass(frozen=True)
class WorkedSteps:
    """The steps of the first text, and of the second if there is one; `given` are typed hashes."""

    first: Steps
    second: Steps | None
    comparison: StepsComparison | None
    given: dict[str, str]

    @lazy
    def editable(self) -> bool:
        """Whether the words of both texts fit the form of words with weights."""
        both = [self.first, self.second] if self.second else [self.first]
        return all(
            len(each.explanation.features) <= MAX_WORDS
            and len(format_words(each.words(self.given))) <= MAX_LINES
            for each in both
        )

    def plain_words(self, steps: Steps | None) -> str:
        """Return the words without weights; a word of weight 2 or 3 is repeated."""
        found = () if steps is None else steps.explanation.features
        return " ".join(" ".join([f.token] * _repeats(f.weight)) for f in found)

    def to_dict(self) -> dict[str, Any]:
        return {
            "width": self.first.width,
            "first": self.first.explanation.to_dict(),
            "second": self.second and self.second.explanation.to_dict(),
            "beside": self.comparison and self.comparison.to_dict(),
        }

    def second_lines(self) -> str:
        """Return the second text as lines of words; "" if it cannot be edited."""
        if self.second is None or not self.editable:
            return ""
        return format_words(self.second.words(self.given))


@dataclass(frozen=True)
class ExerciseAnswers:
    """An exercise and the answers; `grades` is None until they are checked."""

    exercise: Exercise
    sums: list[str]
    bits: list[str]
    distance: str
    grades: Grades | None


@dataclass(frozen=True)
class Plot:
    """The model of edited copies, with the radius and the share of the sliders."""

    bits: int
    radius: int
    share: float
    points: list[ModelPoint]

    @property
    def at(self) -> ModelPoint:
        return model_point(self.share, self.bits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "bits": self.bits,
            "radius": self.radius,
            "share": self.share,
            "measured": [[*x] for x in sorted(measured_recall(self.bits, self.radius).items())],
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
    """All lessons of the page; a lesson is None if it failed, and `errors` has why, by lesson."""

    fields: dict[str, str]
    steps: WorkedSteps | None = None
    blocks: BlockTable | None = None
    exercise: ExerciseAnswers | None = None
    plot: Plot | None = None
    errors: dict[str, LessonError] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON page."""
        return {
            **(self.steps.to_dict() if self.steps else {}),
            "blocks": self.blocks and self.blocks.to_dict(),
            "plot": self.plot and self.plot.to_dict(),
            "exercise": self.exercise and self.exercise.exercise.to_dict(),
        }


def read_lessons(items: Items, language: str) -> Lessons:
    """Compute the lessons by the parameters of an address; missing ones are those of an example."""
    single = dict(reversed(items))
    fields = {
        **FIRST_EXAMPLE[language],
        **BLOCKS_EXAMPLE,
        "e": "1",
        "pbits": "64",
        "r": "3",
        "p": "5",
    }
    # A first text of the user is not compared with the second text of the example.
    if "a" in single or "t" in single:
        fields |= {"b": "", "as": "text", "recipe": "default"}
    fields |= {name: value for name, value in single.items() if name in fields}
    lists = {name: [v for n, v in items if n == name] for name in ("t", "w", "h", "s", "f")}
    lessons = Lessons(fields)
    readers: dict[str, Callable[[], Any]] = {
        "steps": lambda: _read_steps(fields, lists),
        "blocks": lambda: _read_blocks(fields, single.get("flip")),
        "exercise": lambda: _read_exercise(fields, lists, single, language),
        "plot": lambda: _read_plot(fields),
    }
    for name, read in readers.items():
        try:
            setattr(lessons, name, read())
        except LessonError as error:
            lessons.errors[name] = error
    if lessons.blocks is not None and "flip" in single:
        fields["query"] = lessons.blocks.format_query(hexadecimal="x" in fields["query"])
    return lessons


def other_fields(items: Items, own: frozenset[str]) -> list[tuple[str, str]]:
    """Return the parameters of the other forms."""
    known = (WORD_FIELDS | BLOCK_FIELDS | EXERCISE_FIELDS | PLOT_FIELDS | COMMON_FIELDS) - own
    return [(name, value) for name, value in items if name in known and name != "flip"]


def _join_words(lists: dict[str, list[str]]) -> str:
    """Join the words, weights and hashes of the table to lines."""
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
    if kind not in ("text", "words"):
        raise LessonError("refused.kind", value=kind[:20])
    for name in ("a", "b"):
        _check_length(fields[name], MAX_TEXT if kind == "text" else MAX_LINES)
    given: dict[str, str] = {}
    second = None
    if kind == "text":
        first = steps_of_text(fields["a"], fields["recipe"], bits)
        if fields["b"]:
            second = steps_of_text(fields["b"], fields["recipe"], bits)
    else:
        words, others = parse_words(fields["a"]), parse_words(fields["b"])
        given = typed_hashes(words, others)
        first = steps_of_words(words, fields["recipe"], bits, given)
        if others:
            second = steps_of_words(others, fields["recipe"], bits, given)
    return WorkedSteps(first, second, compare_steps(first, second) if second else None, given)


def _read_blocks(fields: dict[str, str], flip: str | None) -> BlockTable:
    _check_length(fields["stored"], MAX_TEXT)
    _check_length(fields["query"], MAX_TEXT)
    radius = _parse_int(fields, "k", 0, MAX_BLOCK_RADIUS)
    bit = None if flip is None else _parse_int({"flip": flip}, "flip", 0, 63)
    levels = _parse_int(fields, "levels", 1, MAX_LEVELS)
    return block_table(fields["stored"], fields["query"], radius, bit, levels)


def _read_exercise(
    fields: dict[str, str], lists: dict[str, list[str]], single: dict[str, str], language: str
) -> ExerciseAnswers:
    number = _parse_int(fields, "e", 1, exercises.MAX_NUMBER)
    exercise = exercises.make_exercise(number, language)
    blank = [""] * exercises.EXERCISE_BITS
    sums, bits = ([*lists[name], *blank][: exercises.EXERCISE_BITS] for name in ("s", "f"))
    distance = single.get("d", "")
    for answer in (*sums, *bits, distance):
        _check_length(answer, 20)
    grades = grade(exercise, sums, bits, distance) if "check" in single else None
    return ExerciseAnswers(exercise, sums, bits, distance, grades)


def _read_plot(fields: dict[str, str]) -> Plot:
    bits = _parse_int(fields, "pbits", WIDTHS[0], WIDTHS[-1])
    points = model_points(bits)
    radius = _parse_int(fields, "r", 0, min(MAX_PLOT_RADIUS, bits))
    try:
        share = float(fields["p"]) if len(fields["p"]) < 10 else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100 * SHARES[-1]:
        most = int(100 * SHARES[-1])
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
