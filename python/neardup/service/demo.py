"""A collection to begin with, made of the sample."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from neardup.collection import Collection


def demo_collection(folder: Path) -> Collection:
    """The sample as a collection in this folder, which must be empty."""
    found = Collection.open(folder / "demo.neardup", search=True, runs=True, durability="normal")
    lines = files("neardup.service").joinpath("sample.jsonl").read_text(encoding="utf-8")
    found.add([json.loads(line) for line in lines.splitlines()])
    return found
