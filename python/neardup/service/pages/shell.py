"""The frame of every page: language, colour theme, template, JSON page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from neardup.reports.formatting import number
from neardup.reports.page import LANGUAGES, Wording
from neardup.reports.phrases import Phrases
from neardup.service.auth import AUTHENTICATOR_KEY, COOKIE, TOKEN_KEY
from neardup.service.pages.phrases import PHRASES

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from neardup.service.state import Service

THEMES = ("auto", "light", "dark")
# Language and theme are remembered for a year.
COOKIE_SECONDS = 365 * 24 * 3600
Endpoint = Callable[[Request], Awaitable[Response]]


@cache
def environment() -> Environment:
    """Return the template environment: templates of the service, then those of reports."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader("neardup.service"), PackageLoader("neardup.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["field"] = field_value
    return found


def field_value(value: object) -> Markup:
    """Escape the value of a form field; the template's filter `field`.

    The field holds exactly this text, while the source of the page has no invisible characters:
    these become character references. U+0000 cannot be in a page; references to C1 controls would
    be read as Windows-1252, so they stay.
    """
    from markupsafe import Markup, escape

    text = str(escape(str(value).replace("\0", "\ufffd")))
    return Markup(  # noqa: S704
        "".join(
            char
            if char.isprintable() or char in "\n\t" or "\x80" <= char <= "\x9f"
            else f"&#x{ord(char):x};"
            for char in text
        )
    )


def request_language(request: Request) -> str:
    """Return the language of the query, the cookie, or the Accept-Language header; else English."""
    for given in (request.query_params.get("lang"), request.cookies.get("lang")):
        if given in LANGUAGES:
            return given
    preferences = []
    for at, part in enumerate(request.headers.get("accept-language", "")[:500].split(",")):
        name, _, rest = part.strip().partition(";")
        try:
            quality = float(rest.strip().removeprefix("q=")) if rest else 1.0
        except ValueError:
            quality = 0.0
        preferences.append((-quality, at, name.lower().split("-")[0]))
    return next(
        (name for quality, _, name in sorted(preferences) if quality and name in LANGUAGES), "en"
    )


def request_theme(request: Request) -> str:
    """Return the theme of the query or the cookie; "auto" follows the system."""
    for given in (request.query_params.get("theme"), request.cookies.get("theme")):
        if given in THEMES:
            return given
    return "auto"


def request_wording(request: Request, phrases: Phrases | None = None) -> Wording:
    """Return the phrases of all pages, and `phrases`, in the language of the request."""
    return Wording(request_language(request), {**PHRASES, **(phrases or {})})


def with_query(request: Request, path: str, **changes: str | None) -> str:
    """Return a path with the query of this request and `changes`; None drops a parameter."""
    given = [(name, value) for name, value in request.query_params.multi_items()]
    kept = [(name, value) for name, value in given if name not in changes]
    kept += [(name, value) for name, value in changes.items() if value is not None]
    return f"{path}?{urlencode(kept, errors='replace')}" if kept else path


def render_page(
    request: Request,
    service: Service,
    template: str,
    *,
    page: str,
    status: int = 200,
    phrases: Phrases | None = None,
    **context: Any,
) -> Response:
    """Render a template within the frame.

    page      its name in the navigation: "check", "compare", "learn", "collection" or ""
    phrases   phrases of this page only
    context   values of the template
    """
    words = request_wording(request, phrases)
    path = request.url.path.removesuffix("/")
    if not path or request.method == "POST":
        # Links to this page: "/" is an alias, and a form's address may have no GET.
        path = f"/{page or 'check'}"
    html = (
        environment()
        .get_template(template)
        .render(
            lang=words.language,
            t=words,
            words=words,
            number=number,
            # Between items of a list, and between sentences.
            comma=words.comma,
            gap="" if words.language == "zh" else " ",
            page=page,
            theme=request_theme(request),
            themes=THEMES,
            languages=LANGUAGES,
            demo=service.demo,
            signed_in=COOKIE in request.cookies and TOKEN_KEY in request.scope,
            # Without a token no page can be opened.
            show_pages=AUTHENTICATOR_KEY not in request.scope or TOKEN_KEY in request.scope,
            version=asset_version(),
            here=lambda **changes: with_query(request, path, **changes),
            json_link=with_query(request, f"{path}.json", lang=None, theme=None),
            **context,
        )
    )
    response = HTMLResponse(html, status)
    response.headers["Vary"] = "Accept-Language, Cookie"
    response.headers["Cache-Control"] = "no-store"
    set_choice_cookies(request, response)
    return response


def set_choice_cookies(request: Request, response: Response) -> None:
    """Remember the language and theme that the query chooses."""
    for name, allowed in (("lang", LANGUAGES), ("theme", THEMES)):
        if (given := request.query_params.get(name)) in allowed:
            response.set_cookie(name, str(given), max_age=COOKIE_SECONDS, path="/", samesite="lax")


def wants_json(request: Request) -> bool:
    return request.url.path.endswith(".json")


def json_page(data: Mapping[str, Any]) -> Response:
    """Return the JSON page of a page: its content, for programs."""
    response = JSONResponse(dict(data))
    response.headers["Cache-Control"] = "no-store"
    return response


def page_routes(
    path: str, endpoint: Endpoint, *, methods: tuple[str, ...] = ("GET",)
) -> list[BaseRoute]:
    """Return the routes of a page and of its JSON page, which takes GET only."""
    name = path.strip("/") or "home"
    return [
        Route(path, endpoint, methods=list(methods), name=name),
        Route(f"{path}.json", endpoint, methods=["GET"], name=f"{name}.json"),
    ]


@cache
def asset_version() -> str:
    """Return the version in addresses of assets: after an update browsers load them again."""
    return version("neardup")
