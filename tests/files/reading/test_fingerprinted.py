"""Lines sketched or fingerprinted while they are read, against lines read before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup._util.arrow import as_column, string_buffers
from neardup.files.reading.batch import Precompute, Reading, Unreadable
from neardup.files.reading.inputs import read_batches

RECORDS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"text": st.text(max_size=200)},
            optional={
                "id": st.one_of(st.integers(), st.text(max_size=5), st.none()),
                "more": st.text(),
            },
        ),
        st.sampled_from([[1], {"text": 3}, {"other": "x"}, 7, {"text": None}]),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(
    records=RECORDS, columns=st.sampled_from([("text",), ("text", "more")]), sketches=st.booleans()
)
def test_both_ways_give_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[object],
    columns: tuple[str, ...],
    sketches: bool,
) -> None:
    path = tmp_path_factory.mktemp("lines") / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    recipe = nd.Recipe()
    reading = Reading(columns)
    problems: list[Unreadable] = []
    plain = list(read_batches(str(path), reading, problems.append))
    others: list[Unreadable] = []
    quick = list(
        read_batches(
            str(path), reading, others.append, making=Precompute(recipe.pipeline, sketches)
        )
    )
    assert others == problems
    assert len(plain) == len(quick)
    for batch, fingerprinted in zip(plain, quick, strict=True):
        assert fingerprinted.ids.equals(batch.ids)
        assert np.array_equal(fingerprinted.spans, batch.spans)
        if fingerprinted.made is None:
            # A number too large for the core: the block was read in Python.
            assert fingerprinted.texts.equals(batch.texts)
            continue
        made = nd.fingerprints(batch.texts, recipe)
        assert np.array_equal(fingerprinted.made.signal, made.signal)
        if sketches:
            texts = string_buffers(as_column(batch.texts))
            _, expected = recipe.pipeline.sketches_arrow(texts, None)
            assert fingerprinted.made.values is None
            assert fingerprinted.made.sketches is not None
            assert np.array_equal(fingerprinted.made.sketches, expected)
        else:
            assert fingerprinted.made.sketches is None
            assert fingerprinted.made.values is not None
            assert np.array_equal(fingerprinted.made.values, made.values)
        lengths = [len(text.encode()) for text in batch.texts.to_pylist()]
        assert fingerprinted.made.lengths.tolist() == lengths


def test_packed_lines_keep_their_texts(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "one two three"}\n'))
    (batch,) = read_batches(
        str(path), Reading(), print, making=Precompute(nd.Recipe().pipeline, True)
    )
    assert batch.made is None
    assert batch.texts.to_pylist() == ["one two three"]
