"""The pages Sign in and Sign out: the token of the service in a cookie that scripts cannot read."""

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

# The form is open to everybody, so it is small.
MAX_FORM_BYTES = 8 << 10


def routes(service: Service) -> list[BaseRoute]:
    @page_input.problem_page(service, "")
    async def sign_in(request: Request) -> Response:
        authenticator: Authenticator | None = request.scope.get(AUTHENTICATOR_KEY)
        if authenticator is None:
            # The service asks for no token.
            return page_input.redirect(request, "/check")
        if request.method in ("GET", "HEAD"):
            return _form(
                request, service, page_input.local_path(request.query_params.get("next", ""))
            )
        async with page_input.read_form(request, service, max_bytes=MAX_FORM_BYTES) as form:
            token = page_input.form_field(form, "token").strip()
            target = page_input.local_path(page_input.encoded_field(form, "next"))
        peer = request.client.host if request.client else "unknown"
        if not token.isascii() or await authenticator.find_token(token, peer) is None:
            return _form(request, service, target, wrong=True)
        response = RedirectResponse(target, 303)
        response.set_cookie(
            COOKIE,
            # Escaped: `set_cookie` would put the / and = of base64 into quotes.
            quote(token, safe=""),
            path="/",
            httponly=True,
            samesite="strict",
            # A TLS proxy forwards by HTTP.
            secure="https" in (request.url.scheme, request.headers.get("x-forwarded-proto")),
        )
        return response

    async def sign_out(request: Request) -> Response:
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response

    return [
        Route("/sign-in", sign_in, methods=["GET", "POST"], name="sign-in"),
        Route("/sign-out", sign_out, methods=["POST"], name="sign-out"),
    ]


def _form(request: Request, service: Service, target: str, *, wrong: bool = False) -> Response:
    return shell.render_page(
        request,
        service,
        "sign_in.html",
        page="",
        status=401 if wrong else 200,
        next_path=target,
        wrong=wrong,
    )
