"""The API: operations, each with what it takes, what it gives and what can go wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from starlette.types import Receive, Send

from neardup.service import answers, models
from neardup.service.errors import Refusal, UnknownDocument
from neardup.service.ndjson import Reply, listed
from neardup.service.state import Service

SOUP = "Wash the lentils, fry the onions, and let both simmer with the stock for half an hour."
NEAR = {"id": "soup", "distance": 0, "similarity": 1.0}
ADDED = {"id": "soup", "status": "added", "dup_of": None, "distance": None, "similarity": None}
STORED = {"id": "soup", "metadata": {"from": "a kitchen"}, "fingerprint": "0f" * 16, "text": SOUP}

# Documents of a page.
DEFAULT_LIMIT = 100

Handler = Callable[[Service, Any, Any, dict[str, str]], Awaitable[Any]]
Listed = Callable[[Service, Any, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class Operation:
    """What can be asked.

    options  the type of the query, None: it takes none
    body     the type of the body, None: it takes none
    answer   the type of the answer, None: an answer without a body
    reply    answers many lines of a body at once; `line` is the type of one, `line_answer` of the
             answer to it
    handler  gives the answer, or the JSON of it
    listed   answers by lines, if the client asks for them
    writes   whether documents change
    errors   what it can be refused by, beside what every request can
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    handler: Handler
    answer: Any = None
    options: type[Any] | None = None
    body: Any = None
    reply: Reply | None = None
    line: Any = None
    line_answer: Any = None
    listed: Listed | None = None
    writes: bool = False
    example: Any = None
    answer_example: Any = None
    errors: Sequence[int] = ()


async def add_lines(service: Service, options: Any, given: list[Any]) -> list[Any]:
    made: list[Any] = []
    # An id that comes again is an update of what came before: it goes into another batch.
    while given:
        seen: set[str] = set()
        for one in given:
            if one.id in seen:
                break
            seen.add(one.id)
        batch = given[: len(seen)]
        made += await add(service, options, batch, {})
        given = given[len(batch) :]
    return made


async def check_lines(service: Service, options: Any, given: list[Any]) -> list[Any]:
    asked = msgspec.structs.asdict(options)
    texts = [one.text for one in given]
    found = await service.run(answers.check_many, service, texts, **asked)
    return [
        models.CheckedLine(id=one.id, matches=checked.matches)
        for one, checked in zip(given, found, strict=True)
    ]


async def add(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    near = {"similarity": options.similarity, "radius": options.radius, "recall": options.recall}
    many = body if isinstance(body, list) else [body]
    _check_batch(service, many)
    found = await service.add(
        [(one.id, one.text, one.metadata) for one in many],
        unless_duplicate=options.unless_duplicate,
        **near,
    )
    made = [models.Added(**outcome._asdict()) for outcome in found]
    return made if isinstance(body, list) else made[0]


async def check(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    asked = msgspec.structs.asdict(options)
    if isinstance(body, list):
        _check_batch(service, body)
        texts = [one if isinstance(one, str) else one.text for one in body]
        return await service.run(_encoded, answers.check_many, service, texts, **asked)
    return await service.run(answers.check, service, body.text, **asked)


async def compare(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(_encoded, _compare, service, body, options.similarity)


def _compare(service: Service, pair: models.Pair, similarity: float) -> models.Compared:
    a, b = (_text_of(service, one) for one in (pair.a, pair.b))
    return answers.compare(service, a, b, similarity=similarity)


def _text_of(service: Service, one: str | models.Reference) -> str:
    if isinstance(one, str):
        return one
    found = answers.document(service, one.id)
    if found.text is None:
        raise Refusal(409, "the collection keeps no texts; send the text itself")
    return found.text


async def explain(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(_encoded, answers.explain, service, body.text, bits=options.bits)


async def search(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(answers.search, service, body.text, n=options.n, by=options.by)


async def documents(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    asked = msgspec.structs.asdict(options) | {"limit": options.limit or DEFAULT_LIMIT}
    return await service.run(_encoded, answers.documents, service, **asked)


async def document(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(_encoded, answers.document, service, path["id"])


async def remove(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    if not await service.remove(path["id"]):
        raise UnknownDocument(path["id"])


async def stats(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    return await service.run(answers.stats, service)


async def clusters(service: Service, options: Any, body: Any, path: dict[str, str]) -> Any:
    return await answers.clusters(service, **msgspec.structs.asdict(options))


def _encoded(answer: Callable[..., Any], *args: Any, **options: Any) -> bytes:
    """An answer that may be long, encoded by the thread that made it: the loop is for all."""
    return models.encoder.encode(answer(*args, **options))


def _check_batch(service: Service, many: Sequence[Any]) -> None:
    most = service.settings.max_batch
    if len(many) > most:
        raise Refusal(413, f"{len(many)} at once; send {most} at most, or lines")


OPERATIONS = (
    Operation(
        "POST",
        "/v1/check",
        "check",
        "The documents near a text, or near each of many",
        check,
        options=models.CheckOptions,
        body=models.Text | list[models.Text | str],
        answer=models.Checked | list[models.Checked],
        reply=check_lines,
        line=models.TextLine,
        line_answer=models.CheckedLine,
        example={"one": {"text": SOUP}, "many": [SOUP, {"text": "another text"}]},
        answer_example={"one": {"matches": [NEAR]}, "many": [{"matches": [NEAR]}, {"matches": []}]},
        errors=(409,),
    ),
    Operation(
        "POST",
        "/v1/documents",
        "add",
        "Store a document, or many at once",
        add,
        options=models.AddOptions,
        body=models.NewDocument | list[models.NewDocument],
        answer=models.Added | list[models.Added],
        reply=add_lines,
        line=models.NewDocument,
        line_answer=models.Added,
        writes=True,
        example={
            "one": {"id": "soup", "text": SOUP, "metadata": {"from": "a kitchen"}},
            "many": [{"id": "soup", "text": SOUP}, {"id": "other", "text": "another text"}],
        },
        answer_example={"one": ADDED, "many": [ADDED, ADDED | {"id": "other"}]},
        errors=(409,),
    ),
    Operation(
        "GET",
        "/v1/documents",
        "documents",
        "Documents by page, in the order in which they were added",
        documents,
        options=models.ListOptions,
        answer=models.Page,
        listed=listed,
        line_answer=models.Document,
        answer_example={"page": {"documents": [STORED | {"text": None}], "next": "41-300"}},
    ),
    Operation(
        "GET",
        "/v1/documents/{id:any}",
        "document",
        "One document, with its text",
        document,
        answer=models.Document,
        answer_example={"document": STORED},
        errors=(404,),
    ),
    Operation(
        "DELETE",
        "/v1/documents/{id:any}",
        "remove",
        "Take a document out",
        remove,
        writes=True,
        errors=(404,),
    ),
    Operation(
        "POST",
        "/v1/compare",
        "compare",
        "How alike two texts are, and what they share",
        compare,
        options=models.CompareOptions,
        body=models.Pair,
        answer=models.Compared,
        example={"texts": {"a": SOUP, "b": f"{SOUP}!"}, "stored": {"a": SOUP, "b": {"id": "soup"}}},
        errors=(404, 409),
    ),
    Operation(
        "POST",
        "/v1/explain",
        "explain",
        "The vote behind a fingerprint",
        explain,
        options=models.ExplainOptions,
        body=models.Text,
        answer=models.Explained,
        example={"text": {"text": SOUP}},
    ),
    Operation(
        "POST",
        "/v1/search",
        "search",
        "The documents that resemble a text most",
        search,
        options=models.SearchOptions,
        body=models.Text,
        answer=models.Found,
        example={"text": {"text": SOUP}},
        answer_example={"found": {"results": [{"id": "soup", "score": 0.93, "distance": 11}]}},
        errors=(409,),
    ),
    Operation("GET", "/v1/stats", "stats", "Numbers of the collection", stats, answer=models.Stats),
    Operation(
        "GET",
        "/v1/clusters",
        "clusters",
        "The largest clusters",
        clusters,
        options=models.ClusterOptions,
        answer=models.Clusters,
        errors=(409,),
    ),
)
