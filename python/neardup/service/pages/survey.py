"""Who is nearest to whom in the collection: of a sample, made in the background, kept until the
documents change."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.service.pages.check import floor_of
from neardup.service.worker_pool import BusyError

if TYPE_CHECKING:
    from neardup.collection import Collection, Stored
    from neardup.service.state import Service

SAMPLE = 1_000
# Seconds all of it may take, and one turn, after which others are let through the door.
BUDGET, TURN = 30.0, 0.05
# Seconds after which a survey is made anew if documents have changed.
RENEW = 30.0
# Steps of the histogram between 0 and 1.
STEPS = 50
# Documents of a sample that are asked about at once, and keys that are tried for each at most.
FEW, MOST_TRIES = 2, 50
# Of one page; the rows of a whole small collection are read so.
PAGE = 20


class NearestDocument(NamedTuple):
    """A document of the sample and the one nearest to it."""

    left: str
    right: str
    similarity: float
    distance: int | None


@dataclass
class Survey:
    """What is known so far. It is changed by one turn after the other.

    documents   of the collection when it began
    wanted      documents to be asked about; `done` were, of which `without_signal` have too few
                words, and `alone` have no other from `floor` on
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
        """Documents by the similarity of the nearest, in steps."""
        counts = [0] * STEPS
        for each in self.nearest:
            counts[step_of(each.similarity)] += 1
        return counts

    def pairs(self) -> list[NearestDocument]:
        """Each pair once, the most similar first."""
        found: dict[tuple[str, str], NearestDocument] = {}
        for each in self.nearest:
            key = min(each.left, each.right), max(each.left, each.right)
            found.setdefault(key, each)
        return sorted(found.values(), key=lambda each: (-each.similarity, each.left, each.right))

    def as_dict(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "asked": self.done,
            "without_signal": self.without_signal,
            "floor": self.floor,
            "alone": self.alone,
            "finished": self.finished,
            "step": 1 / STEPS,
            "counts": self.counts(),
        }


def step_of(similarity: float) -> int:
    # A cosine of 0.86 may be a hair less.
    return min(int(similarity * STEPS + 1e-9), STEPS - 1)


class Surveyor:
    """Makes surveys, one at a time. Used by the loop only."""

    def __init__(self, service: Service, *, sample: int = SAMPLE, seed: int | None = None) -> None:
        self._service = service
        self._sample = sample
        self._random = random.Random(seed)
        self._shown: Survey | None = None
        self._running: asyncio.Task[Survey] | None = None

    async def look(self, patience: float) -> Survey | None:
        """The survey of now, or what there is of it after so many seconds; one that is a little
        old while a newer one is made."""
        moment = await self._service.run(_moment, self._service.collection)
        shown = self._shown
        if self._running is None and (
            shown is None or (shown.moment != moment and time.monotonic() - shown.began > RENEW)
        ):
            self._running = asyncio.create_task(self._make())
            self._running.add_done_callback(self._ended)
        if self._running is not None and (shown is None or not shown.finished):
            await asyncio.wait([self._running], timeout=patience)
        return self._shown

    def _ended(self, task: asyncio.Task[Survey]) -> None:
        self._running = None
        # Whatever failed is tried again by the next who asks.
        if not task.cancelled():
            task.exception()

    async def _make(self) -> Survey:
        survey = await self._service.run(self._begun)
        if self._shown is None or not self._shown.finished:
            self._shown = survey
        places = await self._service.run(self._places, survey)
        while not survey.finished and self._service.ready:
            try:
                await self._service.run(turn, self._service.collection, survey, places)
            except BusyError:
                await asyncio.sleep(0.5)
            # As long again the processors are for others, who are in a hurry.
            await asyncio.sleep(TURN)
        self._shown = survey
        return survey

    def _begun(self) -> Survey:
        collection = self._service.collection
        documents = len(collection)
        wanted = min(documents, self._sample) if collection.stores_text else 0
        return Survey(collection.moment, documents, floor_of(documents), wanted)

    def _places(self, survey: Survey) -> list[int]:
        """Where documents are taken: at keys drawn at random; or after the first key, if all are.

        Many keys may be those of documents that are gone, and are drawn in vain."""
        if survey.documents <= self._sample:
            return [0]
        last = max(1, self._service.collection.last_place)
        tries = min(-(-2 * survey.wanted * last // survey.documents), MOST_TRIES * survey.wanted)
        return self._random.sample(range(1, last + 1), min(tries, last))


def _moment(collection: Collection) -> tuple[int, int]:
    return collection.moment


def turn(collection: Collection, survey: Survey, places: list[int]) -> None:
    """Asks about some more documents, for a twentieth of a second or so."""
    began = time.monotonic()
    while time.monotonic() - began < TURN:
        if not places or survey.done >= survey.wanted or began - survey.began > BUDGET:
            survey.finished = True
            return
        _ask(collection, survey, _taken(collection, survey, places))


def _taken(collection: Collection, survey: Survey, places: list[int]) -> list[Stored]:
    """The next few documents; of a whole collection those of the next page."""
    if survey.documents == survey.wanted:
        found, following = collection.page(PAGE, after=places.pop())
        if following is not None:
            places.append(following)
        return found
    few: list[Stored] = []
    while places and len(few) < min(FEW, survey.wanted - survey.done):
        key = places.pop()
        found, following = collection.page(1, after=key - 1)
        # What comes after a gap would be drawn more often than others.
        if following in (key, None):
            few += found
    return few


def _ask(collection: Collection, survey: Survey, some: list[Stored]) -> None:
    survey.done += len(some)
    asked = [one for one in some if one.fingerprint is not None]
    survey.without_signal += len(some) - len(asked)
    if not asked:
        return
    # Itself and another one.
    table = collection.check([one.text for one in asked], survey.floor, n=2)
    best: dict[int, NearestDocument] = {}
    columns = (table[name].to_pylist() for name in ("query", "id", "similarity", "distance"))
    for query, id_, similarity, distance in zip(*columns, strict=True):
        if id_ != asked[query].id and query not in best:
            best[query] = NearestDocument(asked[query].id, id_, similarity, distance)
    survey.nearest += best.values()
    survey.alone += len(asked) - len(best)
