"""Documents of a collection to a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from neardup import sinks
from neardup.collection.results import Stored
from neardup.sources.formats import ENDINGS, ending

COLUMNS = ("id", "text", "metadata", "fingerprint")


def export(documents: Iterable[Stored], path: Path, bits: int, *, texts: bool) -> int:
    """Writes documents, with their texts if there are any; returns how many."""
    sinks.check(path)
    names = [name for name in COLUMNS if name != "text" or texts]
    # Where there are no objects, metadata is JSON in a string.
    as_object = ENDINGS[ending(path.name)] == "jsonl"
    count = 0
    with sinks.open_rows(path, names) as write:
        for found in documents:
            code = None if found.fingerprint is None else f"{found.fingerprint:0{bits // 4}x}"
            metadata = found.metadata
            row = {"id": found.id, "text": found.text, "fingerprint": code}
            write({**row, "metadata": metadata if as_object else _json(metadata)})
            count += 1
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
