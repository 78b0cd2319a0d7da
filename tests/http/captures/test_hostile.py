"""Captures made to hurt: limits and a report, never a crash, never minutes."""

import gzip
import json
import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.capture_files import WRITERS, answer, answers, burp_xml, read, told, warc_record

PAGE = answer("http://a.example/x", "<title>T</title><p>A page.</p>")
COLUMNS = (
    *("url", "input", "host", "host_ip", "status_code", "header", "raw_header", "body", "failed"),
    *("stored_response_path", "chain", "content_length", "webserver"),
)
BOMB = gzip.compress(bytes(64 << 20), 9)


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < 60


def hostile() -> dict[str, bytes]:
    """Responses, each of them wrong in its own way."""
    ok = b"HTTP/1.1 200 OK\r\n"
    return {
        "lying length": ok + b"Content-Length: 99999999\r\n\r\nbody",
        "negative length": ok + b"Content-Length: -1\r\n\r\nbody",
        "two lengths": ok + b"Content-Length: 4\r\nContent-Length: 9\r\n\r\nbody",
        "smuggling": ok + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
        "chunked twice": ok + b"Transfer-Encoding: chunked, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        "endless chunks": ok + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 200_000,
        "huge chunk": ok + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nbody",
        "bad chunk": ok + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nbody",
        "long extension": ok + b"Transfer-Encoding: chunked\r\n\r\n4;" + b"x" * 99999 + b"\r\nbody",
        "bomb": ok + b"Content-Encoding: gzip\r\n\r\n" + BOMB,
        "bomb in a bomb": ok + b"Content-Encoding: gzip, gzip\r\n\r\n" + gzip.compress(BOMB),
        "nine codings": ok + b"Content-Encoding: " + b"gzip," * 9 + b"\r\n\r\n" + BOMB,
        "folded": ok + b"A: b\r\n c\r\n\td\r\n\r\nbody",
        "bare line feeds": ok.replace(b"\r", b"") + b"A: b\n\nbody",
        "nul": ok + b"A\0: b\0\r\n\0\r\n\r\nbo\0dy",
        "long headers": ok + b"A: " + b"x" * (1 << 20) + b"\r\n\r\nbody",
        "many headers": ok + b"A: b\r\n" * 100_000 + b"\r\nbody",
        "no end of head": ok + b"A: b\r\n" * 10,
        "only a status": b"HTTP/1.1 200",
        "no status": b"HTTP/1.1 OK\r\n\r\nbody",
        "deep nesting": ok + b"Content-Type: text/html\r\n\r\n" + b"<div>" * 100_000,
        "deep json": ok + b"Content-Type: application/json\r\n\r\n" + b"[" * 100_000,
        "wrong charset": ok + b"Content-Type: text/html; charset=nonsense\r\n\r\n\xff\xfe\xfd",
        "empty": b"",
        "junk": random.Random(1).randbytes(5000),
    }


@pytest.mark.parametrize("name", hostile())
def test_a_hostile_response_is_a_document_or_a_report(tmp_path: Path, name: str) -> None:
    good = warc_record(PAGE.message, PAGE.url)
    path = tmp_path / "a.warc"
    path.write_bytes(good + warc_record(hostile()[name], "http://bad/") + good)
    texts, problems, _ = told(path, max_document=16 << 20)
    assert len(texts) + len(problems) == 3
    assert len(texts) >= 2
    assert texts[0] == texts[-1]


@pytest.mark.parametrize("name", hostile())
def test_a_hostile_raw_file_is_a_document_or_a_report(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.http"
    path.write_bytes(hostile()[name])
    texts, problems, _ = told(path, max_document=16 << 20)
    assert len(texts) + len(problems) >= 1


def test_hostile_raw_messages_do_not_swallow_the_good_one_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.http"
    parts = [data for name, data in hostile().items() if name not in ("junk", "empty")]
    path.write_bytes(b"\n".join([*parts, PAGE.message]))
    batches, problems, _ = read(path, max_document=16 << 20)
    alone = tmp_path / "b.http"
    alone.write_bytes(PAGE.message)
    assert batches[-1].texts[-1].as_py() == told(alone)[0][0]
    assert problems


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_cut_anywhere_gives_documents_and_reports(tmp_path: Path, kind: str) -> None:
    path = WRITERS[kind](tmp_path, answers())
    whole = path.read_bytes()
    every = told(path)[0]
    for cut in random.Random(7).sample(range(1, len(whole)), 60):
        path.write_bytes(whole[:cut])
        texts, problems, notes = told(path)
        # What is whole is as it was; the last of raw messages may be cut without a trace.
        assert texts[:-1] == every[: len(texts)][:-1]
        # A file that ends between two records is whole, for all that can be known; of WARC the
        # empty lines behind a record may be missing.
        between = {"warc.gz": b"\x1f\x8b", "warc.zst": b"\x28\xb5\x2f\xfd"}.get(kind, b"none")
        if kind not in ("raw", "httpx", "warc") and not whole.startswith(between, cut):
            assert len(texts) == len(every) or problems or notes or cut < 400


@pytest.mark.parametrize("kind", WRITERS)
def test_junk_anywhere_never_stops_a_run(tmp_path: Path, kind: str) -> None:
    path = WRITERS[kind](tmp_path, answers() * 3)
    whole = path.read_bytes()
    for seed in range(60):
        chance = random.Random(seed)
        data = bytearray(whole)
        size = chance.choice([1, 8, 256])
        at = chance.randrange(len(data))
        data[at : at + size] = chance.randbytes(len(data[at : at + size]))
        path.write_bytes(bytes(data))
        texts, problems, _ = told(path)
        assert len(texts) + len(problems) >= 1
        if kind.startswith("warc") and kind != "warc.zst":
            assert len(texts) >= 3 * len(answers()) - 2


def test_a_packed_bomb_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(warc_record(PAGE.message)) + gzip.compress(bytes(50 << 20)))
    texts, problems, _ = told(path, max_bytes=1 << 20)
    assert len(texts) == 1
    assert any("stopped after" in each and "--max-bytes" in each for each in problems)


def test_a_record_that_promises_more_than_memory_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    bad = warc_record(PAGE.message, Content_Length="99999999999999")
    path.write_bytes(bad + warc_record(PAGE.message))
    texts, problems, _ = told(path)
    assert len(texts) == 1
    assert problems == ["1: the record is longer than 256 MiB; raise --max-document, at byte 0"]


def test_a_million_junk_lines_are_one_report(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(warc_record(PAGE.message) + b"WARC nonsense\r\n" * 1_000_000)
    texts, problems, _ = told(path)
    assert len(texts) == 1
    assert len(problems) == 1


def test_many_false_beginnings_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"WARC/1.0\r\n" * 20_000 + warc_record(PAGE.message))
    texts, _, _ = told(path)
    assert len(texts) <= 1


def test_har_and_httpx_take_any_json(tmp_path: Path) -> None:
    values: list[Any] = [None, True, 0, -1, 1e308, "x", [], {}, [[]], {"a": []}, "\ud800"]
    for seed in range(200):
        chance = random.Random(seed)
        entry = {
            "request": {"url": chance.choice(values)},
            "response": {
                "status": chance.choice([*values, 200, 200, 200]),
                "statusText": chance.choice(values),
                "headers": [{"name": "a", "value": chance.choice(values)}, chance.choice(values)],
                "content": chance.choice(
                    [*values, {"text": chance.choice(values), "size": chance.choice(values),
                               "encoding": chance.choice(values)}]
                ),
                "bodySize": chance.choice(values),
            },
            "serverIPAddress": chance.choice(values),
        }  # fmt: skip
        path = tmp_path / "a.har"
        path.write_text(json.dumps({"log": {"entries": [entry]}}), encoding="utf-8")
        texts, problems, _ = told(path)
        assert len(texts) + len(problems) == 1
        line = {name: chance.choice(values) for name in COLUMNS if chance.random() < 0.8}
        path = tmp_path / "a.jsonl"
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
        texts, problems, _ = told(path, format="httpx")
        assert len(texts) + len(problems) == 1


def test_names_of_hosts_that_are_none_do_not_stop_a_run(tmp_path: Path) -> None:
    for url in ("http://[", "http://[::1]:x/", "//", "\0", "http://a:b@c:d@e/", "x" * 100_000):
        path = tmp_path / "a.jsonl"
        line = {"url": url, "status_code": 200, "body": "x"}
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
        assert len(told(path)[0]) == 1


def test_xml_bombs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    quadratic = burp_xml([]).replace("]>", f'<!ENTITY a "{"x" * 100_000}">]>', 1)
    path.write_text(quadratic.replace("</items>", "&a;" * 100_000 + "</items>"), encoding="utf-8")
    texts, problems, _ = told(path)
    assert texts == []
    assert problems == ["declares the entity 'a'; entities are not expanded"]


def test_many_bodies_that_are_bombs_stop_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    bomb = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(1 << 20))
    path.write_bytes(warc_record(PAGE.message) + warc_record(bomb) * 100)
    texts, problems, _ = told(path, max_bytes=10 << 20, max_document=1 << 19)
    assert len(texts) == 1
    # Twenty of them fit in, refused as they are.
    assert len(problems) == 20 + 1
    assert "stopped after" in problems[-1]
    allowed, _, _ = told(path, max_bytes=200 << 20)
    assert len(allowed) == 101
    some, problems, _ = told(path, max_bytes=10 << 20)
    assert len(some) == 1 + 10
    assert "stopped after" in problems[-1]
    assert "--max-bytes" in problems[-1]


def test_bodies_that_were_never_packed_have_no_limit_of_unpacking(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    page = b"HTTP/1.1 200 OK\r\n\r\n" + b"<p>word</p>" * 400
    path.write_bytes(warc_record(page) * 100)
    texts, problems, _ = told(path, max_bytes=100_000)
    assert (len(texts), problems) == (100, [])
    lines = tmp_path / "a.jsonl"
    (tmp_path / "stored.txt").write_bytes(page)
    line = {"url": "http://a/", "status_code": 200, "stored_response_path": "stored.txt"}
    lines.write_text(f"{json.dumps(line)}\n" * 100, encoding="utf-8")
    texts, problems, _ = told(lines, max_bytes=100_000)
    assert (len(texts), problems) == (100, [])


@pytest.mark.parametrize("kind", ["httpx", "har", "burp", "raw", "warc"])
def test_what_comes_out_of_a_pipe_is_known_by_how_it_begins(tmp_path: Path, kind: str) -> None:
    data = WRITERS[kind](tmp_path, answers()).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=pipe.write_bytes, args=(data,))
    thread.start()
    texts, problems, _ = told(pipe)
    thread.join()
    assert len(texts) == len(answers())
    assert problems == []
