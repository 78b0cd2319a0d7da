"""Jobs on captures: what they are compared with, and how the inputs are known as captures."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import neardup as nd
from helpers import httpx_captures
from neardup import jobs
from neardup.files.reading.batch import Reading, Unreadable
from neardup.files.reading.inputs import read_batches
from neardup.text.recipe import Recipe

HTTP = Recipe.preset("http")
WORDS = [f"word{number}" for number in range(13)]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return httpx_captures.write(tmp_path / "scan.jsonl", httpx_captures.mixed())


def items(count: int) -> str:
    """A page of lines of three words each."""
    chance = random.Random(1)
    lines = (" ".join(chance.choices(WORDS, k=3)) for _ in range(count))
    return f"<html><body><ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul></body></html>"


def refuse(problem: Unreadable) -> None:
    pytest.fail(str(problem))


def collected(path: Path, capture: Path, recipe: Recipe = HTTP, **how: Any) -> str:
    """A collection of the responses of a capture."""
    with nd.Collection.open(path, recipe=recipe, **how) as collection:
        for batch in read_batches(str(capture), Reading(viewing=recipe.viewing()), refuse):
            collection.add(list(zip(batch.ids.to_pylist(), batch.texts.to_pylist(), strict=True)))
    return str(path)


def share(capture: Path, against: str, **rules: Any) -> float:
    viewing = Recipe.preset("http-text").viewing()
    options = jobs.CheckOptions(against=[against], reading=Reading(viewing=viewing), rules=rules)
    (finding,) = jobs.check([str(capture)], options).copying.findings
    return finding.figures.share


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize("words", [6, 12])
def test_passages_of_short_lines_are_found_in_a_collection(
    tmp_path: Path, runs: bool, words: int
) -> None:
    one = httpx_captures.write(
        tmp_path / "a.jsonl", [httpx_captures.line("https://a.test/", items(60))]
    )
    two = httpx_captures.write(
        tmp_path / "b.jsonl", [httpx_captures.line("https://b.test/", items(60))]
    )
    seen = collected(tmp_path / "c.neardup", two, runs=runs)
    assert share(one, str(two), min_words=words) == 1
    assert share(one, seen, min_words=words) == 1


def without(*masks: str) -> Recipe:
    return HTTP.replace(masks=[mask for mask in HTTP.viewing().masks if mask not in masks])


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (without("dates", "ips"), "it lacks the masks dates, ips"),
        (Recipe.preset("http-headers"), "it lacks the views title, tags, keys, text, body"),
    ],
)
def test_other_views_are_not_compared(
    tmp_path: Path, capture: Path, recipe: Recipe, message: str
) -> None:
    seen = collected(tmp_path / "c.neardup", capture, recipe)
    options = jobs.Options(recipe=HTTP, reading=Reading(viewing=HTTP.viewing()), against=[seen])
    with pytest.raises(jobs.RefusedError, match=f"c.neardup: has other views.*{message}"):
        jobs.dedup([str(capture)], tmp_path / "out.jsonl", options)
    assert not (tmp_path / "out.jsonl").exists()
    # The other way round.
    first = collected(tmp_path / "h.neardup", capture)
    options = jobs.Options(
        recipe=recipe, reading=Reading(viewing=recipe.viewing()), against=[first]
    )
    with pytest.raises(jobs.RefusedError, match="only it has the"):
        jobs.dedup([str(capture)], tmp_path / "out.jsonl", options)


@pytest.mark.parametrize("recipe", [HTTP, HTTP.replace(views={**HTTP.views, "text": 9})])  # type: ignore[dict-item]
def test_the_same_views_are_compared_whatever_they_count(
    tmp_path: Path, capture: Path, recipe: Recipe
) -> None:
    seen = collected(tmp_path / "c.neardup", capture, recipe)
    options = jobs.Options(recipe=HTTP, reading=Reading(viewing=HTTP.viewing()), against=[seen])
    summary = jobs.dedup([str(capture)], tmp_path / "out.jsonl", options)
    assert (summary.kept, summary.removed) == (0, 17)


def test_texts_and_responses_are_not_compared(tmp_path: Path, capture: Path) -> None:
    responses = collected(tmp_path / "r.neardup", capture)
    texts = str(tmp_path / "t.neardup")
    with nd.Collection.open(texts) as collection:
        collection.add([("a", "the willow flowers, and not a day before")])
    prose = tmp_path / "prose.jsonl"
    prose.write_text(json.dumps({"id": "p", "text": "the willow flowers, and not a day"}))
    viewing = Reading(viewing=HTTP.viewing())
    out = tmp_path / "out.jsonl"
    of_texts = "t.neardup: a collection of texts \\(neardup"
    of_responses = "r.neardup: a collection of HTTP responses, and the inputs are texts"
    with pytest.raises(jobs.RefusedError, match=of_texts):
        jobs.dedup([str(capture)], out, jobs.Options(reading=viewing, against=[texts]))
    with pytest.raises(jobs.RefusedError, match=of_responses):
        jobs.dedup([str(prose)], out, jobs.Options(against=[responses]))
    with pytest.raises(jobs.RefusedError, match=of_texts):
        jobs.check([str(capture)], jobs.CheckOptions(reading=viewing, against=[texts]))
    with pytest.raises(jobs.RefusedError, match=of_responses):
        jobs.check([str(prose)], jobs.CheckOptions(against=[responses]))


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (without("dates"), "with other masks: it lacks the masks dates"),
        (Recipe.preset("http-structure"), "without their texts: it has status, tags, keys, body"),
    ],
)
def test_a_check_needs_texts_that_are_masked_alike(
    tmp_path: Path, capture: Path, recipe: Recipe, message: str
) -> None:
    seen = collected(tmp_path / "c.neardup", capture, recipe)
    viewing = Recipe.preset("http-text").viewing()
    options = jobs.CheckOptions(against=[seen], reading=Reading(viewing=viewing))
    with pytest.raises(jobs.RefusedError, match=message):
        jobs.check([str(capture)], options)


def har(path: Path) -> Path:
    entries = [
        {
            "request": {"url": row["url"]},
            "response": {
                "status": row["status_code"],
                "headers": [{"name": "Server", "value": row["webserver"]}],
                "content": {"mimeType": row["content_type"], "text": row["body"]},
            },
        }
        for row in httpx_captures.mixed()
    ]
    path.write_text(json.dumps({"log": {"entries": entries}}))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("recipe", ["http", HTTP, "http-text"])
def test_a_recipe_for_http_reads_captures(tmp_path: Path, capture: Path, recipe: Any) -> None:
    out, kinds = tmp_path / "out.jsonl", tmp_path / "kinds.jsonl"
    asked = jobs.Options(recipe=recipe, kinds=kinds, within="status")
    summary = jobs.cluster([str(capture)], out, asked)
    assert summary.kinds == len(rows_of(kinds)) > 1
    facts = ["url", "status", "title", "server", "length"]
    assert list(rows_of(out)[0])[4:] == [*facts, "differs", "lost"]
    viewing = Recipe.preset(recipe).viewing() if isinstance(recipe, str) else recipe.viewing()
    twin = tmp_path / "twin.jsonl"
    reading = Reading(viewing=viewing)
    jobs.cluster(
        [str(capture)], twin, jobs.Options(recipe=recipe, reading=reading, within="status")
    )
    assert out.read_bytes() == twin.read_bytes()


def test_the_name_of_a_capture_tells_the_recipe(tmp_path: Path) -> None:
    out, notes = tmp_path / "out.jsonl", list[str]()
    path = str(har(tmp_path / "site.har"))
    summary = jobs.cluster([path], out, jobs.Options(on_note=notes.append))
    assert (summary.kinds, summary.read) == (5, 17)
    assert "tokens=http" in summary.recipe
    (note,) = summary.notes
    assert note == f"{path} is a capture of HTTP responses, and read as such (--as http)"
    assert notes == [note]
    with pytest.raises(jobs.RefusedError, match='is for texts; use recipe="http", or leave it out'):
        jobs.cluster([path], out, jobs.Options(recipe="default"))
    (tmp_path / "a.txt").write_text("some text")
    with pytest.raises(jobs.RefusedError, match=r"site\.har is a capture .*a\.txt is not"):
        jobs.cluster([path, str(tmp_path / "a.txt")], out, jobs.Options())
    checked = jobs.check([path], jobs.CheckOptions())
    assert all("status 404" not in each.text for each in checked.copying.findings)


def test_a_job_on_texts_calls_nothing_of_http(tmp_path: Path) -> None:
    path, called = tmp_path / "in.jsonl", set[str]()
    path.write_text('{"text": "the cat sat on the mat"}\n' * 3)

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and "/neardup/http/" in frame.f_code.co_filename:
            called.add(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

    sys.setprofile(watch)
    try:
        summary = jobs.dedup([str(path)], tmp_path / "out.jsonl")
    finally:
        sys.setprofile(None)
    assert (summary.kept, called) == (1, set())


def test_views_that_were_written_are_texts_for_the_recipe(tmp_path: Path, capture: Path) -> None:
    views, out = tmp_path / "views.jsonl", tmp_path / "out.jsonl"
    (batch,) = read_batches(str(capture), Reading(viewing=HTTP.viewing()), refuse)
    texts = batch.texts.to_pylist()
    views.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    asked = jobs.Options(recipe="http", reading=Reading(format="jsonl"), linkage="star")
    summary = jobs.cluster([str(views)], out, asked)
    sizes = {row["cluster"]: row["size"] for row in rows_of(out)}
    assert summary.kinds is None
    assert sorted(sizes.values(), reverse=True) == httpx_captures.KINDS


@pytest.mark.parametrize("job", [jobs.dedup, jobs.cluster, jobs.pairs])
def test_labels_are_loaded_only_to_be_written(
    tmp_path: Path, capture: Path, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*paths: Any) -> Any:
        pytest.fail("labels were loaded")

    monkeypatch.setattr("neardup.http.labels.Labels.load", load)
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"text": "one two three"}\n')
    job([str(texts)], tmp_path / "a.jsonl", jobs.Options(report=tmp_path / "r.html"))
    job([str(capture)], tmp_path / "b.jsonl", jobs.Options(recipe="http"))


@pytest.mark.parametrize("threads", [1, 2, None])
def test_views_are_made_on_the_cores_asked_for(
    tmp_path: Path, capture: Path, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neardup.files.reading.jsonl import map_in_order
    from neardup.http.captures import reader
    from neardup.http.views import ViewBuilder

    seen: set[int | None] = set()
    pools: list[object] = []
    plain = ViewBuilder.build

    def build(self: ViewBuilder, responses: Any) -> Any:
        seen.add(self._threads)
        return plain(self, responses)

    def counted(*arguments: Any) -> Any:
        pools.append(arguments)
        return map_in_order(*arguments)

    monkeypatch.setattr(ViewBuilder, "build", build)
    monkeypatch.setattr(reader, "map_in_order", counted)
    monkeypatch.setattr(reader, "BATCH_ROWS", 4)
    out = tmp_path / "out.jsonl"
    summary = jobs.cluster([str(capture)], out, jobs.Options(recipe="http", threads=threads))
    assert (summary.read, summary.kinds) == (17, 5)
    assert seen == {threads}
    assert bool(pools) == (threads is None)
    seen.clear()
    rules = {} if threads is None else {"threads": threads}
    reading = Reading(viewing=HTTP.viewing())
    jobs.check([str(capture)], jobs.CheckOptions(reading=reading, rules=rules))
    assert seen == {threads}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_job_goes_on(tmp_path: Path, capture: Path) -> None:
    """By the command, in a process that ends as if the power had gone."""
    code = (
        "import os, signal, sys; from neardup.jobs.job import Job; from neardup.cli import main\n"
        "Job.match = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "main()"
    )
    work, out, kinds = (tmp_path / name for name in ("work", "out.csv", "kinds.csv"))
    arguments = ["cluster", capture, "--as", "http", "-o", out, "--kinds", kinds, "--within"]
    arguments += ["host", "--work-dir", work]
    command = [sys.executable, "-c", code, *map(str, arguments)]
    assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
    assert (work / "state.json").exists()
    assert not out.exists()
    never = (
        "from neardup.jobs import read; from neardup.cli import main\n"
        "read.spool_files = None\n"
        "main()"
    )
    command = [sys.executable, "-c", never, *map(str, arguments), "--resume"]
    again = subprocess.run(command, timeout=60, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    once = tmp_path / "once.csv"
    asked = jobs.Options(recipe="http", within="host", kinds=tmp_path / "k.csv")
    jobs.cluster([str(capture)], once, asked)
    assert out.read_bytes() == once.read_bytes()
    assert kinds.read_bytes() == (tmp_path / "k.csv").read_bytes()
    assert not work.exists()


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit is none")
def test_a_capture_larger_than_what_the_process_may_have(tmp_path: Path) -> None:
    """Of texts that are spooled nothing stays, in memory or mapped."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    pages = [items(20_000 + number).encode() for number in range(40)]
    path = tmp_path / "large.http"
    size = 0
    with path.open("wb") as file:
        while size < 1 << 30:
            for page in pages:
                size += file.write(head + b"Content-Length: %d\r\n\r\n" % len(page) + page)
    command = f"neardup cluster {path.name} --as http -o out.jsonl --json --quiet"
    found = subprocess.run(
        ["bash", "-c", f"ulimit -v 900000; exec {sys.executable} -m {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    summary = json.loads(found.stdout)
    assert summary["unreadable"] == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == summary["read"] > 1000
