"""neardup fingerprint."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd

TEXTS = ["the quick brown fox jumps over the lazy dog", "今天天气很好我们去公园散步", "!"]


def code(text: str, recipe: nd.Recipe | str | None = None) -> str:
    value = nd.fingerprint(text, recipe)
    width = (nd.Recipe.preset(recipe) if isinstance(recipe, str) else recipe or nd.Recipe()).bits
    return "-" if value is None else f"{value:0{width // 4}x}"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.jsonl"
    lines = [json.dumps({"id": f"doc{n}", "text": text}) for n, text in enumerate(TEXTS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_prints_id_and_hexadecimal_digits(run: Callable[..., Any], sample: Path) -> None:
    ran = run("fingerprint", sample)
    assert ran.code == 0
    assert ran.out == "".join(f"doc{n}\t{code(text)}\n" for n, text in enumerate(TEXTS))
    assert ran.out.endswith("doc2\t-\n")
    assert ran.err.startswith("neardup: documents 3, without signal 1, unreadable 0, seconds ")


def test_quiet_says_nothing_more(run: Callable[..., Any], sample: Path) -> None:
    assert run("fingerprint", sample, "--quiet").err == ""


def test_files_lines_and_standard_input(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(TEXTS[:2]), encoding="utf-8")
    assert run("fingerprint", path).out == f"{path}\t{code(chr(10).join(TEXTS[:2]))}\n"
    by_line = "".join(f":{n}\t{code(text)}\n" for n, text in enumerate(TEXTS[:2], 1))
    assert run("fingerprint", path, "--lines").out.replace(str(path), "") == by_line
    ran = run("fingerprint", "--lines", "-", stdin=path.read_bytes())
    assert ran.out.replace("stdin", "") == by_line
    ran = run("fingerprint", "--jsonl", "-", stdin=b'{"id": 5, "text": "alpha beta"}')
    assert ran.out == f"5\t{code('alpha beta')}\n"


def test_json_lines(run: Callable[..., Any], sample: Path) -> None:
    rows = [json.loads(line) for line in run("fingerprint", sample, "--json").out.splitlines()]
    assert rows[0] == {"id": "doc0", "fingerprint": code(TEXTS[0]), "signal": True}
    assert rows[2] == {"id": "doc2", "fingerprint": None, "signal": False}


@pytest.mark.parametrize("bits", [8, 64, 256])
def test_recipe_and_bits(run: Callable[..., Any], sample: Path, bits: int) -> None:
    ran = run("fingerprint", sample, "--bits", bits)
    assert ran.out.splitlines()[0] == f"doc0\t{code(TEXTS[0], nd.Recipe(bits=bits))}"
    ran = run("fingerprint", sample, "--recipe", "simhash", "--threads", 1)
    assert ran.out.splitlines()[1] == f"doc1\t{code(TEXTS[1], 'simhash')}"


def test_a_recipe_file(run: Callable[..., Any], sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    recipe = nd.Recipe(bits=32, tokens="chars", ngram=3)
    recipe.save(path)
    ran = run("fingerprint", sample, "--recipe", path)
    assert ran.out.splitlines()[0] == f"doc0\t{code(TEXTS[0], recipe)}"


def test_other_columns(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"url": "http://a", "body": "alpha beta"}')
    ran = run("fingerprint", path, "--text-column", "body", "--id-column", "url")
    assert ran.out == f"http://a\t{code('alpha beta')}\n"


def test_unreadable_lines_are_reported_and_the_rest_goes_on(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "alpha beta"}\n' + b"oops\n" * 25 + b'{"text": "gamma delta"}\n')
    ran = run("fingerprint", path)
    assert ran.code == 3
    assert len(ran.out.splitlines()) == 2
    errors = ran.err.splitlines()
    assert errors[0] == f"neardup: {path}:2: not JSON (Expecting value at character 0)"
    assert errors[19].startswith(f"neardup: {path}:21: ")
    assert errors[20] == "neardup: 5 more unreadable, 25 in all"
    assert errors[21].startswith("neardup: documents 2, without signal 0, unreadable 25, ")


def test_ids_cannot_break_the_line(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "a\tb\n\x1b[31m\u202e", "text": "alpha beta"}))
    assert run("fingerprint", path).out.split("\t")[0] == r"a\tb\n\x1b[31m\u202e"


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_output_as_table(
    run: Callable[..., Any], tmp_path: Path, suffix: str, delimiter: str
) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / f"out{suffix}"
    source.write_text('{"id": "=1+1", "text": "alpha beta"}\n{"id": "b,\\"c", "text": ""}\n')
    ran = run("fingerprint", source, "-o", out)
    assert (ran.code, ran.out) == (0, "")
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=delimiter))
    identity = nd.Recipe().identity
    assert rows == [
        ["id", "fingerprint", "signal", "recipe"],
        ["'=1+1", code("alpha beta"), "true", identity],
        ['b,"c', "", "false", identity],
    ]


def test_output_as_json_lines_with_a_summary(
    run: Callable[..., Any], sample: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    ran = run("fingerprint", sample, "-o", out, "--json")
    summary = json.loads(ran.out)
    assert summary["documents"] == 3
    assert summary["no_signal"] == 1
    assert summary["unreadable"] == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["doc0", "doc1", "doc2"]
    assert rows[1]["fingerprint"] == code(TEXTS[1])
    assert rows[1]["recipe"] == summary["recipe"] == nd.Recipe().identity


def test_a_failed_run_leaves_the_old_output(
    run: Callable[..., Any], sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("json.dumps", fail)
    ran = run("fingerprint", sample, "-o", out)
    assert (ran.code, ran.err) == (1, "neardup: disk full\n")
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "sample.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.txt"], 1, "missing.txt: no such file"),
        (["."], 1, ".: a folder; pass the files in it"),
        ([], 2, "Missing argument 'INPUT"),
        (["-", "-"], 2, "standard input (-) can be read only once"),
        (["-", "--lines", "--jsonl"], 2, "cannot be combined with --jsonl"),
        (["-", "-o", "out.xyz"], 2, "unknown ending; use one of .jsonl, .csv, .tsv"),
        (["-", "--recipe", "simhsh"], 2, "simhash"),
        (["-", "--recipe", "missing.toml"], 2, "missing.toml"),
        (["-", "--bits", "7"], 2, "bits is 7"),
        (["-", "--bits", "many"], 2, "'--bits'"),
        (["-", "--threads", "0"], 2, "'--threads'"),
        (["-", "--recip", "simhash"], 2, "--recipe"),
        (["-", "-o", "no/such/folder/out.csv"], 1, "No such file"),
    ],
)
def test_wrong_use_is_one_line(
    run: Callable[..., Any],
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("fingerprint", *arguments)
    assert ran.code == code
    assert ran.out == ""
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("neardup: ")
    assert list(tmp_path.iterdir()) == []
