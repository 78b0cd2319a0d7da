"""Files are split into units without losing or repeating a line."""

from __future__ import annotations

import io
import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from neardup.engines.spark.read_driver import _list_files
from neardup.engines.spark.read_worker import LineRange
from neardup.files.reading.batch import Reading


@pytest.mark.parametrize(
    "data", [b"one\ntwo\n\nfour five six\nx\n", b"no newline", b"a\nb", b"\n\n"]
)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 100])
@pytest.mark.parametrize("block", [1, 3, 1000])
def test_every_line_belongs_to_one_unit(data: bytes, size: int, block: int) -> None:
    cuts = [*range(0, len(data), size), len(data)]
    found = []
    for start, stop in itertools.pairwise(cuts):
        part = LineRange(io.BytesIO(data), "file", start, stop, Reading())
        lines = b""
        while read := part.read(block):
            lines += read
        # The unit where a line begins reads it whole.
        begins = [at for at in range(start, stop) if at == 0 or data[at - 1 : at] == b"\n"]
        assert len(lines.splitlines()) == len(begins)
        assert part.begin == begins[0] if begins else not lines
        found.append(lines)
    assert b"".join(found) == data


def test_files_of_a_folder_are_sorted_and_have_whole_urls() -> None:
    paths = ["s3a://bucket/b.jsonl", "/bucket/c.jsonl", "s3a:/bucket/a.jsonl"]
    reader: Any = SimpleNamespace(
        option=lambda *_: reader,
        load=lambda _: reader,
        select=lambda _: reader,
        collect=lambda: [{"path": path} for path in paths],
    )
    session: Any = SimpleNamespace(
        spark=SimpleNamespace(read=SimpleNamespace(format=lambda _: reader))
    )
    assert _list_files(session, "s3a://bucket") == [
        "s3a://bucket/a.jsonl",
        "s3a://bucket/b.jsonl",
        "s3a://bucket/c.jsonl",
    ]
