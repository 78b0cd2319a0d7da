"""What all pages have in common: language, colours, the frame, and a twin in JSON."""

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
from neardup.service.pages.phrases import COLLECTION_PHRASES, PHRASES

if TYPE_CHECKING:
    from jinja2 import Environment

    from neardup.service.state import Service

COMMON = {**PHRASES, **COLLECTION_PHRASES}
THEMES = ("auto", "light", "dark")
# What is chosen stays so for a year.
YEAR = 365 * 24 * 3600
Endpoint = Callable[[Request], Awaitable[Response]]


@cache
def environment() -> Environment:
    """Templates of the service; those of reports can be imported by their names."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader("neardup.service"), PackageLoader("neardup.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def language_of(request: Request) -> str:
    """As the address says, or else a cookie, or else the browser's first language we have."""
    for given in (request.query_params.get("lang"), request.cookies.get("lang")):
        if given in LANGUAGES:
            return given
    wishes = []
    for at, part in enumerate(request.headers.get("accept-language", "")[:500].split(",")):
        name, _, rest = part.strip().partition(";")
        try:
            quality = float(rest.strip().removeprefix("q=")) if rest else 1.0
        except ValueError:
            quality = 0.0
        wishes.append((-quality, at, name.lower().split("-")[0]))
    return next((name for least, _, name in sorted(wishes) if least and name in LANGUAGES), "en")


def theme_of(request: Request) -> str:
    """As the address says, or else a cookie, or else as the system has it."""
    for given in (request.query_params.get("theme"), request.cookies.get("theme")):
        if given in THEMES:
            return given
    return "auto"


def words_of(request: Request, phrases: Phrases | None = None) -> Wording:
    """All phrases in the language of whoever asks."""
    return Wording(language_of(request), {**COMMON, **(phrases or {})})


def with_query(request: Request, path: str, **changes: str | None) -> str:
    """An address with the parameters of this page, some of them changed; None leaves one out."""
    given = [(name, value) for name, value in request.query_params.multi_items()]
    kept = [(name, value) for name, value in given if name not in changes]
    kept += [(name, value) for name, value in changes.items() if value is not None]
    return f"{path}?{urlencode(kept, errors='replace')}" if kept else path


def page(
    request: Request,
    service: Service,
    template: str,
    *,
    page: str,
    status: int = 200,
    phrases: Phrases | None = None,
    **context: Any,
) -> Response:
    """A page, written down.

    page      its name in the navigation: "check", "compare", "learn", "collection" or ""
    phrases   what it says beside the phrases all pages have
    context   what else the template speaks of
    """
    words = words_of(request, phrases)
    path = request.url.path.removesuffix("/")
    if not path or request.method == "POST":
        # The first page is called by its own name; what a form was sent to may be no page.
        path = f"/{page or 'check'}"
    html = (
        environment()
        .get_template(template)
        .render(
            lang=words.language,
            t=words,
            words=words,
            number=number,
            page=page,
            theme=theme_of(request),
            themes=THEMES,
            languages=LANGUAGES,
            demo=service.demo,
            signed_in=COOKIE in request.cookies and TOKEN_KEY in request.scope,
            # Without a token there is no page to go to.
            show_pages=AUTHENTICATOR_KEY not in request.scope or TOKEN_KEY in request.scope,
            stamp=stamp(),
            here=lambda **changes: with_query(request, path, **changes),
            twin=with_query(request, f"{path}.json", lang=None, theme=None),
            **context,
        )
    )
    answer = HTMLResponse(html, status)
    answer.headers["Vary"] = "Accept-Language, Cookie"
    answer.headers["Cache-Control"] = "no-store"
    remember(request, answer)
    return answer


def remember(request: Request, answer: Response) -> None:
    """What the address chooses holds for the next pages."""
    for name, allowed in (("lang", LANGUAGES), ("theme", THEMES)):
        if (given := request.query_params.get(name)) in allowed:
            answer.set_cookie(name, str(given), max_age=YEAR, path="/", samesite="lax")


def is_twin(request: Request) -> bool:
    return request.url.path.endswith(".json")


def twin(data: Mapping[str, Any], status: int = 200) -> Response:
    """What a page says, for programs."""
    answer = JSONResponse(dict(data), status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def both(path: str, endpoint: Endpoint, *, methods: tuple[str, ...] = ("GET",)) -> list[BaseRoute]:
    """The route of a page and that of its twin, which can only be read."""
    name = path.strip("/") or "home"
    return [
        Route(path, endpoint, methods=list(methods), name=name),
        Route(f"{path}.json", endpoint, methods=["GET"], name=f"{name}.json"),
    ]


@cache
def stamp() -> str:
    """What tells browsers that files are those of another version."""
    return version("neardup")
