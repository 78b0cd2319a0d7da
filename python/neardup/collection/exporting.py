"""Documents of a collection to a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from neardup.collection.results import Stored
from neardup.files import writing
from neardup.files.reading.formats import ENDINGS, ending


def export(documents: Iterable[Stored], path: Path, bits: int, *, texts: bool) -> int:
    """Writes documents, with their texts if there are any; returns how many."""
    writing.check(path)
    path = writing.in_full(path, ".jsonl")
    # Where there are no objects, metadata is JSON in a string.
    as_object = ENDINGS[ending(path.name)] == "jsonl"
    columns = {"id": str, "text": str, "metadata": dict if as_object else str, "fingerprint": str}
    if not texts:
        del columns["text"]
    count = 0
    with writing.open_rows(path, columns, reversible=True) as write:
        for found in documents:
            code = None if found.fingerprint is None else f"{found.fingerprint:0{bits // 4}x}"
            metadata = found.metadata
            row = {"id": found.id, "text": found.text, "fingerprint": code}
            write({**row, "metadata": metadata if as_object else _json(metadata)})
            count += 1
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
