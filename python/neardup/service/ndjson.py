"""Lines of JSON, in and out, however many: no more is in memory than a batch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from neardup.service import answers, models
from neardup.service.errors import Refusal, refusal_of, title_of
from neardup.service.limits import Pace, Share
from neardup.service.requests import NDJSON, Gone, decoded
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service
from neardup.service.worker_pool import Busy

# Seconds between two tries where a queue is full: here the client waits, instead of asking again.
PAUSE = 0.05
# Documents read at once for a list, at first and at most; then as many as make so many bytes.
FIRST, MOST, BYTES = 20, 500, 1 << 20

Batch = list[tuple[int, bytes]]
Reply = Callable[[Service, Any, Any], Awaitable[list[Any]]]


class TooLong(Exception):
    """A line is longer than is allowed; what comes after it cannot be told apart."""


async def batches(
    receive: Receive, settings: ServiceSettings, share: Share | None = None
) -> AsyncIterator[Batch]:
    """The lines of a body with their numbers, as they come; empty ones are left out. Takes time
    linear in the body, however small the parts it comes in.

    A client that sends nothing for too long, or next to nothing, is given up.
    """
    rest = bytearray()
    number = 0
    more = True
    pace = Pace(settings.body_seconds, settings.slowest)
    while more:
        message = await pace.wait(receive())
        if message["type"] == "http.disconnect":
            raise Gone
        body: bytes = message.get("body", b"")
        pace.moved(len(body))
        if share is not None:
            await _taken(share, len(body), settings)
        more = message.get("more_body", False)
        head, *lines = body.split(b"\n")
        rest += head
        if len(rest) > settings.max_line or any(len(x) > settings.max_line for x in lines):
            raise TooLong
        if more and not lines:
            continue
        lines.insert(0, bytes(rest))
        rest = bytearray(lines.pop() if more else b"")
        found = [(number + at, line) for at, line in enumerate(lines, 1) if line.strip()]
        number += len(lines)
        for start in range(0, len(found), settings.max_batch):
            yield found[start : start + settings.max_batch]
        if share is not None:
            share.keep(len(rest))


async def _taken(share: Share, size: int, settings: ServiceSettings) -> None:
    """Waits until there is room, so that the client waits too."""
    async with asyncio.timeout(settings.answer_seconds):
        while True:
            try:
                return share.take(size)
            except Busy:
                await asyncio.sleep(PAUSE)


class Replies:
    """Answers a stream of lines with a stream of lines: one for each that is not empty, in order.

    A line that is wrong is answered by what is wrong with it; the others are not affected.
    """

    def __init__(self, service: Service, kind: Any, reply: Reply) -> None:
        self.service = service
        self.decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
        self.reply = reply

    async def __call__(
        self, options: Any, share: Share | None, receive: Receive, send: Send
    ) -> None:
        settings = self.service.settings
        await _begin(send)
        number = 0
        try:
            async for batch in batches(receive, settings, share):
                found = await self._answers(options, batch)
                number = batch[-1][0]
                await _send(send, b"".join(models.encoder.encode(x) + b"\n" for x in found))
        except Gone:
            return
        except TimeoutError:
            await _end(send, number + 1, Refusal(408, "nothing came for too long, or too slowly"))
        except TooLong:
            refusal = Refusal(413, f"a line has more than {settings.max_line} bytes")
            await _end(send, number + 1, refusal)
        else:
            await send({"type": "http.response.body", "body": b""})

    async def _answers(self, options: Any, batch: Batch) -> list[Any]:
        found: dict[int, Any] = {}
        given: list[tuple[int, Any]] = []
        for number, line in batch:
            try:
                given.append((number, decoded(line, self.decoder)))
            except Refusal as refusal:
                found[number] = _told(number, refusal)
        found.update(await self._replies(options, given))
        return [found[number] for number, _ in batch]

    async def _replies(self, options: Any, given: list[tuple[int, Any]]) -> dict[int, Any]:
        if not given:
            return {}
        try:
            made = await self._patiently(options, [one for _, one in given])
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status < 500 and len(given) > 1:
                # One of them is at fault; the others need not know.
                half = len(given) // 2
                first = await self._replies(options, given[:half])
                return first | await self._replies(options, given[half:])
            return {number: _told(number, refusal) for number, _ in given}
        return {number: value for (number, _), value in zip(given, made, strict=True)}

    async def _patiently(self, options: Any, given: list[Any]) -> list[Any]:
        async with asyncio.timeout(self.service.settings.answer_seconds):
            while True:
                try:
                    return await self.reply(self.service, options, given)
                except Busy:
                    await asyncio.sleep(PAUSE)


async def listed(
    service: Service, options: models.ListOptions, receive: Receive, send: Send
) -> None:
    """All documents from a place on, as lines. Each page is read when the one before is sent.

    Unless the place names an end, the list goes on to what was added or changed meanwhile: so
    nothing is missed, and a document that was changed may come again, as it is then.
    """
    await _begin(send)
    gone = asyncio.ensure_future(_gone(receive))
    count = 0
    try:
        # A first page that ends where the collection ended before could miss what has just moved.
        first = None if options.newest else "0"
        left, after, step = options.limit, options.after or first, FIRST
        ends = after is not None and after != answers.open_ended(after)
        while not gone.done():
            asked = msgspec.structs.replace(
                options, limit=step if left is None else min(left, step), after=after
            )
            try:
                page = await _page(service, asked)
            except Exception as error:
                # What has been sent is not all: that must not look like the end.
                await _end(send, count + 1, refusal_of(error))
                return
            count += len(page.documents)
            data = b"".join(models.encoder.encode(x) + b"\n" for x in page.documents)
            await _send(send, data)
            step = max(1, min(MOST, step * BYTES // max(1, len(data)), 2 * step))
            if left is not None:
                left -= len(page.documents)
            after = page.next
            if after is None or left == 0:
                break
            if not ends:
                after = answers.open_ended(after)
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()


async def _page(service: Service, options: models.ListOptions) -> models.Page:
    """A page, as soon as there is room in the queue."""
    async with asyncio.timeout(service.settings.answer_seconds):
        while True:
            try:
                asked = msgspec.structs.asdict(options)
                return await service.run(answers.documents, service, **asked)
            except Busy:
                await asyncio.sleep(PAUSE)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _told(number: int, refusal: Refusal) -> models.LineProblem:
    return models.LineProblem(
        line=number,
        title=title_of(refusal.status),
        status=refusal.status,
        detail=refusal.detail,
        errors=refusal.errors,
    )


async def _begin(send: Send) -> None:
    head = [(b"content-type", NDJSON.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})


async def _send(send: Send, data: bytes) -> None:
    if data:
        await send({"type": "http.response.body", "body": data, "more_body": True})


async def _end(send: Send, number: int, refusal: Refusal) -> None:
    """The last line says why there are no more."""
    data = models.encoder.encode(_told(number, refusal)) + b"\n"
    await send({"type": "http.response.body", "body": data})


def wants_lines(scope: Scope) -> bool:
    """Whether a client asks for lines by name."""
    return any(
        key == b"accept" and any(name in value.lower() for name in LINE_NAMES)
        for key, value in scope["headers"]
    )


LINE_NAMES = (b"application/x-ndjson", b"application/ndjson", b"application/jsonl")
