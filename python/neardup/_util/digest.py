"""Sixteen hex digits that stand for a word list or a table inside a recipe's identity."""

import json
from typing import Any

from neardup import _core


def digest(value: Any) -> str:
    """XXH3-64 of the value as JSON: the same on every machine."""
    return f"{_core.stable_hash(json.dumps(value).encode()):016x}"
