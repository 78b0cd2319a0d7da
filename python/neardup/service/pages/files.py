"""The style and the script that pages share with reports: one source for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from neardup.reports.shell import script

if TYPE_CHECKING:
    from starlette.requests import Request

    from neardup.service.state import Service

SHARED = {
    "style.css": "text/css",
    "controls.css": "text/css",
    "evidence.css": "text/css",
    "page.js": "text/javascript",
}


def routes(service: Service) -> list[BaseRoute]:
    async def shared(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in SHARED:
            return Response("There is no such file.\n", 404, media_type="text/plain")
        answer = Response(script(name), media_type=SHARED[name])
        answer.headers["Cache-Control"] = "public, max-age=3600"
        return answer

    return [Route("/shared/{name}", shared, name="shared")]
