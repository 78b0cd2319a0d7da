"""Clients of a service: `Client` blocks, `AsyncClient` is awaited.

`calls` describes each request and decodes its response for both; `client` sends them, with retries.
"""

from neardup._util.extras import install_hint

try:
    from neardup.service.client.calls import ServiceError
    from neardup.service.client.client import AsyncClient, Client
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "neardup":
        raise
    raise ModuleNotFoundError(
        f"the client needs the package {error.name}, which is not installed; "
        f"{install_hint('serve')}",
        name=error.name,
    ) from None

__all__ = ["AsyncClient", "Client", "ServiceError"]
