"""The writer thread: stores queued documents in batches, each with one sync to disk."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.collection import Collection, Outcome
from neardup.service.worker_pool import BusyError

Rows = Sequence[tuple[str, str, dict[str, Any]]]
# Larger batches save no further time per document, and delay their first requests.
MAX_BATCH_DOCUMENTS = 1000
# Minimum time between batches under concurrent writes, so that more requests join a batch: storing
# one document takes nearly as long as twenty, and each batch slows down concurrent checks.
BATCH_INTERVAL_SECONDS = 0.005


@dataclass(frozen=True)
class WriteRequest:
    """Documents to add with these options, or ids to remove if `options` is None."""

    ids: list[str]
    size: int
    rows: Rows
    options: tuple[tuple[str, Any], ...] | None
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class Writer:
    """Queues write requests and executes them in order in one thread.

    Consecutive requests with the same options form a batch, as long as no id repeats.
    """

    def __init__(
        self, collection: Collection, max_documents: int, max_bytes: int = 1 << 28
    ) -> None:
        self.collection = collection
        self.max_documents = max_documents
        self.max_bytes = max_bytes
        self.queued = 0
        self.queued_bytes = 0
        self.batches = 0
        self._queue: deque[WriteRequest] = deque()
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="neardup-writer", daemon=True)
        self._thread.start()

    async def add(self, rows: Rows, **options: Any) -> list[Outcome]:
        """Store documents as `Collection.add`: all of them or none."""
        ids = [row[0] for row in rows]
        outcomes: list[Outcome] = await self._submit(ids, rows, tuple(options.items()))
        return outcomes

    async def remove(self, ids: list[str]) -> list[bool]:
        """Remove documents; return for each whether it existed."""
        existed: list[bool] = await self._submit(ids, (), None)
        return existed

    async def _submit(
        self, ids: list[str], rows: Rows, options: tuple[tuple[str, Any], ...] | None
    ) -> Any:
        size = sum(map(sys.getsizeof, ids)) + sum(map(_size, rows))
        full = (
            self.queued + len(ids) > self.max_documents or self.queued_bytes + size > self.max_bytes
        )
        if self._closed or (self.queued and full):
            raise BusyError
        loop = asyncio.get_running_loop()
        request = WriteRequest(ids, size, rows, options, loop, loop.create_future())
        with self._changed:
            self.queued += len(ids)
            self.queued_bytes += size
            self._queue.append(request)
            self._changed.notify()
        # An accepted request is executed even if its client disconnects.
        return await asyncio.shield(request.future)

    def close(self) -> None:
        """Execute the queued requests and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while batch := self._next_batch():
            began = time.monotonic()
            results = self._execute(batch)
            with self._changed:
                self.queued -= sum(len(request.ids) for request in batch)
                self.queued_bytes -= sum(request.size for request in batch)
            for request, result in zip(batch, results, strict=True):
                _deliver(request, result)
            # A single client that waits for each response is not delayed: no request would join.
            if len(batch) > 1 and self.queued < MAX_BATCH_DOCUMENTS:
                time.sleep(max(0.0, began + BATCH_INTERVAL_SECONDS - time.monotonic()))

    def _next_batch(self) -> list[WriteRequest]:
        """Wait for the next batch; return an empty one when the writer is closed."""
        with self._changed:
            while not self._queue:
                if self._closed:
                    return []
                self._changed.wait()
            first = self._queue.popleft()
            batch, seen = [first], set(first.ids)
            while self._queue and len(seen) < MAX_BATCH_DOCUMENTS:
                request = self._queue[0]
                if request.options != first.options or not seen.isdisjoint(request.ids):
                    break
                seen.update(request.ids)
                batch.append(self._queue.popleft())
            return batch

    def _execute(self, batch: list[WriteRequest]) -> list[Any]:
        """Return a result or an error for each request."""
        execute = self._remove if batch[0].options is None else self._add
        self.batches += 1
        try:
            return execute(batch)
        except (TypeError, ValueError) as error:
            if len(batch) == 1:
                return [error]
            # One request is invalid; executed one by one, the others succeed.
            return [result for request in batch for result in self._execute([request])]
        except BaseException as error:
            return [error] * len(batch)

    def _add(self, batch: list[WriteRequest]) -> list[Any]:
        rows = [row for request in batch for row in request.rows]
        outcomes = iter(self.collection.add(rows, **dict(batch[0].options or ())))
        return [[next(outcomes) for _ in request.ids] for request in batch]

    def _remove(self, batch: list[WriteRequest]) -> list[Any]:
        # No other process can write, so nothing changes between the look-up and the removal.
        known = {id_ for request in batch for id_ in request.ids if id_ in self.collection}
        self.collection.remove(known)
        return [[id_ in known for id_ in request.ids] for request in batch]


def _size(row: tuple[str, str, dict[str, Any]]) -> int:
    """Return about how many bytes a row takes."""
    try:
        return sys.getsizeof(row[1]) + (len(msgspec.json.encode(row[2])) if row[2] else 0)
    except (TypeError, ValueError, RecursionError):
        # Metadata that is not JSON: `Collection.add` raises the error.
        return sys.getsizeof(row[1])


def _deliver(request: WriteRequest, result: Any) -> None:
    def set_result() -> None:
        if request.future.cancelled():
            return
        if isinstance(result, BaseException):
            request.future.set_exception(result)
        else:
            request.future.set_result(result)

    # The loop may be closed: then there is no caller left.
    with suppress(RuntimeError):
        request.loop.call_soon_threadsafe(set_result)
