"""When a request is sent again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from neardup.service import models

if TYPE_CHECKING:
    import httpx

    from neardup.service.client.calls import Call

# Answers that ask to be patient.
LATER = (429, 503)
FIRST, LONGEST = 0.1, 30.0


@dataclass(frozen=True)
class Patience:
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
