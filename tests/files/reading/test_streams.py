"""Packed files, standard input and URLs, and what can be wrong with them."""

import errno
import gzip
import io
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.batches import pack, pairs, pieces, read
from neardup.files.reading import streams
from neardup.files.reading.formats import name_of
from neardup.files.reading.locations import spooled_stdin


def lines_of(count: int) -> list[bytes]:
    rng = np.random.default_rng(1)
    return [b'{"text": "%s"}\n' % bytes(rng.integers(97, 123, 50).tolist()) for _ in range(count)]


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_cut_short(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.jsonl{packing}"
    lines = lines_of(9000)
    whole = pack(b"".join(lines), packing)
    for cut in (len(whole) - 3, len(whole) * 2 // 3, len(whole) // 3, 5):
        path.write_bytes(whole[:cut])
        batches, problems = read(path)
        found = pieces(batches, b"".join(lines))
        assert found == lines[: len(found)]
        (problem,) = problems
        position = int(problem.split("truncated: ")[1].split(" bytes")[0].replace(",", ""))
        assert problem.startswith(f"{len(found) + 1}: the ")
        assert len(b"".join(found)) <= position < len(b"".join(found)) + 80
        if packing == ".gz":
            assert position == len(zlib.decompressobj(31).decompress(whole[:cut]))
        else:  # zstd gives whole blocks of 128 KiB only
            assert position > len(b"".join(lines)) * cut // len(whole) - (128 << 10)
    path.write_bytes(b"no packed data at all")
    assert read(path)[1][0].startswith("1: the ")
    path.write_bytes(whole + whole)
    assert len(pieces(read(path)[0], b"")) == 18_000


@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_bombs(tmp_path: Path, packing: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "FREE_BYTES", 1 << 19)
    monkeypatch.setattr(streams, "MAX_RATIO", 100)
    path = tmp_path / f"{name}{packing}"
    path.write_bytes(pack(b"text\n" + b"\n" * (8 << 20), packing))
    batches, problems = read(path)
    assert batches == []
    assert "the limit is " in problems[-1]
    assert problems[-1].endswith("raise --max-bytes")
    assert not any("limit" in problem for problem in read(path, max_bytes=9 << 20)[1])
    path.write_bytes(pack(b"text\n" + b"\n" * (1 << 18), packing))
    assert not any("limit" in problem for problem in read(path)[1])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def give(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    give(b"a\nb")
    assert pairs(read("-")[0]) == [("stdin", "a\nb")]
    give(b"a\nb")
    assert pairs(read("-", lines=True)[0]) == [("stdin:1", "a"), ("stdin:2", "b")]
    give(b'{"text": "x"}')
    assert pairs(read("-", format="jsonl")[0]) == [("stdin:1", "x")]
    give(gzip.compress(b"a"))
    assert read("-") == ([], ["stdin: is gzip; pipe it through zcat"])
    give(b"a\nb")
    with spooled_stdin():
        for _ in range(2):
            assert pairs(read("-")[0]) == [("stdin", "a\nb")]


def test_a_copy_is_there_until_the_last_of_its_users_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for text in ("a", "b"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        with spooled_stdin():
            with spooled_stdin():
                assert pairs(read("-")[0]) == [("stdin", text)]
            assert pairs(read("-")[0]) == [("stdin", text)]


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_an_error_of_the_disk_is_not_damage(packing: str) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if not (data := super().read(size)):
                raise OSError(errno.EIO, "Input/output error")
            return data

    whole = pack(b"".join(lines_of(9000)), packing)
    file = streams.ByteStream(f"a.jsonl{packing}", Failing(whole[: len(whole) // 2]))
    with pytest.raises(OSError, match="Input/output error") as told:
        list(iter(lambda: file.read(1 << 16), b""))
    assert told.value.errno == errno.EIO


def test_urls(tmp_path: Path) -> None:
    path = tmp_path / "a b.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "x"}\n'))
    url = path.as_uri()
    assert pairs(read(url)[0]) == [(f"{url}:1", "x")]
    pq.write_table(pa.table({"text": ["y"]}), tmp_path / "a.parquet")
    url = (tmp_path / "a.parquet").as_uri()
    assert pairs(read(url)[0]) == [(f"{url}:1", "y")]
    assert "o such file" in read("file:///nothing/there.txt")[1][0]


@pytest.mark.parametrize(("url", "package"), [("az://u:p@c/a.txt", "fsspec adlfs")])
def test_a_missing_driver_is_named(url: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(ValueError, match=rf"az://c/a\.txt: .*: pip install {package}$"):
        read(url)


def test_secrets_of_a_url_are_not_shown() -> None:
    assert name_of("s3://key:secret@bucket/a") == "s3://bucket/a"
    assert name_of("s3://bucket/a@b") == "s3://bucket/a@b"


def test_what_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == ([], [" No such file or directory"])
    assert read(tmp_path) == ([], [" a folder; pass the files in it"])
