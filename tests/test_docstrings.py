"""The examples in docstrings run and print the result they show."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "python"
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCES.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_examples_of_public_functions_are_among_them() -> None:
    assert {"neardup.near.dedup", "neardup.near.pairs", "neardup.copying.check"} <= set(
        WITH_EXAMPLES
    )
