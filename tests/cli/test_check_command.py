"""neardup check."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd

ESSAYS = Path(__file__).parents[2] / "examples" / "essays.jsonl"
TASK = ESSAYS.with_name("task.txt")


def test_the_summary(run: Callable[..., Any]) -> None:
    ran = run("check", ESSAYS, "--template", TASK)
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert lines[0] == "documents   8 checked with each other"
    assert lines[1].startswith("copied      ")
    assert any("ben: " in line and "from amira" in line for line in lines[2:])
    assert not any("hana" in line for line in lines)
    shares = [float(line.split()[0]) for line in lines[2:]]
    assert shares == sorted(shares, reverse=True)
    assert len(set(shares)) > 1


def test_everything_as_json(run: Callable[..., Any]) -> None:
    found = json.loads(run("check", ESSAYS, "--template", TASK, "--json").out)
    assert (found["documents"], found["unreadable"], found["among"]) == (8, 0, True)
    assert found["threshold"] == 0.3
    by_id = {each["id"]: each for each in found["findings"]}
    assert by_id["ben"]["sources"][0]["source"] == "amira"
    assert by_id["hana"]["sources"] == []
    assert set(by_id["ben"]["sources"][0]) == {
        *("source", "source_share", "source_own_share", "words", "longest", "similarity")
    }
    assert by_id["emil"]["unquoted"] < by_id["emil"]["share"]
    assert set(by_id["gao"]["by_characters"]) == {"share", "unquoted", "largest"}


def test_options_reach_the_check(run: Callable[..., Any], tmp_path: Path) -> None:
    def share(*options: object) -> float:
        found = json.loads(run("check", ESSAYS, "--json", *options).out)
        return float({each["id"]: each for each in found["findings"]}["emil"]["share"])

    plain = share("--template", TASK)
    assert plain > 0
    assert share("--template", TASK, "--ignore-quotations") == 0
    assert share("--template", TASK, "--min-words", 30) == 0
    assert share("--template", TASK, "--exclude", "amira", "--exclude", "chloe") == 0
    # The task is in six essays, and what Emil quotes in three.
    assert share("--common", 2) == 0
    assert share("--common", 5) == pytest.approx(plain, abs=0.03)
    assert share() > plain


def test_pages_and_table(run: Callable[..., Any], tmp_path: Path) -> None:
    report, table = tmp_path / "report", tmp_path / "table.csv"
    ran = run("check", ESSAYS, "--html", report, "-o", table, "--lang", "zh", "--anonymise")
    assert ran.code == 0
    assert f"wrote       {table}, {report}" in ran.out
    assert "文本复制检测报告" in (report / "index.html").read_text("utf-8")
    assert "文档 1," in table.read_text("utf-8")
    # The same again takes the place of the old pages; other files do not.
    assert run("check", ESSAYS, "--html", report).code == 0
    (report / "notes.txt").write_text("mine")
    ran = run("check", ESSAYS, "--html", report)
    assert ran.code == 2
    assert "holds 'notes.txt', which is not a page of a report" in ran.err


def test_a_table_on_standard_output(run: Callable[..., Any]) -> None:
    ran = run("check", ESSAYS, "-o", "-.csv", "--template", TASK)
    assert ran.out.splitlines()[0] == (
        "id,share,unquoted,largest,source,source_share,source_own_share,words,longest,similarity"
    )
    assert "neardup: documents 8 checked with each other" in ran.err
    ran = run("check", ESSAYS, "-o", "-", "--json")
    assert ran.code == 2
    assert "would be mixed on standard output" in ran.err


def test_exit_codes(run: Callable[..., Any], tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(ESSAYS.read_text("utf-8") + "nonsense\n")
    ran = run("check", bad)
    assert ran.code == 3
    assert "bad.jsonl:9" in ran.err
    assert "; 1 unreadable" in ran.out
    ran = run("check", bad, "--strict", "--html", tmp_path / "report")
    assert ran.code == 3
    assert "nothing was written" in ran.err
    assert not (tmp_path / "report").exists()
    assert run("check", tmp_path / "none.jsonl").code == 1
    assert run("check", ESSAYS, "--threshold", 2).code == 2
    assert run("check", ESSAYS, "--common", "x").code == 2


def test_text_files_are_a_document_each(run: Callable[..., Any], tmp_path: Path) -> None:
    text = "the old lighthouse keeper climbed the narrow stairs every evening to light the lamp"
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"{name} {text}")
    found = json.loads(run("check", tmp_path, "--json").out)
    assert [Path(each["id"]).name for each in found["findings"]] == ["a.txt", "b.txt"]
    ran = run("check", tmp_path / "a.txt", "--against", tmp_path / "b.txt")
    assert ran.out.startswith("documents   1 checked against 1 text\n")


def test_options_from_a_file(run: Callable[..., Any], tmp_path: Path) -> None:
    config = tmp_path / "check.toml"
    config.write_text(f'input = ["{ESSAYS}"]\ntemplate = "{TASK}"\nthreshold = 0.01\n')
    ran = run("check", "--config", config, "--json")
    assert json.loads(ran.out)["threshold"] == 0.01


def test_a_share_in_a_file_of_options(run: Callable[..., Any], tmp_path: Path) -> None:
    config = tmp_path / "check.toml"
    config.write_text("threshold = 0.6")
    ran = run("check", ESSAYS, "--config", config)
    assert "at 60.0 % or more" in ran.out
    config.write_text('threshold = "0.6"')
    assert "threshold is '0.6'; it must be a number" in run("check", ESSAYS, "--config", config).err


def test_a_collection_is_no_input(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "all.neardup"
    nd.Collection.open(path).close()
    ran = run("check", path)
    assert ran.code == 2
    assert (
        f"a collection cannot be checked, only compared with: neardup check INPUT --against {path}"
        in (" ".join(ran.err.split()))
    )


def test_one_more_is_not_many(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "same.jsonl"
    text = "the old lighthouse keeper climbed the narrow stairs every evening"
    path.write_text((json.dumps({"text": text}) + "\n") * 11)
    assert "and 1 more that shares passages" in run("check", path).out


def test_a_slash_asks_for_a_folder(run: Callable[..., Any], tmp_path: Path) -> None:
    assert run("check", ESSAYS, "--html", f"{tmp_path}/h.html/").code == 0
    assert (tmp_path / "h.html" / "index.html").is_file()
    assert run("check", ESSAYS, "--html", f"{tmp_path}/one.html").code == 0
    assert (tmp_path / "one.html").is_file()
