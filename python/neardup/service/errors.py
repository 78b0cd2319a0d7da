"""What a question can fail by, beside what the library itself raises."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from neardup.collection import CollectionError, CorruptCollectionError, LockedCollectionError
from neardup.service.models import NOT_TAKEN, Problem, encoder
from neardup.service.worker_pool import Busy


class UnknownDocument(LookupError):
    """There is no document of this id."""

    def __init__(self, id_: str) -> None:
        super().__init__(id_)
        self.id = id_


class TooMany(ValueError):
    """More than can be answered at once."""


# Errors as answers: problem details of RFC 9457.

MEDIA_TYPE = "application/problem+json"


class Refusal(Exception):
    """A request that cannot be answered, and what to tell about it."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: list[str] | None = None,
        headers: Mapping[str, str] | None = None,
        kind: str = "about:blank",
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.status = status
        self.detail = detail
        self.errors = errors or []
        self.headers = dict(headers or {})

    def response(self) -> Response:
        return problem(
            self.status, self.detail, errors=self.errors, headers=self.headers, kind=self.kind
        )


def problem(
    status: int,
    detail: str,
    *,
    errors: list[str] | None = None,
    headers: Mapping[str, str] | None = None,
    kind: str = "about:blank",
) -> Response:
    """The answer that says what is wrong; `kind` is its type."""
    body = Problem(
        title=title_of(status), status=status, type=kind, detail=detail, errors=errors or []
    )
    return Response(
        encoder.encode(body), status, headers=dict(headers or {}), media_type=MEDIA_TYPE
    )


def title_of(status: int) -> str:
    return HTTPStatus(status).phrase


# What is raised, as what is told.

log = logging.getLogger("neardup.service")


def refusal_of(error: Exception) -> Refusal:
    """The refusal an error becomes. What nobody has thought of is logged without its message,
    and told by no word of it: it might hold a text."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, Busy):
        return Refusal(
            503,
            "too much is waiting; try again later",
            headers={"Retry-After": str(error.after)},
            kind=NOT_TAKEN,
        )
    if isinstance(error, TimeoutError):
        return Refusal(
            503,
            "no answer in time; try again later (what was to be stored may have been)",
            headers={"Retry-After": "5"},
        )
    if isinstance(error, UnknownDocument):
        return Refusal(404, "there is no document of this id")
    if isinstance(error, TooMany):
        return Refusal(409, str(error))
    if isinstance(error, LockedCollectionError):
        return Refusal(
            503,
            "another process writes to the collection",
            headers={"Retry-After": "5"},
            kind=NOT_TAKEN,
        )
    if isinstance(error, CollectionError) and not isinstance(error, CorruptCollectionError):
        # It names the folder, which is nobody's business.
        return Refusal(409, str(error).partition(": ")[2] or "the collection cannot do this")
    if isinstance(error, ValueError | TypeError) and not isinstance(error, CollectionError):
        return Refusal(422, str(error))
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s while answering\n%s", type(error).__name__, frames)
    if isinstance(error, OSError):
        return Refusal(503, "the disk refused; see the log", headers={"Retry-After": "30"})
    return Refusal(500, "something went wrong here; see the log of the service")
