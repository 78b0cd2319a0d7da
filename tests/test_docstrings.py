"""The examples in docstrings run and show what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "near.clusters",
        "collection.collection",
        "near.dedup",
        "copying.check",
        "copying.rules",
        "text.fingerprint",
        "near.frames",
        "near.pairs",
        "text.passages",
        "text.similarity",
    ],
)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"neardup.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
