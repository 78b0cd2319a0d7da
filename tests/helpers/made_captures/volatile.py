"""What changes from one answer to the next though nothing has changed."""

from __future__ import annotations

import base64
import datetime
import uuid
from random import Random

NOW = datetime.datetime(2026, 11, 17, 4, 0, tzinfo=datetime.UTC)
_HEX = "0123456789abcdef"


class Volatile:
    """Dates, tokens, ids and the like of one answer, by its own random numbers."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.time = NOW - datetime.timedelta(seconds=random.randrange(20 * 86400))

    def http_date(self, days: int = 0) -> str:
        when = self.time + datetime.timedelta(days=days)
        return when.strftime("%a, %d %b %Y %H:%M:%S GMT")

    def earlier(self) -> datetime.datetime:
        return self.time - datetime.timedelta(seconds=self.random.randrange(300 * 86400))

    def iso(self) -> str:
        return self.time.strftime("%Y-%m-%dT%H:%M:%SZ")

    def iso_millis(self) -> str:
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.random.randrange(1000):03}+0000"

    def day(self, language: str = "en") -> str:
        """A date as people read it."""
        when = self.earlier()
        if language in ("zh", "ja"):
            return f"{when.year}年{when.month}月{when.day}日"
        if language in ("de", "ru"):
            return when.strftime("%d.%m.%Y")
        if language in ("fr", "es"):
            return when.strftime("%d/%m/%Y")
        return when.strftime("%B %-d, %Y")

    def clock(self) -> str:
        return self.time.strftime("%Y-%m-%d %H:%M:%S")

    def seconds(self) -> str:
        return str(int(self.time.timestamp()))

    def millis(self) -> str:
        return f"{int(self.time.timestamp())}{self.random.randrange(1000):03}"

    def hex(self, length: int) -> str:
        return "".join(self.random.choices(_HEX, k=length))

    def token(self, size: int = 32) -> str:
        """Base64 of random bytes, as CSRF tokens and nonces are."""
        return base64.b64encode(self.random.randbytes(size)).decode()

    def url_token(self, size: int = 24) -> str:
        return base64.urlsafe_b64encode(self.random.randbytes(size)).decode().rstrip("=")

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.random.randbytes(16), version=4))

    def ip(self) -> str:
        return ".".join(str(self.random.randint(1, 254)) for _ in range(4))

    def duration(self) -> str:
        return f"{self.random.uniform(0.004, 0.9):.3f}"
