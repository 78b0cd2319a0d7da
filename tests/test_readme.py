"""The examples of README.md and docs/*.md: every one runs and gives what is shown."""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from helpers import spark_client
from neardup import cli
from neardup.http.labels import Labels

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CHINESE = ROOT / "README.zh-CN.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run; the page shows one of them.
COST = re.compile(r"[\d.]+ seconds, [\d,]+ MB of memory")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
CHECKER = doctest.OutputChecker()


class Block(NamedTuple):
    language: str
    source: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in FENCE.finditer(text)
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where examples/ is, as in the repository, and where examples may write."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks(page: Path, folder: Path) -> None:
    """The blocks of a page are one session, from top to bottom."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language != "python":
            continue
        place = f"{page.name}:{block.line}"
        if "pyspark" in block.source:
            spark_client.load()
        if ">>>" not in block.source:
            assert "assert " in block.source, f"{place}: a block without any outcome"
            exec(compile(block.source, place, "exec"), names)  # noqa: S102
            continue
        assert _expects(block.source), f"{place}: a block without any outcome"
        test = doctest.DocTestParser().get_doctest(block.source, names, place, place, block.line)
        report: list[str] = []
        doctest.DocTestRunner(CHECKER).run(test, out=report.append, clear_globs=False)
        assert not report, "".join(report)
        names.update(test.globs)


def _expects(source: str) -> bool:
    examples = doctest.DocTestParser().get_examples(source)
    return any(example.want or "assert " in example.source for example in examples)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name, value in (("COLUMNS", "80"), ("PATH", path), ("PYTHONIOENCODING", "utf-8")):
        monkeypatch.setenv(name, value)
    for block in blocks(page):
        if block.language != "console":
            continue
        assert block.source.startswith("$ "), f"{page.name}:{block.line}: no command"
        silent = True
        for command, expected in _commands(block.source):
            output = [_shown(line) for line in _ran(command).decode().splitlines()]
            assert output == [_shown(line) for line in expected], (
                f"{page.name}:{block.line}: {command}"
            )
            silent = silent and not expected
        assert not silent, f"{page.name}:{block.line}: a block without any outcome"


def _ran(command: str) -> bytes:
    """Return both streams of a command line; one of neardup alone runs in this process."""
    if command.startswith("neardup ") and not re.search(r"[|<>&;$`]", command):
        written = io.BytesIO()
        printed = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            cli.run(shlex.split(command)[1:])
        return written.getvalue()
    with subprocess.Popen(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        return process.communicate(timeout=60)[0]


def _shown(line: str) -> str:
    return COST.sub("N seconds, N MB of memory", line.rstrip())


def _commands(source: str) -> list[tuple[str, list[str]]]:
    commands: list[tuple[str, list[str]]] = []
    for line in source.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line.rstrip())
    return commands


@pytest.mark.parametrize(
    "page", [*PAGES, CHINESE, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_other_blocks_and_links(page: Path, folder: Path) -> None:
    """Commands too long for a test name things that exist; recipes can be read."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for block in blocks(page):
        assert block.language in ("python", "console", "sh", "toml", "text"), block
        if block.language == "sh":
            for line in block.source.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                assert words[:1] != ["make"] or words[1] in targets, line
        if block.language == "toml":
            tomllib.loads(block.source)
            Path("block.toml").write_text(block.source, encoding="utf-8")
            if "[[rule]]" in block.source:
                assert Labels.load("block.toml")
            else:
                assert nd.Recipe.load("block.toml").identity
    for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_the_chinese_readme_shows_what_the_english_one_does() -> None:
    """The same examples in the same order: those above were run. The same sections and pages."""
    english, chinese = ROOT / "README.md", CHINESE
    shown = [[block[:2] for block in blocks(page)] for page in (english, chinese)]
    assert shown[0] == shown[1]
    prose = [FENCE.sub("", page.read_text("utf-8")) for page in (english, chinese)]
    sections = [re.findall(r"^## ", text, re.MULTILINE) for text in prose]
    assert len(sections[0]) == len(sections[1])
    assert set(LINK.findall(prose[0])) ^ set(LINK.findall(prose[1])) == {
        "README.md",
        "README.zh-CN.md",
    }


def _twin() -> Any:
    (source,) = (
        block.source
        for block in blocks(ROOT / "docs" / "recipes.md")
        if block.language == "python" and "def fingerprint(" in block.source
    )
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102
    return names["fingerprint"]


TWIN = _twin()
WORDS = ["to", "be", "or", "not", "4", "x2", "it's", "Words", "3.14", "a.b"]


@given(
    st.one_of(
        st.text(st.characters(max_codepoint=127), max_size=200),
        st.text("aBc12_.:,;' \n", max_size=200),
        st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    )
)
def test_the_default_recipe_written_out_in_the_docs(text: str) -> None:
    assert TWIN(text) == nd.fingerprint(text)


@pytest.mark.parametrize("page", [ROOT / "README.md", CHINESE], ids=lambda page: page.name)
def test_the_table_of_presets_is_complete(page: Path) -> None:
    table = page.read_text("utf-8")
    named = re.findall(r"^\| `([\w-]+)` \|.*\| (\d+) \|$", table, re.MULTILINE)
    assert named == [(name, str(nd.Recipe.preset(name).bits)) for name in nd.Recipe.presets()]


def test_the_news_are_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = importlib.util.spec_from_file_location("ranking", ROOT / "examples" / "ranking.py")
    assert found is not None
    assert found.loader is not None
    ranking: Any = importlib.util.module_from_spec(found)
    found.loader.exec_module(ranking)
    # Fewer documents are enough to see that answers agree.
    ranking.COUNT, ranking.COPY = 1500, 644
    ranking.main(tmp_path)
    output = capsys.readouterr().out
    for title in ("TF-IDF, plain implementation", "SimHash, PyPI simhash"):
        assert f"{title}: the same" in output
    # The original, then its copy; lines are counted from 1.
    best = [re.search(rf"^  {rank} .*news.txt:(\d+)", output, re.MULTILINE) for rank in (1, 2)]
    assert [line and line[1] for line in best] == ["89", "645"]


def test_the_demo_runs(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), str(tmp_path)],
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    output = ran.stdout.decode()
    assert ran.stderr == b""
    assert "19  records removed" in output
    assert "22  records kept" in output
    assert re.search(r"recipe-lentil-blog +recipe-lentil +18 +0.878", output)
    assert (tmp_path / "report.html").as_uri() in output
    assert len((tmp_path / "kept.jsonl").read_text("utf-8").splitlines()) == 22
    assert "zh-recipe-beef" in (tmp_path / "report.html").read_text("utf-8")
