"""neardup recipes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import neardup as nd


def test_all_presets(run: Callable[..., Any]) -> None:
    ran = run("recipes")
    assert ran.code == 0
    for name in nd.Recipe.presets():
        assert f"{name}  " in ran.out
    assert "tokens=chars" in ran.out
    # The default shows all of its settings, the others what differs.
    shown = " ".join(ran.out.split())
    assert "version=3, normalize=standard, tokens=words, ngram=1" in shown
    assert "made with it version=2, normalize=nfkc_casefold simhash" in shown
    assert "One in full: neardup recipes NAME" in ran.out


@pytest.mark.parametrize("name", ["simhash", "default-2"])
def test_one_in_full(run: Callable[..., Any], name: str) -> None:
    ran = run("recipes", name)
    recipe = nd.Recipe.preset(name)
    lines = dict(line.split(None, 1) for line in ran.out.splitlines()[1:])
    assert lines["version"] == str(recipe.version)
    assert lines["normalize"] == recipe.normalize
    assert lines["tokens"] == recipe.tokens
    assert lines["bits"] == str(recipe.bits)
    assert lines["stopwords"] == "-"
    assert lines["identity"] == recipe.identity


def test_json(run: Callable[..., Any]) -> None:
    every = json.loads(run("recipes", "--json").out)
    assert {one["name"]: one["description"] for one in every} == nd.Recipe.presets()
    for one in every:
        assert one == json.loads(run("recipes", one["name"], "--json").out)
        assert one["identity"] == nd.Recipe.preset(one["name"]).identity


def test_an_unknown_name_lists_the_choices(run: Callable[..., Any]) -> None:
    ran = run("recipes", "defualt")
    assert ran.code == 2
    assert ran.err.startswith("neardup: Invalid value for NAME: ")
    assert len(ran.err.splitlines()) == 1
    for name in nd.Recipe.presets():
        assert name in ran.err
