"""Errors as answers: problem details of RFC 9457."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from neardup.service.models import Problem, encoder

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
