"""Jobs on captures: what they are compared with, and how the inputs are known as captures."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import captured
import neardup as nd
from neardup import jobs
from neardup.recipe import Recipe
from neardup.sources import Reading, Unreadable, read_batches

HTTP = Recipe.preset("http")
WORDS = [f"word{number}" for number in range(13)]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return captured.write(tmp_path / "scan.jsonl", captured.mixed())


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
    one = captured.write(tmp_path / "a.jsonl", [captured.line("https://a.test/", items(60))])
    two = captured.write(tmp_path / "b.jsonl", [captured.line("https://b.test/", items(60))])
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
    with pytest.raises(jobs.RefusedError, match=f"c.neardup: is a collection of other.*{message}"):
        jobs.dedup([str(capture)], tmp_path / "out.jsonl", options)
    assert not (tmp_path / "out.jsonl").exists()
    # The other way round.
    first = collected(tmp_path / "h.neardup", capture)
    options = jobs.Options(
        recipe=recipe, reading=Reading(viewing=recipe.viewing()), against=[first]
    )
    with pytest.raises(jobs.RefusedError, match="it alone has the"):
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
    of_texts = "t.neardup: is a collection of texts, made with neardup"
    of_responses = "r.neardup: is a collection of HTTP responses, and the inputs are texts"
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
        (without("dates"), "masked in another way: it lacks the masks dates"),
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
