"""A request on a DataFrame, checked: columns, thresholds, keep policy, recipe, sizes of tasks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import check_int
from neardup.near.keep import Keep
from neardup.near.question import Linkage, Question, check_linkage, check_question
from neardup.text.differences import ASPECTS, check_distinguish
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Bytes of keys in a shuffle at a time, if the shuffle is held in memory.
SHUFFLE_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class Limits:
    """Sizes of tasks. They change time and memory, not the answer.

    task_bytes   approximate input bytes of a task; it needs a few times as much memory
    bucket_rows  a key with more rows is heavy: its rows are split into blocks
    group_rows   maximum rows of a dense group in one task; larger groups are split into blocks
    count_keys   keys counted to find the heavy ones: all keys, or those of a sample of rows
    few_edges    maximum edges of one task when connected components are found
    moved_bytes  approximate bytes of keys in a shuffle at a time; more are joined in several rounds
                 [default: 1 GiB on pysail, which holds a shuffle in memory; no limit elsewhere]
    """

    task_bytes: int = 32 << 20
    bucket_rows: int = 1 << 13
    group_rows: int = 1 << 16
    count_keys: int = 1 << 22
    few_edges: int = 1 << 21
    moved_bytes: int | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) is not None or each.name != "moved_bytes":
                check_int(each.name, getattr(self, each.name), 1, 2**40)

    def tasks(self, count: float) -> int:
        """Return the number of tasks for `count` bytes."""
        return max(1, min(100_000, -int(-count // self.task_bytes)))

    def rounds(self, sizes: Sequence[float], *, in_memory: bool) -> list[range]:
        """Divide the tables of a plan into rounds of about equal size, each within the limit.

        sizes      bytes of the keys of each table; a round has at least one table
        in_memory  whether the shuffle is held in memory
        """
        most = self.moved_bytes or (SHUFFLE_MEMORY_BYTES if in_memory else None)
        if most is None:
            return [range(len(sizes))]
        # Rounding errors must not add a round.
        share = sum(sizes) / max(1, -int(-sum(sizes) // most)) * (1 + 1e-9)
        ends, held = [0], 0.0
        for at, size in enumerate(sizes):
            if held and held + size > share:
                ends.append(at)
                held = 0.0
            held += size
        return [range(*between) for between in itertools.pairwise([*ends, len(sizes)])]


@dataclass(frozen=True)
class SparkRequest:
    """A checked request. It is pickled into every task."""

    recipe: Recipe
    question: Question
    text_column: str
    id_column: str
    order_by: tuple[str, ...]
    keep: Keep = field(default_factory=lambda: Keep("first"))
    linkage: Linkage = "star"
    limits: Limits = field(default_factory=Limits)

    @property
    def sketch(self) -> tuple[float, float]:
        """Similarity and recall, for the core. Only for requests by similarity."""
        similarity = self.question.similarity
        assert similarity is not None  # noqa: S101
        return similarity, self.question.recall

    @property
    def code_bytes(self) -> int:
        """Bytes of a fingerprint in a binary column."""
        return (self.recipe.bits + 7) // 8


def check_request(
    frame: DataFrame,
    columns: tuple[str, str, str | Sequence[str] | None],
    thresholds: tuple[float | None, int | None, float | None] = (None, None, None),
    recipe: RecipeLike = None,
    limits: Limits | None = None,
    keep: str = "first",
    linkage: Linkage = "star",
    *,
    distinguish: str | Iterable[str] | None = None,
) -> SparkRequest:
    """Check the arguments of a public function and return the request.

    columns     text_column, id_column, order_by
    thresholds  similarity, radius, recall
    """
    check_frame("df", frame)
    text_column, id_column, order_by = columns
    checked_recipe = as_recipe(recipe)
    policy = Keep.parse(keep)
    check_linkage(linkage)
    if not isinstance(order_by, str | Sequence | None):
        raise TypeError(f"order_by is {order_by!r}; pass a column name or a list of them")
    by = (order_by,) if isinstance(order_by, str) else tuple(order_by or ())
    check_columns(frame, "df", text_column, id_column, *by, *filter(None, [policy.column]))
    check_text(frame, "df", text_column)
    if "fields" in check_distinguish(distinguish, fields=True):
        raise ValueError(
            "distinguish has 'fields', which functions on DataFrames do not tell apart; run a job "
            f"(neardup dedup --engine spark), or pass one or more of {', '.join(ASPECTS)}"
        )
    question = check_question(*thresholds, bits=checked_recipe.bits, distinguish=distinguish)
    return SparkRequest(
        question.apply_to(checked_recipe),
        question,
        text_column,
        id_column,
        by,
        policy,
        linkage,
        limits or Limits(),
    )


def check_frame(name: str, frame: Any) -> None:
    """Raise TypeError if this is not a Spark DataFrame."""
    if not all(hasattr(frame, need) for need in ("mapInArrow", "sparkSession", "schema")):
        raise TypeError(
            f"{name} is of type {type(frame).__name__}; pass a Spark DataFrame, or use "
            "neardup.dedup_frame for tables in memory"
        )


def check_columns(frame: DataFrame, name: str, *columns: str) -> None:
    """Raise ValueError for a missing column."""
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"a column name of {name} is {column!r}; pass a str")
        if column not in frame.columns:
            raise ValueError(
                f"{name} has no column {column!r}; its columns: "
                f"{', '.join(map(repr, frame.columns)) or 'none'}. Name the columns of texts and "
                "ids with text_column= and id_column="
            )


def check_text(frame: DataFrame, name: str, column: str) -> None:
    """Raise TypeError if a column has neither strings nor bytes."""
    kind = frame.schema[column].dataType.simpleString()
    if kind != "binary" and not kind.startswith(("string", "varchar", "char")):
        raise TypeError(
            f"the column {column!r} of {name} is of type {kind}; texts must be strings or "
            "UTF-8 bytes: cast it, or name another column with text_column="
        )
