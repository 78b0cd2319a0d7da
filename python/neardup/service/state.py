"""The state of a running service: the collection, its thread pools, its writer."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from neardup.collection import Collection, Outcome
from neardup.service.settings import ServiceSettings
from neardup.service.worker_pool import WorkerPool
from neardup.service.writer import Rows, Writer

if TYPE_CHECKING:
    from neardup.service.answers import Clustering, ClusterQuestion

P = ParamSpec("P")
T = TypeVar("T")

# Requests that may wait for /readyz and /metrics.
MONITORING_QUEUE = 16
# Uploaded files parsed at the same time, each in a process.
UPLOAD_WORKERS = 2
# Requests that may wait for clusters, or for an uploaded file to be parsed.
SLOW_QUEUE = 8


class Service:
    """A collection with its settings, thread pools and writer.

    Blocking work goes through `run`, changes of documents through `add` and `remove`.
    """

    def __init__(
        self, collection: Collection, settings: ServiceSettings | None = None, *, demo: bool = False
    ) -> None:
        self.collection = collection
        self.settings = settings or ServiceSettings()
        self.demo = demo
        # By moment of the collection and question; written by the thread of `clustering_pool`.
        self.clustering_cache: dict[tuple[tuple[int, int], ClusterQuestion], Clustering] = {}
        self.pool = WorkerPool(self.settings.workers, self.settings.queue)
        # Health checks have their own pool, so load cannot delay them.
        self.monitoring_pool = WorkerPool(1, MONITORING_QUEUE)
        # Slow work has its own pools, so it cannot delay quick requests.
        self.clustering_pool = WorkerPool(1, SLOW_QUEUE)
        self.upload_pool = WorkerPool(UPLOAD_WORKERS, SLOW_QUEUE)
        self.writer = Writer(collection, self.settings.write_queue, self.settings.write_bytes)
        # False once the service is stopping.
        self.ready = True

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of the function, called in a thread; raise `BusyError` if full."""
        return await self.pool.run(function, *args, **kwargs)

    async def add(
        self,
        documents: Rows,
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
        distinguish: str | None = None,
    ) -> list[Outcome]:
        """Store documents as `Collection.add`; they are on disk when it returns."""
        options: dict[str, Any] = {"unless_duplicate": unless_duplicate}
        options |= {"similarity": similarity, "radius": radius, "recall": recall}
        options["distinguish"] = distinguish
        return await self.writer.add(documents, **options)

    async def remove(self, id_: str) -> bool:
        """Remove a document; return whether it existed."""
        return (await self.writer.remove([id_]))[0]

    def close(self) -> None:
        """Finish accepted work and end the threads. The caller closes the collection."""
        self.ready = False
        self.writer.close()
        for pool in (self.pool, self.monitoring_pool, self.clustering_pool, self.upload_pool):
            pool.close()


def demo_collection(folder: Path) -> Collection:
    """Create a collection of the sample documents in an empty folder."""
    collection = Collection.open(
        folder / "demo.neardup", search=True, runs=True, durability="normal"
    )
    lines = files("neardup.service").joinpath("sample.jsonl").read_text(encoding="utf-8")
    collection.add([json.loads(line) for line in lines.splitlines()])
    return collection
