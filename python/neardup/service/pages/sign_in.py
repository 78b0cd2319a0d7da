"""Signing in, where the service wants a token: it is kept in a cookie that scripts cannot read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Route

from neardup.service.auth import AUTHENTICATOR_KEY, COOKIE, Authenticator
from neardup.service.pages import page_input, shell

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from neardup.service.state import Service

# Of a form that anyone may send.
MOST_BYTES = 8 << 10


def routes(service: Service) -> list[BaseRoute]:
    @page_input.problem_page(service, "")
    async def sign_in(request: Request) -> Response:
        rights: Authenticator | None = request.scope.get(AUTHENTICATOR_KEY)
        if rights is None:
            # No token is needed.
            return page_input.see_other(request, "/check")
        if request.method in ("GET", "HEAD"):
            return _form(request, service, following(request.query_params.get("next", "")))
        async with page_input.form_of(request, service, most=MOST_BYTES) as form:
            given = page_input.field(form, "token").strip()
            target = following(page_input.coded(form, "next"))
        peer = request.client.host if request.client else "unknown"
        if not given.isascii() or await rights.find_token(given, peer) is None:
            return _form(request, service, target, wrong=True)
        answer = RedirectResponse(target, 303)
        answer.set_cookie(
            COOKIE,
            # Of a token in base64 a cookie would make something else.
            quote(given, safe=""),
            path="/",
            httponly=True,
            samesite="strict",
            # Behind a proxy the service itself is asked over HTTP.
            secure="https" in (request.url.scheme, request.headers.get("x-forwarded-proto")),
        )
        return answer

    async def sign_out(request: Request) -> Response:
        answer = RedirectResponse("/sign-in", 303)
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return answer

    return [
        Route("/sign-in", sign_in, methods=["GET", "POST"], name="sign-in"),
        Route("/sign-out", sign_out, methods=["POST"], name="sign-out"),
    ]


def following(given: str) -> str:
    """Where to go afterwards: a page of this service, whatever the address says."""
    is_path = given.startswith("/") and not given.startswith(("//", "/\\"))
    return given if is_path and given.isprintable() else "/check"


def _form(request: Request, service: Service, target: str, *, wrong: bool = False) -> Response:
    return shell.page(
        request,
        service,
        "sign_in.html",
        page="",
        status=401 if wrong else 200,
        following=target,
        wrong=wrong,
    )
