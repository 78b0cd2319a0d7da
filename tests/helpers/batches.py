"""Read files as batches, compress and decompress: for tests of sources and sinks."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.files.reading.batch import Batch, Reading, Unreadable
from neardup.files.reading.inputs import read_batches


def pack(data: bytes, how: str) -> bytes:
    if how == ".gz":
        return gzip.compress(data, mtime=0)
    if how == ".zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return bytes(sink.getvalue())
    return data


def read(path: Path | str, **options: Any) -> tuple[list[Batch], list[str]]:
    problems: list[Unreadable] = []
    batches = list(read_batches(str(path), Reading(**options), problems.append))
    for batch in batches:
        assert batch.ids.type == batch.texts.type == pa.large_string()
        assert batch.texts.null_count == batch.ids.null_count == 0
        assert len(batch.ids) == len(batch.texts) == len(batch.spans) == len(batch.lines) > 0
        assert batch.spans.dtype == batch.lines.dtype == np.int64
        assert batch.spans.shape == (len(batch.ids), 2)
    return batches, [str(problem).replace(f"{path}:", "", 1) for problem in problems]


def pairs(batches: list[Batch]) -> list[tuple[str, str]]:
    return [
        pair
        for batch in batches
        for pair in zip(batch.ids.to_pylist(), batch.texts.to_pylist(), strict=True)
    ]


def keys(batches: list[Batch]) -> list[Any]:
    return [key for batch in batches if batch.key is not None for key in batch.key.to_pylist()]


def texts(batches: list[Batch]) -> list[str]:
    return [text for _, text in pairs(batches)]


def pieces(batches: list[Batch], data: bytes) -> list[bytes]:
    return [data[start:end] for batch in batches for start, end in batch.spans.tolist()]


def unpack(path: Path) -> bytes:
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        with pa.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    return path.read_bytes()
