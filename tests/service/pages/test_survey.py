"""The survey of who is nearest to whom, against the plainest way to find out."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from neardup.collection import Collection
from neardup.service.pages import survey as surveys
from neardup.service.pages.survey import BINS, Survey, Surveyor, bin_of
from neardup.service.state import Service
from neardup.text.comparison import similarity

WORDS = [f"word{at}" for at in range(400)]


def texts(count: int, seed: int = 1) -> list[str]:
    """Some are edited copies of others."""
    drawn = random.Random(seed)
    found: list[str] = []
    for at in range(count):
        if at % 3 == 2:
            words = found[-1].split()
            for _ in range(drawn.randrange(12)):
                words[drawn.randrange(len(words))] = drawn.choice(WORDS)
            found.append(" ".join(words))
        else:
            found.append(" ".join(drawn.choices(WORDS, k=60)))
    return found


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = Collection.open(tmp_path / "c.neardup")
    found.add([(f"d{at}", text) for at, text in enumerate(texts(60))] + [("short", "hm")])
    return found


def surveyed(collection: Collection, **options: int) -> Survey:
    service = Service(collection)

    async def look() -> Survey:
        found = await Surveyor(service, **options).latest(30)
        assert found is not None
        return found

    try:
        return asyncio.run(look())
    finally:
        service.close()


def test_every_document_is_given_its_nearest(collection: Collection) -> None:
    found = surveyed(collection)
    assert found.finished
    assert (found.done, found.documents, found.without_signal) == (61, 61, 1)
    given = {f"d{at}": text for at, text in enumerate(texts(60))}
    nearest = {}
    for id_, text in given.items():
        alike = {
            other: similarity(text, theirs, collection.recipe)
            for other, theirs in given.items()
            if other != id_
        }
        best = max(alike.values())
        if best >= found.floor + 0.05:
            nearest[id_] = best
    told = {each.left: each.similarity for each in found.nearest}
    assert {id_: told.get(id_) for id_ in nearest} == pytest.approx(nearest)
    assert len(told) + found.alone == 60
    assert sum(found.counts()) == len(told)


def test_a_sample_is_drawn_from_a_larger_collection(collection: Collection) -> None:
    found = surveyed(collection, sample=20, seed=3)
    assert found.finished
    assert found.done == 20
    assert len({each.left for each in found.nearest}) == len(found.nearest)
    # Gaps are no reason to draw less.
    collection.remove([f"d{at}" for at in range(40)])
    found = surveyed(collection, sample=10, seed=4)
    assert (found.done, found.documents) == (10, 21)


def test_an_empty_collection_has_a_survey(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "e.neardup") as collection:
        found = surveyed(collection)
    assert found.finished
    assert found.done == 0


def test_copies_are_nearest_to_each_other(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "s.neardup") as collection:
        collection.add([(f"d{at}", "the same five words in all of them") for at in range(30)])
        found = surveyed(collection)
    assert len(found.nearest) == 30
    assert all(each.similarity == pytest.approx(1) for each in found.nearest)
    assert all(each.left != each.right for each in found.nearest)


def test_it_ends_when_its_time_is_over(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveys, "SURVEY_SECONDS", -1.0)
    found = surveyed(collection)
    assert found.finished
    assert found.done == 0


def test_it_is_kept_until_documents_change(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveys, "RENEW_SECONDS", 0.0)
    service = Service(collection)

    async def visits() -> list[Survey | None]:
        surveyor = Surveyor(service)
        found = [await surveyor.latest(30), await surveyor.latest(30)]
        collection.add([("new", "a few new words that were not there")])
        # The old one is shown while the new one is made.
        found.append(await surveyor.latest(0))
        end = time.monotonic() + 30
        while (shown := await surveyor.latest(0)) is found[0] and time.monotonic() < end:
            await asyncio.sleep(0.01)
        return [*found, shown]

    try:
        first, second, third, last = asyncio.run(visits())
    finally:
        service.close()
    assert first is second is third
    assert last is not first
    assert last is not None
    assert last.documents == 62


def test_a_place_without_a_document_draws_none(collection: Collection) -> None:
    """The document after a gap would be drawn more often than others."""
    collection.remove([f"d{at}" for at in range(10, 50)])
    for place, done in ((10, 1), (11, 0), (50, 0), (51, 1)):
        survey = Survey(collection.moment, len(collection), 0.3, wanted=5)
        surveys.survey_batch(collection, survey, [place])
        assert (place, survey.done) == (place, done)


def test_examples_are_the_closest_on_each_side(collection: Collection) -> None:
    found = surveyed(collection)
    for threshold in (0.0, 0.5, 0.9, 1.0):
        near, far = found.split(threshold, 3)
        every = sorted(each.similarity for each in found.pairs())
        above = [value for value in every if value >= threshold]
        below = [value for value in every if value < threshold]
        assert [each.similarity for each in near] == above[:3]
        assert [each.similarity for each in far] == below[::-1][:3]


def test_steps_hold_all_similarities() -> None:
    assert bin_of(0.0) == 0
    assert bin_of(1.0) == BINS - 1
    assert bin_of(0.86) == bin_of(0.8600001) == 43
