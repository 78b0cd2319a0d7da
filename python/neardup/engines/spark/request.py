"""What is asked of a DataFrame: which columns, what counts as near, who is kept, and how large a
task may be."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import check_int
from neardup.near.keep import Keep
from neardup.near.question import Linkage, Question, check_linkage, check_question
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Bytes of keys at once where a shuffle lies in memory.
SHUFFLE_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class Limits:
    """How large a task may be. The answer does not depend on it.

    task_bytes   bytes that come to a task, about: it holds some times as many in memory
    bucket_rows  a key of more rows is heavy: its rows are compared in another way
    group_rows   rows of heavy keys whose texts come to one task; more are cut into blocks
    count_keys   keys that are counted to find heavy ones: those of all rows, or of a sample
    few_edges    so many edges are contracted by one task
    moved_bytes  bytes of keys that lie in a shuffle at once, about; where there are more, some
                 tables of the plan are done after others
                 [default: 1 GiB on pysail, which holds them in memory; elsewhere all]
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
        """Tasks for so many bytes."""
        return max(1, min(100_000, -int(-count // self.task_bytes)))

    def rounds(self, sizes: Sequence[float], *, in_memory: bool) -> list[range]:
        """Which tables are done at once, if the keys of each have so many bytes: no more than fit,
        at least one, in rounds that are about equal.

        in_memory  whether what is moved lies in memory
        """
        most = self.moved_bytes or (SHUFFLE_MEMORY_BYTES if in_memory else None)
        if most is None:
            return [range(len(sizes))]
        # What is left of the division must not make a round of its own.
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
    """The whole question, checked. It goes to every task, so it is plain data."""

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
        """Similarity and recall, where a similarity is asked for."""
        similarity = self.question.similarity
        assert similarity is not None  # noqa: S101
        return similarity, self.question.recall

    @property
    def code_bytes(self) -> int:
        """Bytes of a fingerprint in a column."""
        return (self.recipe.bits + 7) // 8


def check_request(
    frame: DataFrame,
    text_column: str,
    id_column: str,
    order_by: str | Sequence[str] | None,
    *,
    similarity: float | None = None,
    radius: int | None = None,
    recall: float | None = None,
    keep: str = "first",
    linkage: Linkage = "star",
    recipe: RecipeLike = None,
    limits: Limits | None = None,
) -> SparkRequest:
    """What the user asked for, checked."""
    check_frame("df", frame)
    made = as_recipe(recipe)
    policy = Keep.parse(keep)
    check_linkage(linkage)
    if not isinstance(order_by, str | Sequence | None):
        raise TypeError(f"order_by is {order_by!r}; pass the name of a column, or several")
    by = (order_by,) if isinstance(order_by, str) else tuple(order_by or ())
    check_columns(frame, "df", text_column, id_column, *by, *filter(None, [policy.column]))
    check_text(frame, "df", text_column)
    return SparkRequest(
        made,
        check_question(similarity, radius, recall, bits=made.bits),
        text_column,
        id_column,
        by,
        policy,
        linkage,
        limits or Limits(),
    )


def check_frame(name: str, frame: Any) -> None:
    """Refuses what is no DataFrame of Spark."""
    if not all(hasattr(frame, need) for need in ("mapInArrow", "sparkSession", "schema")):
        raise TypeError(
            f"{name} is of type {type(frame).__name__}; pass a DataFrame of Spark. For tables in "
            "memory there is neardup.dedup_frame"
        )


def check_columns(frame: DataFrame, name: str, *columns: str) -> None:
    """Refuses a column that is not there."""
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"a column of {name} is {column!r}; pass its name, a str")
        if column not in frame.columns:
            raise ValueError(
                f"{name} has no column {column!r} (there is "
                f"{', '.join(map(repr, frame.columns)) or 'none'}); rows need texts and ids: name "
                "the columns with text_column= and id_column="
            )


def check_text(frame: DataFrame, name: str, column: str) -> None:
    """Refuses texts that are neither strings nor bytes."""
    kind = frame.schema[column].dataType.simpleString()
    if kind != "binary" and not kind.startswith(("string", "varchar", "char")):
        raise TypeError(
            f"the column {column!r} of {name} is of type {kind}; texts are strings, or bytes in "
            "UTF-8: pick another column, or cast it"
        )
