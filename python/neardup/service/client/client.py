"""Client: asks a service, and waits for the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from types import TracebackType
from typing import Any, Literal, Self, overload

import httpx

from neardup.service import models
from neardup.service.client import calls
from neardup.service.client.calls import (
    Call,
    NdjsonLines,
    RequestBatch,
    RetryPolicy,
    T,
    connection,
    error_of,
)


class Client:
    """A service under a URL. Many threads may use it; close it, or use it in a `with` statement.

    token    for a service that asks for one
    timeout  seconds to wait for a connection, or for a part of an answer
    retries  times a request is sent again: if the service has not taken it (503, 429), after as
             long as it asks for; if it is not known what became of it (a connection broke, or 503
             for want of an answer in time), where sending it twice does no harm

    What the service refuses is raised as `ServiceError`; errors of the connection are those of
    httpx.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        self._patience = RetryPolicy(retries)
        self._http = httpx.Client(**connection(url, token, timeout))

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

    def _ask(self, call: Call[T]) -> T:
        tries = 0
        while True:
            try:
                response = self._http.request(**call.request())
            except Exception as error:
                pause = self._patience.after_error(tries, call, error)
                if pause is None:
                    raise
            else:
                pause = self._patience.after_answer(tries, call, response)
                if pause is None:
                    return call.answer(response)
            time.sleep(pause)
            tries += 1

    def _ask_all(self, batches: Iterator[RequestBatch]) -> Iterator[Any]:
        """An answer for each line, in order."""
        for batch in batches:
            answers, rest = batch.answered(self._ask(batch.call))
            yield from answers
            yield from self._ask_all(rest)

    # -------------------------------------------------------------------------------- what is asked

    @overload
    def check(  # type: ignore[overload-overlap]  # a str is an iterable of str too
        self,
        texts: str,
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[models.Match]: ...
    @overload
    def check(
        self,
        texts: Iterable[str],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[list[models.Match]]: ...
    def check(
        self,
        texts: str | Iterable[str],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[models.Match] | list[list[models.Match]]:
        """The documents near a text, or near each of many, as `Collection.check`."""
        return self._ask(
            calls.check(texts, similarity=similarity, radius=radius, recall=recall, n=n)
        )

    def check_all(
        self, texts: Iterable[str], similarity: float | None = None, **options: Any
    ) -> Iterator[models.CheckedLine | models.LineProblem]:
        """The same of any number of texts, as they come: one answer for each, in their order. A
        text that is refused is answered by a `LineProblem`, whose `line` counts texts from 1."""
        return self._ask_all(calls.check_all(texts, similarity=similarity, **options))

    def add(
        self,
        documents: Iterable[Any],
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
    ) -> list[models.Added]:
        """Stores documents as `Collection.add`: all of them or none, and on the disk when it
        returns."""
        options = {"similarity": similarity, "radius": radius, "recall": recall}
        call = calls.add(documents, unless_duplicate=unless_duplicate, **options)
        return self._ask(call)

    def add_all(
        self, documents: Iterable[Any], *, unless_duplicate: bool = False, **options: Any
    ) -> Iterator[models.Added | models.LineProblem]:
        """The same of any number of documents, as they come: one answer for each, in their order. A
        document that is refused is answered by a `LineProblem`, whose `line` counts documents from
        1; one of status 503 may have been stored."""
        batches = calls.add_all(documents, unless_duplicate=unless_duplicate, **options)
        return self._ask_all(batches)

    def get(self, id: str) -> models.Document | None:  # noqa: A002
        """The document of this id, or None."""
        return self._ask(calls.get(id))

    def remove(self, id: str) -> bool:  # noqa: A002
        """Takes a document out; whether it was there."""
        return self._ask(calls.remove(id))

    def page(
        self,
        limit: int = 100,
        *,
        after: str | None = None,
        newest: bool = False,
        texts: bool = False,
    ) -> models.Page:
        """Some documents, in the order in which they were added; `next` of it is the next `after`.
        No id comes twice."""
        return self._ask(calls.page(limit=limit, after=after, newest=newest, texts=texts))

    def documents(self, *, newest: bool = False, texts: bool = True) -> Iterator[models.Document]:
        """All documents, in one stream of lines. One that is changed meanwhile may come again, as
        it is then."""
        call = calls.documents(newest=newest, texts=texts)
        with self._http.stream(**call.request()) as response:
            if not response.is_success:
                raise error_of(response.status_code, response.read())
            lines = NdjsonLines(call.kind)
            for part in response.iter_bytes():
                yield from lines.take_whole(part)

    def compare(
        self,
        a: str | dict[str, str],
        b: str | dict[str, str],
        similarity: float | None = None,
    ) -> models.Compared:
        """How alike two texts are; instead of a text, {"id": …} names a document."""
        return self._ask(calls.compare(a, b, similarity=similarity))

    def explain(self, text: str, *, bits: int | None = None) -> models.Explained:
        """The vote behind the fingerprint of a text."""
        return self._ask(calls.explain(text, bits=bits))

    def search(
        self, text: str, n: int = 6, by: Literal["cosine", "simhash"] = "cosine"
    ) -> list[models.Hit]:
        """The documents that resemble a text most."""
        return self._ask(calls.search(text, n=n, by=by))

    def stats(self) -> models.Stats:
        """Numbers of the collection."""
        return self._ask(calls.stats())

    def clusters(
        self, similarity: float | None = None, *, limit: int = 20, members: int = 20
    ) -> models.Clusters:
        """The largest clusters."""
        return self._ask(calls.clusters(similarity=similarity, limit=limit, members=members))


# AsyncClient: asks a service, and is awaited.


class AsyncClient:
    """A service under a URL, as `Client`: the same methods, to be awaited.

    Close it with `aclose`, or use it in an `async with` statement.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        self._patience = RetryPolicy(retries)
        self._http = httpx.AsyncClient(**connection(url, token, timeout))

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

    async def _ask(self, call: Call[T]) -> T:
        tries = 0
        while True:
            try:
                response = await self._http.request(**call.request())
            except Exception as error:
                pause = self._patience.after_error(tries, call, error)
                if pause is None:
                    raise
            else:
                pause = self._patience.after_answer(tries, call, response)
                if pause is None:
                    return call.answer(response)
            await asyncio.sleep(pause)
            tries += 1

    async def _ask_all(self, batches: Iterator[RequestBatch]) -> AsyncIterator[Any]:
        """An answer for each line, in order."""
        for batch in batches:
            answers, rest = batch.answered(await self._ask(batch.call))
            for line in answers:
                yield line
            async for line in self._ask_all(rest):
                yield line

    # -------------------------------------------------------------------------------- what is asked

    @overload
    async def check(  # type: ignore[overload-overlap]  # a str is an iterable of str too
        self,
        texts: str,
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[models.Match]: ...
    @overload
    async def check(
        self,
        texts: Iterable[str],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[list[models.Match]]: ...
    async def check(
        self,
        texts: str | Iterable[str],
        similarity: float | None = None,
        *,
        radius: int | None = None,
        recall: float | None = None,
        n: int | None = None,
    ) -> list[models.Match] | list[list[models.Match]]:
        """The documents near a text, or near each of many, as `Collection.check`."""
        return await self._ask(
            calls.check(texts, similarity=similarity, radius=radius, recall=recall, n=n)
        )

    async def check_all(
        self, texts: Iterable[str], similarity: float | None = None, **options: Any
    ) -> AsyncIterator[models.CheckedLine | models.LineProblem]:
        """The same of any number of texts, as they come: one answer for each, in their order. A
        text that is refused is answered by a `LineProblem`, whose `line` counts texts from 1."""
        batches = calls.check_all(texts, similarity=similarity, **options)
        async for line in self._ask_all(batches):
            yield line

    async def add(
        self,
        documents: Iterable[Any],
        *,
        unless_duplicate: bool = False,
        similarity: float | None = None,
        radius: int | None = None,
        recall: float | None = None,
    ) -> list[models.Added]:
        """Stores documents as `Collection.add`: all of them or none, and on the disk when it
        returns."""
        options = {"similarity": similarity, "radius": radius, "recall": recall}
        call = calls.add(documents, unless_duplicate=unless_duplicate, **options)
        return await self._ask(call)

    async def add_all(
        self, documents: Iterable[Any], *, unless_duplicate: bool = False, **options: Any
    ) -> AsyncIterator[models.Added | models.LineProblem]:
        """The same of any number of documents, as they come: one answer for each, in their order. A
        document that is refused is answered by a `LineProblem`, whose `line` counts documents from
        1; one of status 503 may have been stored."""
        batches = calls.add_all(documents, unless_duplicate=unless_duplicate, **options)
        async for line in self._ask_all(batches):
            yield line

    async def get(self, id: str) -> models.Document | None:  # noqa: A002
        """The document of this id, or None."""
        return await self._ask(calls.get(id))

    async def remove(self, id: str) -> bool:  # noqa: A002
        """Takes a document out; whether it was there."""
        return await self._ask(calls.remove(id))

    async def page(
        self,
        limit: int = 100,
        *,
        after: str | None = None,
        newest: bool = False,
        texts: bool = False,
    ) -> models.Page:
        """Some documents, in the order in which they were added; `next` of it is the next `after`.
        No id comes twice."""
        return await self._ask(calls.page(limit=limit, after=after, newest=newest, texts=texts))

    async def documents(
        self, *, newest: bool = False, texts: bool = True
    ) -> AsyncIterator[models.Document]:
        """All documents, in one stream of lines. One that is changed meanwhile may come again, as
        it is then."""
        call = calls.documents(newest=newest, texts=texts)
        async with self._http.stream(**call.request()) as response:
            if not response.is_success:
                raise error_of(response.status_code, await response.aread())
            lines = NdjsonLines(call.kind)
            async for part in response.aiter_bytes():
                for line in lines.take_whole(part):
                    yield line

    async def compare(
        self,
        a: str | dict[str, str],
        b: str | dict[str, str],
        similarity: float | None = None,
    ) -> models.Compared:
        """How alike two texts are; instead of a text, {"id": …} names a document."""
        return await self._ask(calls.compare(a, b, similarity=similarity))

    async def explain(self, text: str, *, bits: int | None = None) -> models.Explained:
        """The vote behind the fingerprint of a text."""
        return await self._ask(calls.explain(text, bits=bits))

    async def search(
        self, text: str, n: int = 6, by: Literal["cosine", "simhash"] = "cosine"
    ) -> list[models.Hit]:
        """The documents that resemble a text most."""
        return await self._ask(calls.search(text, n=n, by=by))

    async def stats(self) -> models.Stats:
        """Numbers of the collection."""
        return await self._ask(calls.stats())

    async def clusters(
        self, similarity: float | None = None, *, limit: int = 20, members: int = 20
    ) -> models.Clusters:
        """The largest clusters."""
        return await self._ask(calls.clusters(similarity=similarity, limit=limit, members=members))
