"""Clients of a service: one that waits, and one to be awaited."""

try:
    from neardup.service.client.calls import ServiceError
    from neardup.service.client.client import AsyncClient, Client
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "neardup":
        raise
    raise ModuleNotFoundError(
        f"a client needs the package {error.name}, which is not installed; "
        "pip install 'neardup[serve]'",
        name=error.name,
    ) from None

__all__ = ["AsyncClient", "Client", "ServiceError"]
