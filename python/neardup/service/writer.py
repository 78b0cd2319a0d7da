"""The one thread that writes: what is waiting is stored as one batch, with one sync to the disk."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.collection import Collection, Outcome
from neardup.service.worker_pool import Busy

Rows = Sequence[tuple[str, str, dict[str, Any]]]
# Documents of one batch: more make those wait longer who came first, and save nothing any more.
MOST = 1000
# Seconds from one batch to the next where several requests want to write. A batch of one document
# costs nearly as much as one of twenty, and who checks meanwhile pays for it.
APART = 0.005


@dataclass(frozen=True)
class WriteRequest:
    """What one request wants to be written. `options` is None: its ids are to be removed."""

    ids: list[str]
    size: int
    rows: Rows
    options: tuple[tuple[str, Any], ...] | None
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class Writer:
    """Takes wishes of many requests, fulfils them in their order, and says so when it is done.

    Wishes that follow each other and want the same go into one batch, as far as no id comes twice.
    """

    def __init__(self, collection: Collection, waiting: int, most_bytes: int = 1 << 28) -> None:
        self.collection = collection
        self.most = waiting
        self.most_bytes = most_bytes
        self.waiting = 0
        self.waiting_bytes = 0
        self.batches = 0
        self._wishes: deque[WriteRequest] = deque()
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="neardup-writer", daemon=True)
        self._thread.start()

    async def add(self, rows: Rows, **options: Any) -> list[Outcome]:
        """Stores documents as `Collection.add`: all of them or none."""
        found: list[Outcome] = await self._wish(
            [row[0] for row in rows], rows, tuple(options.items())
        )
        return found

    async def remove(self, ids: list[str]) -> list[bool]:
        """Takes documents out; whether each was there."""
        found: list[bool] = await self._wish(ids, (), None)
        return found

    async def _wish(
        self, ids: list[str], rows: Rows, options: tuple[tuple[str, Any], ...] | None
    ) -> Any:
        size = sum(map(sys.getsizeof, ids)) + sum(map(_size, rows))
        full = self.waiting + len(ids) > self.most or self.waiting_bytes + size > self.most_bytes
        if self._closed or (self.waiting and full):
            raise Busy
        loop = asyncio.get_running_loop()
        wish = WriteRequest(ids, size, rows, options, loop, loop.create_future())
        with self._changed:
            self.waiting += len(ids)
            self.waiting_bytes += size
            self._wishes.append(wish)
            self._changed.notify()
        # What is asked to be stored is stored, whether or not somebody still waits for it.
        return await asyncio.shield(wish.future)

    def close(self) -> None:
        """Fulfils what is waiting, and ends."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while wishes := self._next():
            began = time.monotonic()
            answers = self._fulfilled(wishes)
            with self._changed:
                self.waiting -= sum(len(wish.ids) for wish in wishes)
                self.waiting_bytes -= sum(wish.size for wish in wishes)
            for wish, answer in zip(wishes, answers, strict=True):
                _tell(wish, answer)
            # One client that waits for each of its documents is not held up: nobody would join it.
            if len(wishes) > 1 and self.waiting < MOST:
                time.sleep(max(0.0, began + APART - time.monotonic()))

    def _next(self) -> list[WriteRequest]:
        """The wishes of the next batch; none at the end."""
        with self._changed:
            while not self._wishes:
                if self._closed:
                    return []
                self._changed.wait()
            first = self._wishes.popleft()
            taken, seen = [first], set(first.ids)
            while self._wishes and len(seen) < MOST:
                wish = self._wishes[0]
                if wish.options != first.options or not seen.isdisjoint(wish.ids):
                    break
                seen.update(wish.ids)
                taken.append(self._wishes.popleft())
            return taken

    def _fulfilled(self, wishes: list[WriteRequest]) -> list[Any]:
        """What each is told: an answer or an error."""
        do = self._remove if wishes[0].options is None else self._add
        self.batches += 1
        try:
            return do(wishes)
        except (TypeError, ValueError) as error:
            if len(wishes) == 1:
                return [error]
            # One of them is at fault, and must not spoil it for the others.
            return [answer for wish in wishes for answer in self._fulfilled([wish])]
        except BaseException as error:
            return [error] * len(wishes)

    def _add(self, wishes: list[WriteRequest]) -> list[Any]:
        rows = [row for wish in wishes for row in wish.rows]
        outcomes = iter(self.collection.add(rows, **dict(wishes[0].options or ())))
        return [[next(outcomes) for _ in wish.ids] for wish in wishes]

    def _remove(self, wishes: list[WriteRequest]) -> list[Any]:
        # Nobody else writes: what is there now is there when it is removed.
        known = {id_ for wish in wishes for id_ in wish.ids if id_ in self.collection}
        self.collection.remove(known)
        return [[id_ in known for id_ in wish.ids] for wish in wishes]


def _size(row: tuple[str, str, dict[str, Any]]) -> int:
    """Bytes a row takes, more or less."""
    try:
        return sys.getsizeof(row[1]) + (len(msgspec.json.encode(row[2])) if row[2] else 0)
    except (TypeError, ValueError, RecursionError):
        # No metadata that could be stored: this is told by whoever stores it.
        return sys.getsizeof(row[1])


def _tell(wish: WriteRequest, answer: Any) -> None:
    def tell() -> None:
        if wish.future.cancelled():
            return
        if isinstance(answer, BaseException):
            wish.future.set_exception(answer)
        else:
            wish.future.set_result(answer)

    try:
        wish.loop.call_soon_threadsafe(tell)
    except RuntimeError:
        # The loop is closed: nobody waits for it.
        return
