"""The operations of the API under /v1: paths, types of requests and responses, handlers.

The table `OPERATIONS` lists all of them; `app` makes the routes from it, and `openapi` the OpenAPI
document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from starlette.types import Receive, Send

from neardup.service import answers, models
from neardup.service.errors import DocumentNotFoundError, HTTPProblem
from neardup.service.ndjson import LineHandler, stream_documents
from neardup.service.state import Service

EXAMPLE_TEXT = (
    "Wash the lentils, fry the onions, and let both simmer with the stock for half an hour."
)
EXAMPLE_MATCH = {"id": "soup", "distance": 0, "similarity": 1.0, "differs": "", "lost": 0}
EXAMPLE_OUTCOME = {
    "id": "soup",
    "status": "added",
    "dup_of": None,
    "distance": None,
    "similarity": None,
    "differs": None,
    "lost": None,
}
EXAMPLE_DOCUMENT = {
    "id": "soup",
    "metadata": {"from": "a kitchen"},
    "fingerprint": "0f" * 16,
    "text": EXAMPLE_TEXT,
}

# Documents of a page if the query has no limit.
DEFAULT_LIMIT = 100

Handler = Callable[[Service, Any, Any, dict[str, str]], Awaitable[Any]]
StreamHandler = Callable[[Service, Any, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class Operation:
    """A method and path of the API.

    handler       returns the response, as a value or as encoded JSON
    response      type of the response; None: 204 without a body
    query         type of the query parameters; None: there are none
    body          type of the request body; None: there is none
    line_handler  handles a batch of NDJSON lines; `line` is the type of a line, `line_response`
                  that of its response
    stream        sends the response as NDJSON, if the client accepts that
    writes        whether it changes documents, which needs a write token
    errors        error statuses, besides those that every operation may have
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    handler: Handler
    response: Any = None
    query: type[Any] | None = None
    body: Any = None
    line_handler: LineHandler | None = None
    line: Any = None
    line_response: Any = None
    stream: StreamHandler | None = None
    writes: bool = False
    example: Any = None
    response_example: Any = None
    errors: Sequence[int] = ()


async def add_lines(service: Service, query: Any, lines: list[Any]) -> list[Any]:
    results: list[Any] = []
    # A batch must not repeat an id: a repeated id starts the next batch, as an update.
    while lines:
        seen: set[str] = set()
        for document in lines:
            if document.id in seen:
                break
            seen.add(document.id)
        batch = lines[: len(seen)]
        results += await add(service, query, batch, {})
        lines = lines[len(batch) :]
    return results


async def check_lines(service: Service, query: Any, lines: list[Any]) -> list[Any]:
    options = msgspec.structs.asdict(query)
    texts = [line.text for line in lines]
    results = await service.run(answers.check_many, service, texts, **options)
    return [
        models.CheckedLineModel(id=line.id, matches=checked.matches)
        for line, checked in zip(lines, results, strict=True)
    ]


async def add(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    documents = body if isinstance(body, list) else [body]
    _check_batch_size(service, documents)
    outcomes = await service.add(
        [(one.id, one.text, one.metadata) for one in documents], **msgspec.structs.asdict(query)
    )
    results = [models.AddedModel(**outcome._asdict()) for outcome in outcomes]
    return results if isinstance(body, list) else results[0]


async def check(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    options = msgspec.structs.asdict(query)
    if isinstance(body, list):
        _check_batch_size(service, body)
        texts = [one if isinstance(one, str) else one.text for one in body]
        return await service.run(_encode_result, answers.check_many, service, texts, **options)
    return await service.run(answers.check, service, body.text, **options)


async def compare(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(_encode_result, _compare, service, body, query)


def _compare(
    service: Service, pair: models.PairModel, query: models.CompareQuery
) -> models.ComparedModel:
    a, b = (_resolve_text(service, one) for one in (pair.a, pair.b))
    return answers.compare(service, a, b, **msgspec.structs.asdict(query))


def _resolve_text(service: Service, one: str | models.ReferenceModel) -> str:
    if isinstance(one, str):
        return one
    document = answers.document(service, one.id)
    if document.text is None:
        raise HTTPProblem(409, "the collection stores no texts; send the text instead of the id")
    return document.text


async def explain(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(_encode_result, answers.explain, service, body.text, bits=query.bits)


async def search(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(answers.search, service, body.text, n=query.n, by=query.by)


async def documents(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    options = msgspec.structs.asdict(query) | {"limit": query.limit or DEFAULT_LIMIT}
    return await service.run(_encode_result, answers.documents, service, **options)


async def document(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(_encode_result, answers.document, service, path["id"])


async def remove(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    if not await service.remove(path["id"]):
        raise DocumentNotFoundError(path["id"])


async def stats(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(answers.stats, service)


async def clusters(service: Service, query: Any, body: Any, path: dict[str, str]) -> Any:
    return await answers.clusters(service, **msgspec.structs.asdict(query))


def _encode_result(function: Callable[..., Any], *args: Any, **options: Any) -> bytes:
    """Call a function and encode its result, which may be long, in the worker thread."""
    return models.encoder.encode(function(*args, **options))


def _check_batch_size(service: Service, items: Sequence[Any]) -> None:
    limit = service.settings.max_batch
    if len(items) > limit:
        raise HTTPProblem(
            413, f"{len(items)} items in one request; send at most {limit}, or NDJSON"
        )


OPERATIONS = (
    Operation(
        "POST",
        "/v1/check",
        "check",
        "Find the documents near a text, or near each of many",
        check,
        query=models.CheckQuery,
        body=models.TextModel | list[models.TextModel | str],
        response=models.CheckedModel | list[models.CheckedModel],
        line_handler=check_lines,
        line=models.TextLineModel,
        line_response=models.CheckedLineModel,
        example={"one": {"text": EXAMPLE_TEXT}, "many": [EXAMPLE_TEXT, {"text": "another text"}]},
        response_example={
            "one": {"matches": [EXAMPLE_MATCH]},
            "many": [{"matches": [EXAMPLE_MATCH]}, {"matches": []}],
        },
        errors=(409,),
    ),
    Operation(
        "POST",
        "/v1/documents",
        "add",
        "Store a document, or many at once",
        add,
        query=models.AddQuery,
        body=models.NewDocumentModel | list[models.NewDocumentModel],
        response=models.AddedModel | list[models.AddedModel],
        line_handler=add_lines,
        line=models.NewDocumentModel,
        line_response=models.AddedModel,
        writes=True,
        example={
            "one": {"id": "soup", "text": EXAMPLE_TEXT, "metadata": {"from": "a kitchen"}},
            "many": [{"id": "soup", "text": EXAMPLE_TEXT}, {"id": "other", "text": "another text"}],
        },
        response_example={
            "one": EXAMPLE_OUTCOME,
            "many": [EXAMPLE_OUTCOME, EXAMPLE_OUTCOME | {"id": "other"}],
        },
        errors=(409,),
    ),
    Operation(
        "GET",
        "/v1/documents",
        "documents",
        "List documents by page, in the order in which they were added",
        documents,
        query=models.ListQuery,
        response=models.PageModel,
        stream=stream_documents,
        line_response=models.DocumentModel,
        response_example={
            "page": {"documents": [EXAMPLE_DOCUMENT | {"text": None}], "next": "41-300"}
        },
    ),
    Operation(
        "GET",
        "/v1/documents/{id:any}",
        "document",
        "Get a document with its text",
        document,
        response=models.DocumentModel,
        response_example={"document": EXAMPLE_DOCUMENT},
        errors=(404,),
    ),
    Operation(
        "DELETE",
        "/v1/documents/{id:any}",
        "remove",
        "Remove a document",
        remove,
        writes=True,
        errors=(404,),
    ),
    Operation(
        "POST",
        "/v1/compare",
        "compare",
        "Compare two texts: similarity and shared passages",
        compare,
        query=models.CompareQuery,
        body=models.PairModel,
        response=models.ComparedModel,
        example={
            "texts": {"a": EXAMPLE_TEXT, "b": f"{EXAMPLE_TEXT}!"},
            "stored": {"a": EXAMPLE_TEXT, "b": {"id": "soup"}},
        },
        errors=(404, 409),
    ),
    Operation(
        "POST",
        "/v1/explain",
        "explain",
        "Explain a fingerprint: features, weights, votes",
        explain,
        query=models.ExplainQuery,
        body=models.TextModel,
        response=models.ExplainedModel,
        example={"text": {"text": EXAMPLE_TEXT}},
    ),
    Operation(
        "POST",
        "/v1/search",
        "search",
        "Search for the documents most similar to a text",
        search,
        query=models.SearchQuery,
        body=models.TextModel,
        response=models.FoundModel,
        example={"text": {"text": EXAMPLE_TEXT}},
        response_example={"found": {"results": [{"id": "soup", "score": 0.93, "distance": 11}]}},
        errors=(409,),
    ),
    Operation(
        "GET",
        "/v1/stats",
        "stats",
        "Get statistics of the collection",
        stats,
        response=models.StatsModel,
    ),
    Operation(
        "GET",
        "/v1/clusters",
        "clusters",
        "Get the largest clusters",
        clusters,
        query=models.ClusterQuery,
        response=models.ClustersModel,
        errors=(409,),
    ),
)
