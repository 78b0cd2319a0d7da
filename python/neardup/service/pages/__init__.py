"""The pages of the service, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.reports.formatting import line_pieces
from neardup.service import static_files
from neardup.service.pages import check, collection, compare, learn, marking, shell, sign_in
from neardup.service.pages.marks import Marks, NotesFile
from neardup.service.pages.text_cache import TextCache

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from neardup.service.state import Service


def routes(service: Service) -> list[BaseRoute]:
    """All pages, each with its twin in JSON, and the files they share with reports."""
    kept = TextCache()
    marks = Marks(NotesFile(service.collection.path))
    return [
        *check.routes(service, kept),
        *compare.routes(service, kept, marks),
        *collection.routes(service, marks),
        *marking.routes(service, marks),
        *learn.routes(service),
        *sign_in.routes(service),
        *static_files.routes(service),
    ]


def missing(request: Request, service: Service) -> Response:
    """What is told of a page that is not there."""
    said = shell.words_of(request)("problem.no_page")
    return shell.page(request, service, "problem.html", page="", status=404, said=line_pieces(said))
