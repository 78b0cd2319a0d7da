"""The files of the pages: those of one folder, as they were when the service started."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from neardup.reports.page import script
from neardup.service.errors import problem
from neardup.service.requests import header

if TYPE_CHECKING:
    from starlette.requests import Request

    from neardup.service.state import Service


# By their endings, and not by what this machine says of them.
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}


class StaticFile(NamedTuple):
    data: bytes
    kind: str
    tag: str


class Files:
    """Serves the files that were in a folder when it was made, and nothing else: a path is looked
    up among their names, and never opened."""

    route = "static"
    __name__ = "static"

    def __init__(self, folder: Path) -> None:
        self.files = {
            path.relative_to(folder).as_posix(): _file(path)
            for path in folder.rglob("*")
            if path.is_file() and path.suffix in TYPES
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
        await self._response(scope, path)(scope, receive, send)

    def _response(self, scope: Scope, path: str) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return problem(405, "a file can only be read", headers={"Allow": "GET, HEAD"})
        file = self.files.get(path)
        if file is None:
            return problem(404, "there is no such file")
        # A browser keeps it and asks whether it is still the same.
        headers = {"Cache-Control": "no-cache", "ETag": file.tag}
        if file.tag in (header(scope, b"if-none-match") or ""):
            return Response(status_code=304, headers=headers)
        return Response(file.data, headers=headers, media_type=file.kind)


def _file(path: Path) -> StaticFile:
    data = path.read_bytes()
    return StaticFile(data, TYPES[path.suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"')


# The style and the script that pages share with reports: one source for both.

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
