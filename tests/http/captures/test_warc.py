"""WARC: whole, packed, damaged, and with records that are no responses."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.capture_files import (
    VIEWING,
    Answer,
    answer,
    answers,
    read,
    told,
    warc_record,
    warc_records,
    write_warc,
    write_warc_gz,
    zstd,
)
from neardup import http
from neardup.files.reading.batch import Reading
from neardup.files.writing.record_writer import open_kept
from neardup.http.captures.warc import _Stream


def pages(count: int) -> list[Answer]:
    return [
        answer(f"http://a.example/{n}", f"<p>Page {n} {'words ' * n}</p>") for n in range(count)
    ]


def urls(path: Path) -> tuple[list[str], list[str]]:
    problems: list[str] = []
    found = http.responses(path, report=lambda each: problems.append(str(each)))
    return [each.url for each in found], [each.removeprefix(f"{path}:") for each in problems]


def test_spans_are_the_records(tmp_path: Path) -> None:
    path = write_warc(tmp_path, answers())
    data = path.read_bytes()
    batches, _, _ = read(path)
    found = [data[start:end] for batch in batches for start, end in batch.spans.tolist()]
    records = [each for each in warc_records(answers()) if b"WARC-Type: response" in each]
    assert found == records


def test_the_place_of_a_record_is_that_in_the_unpacked_file(tmp_path: Path) -> None:
    whole, _, _ = read(write_warc(tmp_path, pages(5)))
    packed, _, _ = read(write_warc_gz(tmp_path, pages(5)))
    assert whole[0].spans.tolist() == packed[0].spans.tolist()


def test_a_resource_is_a_response_without_a_head(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(
        warc_record(b"<p>body</p>", "http://a/x", kind="resource", Content_Type="text/html")
        + warc_record(b"Text einer Seite", "http://a/y", kind="conversion",
                      Content_Type="text/plain")
    )  # fmt: skip
    one, two = http.responses(path)
    assert (one.url, one.status, one.body) == ("http://a/x", 0, b"<p>body</p>")
    assert one.header("content-type") == "text/html"
    assert (two.url, two.body) == ("http://a/y", b"Text einer Seite")


@pytest.mark.parametrize("url", ["<http://a.example/x>", " http://a.example/x "])
def test_a_url_may_be_in_angle_brackets_as_warc_1_0_has_it(tmp_path: Path, url: str) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc_record(pages(1)[0].message, url))
    assert urls(path) == (["http://a.example/x"], [])


def test_what_is_no_response_is_passed_over_and_told(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    page = pages(1)[0]
    path.write_bytes(
        warc_record(b"software: x\r\n", "", kind="warcinfo", Content_Type="application/warc-fields")
        + warc_record(page.head, "http://a/again", kind="revisit")
        + warc_record(b"20260101\r\na. IN A 192.0.2.1", "dns:a", Content_Type="text/dns")
        + warc_record(page.message, "http://a/")
        + warc_record(b"via: x", "http://a/", kind="metadata")
        + warc_record(b"rest", "http://a/", kind="continuation")
    )
    texts, problems, notes = told(path)
    assert len(texts) == 1
    assert problems == [
        f"2: a record of type continuation, which is not read, at byte "
        f"{path.read_bytes().rindex(b'WARC/1.1'):,}"
    ]
    assert notes == [
        "skipped 1 revisit record, which repeats a page without its body",
        "skipped 1 record of a response that is not HTTP, such as DNS",
    ]


def test_a_record_without_a_type_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    good, bare = warc_record(b"HTTP/1.1 200 OK\r\n\r\nx"), warc_record(b"x", WARC_Type="")
    path.write_bytes(good + bare + good)
    texts, problems, _ = told(path)
    assert len(texts) == 2
    assert problems == [f"2: a record without WARC-Type, which is not read, at byte {len(good):,}"]


def test_a_body_that_the_crawler_cut_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc_record(pages(1)[0].message, WARC_Truncated="length"))
    texts, problems, notes = told(path)
    assert len(texts) == 1
    assert problems == []
    assert notes == ["1 response has a body that the crawler truncated (number 1)"]


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 50, 200])
def test_a_truncated_file_keeps_the_records_before_its_end(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.warc"
    records = [*warc_records(pages(4))]
    path.write_bytes(b"".join(records)[:-cut])
    found, problems = urls(path)
    if cut <= 4:  # only the empty lines behind it are missing
        assert len(found) == 4
    else:
        assert found == [f"http://a.example/{n}" for n in range(3)]
        (problem,) = problems
        place = sum(map(len, records[:-1]))
        reason = "is truncated: " if cut < 200 else "the file ends inside a record"
        assert problem.startswith(f"4: {reason}")
        assert problem.endswith(f"at byte {place:,}")


def test_a_file_that_ends_inside_a_request_keeps_the_response_before(tmp_path: Path) -> None:
    path, (page,) = tmp_path / "a.warc", pages(1)
    record = warc_record(page.message, page.url)
    request = warc_record(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 99, page.url, kind="request")
    path.write_bytes(record + request[:-50])
    found, problems = urls(path)
    assert found == [page.url]
    assert problems == [f" the file ends inside a record, at byte {len(record):,}"]


@pytest.mark.parametrize("length", ["10", "999999", "99999999999999999999", "-1", "ten", ""])
def test_a_length_that_lies_costs_one_record(tmp_path: Path, length: str) -> None:
    every = pages(6)
    records = [warc_record(each.message, each.url) for each in every]
    records[2] = warc_record(every[2].message, every[2].url, Content_Length=length)
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(records))
    found, problems = urls(path)
    others = [each.url for each in every if each is not every[2]]
    assert [each for each in found if each != every[2].url] == others
    assert problems
    assert any(f"at byte {len(b''.join(records[:2])):,}" in each for each in problems)


def test_junk_between_records_is_reported_and_passed(tmp_path: Path) -> None:
    every = pages(4)
    records = [warc_record(each.message, each.url) for each in every]
    for junk in (
        b"junk\r\n" * 1000,
        b"\0" * 5000,
        b"\xff" * 70000 + b"\n",
        b"WARC/9.9\r\n\r\n\r\n",
    ):
        path = tmp_path / "a.warc"
        path.write_bytes(b"".join([*records[:2], junk, *records[2:]]))
        found, problems = urls(path)
        assert found == [each.url for each in every]
        assert problems


def test_a_bad_record_in_a_packed_file_costs_one_record(tmp_path: Path) -> None:
    every = pages(6)
    packed = [gzip.compress(warc_record(each.message, each.url), mtime=0) for each in every]
    bad = bytearray(packed[2])
    bad[len(bad) // 2 :][:4] = b"\xff\xff\xff\xff"
    bad[len(bad) // 2 : len(bad) // 2 + 6] = b"\xff" * 6
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join([*packed[:2], bytes(bad), *packed[3:]]))
    found, problems = urls(path)
    assert found == [each.url for each in every if each is not every[2]]
    start = len(packed[0]) + len(packed[1])
    assert any(f"stored byte {start:,}: the gzip data of a record is" in each for each in problems)


def test_a_bad_record_in_a_file_packed_by_zstd_costs_one_record(tmp_path: Path) -> None:
    every = pages(6)
    packed = [zstd(warc_record(each.message, each.url)) for each in every]
    start = len(packed[0]) + len(packed[1])
    path = tmp_path / "a.warc.zst"
    for bad in (b"\xff" * 6 + packed[2][6:], packed[2][:-9]):
        path.write_bytes(b"".join([*packed[:2], bad, *packed[3:]]))
        found, problems = urls(path)
        assert found == [each.url for each in every if each is not every[2]]
        told = f"stored byte {start:,}: the zstd data of a record is"
        assert any(told in each for each in problems)
    path.write_bytes(b"".join(packed)[:-20])
    found, problems = urls(path)
    assert found == [each.url for each in every[:5]]
    place = len(b"".join(packed[:5]))
    assert any(f"stored byte {place:,}: the zstd data" in each for each in problems)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_kept_spans_hold_behind_damage(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    every = pages(6)
    records = [warc_record(each.message, each.url) for each in every]
    packed = [pack(each) for each in records]
    path = tmp_path / f"a.warc{'.gz' if pack is gzip.compress else '.zst'}"
    path.write_bytes(b"".join([*packed[:2], packed[2][:60], *packed[3:]]))
    batches, _, _ = read(path)
    from neardup.files.reading.streams import open_stored

    with open_stored(str(path)) as file:
        data = file.read(1 << 30)
    spans = [data[start:end] for batch in batches for start, end in batch.spans.tolist()]
    assert spans[-1] == records[-1]
    assert spans[0] == records[0]


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_truncated_compressed_file_keeps_the_records_before_its_end(
    tmp_path: Path, pack: object
) -> None:
    assert callable(pack)
    every = pages(5)
    packed = [pack(warc_record(each.message, each.url)) for each in every]
    path = tmp_path / f"a.warc{'.gz' if pack is gzip.compress else '.zst'}"
    path.write_bytes(b"".join(packed)[:-40])
    found, problems = urls(path)
    assert found == [each.url for each in every[:4]]
    assert problems


def test_a_file_packed_as_a_whole_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(warc_records(answers()))))
    found, problems = urls(path)
    assert found == [each.url for each in answers()]
    assert problems == []


def test_without_the_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastwarc.warc", None)
    texts, problems, _ = told(write_warc(tmp_path, answers()))
    assert texts == []
    assert problems == [
        "reading WARC needs the package fastwarc, which is not installed; "
        "pip install 'neardup[http]', or in a clone pip install -r requirements/http.txt"
    ]


def test_an_empty_file_has_no_responses(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"")
    assert told(path)[0] == []


def test_the_next_record_is_found_wherever_pieces_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neardup.files.reading.streams import open_stored
    from neardup.http.captures import warc

    monkeypatch.setattr(warc, "CHUNK_BYTES", 7)
    path = tmp_path / "a.bin"
    for gap in range(40):
        path.write_bytes(b"WARC/1.0\r\nX" + b"y" * gap + b"WARC/1.0\r\n\nWARC/1.1\r\nrest")
        with open_stored(str(path)) as file:
            stream = _Stream(file)
            assert stream.seek_record(0) == 0
            assert stream.seek_record(5) == path.read_bytes().rindex(b"WARC")
            assert stream.read(1) + stream.read(1) == b"WA"


@pytest.mark.parametrize("name", ["kept.warc", "kept.warc.gz"])
def test_kept_records_are_copied_byte_for_byte(tmp_path: Path, name: str) -> None:
    every = pages(6)
    records = [warc_record(each.message, each.url) for each in every]
    packed = [gzip.compress(each, mtime=0) for each in records]
    path = tmp_path / "a.warc.gz"
    # One of them is damaged, which must not move the others.
    path.write_bytes(b"".join([*packed[:2], packed[2][:60], *packed[3:]]))
    (batch,), _, _ = read(path)
    keep = np.array([True, False, True, False, True])
    reading = Reading(viewing=VIEWING)
    out = tmp_path / name
    with open_kept(out, [str(path)], reading) as kept:
        kept.copy(str(path), batch.spans, keep)
    data = gzip.decompress(out.read_bytes()) if name.endswith(".gz") else out.read_bytes()
    assert data == records[0] + records[3] + records[5]
    assert urls(out)[0] == [every[0].url, every[3].url, every[5].url]
