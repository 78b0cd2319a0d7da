"""neardup explain."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd

TEXT = "alpha beta 自然语言"


def test_a_text(run: Callable[..., Any]) -> None:
    ran = run("explain", "--text", TEXT, "--bits", 8)
    assert ran.code == 0
    assert ran.out == f"{nd.explain(TEXT, nd.Recipe(bits=8))}\n"


@pytest.mark.parametrize("bits", [1, 6, 17])
def test_any_width(run: Callable[..., Any], bits: int) -> None:
    ran = run("explain", "--text", TEXT, "--bits", bits)
    assert ran.out == f"{nd.explain(TEXT, bits=bits)}\n"
    assert f"fingerprint ({bits} bits): " in ran.out


def test_an_encoding(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="gb18030")
    assert run("explain", path, "--encoding", "gb18030").out == f"{nd.explain(TEXT)}\n"


def test_a_file_and_standard_input(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    expected = f"{nd.explain(TEXT, 'simhash')}\n"
    assert run("explain", path, "--recipe", "simhash").out == expected
    assert run("explain", "-", "--recipe", "simhash", stdin=path.read_bytes()).out == expected


@pytest.mark.parametrize(
    ("recipe", "shown"),
    [
        ("default", {"汉", "汉语", "语", "café", "34", "서울", "울에", "에", "서울에"}),
        ("default-2", {"漢", "漢語", "語", "café", "३४", "서울에"}),
        ("version = 2", {"漢", "漢語", "語", "café", "३४", "서울에"}),
        ('normalize = "fold"', {"汉", "汉语", "语", "cafe", "34", "서울", "울에", "에", "서울에"}),
        ('version = 2\nnormalize = "fold"', {"汉", "汉语", "语", "cafe", "34", "서울에"}),
    ],
)
def test_tokens_of_a_version_and_a_form(
    run: Callable[..., Any], tmp_path: Path, recipe: str, shown: set[str]
) -> None:
    if "=" in recipe:
        (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
        recipe = str(tmp_path / "recipe.toml")
    ran = run("explain", "--text", "漢語 Café ३४ 서울에", "--recipe", recipe, "--json")
    found = {feature["token"] for feature in json.loads(ran.out)["features"]}
    assert shown <= found, found
    # What else there is are syllables of Korean.
    assert all(len(token) == 1 and "가" <= token <= "힣" for token in found - shown)


def test_json(run: Callable[..., Any]) -> None:
    plain = json.loads(run("explain", "--text", TEXT, "--json").out)
    assert plain == nd.explain(TEXT).to_dict()


def test_no_signal(run: Callable[..., Any]) -> None:
    ran = run("explain", "--text", "?")
    assert ran.code == 0
    assert "no signal, so no fingerprint" in ran.out


@pytest.mark.parametrize("text", ["我爱", "hello", "a. b", "x" * 400])
def test_a_text_passed_as_a_file(run: Callable[..., Any], text: str) -> None:
    for command in (["explain", text], ["compare", text, text]):
        ran = run(*command)
        assert (ran.code, ran.out) == (1, "")
        shown = text if len(text) < 72 else "x" * 72 + "…"
        hint = "no such file; to pass the text itself, use --text"
        assert ran.err == f"neardup: {shown}: {hint}\n"


def test_a_missing_file(run: Callable[..., Any]) -> None:
    ran = run("explain", "no-such-file.txt")
    assert (ran.code, ran.err) == (1, "neardup: no-such-file.txt: No such file or directory\n")
