"""gzip record by record: the same as gzip itself, and more where it gives up."""

import gzip
import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.reading import compression
from neardup.files.reading.compression import RECORD_GAP, Members


def unpacked(data: bytes, size: int = 1000) -> tuple[bytes, Members]:
    members = Members(io.BytesIO(data), b"WARC/")
    parts = []
    while part := members.read(size):
        assert len(part) <= size
        parts.append(part)
    return b"".join(parts), members


def record(number: int, size: int) -> bytes:
    noise = random.Random(number).randbytes(size)
    return b"WARC/1.0\r\nContent-Length: %d\r\n\r\n" % size + noise + b"\r\n\r\n"


@given(
    st.lists(st.binary(max_size=300), max_size=6),
    st.integers(1, 500),
    st.sampled_from([1, 7, 1 << 16]),
    st.integers(0, 3),
)
def test_whole_members_are_what_gzip_says(
    parts: list[bytes], size: int, piece: int, zeros: int
) -> None:
    data = b"".join(gzip.compress(part) + bytes(zeros) for part in parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "GZIP_CHUNK_BYTES", piece)
        found, members = unpacked(data, size)
    assert found == b"".join(parts)
    assert members.breaks == []


@pytest.mark.parametrize("size", [10, 5000, 400_000])
@pytest.mark.parametrize("where", [0.0, 0.3, 0.9])
def test_behind_a_damaged_member_the_next_is_read(size: int, where: float) -> None:
    records = [record(number, size) for number in range(5)]
    packed = [gzip.compress(each) for each in records]
    bad = bytearray(packed[2])
    at = int(where * len(bad))
    bad[at : at + 8] = b"\xff" * len(bad[at : at + 8])
    start = len(packed[0]) + len(packed[1])
    found, members = unpacked(b"".join([*packed[:2], bytes(bad), *packed[3:]]))
    assert found.startswith(b"".join(records[:2]))
    assert found.endswith(b"".join(records[3:]))
    (damage,) = members.breaks
    assert damage.stored == start
    assert damage.resumed == start + len(bad)
    middle = found[len(b"".join(records[:2])) : -len(b"".join(records[3:]))]
    assert middle == b"" or middle.endswith(RECORD_GAP)


def test_a_file_that_is_cut_gives_what_is_there() -> None:
    records = [record(number, 3000) for number in range(3)]
    data = b"".join(map(gzip.compress, records))
    for cut in (1, 5, 9, 1000, 2900):
        found, members = unpacked(data[:-cut])
        assert b"".join(records).startswith(found)
        assert len(found) > len(records[0]) * 2 - 10
        (damage,) = members.breaks
        assert damage.resumed is None
        assert "truncated" in damage.reason


def test_three_bytes_that_look_like_a_member_are_not_taken_for_one() -> None:
    fake = gzip.compress(b"not a record")
    data = gzip.compress(record(1, 10)) + b"junk" + fake + gzip.compress(record(2, 10))
    found, members = unpacked(data)
    assert found == record(1, 10) + record(2, 10)
    assert [each.reason for each in members.breaks] == ["is not gzip"]


def test_damage_everywhere_ends() -> None:
    packed = b"".join(gzip.compress(record(number, 200)) for number in range(50))
    for seed in range(30):
        chance = random.Random(seed)
        data = bytearray(packed)
        for _ in range(chance.randint(1, 200)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        found, _ = unpacked(bytes(data))
        assert len(found) <= 50 * 300


def test_a_member_that_swallows_the_next_gives_it_back() -> None:
    """A wrong length in the first member reaches into the second, and is noticed behind it."""
    records = [record(number, 300) for number in range(3)]
    first, second, third = (bytearray(gzip.compress(each, 0)) for each in records)
    header = 10
    stored = len(records[0]) + 100
    first[header + 1 : header + 5] = stored.to_bytes(2, "little") + (0xFFFF ^ stored).to_bytes(
        2, "little"
    )
    found, members = unpacked(bytes(first + second + third), size=50)
    assert found.endswith(RECORD_GAP + records[1] + records[2])
    assert [(each.stored, each.resumed) for each in members.breaks] == [(0, len(first))]
