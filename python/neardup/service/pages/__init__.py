"""The pages of the service, for people, in English and Chinese, light and dark.

    check        a text against the collection: near documents, copied passages
    compare      two texts side by side; a text beside a stored document
    learn        SimHash step by step (its lessons are in `service.learning`)
    collection   statistics, the survey, examples to mark, clusters, newest documents
    marks        marked pairs and their score against a threshold
    sign_in      the token in a cookie, where the service asks for one

Each of these modules has a function `routes(service, …)`: its endpoints as Starlette routes. A page
at /path has a JSON page at /path.json with the same content for programs.

A request goes through `page_input` (reads the text from address, form, file, cache or collection;
turns errors into pages), the module of the page (computes in the worker pool, mostly by `answers`,
and builds a view), and `shell` (language, theme, template). Strings are in `phrases` and
`learn_phrases`, templates and assets in `service/templates` and `service/static`; parts of pages
that reports show too come from `neardup.reports`.

Pages work without scripts, load nothing from other hosts, and never interpret foreign text: it is
escaped, with its invisible characters made visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.reports.formatting import line_pieces
from neardup.service import static_files
from neardup.service.pages import check, collection, compare, learn, marks, shell, sign_in
from neardup.service.pages.page_input import TextCache

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.service.state import Service

__all__ = ["not_found_page", "routes"]


def routes(service: Service) -> list[BaseRoute]:
    """Return the routes of all pages, of their JSON pages, and of assets shared with reports."""
    cache = TextCache()
    stored_marks = marks.Marks(marks.NotesFile(service.collection.path))
    return [
        *check.routes(service, cache),
        *compare.routes(service, cache, stored_marks),
        *collection.routes(service, stored_marks),
        *marks.routes(service, stored_marks),
        *learn.routes(service),
        *sign_in.routes(service),
        *static_files.routes(service),
    ]


def not_found_page(request: Request, service: Service) -> Response:
    """Return the page of a path that does not exist."""
    detail = shell.request_wording(request)("problem.no_page")
    return shell.render_page(
        request, service, "problem.html", page="", status=404, detail=line_pieces(detail)
    )
