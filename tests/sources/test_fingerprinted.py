"""Lines fingerprinted while they are read, against lines read and then fingerprinted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.fingerprint import firm_fingerprints
from neardup.sources import Reading, Unreadable, read_batches

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
@given(records=RECORDS, columns=st.sampled_from([("text",), ("text", "more")]))
def test_both_ways_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, records: list[object], columns: tuple[str, ...]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    recipe = nd.Recipe()
    reading = Reading(columns)
    problems: list[Unreadable] = []
    plain = list(read_batches(str(path), reading, problems.append))
    others: list[Unreadable] = []
    quick = list(read_batches(str(path), reading, others.append, pipeline=recipe.pipeline))
    assert others == problems
    assert len(plain) == len(quick)
    for batch, fingerprinted in zip(plain, quick, strict=True):
        assert fingerprinted.ids.equals(batch.ids)
        assert np.array_equal(fingerprinted.spans, batch.spans)
        if fingerprinted.made is None:
            # A number too large for the core: the block was read in Python.
            assert fingerprinted.texts.equals(batch.texts)
            continue
        made, firm = firm_fingerprints(batch.texts, recipe)
        assert np.array_equal(fingerprinted.made.values, made.values)
        assert np.array_equal(fingerprinted.made.signal, made.signal)
        assert np.array_equal(fingerprinted.made.firm, firm)
        lengths = [len(text.encode()) for text in batch.texts.to_pylist()]
        assert fingerprinted.made.lengths.tolist() == lengths


def test_packed_lines_keep_their_texts(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "one two three"}\n'))
    (batch,) = read_batches(str(path), Reading(), print, pipeline=nd.Recipe().pipeline)
    assert batch.made is None
    assert batch.texts.to_pylist() == ["one two three"]


def test_firm_bits_of_copies_seldom_differ() -> None:
    rng = np.random.default_rng(1)
    words = np.array([f"word{n}" for n in range(5000)])
    texts, copies = [], []
    for _ in range(300):
        chosen = words[rng.integers(0, len(words), 80)]
        edited = chosen.copy()
        edited[rng.integers(0, 80, 8)] = "changed"
        texts.append(" ".join(chosen))
        copies.append(" ".join(edited))
    recipe = nd.Recipe()
    (left, firm_left), (right, firm_right) = (
        firm_fingerprints(pa.array(made), recipe) for made in (texts, copies)
    )
    differ = (left.values ^ right.values) & firm_left & firm_right
    # About 0.62 of the bits are firm in one text; copies differ in hardly any that are in both.
    assert 0.5 < np.bitwise_count(firm_left).sum() / left.values.size / 64 < 0.7
    assert np.bitwise_count(differ).sum(axis=1).mean() < 1.5
    strangers = (
        (left.values ^ np.roll(right.values, 1, axis=0)) & firm_left & np.roll(firm_right, 1, 0)
    )
    assert np.bitwise_count(strangers).sum(axis=1).mean() > 20
