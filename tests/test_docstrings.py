"""The examples in docstrings run and show what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "clusters",
        "collection.collection",
        "dedup",
        "evidence.copying",
        "evidence.quotations",
        "fingerprint",
        "frames",
        "pairs",
        "passages",
        "similarity",
    ],
)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"neardup.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
