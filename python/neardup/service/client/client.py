"""Client and AsyncClient: send the requests of `calls`, with retries.

The methods of both are the functions of `calls` (`check`, `add`, `get` …): parameters, types and
documentation are written once there.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_args, get_origin, get_type_hints

import httpx

from neardup.service import models
from neardup.service.client import calls
from neardup.service.client.calls import (
    Call,
    NdjsonLines,
    RequestBatch,
    RetryPolicy,
    http_options,
    service_error,
)

P = ParamSpec("P")
T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])


def _copy_signature(call: Callable[..., Any], method: Function) -> Function:
    """Give a method the documentation and the signature of the call it sends."""
    functools.update_wrapper(method, call)
    signature = inspect.signature(call)
    (result,) = get_args(get_type_hints(call)["return"])
    if get_origin(result) is RequestBatch:
        # An iterator or an asynchronous one.
        result = inspect.Signature.empty
    owner = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[owner, *signature.parameters.values()], return_annotation=result
    )
    return method


def _method(call: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._send(call(*args, **kwargs))

    return _copy_signature(call, method)


def _batch_method(
    call: Callable[P, Iterator[RequestBatch[T]]],
) -> Callable[Concatenate[Client, P], Iterator[T]]:
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._send_batches(call(*args, **kwargs))

    return _copy_signature(call, method)


def _async_method(
    call: Callable[P, Call[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._send(call(*args, **kwargs))

    return _copy_signature(call, method)


def _async_batch_method(
    call: Callable[P, Iterator[RequestBatch[T]]],
) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]:
    def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._send_batches(call(*args, **kwargs))

    return _copy_signature(call, method)


class Client:
    """A client of the service at a URL. Threads may share it; close it, or use `with`.

    token    for a service with a token file
    timeout  seconds to wait for a connection, or for a part of a response
    retries  how often a request is sent again: after Retry-After if the service has not accepted
             it (429, or 503 of the type `neardup:not-taken`); only if it is idempotent, when the
             outcome is unknown (a broken connection, or another 503)

    Problem responses are raised as `ServiceError`, connection errors as those of httpx.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        self._retry = RetryPolicy(retries)
        self._http = httpx.Client(**http_options(url, token, timeout))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, call: Call[T]) -> T:
        tries = 0
        while True:
            try:
                response = self._http.request(**call.request())
            except Exception as error:
                pause = self._retry.after_error(tries, call, error)
                if pause is None:
                    raise
            else:
                pause = self._retry.after_response(tries, call, response)
                if pause is None:
                    return call.decode(response)
            time.sleep(pause)
            tries += 1

    def _send_batches(self, batches: Iterator[RequestBatch[T]]) -> Iterator[T]:
        for batch in batches:
            results, rest = batch.results(self._send(batch.call))
            yield from results
            yield from self._send_batches(rest)

    check = _method(calls.check)
    check_all = _batch_method(calls.check_all)
    add = _method(calls.add)
    add_all = _batch_method(calls.add_all)
    get = _method(calls.get)
    remove = _method(calls.remove)
    page = _method(calls.page)
    compare = _method(calls.compare)
    explain = _method(calls.explain)
    search = _method(calls.search)
    stats = _method(calls.stats)
    clusters = _method(calls.clusters)

    def documents(
        self, *, newest: bool = False, texts: bool = True
    ) -> Iterator[models.DocumentModel]:
        """Yield all documents, streamed as NDJSON.

        A document that is changed meanwhile may come again, with its new content.
        """
        call = calls.documents(newest=newest, texts=texts)
        with self._http.stream(**call.request()) as response:
            if not response.is_success:
                raise service_error(response.status_code, response.read())
            lines = NdjsonLines(call.kind)
            for part in response.iter_bytes():
                yield from lines.feed_complete(part)


class AsyncClient:
    """The asynchronous `Client`, with the same methods. Close it with `aclose`, or use
    `async with`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        self._retry = RetryPolicy(retries)
        self._http = httpx.AsyncClient(**http_options(url, token, timeout))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _send(self, call: Call[T]) -> T:
        tries = 0
        while True:
            try:
                response = await self._http.request(**call.request())
            except Exception as error:
                pause = self._retry.after_error(tries, call, error)
                if pause is None:
                    raise
            else:
                pause = self._retry.after_response(tries, call, response)
                if pause is None:
                    return call.decode(response)
            await asyncio.sleep(pause)
            tries += 1

    async def _send_batches(self, batches: Iterator[RequestBatch[T]]) -> AsyncIterator[T]:
        for batch in batches:
            results, rest = batch.results(await self._send(batch.call))
            for line in results:
                yield line
            async for line in self._send_batches(rest):
                yield line

    check = _async_method(calls.check)
    check_all = _async_batch_method(calls.check_all)
    add = _async_method(calls.add)
    add_all = _async_batch_method(calls.add_all)
    get = _async_method(calls.get)
    remove = _async_method(calls.remove)
    page = _async_method(calls.page)
    compare = _async_method(calls.compare)
    explain = _async_method(calls.explain)
    search = _async_method(calls.search)
    stats = _async_method(calls.stats)
    clusters = _async_method(calls.clusters)

    async def documents(
        self, *, newest: bool = False, texts: bool = True
    ) -> AsyncIterator[models.DocumentModel]:
        """Yield all documents, streamed as NDJSON.

        A document that is changed meanwhile may come again, with its new content.
        """
        call = calls.documents(newest=newest, texts=texts)
        async with self._http.stream(**call.request()) as response:
            if not response.is_success:
                raise service_error(response.status_code, await response.aread())
            lines = NdjsonLines(call.kind)
            async for part in response.aiter_bytes():
                for line in lines.feed_complete(part):
                    yield line
