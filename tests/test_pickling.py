"""Results are plain data and can be sent; what is saved elsewhere says so."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd

TEXTS = ["the cat sat on the mat", "The cat sat on the mat!", "…", "we all scream for ice cream"]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301


WAYS = [copy.copy, copy.deepcopy, pickled]


@pytest.mark.parametrize("send", WAYS)
def test_an_index_says_how_it_is_saved(send: Callable[[Any], Any]) -> None:
    index = nd.Index(bits=64)
    index.add([1, 2])
    message = r"an Index can be neither pickled nor copied; use index.save\(path\), and neardup"
    with pytest.raises(TypeError, match=message):
        send(index)
    with pytest.raises(TypeError, match=message):
        send({"inside": [index]} if send is not copy.copy else index)


@pytest.mark.parametrize("send", WAYS)
def test_a_collection_says_where_it_is(send: Callable[[Any], Any], tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "seen.neardup") as seen:
        with pytest.raises(TypeError, match=r"a Collection can be neither.*open\('.*seen.neardup'"):
            send(seen)
        assert len(seen) == 0


@pytest.mark.parametrize("send", WAYS)
def test_values_and_results_are_plain_data(send: Callable[[Any], Any]) -> None:
    fitted = nd.Recipe(stopwords="en").fit(TEXTS)
    values: list[Any] = [
        nd.Recipe(),
        fitted,
        nd.Match("a", 3, 0.5),
        nd.compare(*TEXTS[:2]),
        nd.pairs_plan([1, 2, 3]),
        nd.explain(TEXTS[0]),
        nd.Feature("a", 1, 2.0),
    ]
    for value in values:
        assert send(value) == value
    assert send(fitted).identity == fitted.identity
    assert nd.fingerprint(TEXTS[0], send(fitted)) == nd.fingerprint(TEXTS[0], fitted)
    made = nd.fingerprints(TEXTS, fitted)
    sent = send(made)
    assert list(sent) == list(made)
    assert sent.recipe == made.recipe
    assert nd.distance(sent[:2], made[:2]).tolist() == [0, 0]


def test_what_is_sent_is_small() -> None:
    """A pipeline of some megabytes stays where it is."""
    recipe = nd.Recipe(tokens="jieba", weights="log")
    assert nd.fingerprint(TEXTS[0], recipe) is not None
    assert len(pickle.dumps(recipe)) < 2000
