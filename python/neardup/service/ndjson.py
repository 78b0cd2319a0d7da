"""Streams of NDJSON in requests and responses, with one batch of lines in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from starlette.types import Receive, Send

from neardup.service import answers, models
from neardup.service.errors import HTTPProblem, reason_phrase, to_problem
from neardup.service.limits import ByteReservation, SlowClientTimeout
from neardup.service.requests import NDJSON, ClientDisconnectedError, decode_json
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service
from neardup.service.worker_pool import BusyError

T = TypeVar("T")

# Pause between attempts while a queue is full. A stream waits (backpressure); single requests get
# 503 instead.
RETRY_SECONDS = 0.05
# Documents of the first page of a stream and of the largest; pages grow or shrink to PAGE_BYTES.
FIRST_PAGE, MAX_PAGE, PAGE_BYTES = 20, 500, 1 << 20

LineBatch = list[tuple[int, bytes]]
LineHandler = Callable[[Service, Any, Any], Awaitable[list[Any]]]


class LineTooLongError(Exception):
    """A line is longer than `max_line`; the rest of the body is not read."""


async def _retry_while_busy(settings: ServiceSettings, attempt: Callable[[], Awaitable[T]]) -> T:
    """Repeat an attempt until it does not raise `BusyError`, at most for `answer_seconds`."""
    async with asyncio.timeout(settings.answer_seconds):
        while True:
            try:
                return await attempt()
            except BusyError:
                await asyncio.sleep(RETRY_SECONDS)


async def read_line_batches(
    receive: Receive, settings: ServiceSettings, reservation: ByteReservation | None = None
) -> AsyncIterator[LineBatch]:
    """Yield the lines of a body with their numbers, without empty lines.

    Takes time linear in the size of the body, even if it arrives in tiny parts. Raises
    `TimeoutError` if the client sends nothing, or too slowly.
    """
    rest = bytearray()
    number = 0
    more = True
    timeout = SlowClientTimeout(settings.body_seconds, settings.slowest)
    while more:
        message = await timeout.wait(receive())
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        body: bytes = message.get("body", b"")
        timeout.received(len(body))
        if reservation is not None:
            await _reserve(reservation, len(body), settings)
        more = message.get("more_body", False)
        head, *lines = body.split(b"\n")
        rest += head
        if len(rest) > settings.max_line or any(len(x) > settings.max_line for x in lines):
            raise LineTooLongError
        if more and not lines:
            continue
        lines.insert(0, bytes(rest))
        rest = bytearray(lines.pop() if more else b"")
        numbered = [(number + at, line) for at, line in enumerate(lines, 1) if line.strip()]
        number += len(lines)
        for start in range(0, len(numbered), settings.max_batch):
            yield numbered[start : start + settings.max_batch]
        if reservation is not None:
            reservation.shrink(len(rest))


async def _reserve(reservation: ByteReservation, size: int, settings: ServiceSettings) -> None:
    """Reserve bytes; wait while the budget is used up. Reading pauses meanwhile (backpressure)."""

    async def reserve() -> None:
        reservation.reserve(size)

    await _retry_while_busy(settings, reserve)


class LineResponder:
    """Answers each non-empty line of a body with one line, in order.

    The response to an invalid line is a `LineProblemModel`; the other lines are not affected.
    """

    def __init__(self, service: Service, kind: Any, handle: LineHandler) -> None:
        self.service = service
        self.decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
        self.handle = handle

    async def __call__(
        self, query: Any, reservation: ByteReservation | None, receive: Receive, send: Send
    ) -> None:
        settings = self.service.settings
        await _send_head(send)
        number = 0
        try:
            async for batch in read_line_batches(receive, settings, reservation):
                results = await self._respond(query, batch)
                number = batch[-1][0]
                await _send(send, b"".join(models.encoder.encode(x) + b"\n" for x in results))
        except ClientDisconnectedError:
            return
        except TimeoutError:
            problem = HTTPProblem(
                408,
                f"no data for {settings.body_seconds:g} s, "
                f"or fewer than {settings.slowest:g} bytes per second",
            )
            await _send_last(send, number + 1, problem)
        except LineTooLongError:
            problem = HTTPProblem(413, f"the line is longer than {settings.max_line} bytes")
            await _send_last(send, number + 1, problem)
        else:
            await send({"type": "http.response.body", "body": b""})

    async def _respond(self, query: Any, batch: LineBatch) -> list[Any]:
        results: dict[int, Any] = {}
        values: list[tuple[int, Any]] = []
        for number, line in batch:
            try:
                values.append((number, decode_json(line, self.decoder)))
            except HTTPProblem as problem:
                results[number] = _line_problem(number, problem)
        results.update(await self._handle_all(query, values))
        return [results[number] for number, _ in batch]

    async def _handle_all(self, query: Any, values: list[tuple[int, Any]]) -> dict[int, Any]:
        """Return the results by line number. If a batch fails, handle its halves, to find the
        invalid line."""
        if not values:
            return {}
        try:
            results = await _retry_while_busy(
                self.service.settings,
                lambda: self.handle(self.service, query, [value for _, value in values]),
            )
        except Exception as error:
            problem = to_problem(error)
            if problem.status < 500 and len(values) > 1:
                half = len(values) // 2
                first = await self._handle_all(query, values[:half])
                return first | await self._handle_all(query, values[half:])
            return {number: _line_problem(number, problem) for number, _ in values}
        return {number: result for (number, _), result in zip(values, results, strict=True)}


async def stream_documents(
    service: Service, query: models.ListQuery, receive: Receive, send: Send
) -> None:
    """Send all documents from a cursor on as lines, reading a page when the previous one is sent.

    If the cursor has no end, the list includes documents added or updated meanwhile: none is
    missed, and an updated document may come twice.
    """
    await _send_head(send)
    disconnected = asyncio.ensure_future(_wait_for_disconnect(receive))
    count = 0
    try:
        # A cursor without an end: without a cursor, the list would end at the current last place,
        # and miss a document that is updated meanwhile.
        first = None if query.newest else "0"
        remaining, after, step = query.limit, query.after or first, FIRST_PAGE
        has_end = after is not None and after != answers.open_cursor(after)
        while not disconnected.done():
            limit = step if remaining is None else min(remaining, step)
            page_query = msgspec.structs.replace(query, limit=limit, after=after)
            try:
                page = await _read_page(service, page_query)
            except Exception as error:
                # An incomplete list must not look like a complete one.
                await _send_last(send, count + 1, to_problem(error))
                return
            count += len(page.documents)
            data = b"".join(models.encoder.encode(x) + b"\n" for x in page.documents)
            await _send(send, data)
            step = max(1, min(MAX_PAGE, step * PAGE_BYTES // max(1, len(data)), 2 * step))
            if remaining is not None:
                remaining -= len(page.documents)
            after = page.next
            if after is None or remaining == 0:
                break
            if not has_end:
                after = answers.open_cursor(after)
        await send({"type": "http.response.body", "body": b""})
    finally:
        disconnected.cancel()


async def _read_page(service: Service, query: models.ListQuery) -> models.PageModel:
    options = msgspec.structs.asdict(query)
    return await _retry_while_busy(
        service.settings, lambda: service.run(answers.documents, service, **options)
    )


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _line_problem(number: int, problem: HTTPProblem) -> models.LineProblemModel:
    return models.LineProblemModel(
        line=number,
        title=reason_phrase(problem.status),
        status=problem.status,
        detail=problem.detail,
        errors=problem.errors,
    )


async def _send_head(send: Send) -> None:
    headers = [(b"content-type", NDJSON.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _send(send: Send, data: bytes) -> None:
    if data:
        await send({"type": "http.response.body", "body": data, "more_body": True})


async def _send_last(send: Send, number: int, problem: HTTPProblem) -> None:
    """End the response with a line that says why it is incomplete."""
    data = models.encoder.encode(_line_problem(number, problem)) + b"\n"
    await send({"type": "http.response.body", "body": data})
