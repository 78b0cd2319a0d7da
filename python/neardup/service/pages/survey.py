"""The survey of a collection: for each document of a sample, the one nearest to it.

It is computed in the background in short batches, which do not delay requests, and cached until
documents change. `survey_chart` draws the histogram of the similarities.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.reports.charts import Bar, Chart, Drawing, Tick, draw_chart
from neardup.service.pages.check import search_floor
from neardup.service.worker_pool import BusyError

if TYPE_CHECKING:
    from neardup.collection import Collection, Stored
    from neardup.reports.page import Wording
    from neardup.service.state import Service

SAMPLE_DOCUMENTS = 1_000
# For the whole survey, and for one batch.
SURVEY_SECONDS, BATCH_SECONDS = 30.0, 0.05
# A survey of older documents is shown this long before a new one is made.
RENEW_SECONDS = 30.0
# Bins of the histogram between 0 and 1.
BINS = 50
# Sampled documents looked up at once, and places tried for each at most.
QUERY_BATCH, MAX_TRIES = 2, 50
# Documents read at once if the sample is the whole collection.
PAGE_DOCUMENTS = 20


class NearestDocument(NamedTuple):
    """A document of the sample and the one nearest to it."""

    left: str
    right: str
    similarity: float
    distance: int | None


@dataclass
class Survey:
    """The survey so far; each batch adds to it.

    moment          version of the collection when it began
    documents       documents of the collection when it began
    floor           no document is searched below this similarity
    wanted          size of the sample
    done            documents looked up
    without_signal  of these, documents without a fingerprint
    alone           of these, documents with no other at `floor` or above
    """

    moment: tuple[int, int]
    documents: int
    floor: float
    wanted: int
    done: int = 0
    without_signal: int = 0
    alone: int = 0
    nearest: list[NearestDocument] = field(default_factory=list)
    finished: bool = False
    began: float = field(default_factory=time.monotonic)

    def counts(self) -> list[int]:
        """Return the number of documents in each bin of similarity."""
        counts = [0] * BINS
        for each in self.nearest:
            counts[bin_of(each.similarity)] += 1
        return counts

    def pairs(self) -> list[NearestDocument]:
        """Return each pair once, the most similar first."""
        pairs: dict[tuple[str, str], NearestDocument] = {}
        for each in self.nearest:
            key = min(each.left, each.right), max(each.left, each.right)
            pairs.setdefault(key, each)
        return sorted(pairs.values(), key=lambda each: (-each.similarity, each.left, each.right))

    def split(
        self, threshold: float, count: int
    ) -> tuple[list[NearestDocument], list[NearestDocument]]:
        """Return the pairs at or above a threshold and below it, those closest to it first."""
        pairs = self.pairs()
        near = [pair for pair in pairs if pair.similarity >= threshold]
        far = [pair for pair in pairs if pair.similarity < threshold]
        return near[::-1][:count], far[:count]

    def as_dict(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "asked": self.done,
            "without_signal": self.without_signal,
            "floor": self.floor,
            "alone": self.alone,
            "finished": self.finished,
            "step": 1 / BINS,
            "counts": self.counts(),
        }


def bin_of(similarity: float) -> int:
    # A cosine of 0.86 may be slightly less in floating point.
    return min(int(similarity * BINS + 1e-9), BINS - 1)


class Surveyor:
    """Makes surveys, one at a time. Not thread-safe: for the event loop only."""

    def __init__(
        self, service: Service, *, sample: int = SAMPLE_DOCUMENTS, seed: int | None = None
    ) -> None:
        self._service = service
        self._sample = sample
        self._random = random.Random(seed)
        self._latest: Survey | None = None
        self._running: asyncio.Task[Survey] | None = None

    async def latest(self, timeout: float) -> Survey | None:
        """Return the survey of the current documents, as far as it is after so many seconds.

        While a new one is made, the last finished one is returned.
        """
        moment = await self._service.run(_moment, self._service.collection)
        latest = self._latest
        if self._running is None and (
            latest is None
            or (latest.moment != moment and time.monotonic() - latest.began > RENEW_SECONDS)
        ):
            self._running = asyncio.create_task(self._make())
            self._running.add_done_callback(self._on_done)
        if self._running is not None and (latest is None or not latest.finished):
            await asyncio.wait([self._running], timeout=timeout)
        return self._latest

    def _on_done(self, task: asyncio.Task[Survey]) -> None:
        self._running = None
        # Retrieve the exception, so that asyncio does not log it; the next request tries again.
        if not task.cancelled():
            task.exception()

    async def _make(self) -> Survey:
        survey = await self._service.run(self._start)
        if self._latest is None or not self._latest.finished:
            self._latest = survey
        places = await self._service.run(self._sample_places, survey)
        while not survey.finished and self._service.ready:
            try:
                await self._service.run(survey_batch, self._service.collection, survey, places)
            except BusyError:
                await asyncio.sleep(0.5)
            # Leave half of the time to requests.
            await asyncio.sleep(BATCH_SECONDS)
        self._latest = survey
        return survey

    def _start(self) -> Survey:
        collection = self._service.collection
        documents = len(collection)
        wanted = min(documents, self._sample) if collection.stores_text else 0
        return Survey(collection.moment, documents, search_floor(documents), wanted)

    def _sample_places(self, survey: Survey) -> list[int]:
        """Return places of documents at random, or the first place if all are sampled.

        Removed documents leave gaps, so more places are draw_chart than documents wanted.
        """
        if survey.documents <= self._sample:
            return [0]
        last = max(1, self._service.collection.last_place)
        tries = min(-(-2 * survey.wanted * last // survey.documents), MAX_TRIES * survey.wanted)
        return self._random.sample(range(1, last + 1), min(tries, last))


def _moment(collection: Collection) -> tuple[int, int]:
    return collection.moment


def survey_batch(collection: Collection, survey: Survey, places: list[int]) -> None:
    """Look up documents of the sample for `BATCH_SECONDS`."""
    began = time.monotonic()
    while time.monotonic() - began < BATCH_SECONDS:
        if not places or survey.done >= survey.wanted or began - survey.began > SURVEY_SECONDS:
            survey.finished = True
            return
        _find_nearest(collection, survey, _next_documents(collection, survey, places))


def _next_documents(collection: Collection, survey: Survey, places: list[int]) -> list[Stored]:
    if survey.documents == survey.wanted:
        page, following = collection.page(PAGE_DOCUMENTS, after=places.pop())
        if following is not None:
            places.append(following)
        return page
    documents: list[Stored] = []
    while places and len(documents) < min(QUERY_BATCH, survey.wanted - survey.done):
        place = places.pop()
        page, following = collection.page(1, after=place - 1)
        # Skip gaps: the document after a gap would be draw_chart more often than others.
        if following in (place, None):
            documents += page
    return documents


def _find_nearest(collection: Collection, survey: Survey, documents: list[Stored]) -> None:
    survey.done += len(documents)
    queries = [one for one in documents if one.fingerprint is not None]
    survey.without_signal += len(documents) - len(queries)
    if not queries:
        return
    # Two: the document itself and another one.
    table = collection.check([one.text for one in queries], survey.floor, n=2)
    best: dict[int, NearestDocument] = {}
    columns = (table[name].to_pylist() for name in ("query", "id", "similarity", "distance"))
    for query, id_, similarity, distance in zip(*columns, strict=True):
        if id_ != queries[query].id and query not in best:
            best[query] = NearestDocument(queries[query].id, id_, similarity, distance)
    survey.nearest += best.values()
    survey.alone += len(queries) - len(best)


@dataclass(frozen=True)
class SurveyChart:
    """The histogram, with the numbers that the script needs to move the threshold.

    first   the first bin that is draw_chart
    near    documents whose nearest is at or above the threshold
    """

    drawing: Drawing
    counts: Sequence[int]
    first: int
    bins: int
    near: int
    done: int


def survey_chart(survey: Survey, threshold: float, words: Wording) -> SurveyChart | None:
    """Return the histogram of a survey; None if it is empty."""
    counts = survey.counts()
    if not any(counts):
        return None
    first = bin_of(survey.floor)
    bars = []
    for at in range(first, BINS):
        near = sum(
            bin_of(each.similarity) == at and each.similarity >= threshold
            for each in survey.nearest
        )
        bars.append(Bar(f"{at / BINS:.2f}–{(at + 1) / BINS:.2f}", near, counts[at] - near))
    tenths = range(-(-first * 10 // BINS), 11)
    chart = Chart(
        name="survey",
        title=words("survey.title"),
        across=words("survey.across"),
        up=words("survey.up"),
        bars=bars,
        ticks=[Tick(tenth * BINS / 10 - first, f"{tenth / 10:g}") for tenth in tenths],
        threshold=Tick(max(threshold * BINS - first, 0), f"≥ {threshold:g}"),
        two_sided=True,
    )
    near = sum(each.similarity >= threshold for each in survey.nearest)
    return SurveyChart(draw_chart(chart, words), counts, first, BINS, near, survey.done)
