"""An HTTP response, wherever it was captured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response with its body decoded: not chunked, not packed.

    url        of the request; "" if the capture does not tell
    final_url  where the answer came from, if redirects were followed; else ""
    status     0 if the capture does not tell
    headers    names and values in the order they came; names as they were written
    body       bytes; their encoding is that of `charset`
    charset    a name Python knows, "utf-8" unless something tells another
    ip         of the server; "" if the capture does not tell
    length     of the body in bytes, not packed; of one that is not there what the capture tells,
               0 if it does not
    is_whole   the capture holds the body, which may be empty; False: there was one, or may have
               been, and the capture has it not
    title      what the capture calls the page; it counts where the body is not there
    extra      what else the capture says of it, by the names it uses, as strings
    """

    url: str = ""
    status: int = 0
    reason: str = ""
    headers: Headers = ()
    body: bytes = b""
    charset: str = "utf-8"
    ip: str = ""
    length: int = 0
    final_url: str = ""
    title: str = ""
    is_whole: bool = True
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """Of the URL, in small letters, with the port where one is written."""
        try:
            parts = urlsplit(self.url)
            return parts.netloc.rpartition("@")[2].lower()
        except ValueError:  # brackets that are no address
            return ""

    def header(self, name: str) -> str:
        """The first value of a header, whatever the case of its name; "" if there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def text(self) -> str:
        """The body as text; bytes that are none in its charset become U+FFFD."""
        try:
            return self.body.decode(self.charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")
