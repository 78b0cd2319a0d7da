"""What all pages have in common: how templates are found, and what a page may do."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

# Nothing is loaded and nothing runs, whatever the texts hold.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@cache
def environment() -> Environment:
    # Only whoever writes a page waits for it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("neardup.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def script(name: str = "page.js") -> str:
    """The one script of a page, as it stands between its tags."""
    found = environment()
    assert found.loader is not None  # noqa: S101
    # A browser hashes plain line ends, whatever the file has.
    return found.loader.get_source(found, name)[0].replace("\r\n", "\n")


@cache
def policy_with_script(name: str = "page.js") -> str:
    """The same policy, but our script runs: it is known by its hash, and no other one is."""
    digest = base64.b64encode(hashlib.sha256(script(name).encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"
