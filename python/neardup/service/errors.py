"""Errors as HTTP responses: problem details of RFC 9457."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from neardup.collection import CollectionError, CorruptCollectionError, LockedCollectionError
from neardup.service.models import NOT_TAKEN, ProblemModel, encoder
from neardup.service.worker_pool import BusyError

log = logging.getLogger("neardup.service")

PROBLEM_JSON = "application/problem+json"


class DocumentNotFoundError(LookupError):
    """The collection has no document with this id."""

    def __init__(self, id_: str) -> None:
        super().__init__(id_)
        self.id = id_


class TooManyDocumentsError(ValueError):
    """The collection is too large for this request."""


class HTTPProblem(Exception):
    """An error with the status, detail and headers of its response."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: list[str] | None = None,
        headers: Mapping[str, str] | None = None,
        type_uri: str = "about:blank",
    ) -> None:
        super().__init__(detail)
        self.type_uri = type_uri
        self.status = status
        self.detail = detail
        self.errors = errors or []
        self.headers = dict(headers or {})

    def response(self) -> Response:
        body = ProblemModel(
            title=reason_phrase(self.status),
            status=self.status,
            type=self.type_uri,
            detail=self.detail,
            errors=self.errors,
        )
        return Response(
            encoder.encode(body), self.status, headers=self.headers, media_type=PROBLEM_JSON
        )


def problem_response(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None
) -> Response:
    return HTTPProblem(status, detail, headers=headers).response()


def reason_phrase(status: int) -> str:
    return HTTPStatus(status).phrase


def to_problem(error: Exception) -> HTTPProblem:
    """Return the problem that reports an error to the client.

    The message of an unexpected error is neither sent nor logged: it might hold a text.
    """
    if isinstance(error, HTTPProblem):
        return error
    if isinstance(error, BusyError):
        return HTTPProblem(
            503,
            f"the service is overloaded; retry in {error.retry_after} s",
            headers={"Retry-After": str(error.retry_after)},
            type_uri=NOT_TAKEN,
        )
    if isinstance(error, TimeoutError):
        return HTTPProblem(
            503,
            "timed out; retry in 5 s (documents may have been stored)",
            headers={"Retry-After": "5"},
        )
    if isinstance(error, DocumentNotFoundError):
        return HTTPProblem(404, "no document has this id")
    if isinstance(error, TooManyDocumentsError):
        return HTTPProblem(409, str(error))
    if isinstance(error, LockedCollectionError):
        return HTTPProblem(
            503,
            "another process is writing to the collection; retry in 5 s",
            headers={"Retry-After": "5"},
            type_uri=NOT_TAKEN,
        )
    if isinstance(error, CollectionError) and not isinstance(error, CorruptCollectionError):
        # Without the path of the folder, which the message begins with.
        detail = str(error).partition(": ")[2] or "the collection does not support this"
        return HTTPProblem(409, detail)
    if isinstance(error, ValueError | TypeError) and not isinstance(error, CollectionError):
        return HTTPProblem(422, str(error))
    return unexpected_problem(error)


def unexpected_problem(error: Exception) -> HTTPProblem:
    """Log the type and the traceback of an error; return a problem that discloses neither."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s while handling a request\n%s", type(error).__name__, frames)
    if isinstance(error, OSError):
        return HTTPProblem(
            503, "disk error; see the log of the service", headers={"Retry-After": "30"}
        )
    return HTTPProblem(500, "internal error; see the log of the service")
