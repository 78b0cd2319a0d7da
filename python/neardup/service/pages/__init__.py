"""The pages of the service, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.service.pages import files, learn

if TYPE_CHECKING:
    from neardup.service.state import Service
    from starlette.routing import BaseRoute


def routes(service: Service) -> list[BaseRoute]:
    """All pages, each with its twin in JSON, and the files they share with reports."""
    return [*files.routes(service), *learn.routes(service)]
