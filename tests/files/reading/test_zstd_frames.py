"""zstd record by record: the same as zstd itself, and more where it gives up."""

import io
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.reading import compression
from neardup.files.reading.compression import RECORD_GAP, ZSTD_MAGIC, Frames

SKIPPED = b"\x5d\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"


def packed(data: bytes, *, streamed: bool = False) -> bytes:
    """One frame; a streamed one does not tell its size."""
    if not streamed:
        return bytes(pa.Codec("zstd").compress(data, asbytes=True))
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data)
    return bytes(sink.getvalue().to_pybytes())


def unpacked(data: bytes, size: int = 1000) -> tuple[bytes, Frames]:
    frames = Frames(io.BytesIO(data), b"WARC/")
    parts = []
    while part := frames.read(size):
        assert len(part) <= max(size, len(RECORD_GAP))
        parts.append(part)
    return b"".join(parts), frames


def record(number: int, size: int) -> bytes:
    noise = random.Random(number).randbytes(size)
    return b"WARC/1.0\r\nContent-Length: %d\r\n\r\n" % size + noise + b"\r\n\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=300), max_size=6),
    st.integers(1, 500),
    st.booleans(),
    st.booleans(),
)
def test_whole_frames_are_what_zstd_says(
    parts: list[bytes], size: int, streamed: bool, skips: bool
) -> None:
    between = SKIPPED if skips else b""
    data = between + b"".join(packed(part, streamed=streamed) + between for part in parts)
    found, frames = unpacked(data, size)
    assert found == b"".join(parts)
    assert frames.breaks == []


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("length", [200_000, 1_500_000])
def test_frames_of_many_blocks(streamed: bool, length: int) -> None:
    for data in (bytes(length), b"word %d " * (length // 8), random.Random(1).randbytes(length)):
        found, frames = unpacked(packed(data, streamed=streamed) * 2, 1 << 18)
        assert found == data * 2
        assert frames.breaks == []


@pytest.mark.parametrize("size", [100, 5000, 400_000])
def test_behind_a_damaged_frame_the_next_is_read(size: int) -> None:
    records = [record(number, size) for number in range(5)]
    frames_of = [packed(each) for each in records]
    start = len(frames_of[0]) + len(frames_of[1])
    for at in (0, 2, 4):
        bad = bytearray(frames_of[2])
        bad[at : at + 4] = b"\xff" * 4
        found, frames = unpacked(b"".join([*frames_of[:2], bytes(bad), *frames_of[3:]]))
        assert found.startswith(b"".join(records[:2]))
        assert found.endswith(b"".join(records[3:]))
        (damage,) = frames.breaks
        assert (damage.stored, damage.resumed) == (start, start + len(bad))
        assert damage.unpacked == len(b"".join(records[:2]))


def test_what_a_frame_gave_before_the_damage_is_kept() -> None:
    data = record(0, 1000) + random.Random(7).randbytes(1 << 20)
    frame = bytearray(packed(data))
    middle = len(frame) // 2
    frame[middle : middle + (200 << 10)] = b"\xff" * (200 << 10)
    found, frames = unpacked(bytes(frame) + packed(record(1, 1000)))
    given, between, after = found.partition(RECORD_GAP + record(1, 1000))
    # Without a checksum only the heads of blocks tell of the damage, one in 128 KiB.
    assert given[: middle - 1000] == data[: middle - 1000]
    assert (between, after) == (RECORD_GAP + record(1, 1000), b"")
    assert len(frames.breaks) == 1


def test_a_file_that_is_cut_gives_what_is_there() -> None:
    records = [record(number, 3000) for number in range(3)]
    data = b"".join(map(packed, records))
    for cut in (1, 5, 1000, 2900, len(packed(records[2])) - 2):
        found, frames = unpacked(data[:-cut])
        assert b"".join(records).startswith(found)
        assert found.startswith(b"".join(records[:2]))
        (damage,) = frames.breaks
        assert damage.resumed is None
        assert "truncated" in damage.reason


def test_bytes_that_look_like_a_frame_are_not_taken_for_one() -> None:
    fake = packed(b"not a record")
    data = packed(record(1, 10)) + b"junk" + ZSTD_MAGIC + fake + packed(record(2, 10))
    found, frames = unpacked(data)
    assert found == record(1, 10) + record(2, 10)
    assert [each.reason for each in frames.breaks] == ["is not zstd"]


def test_bytes_made_to_look_like_frames_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MAX_FALSE_MAGIC", 100)
    data = packed(record(1, 10)) + b"junk" + ZSTD_MAGIC * 100_000 + packed(record(2, 10))
    found, frames = unpacked(data)
    assert found == record(1, 10)
    assert [each.resumed for each in frames.breaks] == [None]


def test_damage_everywhere_ends() -> None:
    whole = b"".join(packed(record(number, 200)) for number in range(50))
    for seed in range(30):
        chance = random.Random(seed)
        data = bytearray(whole)
        for _ in range(chance.randint(1, 200)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        found, _ = unpacked(bytes(data))
        # A block may be made one of equal bytes.
        assert len(found) <= 50 * (compression.MAX_BLOCK_BYTES + 300)
