"""The requests of a client: how each is sent, how its response is decoded, when it is retried.

The functions of the API (`check`, `add`, `get` …) describe a request as a `Call`; their parameters
and documentation are those of the methods of `Client` and `AsyncClient`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, overload
from urllib.parse import quote

import httpx
import msgspec

from neardup.service import models
from neardup.text.differences import check_distinguish

JSON = "application/json"
NDJSON = "application/x-ndjson"
# Maximum lines and bytes of a request of many lines. The service responds while it reads, but httpx
# reads only after it has sent everything: with more bytes than the socket buffers hold, both could
# wait for each other. A longer line is sent alone: the service responds when it has read it.
BATCH_LINES, BATCH_BYTES = 500, 64 << 10
# Problems that end a stream of responses (line too long, client too slow): later lines were not
# read.
STREAM_ENDING_STATUSES = (413, 408)
RETRY_STATUSES = (429, 503)
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.1, 30.0
UNEXPECTED = "unexpected response; is this a neardup service?"

T = TypeVar("T")


class ServiceError(Exception):
    """A problem response of a service.

    status  HTTP status
    title   the phrase of the status
    detail  what is wrong
    errors  the invalid values, one sentence each
    """

    def __init__(self, status: int, title: str, detail: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(status, title, detail, errors)
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors

    def __str__(self) -> str:
        return "; ".join([f"{self.status} {self.title}: {self.detail}".rstrip(": "), *self.errors])


def service_error(status: int, content: bytes) -> ServiceError:
    """Return the error for a failed response; a proxy may have sent it instead of the service."""
    try:
        problem = msgspec.json.decode(content, type=models.ProblemModel)
    except msgspec.MsgspecError:
        return ServiceError(status, UNEXPECTED, content[:200].decode("utf-8", "replace"))
    return ServiceError(status, problem.title, problem.detail, tuple(problem.errors))


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request whose result is a T.

    kind         type of the response, for NDJSON that of a line; None: no body
    idempotent   whether it may be sent again if the outcome is unknown
    none_on_404  whether the result of a 404 response is None; otherwise it is an error
    convert      converts the decoded response to the result
    """

    method: str
    path: str
    kind: Any
    query: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    media_type: str = JSON
    idempotent: bool = True
    none_on_404: bool = False
    convert: Callable[[Any], T] = lambda value: value

    def request(self) -> dict[str, Any]:
        """Return the arguments of `httpx.Client.request`."""
        headers = {"Accept": f"{self.media_type}, application/problem+json;q=0.9"}
        if self.body is not None:
            headers["Content-Type"] = self.media_type
        return {
            "method": self.method,
            "url": self.path,
            "params": {x: _query_value(y) for x, y in self.query.items() if y is not None},
            "content": self.body,
            "headers": headers,
        }

    def decode(self, response: httpx.Response) -> T:
        """Return the result of a response; raise `ServiceError`."""
        if response.status_code == 404 and self.none_on_404:
            return self.convert(None)
        if not response.is_success:
            raise service_error(response.status_code, response.content)
        if self.kind is None:
            return self.convert(True)
        if self.media_type == NDJSON:
            return self.convert([*NdjsonLines(self.kind).feed(response.content)])
        return self.convert(_decode(response.content, self.kind))


def _decode(content: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise ServiceError(200, UNEXPECTED, str(error)) from None


def _query_value(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _near_query(distinguish: str | Iterable[str] | None = None, **limits: Any) -> dict[str, Any]:
    """Return query parameters that say what is near."""
    return {**limits, "distinguish": ",".join(check_distinguish(distinguish)) or None}


class NdjsonLines:
    """Decodes NDJSON from the parts of a stream.

    httpx's `iter_lines` would split at characters that JSON strings may contain.
    """

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._rest = b""

    def feed(self, part: bytes) -> Iterator[Any]:
        """Yield the values of the lines that end in this part; a problem is a value too."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        return (decode_line(line, self.kind) for line in lines if line)

    def feed_complete(self, part: bytes) -> Iterator[Any]:
        """Yield the values; raise `ServiceError` for a problem, which ends an incomplete list."""
        for value in self.feed(part):
            if isinstance(value, models.LineProblemModel):
                raise ServiceError(value.status, value.title, value.detail, tuple(value.errors))
            yield value


def decode_line(line: bytes, kind: Any) -> Any:
    is_problem = line.startswith(b'{"line":')
    return _decode(line, models.LineProblemModel if is_problem else kind)


@overload
def check(  # type: ignore[overload-overlap]  # a str is an iterable of str too
    texts: str,
    similarity: float | None = None,
    *,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = None,
    distinguish: str | Iterable[str] | None = None,
) -> Call[list[models.MatchModel]]: ...
@overload
def check(
    texts: Iterable[str],
    similarity: float | None = None,
    *,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = None,
    distinguish: str | Iterable[str] | None = None,
) -> Call[list[list[models.MatchModel]]]: ...
def check(
    texts: str | Iterable[str],
    similarity: float | None = None,
    *,
    radius: int | None = None,
    recall: float | None = None,
    n: int | None = None,
    distinguish: str | Iterable[str] | None = None,
) -> Call[Any]:
    """Return the documents near a text, or near each of many, as `Collection.check`."""
    query = _near_query(distinguish, similarity=similarity, radius=radius, recall=recall, n=n)
    if isinstance(texts, str):
        body = _text_body(texts)
        return Call("POST", "v1/check", models.CheckedModel, query, body, convert=_matches)
    body = msgspec.json.encode(list(texts))
    return Call("POST", "v1/check", list[models.CheckedModel], query, body, convert=_all_matches)


def check_all(
    texts: Iterable[str], similarity: float | None = None, **options: Any
) -> Iterator[RequestBatch[models.CheckedLineModel | models.LineProblemModel]]:
    """Check any number of texts; yield a result for each, in order, as responses arrive.

    The result of a refused text is a `LineProblemModel`; its `line` is the number of the text,
    from 1.
    """
    query = _near_query(similarity=similarity, **options)
    call: Call[list[Any]] = Call(
        "POST", "v1/check", models.CheckedLineModel, query, media_type=NDJSON
    )
    return _batches(call, ({"text": text} for text in texts))


def add(
    documents: Iterable[Any],
    *,
    unless_duplicate: bool = False,
    similarity: float | None = None,
    radius: int | None = None,
    recall: float | None = None,
    distinguish: str | Iterable[str] | None = None,
) -> Call[list[models.AddedModel]]:
    """Store documents as `Collection.add`: all or none, and on disk when it returns."""
    query = _near_query(distinguish, similarity=similarity, radius=radius, recall=recall)
    query["unless_duplicate"] = unless_duplicate or None
    body = msgspec.json.encode([as_document(one) for one in documents])
    idempotent = not unless_duplicate
    return Call("POST", "v1/documents", list[models.AddedModel], query, body, idempotent=idempotent)


def add_all(
    documents: Iterable[Any], *, unless_duplicate: bool = False, **options: Any
) -> Iterator[RequestBatch[models.AddedModel | models.LineProblemModel]]:
    """Store any number of documents; yield a result for each, in order, as responses arrive.

    The result of a refused document is a `LineProblemModel`; its `line` is the number of the
    document, from 1. With status 503 it may have been stored.
    """
    query = _near_query(unless_duplicate=unless_duplicate or None, **options)
    call: Call[list[Any]] = Call(
        "POST",
        "v1/documents",
        models.AddedModel,
        query,
        media_type=NDJSON,
        idempotent=not unless_duplicate,
    )
    return _batches(call, map(as_document, documents))


def get(id: str) -> Call[models.DocumentModel | None]:  # noqa: A002
    """Return the document with this id, or None."""
    return Call("GET", f"v1/documents/{_quote_id(id)}", models.DocumentModel, none_on_404=True)


def remove(id: str) -> Call[bool]:  # noqa: A002
    """Remove a document; return whether it existed."""
    return Call("DELETE", f"v1/documents/{_quote_id(id)}", None, none_on_404=True, convert=bool)


def page(
    limit: int = 100, *, after: str | None = None, newest: bool = False, texts: bool = False
) -> Call[models.PageModel]:
    """Return documents in the order in which they were added.

    Pass `next` of the page as the `after` of the following call; no id is repeated.
    """
    query = {"limit": limit, "after": after, "newest": newest, "texts": texts}
    return Call("GET", "v1/documents", models.PageModel, query)


def documents(*, newest: bool, texts: bool) -> Call[list[models.DocumentModel]]:
    """Return the call for a stream of all documents."""
    query = {"newest": newest, "texts": texts}
    return Call("GET", "v1/documents", models.DocumentModel, query, media_type=NDJSON)


def compare(
    a: str | dict[str, str],
    b: str | dict[str, str],
    similarity: float | None = None,
    *,
    radius: int | None = None,
) -> Call[models.ComparedModel]:
    """Compare two texts; {"id": …} instead of a text names a stored document."""
    body = msgspec.json.encode({"a": a, "b": b})
    query = {"similarity": similarity, "radius": radius}
    return Call("POST", "v1/compare", models.ComparedModel, query, body)


def explain(text: str, *, bits: int | None = None) -> Call[models.ExplainedModel]:
    """Return the features, weights and votes behind the fingerprint of a text."""
    return Call("POST", "v1/explain", models.ExplainedModel, {"bits": bits}, _text_body(text))


def search(
    text: str, n: int = 6, by: Literal["cosine", "simhash"] = "cosine"
) -> Call[list[models.HitModel]]:
    """Return the documents most similar to a text."""
    query, body = {"n": n, "by": by}, _text_body(text)
    return Call("POST", "v1/search", models.FoundModel, query, body, convert=_results)


def stats() -> Call[models.StatsModel]:
    """Return the statistics of the collection."""
    return Call("GET", "v1/stats", models.StatsModel)


def clusters(
    similarity: float | None = None,
    *,
    distinguish: str | Iterable[str] | None = None,
    limit: int = 20,
    members: int = 20,
) -> Call[models.ClustersModel]:
    """Return the largest clusters."""
    query = _near_query(distinguish, similarity=similarity, limit=limit, members=members)
    return Call("GET", "v1/clusters", models.ClustersModel, query)


def _text_body(text: str) -> bytes:
    return msgspec.json.encode({"text": text})


def _matches(checked: models.CheckedModel) -> list[models.MatchModel]:
    return checked.matches


def _all_matches(checked: list[models.CheckedModel]) -> list[list[models.MatchModel]]:
    return [each.matches for each in checked]


def _results(found: models.FoundModel) -> list[models.HitModel]:
    return found.results


def _quote_id(id_: str) -> str:
    # "." and ".." would be resolved as path segments.
    return quote(id_, safe="").replace(".", "%2E")


def as_document(one: Any) -> dict[str, Any]:
    """Return the request body for a document in a form that `Collection.add` accepts: a tuple, or
    a mapping whose other values are the metadata."""
    if isinstance(one, Mapping):
        rest = {name: value for name, value in one.items() if name not in ("id", "text")}
        inner = rest.pop("metadata", {}) if set(rest) == {"metadata"} else rest
        return {"id": one["id"], "text": one["text"], "metadata": inner}
    id_, text, *metadata = one
    return {"id": id_, "text": text, "metadata": (metadata[0] if metadata else None) or {}}


@dataclass(frozen=True)
class RequestBatch(Generic[T]):
    """NDJSON lines of one request; `first` is the number of the first line among all, from 1."""

    base: Call[list[Any]]
    first: int
    lines: Sequence[bytes]

    @property
    def call(self) -> Call[list[Any]]:
        return replace(self.base, body=b"".join(self.lines))

    def results(self, values: list[Any]) -> tuple[list[T], Iterator[RequestBatch[T]]]:
        """Return the results of the lines that have one, and a batch for each other line."""
        values = list(values)
        missing = len(self.lines) - len(values)
        has_problem = bool(values) and isinstance(values[-1], models.LineProblemModel)
        if missing < 0 or (
            missing and not (has_problem and values[-1].status in STREAM_ENDING_STATUSES)
        ):
            raise ServiceError(
                200, UNEXPECTED, f"{len(values)} responses to {len(self.lines)} lines"
            )
        if missing:
            # The problem does not tell which line caused it: send each remaining line alone.
            values.pop()
        results: list[Any] = [
            msgspec.structs.replace(one, line=number)
            if isinstance(one, models.LineProblemModel)
            else one
            for number, one in enumerate(values, self.first)
        ]
        rest = (
            RequestBatch[T](self.base, self.first + at, self.lines[at : at + 1])
            for at in range(len(values), len(self.lines))
        )
        return results, rest


def _batches(call: Call[list[Any]], values: Iterable[Any]) -> Iterator[RequestBatch[Any]]:
    first, lines, size = 1, list[bytes](), 0
    for value in values:
        line = msgspec.json.encode(value) + b"\n"
        if lines and (len(lines) >= BATCH_LINES or size + len(line) > BATCH_BYTES):
            yield RequestBatch(call, first, lines)
            first, lines, size = first + len(lines), [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield RequestBatch(call, first, lines)


def http_options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Return the arguments of `httpx.Client`."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"url is {url!r}; it must begin with http:// or https://")
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return {
        "base_url": url,
        "headers": headers,
        "timeout": httpx.Timeout(timeout),
        # The token goes to this host only: neither through a proxy of the environment nor along a
        # redirect.
        "trust_env": False,
        "follow_redirects": False,
    }


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff from 0.1 s, or Retry-After if that is longer."""

    retries: int

    def after_response(self, tries: int, call: Call[Any], response: httpx.Response) -> float | None:
        """Return the seconds to wait before the next try, or None to accept the response."""
        if response.status_code not in RETRY_STATUSES or tries >= self.retries:
            return None
        if response.status_code == 503 and not call.idempotent and not _was_not_taken(response):
            return None
        after = response.headers.get("Retry-After", "")
        seconds = min(float(after), MAX_PAUSE_SECONDS) if after.isdecimal() else 0.0
        return max(_pause(tries), seconds)

    def after_error(self, tries: int, call: Call[Any], error: Exception) -> float | None:
        """Return the seconds to wait before the next try, or None to raise the error."""
        if tries >= self.retries or not isinstance(error, httpx.TransportError):
            return None
        never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        return _pause(tries) if call.idempotent or never_sent else None


def _was_not_taken(response: httpx.Response) -> bool:
    """Return whether the service says that the request had no effect."""
    try:
        problem = msgspec.json.decode(response.content, type=models.ProblemModel)
    except msgspec.MsgspecError:
        return False
    return problem.type == models.NOT_TAKEN


def _pause(tries: int) -> float:
    # Random, so that many clients do not retry at the same moment.
    return min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0**tries) * (0.5 + random.random() / 2)
