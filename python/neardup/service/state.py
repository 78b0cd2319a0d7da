"""What a running service holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from neardup.collection import Collection, Outcome
from neardup.service.settings import ServiceSettings
from neardup.service.worker_pool import Busy, WorkerPool
from neardup.service.writer import Rows, Writer

if TYPE_CHECKING:
    from neardup.service.answers import Clustering


__all__ = ["Busy", "Service"]

P = ParamSpec("P")
T = TypeVar("T")

# Who may wait for /readyz and /metrics at once.
WATCHERS = 16
# Files that are read at once, each in a process of its own.
READERS = 2
# Requests that wait for clusters, or for a file to be read; one more is refused.
LONG_WAITING = 8


class Service:
    """A collection, its limits, and the doors to it. All work that takes longer than a moment goes
    through `run`; what is written goes through `add` and `remove`."""

    def __init__(
        self, collection: Collection, settings: ServiceSettings | None = None, *, demo: bool = False
    ) -> None:
        self.collection = collection
        self.settings = settings or ServiceSettings()
        self.demo = demo
        # Filled by `clustering`: by moment and similarity.
        self.clusterings: dict[tuple[tuple[int, int], float], Clustering] = {}
        self.door = WorkerPool(self.settings.workers, self.settings.queue)
        # A door of their own for those who watch: they neither wait for others nor take a place.
        self.watch = WorkerPool(1, WATCHERS)
        # What takes long has threads of its own, so that nobody else waits for it.
        self.clustering = WorkerPool(1, LONG_WAITING)
        self.reading = WorkerPool(READERS, LONG_WAITING)
        self.writer = Writer(collection, self.settings.write_queue, self.settings.write_bytes)
        # False from the moment it is told to stop.
        self.ready = True

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns, called in a thread; `Busy` if too many are waiting."""
        return await self.door.run(function, *args, **kwargs)

    async def add(
        self,
        documents: Rows,
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
    ) -> list[Outcome]:
        """Stores documents as `Collection.add`; when it returns, they are on the disk."""
        options: dict[str, Any] = {"unless_duplicate": unless_duplicate}
        options |= {"similarity": similarity, "radius": radius, "recall": recall}
        return await self.writer.add(documents, **options)

    async def remove(self, id_: str) -> bool:
        """Takes a document out; whether it was there."""
        return (await self.writer.remove([id_]))[0]

    def close(self) -> None:
        """Finishes what was accepted. The collection stays open: it is the caller's."""
        self.ready = False
        self.writer.close()
        for door in (self.door, self.watch, self.clustering, self.reading):
            door.close()


# A collection to begin with, made of the sample.


def demo_collection(folder: Path) -> Collection:
    """The sample as a collection in this folder, which must be empty."""
    found = Collection.open(folder / "demo.neardup", search=True, runs=True, durability="normal")
    lines = files("neardup.service").joinpath("sample.jsonl").read_text(encoding="utf-8")
    found.add([json.loads(line) for line in lines.splitlines()])
    return found
