"""What a service refuses."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import msgspec

from neardup.service import models

if TYPE_CHECKING:
    import httpx

    from neardup.service.client.calls import Call


class ServiceError(Exception):
    """A service has refused a request, or could not answer it.

    status  of the answer
    title   what kind of problem it is
    detail  what is wrong
    errors  the values that are wrong, one sentence each
    """

    def __init__(self, status: int, title: str, detail: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(status, title, detail, errors)
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors

    def __str__(self) -> str:
        return "; ".join([f"{self.status} {self.title}: {self.detail}".rstrip(": "), *self.errors])


# How a client reaches a service.


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


# When a request is sent again, and after how long.

# Answers that ask to be patient.
LATER = (429, 503)
FIRST, LONGEST = 0.1, 30.0


@dataclass(frozen=True)
class RetryPolicy:
    """Sends again after 0.1 s, 0.2 s, 0.4 s and so on, or as long as the service asks for."""

    retries: int

    def after_answer(self, tries: int, call: Call[Any], response: httpx.Response) -> float | None:
        """Seconds to wait before the next try, or None if this is the answer."""
        if response.status_code not in LATER or tries >= self.retries:
            return None
        if response.status_code == 503 and not call.repeats and not _is_untouched(response):
            return None
        asked = response.headers.get("Retry-After", "")
        return max(_pause(tries), min(float(asked), LONGEST) if asked.isdecimal() else 0.0)

    def after_error(self, tries: int, call: Call[Any], error: Exception) -> float | None:
        """The same where a connection broke. One that was never made can be made again."""
        import httpx

        if tries >= self.retries or not isinstance(error, httpx.TransportError):
            return None
        never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        return _pause(tries) if call.repeats or never_sent else None


def _is_untouched(response: httpx.Response) -> bool:
    """Whether the service says that it has done nothing."""
    try:
        problem = msgspec.json.decode(response.content, type=models.Problem)
    except msgspec.MsgspecError:
        return False
    return problem.type == models.NOT_TAKEN


def _pause(tries: int) -> float:
    # Not all at the same moment, if there are many clients.
    return min(LONGEST, FIRST * 2.0**tries) * (0.5 + random.random() / 2)
