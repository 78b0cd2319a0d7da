"""Static files of the pages, served from memory, and the assets they share with reports."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from neardup.reports.page import script
from neardup.service.errors import problem_response
from neardup.service.requests import header

if TYPE_CHECKING:
    from starlette.requests import Request

    from neardup.service.state import Service


# Fixed here: `mimetypes` depends on the machine.
MEDIA_TYPES = {
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
    media_type: str
    etag: str


class StaticFiles:
    """Serves the files of a folder, read into memory at the start.

    Request paths are looked up in a dictionary; they never open a file.
    """

    # The label in logs and metrics.
    route = "static"

    def __init__(self, folder: Path) -> None:
        self.files = {
            path.relative_to(folder).as_posix(): _load(path)
            for path in folder.rglob("*")
            if path.is_file() and path.suffix in MEDIA_TYPES
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
        await self._response(scope, path)(scope, receive, send)

    def _response(self, scope: Scope, path: str) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return problem_response(
                405, "static files are read-only; use GET", headers={"Allow": "GET, HEAD"}
            )
        file = self.files.get(path)
        if file is None:
            return problem_response(404, "no such file")
        # Browsers cache it and revalidate by ETag.
        headers = {"Cache-Control": "no-cache", "ETag": file.etag}
        if file.etag in (header(scope, b"if-none-match") or ""):
            return Response(status_code=304, headers=headers)
        return Response(file.data, headers=headers, media_type=file.media_type)


def _load(path: Path) -> StaticFile:
    data = path.read_bytes()
    return StaticFile(data, MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"')


# Assets of reports that pages use too, with their media types.
SHARED_ASSETS = {
    "style.css": "text/css",
    "controls.css": "text/css",
    "evidence.css": "text/css",
    "page.js": "text/javascript",
}


def routes(service: Service) -> list[BaseRoute]:
    async def shared(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in SHARED_ASSETS:
            return Response("No such file.\n", 404, media_type="text/plain")
        response = Response(script(name), media_type=SHARED_ASSETS[name])
        response.headers["Cache-Control"] = "public, max-age=3600"
        return response

    return [Route("/shared/{name}", shared, name="shared")]
