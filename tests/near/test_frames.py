"""Tables of texts → the same without near-duplicates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
ROWS: list[dict[str, Any]] = [
    {"title": "Harbour Street", "body": "closed to all traffic until Friday", "n": 1},
    {"title": "HARBOUR STREET", "body": "Closed to all traffic until Friday.", "n": 2},
    {"title": "Market Square", "body": "closed to all traffic until Friday", "n": 3},
    {"title": None, "body": "closed to all traffic until Friday", "n": 4},
    {"title": None, "body": None, "n": 5},
    {"title": None, "body": None, "n": 6},
    {"title": "", "body": "closed to all traffic until Friday", "n": 7},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def arrow_of(kind: Any) -> pa.Table:
    def column(values: list[Any]) -> pa.Array:
        plain = pa.array(values, pa.large_string())
        return kind(plain) if callable(kind) else plain.cast(kind)

    titles = {name: column(COLUMNS[name]) for name in ("title", "body")}
    return pa.table({**titles, "n": COLUMNS["n"]})


TABLES: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas object": lambda: pd.DataFrame(COLUMNS).astype({"title": object, "body": object}),
    "pandas category": lambda: pd.DataFrame(COLUMNS).astype({"title": "category"}),
    "pandas arrow": lambda: arrow_of(pa.string()).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars categorical": lambda: pl.DataFrame(COLUMNS).cast({"body": pl.Categorical}),
    "arrow string": lambda: arrow_of(pa.string()),
    "arrow large_string": lambda: arrow_of(pa.large_string()),
    "arrow string_view": lambda: arrow_of(pa.string_view()),
    "arrow dictionary": lambda: arrow_of(lambda column: column.dictionary_encode()),
    "arrow run_end_encoded": lambda: arrow_of(lambda x: pa.compute.run_end_encode(x)),
    "arrow chunks": lambda: pa.concat_tables(
        [arrow_of(pa.string()).slice(0, 3), arrow_of(pa.string()).slice(3)]
    ),
    "arrow batch": lambda: arrow_of(pa.string()).to_batches()[0],
}


def numbers(frame: Any) -> list[int]:
    column = frame["n"]
    return [int(n) for n in (column.to_pylist() if hasattr(column, "to_pylist") else column)]


@pytest.mark.parametrize("name", TABLES)
def test_one_column_or_several_of_every_kind(name: str) -> None:
    frame = TABLES[name]()
    by_body = nd.dedup_frame(frame, "body")
    assert type(by_body) is type(frame)
    assert numbers(by_body) == [1, 5, 6]
    assert numbers(nd.dedup_frame(frame, columns=["body"])) == [1, 5, 6]
    # A missing cell counts as empty; rows without any text are kept.
    by_both = nd.dedup_frame(frame, columns=["title", "body"], similarity=0.99)
    assert numbers(by_both) == [1, 3, 4, 5, 6]
    if isinstance(frame, pa.Table | pa.RecordBatch):
        assert by_both.schema == frame.schema
        assert by_both.to_pylist() == [ROWS[row] for row in (0, 2, 3, 4, 5)]
    best = nd.dedup_frame(frame, columns=("title", "body"), similarity=0.99, keep="best:n")
    assert numbers(best) == [2, 3, 5, 6, 7]


def test_empty_tables() -> None:
    for name, make in TABLES.items():
        frame = make()
        none = (
            frame[:0] if hasattr(frame, "iloc") or name.startswith("polars") else frame.slice(0, 0)
        )
        assert numbers(nd.dedup_frame(none, "body")) == []
        assert numbers(nd.dedup_frame(none, columns=["title", "body"])) == []


cells = st.none() | st.sampled_from(["", "one two three", "One two, three", "four five", "six"])


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(cells, cells, cells), max_size=12))
def test_columns_are_joined_as_by_hand(rows: list[tuple[str | None, ...]]) -> None:
    columns = dict(zip("abc", zip(*rows, strict=True), strict=True)) if rows else {}
    frame = pa.table({name: pa.array(columns.get(name, ()), pa.string()) for name in "abc"})
    frame = frame.append_column("n", [list(range(len(rows)))])
    texts = [
        None if all(cell is None for cell in row) else "\n".join(cell or "" for cell in row)
        for row in rows
    ]
    kept = nd.dedup(texts).kept.tolist()
    assert numbers(nd.dedup_frame(frame, columns=list("abc"))) == kept
    assert numbers(nd.dedup_frame(pl.from_arrow(frame), columns=list("abc"))) == kept


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, r"no column 'text' \(columns: 'title', 'body', 'n'\)"),
        ({"columns": ["title", "text"]}, ValueError, "no column 'text'"),
        ({"columns": []}, ValueError, "columns is empty; name at least one"),
        ({"columns": "body"}, TypeError, "columns is 'body'; it must be a list of names"),
        ({"column": ["title", "body"]}, TypeError, r"pass columns=\['title', 'body'\]"),
        ({"column": "body", "columns": ["n"]}, ValueError, "column and columns exclude each"),
        ({"column": "n"}, TypeError, "texts is a column of int64; it must be a column of strings"),
        ({"columns": ["body", "n"]}, TypeError, "texts is a column of int64"),
        ({"column": "body", "keys": [1]}, TypeError, "keys is not an option for tables; name the"),
        (
            {"column": "body", "pairs": True},
            TypeError,
            "pairs is not an option for tables; use nea",
        ),
        ({"column": "body", "keep": "best:x"}, ValueError, "no column 'x'"),
    ],
)
def test_what_cannot_be_is_refused(arguments: Any, error: Any, message: str) -> None:
    for frame in (pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)):
        with pytest.raises(error, match=message):
            nd.dedup_frame(frame, **arguments)


def test_a_query_that_has_not_run_is_refused() -> None:
    lazy: Any = pl.DataFrame(COLUMNS).lazy()
    message = "is a LazyFrame, a query that has not run yet; run it first and pass "
    with pytest.raises(TypeError, match=rf"frame {message}frame\.collect\(\)"):
        nd.dedup_frame(lazy, "body")
    for call in (nd.dedup, nd.fingerprints, nd.Recipe().fit):
        with pytest.raises(TypeError, match=rf"texts {message}texts\.collect\(\)\[COLUMN\]"):
            call(lazy)


@pytest.mark.parametrize("frame", [{"text": ["a b"]}, ["a b"], None, "a b"])
def test_what_is_no_table_is_refused(frame: Any) -> None:
    kind = type(frame).__name__
    with pytest.raises(TypeError, match=f"frame is of type {kind}; pass a pandas or Polars Data"):
        nd.dedup_frame(frame)


# ------------------------------------------------------------------------------ Hugging Face


class Dataset:
    """What `datasets.Dataset` 2.x to 5.x is asked for: the same methods, with the same answers."""

    def __init__(self, table: pa.Table, rows: list[int], kind: str | None = None) -> None:
        self.table, self.rows, self.kind = table, rows, kind

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def column_names(self) -> list[str]:
        names: list[str] = self.table.column_names
        return names

    def select_columns(self, names: list[str]) -> Dataset:
        return Dataset(self.table.select(names), self.rows, self.kind)

    def with_format(self, kind: str | None) -> Dataset:
        return Dataset(self.table, self.rows, kind)

    def select(self, rows: Any) -> Dataset:
        return Dataset(self.table, [self.rows[row] for row in rows], self.kind)

    def __getitem__(self, key: slice) -> Any:
        assert self.kind == "arrow", "any other format would make Python objects of all rows"
        return self.table.take(pa.array(self.rows, pa.int64()))[key]


class IterableDataset:
    column_names = ("text",)

    def with_format(self, kind: str) -> IterableDataset:
        raise AssertionError("must not be read")

    select_columns = with_format


def test_a_dataset_comes_back_without_its_duplicates() -> None:
    shuffled = Dataset(arrow_of(pa.string()), [3, 2, 5, 0, 1], "numpy")
    found = nd.dedup_dataset(shuffled, "body")
    assert (found.rows, found.kind, found.table) == ([3, 5], "numpy", shuffled.table)
    found = nd.dedup_dataset(
        shuffled, columns=["title", "body"], keep="best:n", similarity=0.99, threads=1
    )
    assert found.rows == [3, 2, 5, 1]
    assert nd.dedup_dataset(Dataset(arrow_of(pa.string()), []), "body").rows == []
    with pytest.raises(ValueError, match=r"no column 'text' \(columns: 'title', 'body', 'n'\)"):
        nd.dedup_dataset(shuffled)


def test_splits_and_streams_are_refused() -> None:
    one = Dataset(arrow_of(pa.string()), [0])
    with pytest.raises(TypeError, match="dataset is a dict with the splits 'train', 'test'; pass"):
        nd.dedup_dataset({"train": one, "test": one})
    for wrong in (IterableDataset(), ["a b"], pa.table(COLUMNS), pd.DataFrame(COLUMNS), None):
        kind = type(wrong).__name__
        with pytest.raises(TypeError, match=f"dataset is of type {kind}; pass a datasets.Dataset"):
            nd.dedup_dataset(wrong)


def test_the_error_for_a_missing_text_names_its_column() -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "title": ["x", 3]})
    asked: list[dict[str, Any]] = [{"column": "title"}, {"columns": ["text", "title"]}]
    for options in asked:
        with pytest.raises(TypeError, match="row 1 of the column 'title' is of type int"):
            nd.dedup_frame(frame, **options)


def test_frames_keep_their_kind_and_columns() -> None:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    kept = nd.dedup(texts, keep="best:n", keys=range(len(texts))).kept.tolist()
    columns: dict[str, list[Any]] = {"body": texts, "n": list(range(len(texts)))}
    frame = pd.DataFrame(columns, index=[f"row {n}" for n in columns["n"]])
    by_pandas = nd.dedup_frame(frame, "body", keep="best:n")
    assert by_pandas["n"].tolist() == kept
    assert by_pandas.index[0] == f"row {kept[0]}"
    assert nd.dedup_frame(pl.DataFrame(columns), "body", keep="best:n")["n"].to_list() == kept
    assert nd.dedup_frame(pa.table(columns), "body", keep="best:n")["n"].to_pylist() == kept
    with pytest.raises(ValueError, match=r"no column 'text' \(columns: 'body', 'n'\)"):
        nd.dedup_frame(frame)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
@pytest.mark.parametrize("encoded", [False, True])
def test_frames_of_every_string_type(kind: str, encoded: bool) -> None:
    def column(values: list[str | None]) -> pa.Array:
        made = pa.array(values, getattr(pa, kind)())
        if not encoded:
            return made
        indices = pa.array([None if x is None else at for at, x in enumerate(values)], pa.int32())
        return pa.DictionaryArray.from_arrays(
            indices, pa.array(["" if x is None else x for x in values], made.type)
        )

    texts = column(["the quick brown fox", None, "THE quick brown fox", "a lazy dog"])
    table = pa.table({"text": texts, "day": column(["1", "2", "3", "4"])})
    assert nd.dedup(table["text"]).kept.tolist() == [0, 1, 3]
    assert nd.dedup(texts, keep="newest:day", keys=table["day"]).kept.tolist() == [1, 2, 3]
    found = nd.dedup_frame(table, keep="newest:day")
    assert found.schema == table.schema
    assert found["day"].to_pylist() == ["2", "3", "4"]
    none = nd.dedup_frame(table.slice(0, 0))
    assert none.num_rows == 0


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow string"])
def test_distinguish(kind: str) -> None:
    rows = {**COLUMNS, "title": [f"room {n}" for n in COLUMNS["n"]]}
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow string": pa.table}[kind](rows)
    assert len(nd.dedup_frame(frame, columns=["body", "title"], similarity=0.7)) < len(ROWS)
    kept = nd.dedup_frame(
        frame, columns=["body", "title"], similarity=0.7, distinguish=["numbers", "order"]
    )
    assert numbers(kept) == COLUMNS["n"]
