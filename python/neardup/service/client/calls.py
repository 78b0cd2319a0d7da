"""What a client sends, and what it makes of the answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from neardup.service import models

if TYPE_CHECKING:
    import httpx


JSON = "application/json"
NDJSON = "application/x-ndjson"
# Lines and bytes of one request. So many are sent again if a connection breaks. The service answers
# while it reads, but httpx reads only when all is sent: more than the buffers between the two take
# could make both wait for each other. A longer line goes alone; it is answered when it is read.
BATCH, BATCH_BYTES = 500, 64 << 10
# What ends a stream of answers early: a line too long, or too slow. What follows was not looked at.
ENDS = (413, 408)

T = TypeVar("T")

Documents = Iterable[Any]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, whose answer is a T.

    kind     the type of the answer; of a line of it where lines are sent
    repeats  whether it may be sent again when it is not known what became of it
    absent   404 is an answer too: None
    then     what the caller is given of the answer
    """

    method: str
    path: str
    kind: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    type: str = JSON
    repeats: bool = True
    absent: bool = False
    then: Callable[[Any], T] = lambda found: found

    def request(self) -> dict[str, Any]:
        """As httpx takes it."""
        headers = {"Accept": f"{self.type}, application/problem+json;q=0.9"}
        if self.body is not None:
            headers["Content-Type"] = self.type
        return {
            "method": self.method,
            "url": self.path,
            "params": {x: _shown(y) for x, y in self.options.items() if y is not None},
            "content": self.body,
            "headers": headers,
        }

    def answer(self, response: httpx.Response) -> T:
        """The answer as a value; raises `ServiceError`."""
        if response.status_code == 404 and self.absent:
            return self.then(None)
        if not response.is_success:
            raise error_of(response.status_code, response.content)
        if self.kind is None:
            return self.then(True)
        if self.type == NDJSON:
            return self.then([*NdjsonLines(self.kind).take(response.content)])
        return self.then(_decoded(response.content, self.kind))


def error_of(status: int, content: bytes) -> ServiceError:
    """What the service has said, or what stands between it and us."""
    try:
        problem = msgspec.json.decode(content, type=models.Problem)
    except msgspec.MsgspecError:
        return ServiceError(
            status, "no answer of neardup", content[:200].decode("utf-8", "replace")
        )
    return ServiceError(status, problem.title, problem.detail, tuple(problem.errors))


def decoded_line(line: bytes, kind: Any) -> Any:
    """A line as a value, or as what was wrong with it."""
    if line.startswith(b'{"line":'):
        return _decoded(line, models.LineProblem)
    return _decoded(line, kind)


def _decoded(content: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise ServiceError(200, "an answer that is not understood", str(error)) from None


def _shown(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


# ----------------------------------------------------------------------------------------- requests


def check(texts: str | Iterable[str], **options: Any) -> Call[list[Any]]:
    if isinstance(texts, str):
        body = msgspec.json.encode({"text": texts})
        return Call("POST", "v1/check", models.Checked, options, body, then=_matches)
    body = msgspec.json.encode(list(texts))
    return Call("POST", "v1/check", list[models.Checked], options, body, then=_matches_of_each)


def add(
    documents: Documents, *, unless_duplicate: bool, **options: Any
) -> Call[list[models.Added]]:
    body = msgspec.json.encode([as_document(one) for one in documents])
    options["unless_duplicate"] = unless_duplicate or None
    repeats = not unless_duplicate
    return Call("POST", "v1/documents", list[models.Added], options, body, repeats=repeats)


def get(id_: str) -> Call[models.Document | None]:
    return Call("GET", f"v1/documents/{_quoted(id_)}", models.Document, absent=True)


def remove(id_: str) -> Call[bool]:
    return Call("DELETE", f"v1/documents/{_quoted(id_)}", None, absent=True, then=bool)


def page(**options: Any) -> Call[models.Page]:
    return Call("GET", "v1/documents", models.Page, options)


def documents(**options: Any) -> Call[list[models.Document]]:
    """All of them, as lines; for `stream`."""
    return Call("GET", "v1/documents", models.Document, options, type=NDJSON)


def compare(a: Any, b: Any, **options: Any) -> Call[models.Compared]:
    return Call(
        "POST", "v1/compare", models.Compared, options, msgspec.json.encode({"a": a, "b": b})
    )


def explain(text: str, **options: Any) -> Call[models.Explained]:
    return Call("POST", "v1/explain", models.Explained, options, _text(text))


def search(text: str, **options: Any) -> Call[list[models.Hit]]:
    return Call("POST", "v1/search", models.Found, options, _text(text), then=_results)


def stats() -> Call[models.Stats]:
    return Call("GET", "v1/stats", models.Stats)


def clusters(**options: Any) -> Call[models.Clusters]:
    return Call("GET", "v1/clusters", models.Clusters, options)


def add_all(
    documents: Documents, *, unless_duplicate: bool, **options: Any
) -> Iterator[RequestBatch]:
    """So many at a time, by lines."""
    options["unless_duplicate"] = unless_duplicate or None
    call: Call[list[Any]] = Call(
        "POST", "v1/documents", models.Added, options, type=NDJSON, repeats=not unless_duplicate
    )
    return _batches(call, map(as_document, documents))


def check_all(texts: Iterable[str], **options: Any) -> Iterator[RequestBatch]:
    call: Call[list[Any]] = Call("POST", "v1/check", models.CheckedLine, options, type=NDJSON)
    return _batches(call, ({"text": text} for text in texts))


@dataclass(frozen=True)
class RequestBatch:
    """Lines of one request; `first` is the number of the first of them among all, from 1."""

    of: Call[list[Any]]
    first: int
    lines: Sequence[bytes]

    @property
    def call(self) -> Call[list[Any]]:
        return replace(self.of, body=b"".join(self.lines))

    def answered(self, found: list[Any]) -> tuple[list[Any], Iterator[RequestBatch]]:
        """The answers, one for each line that has one, and what is still to be asked."""
        found = list(found)
        left = len(self.lines) - len(found)
        is_ended = bool(found) and isinstance(found[-1], models.LineProblem)
        if left < 0 or (left and not (is_ended and found[-1].status in ENDS)):
            raise ServiceError(
                200,
                "an answer that is not understood",
                f"{len(found)} answers to {len(self.lines)} lines",
            )
        if left:
            # Which line it was is not told: one by one, each has an answer of its own.
            found.pop()
        answers = [
            msgspec.structs.replace(one, line=number)
            if isinstance(one, models.LineProblem)
            else one
            for number, one in enumerate(found, self.first)
        ]
        done = len(found)
        rest = (
            RequestBatch(self.of, self.first + at, self.lines[at : at + 1])
            for at in range(done, len(self.lines))
        )
        return answers, rest


def _batches(call: Call[list[Any]], values: Iterable[Any]) -> Iterator[RequestBatch]:
    first, lines, size = 1, list[bytes](), 0
    for value in values:
        line = msgspec.json.encode(value) + b"\n"
        if lines and (len(lines) >= BATCH or size + len(line) > BATCH_BYTES):
            yield RequestBatch(call, first, lines)
            first, lines, size = first + len(lines), [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield RequestBatch(call, first, lines)


def _text(text: str) -> bytes:
    return msgspec.json.encode({"text": text})


def _matches(found: models.Checked) -> list[models.Match]:
    return found.matches


def _matches_of_each(found: list[models.Checked]) -> list[list[models.Match]]:
    return [each.matches for each in found]


def _results(found: models.Found) -> list[models.Hit]:
    return found.results


class NdjsonLines:
    """Lines out of parts of a stream. Not by httpx, which ends a line at characters that JSON
    strings may hold."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._rest = b""

    def take(self, part: bytes) -> Iterator[Any]:
        *lines, self._rest = (self._rest + part).split(b"\n")
        return (decoded_line(line, self.kind) for line in lines if line)

    def take_whole(self, part: bytes) -> Iterator[Any]:
        """The same of a list. One that cannot go on ends with a line that says why: it is raised,
        since what came before is not all."""
        for found in self.take(part):
            if isinstance(found, models.LineProblem):
                raise ServiceError(found.status, found.title, found.detail, tuple(found.errors))
            yield found


def as_document(one: Any) -> dict[str, Any]:
    """A document as `Collection.add` takes it: a tuple, or a dict whose other values are its
    metadata."""
    if isinstance(one, Mapping):
        rest = {name: value for name, value in one.items() if name not in ("id", "text")}
        inner = rest.pop("metadata", {}) if set(rest) == {"metadata"} else rest
        return {"id": one["id"], "text": one["text"], "metadata": inner}
    id_, text, *metadata = one
    return {"id": id_, "text": text, "metadata": (metadata[0] if metadata else None) or {}}


def _quoted(id_: str) -> str:
    # A part of nothing but dots would be taken for a folder.
    return quote(id_, safe="").replace(".", "%2E")


# What a service refuses.


class ServiceError(Exception):
    """A service has refused a request, or could not answer it.

    status  of the answer
    title   what kind of problem it is
    detail  what is wrong
    errors  the values that are wrong, one sentence each
    """

    def __init__(self, status: int, title: str, detail: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(status, title, detail, errors)
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors

    def __str__(self) -> str:
        return "; ".join([f"{self.status} {self.title}: {self.detail}".rstrip(": "), *self.errors])


# How a client reaches a service.


def connection(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """What httpx is to be made with."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"the URL is {url!r}; it must begin with http:// or https://")
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return {
        "base_url": url,
        "headers": headers,
        "timeout": httpx.Timeout(timeout),
        # A service is asked as it was named: neither by way of another host nor at another place.
        "trust_env": False,
        "follow_redirects": False,
    }


# When a request is sent again, and after how long.

# Answers that ask to be patient.
LATER = (429, 503)
FIRST, LONGEST = 0.1, 30.0


@dataclass(frozen=True)
class RetryPolicy:
    """Sends again after 0.1 s, 0.2 s, 0.4 s and so on, or as long as the service asks for."""

    retries: int

    def after_answer(self, tries: int, call: Call[Any], response: httpx.Response) -> float | None:
        """Seconds to wait before the next try, or None if this is the answer."""
        if response.status_code not in LATER or tries >= self.retries:
            return None
        if response.status_code == 503 and not call.repeats and not _is_untouched(response):
            return None
        asked = response.headers.get("Retry-After", "")
        return max(_pause(tries), min(float(asked), LONGEST) if asked.isdecimal() else 0.0)

    def after_error(self, tries: int, call: Call[Any], error: Exception) -> float | None:
        """The same where a connection broke. One that was never made can be made again."""
        import httpx

        if tries >= self.retries or not isinstance(error, httpx.TransportError):
            return None
        never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        return _pause(tries) if call.repeats or never_sent else None


def _is_untouched(response: httpx.Response) -> bool:
    """Whether the service says that it has done nothing."""
    try:
        problem = msgspec.json.decode(response.content, type=models.Problem)
    except msgspec.MsgspecError:
        return False
    return problem.type == models.NOT_TAKEN


def _pause(tries: int) -> float:
    # Not all at the same moment, if there are many clients.
    return min(LONGEST, FIRST * 2.0**tries) * (0.5 + random.random() / 2)
