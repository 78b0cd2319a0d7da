"""How a client reaches a service."""

from __future__ import annotations

from typing import Any

import httpx


def connection(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """What httpx is to be made with."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"the URL is {url!r}; it must begin with http:// or https://")
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return {
        "base_url": url,
        "headers": headers,
        "timeout": httpx.Timeout(timeout),
        # A service is asked as it was named: neither by way of another host nor at another place.
        "trust_env": False,
        "follow_redirects": False,
    }
